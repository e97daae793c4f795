"""Long descriptions to sentences.

A description is paragraphs of lines that begin with one blank, parted by
" ."; lines with more blanks, or that begin with a bullet, are items of a
list (Debian policy 5.6.13 and custom).
"""

import re

_BULLET = re.compile(r"^\s*(?:[*+o\u2022-]|\d+[.)])\s+")
_SENTENCE_END = re.compile(r"(?<=[.!?])[\"')\]]*\s+(?=[\"'(\[]?[A-Z0-9])")
_ABBREVIATION = re.compile(r"(?:\b(?:e\.g|i\.e|etc|vs|cf|resp|incl|approx|esp|Dr|Mr|Ms|St|No|Inc|"
                           r"Ltd|Co|Corp|ver|fig|al)|\b[A-Z])\.$")


def blocks_of(description):
    """Paragraphs and list items of a description, each as one line."""
    block = []
    for line in description.split("\n"):
        text = line.strip()
        if text in ("", "."):
            starts_new, text = True, ""
        elif match := _BULLET.match(line):
            starts_new, text = True, line[match.end():].strip()
        else:
            starts_new = False
        if starts_new and block:
            yield " ".join(" ".join(block).split())
            block = []
        if text:
            block.append(text)
    if block:
        yield " ".join(" ".join(block).split())


def split_sentences(block):
    """The sentences of one paragraph. Abbreviations and initials do not end
    a sentence; when in doubt, two sentences stay one."""
    sentence = ""
    for piece in _SENTENCE_END.split(block):
        sentence = f"{sentence} {piece}" if sentence else piece
        if not _ABBREVIATION.search(piece):
            yield sentence
            sentence = ""
    if sentence:
        yield sentence


def sentences_of(description):
    """Every sentence and list item of a description, in order."""
    for block in blocks_of(description):
        yield from split_sentences(block)
