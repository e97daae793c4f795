"""Which sentences are worth searching with, and keywords drawn from them."""

import unittest

from apt_records import Package
from pseudo_queries import KeywordDrawer, informative_sentences


def package(name, description, source=None):
    return Package(name, source or name, "synopsis", " " + description)


def letters(number):
    """Returns a made-up word for each number, because the corpus ignores numbers."""
    return "".join(chr(ord("a") + int(digit)) for digit in f"{number:03}") + "ish"


def kept_texts(*packages):
    return [sentence.text for sentence in informative_sentences(packages)[0]]


class InformativeSentencesTest(unittest.TestCase):
    def test_sentence_about_the_program_is_kept(self):
        text = "GIMP is an advanced picture editor."
        self.assertEqual(kept_texts(package("gimp", text)), [text])

    def test_sentence_of_three_sources_is_boilerplate_with_names_masked(self):
        packages = [package(name, f"Bindings of {name} to the Pascal language family.")
                    for name in ("alpha", "beta", "gamma")]
        self.assertEqual(kept_texts(*packages), [])
        self.assertEqual(len(kept_texts(*packages[:2])), 2)

    def test_same_sentence_within_one_source_is_no_boilerplate(self):
        packages = [package(f"libpng{n}", "Reads and writes portable graphics.", "libpng")
                    for n in range(6)]
        sentences, _ = informative_sentences(packages)
        self.assertEqual(len(sentences), 1)
        self.assertEqual(sentences[0].packages, [f"libpng{n}" for n in range(6)])

    def test_packaging_talk_is_left_out(self):
        for text in ("This is a transitional package for the photo editor.",
                     "This package contains the debugging symbols of the photo editor.",
                     "This package contains the development files for foobar.",
                     "For more information about photo editing see https://example.org today.",
                     "It is fast."):
            self.assertEqual(kept_texts(package("foobar", text)), [], text)

    def test_what_is_left_out_is_counted(self):
        _, counts = informative_sentences([package("foobar", "Edits photos quickly. Short one.")])
        self.assertEqual(counts, {"read": 2, "kept": 1, "left_out_length": 1})


class KeywordDrawerTest(unittest.TestCase):
    def setUp(self):
        self.sentences, _ = informative_sentences([
            package(f"p{n}", f"The editor changes photos, scans, drawings and {letters(n)} images.")
            for n in range(40)])

    def test_keywords_are_content_words_in_the_order_of_the_sentence(self):
        keywords = KeywordDrawer(self.sentences, seed=1)
        for sentence in self.sentences:
            drawn = keywords.draw(sentence).split()
            self.assertIn(len(drawn), (2, 3, 4, 5))
            self.assertEqual(drawn, [word for word in sentence.words if word in drawn])
            self.assertNotIn("the", drawn)

    def test_rare_words_are_drawn_more_often(self):
        keywords = KeywordDrawer(self.sentences, seed=1)
        queries = [keywords.draw(sentence).split() for sentence in self.sentences]
        rare = sum(any(word.endswith("ish") for word in query) for query in queries)
        common = sum("scans" in query for query in queries)
        self.assertGreater(rare, common)

    def test_draws_depend_on_the_seed_alone(self):
        draws = [[KeywordDrawer(self.sentences, seed).draw(s) for s in self.sentences]
                 for seed in (1, 1, 2)]
        self.assertEqual(draws[0], draws[1])
        self.assertNotEqual(draws[0], draws[2])


if __name__ == "__main__":
    unittest.main()
