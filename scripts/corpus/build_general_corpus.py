#!/usr/bin/env python3
"""Makes the training pairs of the general English model."""

import hashlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

sys.dont_write_bytecode = True  # leave the source tree as it is

from apt_catalogue import AptCatalogue  # noqa: E402
from apt_records import read_packages  # noqa: E402
from build_tag_corpora import is_dev  # noqa: E402
from corpus_program import fetch_lists, folder_parser, run, say  # noqa: E402
from sentences import sentences_of  # noqa: E402
from splitting import TRAIN, part_of  # noqa: E402
from titles import name_in_words, title_of  # noqa: E402
from wordnet import pairs_of, read_synsets  # noqa: E402

_DESCRIPTION = """\
Makes pairs of texts that mean the same, of two sources that every Debian machine
can fetch and whose licences let models be passed on:

  WordNet    a word -> its meaning, and -> the other words of that meaning; a
             meaning -> its words; a sentence -> the words that it uses
  packages   the name of a Debian package -> its synopsis and the reverse; the
             first sentences of its description -> name and synopsis

A model that learns them knows general English before it has seen a click.
"""

_EPILOG = """\
files in OUTPUT:
  train.tsv      text TAB text, for semrank-train --preset=general
  NOTICE         WordNet's licence, which goes with every copy of the model
  corpus.json    where it came from: counts, and sums of the files that were read

Package lists (16 MB) and WordNet (6 MB) are fetched once with apt-get into a
folder of their own; the machine's apt is left alone and root is not needed. The
same lists give the same bytes.

examples:
  build_general_corpus.py --output=demo/general
  build_general_corpus.py --output=demo/general --lists=demo/corpus.apt
  build_general_corpus.py --output=/tmp/judged --without_held_out=1
                         # to judge on a corpus of build_package_corpus.py or
                         # build_tag_corpora.py, --seed=1

exit code: 0 done, 1 failed, 2 wrong use
"""

# Sentences of a description that become queries.
_SENTENCES = 2
_WORDNET = "wordnet-base"


def main():
    """Returns the exit code."""
    parser = folder_parser(
        _DESCRIPTION, _EPILOG, "folder to write; files of an older corpus there are replaced",
        "folder for apt's package lists and WordNet; what is there is used again without the network")
    parser.add_argument("--wordnet", type=Path, metavar="DIR",
                        help="root of an unpacked wordnet-base, in place of a fetched one")
    parser.add_argument("--without_held_out", type=int, metavar="SEED",
                        help="leave out the packages that build_package_corpus.py or build_tag_corpora.py "
                        "--seed=SEED holds out")
    return run(parser, _make_corpus)


def _make_corpus(options):
    catalogue = AptCatalogue(options.lists)
    if not catalogue.is_complete():
        fetch_lists(catalogue, options.lists)
    root = options.wordnet or _unpacked_wordnet(catalogue, options.lists)
    packages = read_packages(catalogue.package_records(), catalogue.description_records())
    if options.without_held_out is not None:
        packages = [package for package in packages
                    if not is_held_out(package, options.without_held_out)]
    words = [pair for synset in read_synsets(root / "usr/share/wordnet") for pair in pairs_of(synset)]
    named = [pair for package in packages for pair in package_pairs(package)]
    pairs = list(dict.fromkeys(pair for pair in words + named if _is_usable(pair)))
    _write(options.output, pairs, _notice(root), {
        "packages": len(packages), "pairs": len(pairs), "pairs_of_packages": len(named),
        "pairs_of_wordnet": len(words), "wordnet_data_noun_sha256": _sha256(root / "usr/share/wordnet/data.noun"),
        "without_held_out": options.without_held_out})
    say(f"Wrote {len(pairs):,} pairs to {options.output / 'train.tsv'}")


def is_held_out(package, seed):
    """Whether a collection of packages asks for it."""
    return part_of(package.source, seed) != TRAIN or is_dev(package, seed)


def package_pairs(package):
    """(query, title) pairs of one package."""
    name = name_in_words(package.name)
    if package.synopsis:
        yield name, package.synopsis
        yield package.synopsis, name
    for number, sentence in enumerate(sentences_of(package.description)):
        if number == _SENTENCES:
            break
        yield sentence, title_of(package)


def _is_usable(pair):
    return all(any(letter.isalnum() for letter in text) and "\t" not in text for text in pair)


def _unpacked_wordnet(catalogue, folder):
    root = folder / _WORDNET
    if not (root / "usr/share/wordnet/data.noun").exists():
        say(f"WordNet: fetching {_WORDNET} with apt-get (6 MB) ...")
        deb = catalogue.download(_WORDNET)
        partial = root.with_name(root.name + ".partial")
        shutil.rmtree(partial, ignore_errors=True)
        subprocess.run(["dpkg-deb", "-x", deb, partial], check=True)
        shutil.rmtree(root, ignore_errors=True)
        partial.rename(root)
    return root


def _notice(root):
    licence = (root / "usr/share/doc/wordnet-base/copyright").read_text(encoding="utf-8")
    return ("This model was trained on texts of WordNet 3.0 and on names and descriptions of Debian\n"
            "packages. The licence of WordNet, as Debian's package has it, follows.\n\n" + licence)


def _sha256(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _write(folder, pairs, notice, facts):
    """Each file is renamed into place when it is whole."""
    folder.mkdir(parents=True, exist_ok=True)
    texts = {"NOTICE": notice, "corpus.json": json.dumps(facts, indent=2, sort_keys=True) + "\n",
             "train.tsv": "".join(f"{query}\t{title}\n" for query, title in pairs)}
    for name, text in texts.items():
        partial = folder / f"{name}.partial"
        partial.write_text(text, encoding="utf-8")
        os.replace(partial, folder / name)


if __name__ == "__main__":
    sys.exit(main())
