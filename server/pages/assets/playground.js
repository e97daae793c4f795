// The playground: ranks as you type, with one model or two side by side.

import { call, element, milliseconds, storeKey, storedKey } from './client.js';
import { describe, partsBar } from './explanation.js';
import { kLanguages } from './snippets.js';

const kResults = 20;
const kTypingMilliseconds = 150;

const at = (id) => document.getElementById(id);
const state = { abort: null, timer: 0, language: 'curl', lastCall: null, needsKey: storedKey() !== '' };

const source = () => document.querySelector('input[name=source]:checked').value;
const titles = () => at('titles').value.split('\n').map((line) => line.trim()).filter((line) => line);

function say(text, isError = false) {
  at('status').textContent = text;
  at('status').classList.toggle('error', isError);
}

function fail(error) {
  if (error.name === 'AbortError') return;
  if (error.status === 401 || error.status === 403) {
    state.needsKey = true;
    at('key_field').hidden = error.reason === 'MISSING_CERTIFICATE';
  }
  say(error.message, true);
}

// Models.

const modelName = (ref) => `${ref.name} version ${ref.version}`;
// The value of the option of a model.
const modelValue = ({ name, version }) => JSON.stringify({ name, version });

function fillSelect(select, models, first) {
  const chosen = select.value;
  select.replaceChildren(...first.map((text) => element('option', { value: '' }, text)),
    ...models.map((model) => element('option', { value: modelValue(model) }, modelName(model))));
  select.value = [...select.options].some((option) => option.value === chosen) ? chosen : select.options[0]?.value ?? '';
}

async function loadModels() {
  const answer = await call('/v1/models', {});
  const serving = (answer.models ?? []).filter((model) => ['MODEL_STATE_SERVING', 'MODEL_STATE_RETIRING'].includes(model.state));
  fillSelect(at('model'), serving.sort((a, b) => (b.is_default === true) - (a.is_default === true)), []);
  fillSelect(at('other'), serving, ['nothing']);
}

// Rankings.

function requestFor(model) {
  const request = { query: at('query').value, with_titles: true, with_parts: true, top_k: kResults };
  return model ? { ...request, model: JSON.parse(model) } : request;
}

function readHits(answer) {
  return (answer.hits ?? []).map((hit) => ({
    key: hit.id !== undefined ? { id: hit.id } : { document_id: hit.document_id ?? '' },
    label: `id ${hit.id ?? hit.document_id}`, title: hit.title ?? '', score: hit.score ?? 0,
    semantic: hit.semantic_score, lexical: hit.lexical_score, named: hit.name_match !== undefined && hit.name_match !== 'NAME_MATCH_UNSPECIFIED',
  }));
}

// `candidates` in the order of their numbers, with key and label.
function readRanking(answer, candidates) {
  return (answer.indices ?? []).map((index, i) => ({
    ...candidates[index], title: answer.titles[i], score: answer.scores[i],
    semantic: answer.semantic_scores?.[i], lexical: answer.lexical_scores?.[i],
  }));
}

async function rankTitles(model, signal) {
  const request = { ...requestFor(model), titles: titles() };
  const answer = await call('/v1/rank', request, signal);
  // Under a model without vectors no title is either.
  const hasVectors = (answer.cache_hits ?? 0) + (answer.cache_misses ?? 0) > 0;
  const embedded = new Set(answer.embedded_titles ?? []);
  const candidates = request.titles.map((title, i) => ({
    key: { title }, label: `line ${i + 1}`, vector: hasVectors ? (embedded.has(i) ? 'computed' : 'cached') : undefined,
  }));
  return { path: '/v1/rank', request, answer, model, results: readRanking(answer, candidates) };
}

// By the model that the catalog has vectors of.
async function searchCatalog(signal) {
  const request = requestFor('');
  const answer = await call('/v1/search', request, signal);
  return { path: '/v1/search', request, answer, model: modelValue(answer.model), results: readHits(answer) };
}

// The catalog has vectors of one model only. Another orders what that one finds.
async function rankHits(hits, model, signal) {
  const byNumber = hits.filter((hit) => hit.key.id !== undefined);
  const byName = hits.filter((hit) => hit.key.id === undefined);
  const request = { ...requestFor(model), ids: byNumber.map((hit) => hit.key.id), document_ids: byName.map((hit) => hit.key.document_id) };
  const answer = await call('/v1/rank', request, signal);
  return { path: '/v1/rank', request, answer, model, note: 'orders what the catalog\'s model found',
    results: readRanking(answer, [...byNumber, ...byName]) };
}

async function rankingBy(model, signal) {
  if (source() === 'titles') return rankTitles(model, signal);
  const found = await searchCatalog(signal);
  return !model || model === found.model || found.results.length === 0 ? found : rankHits(found.results, model, signal);
}

function movement(result, place, before) {
  if (!before) return undefined;
  const former = before.findIndex((other) => JSON.stringify(other.key) === JSON.stringify(result.key));
  if (former < 0) return element('span', { class: 'moved up' }, ' new ');
  if (former === place) return undefined;
  const up = former > place;
  return element('span', { class: `moved ${up ? 'up' : 'down'}` }, ` ${up ? '▲ up' : '▼ down'} ${Math.abs(former - place)} `);
}

function resultItem(result, place, before, model, scale) {
  const facts = [result.label, result.vector, result.named ? 'named by the query' : undefined,
    result.semantic !== undefined ? `semantic ${result.semantic.toFixed(3)}` : undefined,
    result.lexical ? `lexical ${result.lexical.toFixed(3)}` : undefined].filter((fact) => fact !== undefined);
  const bar = partsBar(result.score, 0, scale);
  return element('li', {}, element('button', {
    class: 'result', type: 'button', onclick: (event) => explain(result, model, event.currentTarget),
  }, element('span', { class: 'place' }, `${place + 1}.`), element('span', { class: 'title' }, result.title || result.label),
  element('span', { class: 'score' }, result.score.toFixed(4)), bar,
  element('span', { class: 'facts' }, movement(result, place, before), facts.join(' · '))));
}

function rankingSection(ranking, before, scale) {
  const { answer, results, model } = ranking;
  const name = modelName(answer.model);
  return element('section', { 'aria-label': `Ranking by ${name}` }, element('h2', {}, name),
    element('p', { class: 'facts' }, describeRun(ranking)),
    element('ol', { class: 'results' }, ...results.map((result, place) => resultItem(result, place, before, model, scale))));
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

async function rank() {
  state.abort?.abort();
  state.abort = new AbortController();
  const { signal } = state.abort;
  closeExplanation();
  if (at('query').value.trim() === '' || (source() === 'titles' && titles().length === 0)) {
    at('lists').replaceChildren();
    showCall(source() === 'catalog' ? { path: '/v1/search', request: requestFor('') }
      : { path: '/v1/rank', request: requestFor(at('model').value) });
    return say(source() === 'titles' && titles().length === 0 ? 'Paste titles to rank.' : 'Type a query.');
  }
  const models = [at('model').value, ...(at('other').value ? [at('other').value] : [])];
  try {
    const started = performance.now();
    const rankings = await Promise.all(models.map((model) => rankingBy(model, signal)));
    const elapsed = performance.now() - started;
    if (!signal.aborted) showRankings(rankings, elapsed);
  } catch (error) {
    fail(error);
  }
}

function showRankings(rankings, elapsed) {
  closeExplanation();
  const scale = Math.max(1e-6, ...rankings.flatMap(({ results }) => results.map((result) => result.score)));
  at('lists').replaceChildren(...rankings.map((ranking, i) => rankingSection(ranking, i ? rankings[0].results : null, Math.max(scale, 0.01))));
  const [{ path, answer, request, results }] = rankings;
  const empty = path === '/v1/search' && Number(answer.num_documents_searched ?? 0) === 0;
  say(empty ? 'The catalog is empty: choose "my titles", or put documents (semrank put --documents=docs.tsv).'
    : `${results.length} results in ${elapsed.toFixed(1)} ms. Choose one to see why.`);
  showCall({ path, request });
}

// Explanation.

const explanation = at('explanation');
let opener = null;

async function explain(result, model, button) {
  document.querySelectorAll('.result[aria-current]').forEach((other) => other.removeAttribute('aria-current'));
  button.setAttribute('aria-current', 'true');
  opener = button;
  const request = { query: at('query').value, ...result.key, ...(model ? { model: JSON.parse(model) } : {}) };
  try {
    const answer = await call('/v1/explain', request);
    at('explanation_body').replaceChildren(describe(answer));
    button.after(explanation);
    explanation.hidden = false;
    explanation.focus();
    explanation.scrollIntoView({ block: 'nearest' });
    showCall({ path: '/v1/explain', request });
  } catch (error) {
    fail(error);
  }
}

// Takes it out of the list, which the next ranking replaces.
function closeExplanation() {
  explanation.hidden = true;
  at('lists').after(explanation);
}

// The call as a program.

function showCall(made) {
  state.lastCall = made;
  at('snippet').textContent = kLanguages[state.language]({ ...made, needsKey: state.needsKey });
  at('copy').disabled = false;  // until now there was nothing to copy
}

function chooseLanguage(name) {
  state.language = name;
  for (const button of at('languages').children) button.setAttribute('aria-pressed', String(button.textContent === name));
  if (state.lastCall) showCall(state.lastCall);
}

// Browsers give the clipboard to pages of https and localhost only; all else
// has the older command, which copies what is selected.
async function copied(from) {
  try {
    await navigator.clipboard.writeText(from.textContent);
    return true;
  } catch {
    getSelection().selectAllChildren(from);
    return document.execCommand('copy');
  }
}

// Start.

function soon() {
  clearTimeout(state.timer);
  state.timer = setTimeout(rank, kTypingMilliseconds);
}

async function start() {
  try {
    await loadModels();
    if (state.needsKey) at('key_field').hidden = false;
  } catch (error) {
    fail(error);
    return;
  }
  rank();
}

at('languages').append(...Object.keys(kLanguages).map((name) =>
  element('button', { type: 'button', onclick: () => chooseLanguage(name) }, name)));
chooseLanguage('curl');
at('key').value = storedKey();
at('key').addEventListener('change', () => { storeKey(at('key').value); start(); });
at('form').addEventListener('submit', (event) => { event.preventDefault(); rank(); });
for (const id of ['query', 'titles']) at(id).addEventListener('input', soon);
for (const id of ['model', 'other']) at(id).addEventListener('change', rank);
for (const radio of document.querySelectorAll('input[name=source]')) {
  radio.addEventListener('change', () => { at('titles_field').hidden = source() === 'catalog'; rank(); });
}
at('close').addEventListener('click', () => { closeExplanation(); opener?.focus(); });
at('copy').addEventListener('click', async () => {
  say(await copied(at('snippet')) ? 'Copied.' : 'The browser does not let this page copy: the text is selected.');
});
document.addEventListener('keydown', (event) => {
  if (event.key === 'Escape' && !explanation.hidden) { closeExplanation(); opener?.focus(); }
  if (event.key === '/' && !/INPUT|TEXTAREA|SELECT/.test(document.activeElement.tagName)) { event.preventDefault(); at('query').focus(); }
});
start();
