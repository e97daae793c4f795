// Refreshes the status page in place: scrolling, focus and selected text stay.

import { element } from './client.js';

const kMilliseconds = 5000;

const boxesOf = (page) => [...page.querySelectorAll('.scroll')];
let paused = false;
let answered = new Date();

const isSelected = (box) => !getSelection().isCollapsed && getSelection().containsNode(box, true);

// A server that was started with other options has other tables.
function showTables(fresh) {
  const [boxes, freshBoxes] = [boxesOf(document), boxesOf(fresh)];
  if (boxes.length !== freshBoxes.length) return location.reload();
  boxes.forEach((box, i) => {
    if (box.innerHTML !== freshBoxes[i].innerHTML && !isSelected(box)) box.replaceChildren(...freshBoxes[i].childNodes);
  });
  return undefined;
}

async function refresh() {
  try {
    const answer = await fetch('/statusz');
    if (!answer.ok) throw new Error(`HTTP ${answer.status}`);
    showTables(new DOMParser().parseFromString(await answer.text(), 'text/html'));
    answered = new Date();
    say(`As of ${answered.toLocaleTimeString()}, every ${kMilliseconds / 1000} seconds.`);
  } catch {
    say(`${location.host} does not answer: the page is as of ${answered.toLocaleTimeString()}.`, true);
  }
}

const text = element('span', { class: 'facts', role: 'status' });
function say(words, isError = false) {
  text.textContent = words;
  text.classList.toggle('error', isError);
}

const pause = element('button', { type: 'button', onclick: () => {
  paused = !paused;
  pause.textContent = paused ? 'Refresh again' : 'Pause';
  if (!paused) refresh();
} }, 'Pause');
document.getElementById('refresh').append(text, pause);
say(`As of ${answered.toLocaleTimeString()}, every ${kMilliseconds / 1000} seconds.`);
// One request at a time, and none for a page that is not seen.
async function tick() {
  if (!paused && document.visibilityState === 'visible') await refresh();
  setTimeout(tick, kMilliseconds);
}
setTimeout(tick, kMilliseconds);
