// The playground and the status page in headless Chromium, as a person uses them.
// With SCREENSHOTS=FOLDER in the environment, pictures of the pages go there.
//
// usage: node playground.js URL URL_WITH_KEYS KEY GRPC_PORT   (modules by NODE_PATH)
'use strict';
const assert = require('node:assert');
const { spawnSync } = require('node:child_process');
const { readFileSync } = require('node:fs');
const { join } = require('node:path');
const { chromium } = require('playwright-core');

const [base, locked, key, grpcPort] = process.argv.slice(2);
const axe = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');
const products = ['running shoes', 'rain jacket', 'coffee grinder', 'desk lamp', 'garden hose', 'chess set'];

let browser;
const problems = [];

async function open(url, options = {}) {
  const page = await (await browser.newContext({ viewport: { width: 1100, height: 900 }, permissions: ['clipboard-write'], ...options })).newPage();
  page.on('console', (line) => { if (line.type() === 'error') problems.push(line.text()); });
  page.on('pageerror', (error) => problems.push(String(error)));
  page.on('request', (request) => assert.ok(request.url().startsWith(new URL(url).origin) || request.url().startsWith('data:'), request.url()));
  await page.goto(url);
  return page;
}

async function picture(page, name) {
  if (process.env.SCREENSHOTS) await page.screenshot({ path: join(process.env.SCREENSHOTS, `${name}.png`), fullPage: true });
}

// axe-core runs by the debugger's evaluate, to which a page's policy does not
// apply.
async function checkAccessible(page, name) {
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => window.axe.run());
  const serious = violations.filter((violation) => ['serious', 'critical'].includes(violation.impact));
  assert.deepEqual(serious.map((violation) => `${violation.id}: ${violation.nodes[0].html}`), [], name);
}

// The browser reports each failed call on its console.
const forgive = (pattern) => problems.splice(0, problems.length, ...problems.filter((problem) => !pattern.test(problem)));

const titlesOf = (page, list = 0) => page.locator('#lists > section').nth(list).locator('.title').allTextContents();

async function search(page) {
  await page.keyboard.type('rain jacket');  // the query has the focus
  await page.locator('#snippet').filter({ hasText: '"rain jacket"' }).waitFor();
  assert.equal((await titlesOf(page))[0], 'rain jacket for home and travel');
  assert.match(await page.locator('#lists .facts').first().textContent(), /6 documents searched; .* ms in the server/);
  assert.match(await page.locator('#snippet').textContent(), /^curl http.*\/v1\/search \\\n {2}-d '\{"query":"rain jacket"/);
}

async function explain(page) {
  await page.keyboard.press('Tab');
  await page.locator('.result').first().focus();
  await page.keyboard.press('Enter');
  await page.locator('#explanation').waitFor();
  assert.equal(await page.evaluate(() => document.activeElement.id), 'explanation');
  assert.equal(await page.locator('.results li:first-child #explanation').count(), 1, 'the explanation is below its result');
  const words = await page.locator('.words').first().locator('li').allTextContents();
  assert.equal(words.length, 2);
  assert.match(words[0], /^rain[+−]0\.\d{3}$/);
  assert.notEqual(await page.locator('.words li').first().evaluate((item) => item.style.backgroundColor), '');
  await checkAccessible(page, 'explanation');
  await picture(page, 'explanation');
  await page.keyboard.press('Escape');
  assert.equal(await page.locator('#explanation').isVisible(), false);
  assert.ok(await page.locator('.result').first().evaluate((button) => button === document.activeElement));
}

async function compare(page) {
  await page.getByLabel('Compare with').selectOption({ label: 'news version 1' });
  await page.locator('#lists > section').nth(1).waitFor();
  const [left, right] = [await titlesOf(page, 0), await titlesOf(page, 1)];
  const moved = await page.locator('.moved').allTextContents();
  const expected = right.filter((title, place) => left.indexOf(title) !== place).length;
  assert.equal(moved.length, expected);
  assert.match(await page.locator('#lists .facts').filter({ hasText: 'in the server' }).nth(1).textContent(), /^orders what the catalog's model found; /);
  await checkAccessible(page, 'comparison');
  await picture(page, 'comparison');
  await page.getByLabel('Compare with').selectOption('');
}

// The commands that the page offers to copy must run as they are and answer.
async function checkSnippets(page) {
  const run = { curl: ['sh', '-c'], JavaScript: ['node', '--input-type=module', '-e'], Python: ['python3', '-c'] };
  for (const [language, [program, ...flags]] of Object.entries(run)) {
    await page.getByRole('button', { name: language, exact: true }).click();
    const answer = spawnSync(program, [...flags, await page.locator('#snippet').textContent()], { encoding: 'utf8' });
    assert.match(answer.stdout, /scores/, `${language}: ${answer.stderr}`);
  }
  await page.getByRole('button', { name: 'gRPC' }).click();
  const [, port] = /^grpcurl -plaintext -d .*'\\''quoted.*127\.0\.0\.1:(\d+) semrank/s.exec(await page.locator('#snippet').textContent());
  assert.equal(port, grpcPort);
  await page.getByRole('button', { name: 'Copy' }).click();
  await page.getByText('Copied.').waitFor();
}

// A page of another machine that is opened by address and without https has no
// clipboard API. Before the first call there is nothing to copy.
async function copyWithoutClipboard() {
  const page = await open(`${base}/statusz`);
  await page.addInitScript(() => Object.defineProperty(navigator, 'clipboard', { value: undefined }));
  let answer;
  await page.route('**/v1/models', async (route) => { await new Promise((resolve) => { answer = resolve; }); await route.continue(); });
  await Promise.all([page.waitForRequest('**/v1/models'), page.goto(`${base}/`)]);
  const copy = page.getByRole('button', { name: 'Copy' });
  assert.ok(await copy.isDisabled());
  answer();
  await copy.click();
  await page.getByText('Copied.').waitFor();
  assert.match(await page.evaluate(() => getSelection().toString()), /^curl /);
}

async function rankTitles(page) {
  await page.getByLabel('my titles').check();
  await page.getByLabel('Titles, one a line').fill("bread knife\n<img src=x onerror=alert(1)> 'quoted'");
  await page.getByText('2 results').waitFor();
  assert.deepEqual((await titlesOf(page)).sort(), ["<img src=x onerror=alert(1)> 'quoted'", 'bread knife']);
  assert.equal(await page.locator('img').count(), 0);
  await page.getByLabel('Titles, one a line').fill("bread knife\n<img src=x onerror=alert(1)> 'quoted'\nbread tin");
  await page.getByText('3 results').waitFor();
  assert.match(await page.locator('#lists .facts').first().textContent(), /2 titles cached, 1 computed/);
  const facts = Object.fromEntries(await page.locator('.result').evaluateAll((results) => results.map((result) =>
    [result.querySelector('.title').textContent, result.querySelector('.facts').textContent])));
  assert.match(facts['bread knife'], /line 1 · cached/);
  assert.match(facts['bread tin'], /line 3 · computed/);
  await checkSnippets(page);
}

async function playground() {
  const documents = products.map((product, id) => ({ id: String(id), title: `${product} for home and travel` }));
  const put = await fetch(`${base}/v1/put`, { method: 'POST', body: JSON.stringify({ documents }) });
  assert.equal(put.status, 200);
  const page = await open(`${base}/`);
  await search(page);
  await checkAccessible(page, 'playground');
  await picture(page, 'playground');
  await explain(page);
  await compare(page);
  await rankTitles(page);
}

async function onPhone() {
  const page = await open(`${base}/`, { viewport: { width: 360, height: 740 }, colorScheme: 'dark' });
  await search(page);
  const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  assert.ok(overflow <= 0, `${overflow} pixels wider than the phone`);
  await checkAccessible(page, 'phone, dark');
  await picture(page, 'phone');
}

async function withKeys() {
  const page = await open(`${locked}/`);
  await page.getByLabel('API key').fill('wrong');
  await page.keyboard.press('Enter');
  await page.locator('#status.error').waitFor();
  await page.getByLabel('API key').fill(key);
  await page.keyboard.press('Enter');
  await page.getByText('Type a query.').waitFor();
  await page.getByLabel('Query', { exact: true }).fill('rain');
  await page.getByText('The catalog is empty').waitFor();
  assert.match(await page.locator('#snippet').textContent(), /Authorization: Bearer \$SEMRANK_API_KEY/);
  assert.ok(!(await page.content()).includes(key));
  forgive(/401/);
}

async function otherPages() {
  const status = await open(`${base}/statusz`);
  await status.getByText('Calls of the last 1 and 5 minutes').first().waitFor();
  assert.match(await status.textContent('body'), /MiB of 256\.0 MiB/);
  await checkAccessible(status, 'statusz');
  await picture(status, 'statusz');
  const api = await open(`${base}/api`);
  await api.getByText('POST /v1/rerank').first().click();
  await checkAccessible(api, 'api');
  await picture(api, 'api');
}

async function main() {
  browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'] });
  try {
    for (const part of [playground, copyWithoutClipboard, onPhone, withKeys, otherPages]) await part();
    assert.deepEqual(problems, []);
    console.log('playground: ok');
  } finally {
    await browser.close();
  }
}

main().catch((error) => { console.error(error); process.exit(1); });
