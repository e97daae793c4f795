"""Held-out queries of one part (dev or test) with their judgements."""

from collections import Counter, defaultdict
from dataclasses import dataclass

from boilerplate import is_content_word
from words import stable_hash, words_of

# The letter of a query's id -> its slice.
SLICES = {"s": "sentence", "k": "short", "w": "one word", "n": "names", "t": "one typo"}
# One word says little: with more answers than that it is not a useful query.
_MAX_PACKAGES_OF_A_WORD = 10


@dataclass(frozen=True)
class HeldOutQuery:
    """A query and the names (sorted) of all packages it is about."""

    query_id: str
    text: str
    relevant: tuple

    @property
    def slice(self):
        """Which sort of query it is."""
        return SLICES[self.query_id.split("-")[1][0]]


def without_leaks(sentences, other_parts):
    """The sentences that, numbers aside, no sentence of `other_parts` equals."""
    elsewhere = {sentence.key for part in other_parts for sentence in part}
    return [sentence for sentence in sentences if sentence.key not in elsewhere]


def held_out_queries(part, sentences, keywords, seed, most_per_sort):
    """Sentence queries and keyword queries, at most one of each per source
    package; ids (`dev-s0001`, `dev-k0001`) number each sort in hash order."""
    packages_with = defaultdict(set)
    for sentence in sentences:
        packages_with[sentence.key].update(sentence.packages)
    queries, taken = [], set()
    for letter, make in (("s", lambda sentence: sentence.text), ("k", keywords.draw)):
        chosen = _one_per_source(sentences, (letter, seed), make, taken)
        for number, (text, sentence) in enumerate(chosen[:most_per_sort], start=1):
            queries.append(HeldOutQuery(f"{part}-{letter}{number:04}", text,
                                        tuple(sorted(packages_with[sentence.key]))))
    return queries


def one_word_queries(part, sentences, other_parts, seed, most):
    """Content words that no sentence of `other_parts` has (ids `dev-w0001`), at
    most one a source; every package that has the word is relevant. A word of one
    sentence only is often a slip, and is left out."""
    elsewhere = {word for other in other_parts for sentence in other for word in sentence.words}
    packages_with, sources_of, num_sentences = defaultdict(set), {}, Counter()
    for sentence in sentences:
        for word in set(sentence.words) - elsewhere:
            if len(word) > 3 and word.isalpha() and is_content_word(word):
                packages_with[word].update(sentence.packages)
                num_sentences[word] += 1
                sources_of.setdefault(word, sentence.source)
    chosen = {}
    for word in sorted(packages_with, key=lambda w: (stable_hash("w", seed, w), w)):
        if num_sentences[word] > 1 and len(packages_with[word]) <= _MAX_PACKAGES_OF_A_WORD:
            chosen.setdefault(sources_of[word], word)
    return [HeldOutQuery(f"{part}-w{number:04}", word, tuple(sorted(packages_with[word])))
            for number, word in enumerate(list(chosen.values())[:most], start=1)]


def _one_per_source(sentences, salt, make, taken):
    """(query, sentence) pairs in hash order, at most one per source. Queries in `taken` are
    not made again; new ones are added to it."""
    chosen = {}
    for sentence in sorted(sentences,
                           key=lambda s: (stable_hash(*salt, s.source, s.key), s.text)):
        text = make(sentence) if sentence.source not in chosen else None
        folded = " ".join(words_of(text)) if text else ""
        if folded and folded not in taken:
            taken.add(folded)
            chosen[sentence.source] = (text, sentence)
    return list(chosen.values())
