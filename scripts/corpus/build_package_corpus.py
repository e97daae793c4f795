#!/usr/bin/env python3
"""Makes a search corpus out of the package catalogue of this machine's apt."""

import argparse
import sys
import time
from pathlib import Path

sys.dont_write_bytecode = True  # leave the source tree as it is

from apt_catalogue import AptCatalogue, CatalogueError  # noqa: E402
from apt_records import read_packages  # noqa: E402
from corpus_builder import build_corpus  # noqa: E402
from corpus_program import fetch_lists, folder_parser, run, say  # noqa: E402
from corpus_writer import FILES, check_replaceable, write_corpus  # noqa: E402
from splitting import DEV, RULE, TEST  # noqa: E402

_DESCRIPTION = """\
Makes a real search corpus out of the package catalogue that every Debian and
Ubuntu machine can fetch: about 63,000 packages on Debian 12, each with a name,
a one-line synopsis and a long description.

  document   one package; title = name in words + synopsis
  query      a sentence of the long description, or a few content words of one
  answer     the package (or packages) whose description has the sentence

Held-out queries come from source packages that give no training pair, so a
model is measured on programs that it has never seen.
"""

_EPILOG = """\
files in OUTPUT:
  docs.tsv            package name TAB title, all packages
  train.tsv           query TAB title
  dev.queries.tsv     query id TAB query; ids say the sort: dev-s0001 is a
                      sentence, dev-k0001 is keywords, dev-w0001 is one word,
                      dev-n0001 is a package's name, dev-t0001 one with a typo
  dev.qrels.txt       TREC judgements: query id, 0, package name, 1
  dev.slices.tsv      query id TAB sentence, short, one word, names or one typo
  test.queries.tsv, test.qrels.txt, test.slices.tsv
                      the same for the test part: look at it once, at the end
  corpus.json         where it came from, the split rule, counts of everything

The lists are fetched once (about 16 MB) with apt-get into a folder of their
own: the machine's apt is left alone and root is not needed. The same lists and
the same seed give the same bytes.

examples:
  build_package_corpus.py --output=demo/corpus
  build_package_corpus.py --output=demo/corpus --refresh   # newer packages
  build_package_corpus.py --output=/tmp/other --lists=demo/corpus.apt --seed=2

exit code: 0 done, 1 failed, 2 wrong use
"""


def main():
    """Returns the exit code."""
    parser = folder_parser(
        _DESCRIPTION, _EPILOG, "folder to write; an older corpus there is replaced",
        "folder for apt's package lists; lists that are there are used again without the network")
    parser.add_argument("--refresh", action="store_true",
                        help="bring the package lists up to date first")
    parser.add_argument("--seed", type=int, default=1,
                        help="decides the split and every draw (default: 1)")
    parser.add_argument("--queries", type=_positive, default=2000, metavar="N",
                        help="most held-out sentences and keywords, for dev and test each "
                        "(default: 2000)")
    return run(parser, _make_corpus)


def _positive(text):
    number = int(text)
    if number < 2:
        raise argparse.ArgumentTypeError(f"{number} is too few, at least 2 are needed")
    return number


def _make_corpus(options):
    started = time.monotonic()
    check_replaceable(options.output)
    catalogue = AptCatalogue(options.lists)
    _provide_lists(catalogue, options)

    say("Reading the catalogue ...")
    packages = read_packages(catalogue.package_records(), catalogue.description_records())
    if not packages:
        raise CatalogueError(f"the lists in {options.lists} name no package; try --refresh")
    say(f"  {len(packages):,} packages. Making queries of their descriptions ...")
    corpus = build_corpus(packages, options.seed, options.queries)
    for part in (DEV, TEST):
        if not corpus.held_out[part]:
            raise CatalogueError(f"{len(packages):,} packages are too few: no {part} query")
    facts = {"source": _source_facts(catalogue), "seed": options.seed, "split": RULE,
             "counts": corpus.counts}
    write_corpus(corpus, facts, options.output)
    _report(corpus, options.output, time.monotonic() - started)


def _provide_lists(catalogue, options):
    if catalogue.is_complete() and not options.refresh:
        say(f"Package lists: using those in {options.lists}")
        return
    fetch_lists(catalogue, options.lists)


def _source_facts(catalogue):
    return [{"list": target["Created-By"], "from": target["Description"],
             "origin": target.get("Origin", ""), "release": target.get("Version", ""),
             "bytes_stored": Path(target["Filename"]).stat().st_size}
            for target in catalogue.index_targets()]


def _report(corpus, folder, seconds):
    counts = corpus.counts
    parts = counts["sources_per_part"]
    say(f"  {counts['sources']:,} source packages: {parts['train']:,} train, "
         f"{parts['dev']:,} dev, {parts['test']:,} test")
    say(f"  {len(corpus.docs):,} documents, {len(corpus.train):,} training pairs, "
         f"{len(corpus.held_out[DEV]):,} dev and {len(corpus.held_out[TEST]):,} test queries")
    say("  for example:")
    for query in (corpus.held_out[DEV][0], corpus.held_out[DEV][-1]):
        say(f"    \"{query.text}\" -> {', '.join(query.relevant)}")
    say(f"Wrote {', '.join(FILES)} to {folder} in {seconds:.0f} s")


if __name__ == "__main__":
    sys.exit(main())
