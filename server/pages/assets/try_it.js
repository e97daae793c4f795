// One call of the API page: its request to edit and send, as curl, and the answer.

import { CallError, copyText, element, send, storedKey } from './client.js';
import { shell } from './snippets.js';

const pretty = (value) => (typeof value === 'string' ? value : JSON.stringify(value, null, 2));

// A heading with what the part is.
export const part = (name, ...of) => element('h3', {}, name, element('small', {}, ...of));

export function curlOf({ path, method, kind, body }, { origin, needsKey }) {
  const lines = [`curl ${shell(origin + path)}`];
  if (needsKey) lines.push('-H "Authorization: Bearer $SEMRANK_API_KEY"');
  if (kind && kind !== 'application/json') lines.push(`-H ${shell(`Content-Type: ${kind}`)}`);
  if (method === 'post') lines.push(`-d ${shell(body)}`);
  return lines.join(' \\\n  ');
}

function readable(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

// `operation` is {path, method, kind, examples}. `onrefused` gets an error that asks for a key, the
// element above which to ask, and what to run afterwards.
export class TryIt {
  constructor(operation, onrefused) {
    const { path, examples } = operation;
    this.operation = operation;
    this.onrefused = onrefused;
    const update = () => this.update();
    // What is between braces in the path.
    this.fields = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => element('input', { 'aria-label': name, placeholder: name, oninput: update }));
    this.body = element('textarea', { rows: 6, spellcheck: 'false', 'aria-label': `Request to ${path}`, oninput: update });
    this.choices = Object.keys(examples).map((name) =>
      element('button', { type: 'button', onclick: () => this.choose(name), 'data-name': name }, name.replaceAll('_', ' ')));
    this.command = element('pre', { tabindex: '0', role: 'region', 'aria-label': `curl for ${path}` });
    this.answerTitle = element('small', { role: 'status' });
    this.answer = element('pre', { tabindex: '0', role: 'region', 'aria-label': `Answer of ${path}`, class: 'answer' });
    this.answerPart = element('div', { hidden: '' }, element('h3', {}, 'Answer to this request', this.answerTitle), this.answer);
    if (this.choices.length > 0) this.choose(this.choices[0].dataset.name);
    this.update();
  }

  get path() {
    return this.fields.reduce((made, field) => made.replace(/\{\w+\}/, () => encodeURIComponent(field.value)), this.operation.path);
  }

  choose(name) {
    for (const choice of this.choices) choice.setAttribute('aria-pressed', String(choice.dataset.name === name));
    this.body.value = pretty(this.operation.examples[name].value);
    this.update();
  }

  update() {
    const made = { ...this.operation, path: this.path, body: this.body.value };
    this.command.textContent = curlOf(made, { origin: location.origin, needsKey: storedKey() !== '' });
  }

  async run() {
    const { method, kind } = this.operation;
    const started = performance.now();
    try {
      const response = await send(this.path, method === 'post' ? { method: 'POST', headers: { 'Content-Type': kind }, body: this.body.value } : {});
      this.answer.textContent = readable(await response.text());
      this.answerTitle.textContent = `HTTP ${response.status} in ${(performance.now() - started).toFixed(1)} ms`;
      if (response.status === 401) this.onrefused(new CallError(401, 'The server does not know this key.'), this.answerPart, () => this.run());
    } catch (error) {
      this.answer.textContent = '';
      this.answerTitle.textContent = error.message;
    }
    this.answerPart.hidden = false;
    this.update();
  }

  // What to show, in order.
  parts() {
    const copy = element('button', { type: 'button', onclick: async () => {
      copy.textContent = await copyText(this.command) ? 'Copied' : 'Selected: press Ctrl-C';
    } }, 'Copy curl');
    const examples = element('div', { class: 'segments', role: 'group', 'aria-label': 'Examples', hidden: this.choices.length < 2 && '' }, ...this.choices);
    return [...this.fields, ...(this.operation.method === 'post' ? [examples, this.body] : []), element('h3', {}, 'As curl'), this.command,
      element('div', { class: 'row' }, element('button', { type: 'button', class: 'primary', onclick: () => this.run() }, 'Send'), copy), this.answerPart];
  }
}
