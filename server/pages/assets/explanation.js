// Why a document has its score: its words coloured by what they add.

import { element, milliseconds } from './client.js';
import { partsBar } from './results.js';

const signed = (number) => `${number < 0 ? '−' : '+'}${Math.abs(number ?? 0).toFixed(3)}`;

// A word of many letters shows only its first n-grams.
const kMaxNgrams = 8;

// The n-grams of a word that the other text has. Each is isolated, so that one of a
// script from right to left does not move its neighbours.
function ngramList(matches) {
  const shown = matches.slice(0, kMaxNgrams).flatMap((match) => [element('bdi', {}, match.ngram), ' ']);
  const rest = matches.length - kMaxNgrams;
  return element('small', { class: 'ngrams' }, ...shown, rest > 0 ? `and ${rest} more` : undefined);
}

// Strongest word of a text = full colour.
function wordList(words, label) {
  const strongest = Math.max(1e-6, ...words.map((word) => Math.abs(word.contribution ?? 0)));
  return element('ul', { class: 'words', 'aria-label': label }, ...words.map((word) => {
    const part = word.contribution ?? 0;
    const item = element('li', {}, element('bdi', {}, word.word), element('small', {}, signed(part)),
      word.matches?.length > 0 ? ngramList(word.matches) : undefined);
    item.style.backgroundColor = `rgb(var(${part < 0 ? '--against' : '--for'}) / ${(0.3 * Math.abs(part)) / strongest})`;
    return item;
  }));
}

function wordTable(words, caption) {
  const head = ['word', 'adds', 'semantic', 'lexical', 'known features'];
  return element('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': caption },
    element('table', {}, element('caption', { hidden: '' }, caption),
      element('thead', {}, element('tr', {}, ...head.map((name, i) => element('th', { scope: 'col', class: i ? 'number' : '' }, name)))),
      element('tbody', {}, ...words.map((word) => element('tr', {}, element('th', { scope: 'row', dir: 'auto' }, word.word),
        ...[signed(word.contribution), signed(word.semantic_contribution), signed(word.lexical_contribution),
          `${word.num_known_features ?? 0} of ${word.num_features ?? 0}`].map((text) => element('td', { class: 'number' }, text)))))));
}

export function describe(answer) {
  const { score = 0, semantic_part: semantic = 0, lexical_part: lexical = 0 } = answer;
  const queryWords = answer.query_words ?? [];
  const titleWords = answer.title_words ?? [];
  const matched = [...queryWords, ...titleWords].some((word) => word.matches?.length > 0);
  return element('div', {},
    element('p', {}, element('strong', { dir: 'auto' }, answer.title ?? ''), ` scores ${score.toFixed(4)}: `,
      element('span', { class: 'key semantic' }), ` semantic ${semantic.toFixed(4)}, `,
      element('span', { class: 'key lexical' }), ` lexical ${lexical.toFixed(4)}. Explained in ${milliseconds(answer.timings?.total_nanos)}.`),
    partsBar(semantic, lexical, Math.max(Math.abs(semantic) + Math.abs(lexical), 1)),
    element('h3', {}, 'Words of the query'), wordList(queryWords, 'Words of the query'),
    element('h3', {}, 'Words of the title'), wordList(titleWords, 'Words of the title'),
    element('p', {}, 'What a word adds is the score less the score without it. Contributions do not add up to the score.',
      matched ? ' Below each word are the letter n-grams that the other text has, too; # is an end of the word.' : undefined),
    element('details', {}, element('summary', {}, 'Semantic and lexical parts of each word'),
      element('h3', {}, 'Query'), wordTable(queryWords, 'Parts of the words of the query'),
      element('h3', {}, 'Title'), wordTable(titleWords, 'Parts of the words of the title')));
}
