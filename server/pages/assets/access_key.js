// Asks for an API key where a call needs one, and forgets it when the user says so.

import { element, storeKey, storedKey } from './client.js';

// Shows in `place` what there is to say of the key. `onchange` runs after the key has changed.
export class AccessKey {
  constructor(place, onchange) {
    this.place = place;
    this.onchange = onchange;
    this.showState();
  }

  // Nothing without a key, else that there is one.
  showState() {
    this.place.replaceChildren(...(storedKey() ? [element('p', { class: 'facts' }, 'Calls carry your API key. ',
      element('button', { type: 'button', onclick: () => this.change('') }, 'Forget it'))] : []));
  }

  // `error` is what the server said to the call without a key, or with a wrong one.
  ask(error) {
    const input = element('input', {
      id: 'key', type: 'password', autocomplete: 'off', 'aria-describedby': 'key_origin key_problem', 'aria-invalid': storedKey() !== '' && 'true',
    });
    this.place.replaceChildren(element('form', {
      class: 'notice', id: 'key_form', onsubmit: (event) => { event.preventDefault(); this.change(input.value.trim()); },
    }, element('p', { id: 'key_origin' }, 'This server answers calls with an API key only. The person who runs it gives out keys, which ',
      element('code', {}, '--api_keys_file'), ` lists; the role “read” is enough to search. The key stays in this tab and is sent to ${location.host} alone.`),
    storedKey() ? element('p', { id: 'key_problem', class: 'error', role: 'alert' }, error.message) : element('span', { id: 'key_problem' }),
    element('div', { class: 'field' }, element('label', { for: 'key' }, 'API key'),
      element('div', { class: 'row' }, input, element('button', { class: 'primary' }, 'Use this key')))));
    input.focus();
  }

  change(key) {
    storeKey(key);
    this.showState();
    this.onchange();
  }
}
