// Makes requests from the arguments of the calls, and checks these: Protobuf would
// drop what it does not know without a word.
'use strict';
const {randomBytes} = require('node:crypto');

const PARTS = {both: 'PARTS_UNSPECIFIED', semantic: 'PARTS_SEMANTIC', lexical: 'PARTS_LEXICAL'};
const SIDES = {query: 'SIDE_QUERY', document: 'SIDE_DOCUMENT'};
const ENCODINGS = {float32: 'VECTOR_ENCODING_FLOAT32', float16: 'VECTOR_ENCODING_FLOAT16', int8: 'VECTOR_ENCODING_INT8'};

function enumOf(name, values, value) {
  if (!Object.hasOwn(values, value)) throw new RangeError(`${name} '${value}': want one of ${Object.keys(values).join(', ')}`);
  return values[value];
}

const bytesOf = (view = Buffer.alloc(0)) => Buffer.from(view.buffer, view.byteOffset, view.byteLength);

function modelOf(model = {}) {
  if (typeof model !== 'object') throw new TypeError(`model: want an object, {name: '${model}'}, not ${kindOf(model)}`);
  const {name = '', version = 0} = model;
  return {name, version: numberOf('model.version', version ?? 0)};
}

// Protobuf would drop a misspelt field without a word, and a text in place of the
// fields has none.
function checkNames(call, fields, known, before = '') {
  if (fields === null || typeof fields !== 'object' || Array.isArray(fields)) {
    throw new TypeError(`${call}: want ${call}(${before}{${known[0]}: ...}), not ${kindOf(fields)} there`);
  }
  const unknown = Object.keys(fields).find((name) => !known.includes(name));
  if (unknown !== undefined) throw new RangeError(`${call}: no field '${unknown}'`);
}

function kindOf(value) {
  if (value === null || value === undefined) return String(value);
  return Array.isArray(value) ? 'an array' : typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

// A text is iterable too, but its characters are not what is meant.
function iterableOf(name, items) {
  if (typeof items !== 'string' && (items?.[Symbol.iterator] || items?.[Symbol.asyncIterator])) return items;
  throw new TypeError(`${name}: want an array or another iterable, not ${kindOf(items)}`);
}

function listOf(name, items) {
  if (Array.isArray(items) || ArrayBuffer.isView(items)) return items;
  throw new TypeError(`${name}: want an array, not ${kindOf(items)}`);
}

// Protobuf would send '[object Object]' for an object.
function textOf(name, value) {
  if (typeof value === 'string') return value;
  throw new TypeError(`${name}: want a text, not ${kindOf(value)}`);
}

function textsOf(name, items) {
  listOf(name, items).forEach((item, i) => textOf(`${name}[${i}]`, item));
  return items;
}

// A whole number of 32 bits: Protobuf would cut a fraction off and send -1 as 2^32 - 1.
function countOf(name, value) {
  const count = value ?? 0;
  if (Number.isInteger(count) && count >= 0 && count < 2 ** 32) return count;
  throw new RangeError(`${name} ${value}: want a whole number from 0 to 4294967295`);
}

// A number of 64 bits as text. Protobuf would cut a fraction off and take a text
// without digits for 0, which is the id of another document.
function numberOf(name, value) {
  const text = String(value);
  const isExact = typeof value !== 'number' || Number.isSafeInteger(value);
  if (isExact && /^\d{1,20}$/.test(text) && BigInt(text) < 2n ** 64n) return text;
  throw new RangeError(`${name} ${text}: want a whole number from 0 to 2^64 - 1, above 2^53 as bigint or text`);
}

const numbersOf = (name, items) => Array.from(listOf(name, items), (item, i) => numberOf(`${name}[${i}]`, item));

// The items of any iterable, each as `check` returns it.
async function* checked(items, check) {
  let i = 0;
  for await (const item of items) yield check(item, i++);
}

const DOCUMENT_FIELDS = ['documentId', 'id', 'title', 'payload', 'tags'];

function documentsOf(documents) {
  return checked(iterableOf('documents', documents), (document, i) => {
    const name = `documents[${i}]`;
    messageOf(name, document, DOCUMENT_FIELDS);
    textOf(`${name}.title`, document.title ?? '');
    textsOf(`${name}.tags`, document.tags ?? []);
    return (document.id ?? null) === null ? document : {...document, id: numberOf(`${name}.id`, document.id)};
  });
}

const RANK_FIELDS = ['query', 'titles', 'ids', 'documentIds', 'vectors', 'topK', 'minScore', 'model', 'withTitles', 'parts',
                     'withParts', 'filter', 'nameMatch', 'impression', 'interleave'];
const SEARCH_FIELDS = ['query', 'topK', 'offset', 'minScore', 'exclude', 'model', 'withTitles', 'withPayloads', 'parts',
                       'withParts', 'filter', 'nameMatch', 'impression', 'interleave'];
const EXPLAIN_FIELDS = ['query', 'title', 'id', 'documentId', 'model', 'maxPoolingUnits', 'parts'];
const EMBED_FIELDS = ['side', 'encoding', 'model'];
const EVENT_FIELDS = ['impressionId', 'kind', 'position', 'document', 'timeMs', 'eventId', 'value'];
const SHOWN_LIST_FIELDS = ['impressionId', 'query', 'session', 'user', 'timeMs', 'results', 'ranker'];
const SHOWN_DOCUMENT_FIELDS = ['document', 'title', 'score'];

// The fields of a message within those of a call.
function messageOf(name, fields, known) {
  if (kindOf(fields) !== 'an object') throw new TypeError(`${name}: want {${known[0]}: ...}, not ${kindOf(fields)}`);
  checkNames(name, fields, known);
  return fields;
}

// Checks what Rank and SearchDocuments share: a filter by tags, and counts.
function checkFilterAndCounts({filter, topK, offset}) {
  for (const [name, value] of Object.entries({topK, offset})) countOf(name, value);
  if (filter === undefined || filter === null) return;
  for (const [name, tags] of Object.entries(messageOf('filter', filter, ['includeTags', 'excludeTags']))) {
    textsOf(`filter.${name}`, tags ?? []);
  }
}

// Asks for an impression, also by {}, and for two rankings in one list.
function impressionOf({impression, interleave}) {
  const request = {};
  if (impression !== undefined) {
    request.impression = messageOf('impression', impression, ['session', 'user']);
    for (const [name, value] of Object.entries(impression)) textOf(`impression.${name}`, value);
  }
  if (interleave !== undefined) {
    request.interleave = {...messageOf('interleave', interleave, ['a', 'b', 'requestOrder'])};
    for (const name of ['a', 'b']) {
      if (interleave[name] !== undefined) request.interleave[name] = modelOf(interleave[name]);
    }
  }
  return request;
}

const messagesOf = (name, items, known) =>
    [...iterableOf(name, items)].map((item, i) => messageOf(`${name}[${i}]`, item, known));

const randomId = () => randomBytes(16).toString('base64url');

// What has an id counts once, however often it is sent.
function reportRequest(fields) {
  checkNames('reportEvents', fields, ['events', 'impressions']);
  const events = messagesOf('events', fields.events ?? [], EVENT_FIELDS);
  events.forEach(({position}, i) => countOf(`events[${i}].position`, position));
  const impressions = messagesOf('impressions', fields.impressions ?? [], SHOWN_LIST_FIELDS);
  impressions.forEach(({results = []}, i) => messagesOf(`impressions[${i}].results`, results, SHOWN_DOCUMENT_FIELDS));
  return {events: events.map((event) => ({...event, eventId: event.eventId || randomId()})),
          impressions: impressions.map((list) => ({...list, impressionId: list.impressionId || randomId()}))};
}

function rankRequest(request) {
  checkNames('rank', request, RANK_FIELDS);
  textOf('query', request.query);
  for (const name of ['titles', 'documentIds']) textsOf(name, request[name] ?? []);
  checkFilterAndCounts(request);
  return {...request, ...impressionOf(request), ids: numbersOf('ids', request.ids ?? []), model: modelOf(request.model),
          vectors: bytesOf(request.vectors), parts: enumOf('parts', PARTS, request.parts ?? 'both')};
}

function explainRequest(fields) {
  checkNames('explain', fields, EXPLAIN_FIELDS);
  const {query, title, id, documentId, model, maxPoolingUnits = 0, parts = 'both'} = fields;
  textOf('query', query);
  const candidate = Object.fromEntries(Object.entries({title, id, documentId}).filter(([, value]) => value !== undefined));
  if ((id ?? null) !== null) candidate.id = numberOf('id', id);
  return {query, ...candidate, model: modelOf(model), maxPoolingUnits: countOf('maxPoolingUnits', maxPoolingUnits),
          parts: enumOf('parts', PARTS, parts)};
}

function searchRequest(fields) {
  checkNames('search', fields, SEARCH_FIELDS);
  const {exclude = [], parts = 'both', withTitles = true, topK = 10, ...others} = fields;
  textOf('query', others.query);
  checkFilterAndCounts({...others, topK});
  const {ids, documentIds} = byKind(keysOf('exclude', exclude));
  return {...others, ...impressionOf(others), topK, withTitles, parts: enumOf('parts', PARTS, parts), model: modelOf(others.model),
          excludeIds: ids, excludeDocumentIds: documentIds};
}

const withoutTexts = ({side, encoding = 'float32', model}) =>
    ({side: enumOf('side', SIDES, side), encoding: enumOf('encoding', ENCODINGS, encoding), model: modelOf(model)});

function embedRequest(fields) {
  checkNames('embed', fields, ['texts', ...EMBED_FIELDS]);
  return {...withoutTexts(fields), texts: textsOf('texts', fields.texts)};
}

// The texts, and what all messages of the stream have in common.
function embedStreamRequest(texts, fields) {
  const all = checked(iterableOf('texts', texts), (text, i) => textOf(`texts[${i}]`, text));
  checkNames('embedStream', fields, EMBED_FIELDS, 'texts, ');
  return {texts: all, common: withoutTexts(fields)};
}

// A key is a number or a name.
function keysOf(name, keys) {
  const all = [...iterableOf(name, keys)];
  const other = all.find((key) => !['string', 'number', 'bigint'].includes(typeof key));
  if (other !== undefined) throw new TypeError(`${name}: want numbers and texts, not ${kindOf(other)}`);
  all.forEach((key, i) => typeof key === 'string' || numberOf(`${name}[${i}]`, key));
  return all;
}

function byKind(keys) {
  const isName = (key) => typeof key === 'string';
  return {ids: keys.filter((key) => !isName(key)).map(String), documentIds: keys.filter(isName)};
}

module.exports = {byKind, checkNames, documentsOf, embedRequest, embedStreamRequest, explainRequest, iterableOf, keysOf,
                  modelOf, rankRequest, reportRequest, searchRequest, textOf};
