// Client of a semrank server. client.d.ts documents each call.
'use strict';
const {setTimeout: sleep} = require('node:timers/promises');
const {status} = require('@grpc/grpc-js');
const {checkEmbedChunk, checkRank, checkVectors} = require('./checks.js');
const chunks = require('./chunks.js');
const {Connection, Retry} = require('./connection.js');
const {SemrankError, fromItemStatus, invalidResponse} = require('./errors.js');

// A part of a stream that has a deadline of its own and is held until answered.
const BLOCK = {maxTexts: 20_000, maxBytes: 16 << 20};
const REQUESTS_PER_DEADLINE = 1_000;

const PARTS = {both: 'PARTS_UNSPECIFIED', semantic: 'PARTS_SEMANTIC', lexical: 'PARTS_LEXICAL'};
const SIDES = {query: 'SIDE_QUERY', document: 'SIDE_DOCUMENT'};
const ENCODINGS = {float32: 'VECTOR_ENCODING_FLOAT32', float16: 'VECTOR_ENCODING_FLOAT16', int8: 'VECTOR_ENCODING_INT8'};

function enumOf(name, values, value) {
  if (!Object.hasOwn(values, value)) throw new RangeError(`${name} '${value}': want one of ${Object.keys(values).join(', ')}`);
  return values[value];
}

const bytesOf = (view = Buffer.alloc(0)) => Buffer.from(view.buffer, view.byteOffset, view.byteLength);
const modelOf = ({name = '', version = 0} = {}) => ({name, version});

// Protobuf would drop a misspelt field without a word.
function checkNames(call, request, known) {
  const unknown = Object.keys(request).find((name) => !known.includes(name));
  if (unknown !== undefined) throw new RangeError(`${call}: no field '${unknown}'`);
}

const RANK_FIELDS = ['query', 'titles', 'ids', 'documentIds', 'vectors', 'topK', 'minScore', 'model', 'withTitles', 'parts',
                     'withParts', 'filter', 'nameMatch'];
const SEARCH_FIELDS = ['query', 'topK', 'offset', 'minScore', 'exclude', 'model', 'withTitles', 'withPayloads', 'parts',
                       'withParts', 'filter', 'nameMatch'];

function rankRequest(request) {
  checkNames('rank', request, RANK_FIELDS);
  return {...request, model: modelOf(request.model), vectors: bytesOf(request.vectors),
          parts: enumOf('parts', PARTS, request.parts ?? 'both')};
}

function byKind(keys) {
  const isName = (key) => typeof key === 'string';
  return {ids: keys.filter((key) => !isName(key)).map(String), documentIds: keys.filter(isName)};
}

// gRPC's own RESOURCE_EXHAUSTED has no reason.
function mayBeTooLarge({reason, code}) {
  return reason ? ['TOO_MANY_TEXTS', 'MESSAGE_TOO_LARGE'].includes(reason) : code === status.RESOURCE_EXHAUSTED;
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
    return this.#withinLimits(size, deadline, () => this.#rankInOneMessage(request, deadline),
        (limits) => this.#rankInChunks(request, limits, deadline));
  }

  async* rankStream(requests) {
    const pending = new Map([...requests].map(rankRequest).entries());
    const deadline = this.#connection.deadlineFor(1 + Math.floor(pending.size / REQUESTS_PER_DEADLINE));
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
      const last = rejected.get(Math.max(...rejected.keys()));
      const pushback = last.retryDelayMs === undefined ? undefined : String(Math.floor(last.retryDelayMs));
      const delay = retry.nextDelay(last.code, pushback);
      if (delay === undefined) {
        for (const [index, error] of rejected) yield {index, error: error.withNote(`tried ${retry.numAttempts} times`)};
        return;
      }
      await sleep(delay);
    }
  }

  async explain({query, title, id, documentId, model, maxPoolingUnits = 0, parts = 'both'}) {
    const candidate = Object.fromEntries(Object.entries({title, id, documentId}).filter(([, value]) => value !== undefined));
    return this.#call('RankingService/Explain',
        {query, ...candidate, model: modelOf(model), maxPoolingUnits, parts: enumOf('parts', PARTS, parts)});
  }

  async embed({texts, side, encoding = 'float32', model}) {
    const request = {texts, side: enumOf('side', SIDES, side), encoding: enumOf('encoding', ENCODINGS, encoding),
                     model: modelOf(model)};
    const deadline = this.#connection.deadlineFor();
    return this.#withinLimits({maxTexts: texts.length, maxBytes: chunks.sizeOf(request)}, deadline,
        () => this.#embedInOneMessage(request, deadline), (limits) => this.#embedInChunks(request, limits, deadline));
  }

  async* embedStream(texts, {side, encoding = 'float32', model}) {
    const common = {side: enumOf('side', SIDES, side), encoding: enumOf('encoding', ENCODINGS, encoding), model: modelOf(model)};
    let numBefore = 0;
    for await (const block of chunks.blocksOf(texts, BLOCK)) {
      // After a reload, a new stream without a version would mix two models;
      // within a stream the version must not change.
      let model;
      const stream = this.#streamBlock('EmbeddingService/EmbedTextsStream', block,
          (some) => ({...common, model, texts: some}), () => model = common.model);
      for await (const {response, first, begin, done} of stream) {
        // The server counts from 0 in each stream.
        const chunk = {...response, firstText: begin + Number(response.firstText)};
        checkEmbedChunk(common.encoding, block.length - first, first, chunk);
        if (chunk.model) common.model = chunk.model;
        done(chunk.numTexts);
        yield {...chunk, firstText: numBefore + chunk.firstText};
      }
      numBefore += block.length;
    }
  }

  async put(documents) {
    const result = {numCreated: 0, numReplaced: 0, problems: []};
    let numBefore = 0;
    for await (const block of chunks.blocksOf(documents, BLOCK)) {
      const sent = [];
      const stream = this.#streamBlock('CatalogService/PutDocumentsStream', block, (some) => {
        sent.push(some.length);
        return {documents: some};
      }, () => sent.splice(0));
      for await (const {response, first, done} of stream) {
        const numInChunk = sent.shift() ?? 0;
        if (numInChunk === 0 || response.numCreated + response.numReplaced + response.problems.length !== numInChunk) {
          throw invalidResponse('it does not account for the documents sent');
        }
        result.numCreated += response.numCreated;
        result.numReplaced += response.numReplaced;
        for (const problem of response.problems) {
          result.problems.push({...problem, index: numBefore + first + problem.index});
        }
        done(numInChunk);
      }
      numBefore += block.length;
    }
    return result;
  }

  async get(keys, {withPayloads = false} = {}) {
    const found = new Map();
    const all = [...keys];
    await this.#sendKeys(all, async (some) => {
      const {documents} = await this.#call('CatalogService/GetDocuments', {...byKind(some), withPayloads});
      for (const document of documents) found.set(document.documentId ?? BigInt(document.id), document);
    });
    return all.map((key) => found.get(typeof key === 'string' ? key : BigInt(key)) ?? null);
  }

  async delete(keys) {
    let numDeleted = 0;
    await this.#sendKeys([...keys], async (some) => {
      numDeleted += (await this.#call('CatalogService/DeleteDocuments', byKind(some))).numDeleted;
    });
    return numDeleted;
  }

  async search(fields) {
    checkNames('search', fields, SEARCH_FIELDS);
    const {exclude = [], parts = 'both', withTitles = true, topK = 10, ...others} = fields;
    const {ids, documentIds} = byKind([...exclude]);
    const response = await this.#call('CatalogService/SearchDocuments', {
      ...others, topK, withTitles, parts: enumOf('parts', PARTS, parts), model: modelOf(others.model),
      excludeIds: ids, excludeDocumentIds: documentIds});
    if (topK > 0 && response.hits.length > topK) throw invalidResponse('more hits than asked for');
    return response;
  }

  async getModel(model) {
    return (await this.#call('ModelService/GetModel', {model: modelOf(model)})).model;
  }

  async listModels(name = '') {
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

  // After a message within the limits `used` failed: new limits, if it may have
  // been too large and they differ, because a restarted server may have others.
  // Else throws the error.
  async #renewedLimits(error, deadline, used) {
    if (!(error instanceof SemrankError) || !mayBeTooLarge(error)) throw error;
    const limits = await this.#fetchLimits(deadline).catch(() => { throw error; });
    if (used && chunks.isWithin(used, limits) && chunks.isWithin(limits, used)) throw error;
    return limits;
  }

  // Sends one message if that probably suffices, else or if the server rejects it
  // as too large, chunks.
  async #withinLimits(size, deadline, inOneMessage, inChunks) {
    if (chunks.isWithin(size, this.#limits ?? chunks.ASSUMED_LIMITS)) {
      try {
        return await inOneMessage();
      } catch (error) {
        const limits = await this.#renewedLimits(error, deadline);
        // If the request is within the limits, the rejection has another cause.
        if (error.reason !== 'TOO_MANY_TEXTS' && chunks.isWithin(size, limits)) throw error;
        return inChunks(limits);
      }
    }
    const limits = this.#limits ?? await this.#fetchLimits(deadline);
    try {
      return await inChunks(limits);
    } catch (error) {
      return inChunks(await this.#renewedLimits(error, deadline, limits));
    }
  }

  // Sends chunks, at least one, until all items have responses, and merges them.
  // The first goes to `model`, the others to the version that answered it. If
  // `model` names no version and that one is unloaded in between, starts over.
  async #sendChunks(numItems, model, send) {
    for (let attempt = 1;; ++attempt) {
      let begin = 0;
      let whole;
      try {
        do {
          const {numSent, merged} = await send(begin, whole?.model ?? model, whole);
          begin += numSent;
          whole = merged;
        } while (begin < numItems);
        return whole;
      } catch (error) {
        if (!(error instanceof SemrankError)) throw error;
        const unloaded = begin > 0 && Number(model.version) === 0 && error.reason === 'MODEL_NOT_FOUND';
        if (!unloaded || attempt >= this.#connection.options.maxAttempts) {
          throw begin > 0 ? error.withNote(`counted from number ${begin}`) : error;
        }
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
    const parts = new chunks.RankChunks(request, embeddingDim, limits);
    const whole = await this.#sendChunks(parts.numItems, request.model, async (begin, model, before) => {
      const {chunk, numItems} = parts.chunk(begin, model);
      const response = await this.#rankInOneMessage(chunk, deadline);
      return {numSent: numItems, merged: chunks.addRankChunk(begin, response, before)};
    });
    return chunks.finishRank(request.topK ?? 0, whole);
  }

  async #embedInOneMessage(request, deadline) {
    const response = await this.#connection.call('EmbeddingService/EmbedTexts', request, deadline);
    checkVectors(request.encoding, request.texts.length, response);
    return response;
  }

  async #embedInChunks(request, limits, deadline) {
    const blocks = [...chunks.blocks(request.texts, limits)];
    return this.#sendChunks(request.texts.length, request.model, async (begin, model, before) => {
      let number = 0;
      for (let first = 0; first < begin; first += blocks[number++].length);
      const texts = blocks[number] ?? [];
      const response = await this.#embedInOneMessage({...request, texts, model}, deadline);
      return {numSent: texts.length, merged: chunks.addEmbedChunk(response, before)};
    });
  }

  // Runs a stream, and after a broken one another that continues it, until all
  // items of the block have responses. Yields each response with `first`, the
  // number of its first item, `begin`, that of the stream's first one, and
  // `done`, to be called with the number of items it answers.
  async* #streamBlock(method, block, makeMessage, restart = () => {}) {
    const deadline = this.#connection.deadlineFor(1 + Math.floor(block.length / chunks.ASSUMED_LIMITS.maxTexts));
    let limits = this.#limits ?? await this.#fetchLimits(deadline);
    const retry = new Retry(this.#connection.options, deadline);
    let first = 0;
    const done = (numItems) => {
      first += numItems;
      if (numItems > 0) retry.restart();
    };
    const messages = function* (items) {
      for (const some of chunks.blocks(items, chunks.streamLimits(limits))) yield makeMessage(some);
    };
    while (true) {
      const begin = first;
      const end = {};
      restart();
      for await (const response of this.#connection.attempt(method, messages(block.slice(begin)), deadline, retry, end)) {
        yield {response, first, begin, done};
      }
      if (!end.error) {
        if (first !== block.length) throw invalidResponse(`the stream ended after ${first} of ${block.length}`);
        return;
      }
      if (!end.retry) limits = await this.#renewedLimits(end.error, deadline, limits);
    }
  }

  // Sends the keys, in messages of a stream's size.
  async #sendKeys(keys, send) {
    let limits = this.#limits ?? await this.#fetchLimits(this.#connection.deadlineFor());
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
