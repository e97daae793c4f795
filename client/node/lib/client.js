// Client of a semrank server. client.d.ts documents each call.
'use strict';
const {setTimeout: sleep} = require('node:timers/promises');
const {status} = require('@grpc/grpc-js');
const {checkEmbedChunk, checkRank, checkVectors} = require('./checks.js');
const chunks = require('./chunks.js');
const {Connection, Retry} = require('./connection.js');
const {SemrankError, fromItemStatus, invalidResponse} = require('./errors.js');
const {byKind, checkNames, documentsOf, embedRequest, embedStreamRequest, explainRequest, iterableOf, keysOf, modelOf,
       rankRequest, reportRequest, searchRequest, textOf} = require('./requests.js');

// gRPC's own RESOURCE_EXHAUSTED has no reason.
function mayBeTooLarge(error) {
  if (!(error instanceof SemrankError)) return false;
  const {reason, code} = error;
  return reason ? ['TOO_MANY_TEXTS', 'MESSAGE_TOO_LARGE'].includes(reason) : code === status.RESOURCE_EXHAUSTED;
}

// Lets the caller find "titles[17]" of a chunk in its own request.
function countedFrom(begin, error) {
  return begin > 0 && error instanceof SemrankError ? error.withNote(`counted from number ${begin}`) : error;
}

class SemrankClient {
  #connection;
  #limits;

  constructor(address = '127.0.0.1:50051', options = {}) {
    this.#connection = new Connection(address, options);
  }

  close() {
    this.#connection.close();
  }

  async rank(fields) {
    const request = rankRequest(fields);
    const {titles = [], ids = [], documentIds = []} = request;
    const deadline = this.#connection.deadlineFor();
    // The dimension of vectors is not known yet; their bytes count anyway.
    const size = {maxTexts: titles.length + ids.length + documentIds.length, maxBytes: chunks.sizeOf(request)};
    let limits = this.#limits ?? chunks.ASSUMED_LIMITS;
    try {
      if (chunks.isWithin(size, limits)) return await this.#rankInOneMessage(request, deadline);
      limits = await this.#knownLimits(deadline);
      return await this.#rankInChunks(request, limits, deadline);
    } catch (error) {
      // Vectors were not counted, so their message may exceed any limit.
      limits = await this.#renewedLimits(error, deadline, request.vectors.length > 0 ? chunks.NO_LIMITS : limits);
    }
    return this.#rankInChunks(request, limits, deadline);
  }

  async* rankStream(requests) {
    const pending = new Map([...iterableOf('requests', requests)].map(rankRequest).entries());
    const deadline = this.#connection.deadlineFor(pending.size);
    const retry = new Retry(this.#connection.options, deadline);
    while (pending.size > 0) {
      const rejected = new Map();
      const end = {};
      const messages = [...pending].map(([requestNumber, request]) => ({requestNumber, request}));
      for await (const response of this.#connection.attempt('RankingService/RankStream', messages, deadline, retry, end)) {
        const index = Number(response.requestNumber);
        if (!pending.has(index) || rejected.has(index)) throw invalidResponse(`not waiting for request ${index}`);
        const result = {index};
        if (response.status) {
          result.error = fromItemStatus(response.status);
          if (Retry.isRetryable(result.error.code, result.error.retryDelayMs !== undefined)) {
            rejected.set(index, result.error);
            continue;
          }
        } else if (response.response) {
          checkRank(pending.get(index), response.response);
          result.response = response.response;
        } else {
          throw invalidResponse(`nothing for request ${index}`);
        }
        pending.delete(index);
        retry.restart();
        yield result;
      }
      if (end.retry) continue;
      if (end.error) throw end.error;
      for (const index of pending.keys()) {
        if (!rejected.has(index)) throw invalidResponse(`the stream ended without request ${index}`);
      }
      if (rejected.size === 0) return;
      // The latest rejection has the most recent estimate of the server.
      const last = rejected.get([...rejected.keys()].reduce((a, b) => Math.max(a, b)));
      const pushback = last.retryDelayMs === undefined ? undefined : String(Math.floor(last.retryDelayMs));
      const delay = retry.nextDelay(last.code, pushback);
      if (delay === undefined) {
        for (const [index, error] of rejected) yield {index, error: error.withNote(`tried ${retry.numAttempts} times`)};
        return;
      }
      await sleep(delay);
    }
  }

  async explain(fields) {
    return this.#call('RankingService/Explain', explainRequest(fields));
  }

  async embed(fields) {
    const request = embedRequest(fields);
    const {texts, ...common} = request;
    const deadline = this.#connection.deadlineFor();
    const size = {maxTexts: texts.length, maxBytes: chunks.sizeOf(request)};
    if (chunks.isWithin(size, chunks.streamLimits(this.#limits ?? chunks.ASSUMED_LIMITS))) {
      try {
        const response = await this.#connection.call('EmbeddingService/EmbedTexts', request, deadline);
        checkVectors(request.encoding, texts.length, response);
        return response;
      } catch (error) {
        if (texts.length === 0 || !mayBeTooLarge(error)) throw error;
      }
    }
    const parts = await this.#ofOneVersion(common.model, async (parts) => {
      for await (const part of this.#embedOverStreams(texts, common, deadline)) {
        const [problem] = part.problems;
        // This call embeds all texts or none.
        if (problem) throw countedFrom(part.firstText, fromItemStatus(problem.status, this.#connection.address));
        parts.push(part);
      }
    });
    return chunks.mergedEmbeddings(parts);
  }

  async* embedStream(texts, fields) {
    const {texts: all, common} = embedStreamRequest(texts, fields);
    yield* this.#embedOverStreams(all, common);
  }

  async* #embedOverStreams(texts, common, deadline) {
    let answering = common.model;
    const start = () => {
      // After a reload, a new stream without a version would mix two models;
      // within a stream the version must not change.
      const model = answering;
      return (some) => ({...common, model, texts: some});
    };
    const stream = this.#overStreams('EmbeddingService/EmbedTextsStream', texts, start, deadline);
    for await (const {response, begin, first, numLeft, done} of stream) {
      // The server counts from 0 in each stream.
      const part = {...response, firstText: begin + Number(response.firstText)};
      checkEmbedChunk(common.encoding, numLeft, first, part);
      if (part.model) answering = part.model;
      done(part.numTexts);
      yield part;
    }
  }

  async put(documents) {
    const result = {numCreated: 0, numReplaced: 0, problems: []};
    const stream = this.#overStreams('CatalogService/PutDocumentsStream', documentsOf(documents),
        () => (some) => ({documents: some}));
    for await (const {response, begin, first, numLeft, done} of stream) {
      const numAnswered = response.numCreated + response.numReplaced + response.problems.length;
      // The server counts from 0 in each stream.
      if (begin + Number(response.firstDocument) !== first || numAnswered === 0 || numAnswered > numLeft) {
        throw invalidResponse('it does not account for the documents sent');
      }
      result.numCreated += response.numCreated;
      result.numReplaced += response.numReplaced;
      for (const problem of response.problems) result.problems.push({...problem, index: first + problem.index});
      done(numAnswered);
    }
    return result;
  }

  async get(keys, options = {}) {
    checkNames('get', options, ['withPayloads'], 'keys, ');
    const {withPayloads = false} = options;
    const found = new Map();
    const all = keysOf('keys', keys);
    await this.#sendKeys(all, async (some) => {
      const {documents} = await this.#call('CatalogService/GetDocuments', {...byKind(some), withPayloads});
      for (const document of documents) found.set(document.documentId ?? BigInt(document.id), document);
    });
    return all.map((key) => found.get(typeof key === 'string' ? key : BigInt(key)) ?? null);
  }

  async delete(keys) {
    let numDeleted = 0;
    await this.#sendKeys(keysOf('keys', keys), async (some) => {
      numDeleted += (await this.#call('CatalogService/DeleteDocuments', byKind(some))).numDeleted;
    });
    return numDeleted;
  }

  async search(fields) {
    const request = searchRequest(fields);
    const response = await this.#call('CatalogService/SearchDocuments', request);
    if (request.topK > 0 && response.hits.length > request.topK) throw invalidResponse('more hits than asked for');
    return response;
  }

  async reportEvents(fields) {
    return this.#call('EventService/ReportEvents', reportRequest(fields));
  }

  async getModel(model) {
    return (await this.#call('ModelService/GetModel', {model: modelOf(model)})).model;
  }

  async listModels(name = '') {
    textOf('name', name);
    const models = [];
    let pageToken = '';
    do {
      const page = await this.#call('ModelService/ListModels', {name, pageToken});
      models.push(...page.models);
      pageToken = page.nextPageToken;
    } while (pageToken);
    return models;
  }

  async reloadModel(model) {
    return this.#connection.call('ModelService/ReloadModel', {model: modelOf(model)}, this.#connection.deadlineFor(),
        {retries: false});
  }

  async getLimits() {
    return (await this.#call('ModelService/GetLimits', {})).limits;
  }

  async checkHealth(service = '') {
    textOf('service', service);
    const response = await this.#connection.call('grpc.health.v1.Health/Check', {service}, this.#connection.deadlineFor(),
        {retries: false});
    return response.status === 'SERVING';
  }

  async #call(method, request) {
    return this.#connection.call(method, request, this.#connection.deadlineFor());
  }

  async #fetchLimits(deadline) {
    const {limits} = await this.#connection.call('ModelService/GetLimits', {}, deadline);
    return this.#limits = chunks.messageLimits(limits ?? {});
  }

  async #knownLimits(deadline) {
    return this.#limits ?? this.#fetchLimits(deadline);
  }

  // After a message within the limits `used` failed: new limits, if it may have
  // been too large for them, because a restarted server may have lower ones. Else
  // throws the error.
  async #renewedLimits(error, deadline, used) {
    if (!mayBeTooLarge(error)) throw error;
    const limits = await this.#fetchLimits(deadline).catch(() => { throw error; });
    if (chunks.isWithin(used, limits)) throw error;
    return limits;
  }

  // The parts of a response that `send` pushes into a list: it sends the first to
  // `model` and the others to the version that answered. If `model` names no
  // version and that one is unloaded in between, starts over.
  async #ofOneVersion(model, send) {
    for (let attempt = 1;; ++attempt) {
      const parts = [];
      try {
        await send(parts);
        return parts;
      } catch (error) {
        const unloaded = parts.length > 0 && Number(model.version) === 0 && error.reason === 'MODEL_NOT_FOUND';
        if (!unloaded || attempt >= this.#connection.options.maxAttempts) throw error;
      }
    }
  }

  async #rankInOneMessage(request, deadline) {
    const response = await this.#connection.call('RankingService/Rank', request, deadline);
    checkRank(request, response);
    return response;
  }

  async #rankInChunks(request, limits, deadline) {
    let embeddingDim = 0;
    if (request.vectors.length > 0) {
      const {model} = await this.#connection.call('ModelService/GetModel', {model: request.model}, deadline);
      embeddingDim = model.embeddingDim;
      // The server rejects vectors of another dimension with the better message.
      if (embeddingDim === 0 || request.vectors.length % (4 * embeddingDim) !== 0) {
        return this.#rankInOneMessage(request, deadline);
      }
    }
    const parts = await this.#ofOneVersion(request.model, async (parts) => {
      for (const {begin, chunk} of chunks.rankChunks(request, embeddingDim, limits)) {
        const model = parts[0]?.response.model ?? request.model;
        const response = await this.#rankInOneMessage({...chunk, model}, deadline)
            .catch((error) => { throw countedFrom(begin, error); });
        parts.push({begin, response});
      }
    });
    return chunks.mergedRanking(request.topK ?? 0, parts);
  }

  // Sends items over a stream for each block, and after a broken one over another
  // that continues it, until all have responses. `start` begins a stream: it
  // returns what makes its messages. Yields each response with `begin`, the number
  // of the stream's first item, `first`, that of the first item without a response,
  // `numLeft`, how many of the block have none, and `done`, to be called with the
  // number of items it answers. Without a deadline, each block has its own.
  async* #overStreams(method, items, start, deadline) {
    let numBefore = 0;
    for await (const block of chunks.held(items)) {
      const by = deadline ?? this.#connection.deadlineFor(block.length);
      const retry = new Retry(this.#connection.options, by);
      let limits = await this.#knownLimits(by);
      let numDone = 0;
      const done = (numItems) => {
        numDone += numItems;
        if (numItems > 0) retry.restart();
      };
      const messages = function* (make) {
        for (const some of chunks.blocks(block.slice(numDone), chunks.streamLimits(limits))) yield make(some);
      };
      const end = {};
      do {
        if (end.error && !end.retry) limits = await this.#renewedLimits(end.error, by, limits);
        end.error = undefined;
        const begin = numBefore + numDone;
        for await (const response of this.#connection.attempt(method, messages(start()), by, retry, end)) {
          yield {response, begin, first: numBefore + numDone, numLeft: block.length - numDone, done};
        }
      } while (end.error);
      if (numDone !== block.length) throw invalidResponse(`the stream ended after ${numDone} of ${block.length}`);
      numBefore += block.length;
    }
  }

  // Sends the keys, in messages of a stream's size.
  async #sendKeys(keys, send) {
    let limits = await this.#knownLimits(this.#connection.deadlineFor());
    while (keys.length > 0) {
      const [some] = chunks.blocks(keys, chunks.streamLimits(limits));
      try {
        await send(some);
        keys = keys.slice(some.length);
      } catch (error) {
        limits = await this.#renewedLimits(error, this.#connection.deadlineFor(), limits);
      }
    }
  }
}

// The vectors of a response.
function vectors({vectors: bytes, embeddingDim, encoding, scales}) {
  const element = {
    VECTOR_ENCODING_FLOAT32: (view, i) => view.getFloat32(4 * i, true),
    VECTOR_ENCODING_FLOAT16: (view, i) => halfToNumber(view.getUint16(2 * i, true)),
    VECTOR_ENCODING_INT8: (view, i) => view.getInt8(i) * scales[Math.floor(i / embeddingDim)],
  }[encoding];
  const bytesPerElement = {VECTOR_ENCODING_FLOAT32: 4, VECTOR_ENCODING_FLOAT16: 2, VECTOR_ENCODING_INT8: 1}[encoding];
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const numRows = embeddingDim === 0 ? 0 : bytes.length / (bytesPerElement * embeddingDim);
  return Array.from({length: numRows}, (_, row) =>
      Float32Array.from({length: embeddingDim}, (_, i) => element(view, row * embeddingDim + i)));
}

function halfToNumber(bits) {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = bits >> 10 & 0x1f;
  const fraction = bits & 0x3ff;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  if (exponent === 0x1f) return fraction ? NaN : sign * Infinity;
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}

module.exports = {SemrankClient, SemrankError, vectors};
