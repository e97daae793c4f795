// report.html of a training run in headless Chromium, as a person sees it: at the
// width of a desk and of a phone, light and dark. The pictures go to FOLDER.
//
// usage: node training_page.js REPORT FOLDER   (modules by NODE_PATH)
'use strict';
const assert = require('node:assert');
const { readFileSync } = require('node:fs');
const { join } = require('node:path');
const { pathToFileURL } = require('node:url');
const { chromium } = require('playwright-core');

const [report, folder] = process.argv.slice(2);
const axe = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');
const views = [
  { name: 'desk', viewport: { width: 1100, height: 900 }, colorScheme: 'light' },
  { name: 'desk-dark', viewport: { width: 1100, height: 900 }, colorScheme: 'dark' },
  { name: 'phone', viewport: { width: 360, height: 740 }, colorScheme: 'light' },
  { name: 'phone-dark', viewport: { width: 360, height: 740 }, colorScheme: 'dark' },
];

// Runs in the page: finds numbers that are broken over two lines.
function brokenNumbers() {
  const broken = [];
  const walker = document.createTreeWalker(document.querySelector('main'), NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    if (node.parentElement.closest('svg, pre')) continue;
    for (const match of node.data.matchAll(/(?<![\w/.-])\d[\d.,]*(?![\w/-])/g)) {
      const range = document.createRange();
      range.setStart(node, match.index);
      range.setEnd(node, match.index + match[0].length);
      if (range.getClientRects().length > 1) broken.push(match[0]);
    }
  }
  return broken;
}

// Runs in the page: finds elements wider than the page, except tables, which
// scroll by themselves.
function tooWide() {
  const wide = (element) => element.getBoundingClientRect().right > innerWidth + 0.5;
  return [...document.querySelectorAll('main *')].filter((element) => !element.closest('.scroll table') && wide(element))
    .map((element) => element.outerHTML.slice(0, 80));
}

async function look(browser, view) {
  const page = await (await browser.newContext(view)).newPage();
  const problems = [];
  page.on('console', (line) => { if (line.type() === 'error') problems.push(line.text()); });
  page.on('request', (request) => assert.match(request.url(), /^(file|data):/));
  await page.goto(pathToFileURL(report).href);
  await page.screenshot({ path: join(folder, `${view.name}.png`), fullPage: true });
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `${view.name} scrolls sideways`);
  assert.deepEqual(await page.evaluate(tooWide), [], view.name);
  assert.deepEqual(await page.evaluate(brokenNumbers), [], view.name);
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => window.axe.run());
  const serious = violations.filter((violation) => ['serious', 'critical'].includes(violation.impact));
  assert.deepEqual(serious.map((violation) => `${violation.id}: ${violation.nodes[0].html}`), [], view.name);
  assert.deepEqual(problems, []);
}

async function main() {
  const args = ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'];
  const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args });
  try {
    for (const view of views) await look(browser, view);
    console.log('report: ok');
  } finally {
    await browser.close();
  }
}

main().catch((error) => { console.error(error); process.exit(1); });
