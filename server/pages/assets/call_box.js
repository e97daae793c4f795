// "The same call": the last call of the page as a program, to copy.

import { copyText, element, storedKey } from './client.js';
import { kFile, kLanguages, kMaxInlineCharacters } from './snippets.js';

const at = (id) => document.getElementById(id);
const server = {
  origin: location.origin,
  grpc: `${location.hostname}:${document.querySelector('meta[name=grpc-port]').content}`,
};

export class CallBox {
  // `say` shows a text to the user.
  constructor(say) {
    this.language = 'curl';
    this.made = null;
    at('languages').append(...Object.keys(kLanguages).map((name) =>
      element('button', { type: 'button', onclick: () => this.choose(name) }, name)));
    this.choose(this.language);
    at('copy').addEventListener('click', async () => {
      say(await copyText(at('snippet')) ? 'Copied.' : 'The browser does not let this page copy: the text is selected.');
    });
  }

  choose(name) {
    this.language = name;
    for (const button of at('languages').children) button.setAttribute('aria-pressed', String(button.textContent === name));
    if (this.made) this.show(this.made);
  }

  // `made` is {path, request}.
  show(made) {
    this.made = made;
    const body = JSON.stringify(made.request);
    const fromFile = body.length > kMaxInlineCharacters;
    at('call').hidden = false;
    at('snippet').textContent = kLanguages[this.language]({ ...made, fromFile, needsKey: storedKey() !== '' }, server);
    at('save').hidden = !fromFile;
    at('save').textContent = `Save ${kFile}`;
    URL.revokeObjectURL(at('save').href);
    if (fromFile) at('save').href = URL.createObjectURL(new Blob([body], { type: 'application/json' }));
  }
}
