"""Pairs of the general model: WordNet's synsets and packages."""

import tempfile
import unittest
from pathlib import Path

from apt_records import Package
from build_general_corpus import is_held_out, package_pairs
from build_tag_corpora import is_dev
from splitting import TRAIN, part_of
from wordnet import Synset, pairs_of, parse_synset, read_synsets

CAT = ("02121620 05 n 02 cat 0 true_cat 0 002 @ 02120997 n 0000 ~ 02121808 n 0000 | feline mammal; "
       'usually having soft fur; "the cat sleeps"; "a cat\'s paw"  \n')
GALORE = '00013887 00 s 01 galore(ip) 0 001 & 00013662 a 0000 | existing in abundance; "whiskey galore"  \n'


class GeneralCorpusTest(unittest.TestCase):
    def test_a_line_is_words_gloss_and_examples(self):
        self.assertEqual(parse_synset(CAT), Synset(
            ("cat", "true cat"), "feline mammal ; usually having soft fur", ("the cat sleeps", "a cat's paw")))
        self.assertEqual(parse_synset(GALORE).lemmas, ("galore",))

    def test_words_meanings_and_examples_find_each_other(self):
        pairs = list(pairs_of(Synset(("cat", "true cat"), "feline mammal", ("the cat sleeps",))))
        self.assertEqual(pairs, [
            ("cat", "feline mammal"), ("cat", "true cat"), ("true cat", "feline mammal"), ("true cat", "cat"),
            ("feline mammal", "cat, true cat"), ("the cat sleeps", "cat, true cat: feline mammal")])

    def test_the_licence_before_the_synsets_is_no_synset(self):
        with tempfile.TemporaryDirectory() as folder:
            for part in ("noun", "verb", "adj", "adv"):
                (Path(folder) / f"data.{part}").write_text(f"  1 This software\n{CAT if part == 'noun' else ''}")
            self.assertEqual([synset.lemmas for synset in read_synsets(Path(folder))], [("cat", "true cat")])

    def test_a_package_gives_its_name_synopsis_and_first_sentences(self):
        package = Package("gimp-help", "gimp", "manual of GIMP", " It helps. It is long. It ends.")
        self.assertEqual(list(package_pairs(package)), [
            ("gimp help", "manual of GIMP"), ("manual of GIMP", "gimp help"),
            ("It helps.", "gimp help: manual of GIMP"), ("It is long.", "gimp help: manual of GIMP")])
        self.assertEqual(list(package_pairs(Package("bare", "bare", "", ""))), [])

    def test_packages_that_a_collection_asks_for_are_held_out(self):
        packages = [Package(f"p{i}", f"p{i}", "", "") for i in range(200)]
        kept = [package for package in packages if not is_held_out(package, 1)]
        self.assertTrue(130 < len(kept) < 190, len(kept))
        for package in kept:
            self.assertEqual(part_of(package.source, 1), TRAIN)
            self.assertFalse(is_dev(package, 1))


if __name__ == "__main__":
    unittest.main()
