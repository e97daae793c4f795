// Splits what exceeds a message into blocks, and merges the responses to the parts
// of a request as if it had been one call. The rules are those of the C++ client
// (client/lib/request_chunks.h).
'use strict';

const BYTES_AROUND = 11;  // upper bound of the tag and length around each item
const COMMON_BYTES = 1_024;  // for the fields that every message of a stream repeats
const MOST = 2 ** 31 - 1;
// What a client of a stream holds in memory.
const HELD = {maxTexts: 20_000, maxBytes: 16 << 20};
const NO_LIMITS = {maxTexts: MOST, maxBytes: MOST};

// A client assumes these limits until a request exceeds them, so that one of small
// requests never calls GetLimits. They also bound a message of a stream, where
// small ones bring the first responses early.
const ASSUMED_LIMITS = {maxTexts: 1_000, maxBytes: 1 << 20};

const isWithin = (size, limits) => size.maxTexts <= limits.maxTexts && size.maxBytes <= limits.maxBytes;

const smallerOf = (a, b) => ({maxTexts: Math.min(a.maxTexts, b.maxTexts), maxBytes: Math.min(a.maxBytes, b.maxBytes)});

const messageLimits = ({maxTextsPerRequest, maxRequestBytes}) =>
    smallerOf({maxTexts: maxTextsPerRequest || MOST, maxBytes: Number(maxRequestBytes) || MOST}, NO_LIMITS);

const streamLimits = (limits) => smallerOf(limits, ASSUMED_LIMITS);

// Bytes on the wire, or a little more.
function sizeOf(item) {
  if (typeof item === 'string') return Buffer.byteLength(item);
  if (item === null || typeof item !== 'object') return 8;
  if (ArrayBuffer.isView(item)) return item.byteLength;
  return Object.values(item).reduce((sum, value) => sum + sizeOf(value) + BYTES_AROUND, 0);
}

// As many items of an array at a time as fit into a message, at least one: the
// server then explains what is wrong with an item that is too large.
function* blocks(items, limits, size = sizeOf) {
  for (let begin = 0, end; begin < items.length; begin = end) {
    let numBytes = COMMON_BYTES;
    for (end = begin; end < items.length && end - begin < limits.maxTexts; ++end) {
      numBytes += size(items[end]) + BYTES_AROUND;
      if (numBytes > limits.maxBytes && end > begin) break;
    }
    yield items.slice(begin, end);
  }
}

// The items of any iterable, in arrays that are held until they are answered.
async function* held(items) {
  let block = [];
  let numBytes = 0;
  for await (const item of items) {
    block.push(item);
    numBytes += sizeOf(item);
    if (block.length < HELD.maxTexts && numBytes < HELD.maxBytes) continue;
    yield block;
    block = [];
    numBytes = 0;
  }
  if (block.length > 0) yield block;
}

// The requests, at least one, that share the candidates of a RankRequest, whose
// `vectors` are a Buffer; each with the number of its first candidate. Candidates
// are numbered titles first, then ids, document ids and vectors. RangeError for one
// list that would be several.
function* rankChunks({titles = [], ids = [], documentIds = [], vectors, ...common}, embeddingDim, limits) {
  const rows = [];
  const rowBytes = 4 * embeddingDim;
  for (let i = 0; rowBytes > 0 && i < vectors.length; i += rowBytes) rows.push(vectors.subarray(i, i + rowBytes));
  const candidates = Object.entries({titles, ids, documentIds, vectors: rows})
      .flatMap(([name, items]) => items.map((item) => ({name, item})));
  const room = {...limits, maxBytes: limits.maxBytes - sizeOf(common)};
  let begin = 0;
  const all = [...blocks(candidates, room, ({name, item}) => name === 'ids' ? 8 : sizeOf(item))];
  if (all.length > 1 && (common.impression || common.interleave)) {
    throw new RangeError('a request with impression or interleave is one list, and this one exceeds a message: ' +
        'send fewer candidates');
  }
  for (const block of all.length > 0 ? all : [[]]) {
    const itemsOf = (name) => block.filter((candidate) => candidate.name === name).map(({item}) => item);
    yield {begin, chunk: {...common, titles: itemsOf('titles'), ids: itemsOf('ids'), documentIds: itemsOf('documentIds'),
                          vectors: Buffer.concat(itemsOf('vectors'))}};
    begin += block.length;
  }
}

const PARALLEL = ['indices', 'scores', 'semanticScores', 'lexicalScores', 'titles', 'nameMatches'];
const NAME_MATCHES = ['UNSPECIFIED', 'ONE_EDIT', 'PREFIX', 'UNFINISHED_NAME', 'LEADING_WORDS', 'NAME'];

const sumOf = (parts, valueOf) => parts.reduce((sum, part) => sum + valueOf(part), 0);

function sumOfTimings(parts) {
  const all = parts.map(({timings}) => timings).filter(Boolean);
  return all.length === 0 ? null : Object.fromEntries(Object.keys(all[0]).map((name) =>
      [name, String(all.reduce((sum, timings) => sum + BigInt(timings[name]), 0n))]));
}

// One response from those to the chunks, {begin, response}, sorted as the server
// does; keeps the best topK (0 = all). The server may have ordered a whole ranking
// by more than scores.
function mergedRanking(topK, parts) {
  if (parts.length === 1) return parts[0].response;
  const responses = parts.map(({response}) => response);
  const numbered = (name, numberOf) =>
      parts.flatMap(({begin, response}) => response[name].map((item) => numberOf(item, begin)));
  const add = (number, begin) => begin + number;
  const all = Object.fromEntries(PARALLEL.map((name) => [name, responses.flatMap((response) => response[name])]));
  all.indices = numbered('indices', add);
  const match = (i) => NAME_MATCHES.indexOf((all.nameMatches[i] ?? 'NAME_MATCH_UNSPECIFIED').slice('NAME_MATCH_'.length));
  // Stable: the parts are in order, and each keeps ties in request order.
  const order = [...all.scores.keys()].sort((a, b) => match(b) - match(a) || all.scores[b] - all.scores[a]);
  if (topK > 0) order.splice(topK);
  const returned = new Set(order.map((i) => all.indices[i]));
  return {
    ...responses.at(-1),
    ...Object.fromEntries(PARALLEL.map((name) => [name, all[name].length > 0 ? order.map((i) => all[name][i]) : []])),
    problems: numbered('problems', (problem, begin) => ({...problem, index: begin + problem.index})),
    embeddedTitles: numbered('embeddedTitles', add).filter((title) => returned.has(title)),
    cacheHits: sumOf(responses, ({cacheHits}) => cacheHits),
    cacheMisses: sumOf(responses, ({cacheMisses}) => cacheMisses),
    storeHits: sumOf(responses, ({storeHits}) => storeHits),
    timings: sumOfTimings(responses),
  };
}

// The response to one call from those of a stream, of which the first names the model.
function mergedEmbeddings(parts) {
  const [{embeddingDim, encoding, model}] = parts;
  return {
    vectors: Buffer.concat(parts.map(({vectors}) => vectors)),
    embeddingDim,
    scales: parts.flatMap(({scales}) => scales),
    encoding,
    model,
    timings: sumOfTimings(parts),
    cacheHits: sumOf(parts, ({cacheHits}) => cacheHits),
    cacheMisses: sumOf(parts, ({cacheMisses}) => cacheMisses),
  };
}

module.exports = {ASSUMED_LIMITS, NO_LIMITS, blocks, held, isWithin, mergedEmbeddings, mergedRanking, messageLimits,
                  rankChunks, sizeOf, streamLimits};
