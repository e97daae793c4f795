"""scripts/corpus/make_planted_log.py: each slice is what it claims to be."""

import collections
import pathlib
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "scripts/corpus"))

import make_planted_log as planted  # noqa: E402

PAIRS = 20000


def table(path):
    return [line.split("\t") for line in path.read_text().splitlines()]


class Oracle:
    """Ranks by the planted structure alone: the meaning of a word, and its place."""

    def __init__(self, seed):
        self.slices = planted.make_slices(seed)
        self.synonym, self.topic, self.marked, self.bare, self.composition = self.slices

    def matches(self, part, query, title):
        query, title = query.split(), title.split()
        return {"synonym": self.same_concepts, "topic": self.same_topic, "order, marked": self.same_roles,
                "order, bare": self.same_order, "composition": self.right_cell}[part](query, title)

    @staticmethod
    def indices(groups, words):
        return [next(i for i, group in enumerate(groups) if word in group) for word in words]

    def same_concepts(self, query, title):
        return set(self.indices(self.synonym.query, query)) == \
            set(map(self.concept_of_title, title))

    def concept_of_title(self, word):
        return self.indices(self.synonym.title, [word])[0]

    def same_topic(self, query, title):
        return set(self.indices(self.topic.query, query)) == set(self.indices(self.topic.title, title))

    def same_roles(self, query, title):
        def roles(words, markers, concepts):
            return {markers.index(m): concepts.index(c) for m, c in zip(words[::2], words[1::2])}
        part = self.marked
        return roles(query, part.query_markers, part.query) == roles(title, part.title_markers, part.title)

    def same_order(self, query, title):
        return [self.bare.query.index(w) for w in query] == [self.bare.title.index(w) for w in title]

    def right_cell(self, query, title):
        part = self.composition
        square = self.indices(part.modifiers, query[:1])[0]
        row, column = part.modifiers[square].index(query[0]), part.nouns[square].index(query[2])
        return part.words[square].index(title[0]) == part.squares[square][row][column]


class PlantedLogTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.holder = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.holder.name)
        planted.write_log(cls.folder, PAIRS, seed=3)
        cls.pairs = table(cls.folder / "train.tsv")
        cls.queries = dict(table(cls.folder / "test.queries.tsv"))
        cls.slices = dict(table(cls.folder / "test.slices.tsv"))
        docs = dict(table(cls.folder / "test.docs.tsv"))
        cls.titles = collections.defaultdict(list)  # the relevant one first
        for line in (cls.folder / "test.qrels.txt").read_text().splitlines():
            query, _, doc, grade = line.split()
            cls.titles[query].append((docs[doc], int(grade)))
        cls.oracle = Oracle(seed=3)

    @classmethod
    def tearDownClass(cls):
        cls.holder.cleanup()

    def judged_of(self, part):
        return [(self.queries[q], self.titles[q]) for q, name in self.slices.items() if name == part]

    def test_same_seed_gives_same_bytes_and_a_shorter_log_is_the_beginning(self):
        with tempfile.TemporaryDirectory() as other:
            other = pathlib.Path(other)
            planted.write_log(other, 1000, seed=3)
            whole = (self.folder / "train.tsv").read_text()
            self.assertTrue(whole.startswith((other / "train.tsv").read_text()))
            for name in ("test.docs.tsv", "dev.qrels.txt"):
                self.assertEqual((self.folder / name).read_bytes(), (other / name).read_bytes())

    def test_the_structure_alone_finds_every_relevant_title_and_no_other(self):
        for query, name in self.slices.items():
            for title, grade in self.titles[query]:
                self.assertEqual(self.oracle.matches(name, self.queries[query], title), grade == 1,
                                 (name, self.queries[query], title))

    def test_judged_queries_do_not_occur_in_training(self):
        trained = {query for query, _ in self.pairs}
        judged = set(self.queries.values()) | {q for _, q in table(self.folder / "dev.queries.tsv")}
        self.assertFalse(trained & judged)
        self.assertEqual(len(judged), 5 * (100 + 400))

    def test_queries_and_titles_share_no_letter(self):
        queries = "".join(query for query, _ in self.pairs)
        titles = "".join(title for _, title in self.pairs)
        self.assertFalse((set(queries) & set(titles)) - {" "})

    def test_every_judged_word_occurs_in_training(self):
        trained = {word for pair in self.pairs for text in pair for word in text.split()}
        judged = {word for q, titles in self.titles.items()
                  for text in (self.queries[q], *(t for t, _ in titles)) for word in text.split()}
        self.assertFalse(judged - trained)

    def test_candidates_of_order_are_equal_as_bags(self):
        for part in ("order, marked", "order, bare"):
            for _, titles in self.judged_of(part):
                self.assertEqual(len({tuple(sorted(title.split())) for title, _ in titles}), 1)
                self.assertEqual(len({title for title, _ in titles}), 6)

    def test_no_word_bigram_of_a_bare_order_occurs_in_training(self):
        def bigrams(text):
            words = text.split()
            return set(zip(words, words[1:]))
        trained = set().union(*(bigrams(text) for pair in self.pairs for text in pair))
        for query, titles in self.judged_of("order, bare"):
            for text in (query, *(title for title, _ in titles)):
                self.assertFalse(bigrams(text) & trained)

    def test_squares_are_latin(self):
        symbols = list(range(planted.SQUARE_SIZE))
        for square in self.oracle.composition.squares:
            for line in (*square, *zip(*square)):
                self.assertEqual(sorted(line), symbols)

    def test_candidates_of_composition_differ_in_the_word_of_the_square_alone(self):
        for _, titles in self.judged_of("composition"):
            self.assertEqual(len({title.split()[1] for title, _ in titles}), 1)
            self.assertEqual(len(titles), planted.CANDIDATES)


if __name__ == "__main__":
    unittest.main()
