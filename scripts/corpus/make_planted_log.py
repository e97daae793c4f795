#!/usr/bin/env python3
"""Writes a click log whose structure is planted, so that it is known which kind
of model can rank each part of its queries:

    make_planted_log.py --pairs=1000000 --out=planted

writes train.tsv of that many pairs and, in files named dev.* and test.*, judged
queries that do not occur in training: queries.tsv, docs.tsv, qrels.txt (grade 1
or 0) and slices.tsv (query id, slice). Each query is judged with its own
candidates of equal length, one of them relevant: rank with --candidates=judged.
The same --seed gives the same bytes, and a shorter log is the beginning of a
longer one, with the same judged queries.

Words are random letters: those of queries a to m, those of titles n to z. So no
query shares a letter with a title, word matching is a tie everywhere, and what a
word means can only be learned. Each slice has its own words and a fifth of the
pairs:

slice           query                title                    wrong titles
synonym         three concepts       synonyms of the same,    one concept is another
                                     in any order
topic           three words of       three title words of     words of another topic
                one of 80 topics     the same topic
order, marked   three phrases, each  the same phrases in      the same words, concepts
                a role's marker and  title words, in any      exchanged between the
                a concept            order                    markers
order, bare     three concepts       their translations in    the same words in another
                                     the same order           order
composition     modifier, filler,    the word of the cell     the word of another cell
                noun                 (modifier, noun) of a    of the same square
                                     Latin square; filler

Which model can rank which slice:

* synonym, topic: a linear bag of words or of letter n-grams suffices.
* order: candidates are equal as bags of words and of letter n-grams, so every
  model of these alone gives them one score. Marked: word bigrams differ
  ("from A" is not "from B"), as windows of words do. Bare: concepts come in ten
  blocks. A training text never has two concepts of one block, a judged query has
  three; so no word bigram of a judged text occurs in training, and only a model
  of positions (a window that sees the edge of the text) has anything to go by.
* composition: a linear bag scores query (m, n) against title word t by
  a(m, t) + b(n, t), times a factor that is the same for all candidates. In a
  Latin square each t occurs once in each row and each column, so

      sum over (m, n) of score(m, n, right t)
          = sum over m, t of a(m, t) + sum over n, t of b(n, t)
          = 1/K  sum over (m, n, t) of score(m, n, t):

  the right word scores on average what any word of the square scores, whatever
  was learned, and the convex softmax loss over the words is least where all scores
  are equal. A bilinear score of words (SSI) has the same form. The best rule of
  this form that gradient ascent found puts 28 % of the right words first of 16.
  The squares are random, since a cyclic one (t = m + n) has a rule of this form for
  49 % of its cells. The filler keeps modifier and noun out of one bigram.
"""
import argparse
import itertools
import pathlib
import random

SYNONYM_CONCEPTS = 300
TOPICS, TOPIC_WORDS = 80, 12
ORDER_CONCEPTS, ORDER_BLOCKS = 100, 10
SQUARES, SQUARE_SIZE, FILLERS = 4, 16, 50
CANDIDATES = 10
JUDGED = {"dev": 100, "test": 400}  # queries of each slice


class Speller:
    """New words of random letters, none of them twice."""

    def __init__(self, rng):
        self.rng = rng
        self.used = set()

    def words(self, letters, count):
        made = []
        while len(made) < count:
            word = "".join(self.rng.choices(letters, k=self.rng.randint(4, 8)))
            if word not in self.used:
                self.used.add(word)
                made.append(word)
        return made

    def query(self, count):
        return self.words("abcdefghijklm", count)

    def title(self, count):
        return self.words("nopqrstuvwxyz", count)


# Each slice has `pair`, a training pair, and `judged`, a query with its right and
# its wrong titles. `below(n)` is a random number from 0 to n - 1.


class Synonym:
    """Three concepts, each with two words on either side."""
    name = "synonym"

    def __init__(self, speller):
        self.query = [speller.query(2) for _ in range(SYNONYM_CONCEPTS)]
        self.title = [speller.title(2) for _ in range(SYNONYM_CONCEPTS)]

    def pair(self, rng, below):
        a, b, c = distinct(below, SYNONYM_CONCEPTS)
        title = [self.title[a][below(2)], self.title[b][below(2)], self.title[c][below(2)]]
        rng.shuffle(title)
        return (f"{self.query[a][below(2)]} {self.query[b][below(2)]} {self.query[c][below(2)]}",
                " ".join(title))

    def judged(self, rng, below):
        query, right = self.pair(rng, below)
        used = {word for concept in self.title if set(concept) & set(right.split())
                for word in concept}
        others = [word for concept in self.title for word in concept if word not in used]
        wrong = []
        for word in rng.sample(others, CANDIDATES - 1):
            words = right.split()
            words[below(3)] = word
            wrong.append(" ".join(words))
        return query, right, wrong


class Topic:
    """Different words of one topic on both sides."""
    name = "topic"

    def __init__(self, speller):
        self.query = [speller.query(TOPIC_WORDS) for _ in range(TOPICS)]
        self.title = [speller.title(TOPIC_WORDS) for _ in range(TOPICS)]

    def pair(self, rng, below):
        topic = below(TOPICS)
        return self.three(self.query[topic], below), self.three(self.title[topic], below)

    def judged(self, rng, below):
        topic, *others = rng.sample(range(TOPICS), CANDIDATES)
        return (self.three(self.query[topic], below), self.three(self.title[topic], below),
                [self.three(self.title[other], below) for other in others])

    @staticmethod
    def three(words, below):
        return " ".join(words[i] for i in distinct(below, len(words)))


class MarkedOrder:
    """Roles of three concepts, said by the marker before each."""
    name = "order, marked"

    def __init__(self, speller):
        self.query, self.title = speller.query(ORDER_CONCEPTS), speller.title(ORDER_CONCEPTS)
        self.query_markers, self.title_markers = speller.query(3), speller.title(3)

    def pair(self, rng, below):
        concepts = distinct(below, ORDER_CONCEPTS)
        return self.phrases(self.query_markers, self.query, concepts, rng), \
            self.phrases(self.title_markers, self.title, concepts, rng)

    def judged(self, rng, below):
        concepts = distinct(below, ORDER_CONCEPTS)
        titles = [self.phrases(self.title_markers, self.title, order, rng)
                  for order in itertools.permutations(concepts)]
        return self.phrases(self.query_markers, self.query, concepts, rng), titles[0], titles[1:]

    @staticmethod
    def phrases(markers, words, concepts, rng):
        phrases = [f"{marker} {words[concept]}" for marker, concept in zip(markers, concepts)]
        rng.shuffle(phrases)
        return " ".join(phrases)


class BareOrder:
    """Roles of three concepts, said by their positions alone."""
    name = "order, bare"

    def __init__(self, speller):
        self.query, self.title = speller.query(ORDER_CONCEPTS), speller.title(ORDER_CONCEPTS)

    def pair(self, rng, below):
        blocks, size = distinct(below, ORDER_BLOCKS), ORDER_CONCEPTS // ORDER_BLOCKS
        concepts = [block * size + below(size) for block in blocks]
        return self.text(self.query, concepts), self.text(self.title, concepts)

    def judged(self, rng, below):
        size = ORDER_CONCEPTS // ORDER_BLOCKS
        block = below(ORDER_BLOCKS)
        concepts = [block * size + i for i in distinct(below, size)]
        titles = [self.text(self.title, order) for order in itertools.permutations(concepts)]
        return self.text(self.query, concepts), titles[0], titles[1:]

    @staticmethod
    def text(words, concepts):
        return " ".join(words[concept] for concept in concepts)


class Composition:
    """A title word that only modifier and noun together decide."""
    name = "composition"

    def __init__(self, speller):
        self.modifiers = [speller.query(SQUARE_SIZE) for _ in range(SQUARES)]
        self.nouns = [speller.query(SQUARE_SIZE) for _ in range(SQUARES)]
        self.words = [speller.title(SQUARE_SIZE) for _ in range(SQUARES)]
        self.query_fillers, self.title_fillers = speller.query(FILLERS), speller.title(FILLERS)
        self.squares = [latin_square(SQUARE_SIZE, speller.rng) for _ in range(SQUARES)]

    def pair(self, rng, below):
        return self.draw(below)[:2]

    def judged(self, rng, below):
        query, right, square, word, filler = self.draw(below)
        others = [w for w in self.words[square] if w != word]
        return query, right, [f"{w} {filler}" for w in rng.sample(others, CANDIDATES - 1)]

    def draw(self, below):
        square, row, column = below(SQUARES), below(SQUARE_SIZE), below(SQUARE_SIZE)
        word = self.words[square][self.squares[square][row][column]]
        filler = self.title_fillers[below(FILLERS)]
        query = (f"{self.modifiers[square][row]} {self.query_fillers[below(FILLERS)]} "
                 f"{self.nouns[square][column]}")
        return query, f"{word} {filler}", square, word, filler


def distinct(below, n):
    """Three different numbers from 0 to n - 1."""
    a, b, c = below(n), below(n), below(n)
    while a == b or a == c or b == c:
        a, b, c = below(n), below(n), below(n)
    return a, b, c


def latin_square(size, rng):
    """A random one: each row is a perfect matching of the columns with symbols
    that they do not have yet, which always exists (Hall's theorem)."""
    free = [rng.sample(range(size), size) for _ in range(size)]
    square = []
    for _ in range(size):
        column_of = {}

        def match(column, tried):
            for symbol in free[column]:
                if symbol not in tried:
                    tried.add(symbol)
                    if symbol not in column_of or match(column_of[symbol], tried):
                        column_of[symbol] = column
                        return True
            return False

        for column in rng.sample(range(size), size):
            match(column, set())
        row = [0] * size
        for symbol, column in column_of.items():
            row[column] = symbol
            free[column].remove(symbol)
        square.append(row)
    return square


def make_slices(seed):
    speller = Speller(random.Random(f"{seed} words"))
    return [kind(speller) for kind in (Synonym, Topic, MarkedOrder, BareOrder, Composition)]


def write_judged(name, slices, seed, out, known):
    """Writes the files of dev or test; its queries are not in `known`, and are
    added to it."""
    rng = random.Random(f"{seed} {name}")
    files = {part: open(out / f"{name}.{part}", "w", encoding="ascii")
             for part in ("queries.tsv", "docs.tsv", "qrels.txt", "slices.tsv")}
    for number, part in enumerate(slices):
        for i in range(JUDGED[name]):
            query, right, wrong = part.judged(rng, rng.randrange)
            while query in known:
                query, right, wrong = part.judged(rng, rng.randrange)
            known.add(query)
            query_id = f"{name}{number}-{i}"
            files["queries.tsv"].write(f"{query_id}\t{query}\n")
            files["slices.tsv"].write(f"{query_id}\t{part.name}\n")
            for j, title in enumerate([right] + wrong):
                files["docs.tsv"].write(f"{query_id}-{j}\t{title}\n")
                files["qrels.txt"].write(f"{query_id} 0 {query_id}-{j} {int(j == 0)}\n")
    for file in files.values():
        file.close()


def write_pairs(slices, seed, pairs, path, known):
    rng = random.Random(f"{seed} pairs")
    uniform = rng.random

    def below(n):  # twice as fast as randrange
        return int(uniform() * n)

    with open(path, "w", encoding="ascii") as out:
        for _ in range(pairs):
            part = slices[below(len(slices))]
            query, title = part.pair(rng, below)
            while query in known:
                query, title = part.pair(rng, below)
            out.write(f"{query}\t{title}\n")


def write_log(out, pairs, seed):
    out.mkdir(parents=True, exist_ok=True)
    slices = make_slices(seed)
    known = set()
    for name in JUDGED:
        write_judged(name, slices, seed, out, known)
    write_pairs(slices, seed, pairs, out / "train.tsv", known)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, required=True, help="training pairs")
    parser.add_argument("--out", type=pathlib.Path, required=True, help="folder of the files")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    write_log(options.out, options.pairs, options.seed)


if __name__ == "__main__":
    main()
