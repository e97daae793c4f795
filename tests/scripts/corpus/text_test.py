"""Words, titles and sentences."""

import unittest

from apt_records import Package
from sentences import blocks_of, sentences_of
from titles import name_in_words, title_of
from words import sentence_key, stable_hash, stable_sample, words_of


class WordsTest(unittest.TestCase):
    def test_words_are_folded_like_the_rankers(self):
        self.assertEqual(words_of("McDonald\u2019s C++-API_2, \uff21BC"),
                         ["mcdonalds", "c", "api", "2", "abc"])

    def test_sentences_that_differ_in_numbers_have_one_key(self):
        self.assertEqual(sentence_key(["gcc", "12"]), sentence_key(["gcc", "9"]))
        self.assertNotEqual(sentence_key(["gcc", "12"]), sentence_key(["clang", "12"]))

    def test_hash_is_the_same_on_every_machine(self):
        self.assertEqual(stable_hash("split", 1, "gimp"), 0x29AC13C114256396)

    def test_sample_keeps_order_and_depends_on_salt_alone(self):
        letters = list("abcdefghijklmnop")
        sample = stable_sample(letters, 5, "salt")
        self.assertEqual(sample, sorted(sample))
        self.assertEqual(sample, stable_sample(letters, 5, "salt"))
        self.assertNotEqual(sample, stable_sample(letters, 5, "other salt"))
        self.assertEqual(stable_sample(letters, 99, "salt"), letters)


class TitlesTest(unittest.TestCase):
    def test_name_is_written_in_words(self):
        self.assertEqual(name_in_words("python3-numpy"), "python3 numpy")
        self.assertEqual(name_in_words("gir1.2-gtk_3"), "gir1 2 gtk 3")

    def test_title_is_name_and_synopsis(self):
        self.assertEqual(title_of(Package("gimp-data", "gimp", "Data files", "")),
                         "gimp data: Data files")
        self.assertEqual(title_of(Package("gimp-data", "gimp", "", "")), "gimp data")


class SentencesTest(unittest.TestCase):
    def test_paragraphs_and_list_items_are_blocks(self):
        description = (" One paragraph\n of two lines:\n  * an item\n    that continues\n"
                       "  - another\n .\n The end.")
        self.assertEqual(list(blocks_of(description)),
                         ["One paragraph of two lines:", "an item that continues", "another",
                          "The end."])

    def test_sentences_end_at_full_stops(self):
        self.assertEqual(list(sentences_of(" It plays music. It is fast! Is it? (Yes.)")),
                         ["It plays music.", "It is fast!", "Is it?", "(Yes.)"])

    def test_abbreviations_and_versions_do_not_end_a_sentence(self):
        for text in ("It reads formats, e.g. PNG and JPEG.", "Written by J. Random for v1.2 only.",
                     "Uses libfoo.so and node.js daily."):
            self.assertEqual(list(sentences_of(" " + text)), [text])

    def test_empty_description_has_no_sentence(self):
        self.assertEqual(list(sentences_of("")), [])
        self.assertEqual(list(sentences_of(" .\n .")), [])


if __name__ == "__main__":
    unittest.main()
