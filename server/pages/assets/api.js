// The server's OpenAPI document in a readable form.

import { element } from './client.js';

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

function examples(content) {
  return Object.values(content?.examples ?? {}).map(({ value }) =>
    element('pre', { tabindex: '0' }, typeof value === 'string' ? value : JSON.stringify(value, null, 2)));
}

function operation(path, method, call) {
  const [kind, body] = Object.entries(call.requestBody?.content ?? {})[0] ?? [];
  const answer = Object.values(call.responses['200'].content ?? {})[0];
  return element('details', {}, element('summary', {}, element('code', {}, `${method.toUpperCase()} ${path}`), ` ${call.summary}`),
    ...(body ? [element('p', {}, `Body (${kind}): `, ...typeOf(body.schema))] : []),
    element('p', {}, 'Answer: ', ...typeOf(answer?.schema)), ...examples(body));
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

const api = await (await fetch('/openapi.json')).json();
const sections = api.tags.map((tag) => element('section', {}, element('h2', {}, tag.name), ...paragraphs(tag.description),
  ...Object.entries(api.paths).flatMap(([path, methods]) => Object.entries(methods)
    .filter(([, call]) => call.tags.includes(tag.name)).map(([method, call]) => operation(path, method, call)))));
document.getElementById('main').replaceChildren(...paragraphs(api.info.description), ...sections,
  element('section', {}, element('h2', {}, 'Schemas'), ...Object.entries(api.components.schemas).map(([name, schema]) => schemaEntry(name, schema))));
addEventListener('hashchange', openTarget);
openTarget();
