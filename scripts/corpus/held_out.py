"""Held-out queries of one part (dev or test) with their judgements."""

from collections import defaultdict
from dataclasses import dataclass

from words import stable_hash, words_of


@dataclass(frozen=True)
class HeldOutQuery:
    """A query and the names (sorted) of all packages it is about."""

    query_id: str
    text: str
    relevant: tuple


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
