"""Words of a text, and choices that are the same in every run.

Everything random in the corpus is decided by `stable_hash`, never by the
`random` module or by `hash()`: the first may change between Python versions,
the second changes with every process.
"""

import hashlib
import re
import unicodedata

_WORD = re.compile(r"[^\W_]+")
_APOSTROPHES = re.compile(r"['\u2019]")
_DIGITS = re.compile(r"[0-9]+")

# Function words of English: never the content of a search.
STOP_WORDS = frozenset("""
a about above after again against all allow allowing allows almost along
already also although am among an and another any are aren around as at based
be became because been before being below between both but by can cannot could
did do does doesn doing don done down during each either else especially etc
even every few for from further get gets give given gives had has have having
he hence her here him his how however i if in instead into is isn it its itself
just like made make makes making many may me might more most much must my
nearly neither no nor not now of off on once one only onto or other others our
out over own per quite rather s same several she should since so some such t
than that the their them then there therefore these they this those though
through thus to together too toward towards two under until up upon us use used
useful uses using usually various very via was we well were what when where
whether which while who whole whose why will with within without won would yet
you your yours
""".split())


def words_of(text):
    """The words of `text`, folded as the ranker folds them: NFKC, lower case,
    letters and numbers only, apostrophes dropped."""
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text)
    return _WORD.findall(_APOSTROPHES.sub("", text.casefold()))


def sentence_key(words):
    """What makes two sentences the same: their words, whatever the numbers.
    "Version 11 of the compiler" and "version 12 of the compiler" are one."""
    return _DIGITS.sub("0", " ".join(words))


def stable_hash(*parts):
    """A 64-bit number that depends on `parts` (strings or ints) alone."""
    joined = "\x1f".join(str(part) for part in parts)
    digest = hashlib.blake2b(joined.encode("utf-8"), digest_size=8).digest()
    return int.from_bytes(digest, "little")


def stable_sample(items, count, *salt):
    """At most `count` of the distinct strings `items`, chosen by hash and
    returned in their old order."""
    if len(items) <= count:
        return list(items)
    chosen = set(sorted(items, key=lambda item: (stable_hash(*salt, item), item))[:count])
    return [item for item in items if item in chosen]
