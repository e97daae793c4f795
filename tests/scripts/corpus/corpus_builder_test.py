"""Builds the whole corpus from packages, without apt."""

import unittest
from collections import Counter

from apt_records import Package
from corpus_builder import build_corpus
from splitting import DEV, TEST, TRAIN, part_of
from words import words_of

ACTIONS = ("compresses", "plays", "edits", "encrypts", "measures", "prints", "sorts", "draws")
THINGS = ("music", "archives", "photos", "passwords", "networks", "maps", "letters", "stars")


def letters(number):
    """Returns a made-up word for each number, because the corpus ignores numbers."""
    return "".join(chr(ord("a") + int(digit)) for digit in f"{number:03}") + "ish"


def some_packages(num_sources=400):
    """Sources of two binary packages each; the second has one more sentence."""
    packages = []
    for n in range(num_sources):
        action, thing = ACTIONS[n % 8], THINGS[n // 8 % 8]
        text = f" Quietly {action} {thing} in {letters(n)} manner."
        packages.append(Package(f"tool{n}", f"src{n}", f"{action} {thing}", text))
        packages.append(Package(f"tool{n}-doc", f"src{n}", f"{action} {thing} (manual)",
                                text + f" Chapters explain {letters(n)} topics with pictures."))
    # Sources of every part have this sentence.
    packages += [Package(f"shared{n}", f"shared{n}", "shares", " Everybody shares sentence seven.")
                 for n in range(2)]
    return packages


class CorpusTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.packages = some_packages()
        cls.source_of = {p.name: p.source for p in cls.packages}
        cls.corpus = build_corpus(cls.packages, seed=1, queries_per_part=20)
        cls.name_of = {title: name for name, title in cls.corpus.docs}

    def held_out(self):
        return [(part, query) for part in (DEV, TEST) for query in self.corpus.held_out[part]]

    def test_every_package_is_a_document(self):
        self.assertEqual([name for name, _ in self.corpus.docs], sorted(self.source_of))

    def test_only_train_sources_give_pairs(self):
        parts = {part_of(self.source_of[self.name_of[title]], 1) for _, title in self.corpus.train}
        self.assertEqual(parts, {TRAIN})

    def test_judged_documents_are_of_the_query_s_part(self):
        for part, query in self.held_out():
            for name in query.relevant:
                self.assertEqual(part_of(self.source_of[name], 1), part)

    def test_every_package_that_has_the_sentence_is_relevant(self):
        sizes = {len(query.relevant) for _, query in self.held_out()
                 if query.text.startswith("Quietly")}
        self.assertEqual(sizes, {2})

    def test_no_held_out_sentence_occurs_in_training(self):
        trained = {" ".join(words_of(query)) for query, _ in self.corpus.train}
        held_out = {" ".join(words_of(query.text)) for part, query in self.held_out()
                    if query.query_id.startswith(f"{part}-s")}
        self.assertEqual(held_out & trained, set())

    def test_queries_are_of_each_sort_and_limited(self):
        for queries in self.corpus.held_out.values():
            counts = Counter(query.slice for query in queries)
            self.assertEqual(set(counts), {"sentence", "short", "one word"})
            self.assertLessEqual(counts["sentence"] + counts["short"], 20)
            self.assertLessEqual(counts["one word"], 2)

    def test_one_word_query_occurs_in_its_packages_alone(self):
        texts = {p.name: words_of(p.description) for p in self.packages}
        for _, query in self.held_out():
            if query.slice == "one word":
                self.assertEqual({name for name in texts if query.text in texts[name]},
                                 set(query.relevant))

    def test_pairs_do_not_repeat(self):
        self.assertEqual(len(self.corpus.train), len(set(self.corpus.train)))

    def test_same_packages_and_seed_give_the_same_corpus(self):
        again = build_corpus(some_packages(), seed=1, queries_per_part=20)
        other = build_corpus(some_packages(), seed=2, queries_per_part=20)
        self.assertEqual(again, self.corpus)
        self.assertNotEqual(other.train, self.corpus.train)

    def test_counts_add_up(self):
        counts = self.corpus.counts
        self.assertEqual(counts["packages"], len(self.packages))
        self.assertEqual(sum(counts["sources_per_part"].values()), counts["sources"])
        self.assertEqual(counts["train_pairs"]["all"], len(self.corpus.train))


if __name__ == "__main__":
    unittest.main()
