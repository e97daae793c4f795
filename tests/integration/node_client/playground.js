// The playground in headless Chromium, as a person uses it.
//
// usage: node playground.js URL URL_WITH_KEYS KEY GRPC_PORT   (modules by NODE_PATH)
//
// PYTHON names a Python that has the semrank package.
'use strict';
const assert = require('node:assert');
const { spawnSync } = require('node:child_process');
const { copyFileSync, mkdtempSync, readFileSync, rmSync } = require('node:fs');
const { tmpdir } = require('node:os');
const { join } = require('node:path');
const { checkAccessible, checkFits, forgive, kPhone, open, picture, putProducts, runParts } = require('./browser.js');

const [base, locked, key, grpcPort] = process.argv.slice(2);
const products = ['running shoes', 'rain jacket', 'coffee grinder', 'desk lamp', 'garden hose', 'chess set'];

const titlesOf = (page, list = 0) => page.locator('#lists > section').nth(list).locator('.title').allTextContents();
const query = (page) => page.getByLabel('Query', { exact: true });
const fieldsOf = (page) => Object.fromEntries(new URL(page.url()).searchParams);
// Waits until the results of `text` are shown, which the call below them says too.
const ranked = (page, text) => page.locator('#snippet').filter({ hasText: `"${text}"` }).waitFor();

async function searchFor(page, text) {
  await query(page).fill(text);
  await ranked(page, text);
}

async function search(page) {
  await page.keyboard.type('rain jacket');  // the query has the focus
  await ranked(page, 'rain jacket');
  assert.equal((await titlesOf(page))[0], 'rain jacket for home and travel');
  assert.match(await page.locator('#lists .facts').first().textContent(), /6 documents searched; .* ms in the server/);
  assert.match(await page.locator('#snippet').textContent(), /^curl 'http.*\/v1\/search' \\\n {2}-d '\{"query":"rain jacket"/);
}

// The reported clicks that are on disk.
async function numClicks(page) {
  const text = await (await page.request.get(`${base}/metrics`)).text();
  return [...text.matchAll(/^semrank_event_clicks_total{.*} (\d+)/gm)].reduce((sum, [, count]) => sum + Number(count), 0);
}

// The list that is opened is kept with its click; those of each letter before are not.
async function reportsClicks() {
  const page = await open(`${base}/`);
  await page.getByText('This server keeps the lists').waitFor();
  const before = await numClicks(page);
  await searchFor(page, 'coffee grinder');
  // A report that fails loses its click, but the next one brings the list.
  await page.route('**/v1/events', (route) => route.fulfill({ status: 503, body: '{}' }), { times: 1 });
  await Promise.all([page.waitForResponse('**/v1/events'), page.locator('.result').nth(1).click()]);
  const reported = page.waitForResponse((response) => response.url().endsWith('/v1/events'));
  await page.locator('.result').first().click();
  const response = await reported;
  assert.equal(response.status(), 200);
  const { events, impressions } = response.request().postDataJSON();
  assert.deepEqual(events.map(({ kind, position }) => [kind, position]), [['click', 1]]);
  assert.equal(impressions[0].impression_id, events[0].impression_id);
  assert.equal(impressions[0].query, 'coffee grinder');
  assert.match(impressions[0].results[0].title, /coffee grinder/);
  assert.equal(await numClicks(page), before + 1);
  forgive(/503/);
}

// Both parts of a bar have the length of what they add to the score; a full bar is 1.
async function checkBars(page) {
  const results = await page.locator('.result').evaluateAll((buttons) => buttons.map((button) => ({
    facts: button.querySelector('.facts').textContent, score: Number(button.querySelector('.score').textContent),
    widths: [...button.querySelectorAll('.bar span')].map((part) => parseFloat(part.style.width) / 100),
    colours: [...button.querySelectorAll('.bar span')].map((part) => getComputedStyle(part).backgroundColor),
  })));
  const [, semantic, lexical] = /semantic (0\.\d+) \+ lexical (0\.\d+)/.exec(results[0].facts).map(Number);
  assert.ok(Math.abs(semantic + lexical - results[0].score) < 0.002, results[0].facts);
  assert.ok(Math.abs(results[0].widths[0] - semantic) < 0.001 && Math.abs(results[0].widths[1] - lexical) < 0.001);
  assert.notEqual(results[0].colours[0], results[0].colours[1]);
  assert.match(await page.locator('#legend').textContent(), /semantic.*lexical.*a full bar is a score of 1/);
}

async function explain(page) {
  await page.locator('.result').first().focus();
  await page.keyboard.press('Enter');
  await page.locator('#explanation').waitFor();
  assert.equal(await page.evaluate(() => document.activeElement.id), 'explanation');
  assert.equal(await page.locator('.results li:first-child #explanation').count(), 1, 'the explanation is below its result');
  const words = await page.locator('.words').first().locator('li').allTextContents();
  assert.equal(words.length, 2);
  assert.match(words[0], /^rain[+−]0\.\d{3}#ra rai ain in# $/);
  assert.notEqual(await page.locator('.words li').first().evaluate((item) => item.style.backgroundColor), '');
  await checkAccessible(page, 'explanation');
  await picture(page, 'explanation');
  await page.keyboard.press('Escape');
  assert.equal(await page.locator('#explanation').isVisible(), false);
  assert.ok(await page.locator('.result').first().evaluate((button) => button === document.activeElement));
}

// The n-grams that both texts have, below each word of the query that has some.
const kScripts = [
  ['東京', '東京タワー', ['#東#', '#京#']],
  ['タワー', '東京タワー', ['#タワ', 'タワー', 'ワー#']],
  ['한국', '한국어', ['#한국', '#ㅎㅏ', 'ㅎㅏㄴ', 'ㅏㄴㄱ', 'ㄴㄱㅜ', 'ㄱㅜㄱ']],
  ['محمد', 'مُحَمَّد', ['#مح', 'محم', 'حمد', 'مد#']],
  ['ёлка', 'елки', ['#ел', 'елк']],
  ['नमस्ते', 'नमस्ते दुनिया', ['#नम', 'नमस', 'मस्', 'स्त', '्ते', 'ते#']],
  ['❤️', '❤ NY', ['#❤#']],
  ['AT&T', 'AT&T <b>', ['#at', 'at#', '#t#', 'at&', 't&t', '&t#']],
  ['Dampfschifffahrtsgesellschaft', 'Dampfschifffahrt', ['#da', 'dam', 'amp', 'mpf', 'pfs', 'fsc', 'sch', 'chi']],
];

async function explainScripts() {
  const page = await open(`${base}/?rank=titles`);
  for (const [text, title, ngrams] of kScripts) {
    await page.getByLabel('Titles, one a line').fill(title);
    await searchFor(page, text);
    await page.getByText('1 result').waitFor();
    await page.locator('.result').first().click();
    await page.locator('#explanation').waitFor();
    const list = page.locator('.words').first();
    assert.deepEqual(await list.locator('.ngrams bdi').allTextContents(), ngrams, text);
    assert.match(await page.locator('#explanation').textContent(), /Below each word are the letter n-grams/);
    await page.keyboard.press('Escape');
  }
  await page.locator('.result').first().click();
  assert.match(await page.locator('.ngrams').first().textContent(), /sch chi and \d+ more$/);
  await checkAccessible(page, 'n-grams');
  await picture(page, 'ngrams');
}

const noteOf = (page) => page.locator('#lists .facts').filter({ hasText: 'in the server' }).nth(1).textContent();

async function compare(page) {
  await page.getByLabel('Compare with').selectOption({ label: 'news version 1' });
  await page.locator('#lists > section').nth(1).waitFor();
  const [left, right] = [await titlesOf(page, 0), await titlesOf(page, 1)];
  const moved = await page.locator('.moved').allTextContents();
  const expected = right.filter((title, place) => left.indexOf(title) !== place).length;
  assert.equal(moved.length, expected);
  assert.match(await noteOf(page), /^orders the whole catalog; /);
  await checkAccessible(page, 'comparison');
  await picture(page, 'comparison');
}

// The other model gets far more than what is shown, and the heading says what it saw.
async function compareMany() {
  const documents = Array.from({ length: 150 }, (_, i) => ({ document_id: `jacket ${i}`, title: `rain jacket number ${i}` }));
  await fetch(`${base}/v1/put`, { method: 'POST', body: JSON.stringify({ documents }) });
  const page = await open(`${base}/?q=rain+jacket`);
  await ranked(page, 'rain jacket');
  const [call] = await Promise.all([page.waitForRequest('**/v1/rank'), page.getByLabel('Compare with').selectOption({ label: 'news version 1' })]);
  const { ids, document_ids: names } = call.postDataJSON();
  assert.equal(ids.length + names.length, 100);
  await page.locator('#lists > section').nth(1).waitFor();
  assert.match(await noteOf(page), /^orders the 100 best of shop version 1, not the whole catalog; /);
  assert.equal((await titlesOf(page, 1)).length, 20);
  await fetch(`${base}/v1/delete`, { method: 'POST', body: JSON.stringify({ document_ids: documents.map((document) => document.document_id) }) });
}

// The address holds the state, and each choice is an entry of the history; letters are none.
async function goBack(page) {
  assert.deepEqual(fieldsOf(page), { q: 'rain jacket', with: 'news@1' });
  await page.goBack();
  await page.locator('#lists > section').nth(1).waitFor({ state: 'detached' });
  assert.deepEqual(fieldsOf(page), { q: 'rain jacket' });
  await page.goBack();
  await page.locator('#welcome').waitFor();
  assert.equal(await query(page).inputValue(), '');
  const reopened = await open(`${base}/?q=for+home&model=news%401&with=shop%401&rank=titles`);
  await reopened.getByText('6 results').waitFor();
  assert.equal(await query(reopened).inputValue(), 'for home');
  assert.deepEqual(await reopened.locator('#lists h2').allTextContents(), ['news version 1', 'shop version 1']);
}

async function welcome() {
  const page = await open(`${base}/`);
  await page.getByText('semrank orders short texts').waitFor();
  const examples = await page.locator('.example').allTextContents();
  assert.equal(examples.length, 3);
  assert.match(await page.locator('#snippet').textContent(), new RegExp(`"query":"${examples[0]}"`), 'the snippet has a query');
  await checkAccessible(page, 'welcome');
  await picture(page, 'welcome');
  await page.locator('.example').first().click();
  await page.locator('.result').first().waitFor();
  assert.deepEqual(fieldsOf(page), { q: examples[0] });
}

async function failedCall() {
  const page = await open(`${base}/?q=rain+jacket`);
  await page.locator('.result').first().waitFor();
  await page.route('**/v1/search', (route) => route.abort());
  await query(page).fill('desk lamp');
  const failure = page.getByRole('alert');
  await failure.waitFor();
  assert.equal(await page.locator('#failure_text').textContent(), `${new URL(base).host} does not answer. The results below are those of “rain jacket”.`);
  assert.equal(await page.locator('#lists').evaluate((lists) => lists.inert && lists.classList.contains('stale')), true);
  await page.unroute('**/v1/search');
  await page.getByRole('button', { name: 'Try again' }).click();
  await ranked(page, 'desk lamp');
  assert.equal((await titlesOf(page))[0], 'desk lamp for home and travel');
  assert.equal(await failure.isVisible(), false);
  assert.equal(await page.locator('#lists').evaluate((lists) => lists.inert), false);
  forgive(/ERR_FAILED/);
}

// A page that is open while the server changes to another version lists the models again.
async function replacedModel() {
  const page = await open(`${base}/statusz`);
  const listOld = async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, body: (await response.text()).replaceAll('"version":"1"', '"version":"7"') });
  };
  await page.route('**/v1/list_models', listOld, { times: 1 });
  await page.goto(`${base}/?q=rain+jacket`);
  await ranked(page, 'rain jacket');
  assert.equal(await page.getByLabel('Model').inputValue(), 'shop@1');
  await page.route('**/v1/list_models', listOld);
  await page.goto(`${base}/?q=desk+lamp`);
  await page.getByText('version 7 of model shop is not served').waitFor();
  await page.unroute('**/v1/list_models');
  await page.getByRole('button', { name: 'Try again' }).click();
  await ranked(page, 'desk lamp');
  forgive(/404/);
}

async function nothingMatches(page) {
  await searchFor(page, '???');
  await page.getByText('The model knows no word of “???”.').waitFor();
  assert.equal(await page.locator('.result').count(), 0);
}

// The ring of a focused field does not touch the label above it.
async function focusRing(page) {
  await query(page).focus();
  const [space, ring] = await query(page).evaluate((input) => {
    const style = getComputedStyle(input);
    return [input.getBoundingClientRect().top - document.querySelector('label[for=query]').getBoundingClientRect().bottom,
      parseFloat(style.outlineWidth) + parseFloat(style.outlineOffset)];
  });
  assert.ok(ring > 0 && space >= ring, `${space} pixels for a ring of ${ring}`);
}

// The programs that the page offers to copy must run as they are and answer.
async function checkSnippets(page, folder) {
  const run = { curl: ['sh', '-c'], JavaScript: ['node', '--input-type=module', '-e'], Python: [process.env.PYTHON, '-c'] };
  for (const [language, [program, ...flags]] of Object.entries(run)) {
    await page.getByRole('button', { name: language, exact: true }).click();
    const snippet = await page.locator('#snippet').textContent();
    const answer = spawnSync(program, [...flags, snippet], { encoding: 'utf8', cwd: folder });
    assert.match(answer.stdout, language === 'Python' ? /^-?0\.\d{4} \S/ : /scores/, `${language}: ${answer.stderr}`);
  }
  await page.getByRole('button', { name: 'gRPC' }).click();
}

async function copy(page) {
  assert.deepEqual(await page.locator('#languages button').allTextContents(), ['curl', 'JavaScript', 'Python', 'gRPC']);
  const background = (button) => getComputedStyle(button).backgroundColor;
  const copyButton = page.getByRole('button', { name: 'Copy' });
  assert.notEqual(await copyButton.evaluate(background), await page.getByRole('button', { name: 'curl' }).evaluate(background));
  await copyButton.click();
  await page.getByText('Copied.').waitFor();
}

// A page of another machine that is opened by address and without https has no
// clipboard API. Before the first call there is nothing to copy.
async function copyWithoutClipboard() {
  const page = await open(`${base}/statusz`);
  await page.addInitScript(() => Object.defineProperty(navigator, 'clipboard', { value: undefined }));
  let answer;
  await page.route('**/v1/list_models', async (route) => { await new Promise((resolve) => { answer = resolve; }); await route.continue(); });
  await Promise.all([page.waitForRequest('**/v1/list_models'), page.goto(`${base}/`)]);
  const copyButton = page.getByRole('button', { name: 'Copy' });
  assert.equal(await copyButton.isVisible(), false);
  answer();
  await copyButton.click();
  await page.getByText('Copied.').waitFor();
  assert.match(await page.evaluate(() => getSelection().toString()), /^curl /);
}

async function rankTitles(page) {
  await searchFor(page, 'bread');
  await page.getByLabel('my titles').check();
  await page.getByLabel('Titles, one a line').fill("bread knife\n<img src=x onerror=alert(1)> 'quoted'");
  await page.getByText('2 results').waitFor();
  assert.deepEqual((await titlesOf(page)).sort(), ["<img src=x onerror=alert(1)> 'quoted'", 'bread knife']);
  assert.equal(await page.locator('img').count(), 0);
  await page.getByLabel('Titles, one a line').fill("bread knife\n<img src=x onerror=alert(1)> 'quoted'\nbread tin");
  await page.getByText('3 results').waitFor();
  assert.match(await page.locator('#lists .facts').nth(0).textContent(), /2 titles cached, 1 computed/);
  const facts = Object.fromEntries(await page.locator('.result').evaluateAll((results) => results.map((result) =>
    [result.querySelector('.title').textContent, result.querySelector('.facts').textContent])));
  assert.match(facts['bread knife'], /line 1 · cached/);
  assert.match(facts['bread tin'], /line 3 · computed/);
  await checkSnippets(page, '/');
  const [, port] = /^grpcurl -plaintext -d .*'\\''quoted.*127\.0\.0\.1:(\d+)' semrank/s.exec(await page.locator('#snippet').textContent());
  assert.equal(port, grpcPort);
}

// A long list is not part of the program, which reads it from a file that the page gives.
async function rankManyTitles(page) {
  await page.getByLabel('Titles, one a line').fill(Array.from({ length: 300 }, (_, i) => `bread knife number ${i}`).join('\n'));
  await page.getByText('20 results').waitFor();
  const folder = mkdtempSync(join(tmpdir(), 'snippet'));
  try {
    const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('link', { name: 'Save request.json' }).click()]);
    assert.equal(download.suggestedFilename(), 'request.json');
    copyFileSync(await download.path(), join(folder, 'request.json'));
    assert.equal(JSON.parse(readFileSync(join(folder, 'request.json'), 'utf8')).titles.length, 300);
    await checkSnippets(page, folder);
    const snippet = await page.locator('#snippet').textContent();
    assert.match(snippet, /^grpcurl -plaintext -d @ [^]* < request\.json$/);
    assert.ok(snippet.length < 200);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

// What a host name may hold is quoted: the shell gets it as one word, Python as one text.
async function hostsAreQuoted(page) {
  const host = 'a;$(id)`id`"\'&b';
  const made = await page.evaluate(async (name) => {
    const { kLanguages } = await import('/pages/snippets.js');
    const call = { path: '/v1/search', request: { query: 'rain' } };
    return Object.fromEntries(Object.entries(kLanguages).map(([language, write]) => [language, write(call, { origin: `http://${name}`, grpc: `${name}:1` })]));
  }, host);
  const words = (program) => spawnSync('sh', ['-c', `curl() { printf '%s\\n' "$@"; }; grpcurl() { curl "$@"; }; ${program}`], { encoding: 'utf8' }).stdout.split('\n');
  assert.equal(words(made.curl)[0], `http://${host}/v1/search`);
  assert.equal(words(made.gRPC)[3], `${host}:1`);
  const [, text] = /semrank\.Client\((".*"), plain_text=True\) as client/.exec(made.Python);
  const python = spawnSync('python3', ['-c', `print(${text}, end="")`], { encoding: 'utf8' });
  assert.equal(python.stdout, `${host}:1`);
}

async function playground() {
  await putProducts(base, products);
  const page = await open(`${base}/`);
  await page.locator('#welcome').waitFor();
  await search(page);
  await checkBars(page);
  await checkAccessible(page, 'playground');
  await picture(page, 'playground');
  await focusRing(page);
  await explain(page);
  await compare(page);
  await goBack(page);
  await nothingMatches(page);
  await rankTitles(page);
  await copy(page);
  await rankManyTitles(page);
  await hostsAreQuoted(page);
}

async function onPhone() {
  const page = await open(`${base}/?q=rain+jacket&with=news%401`, kPhone);
  await page.locator('#lists > section').nth(1).waitFor();
  await checkFits(page, 'the playground');
  await checkAccessible(page, 'phone, dark');
  await picture(page, 'phone');
}

// The page says where a key comes from, and the next thing typed is the key.
async function withKeys() {
  const page = await open(`${locked}/?q=rain`);
  await page.getByText('The person who runs it gives out keys').waitFor();
  assert.equal(await page.evaluate(() => document.activeElement.id), 'key');
  await page.keyboard.type('wrong');
  await page.keyboard.press('Enter');
  await page.locator('#key_problem.error').waitFor();
  await checkAccessible(page, 'the key');
  await picture(page, 'key');
  await page.getByLabel('API key').fill(key);
  await page.keyboard.press('Enter');
  await page.getByText('The catalog is empty').waitFor();
  assert.match(await page.locator('#snippet').textContent(), /Authorization: Bearer \$SEMRANK_API_KEY/);
  assert.ok(!(await page.content()).includes(key));
  await query(page).fill('');
  await page.getByRole('button', { name: 'rank your own titles' }).click();
  await page.locator('.example').first().click();
  await page.locator('.result').first().waitFor();
  await page.getByRole('button', { name: 'Forget it' }).click();
  await page.getByLabel('API key').waitFor();
  forgive(/401/);
}

runParts('playground', [playground, explainScripts, reportsClicks, compareMany, welcome, failedCall, replacedModel, copyWithoutClipboard, onPhone, withKeys]);
