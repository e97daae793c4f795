// The playground: ranks as you type, with one model or two side by side.

import { AccessKey } from './access_key.js';
import { CallBox } from './call_box.js';
import { call, element } from './client.js';
import { describe } from './explanation.js';
import { listServed, modelId, modelName } from './models.js';
import { kShown, Ranker } from './rankings.js';
import { legend, rankingSections } from './results.js';
import { SeenLists } from './seen_lists.js';
import { readUrl, writeUrl } from './url_state.js';
import { catalogTitles, exampleQueries, welcome } from './welcome.js';

const kTypingMilliseconds = 150;

const at = (id) => document.getElementById(id);
const explanation = at('explanation');
// `typing`: the next query replaces the entry of the browser's history. `relisted`: the models were
// listed again since the last ranking.
const state = { abort: new AbortController(), timer: 0, typing: false, ranker: null, relisted: false, retry: null, opener: null, shown: readUrl().query };

const source = () => document.querySelector('input[name=source]:checked').value;
const titles = () => at('titles').value.split('\n').map((line) => line.trim()).filter((line) => line);
const say = (text) => { at('status').textContent = text; };

// Failures. `retry` repeats what failed.

function fail(error, retry) {
  if (error.name === 'AbortError') return;
  if (error.needsKey) {
    access.ask(error);
    return;
  }
  // The server has loaded another version since the page listed the models. Listing them again helps;
  // the page does so by itself once, or a server that contradicts its list would keep it busy.
  const isReplaced = error.reason === 'MODEL_NOT_FOUND';
  if (isReplaced && !state.relisted) {
    state.relisted = true;
    start();
    return;
  }
  say('');
  at('failure_text').textContent = at('lists').hasChildNodes() ? `${error.message} The results below are those of “${state.shown}”.` : error.message;
  at('failure').hidden = false;
  state.retry = isReplaced ? start : retry;
}

// Old results stay readable, but are never taken for those of the new query.
function markStale(isStale) {
  at('lists').classList.toggle('stale', isStale);
  at('lists').inert = isStale;
}

// Models and the address bar.

function fillSelect(select, models, first) {
  select.replaceChildren(...first.map((text) => element('option', { value: '' }, text)),
    ...models.map((model) => element('option', { value: modelId(model) }, modelName(model))));
}

function choose(select, value) {
  select.value = [...select.options].some((option) => option.value === value) ? value : select.options[0]?.value ?? '';
}

function chooseModels({ model, other }) {
  choose(at('model'), model);
  choose(at('other'), other);
}

function fromUrl() {
  const chosen = readUrl();
  at('query').value = chosen.query;
  chooseModels(chosen);
  document.querySelector(`input[name=source][value=${chosen.source}]`).checked = true;
  at('titles_field').hidden = chosen.source === 'catalog';
}

// Until the models are listed, those of the address stay.
function toUrl(replace) {
  const { model, other } = state.ranker === null ? readUrl()
    : { model: at('model').selectedIndex > 0 ? at('model').value : '', other: at('other').value };
  writeUrl({ query: at('query').value, model, other, source: source() }, replace);
}

// Rankings.

async function rank() {
  if (state.ranker === null) return start();
  clearTimeout(state.timer);
  state.abort.abort();
  state.abort = new AbortController();
  const { signal } = state.abort;
  closeExplanation();
  at('failure').hidden = true;
  const query = at('query').value.trim();
  try {
    if (query === '' || (source() === 'titles' && titles().length === 0)) return await invite(query, signal);
    markStale(true);
    at('welcome').hidden = true;
    const models = [at('model').value, ...(at('other').value ? [at('other').value] : [])];
    const started = performance.now();
    const rankings = source() === 'titles' ? await state.ranker.rankTitles(query, titles(), models, signal)
      : await state.ranker.searchCatalog(query, models, signal);
    if (!signal.aborted) showRankings(query, rankings, performance.now() - started);
  } catch (error) {
    fail(error, rank);
  }
}

function showRankings(query, rankings, elapsed) {
  const found = rankings.some(({ results }) => results.length > 0);
  const [{ path, answer, request }] = rankings;
  const known = answer.query_known_features;
  const unknown = known !== undefined && !known.num_known_words;
  const empty = path === '/v1/search' && Number(answer.num_documents_searched ?? 0) === 0;
  at('lists').replaceChildren(...(found ? rankingSections(rankings, explain) : []));
  at('legend').replaceChildren(...(found ? [legend(rankings)] : []));
  at('legend').hidden = !found;
  markStale(false);
  state.relisted = false;
  state.shown = query;
  seen.show(query, found && path === '/v1/search' && rankings.length === 1 ? rankings[0] : null);
  const many = Math.min(kShown, rankings[0].results.length);
  say(empty ? 'The catalog is empty: rank your own titles, or put documents (semrank put --documents=FILE).'
    : found ? `${many} ${many === 1 ? 'result' : 'results'} in ${elapsed.toFixed(1)} ms. ${unknown
      ? 'The model knows no word of the query: letters and names alone decide.' : 'Choose one to see why.'}`
      : unknown ? `The model knows no word of “${query}”.` : `Nothing matches “${query}”.`);
  box.show({ path, request });
}

// Says what a page without results is for. The snippet shows the first example.
async function invite(query, signal) {
  at('lists').replaceChildren();
  at('legend').hidden = true;
  seen.show('', null);
  markStale(false);
  if (query !== '') return say('Paste titles to rank.');
  say('');
  const examples = exampleQueries(source() === 'titles' ? titles() : await catalogTitles(signal));
  if (signal.aborted) return undefined;
  at('welcome').replaceChildren(...welcome({ examples, source: source(), onquery: tryQuery, ontitles: rankOwnTitles }));
  at('welcome').hidden = false;
  if (examples.length > 0) box.show(exampleCall(examples[0]));
  else at('call').hidden = true;
  return undefined;
}

function exampleCall(query) {
  const request = { query, with_titles: true, top_k: Math.min(10, kShown) };
  return source() === 'titles' ? { path: '/v1/rank', request: { ...request, titles: titles() } } : { path: '/v1/search', request };
}

function tryQuery(query) {
  at('query').value = query;
  settle();
}

function rankOwnTitles() {
  document.querySelector('input[name=source][value=titles]').checked = true;
  at('titles_field').hidden = false;
  settle();
  at('query').focus();
}

// Explanation, of the query whose ranking is shown.

async function explain(ranking, result, button) {
  document.querySelectorAll('.result[aria-current]').forEach((other) => other.removeAttribute('aria-current'));
  button.setAttribute('aria-current', 'true');
  state.opener = button;
  at('failure').hidden = true;
  seen.open(ranking, ranking.results.indexOf(result) + 1);
  const request = { query: ranking.request.query, ...result.key, model: ranking.answer.model };
  try {
    const answer = await call('/v1/explain', request, state.abort.signal);
    at('explanation_body').replaceChildren(describe(answer));
    button.after(explanation);
    explanation.hidden = false;
    explanation.focus();
    explanation.scrollIntoView({ block: 'nearest' });
    box.show({ path: '/v1/explain', request });
  } catch (error) {
    fail(error, () => explain(ranking, result, button));
  }
}

// Takes it out of the list, which the next ranking replaces.
function closeExplanation() {
  explanation.hidden = true;
  at('lists').after(explanation);
}

function backToResult() {
  closeExplanation();
  state.opener?.focus();
}

// Start.

// A choice is an entry of the history of its own; so is a query, but not each of its letters.
function settle() {
  state.typing = false;
  toUrl(false);
  rank();
}

function typed() {
  clearTimeout(state.timer);
  markStale(true);
  state.timer = setTimeout(() => { toUrl(state.typing); state.typing = true; rank(); }, kTypingMilliseconds);
}

async function start() {
  at('failure').hidden = true;
  try {
    const models = await listServed();
    state.ranker = new Ranker(models);
    fillSelect(at('model'), models, []);
    fillSelect(at('other'), models, ['nothing']);
    chooseModels(readUrl());
    at('choices').hidden = false;
  } catch (error) {
    fail(error, start);
    return;
  }
  rank();
}

const access = new AccessKey(at('access'), start);
const box = new CallBox(say);
const seen = new SeenLists(document.querySelector('meta[name=keeps-events]').content === 'yes', at('seen_note'));
at('form').addEventListener('submit', (event) => { event.preventDefault(); settle(); });
for (const id of ['query', 'titles']) at(id).addEventListener('input', typed);
at('query').addEventListener('change', () => { state.typing = false; });
for (const id of ['model', 'other']) at(id).addEventListener('change', settle);
for (const radio of document.querySelectorAll('input[name=source]')) {
  radio.addEventListener('change', () => { at('titles_field').hidden = source() === 'catalog'; settle(); });
}
at('retry').addEventListener('click', () => state.retry());
at('close').addEventListener('click', backToResult);
addEventListener('popstate', () => { state.typing = false; fromUrl(); rank(); });
document.addEventListener('keydown', (event) => {
  if (event.key === 'Escape' && !explanation.hidden) backToResult();
  if (event.key === '/' && !/INPUT|TEXTAREA|SELECT/.test(document.activeElement.tagName)) { event.preventDefault(); at('query').focus(); }
});
fromUrl();
start();
