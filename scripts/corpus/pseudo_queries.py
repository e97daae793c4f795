"""Long descriptions to pseudo queries.

No logs of package searches are published, so queries are made of what the
packagers wrote, in two sorts:
  * sentences of the long description, unchanged;
  * keywords: two to five content words of one sentence, in its order, as
    section 4.2 of the SSI paper draws words to mimic keyword search.
The document's title (name and synopsis) is not part of the long description,
so a ranker has to bridge two different wordings of the same thing.
"""

import math
from collections import Counter
from dataclasses import dataclass, field

from boilerplate import BoilerplateFilter, NameMask, is_content_word
from sentences import sentences_of
from words import sentence_key, stable_hash, words_of

MIN_WORDS, MAX_WORDS = 3, 32
MIN_KEYWORDS, MAX_KEYWORDS = 2, 5


@dataclass
class Sentence:
    """A sentence worth searching with, of one source package, and the
    packages (names, sorted) whose descriptions have it."""

    source: str
    text: str
    words: list
    packages: list = field(default_factory=list)

    @property
    def key(self):
        """Equal for sentences that differ in numbers only."""
        return sentence_key(self.words)


def informative_sentences(packages):
    """(sentences, counts): every sentence that is not boilerplate once per
    source, in the order of `packages`, and what was left out and why."""
    mask = NameMask(packages)
    boilerplate = BoilerplateFilter(mask)
    candidates, counts = {}, Counter()
    for package in packages:
        for text in sentences_of(package.description):
            words = words_of(text)
            counts["read"] += 1
            boilerplate.count(package.source, words)
            if not MIN_WORDS <= len(words) <= MAX_WORDS:
                counts["left_out_length"] += 1
                continue
            sentence = candidates.setdefault((package.source, " ".join(words)),
                                             Sentence(package.source, text, words))
            if package.name not in sentence.packages[-1:]:
                sentence.packages.append(package.name)
    kept = []
    for sentence in candidates.values():
        reason = boilerplate.reason(sentence.source, sentence.text, sentence.words)
        if reason:
            counts[f"left_out_{reason}"] += 1
        else:
            kept.append(sentence)
    counts["kept"] = len(kept)
    return kept, dict(counts)


class KeywordDrawer:
    """Draws content words of a sentence the way people pick search words: a
    word is the likelier the rarer it is among all sentences."""

    def __init__(self, sentences, seed):
        self._seed = seed
        self._num_sentences = len(sentences)
        self._num_with_word = Counter(word for sentence in sentences
                                      for word in _content_words(sentence))

    def draw(self, sentence, attempt=0):
        """Two to five words, in the order of the sentence; None when it has
        fewer than two. The same sentence and attempt give the same words."""
        words = _content_words(sentence)
        if len(words) < MIN_KEYWORDS:
            return None
        salt = (self._seed, attempt, " ".join(sentence.words))
        span = MAX_KEYWORDS - MIN_KEYWORDS + 1
        count = MIN_KEYWORDS + stable_hash("length", *salt) % span
        drawn = set(sorted(words, key=lambda word: (self._turn(word, salt), word))[:count])
        return " ".join(word for word in words if word in drawn)

    def _turn(self, word, salt):
        """When a word's turn comes: exponential with the word's weight, so
        the first few are a weighted draw without replacement."""
        weight = math.log(1 + self._num_sentences / self._num_with_word[word])
        uniform = (stable_hash(word, *salt) + 1) / 2.0**64
        return -math.log(uniform) / weight


def _content_words(sentence):
    return list(dict.fromkeys(word for word in sentence.words if is_content_word(word)))
