"""Packages to a corpus: documents, training pairs, held-out queries.

Everything follows from the packages and the seed; no clock, no random state.
"""

from collections import Counter, defaultdict
from dataclasses import dataclass

from held_out import held_out_queries, one_word_queries, without_leaks
from name_queries import name_queries
from pseudo_queries import KeywordDrawer, informative_sentences
from splitting import DEV, TEST, TRAIN, part_of
from titles import title_of
from training_pairs import TrainingPairs


@dataclass(frozen=True)
class Corpus:
    """`docs`: (name, title), sorted by name. `train`: (query, title), shuffled.
    `held_out`: part -> list of HeldOutQuery. `counts`: what went where."""

    docs: list
    train: list
    held_out: dict
    counts: dict


def build_corpus(packages, seed, queries_per_part):
    """Makes the corpus. `queries_per_part` is the most queries that dev and
    test get each, half of them sentences and half keywords; a tenth as many of
    one word, names and misspelled names come on top."""
    titles = {package.name: title_of(package) for package in packages}
    sentences, sentence_counts = informative_sentences(packages)
    keywords = KeywordDrawer(sentences, seed)
    by_part = defaultdict(list)
    for sentence in sentences:
        by_part[part_of(sentence.source, seed)].append(sentence)

    train, train_counts = TrainingPairs(titles, keywords, seed).make(
        [p for p in packages if part_of(p.source, seed) == TRAIN], by_part[TRAIN])
    held_out, leaks = {}, {}
    for part in (DEV, TEST):
        others = [by_part[other] for other in (TRAIN, DEV, TEST) if other != part]
        safe = without_leaks(by_part[part], others)
        leaks[part] = len(by_part[part]) - len(safe)
        held_out[part] = (held_out_queries(part, safe, keywords, seed, queries_per_part // 2)
                          + one_word_queries(part, safe, others, seed, queries_per_part // 10)
                          + name_queries(part, titles, seed))

    counts = {
        **_package_counts(packages, seed),
        "sentences": sentence_counts,
        "train_pairs": {**train_counts, "all": len(train)},
        "held_out_sentences_dropped_as_leaks": leaks,
        "queries": {part: len(queries) for part, queries in held_out.items()},
        "queries_per_slice": {part: Counter(query.slice for query in queries)
                              for part, queries in held_out.items()},
        "judgements": {part: sum(len(query.relevant) for query in queries)
                       for part, queries in held_out.items()},
    }
    return Corpus(sorted(titles.items()), train, held_out, counts)


def _package_counts(packages, seed):
    sources = {package.source for package in packages}
    per_part = Counter(part_of(source, seed) for source in sources)
    return {
        "packages": len(packages),
        "packages_with_long_description": sum(bool(p.description) for p in packages),
        "sources": len(sources),
        "sources_per_part": {part: per_part[part] for part in (TRAIN, DEV, TEST)},
    }
