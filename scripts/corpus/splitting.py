"""Which source packages train, and which are held out.

The split goes by source package: the binary packages of one source have the
same descriptions, so a split by package would let the answers leak.
"""

from words import stable_hash

TRAIN, DEV, TEST = "train", "dev", "test"
# 50 of 1000 sources are for dev, 50 for test.
_DEV_BELOW, _TEST_BELOW = 50, 100

RULE = ("by source package: h = BLAKE2b-64 of (seed, source) mod 1000; h < 50 is dev, "
        "h < 100 is test, the rest is train; held-out sentences that also occur, numbers "
        "aside, in another part are dropped")


def part_of(source, seed):
    """`train`, `dev` or `test`: the same for all packages of a source."""
    place = stable_hash("split", seed, source) % 1000
    if place < _DEV_BELOW:
        return DEV
    return TEST if place < _TEST_BELOW else TRAIN
