// A channel to a server, and what all calls share: options, deadline, API key and
// retries. The rules are those of the C++ client (client/lib/retry.h).
'use strict';
const {Readable} = require('node:stream');
const {setTimeout: sleep} = require('node:timers/promises');
const grpc = require('@grpc/grpc-js');
const {definitions} = require('./protos.js');
const {fromGrpcError} = require('./errors.js');
const {version} = require('../package.json');

// As in client.d.ts.
const DEFAULTS = {deadlineMs: 30_000, apiKey: '', maxAttempts: 4, initialBackoffMs: 100, maxBackoffMs: 2_000};
const OPTIONS = [...Object.keys(DEFAULTS), 'tlsCa', 'tlsCert', 'tlsKey', 'plainText'];

const ITEMS_PER_DEADLINE = 1_000;

const isOnThisMachine = (address) => /^(unix:|(dns:\/\/\/)?(127(\.\d{1,3}){3}|\[::1\]|localhost):)/.test(address);

function checkAddress(address) {
  const scheme = /^https?:\/\//.exec(address);
  if (scheme) return `is a URL: leave ${scheme[0]} out, and name the gRPC port, not that of --http_address`;
  if (/^unix:./.test(address)) return '';
  const [, host, port] = /^(?:dns:\/\/\/)?(.*):(\d{1,5})$/.exec(address) ?? [];
  if (!(port > 0 && port < 65_536)) return 'want HOST:PORT, PORT from 1 to 65535';
  if (!host) return 'has no host';
  if (host.includes(':') && !/^\[.*\]$/.test(host)) return 'write an IPv6 host as [HOST]:PORT';
  return /[ \t/]/.test(host) ? 'want HOST:PORT without blanks, slashes or a scheme' : '';
}

function checkOptions(address, options) {
  if (typeof address !== 'string') throw new TypeError('server address: want a text, new SemrankClient(address, options)');
  const problem = checkAddress(address);
  if (problem) throw new RangeError(`server address '${address}': ${problem}`);
  const unknown = Object.keys(options).find((name) => !OPTIONS.includes(name));
  if (unknown !== undefined) throw new RangeError(`SemrankClient: no option '${unknown}'`);
  if (!(options.deadlineMs > 0)) throw new RangeError(`deadlineMs ${options.deadlineMs}: must be positive`);
  if (!(options.maxAttempts >= 1)) throw new RangeError(`maxAttempts ${options.maxAttempts}: must be at least 1`);
  if (!options.tlsCert !== !options.tlsKey) throw new RangeError('tlsCert and tlsKey: want both or neither');
  if (options.tlsCert && !options.tlsCa) throw new RangeError('tlsCert: needs tlsCa, because only TLS uses it');
  if (options.tlsCa && options.plainText) throw new RangeError('plainText: excludes tlsCa, which turns TLS on');
  if (!options.tlsCa && !options.plainText && !isOnThisMachine(address)) {
    throw new RangeError(`server address '${address}': is on another machine: want tlsCa, or plainText: true ` +
        'where the network may read all texts');
  }
  if (!/^[!-~]{0,4096}$/.test(options.apiKey)) throw new RangeError('API key: want at most 4096 visible ASCII characters');
}

// Decides whether and when a failed call is attempted again. Codes: UNAVAILABLE;
// RESOURCE_EXHAUSTED only with a pushback, which forbids further attempts if it
// is negative or malformed. No delay ends after the deadline.
class Retry {
  constructor(options, deadline) {
    this.options = options;
    this.deadline = deadline;
    this.numAttempts = 0;
  }

  static isRetryable(code, hasPushback) {
    return code === grpc.status.UNAVAILABLE || (code === grpc.status.RESOURCE_EXHAUSTED && hasPushback);
  }

  // Forgets the attempts, because the last one made progress.
  restart() {
    this.numAttempts = 0;
  }

  // Counts a failed attempt. Milliseconds before the next one, or undefined if
  // there must be none.
  nextDelay(code, pushback) {
    ++this.numAttempts;
    if (this.numAttempts >= this.options.maxAttempts || !Retry.isRetryable(code, pushback !== undefined)) return undefined;
    let delay;
    if (pushback === undefined) {
      const backoff = this.options.initialBackoffMs * 2 ** (this.numAttempts - 1);
      delay = Math.min(backoff, this.options.maxBackoffMs) * (0.5 + Math.random() / 2);
    } else if (/^\d+$/.test(pushback)) {
      delay = Number(pushback) * (1 + Math.random() / 5);
    } else {
      return undefined;
    }
    return Date.now() + delay >= this.deadline ? undefined : delay;
  }
}

class Connection {
  constructor(address, options) {
    this.options = {...DEFAULTS, ...options};
    this.options.apiKey ||= (process.env.SEMRANK_API_KEY ?? '').trim();
    checkOptions(address, this.options);
    this.address = address;
    const {tlsCa, tlsKey, tlsCert} = this.options;
    const buffer = (pem) => pem ? Buffer.from(pem) : null;
    const credentials = tlsCa ? grpc.credentials.createSsl(buffer(tlsCa), buffer(tlsKey), buffer(tlsCert)) :
                                grpc.credentials.createInsecure();
    this.client = new grpc.Client(address, credentials, {
      // With gRPC's default, 4 MB, the client would reject responses to requests that
      // the server accepts (Limits.maxResponseBytes).
      'grpc.max_receive_message_length': -1,
      'grpc.max_send_message_length': -1,
      'grpc.primary_user_agent': `semrank-node/${version}`,
      'grpc.enable_retries': 0,
      // With gRPC's default of one second, a channel would still be waiting when
      // the last retry of a call fails.
      'grpc.initial_reconnect_backoff_ms': 100,
      'grpc.max_reconnect_backoff_ms': 5_000,
      // No proxy reaches our loopback.
      ...(isOnThisMachine(address) && {'grpc.enable_http_proxy': 0}),
    });
  }

  close() {
    this.client.close();
  }

  // The deadline, as a Date.now(), of a call that starts now. A stream of more items has more time.
  deadlineFor(numItems = 0) {
    return Date.now() + (1 + Math.floor(numItems / ITEMS_PER_DEADLINE)) * this.options.deadlineMs;
  }

  // A unary call with its retries. method: 'RankingService/Rank', or with a package.
  async call(method, request, deadline, {retries = true} = {}) {
    const retry = new Retry(this.options, deadline);
    const {path, requestSerialize, responseDeserialize} = methodOf(method);
    while (true) {
      try {
        return await new Promise((resolve, reject) => {
          this.client.makeUnaryRequest(path, requestSerialize, responseDeserialize, request, this.#metadata(),
              {deadline}, (error, response) => error ? reject(error) : resolve(response));
        });
      } catch (failed) {
        if (failed.code === undefined) throw failed;
        if (!retries || !await this.#wait(failed, retry)) throw this.#describe(failed, retry);
      }
    }
  }

  // Makes one attempt of a bidirectional stream and yields the responses. `end` then
  // has the error that broke it, if one did, and whether the delay before a retry is
  // over.
  async* attempt(method, messages, deadline, retry, end) {
    const {path, requestSerialize, responseDeserialize} = methodOf(method);
    const stream = this.client.makeBidiStreamRequest(path, requestSerialize, responseDeserialize, this.#metadata(), {deadline});
    const source = Readable.from(messages);
    source.on('error', (error) => stream.destroy(error));
    source.pipe(stream);
    const responses = stream[Symbol.asyncIterator]();
    try {
      while (true) {
        let next;
        try {
          next = await responses.next();
        } catch (failed) {
          if (failed.code === undefined) throw failed;
          end.retry = await this.#wait(failed, retry);
          end.error = this.#describe(failed, retry);
          return;
        }
        if (next.done) return;
        yield next.value;
      }
    } finally {
      source.destroy();
      stream.cancel();  // does nothing to a complete one
    }
  }

  #metadata() {
    const metadata = new grpc.Metadata();
    if (this.options.apiKey) metadata.set('authorization', `Bearer ${this.options.apiKey}`);
    return metadata;
  }

  async #wait(failed, retry) {
    const [pushback] = failed.metadata?.get('grpc-retry-pushback-ms') ?? [];
    const delay = retry.nextDelay(failed.code, pushback?.toString());
    if (delay === undefined) return false;
    await sleep(delay);
    return true;
  }

  #describe(failed, retry) {
    return fromGrpcError(failed, this.address, this.options, retry.numAttempts);
  }
}

function methodOf(name) {
  const [service, method] = name.split('/');
  return definitions[service.includes('.') ? service : `semrank.v1.${service}`][method];
}

module.exports = {Connection, Retry};
