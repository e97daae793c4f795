#!/usr/bin/env python3
"""Writes a click log of any size, to measure training on: queries of 3 and
titles of 8 made-up words, word r about r times rarer than the first.

  make_click_log.py 20000000 > clicks.tsv
"""

import itertools
import random
import sys


def make_words(rng, count):
    letters = "etaoinshrdlcumwfgypbvk"
    return ["".join(rng.choices(letters, k=rng.randint(3, 9))) for _ in range(count)]


def main():
    if len(sys.argv) != 2 or not sys.argv[1].isdigit():
        sys.exit(__doc__)
    rng = random.Random(1)
    words = make_words(rng, 100_000)
    weights = list(itertools.accumulate(1 / rank for rank in range(1, len(words) + 1)))
    left = int(sys.argv[1])
    while left > 0:
        count = min(left, 50_000)
        drawn = rng.choices(words, cum_weights=weights, k=11 * count)
        lines = (
            f"{' '.join(drawn[i:i + 3])}\t{' '.join(drawn[i + 3:i + 11])}\t{i % 7 + 1}\n"
            for i in range(0, len(drawn), 11)
        )
        sys.stdout.write("".join(lines))
        left -= count


if __name__ == "__main__":
    main()
