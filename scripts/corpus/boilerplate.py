"""Separates sentences about a package from those that every package has.

A sentence is omitted when
  * it occurs in three or more source packages once the package's own name
    and all numbers are masked ("This package contains the shared library"),
  * it speaks of packaging, not of the program (transitional packages, debug
    symbols, where the home page is), or
  * fewer than two of its words carry meaning.
"""

import re
from collections import defaultdict

from words import STOP_WORDS, sentence_key, words_of

MIN_SOURCES = 3
MIN_INFORMATIVE_WORDS = 2

# Words of packaging: they say what kind of package it is, not what it is for.
PACKAGING_WORDS = frozenset("""
package packages packaged metapackage meta contain contains containing include
includes included including provide provides provided providing ship ships
install installs installed installing installation library libraries shared
static header headers development dev devel runtime file files binary binaries
module modules binding bindings documentation doc docs manual manpages example
examples debug debugging symbols source sources version versions upstream
common support supports supported plugin plugins data tool tools need needed
needs require required requires build building compile compiling program
programs application applications software project features feature available
following based written part implementation new see also note depends depend
dependency dependencies debian ubuntu
""".split())

_RULES = re.compile(
    r"\btransitional\b|\bdummy package|\bmeta-?package|\bempty package|\bsafely (?:be )?removed"
    r"|\bdebug(?:ging)? symbols?\b|\bdetached debug|\bupgrade path|\bvirtual package"
    r"|\bthis package is (?:part of|needed|only|for|not)\b|\bcan be found (?:at|in|on)\b"
    r"|https?:|\bwww\.|@[\w-]+\.|/usr/|\bhome ?page\b|\bfurther information\b"
    r"|\bmore (?:information|details|info)\b|\bbugs?\.debian|\bthe following (?:packages|binar)",
    re.IGNORECASE)


class NameMask:
    """The words by which each source package calls itself."""

    def __init__(self, packages):
        self._words = defaultdict(set)
        for package in packages:
            self._words[package.source].update(
                word for word in words_of(f"{package.name} {package.source}")
                if len(word) > 2 and word not in STOP_WORDS)

    def masked_key(self, source, words):
        """The sentence with the source's own name words made anonymous."""
        own = self._words[source]
        return sentence_key(["@" if word in own else word for word in words])

    def informative_words(self, source, words):
        """The words that say something beside the name of the package."""
        own = self._words[source]
        return [word for word in words if word not in own and is_content_word(word)]


def is_content_word(word):
    """False for function words, words of packaging, numbers and letters."""
    return (len(word) > 1 and not word.isdigit()
            and word not in STOP_WORDS and word not in PACKAGING_WORDS)


class BoilerplateFilter:
    """Made from all sentences of all packages; then asked about each."""

    def __init__(self, name_mask):
        self._mask = name_mask
        self._sources = defaultdict(set)

    def count(self, source, words):
        """Notes that `source` has the sentence made of `words`."""
        self._sources[self._mask.masked_key(source, words)].add(source)

    def reason(self, source, sentence, words):
        """Why the sentence is boilerplate ("frequent", "packaging" or
        "says_little"); None when it is worth having."""
        if len(self._sources[self._mask.masked_key(source, words)]) >= MIN_SOURCES:
            return "frequent"
        if _RULES.search(sentence):
            return "packaging"
        if len(set(self._mask.informative_words(source, words))) < MIN_INFORMATIVE_WORDS:
            return "says_little"
        return None
