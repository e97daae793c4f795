// Checks responses, because callers index arrays with numbers that come from
// another machine. The rules are those of the C++ client (response_check.h).
'use strict';
const {invalidResponse} = require('./errors.js');

const BYTES_PER_ELEMENT = {VECTOR_ENCODING_FLOAT32: 4, VECTOR_ENCODING_FLOAT16: 2, VECTOR_ENCODING_INT8: 1};

function want(field, value, good, wanted) {
  if (!good) throw invalidResponse(`${field} is ${value}, ${wanted}`);
}

function checkRank(request, response) {
  const numRanked = response.indices.length;
  want('the number of scores', response.scores.length, response.scores.length === numRanked, `that of indices ${numRanked}`);
  for (const {length} of [response.semanticScores, response.lexicalScores]) {
    want('the number of scores of a part', length, length === 0 || length === numRanked, `that of indices ${numRanked}`);
  }
  for (const [name, asked] of [['titles', request.withTitles], ['nameMatches', request.nameMatch]]) {
    const expected = asked ? numRanked : 0;
    want(`the number of ${name}`, response[name].length, response[name].length === expected, `wanted ${expected}`);
  }
  // An upper bound: the dimension is not known here.
  const most = ['titles', 'ids', 'documentIds'].reduce((sum, name) => sum + (request[name]?.length ?? 0), 0) +
      (request.vectors?.length ?? 0) / 4;
  for (const index of [...response.indices, ...response.problems.map((problem) => problem.index), ...response.embeddedTitles]) {
    want('a candidate number', index, index < most, `of candidates ${most}`);
  }
}

function checkVectors(encoding, numTexts, response) {
  want('the encoding', response.encoding, response.encoding === encoding, `wanted ${encoding}`);
  const numBytes = response.vectors.length;
  if (numBytes !== numTexts * response.embeddingDim * BYTES_PER_ELEMENT[encoding]) {
    throw invalidResponse(`${numBytes} bytes of vectors for ${numTexts} texts with ${response.embeddingDim} dimensions`);
  }
  const wanted = encoding === 'VECTOR_ENCODING_INT8' ? numTexts : 0;
  want('the number of scales', response.scales.length, response.scales.length === wanted, `wanted ${wanted}`);
}

function checkEmbedChunk(encoding, numLeft, firstText, chunk) {
  want('the first text of a chunk', chunk.firstText, chunk.firstText === firstText, `wanted ${firstText}`);
  want('the number of texts in a chunk', chunk.numTexts, chunk.numTexts <= numLeft, `not answered before ${numLeft}`);
  for (const {index} of chunk.problems) {
    want('the number of a text with a problem', index, index < chunk.numTexts, `of texts ${chunk.numTexts}`);
  }
  checkVectors(encoding, chunk.numTexts, chunk);
}

module.exports = {checkEmbedChunk, checkRank, checkVectors};
