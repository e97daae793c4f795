// What the playground shows before a query: what it is, and queries to try.

import { call, element } from './client.js';
import { kMaxTopK } from './rankings.js';

const kExamples = 3;
// Titles to choose the examples from.
const kTitles = Math.min(60, kMaxTopK);
const kWords = 3;
const kCharacters = 40;

// The longest words of a title, in their order: they say most.
function queryOf(title) {
  const words = title.split(/[^\p{L}\p{N}'’-]+/u).filter((word) => word.length > 2);
  const longest = new Set([...words].sort((a, b) => b.length - a.length).slice(0, kWords));
  return words.filter((word) => longest.delete(word)).join(' ').slice(0, kCharacters) || title.slice(0, kCharacters);
}

// Queries from titles that lie far apart in the list, as neighbours are alike.
export function exampleQueries(titles) {
  const queries = [...new Set(titles.filter((title) => title).map(queryOf))];
  const step = Math.max(1, Math.floor(queries.length / kExamples));
  return queries.filter((_, i) => i % step === 0).slice(0, kExamples);
}

// Titles of the catalog: those that some query finds. None = the catalog is empty.
export async function catalogTitles(signal) {
  const { hits = [] } = await call('/v1/search', { query: 'a', top_k: kTitles, with_titles: true }, signal);
  return hits.map((hit) => hit.title ?? '');
}

// `source` is what is ranked; `onquery` runs an example, `ontitles` changes to titles.
export function welcome({ examples, source, onquery, ontitles }) {
  const about = 'semrank orders short texts by what they mean for a query, not only by the words they share.';
  const what = source === 'titles' ? 'Type a query to rank your titles, or try one:' : 'Type a query to search the catalog of this server, or try one:';
  if (source === 'catalog' && examples.length === 0) {
    return [element('p', {}, about), element('p', {}, 'The catalog of this server is empty: ', element('code', {}, 'semrank put --documents=FILE'), ' fills it. Until then,'),
      element('p', {}, element('button', { type: 'button', class: 'primary', onclick: ontitles }, 'rank your own titles'))];
  }
  return [element('p', {}, about), element('p', {}, what),
    element('p', { class: 'row' }, ...examples.map((query) => element('button', { type: 'button', class: 'example', onclick: () => onquery(query) }, query)))];
}
