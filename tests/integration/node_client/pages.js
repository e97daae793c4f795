// The status page, the API page, and the playground without JavaScript, in headless Chromium.
//
// usage: node pages.js URL URL_WITH_KEYS KEY GRPC_PORT   (modules by NODE_PATH)
'use strict';
const assert = require('node:assert');
const { spawnSync } = require('node:child_process');
const { checkAccessible, checkFits, forgive, kPhone, open, picture, putProducts, runParts } = require('./browser.js');

const [base, locked, key] = process.argv.slice(2);

async function navigation() {
  for (const [path, name] of [['/', 'Playground'], ['/api', 'API'], ['/statusz', 'Status']]) {
    const page = await open(base + path);
    const links = page.getByRole('navigation').getByRole('link');
    assert.deepEqual(await links.allTextContents(), ['Playground', 'API', 'Status', 'Metrics']);
    assert.deepEqual(await page.locator('nav a[aria-current=page]').allTextContents(), [name]);
    assert.equal(await page.getByRole('heading', { level: 1 }).textContent(), name);
  }
}

async function status() {
  await putProducts(base, ['desk lamp']);
  const page = await open(`${base}/statusz`);
  await page.getByText('Calls of the last 1 and 5 minutes').first().waitFor();
  assert.match(await page.textContent('body'), /MiB of 256\.0 MiB/);
  await checkAccessible(page, 'statusz');
  await picture(page, 'statusz');
}

const documents = (page) => page.locator('tr', { hasText: /^documents\d/ }).locator('td');

// The page changes where it is: what is scrolled, focused or selected stays so.
async function statusRefreshes() {
  const context = { viewport: { width: 900, height: 400 } };
  const page = await open(`${base}/statusz`, context);
  await page.clock.install();
  await page.goto(`${base}/statusz`);
  await page.evaluate(() => { scrollTo(0, 300); document.querySelector('main').marked = true; });
  assert.equal(await documents(page).textContent(), '1');
  await putProducts(base, ['desk lamp', 'chess set']);
  await page.clock.runFor(5000);
  await documents(page).filter({ hasText: /^2$/ }).waitFor();
  assert.deepEqual(await page.evaluate(() => [scrollY, document.querySelector('main').marked]), [300, true]);
  await page.route('**/statusz', (route) => route.abort());
  await page.clock.runFor(5000);
  await page.getByText(`${new URL(base).host} does not answer`).waitFor();
  await page.unroute('**/statusz');
  await page.getByRole('button', { name: 'Pause' }).click();
  await page.getByRole('button', { name: 'Refresh again' }).click();
  await page.getByText('every 5 seconds').waitFor();
  forgive(/ERR_FAILED/);
}

// On a phone a row of a wide table is a card whose cells name their columns.
async function statusOnPhone() {
  const page = await open(`${base}/statusz`, kPhone);
  await checkFits(page, 'the status page');
  const boxes = await page.locator('.scroll').evaluateAll((all) => all.filter((box) => box.scrollWidth > box.clientWidth).length);
  assert.equal(boxes, 0, 'no table is cut');
  const models = page.getByRole('region', { name: 'Models' });
  assert.equal(await models.locator('thead').isVisible(), false);
  assert.equal(await models.locator('td').nth(1).evaluate((cell) => getComputedStyle(cell, '::before').content), '"state"');
  await checkAccessible(page, 'statusz on a phone');
  await picture(page, 'statusz_phone');
}

async function openCall(page, name) {
  const call = page.locator('details.call').filter({ has: page.locator('summary').filter({ hasText: name }) });
  await call.locator('summary').click();
  return call;
}

async function api() {
  const page = await open(`${base}/api`);
  const call = await openCall(page, 'POST /v1/rank ');
  assert.deepEqual(await call.locator('h3').evaluateAll((all) => all.map((title) => title.textContent)),
    ['RequestRankRequest (application/json)', 'As curl', 'Answer to this request', 'AnswerRankResponse (application/json), for example:', 'ErrorsStatus']);
  assert.ok(Array.isArray(JSON.parse(await call.getByRole('region', { name: 'Example of an answer' }).textContent()).scores));
  await call.getByLabel('Request to /v1/rank').fill('{"query": "it\'s a lamp", "titles": ["desk lamp", "chess"], "with_titles": true}');
  const curl = spawnSync('sh', ['-c', await call.getByRole('region', { name: 'curl for /v1/rank' }).textContent()], { encoding: 'utf8' });
  assert.deepEqual(JSON.parse(curl.stdout).titles, ['desk lamp', 'chess']);
  await call.getByRole('button', { name: 'Send' }).click();
  await call.getByText('HTTP 200 in').waitFor();
  assert.deepEqual(JSON.parse(await call.locator('.answer').textContent()).titles, ['desk lamp', 'chess']);
  await checkAccessible(page, 'api');
  await picture(page, 'api');
}

// A call without a body, and one of another product.
async function apiOfOthers() {
  const page = await open(`${base}/api`, kPhone);
  for (const name of ['GET /info', 'POST /rerank']) {
    const call = await openCall(page, name);
    await call.getByRole('button', { name: 'Send' }).click();
    await call.getByText('HTTP 200 in').waitFor();
  }
  await checkFits(page, 'the API page');
  await picture(page, 'api_phone');
}

async function apiWithKeys() {
  const page = await open(`${locked}/api`);
  const call = await openCall(page, 'GET /v1/limits');
  await call.getByRole('button', { name: 'Send' }).click();
  await call.getByLabel('API key').fill(key);
  await page.keyboard.press('Enter');
  await call.getByText('HTTP 200 in').waitFor();
  assert.match(await call.getByRole('region', { name: /^curl/ }).textContent(), /Bearer \$SEMRANK_API_KEY/);
  assert.ok(!(await page.content()).includes(key));
  forgive(/401/);
}

// The form works by itself: the server makes the page with the results.
async function withoutJavaScript() {
  await putProducts(base, ['<b>rain & jacket</b>', 'desk lamp']);
  const page = await open(`${base}/`, { javaScriptEnabled: false });
  assert.match(await page.locator('noscript').textContent(), /Without JavaScript this page searches the catalog/);
  await page.getByLabel('Query', { exact: true }).fill('rain "jacket" <i>ü');
  await page.getByRole('button', { name: 'Search' }).click();
  await page.locator('.result').first().waitFor();
  assert.equal(new URL(page.url()).searchParams.get('q'), 'rain "jacket" <i>ü');
  assert.equal(await page.getByLabel('Query', { exact: true }).inputValue(), 'rain "jacket" <i>ü');
  assert.equal(await page.locator('.title').first().textContent(), '<b>rain & jacket</b> for home and travel');
  assert.equal(await page.locator('.title b, main i').count(), 0);
  assert.equal(await page.getByText('Compare with').isVisible(), false, 'what needs JavaScript is not shown');
  await picture(page, 'without_javascript');
  await page.goto(`${base}/?q=%3F%3F%3F`);
  await page.getByText('The model knows no word of “???”.').waitFor();
}

// The server and the scripts decide alike how many results are shown, and which match.
async function sameResultsWithoutJavaScript() {
  await putProducts(base, [...Array.from({ length: 25 }, (_, i) => `rain jacket ${i}`), 'desk lamp']);
  for (const [text, count] of [['rain jacket', 20], ['lamp', 1]]) {
    const lists = [];
    for (const javaScriptEnabled of [true, false]) {
      const page = await open(`${base}/?q=${encodeURIComponent(text)}`, { javaScriptEnabled });
      await page.locator('.result').first().waitFor();
      lists.push(await page.locator('.title').allTextContents());
    }
    assert.deepEqual(lists[0], lists[1]);
    assert.equal(lists[0].length, count, text);
  }
}

// A form cannot send a key.
async function withoutJavaScriptButKeys() {
  const page = await open(`${locked}/?q=rain`, { javaScriptEnabled: false });
  assert.match(await page.locator('noscript').textContent(), /answers calls with an API key only, and this page needs JavaScript/);
  assert.equal(await page.locator('.result').count(), 0);
}

runParts('pages', [navigation, status, statusRefreshes, statusOnPhone, api, apiOfOthers, apiWithKeys, withoutJavaScript, sameResultsWithoutJavaScript, withoutJavaScriptButKeys]);
