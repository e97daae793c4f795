"""Collections made out of another one: part of its training pairs, and queries of
a few words.

The choice depends on the seed and the text alone: a smaller share of the pairs
is part of a larger one, and a text keeps the same words wherever it stands.
"""
from words import stable_hash


def sample_pairs(source, share, seed, target):
    """Copies that share (0 to 1) of the lines of a file."""
    with open(source, encoding="utf-8") as lines, open(target, "w", encoding="utf-8") as out:
        for number, line in enumerate(lines):
            if stable_hash("share", seed, number) < share * 2**64:
                out.write(line)


def keep_words(text, count, seed):
    """`count` random words of the text, in their order; all if it has no more."""
    words = text.split()
    ranks = sorted(range(len(words)), key=lambda i: (stable_hash("word", seed, text, i), i))
    return " ".join(words[i] for i in sorted(ranks[:count]))


def shorten_queries(source, column, count, seed, target):
    """Copies a file of tab-separated fields with `count` words in that column."""
    with open(source, encoding="utf-8") as lines, open(target, "w", encoding="utf-8") as out:
        for line in lines:
            fields = line.rstrip("\n").split("\t")
            fields[column] = keep_words(fields[column], count, seed)
            out.write("\t".join(fields) + "\n")
