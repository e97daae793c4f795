"""Reads WordNet's files (wndb(5WN)) and makes training pairs of its synsets."""

import re
from dataclasses import dataclass

_PARTS = ("noun", "verb", "adj", "adv")
_EXAMPLE = re.compile(r'"([^"]*)"')
# "galore(ip)": where an adjective may stand.
_MARKER = re.compile(r"\((?:a|p|ip)\)$")


@dataclass(frozen=True)
class Synset:
    """Words of one meaning, what it is, and sentences that use it."""

    lemmas: tuple
    gloss: str
    examples: tuple


def parse_synset(line):
    """The synset of a line of a data file, which gives the number of words in
    hex, then word and lex_id in turn, and the gloss after a bar."""
    data, _, text = line.partition(" | ")
    fields = data.split()
    count = int(fields[3], 16)
    words = [_MARKER.sub("", word).replace("_", " ") for word in fields[4:4 + 2 * count:2]]
    gloss = _EXAMPLE.sub("", text)
    return Synset(tuple(dict.fromkeys(words)), " ".join(gloss.replace(";", " ; ").split()).strip(" ;-"),
                  tuple(" ".join(example.split()) for example in _EXAMPLE.findall(text)))


def read_synsets(folder):
    """Every synset of the data files in `folder`, in their order."""
    for part in _PARTS:
        with open(folder / f"data.{part}", encoding="utf-8") as lines:
            for line in lines:
                # The licence stands before the first synset, indented.
                if not line.startswith(" "):
                    yield parse_synset(line)


def pairs_of(synset):
    """(query, title) pairs: a word finds its meaning and the words beside it, a
    meaning its words, a sentence the words that it uses."""
    words = ", ".join(synset.lemmas)
    for lemma in synset.lemmas:
        yield lemma, synset.gloss
        others = [other for other in synset.lemmas if other != lemma]
        if others:
            yield lemma, ", ".join(others)
    yield synset.gloss, words
    for example in synset.examples:
        yield example, f"{words}: {synset.gloss}"
