// The server's OpenAPI document in a readable form.

import { AccessKey } from './access_key.js';
import { element } from './client.js';
import { exampleOf } from './examples.js';
import { part, TryIt } from './try_it.js';

const nameOf = (schema) => schema?.$ref?.split('/').at(-1);

// "array of Document", with links to schemas.
function typeOf(schema = {}) {
  const name = nameOf(schema);
  if (name) return [element('a', { href: `#${name}` }, name)];
  if (schema.oneOf) return schema.oneOf.flatMap((one, i) => [...(i ? [' or '] : []), ...typeOf(one)]);
  if (schema.enum) return [schema.enum.join(', ')];
  if (schema.type === 'array') return ['array of ', ...typeOf(schema.items)];
  return [[schema.type ?? 'any'].flat().join(' or ')];
}

// `names` between backquotes are code.
const inline = (text) => text.split('`').map((part, i) => (i % 2 ? element('code', {}, part) : part));

// Paragraphs, and lists of lines that begin with "* ".
function paragraphs(text = '') {
  return text.split('\n\n').filter((part) => part).map((part) => (part.startsWith('* ')
    ? element('ul', {}, ...part.slice(2).split('\n* ').map((item) => element('li', {}, ...inline(item))))
    : element('p', {}, ...inline(part))));
}

// Type of content and schema of a request or an answer.
function contentOf(part) {
  const [kind, content] = Object.entries(part?.content ?? {})[0] ?? [];
  return { kind, schema: content?.schema, examples: content?.examples ?? {} };
}

// Error answers of one operation share a schema.
function errorsOf(responses) {
  const [, error] = Object.entries(responses).find(([code, response]) => code !== '200' && response.content) ?? [];
  return error ? [part('Errors', ...typeOf(contentOf(error).schema))] : [];
}

function answerExample({ schema, examples }) {
  const [given] = Object.values(examples);
  const example = given ? given.value : exampleOf(api, schema);
  return element('pre', { tabindex: '0', role: 'region', 'aria-label': 'Example of an answer' },
    typeof example === 'string' ? example : JSON.stringify(example, null, 2));
}

function askForKey(error, before, run) {
  before.before(access.place);
  access.onchange = run;
  access.ask(error);
}

function operation(path, method, call) {
  const request = contentOf(call.requestBody);
  const answer = contentOf(call.responses['200']);
  const details = element('details', { class: 'call' }, element('summary', {},
    element('code', {}, element('span', { class: 'method' }, method.toUpperCase()), ` ${path}`), ` ${call.summary}`));
  // The parts are made when they are first looked at.
  details.addEventListener('toggle', () => details.append(
    ...(request.schema ? [part('Request', ...typeOf(request.schema), ` (${request.kind})`)] : [part('Request', 'no body')]),
    ...new TryIt({ path, method, kind: request.kind, examples: request.examples }, askForKey).parts(),
    part('Answer', ...typeOf(answer.schema), ` (${answer.kind}), for example:`), answerExample(answer), ...errorsOf(call.responses)), { once: true });
  return details;
}

function schemaEntry(name, schema) {
  return element('details', { id: name }, element('summary', {}, element('code', {}, name)), ...paragraphs(schema.description),
    element('dl', {}, ...Object.entries(schema.properties ?? {}).flatMap(([field, inner]) => [
      element('dt', {}, element('code', {}, field), ': ', ...typeOf(inner)), element('dd', {}, ...paragraphs(inner.description))])));
}

function openTarget() {
  const target = document.getElementById(location.hash.slice(1));
  if (target) { target.open = true; target.scrollIntoView(); }
}

const access = new AccessKey(document.getElementById('access'), () => {});
const api = await (await fetch('/openapi.json')).json();
const sections = api.tags.map((tag) => element('section', {}, element('h2', {}, tag.name), ...paragraphs(tag.description),
  ...Object.entries(api.paths).flatMap(([path, methods]) => Object.entries(methods)
    .filter(([, call]) => call.tags.includes(tag.name)).map(([method, call]) => operation(path, method, call)))));
document.getElementById('api').replaceChildren(...paragraphs(api.info.description), ...sections,
  element('section', {}, element('h2', {}, 'Schemas'), ...Object.entries(api.components.schemas).map(([name, schema]) => schemaEntry(name, schema))));
addEventListener('hashchange', openTarget);
openTarget();
