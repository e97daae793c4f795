"""Queries that are names, and misspelled names."""

import unittest

from name_queries import POPULAR_NAMES, name_queries, typo_of
from splitting import DEV, TEST


def edits(name):
    """All texts one edit away from `name`."""
    letters = "abcdefghijklmnopqrstuvwxyz"
    cuts = [(name[:i], name[i:]) for i in range(len(name) + 1)]
    return ({a + letter + b for a, b in cuts for letter in letters}
            | {a + b[1:] for a, b in cuts if b}
            | {a + letter + b[1:] for a, b in cuts if b for letter in letters}
            | {a + b[1] + b[0] + b[2:] for a, b in cuts if len(b) > 1})


class NameQueriesTest(unittest.TestCase):
    def test_every_popular_package_is_in_one_part(self):
        texts = [query.text for part in (DEV, TEST) for query in name_queries(part, POPULAR_NAMES, 1)
                 if query.slice == "names"]
        self.assertEqual(sorted(texts), sorted(POPULAR_NAMES))

    def test_only_packages_of_the_catalogue_are_asked_for(self):
        queries = [query for part in (DEV, TEST) for query in name_queries(part, ["vim", "other"], 1)]
        self.assertEqual([(query.text, query.relevant) for query in queries], [("vim", ("vim",))])

    def test_typo_is_one_edit_and_no_other_package(self):
        packages = set(POPULAR_NAMES)
        for part in (DEV, TEST):
            for query in name_queries(part, packages, 1):
                if query.slice == "one typo":
                    self.assertIn(query.text, edits(query.relevant[0]))
                    self.assertNotIn(query.text, packages)
                    self.assertEqual(query.text[0], query.relevant[0][0])

    def test_same_seed_gives_the_same_typo(self):
        self.assertEqual(typo_of("inkscape", set(), 1), typo_of("inkscape", set(), 1))
        self.assertGreater(len({typo_of("inkscape", set(), seed) for seed in range(20)}), 10)


if __name__ == "__main__":
    unittest.main()
