"""Collections of linked packages, and collections made out of others."""

import argparse
import tempfile
import unittest
from pathlib import Path

from apt_records import Package
from build_link_corpora import (make_collection, names_of, read_links, split_documents,
                                split_links)
from derived_files import keep_words, sample_pairs, shorten_queries

PACKAGES = {name: Package(name, source, f"About {name}", " Some text\n .\n and more.")
            for name, source in (("app", "app"), ("app-data", "app"), ("liba", "a"),
                                 ("libb", "b"), ("common", "c"))}
RECORDS = """\
Package: app
Depends: liba (>= 1.2), libb:any | other, app-data, missing, common

Package: liba
Depends: common,
 libb (= 1)

Package: libb
Depends: common
"""


class LinksTest(unittest.TestCase):
    def test_of_alternatives_the_first_is_the_link(self):
        self.assertEqual(list(names_of("a (>= 1) | b, c:any,\n d | e")), ["a", "c", "d"])

    def test_links_lead_to_other_sources_and_not_to_what_many_need(self):
        self.assertEqual(read_links(RECORDS, PACKAGES.values(), 2),
                         [("app", "liba"), ("app", "libb"), ("liba", "libb")])
        self.assertIn(("libb", "common"), read_links(RECORDS, PACKAGES.values(), 3))


class SplitTest(unittest.TestCase):
    links = [(f"p{i}", f"p{j}") for i in range(40) for j in range(i)]

    def test_each_link_is_in_one_part(self):
        train, test = split_links(self.links, 1)
        self.assertEqual(sorted(train + test), sorted(self.links))
        self.assertAlmostEqual(len(test) / len(self.links), 0.3, delta=0.06)

    def test_disjoint_parts_have_no_document_in_common(self):
        sources = {f"p{i}": f"s{i}" for i in range(40)}
        train, test = split_documents(self.links, sources, 1)
        self.assertTrue(train and test)
        self.assertFalse({name for link in train for name in link}
                         & {name for link in test for name in link})


class CollectionTest(unittest.TestCase):
    def test_queries_and_answers_are_documents(self):
        options = argparse.Namespace(queries=9, others=1, pairs=9, words=4, seed=1)
        docs, train, queries, qrels = make_collection(
            PACKAGES, ([("app", "liba")], [("liba", "libb")]), options)
        self.assertEqual(train, [("app about app some", "liba about liba some")])
        self.assertEqual(queries, [("liba", "liba about liba some")])
        self.assertEqual(qrels, [("liba", "libb", 1)])
        self.assertEqual(len(docs), 2)
        self.assertIn(("libb", "libb about libb some"), docs)


class DerivedFilesTest(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.source, self.target = Path(holder.name, "source"), Path(holder.name, "target")

    def sample(self, share):
        sample_pairs(self.source, share, 1, self.target)
        return self.target.read_text().splitlines()

    def test_a_smaller_share_is_part_of_a_larger_one(self):
        self.source.write_text("".join(f"line {i}\n" for i in range(1000)))
        small, large = self.sample(0.1), self.sample(0.5)
        self.assertAlmostEqual(len(small), 100, delta=40)
        self.assertLess(set(small), set(large))
        self.assertEqual(len(self.sample(1)), 1000)

    def test_queries_keep_some_of_their_words_in_order(self):
        text = "a b c d e f g h"
        kept = keep_words(text, 3, 1)
        self.assertEqual(len(kept.split()), 3)
        self.assertEqual(kept, " ".join(sorted(kept.split())))
        self.assertEqual(keep_words(text, 8, 1), text)
        self.source.write_text(f"{text}\tx y z w\nq\tr\n")
        shorten_queries(self.source, 0, 3, 1, self.target)
        self.assertEqual(self.target.read_text(), f"{kept}\tx y z w\nq\tr\n")


if __name__ == "__main__":
    unittest.main()
