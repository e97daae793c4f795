// The OpenAPI document that a server serves: Redocly's linter has no complaint,
// each example is answered with 2xx, and each answer fits its schema.
//
// usage: node openapi.mjs http://HOST:PORT   (modules by NODE_PATH)
import assert from 'node:assert';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const base = process.argv[2];
const modules = process.env.NODE_PATH;
const require = createRequire(join(modules, 'x.js'));
const { createConfig, lint } = await import(pathToFileURL(join(modules, '@redocly/openapi-core/lib/index.js')));
const Ajv = require('ajv/dist/2020.js').default;
const addFormats = require('ajv-formats').default;

const text = await (await fetch(`${base}/openapi.json`)).text();
const document = JSON.parse(text);

async function complaints() {
  const folder = mkdtempSync(join(tmpdir(), 'openapi-'));
  writeFileSync(join(folder, 'openapi.json'), text);
  const problems = await lint({ ref: join(folder, 'openapi.json'), config: await createConfig({ extends: ['recommended'] }) });
  rmSync(folder, { recursive: true });
  return problems.map((problem) => `${problem.ruleId} ${problem.location[0].pointer} ${problem.message}`)
    .filter((problem) => !problem.includes('no-unused-components #/components/schemas/PutDocumentsStreamResponse'));
}
assert.deepEqual(await complaints(), []);

const ajv = new Ajv({ strict: false, allErrors: true });
addFormats(ajv);
ajv.addSchema(document, 'api');
const pointer = (...parts) => `api#/${parts.map((part) => encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1'))).join('/')}`;

function check(schema, value, name) {
  const validate = ajv.getSchema(schema);
  assert.ok(validate(value), `${name}: ${ajv.errorsText(validate.errors)}\n${JSON.stringify(value).slice(0, 500)}`);
}

async function checkAnswer(path, method, body, name) {
  const answer = await fetch(base + path.replace('{name}', 'shop'), { method: method.toUpperCase(), body });
  const received = await answer.text();
  assert.equal(answer.status, 200, `${name}: ${received}`);
  const type = answer.headers.get('content-type').split(';')[0];
  const place = ['paths', path, method, 'responses', '200', 'content', type, 'schema'];
  if (type === 'application/json') check(pointer(...place), JSON.parse(received), name);
  else assert.ok(document.paths[path][method].responses['200'].content[type], `${name}: ${type} is not documented`);
  if (type === 'application/x-ndjson') {
    for (const line of received.trim().split('\n')) {
      check(pointer('components', 'schemas', 'PutDocumentsStreamResponse'), JSON.parse(line), name);
    }
  }
}

let count = 0;
for (const [path, methods] of Object.entries(document.paths)) {
  for (const [method, operation] of Object.entries(methods)) {
    if (method === 'get') await checkAnswer(path, method, undefined, `GET ${path}`);
    for (const [type, { examples }] of Object.entries(operation.requestBody?.content ?? {})) {
      for (const [name, { value }] of Object.entries(examples)) {
        if (type === 'application/json') check(pointer('paths', path, method, 'requestBody', 'content', type, 'schema'), value, path);
        await checkAnswer(path, method, type === 'application/json' ? JSON.stringify(value) : value, `${path} ${name}`);
        ++count;
      }
    }
    if (method === 'post') {
      const refused = await fetch(base + path, { method: 'POST', body: '{' });
      assert.equal(refused.status, 400, path);
      const lines = (await refused.text()).trim().split('\n');
      const place = ['paths', path, method, 'responses', '4XX', 'content', 'application/json', 'schema'];
      check(pointer(...place), JSON.parse(lines.at(-1)), `${path} refused`);
    }
  }
}
console.log(`openapi: ${count} examples, ${Object.keys(document.paths).length} paths, ok`);
