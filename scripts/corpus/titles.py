"""Package names and synopses to document titles."""

import re

_SEPARATORS = re.compile(r"[-_.:]+")


def name_in_words(name):
    """`python3-numpy` -> `python3 numpy`: a name as a person would say it."""
    return " ".join(_SEPARATORS.sub(" ", name).split())


def title_of(package):
    """`gimp: GNU Image Manipulation Program`. Never contains a TAB, because
    the synopsis was reduced to single blanks when it was read."""
    if not package.synopsis:
        return name_in_words(package.name)
    return f"{name_in_words(package.name)}: {package.synopsis}"
