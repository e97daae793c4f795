// The calls behind a list of results: search the catalog, or rank titles, by one model or two.

import { call } from './client.js';
import { modelId, modelName, modelRef } from './models.js';

// The server refuses a search for more hits.
export const kMaxTopK = Number(document.querySelector('meta[name=max-top-k]').content);
// Results that are shown of each list.
export const kShown = Math.min(20, kMaxTopK);
// Documents that a second model orders.
const kCompared = Math.min(100, kMaxTopK);

// A ranking is {path, request, answer, results, note, absolute}. Scores of an absolute ranking
// are cosines; others compare within one query only.

function requestFor(query, model, topK) {
  return { query, with_titles: true, with_parts: true, top_k: topK, model: modelRef(model) };
}

// What the two parts add to the score: cosines, weighted as the model does.
function splitScore(score, semantic, lexical, weight) {
  if (semantic === undefined || !weight) return { score, semantic: score, lexical: 0 };
  return { score, semantic: (1 - weight) * semantic, lexical: weight * (lexical ?? 0) };
}

const isAbsolute = (answer) => answer.score_kind === 'SCORE_KIND_COSINE';

function readHits(answer, weight) {
  return (answer.hits ?? []).map((hit) => ({
    key: hit.id !== undefined ? { id: hit.id } : { document_id: hit.document_id ?? '' },
    label: `id ${hit.id ?? hit.document_id}`, title: hit.title ?? '',
    named: hit.name_match !== undefined && hit.name_match !== 'NAME_MATCH_UNSPECIFIED',
    ...splitScore(hit.score ?? 0, isAbsolute(answer) ? hit.semantic_score ?? 0 : undefined, hit.lexical_score, weight),
  }));
}

// `candidates` in the order of their numbers, with key and label.
function readRanking(answer, candidates, weight) {
  return (answer.indices ?? []).map((index, i) => ({
    ...candidates[index], title: answer.titles[i],
    ...splitScore(answer.scores[i], answer.semantic_scores?.[i], answer.lexical_scores?.[i], weight),
  }));
}

// A score of 0 or less says that a title has nothing of the query.
const matches = ({ score, named }, absolute) => named || (absolute ? score > 0 : score !== 0);

// A ranking without the documents of the catalog that do not match. Titles that the user gave all
// stay, unless none matches.
function withMatches({ results, ...ranking }) {
  const absolute = isAbsolute(ranking.answer);
  const matching = results.filter((result) => matches(result, absolute));
  return { ...ranking, absolute, results: ranking.request.titles && matching.length > 0 ? results : matching };
}

export class Ranker {
  // `models` are those of listServed.
  constructor(models) {
    this.defaultModel = models.length ? modelId(models[0]) : '';
    this.weights = new Map(models.map((model) => [modelId(model), model.config?.lexical?.weight ?? 0]));
  }

  weightOf(answer) { return this.weights.get(modelId(answer.model)) ?? 0; }

  // One ranking for each of `models`.
  async rankTitles(query, titles, models, signal) {
    return Promise.all(models.map(async (model) => {
      const request = { ...requestFor(query, model, kShown), titles };
      const answer = await call('/v1/rank', request, signal);
      // Under a model without vectors no title is either.
      const hasVectors = (answer.cache_hits ?? 0) + (answer.cache_misses ?? 0) > 0;
      const embedded = new Set(answer.embedded_titles ?? []);
      const candidates = titles.map((title, i) => ({
        key: { title }, label: `line ${i + 1}`, vector: hasVectors ? (embedded.has(i) ? 'computed' : 'cached') : undefined,
      }));
      return withMatches({ path: '/v1/rank', request, answer, results: readRanking(answer, candidates, this.weightOf(answer)) });
    }));
  }

  // The catalog has vectors of one model, which searches all of it. Another model orders the best
  // that this one finds, and its ranking says so.
  async searchCatalog(query, models, signal) {
    const alone = models.every((model) => model === '' || model === this.defaultModel);
    const request = requestFor(query, '', alone ? kShown : kCompared);
    const answer = await call('/v1/search', request, signal);
    const hits = readHits(answer, this.weightOf(answer));
    const found = withMatches({ path: '/v1/search', request, answer, results: hits });
    return Promise.all(models.map((model) => (!model || model === modelId(answer.model) || hits.length === 0
      ? found : this.orderHits(query, answer, hits, model, signal))));
  }

  // `hits` are those of `found`, the answer to the search.
  async orderHits(query, found, hits, model, signal) {
    const byNumber = hits.filter((hit) => hit.key.id !== undefined);
    const byName = hits.filter((hit) => hit.key.id === undefined);
    const request = {
      ...requestFor(query, model, 0), ids: byNumber.map((hit) => hit.key.id), document_ids: byName.map((hit) => hit.key.document_id),
    };
    const answer = await call('/v1/rank', request, signal);
    const candidates = [...byNumber, ...byName].map(({ key, label }) => ({ key, label }));
    const whole = hits.length >= Number(found.num_documents_searched ?? 0);
    return withMatches({
      path: '/v1/rank', request, answer, results: readRanking(answer, candidates, this.weightOf(answer)),
      note: whole ? 'orders the whole catalog' : `orders the ${hits.length} best of ${modelName(found.model)}, not the whole catalog`,
    });
  }
}
