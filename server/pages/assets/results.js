// Rankings as lists of results: places, bars of the two parts, and how far a result has moved.

import { element, milliseconds } from './client.js';
import { modelName } from './models.js';
import { kShown } from './rankings.js';

// Parts that are below 0 have no length. `scale` is the score of a full bar.
export function partsBar(semantic, lexical, scale) {
  const bar = element('span', { class: 'bar', 'aria-hidden': 'true' });
  for (const [part, name] of [[semantic, 'semantic'], [lexical, 'lexical']]) {
    const piece = element('span', { class: name });
    piece.style.width = `${Math.max(0, Math.min(1, (part ?? 0) / scale)) * 100}%`;
    bar.append(piece);
  }
  return bar;
}

// Cosines have a scale of their own, from 0 to 1; other scores that of the best one.
const scaleOf = (rankings) => (rankings.every(({ absolute }) => absolute) ? 1
  : Math.max(1e-6, ...rankings.flatMap(({ results }) => results.map(({ score }) => Math.abs(score)))));

const hasLexical = (rankings) => rankings.some(({ results }) => results.some(({ lexical }) => lexical));

export function legend(rankings) {
  const parts = hasLexical(rankings) ? [['semantic', 'semantic part: meaning'], ['lexical', 'lexical part: same letters']] : [['semantic', 'score']];
  const scale = scaleOf(rankings) === 1 ? 'a full bar is a score of 1' : 'a full bar is the best score';
  return element('p', { class: 'facts legend' }, ...parts.map(([name, text]) =>
    element('span', {}, element('span', { class: `key ${name}` }), ` ${text}`)), element('span', {}, scale));
}

function movement(result, place, before) {
  if (!before) return undefined;
  const former = before.findIndex((other) => JSON.stringify(other.key) === JSON.stringify(result.key));
  if (former < 0) return element('span', { class: 'moved up' }, 'new ');
  if (former === place) return undefined;
  const up = former > place;
  return element('span', { class: `moved ${up ? 'up' : 'down'}` }, `${up ? '▲ up' : '▼ down'} ${Math.abs(former - place)} `);
}

function resultItem(result, place, { before, scale, onexplain }) {
  const parts = result.lexical ? `semantic ${result.semantic.toFixed(3)} + lexical ${result.lexical.toFixed(3)}` : undefined;
  const facts = [result.label, result.vector, result.named ? 'named by the query' : undefined, parts].filter((fact) => fact !== undefined);
  return element('li', {}, element('button', { class: 'result', type: 'button', onclick: (event) => onexplain(result, event.currentTarget) },
    element('span', { class: 'place' }, `${place + 1}.`), element('span', { class: 'title', dir: 'auto' }, result.title || result.label),
    element('span', { class: 'score' }, result.score.toFixed(4)), partsBar(result.semantic, result.lexical, scale),
    element('span', { class: 'facts' }, movement(result, place, before), facts.join(' · '))));
}

function describeRun({ path, answer, results, note }) {
  const timings = answer.timings ?? {};
  const stages = ['queue', 'parse', 'cache', 'embed', 'score'].filter((stage) => Number(timings[`${stage}_nanos`] ?? 0) > 0)
    .map((stage) => `${stage} ${milliseconds(timings[`${stage}_nanos`])}`).join(', ');
  const [hits, misses] = [answer.cache_hits ?? 0, answer.cache_misses ?? 0];
  const titles = hits + misses ? `${hits} titles cached, ${misses} computed` : `${results.length} titles`;
  const searched = `${Number(answer.num_documents_searched ?? 0).toLocaleString('en')} documents searched`;
  return `${note ?? (path === '/v1/search' ? searched : titles)}; ${milliseconds(timings.total_nanos)} in the server (${stages})`;
}

// One section for each ranking. `onexplain` gets the ranking, the result and its button.
export function rankingSections(rankings, onexplain) {
  const scale = scaleOf(rankings);
  return rankings.map((ranking, i) => {
    const name = modelName(ranking.answer.model);
    const options = { before: i ? rankings[0].results : null, scale, onexplain: (...pressed) => onexplain(ranking, ...pressed) };
    return element('section', { 'aria-label': `Ranking by ${name}` }, element('h2', {}, name),
      element('p', { class: 'facts' }, describeRun(ranking)),
      element('ol', { class: 'results' }, ...ranking.results.slice(0, kShown).map((result, place) => resultItem(result, place, options))));
  });
}
