// The one error of this package for what a server or the network says.
'use strict';
const {status} = require('@grpc/grpc-js');
const {definitions} = require('./protos.js');

// code: a number of grpc.status; codeName: 'NOT_FOUND'. reason and metadata: of
// the server's ErrorInfo (proto/README.md), '' and {} if it was not reached.
// retryDelayMs: how long the server asks to wait, or undefined.
class SemrankError extends Error {
  constructor(code, message, details = []) {
    super(message);
    this.name = 'SemrankError';
    this.code = code;
    this.codeName = status[code] ?? 'UNKNOWN';
    this.reason = '';
    this.metadata = {};
    this.details = details;
    for (const {type_url: type, value} of details) {
      if (type.endsWith('/google.rpc.ErrorInfo')) {
        const info = definitions['google.rpc.ErrorInfo'].deserialize(value);
        [this.reason, this.metadata] = [info.reason, info.metadata];
      } else if (type.endsWith('/google.rpc.RetryInfo')) {
        const delay = definitions['google.rpc.RetryInfo'].deserialize(value).retryDelay;
        if (delay) this.retryDelayMs = 1000 * Number(delay.seconds) + delay.nanos / 1e6;
      }
    }
  }

  withNote(note) {
    return new SemrankError(this.code, `${this.message} (${note})`, this.details);
  }
}

// The error of one item (Problem.status). Never OK. Names the server if its address
// is given.
function fromItemStatus({code, message, details}, address = '') {
  return new SemrankError(code === status.OK ? status.UNKNOWN : code, address ? `${address}: ${message}` : message, details);
}

// What it usually means when the two sides speak different protocols; gRPC says
// no more than that the connection failed.
function protocolHint(text, usesTls) {
  if (/Last error: Protocol error/.test(text)) return ' (that is not a gRPC port but perhaps one for HTTP: gRPC has another)';
  if (usesTls && /wrong version number/.test(text)) return ' (the server does not speak TLS there: leave tlsCa out)';
  if (!usesTls && /Last error: Failed to connect/.test(text)) {
    return ' (it closed the connection at once: a server that speaks TLS does so, set tlsCa)';
  }
  return '';
}

// gRPC's own errors name neither the address nor what was attempted; a server
// that was reached always sends ErrorInfo.
function fromGrpcError(failed, address, {tlsCa, deadlineMs}, numAttempts) {
  const [packed] = failed.metadata?.get('grpc-status-details-bin') ?? [];
  const details = packed && definitions['google.rpc.Status'].deserialize(packed).details;
  let message = `${address}: ${failed.details || status[failed.code]}`;
  if (!details && failed.code === status.UNAVAILABLE) message = `cannot reach ${message}${protocolHint(message, Boolean(tlsCa))}`;
  if (!details && failed.code === status.DEADLINE_EXCEEDED) {
    message = `${address}: no answer before the deadline (${deadlineMs} ms; in a stream, for each 1,000 items)`;
  }
  const error = new SemrankError(failed.code, message, details);
  return numAttempts <= 1 ? error : error.withNote(`tried ${numAttempts} times`);
}

function invalidResponse(what) {
  return new SemrankError(status.INTERNAL, `invalid response from the server: ${what}`);
}

module.exports = {SemrankError, fromGrpcError, fromItemStatus, invalidResponse};
