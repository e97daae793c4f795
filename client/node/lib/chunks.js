// Splits a request that exceeds the server's limits into chunks, and merges their
// responses as if it had been one call. The rules are those of the C++ client
// (client/lib/request_chunks.h).
'use strict';

const BYTES_AROUND = 11;  // upper bound of the tag and length around each item
const COMMON_BYTES = 1_024;  // of the fields that every chunk repeats
const NO_LIMIT = 2 ** 31 - 1;

// Assumed until a request exceeds them, so that a client of small requests never
// calls GetLimits; also the limits of a message in a stream, where small ones
// bring the first responses early.
const ASSUMED_LIMITS = {maxTexts: 1_000, maxBytes: 1 << 20};

function messageLimits({maxTextsPerRequest, maxRequestBytes}) {
  return {maxTexts: maxTextsPerRequest || NO_LIMIT, maxBytes: Math.min(Number(maxRequestBytes) || NO_LIMIT, NO_LIMIT)};
}

function streamLimits({maxTexts, maxBytes}) {
  return {maxTexts: Math.min(maxTexts, ASSUMED_LIMITS.maxTexts), maxBytes: Math.min(maxBytes, ASSUMED_LIMITS.maxBytes)};
}

const isWithin = (size, limits) => size.maxTexts <= limits.maxTexts && size.maxBytes <= limits.maxBytes;

// The space that is left in a chunk while it is filled.
class Room {
  #texts; #bytes; #taken = false;

  constructor(limits, commonBytes = 0) {
    this.#texts = limits.maxTexts;
    this.#bytes = limits.maxBytes - commonBytes - COMMON_BYTES;
  }

  // Reserves space for one more item. The first always fits: the server then
  // explains what is wrong with it.
  take(numBytes) {
    const fits = this.#texts > 0 && numBytes + BYTES_AROUND <= this.#bytes;
    if (!fits && this.#taken) return false;
    --this.#texts;
    this.#bytes -= numBytes + BYTES_AROUND;
    return this.#taken = true;
  }
}

// Bytes on the wire, or a little more.
function sizeOf(item) {
  if (typeof item === 'string') return Buffer.byteLength(item);
  if (item === null || typeof item !== 'object') return 8;
  if (ArrayBuffer.isView(item)) return item.byteLength;
  return Object.values(item).reduce((sum, value) => sum + sizeOf(value) + BYTES_AROUND, 0);
}

// As many items at a time as fit.
function* blocks(items, limits) {
  let block = [];
  let room = new Room(limits);
  for (const item of items) {
    if (!room.take(sizeOf(item))) {
      yield block;
      block = [];
      room = new Room(limits);
      room.take(sizeOf(item));
    }
    block.push(item);
  }
  if (block.length > 0) yield block;
}

async function* blocksOf(items, limits) {
  let block = [];
  let room = new Room(limits);
  for await (const item of items) {
    if (!room.take(sizeOf(item))) {
      yield block;
      block = [];
      room = new Room(limits);
      room.take(sizeOf(item));
    }
    block.push(item);
  }
  if (block.length > 0) yield block;
}

// The chunks of one RankRequest, whose `vectors` are a Buffer. Candidates are
// numbered titles first, then ids, document ids and vectors.
class RankChunks {
  #common; #candidates; #limits;

  constructor({titles = [], ids = [], documentIds = [], vectors, ...common}, embeddingDim, limits) {
    const rows = [];
    const rowBytes = 4 * embeddingDim;
    for (let i = 0; rowBytes > 0 && i < vectors.length; i += rowBytes) rows.push(vectors.subarray(i, i + rowBytes));
    const number = (name, items) => items.map((item) => [name, item]);
    this.#common = common;
    this.#candidates = [...number('titles', titles), ...number('ids', ids), ...number('documentIds', documentIds),
                        ...number('vectors', rows)];
    this.#limits = limits;
  }

  get numItems() {
    return this.#candidates.length;
  }

  // The request with as many candidates from number `begin` on as fit.
  chunk(begin, model) {
    const chunk = {...this.#common, model, titles: [], ids: [], documentIds: [], vectors: []};
    const room = new Room(this.#limits, sizeOf(this.#common));
    let end = begin;
    for (; end < this.#candidates.length; ++end) {
      const [name, item] = this.#candidates[end];
      if (!room.take(name === 'ids' ? 8 : sizeOf(item))) break;
      chunk[name].push(item);
    }
    chunk.vectors = Buffer.concat(chunk.vectors);
    return {chunk, numItems: end - begin};
  }
}

const PARALLEL = ['indices', 'scores', 'semanticScores', 'lexicalScores', 'titles', 'nameMatches'];
const NAME_MATCHES = ['UNSPECIFIED', 'ONE_EDIT', 'PREFIX', 'UNFINISHED_NAME', 'LEADING_WORDS', 'NAME'];

function sumOf(a, b, names) {
  return Object.fromEntries(names.map((name) => [name, (a?.[name] ?? 0) + b[name]]));
}

function sumOfTimings(a, b) {
  if (!a || !b) return a ?? b;
  return Object.fromEntries(Object.keys(b).map((name) => [name, String(BigInt(a[name]) + BigInt(b[name]))]));
}

function addRankChunk(begin, chunk, whole) {
  if (!whole) return chunk;
  const added = {...chunk, indices: chunk.indices.map((index) => begin + index)};
  return {
    ...chunk,
    ...Object.fromEntries(PARALLEL.map((name) => [name, whole[name].concat(added[name])])),
    problems: whole.problems.concat(chunk.problems.map((problem) => ({...problem, index: begin + problem.index}))),
    embeddedTitles: whole.embeddedTitles.concat(chunk.embeddedTitles.map((title) => begin + title)),
    ...sumOf(whole, chunk, ['cacheHits', 'cacheMisses', 'storeHits']),
    timings: sumOfTimings(whole.timings, chunk.timings),
  };
}

// Sorts the merged ranking as the server does, and keeps the best topK (0 = all).
function finishRank(topK, whole) {
  const match = (i) => NAME_MATCHES.indexOf((whole.nameMatches[i] ?? 'NAME_MATCH_UNSPECIFIED').slice('NAME_MATCH_'.length));
  // Stable: chunks were added in order, and each keeps ties in request order.
  const order = [...whole.scores.keys()].sort((a, b) => match(b) - match(a) || whole.scores[b] - whole.scores[a]);
  if (topK > 0) order.splice(topK);
  const sorted = PARALLEL.map((name) => [name, whole[name].length > 0 ? order.map((i) => whole[name][i]) : []]);
  return {...whole, ...Object.fromEntries(sorted)};
}

function addEmbedChunk(chunk, whole) {
  if (!whole) return chunk;
  return {
    ...chunk,
    vectors: Buffer.concat([whole.vectors, chunk.vectors]),
    scales: whole.scales.concat(chunk.scales),
    ...sumOf(whole, chunk, ['cacheHits', 'cacheMisses']),
    timings: sumOfTimings(whole.timings, chunk.timings),
  };
}

module.exports = {ASSUMED_LIMITS, RankChunks, addEmbedChunk, addRankChunk, blocks, blocksOf, finishRank, isWithin,
                  messageLimits, sizeOf, streamLimits};
