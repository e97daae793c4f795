// A headless Chromium in which tests use the server's pages as a person does. A test fails if a page
// reports an error or contacts another server. With SCREENSHOTS=FOLDER in the environment, pictures
// of the pages go there.
'use strict';
const assert = require('node:assert');
const { readFileSync } = require('node:fs');
const { join } = require('node:path');
const { chromium } = require('playwright-core');

const axe = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');
const problems = [];
let browser;

async function open(url, options = {}) {
  const page = await (await browser.newContext({ viewport: { width: 1100, height: 900 }, permissions: ['clipboard-write'], ...options })).newPage();
  page.on('console', (line) => { if (line.type() === 'error') problems.push(line.text()); });
  page.on('pageerror', (error) => problems.push(String(error)));
  page.on('request', (request) => assert.ok(/^(data|blob):/.test(request.url()) || request.url().startsWith(new URL(url).origin), request.url()));
  await page.goto(url);
  return page;
}

// The browser reports each failed call on its console.
const forgive = (pattern) => problems.splice(0, problems.length, ...problems.filter((problem) => !pattern.test(problem)));

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

async function checkFits(page, name) {
  const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  assert.ok(overflow <= 0, `${name} is ${overflow} pixels wider than the window`);
}

const kPhone = { viewport: { width: 360, height: 740 }, colorScheme: 'dark' };

// Runs `parts` one after another and ends the process.
async function runParts(name, parts) {
  browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'] });
  try {
    for (const part of parts) {
      await part();
      assert.equal(problems.join('\n'), '', part.name);
    }
    console.log(`${name}: ok`);
  } catch (error) {
    console.error(error);
    process.exitCode = 1;
  } finally {
    await browser.close();
  }
}

// Documents "PRODUCT for home and travel" with the ids 0, 1, ...
async function putProducts(base, products) {
  const documents = products.map((product, id) => ({ id: String(id), title: `${product} for home and travel` }));
  const put = await fetch(`${base}/v1/put`, { method: 'POST', body: JSON.stringify({ documents }) });
  assert.equal(put.status, 200);
}

module.exports = { open, forgive, picture, checkAccessible, checkFits, kPhone, runParts, putProducts };
