#!/usr/bin/env python3
"""Makes two small judged collections out of the tags of the package catalogue.

    build_tag_corpora.py --lists=demo/corpus.apt --output=demo

They differ in kind from the corpus of build_package_corpus.py, so that a recipe
which is good there alone is noticed:

  popular   few titles with many clicks: the query is the synopsis of a program,
            the titles are the tags that Debian's volunteers gave it, of about
            370 that there are; two pairs in five have one of the 20 most frequent
  graded    graded judgements: the query is the synopsis of a program, the
            documents are the names and synopses of others; grade 2 for nearly the
            same tags, 1 for some of them, 0 for judged ones with few or none.
            Half of the judged documents share words with the query.

Each folder has docs.tsv, train.tsv, dev.queries.tsv and dev.qrels.txt; `graded`
is for --candidates=judged. One source package in ten is for dev. The same lists
and seed give the same bytes. The lists are those that build_package_corpus.py
fetched.
"""
import argparse
import collections
import sys
from pathlib import Path

sys.dont_write_bytecode = True  # leave the source tree as it is

from apt_catalogue import AptCatalogue  # noqa: E402
from apt_records import parse_records, read_packages  # noqa: E402
from titles import title_of  # noqa: E402
from words import STOP_WORDS, stable_hash, stable_sample, words_of  # noqa: E402

# What a program is for, not how it is made.
FACETS = frozenset("""admin biology devel field game hardware mail network office protocol science security sound
use web works-with works-with-format""".split())
MIN_TAGS = 2
DEV_SHARE = 10
DEV_QUERIES = 500
JUDGED_OF_A_KIND = 20
# Most pairs of one query in train.tsv of `graded`.
MAX_PAIRS = 8
# Shares of common tags (Jaccard) from which a document has the grade.
GRADE_2, GRADE_1 = 0.7, 0.34


def read_programs(catalogue):
    """{name: (package, tags)} of the programs that have tags of FACETS."""
    records = catalogue.package_records()
    tags_of = {}
    for record in parse_records(records, ("Package", "Tag")):
        tags = {tag for tag in record.get("Tag", "").replace("\n", " ").replace(",", " ").split()}
        wanted = {tag for tag in tags if tag.partition("::")[0] in FACETS and not tag.endswith("::TODO")}
        if "role::program" in tags and len(wanted) >= MIN_TAGS:
            tags_of[record["Package"]] = frozenset(wanted)
    packages = read_packages(records, catalogue.description_records())
    return {p.name: (p, tags_of[p.name]) for p in packages if p.name in tags_of and p.synopsis}


def is_dev(package, seed):
    return stable_hash("tag corpora", seed, package.source) % DEV_SHARE == 0


def dev_names(programs, seed):
    names = [name for name, (package, _) in programs.items() if is_dev(package, seed)]
    return stable_sample(names, DEV_QUERIES, "dev", seed)


def words_of_tag(tag):
    """"works-with::image:raster" as a person would say it."""
    return " ".join(words_of(tag.replace("-", " ").replace(":", " ")))


def make_popular(programs, seed):
    tags = sorted({tag for _, tags in programs.values() for tag in tags})
    docs = [(tag, words_of_tag(tag)) for tag in tags]
    train = [(package.synopsis, words_of_tag(tag)) for package, tags in programs.values()
             if not is_dev(package, seed) for tag in sorted(tags)]
    queries = [(name, programs[name][0].synopsis) for name in dev_names(programs, seed)]
    qrels = [(name, tag, 1) for name, _ in queries for tag in sorted(programs[name][1])]
    return docs, train, queries, qrels


class Relations:
    """Which programs have tags or words in common."""

    def __init__(self, programs):
        self.programs = programs
        self.with_tag = collections.defaultdict(list)
        self.with_word = collections.defaultdict(list)
        for name, (package, tags) in programs.items():
            for tag in tags:
                self.with_tag[tag].append(name)
            for word in set(words_of(package.synopsis)) - STOP_WORDS:
                self.with_word[word].append(name)

    def graded(self, name):
        """{other: grade} of those of other sources that share a tag or a word."""
        package, tags = self.programs[name]
        by_tag = {other for tag in tags for other in self.with_tag[tag]}
        by_word = self.sharing_words(name)
        grades = {}
        for other in sorted(by_tag | by_word):
            other_package, other_tags = self.programs[other]
            if other_package.source == package.source:
                continue
            share = len(tags & other_tags) / len(tags | other_tags)
            grades[other] = 2 if share >= GRADE_2 else 1 if share >= GRADE_1 else 0
        return grades

    def sharing_words(self, name):
        words = set(words_of(self.programs[name][0].synopsis)) - STOP_WORDS
        return {other for word in words for other in self.with_word[word]}

    def judged(self, name, seed):
        """{other: grade} of at most JUDGED_OF_A_KIND of each kind."""
        grades = self.graded(name)
        sharing = self.sharing_words(name)
        chosen = {}
        for kind in ((grade, shares) for grade in (2, 1, 0) for shares in (True, False)):
            others = [o for o, grade in grades.items() if (grade, o in sharing) == kind]
            for other in stable_sample(others, JUDGED_OF_A_KIND, "judged", seed, name):
                chosen[other] = grades[other]
        return chosen


def make_graded(programs, seed):
    relations = Relations(programs)
    docs = [(name, title_of(package)) for name, (package, _) in programs.items()]
    train = []
    for name, (package, _) in programs.items():
        if is_dev(package, seed):
            continue
        good = [other for other, grade in relations.graded(name).items()
                if grade == 2 and not is_dev(programs[other][0], seed)]
        train += [(package.synopsis, title_of(programs[other][0]))
                  for other in stable_sample(good, MAX_PAIRS, "train", seed, name)]
    queries, qrels = [], []
    for name in dev_names(programs, seed):
        grades = relations.judged(name, seed)
        if any(grades.values()):
            queries.append((name, programs[name][0].synopsis))
            qrels += [(name, other, grade) for other, grade in sorted(grades.items())]
    return docs, train, queries, qrels


def write_collection(folder, collection):
    folder.mkdir(parents=True, exist_ok=True)
    docs, train, queries, qrels = collection
    lines = {"docs.tsv": docs, "train.tsv": train, "dev.queries.tsv": queries,
             "dev.qrels.txt": [(query, 0, document, grade) for query, document, grade in qrels]}
    for name, rows in lines.items():
        text = "".join("\t".join(map(str, row)) + "\n" for row in rows)
        (folder / name).write_text(text, encoding="utf-8")
    print(f"{folder}: {len(docs):,} documents, {len(train):,} training pairs, {len(queries):,} dev queries",
          file=sys.stderr)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lists", required=True, type=Path, metavar="DIR",
                        help="folder with apt's package lists")
    parser.add_argument("--output", required=True, type=Path, metavar="DIR",
                        help="folder in which `popular` and `graded` are made")
    parser.add_argument("--seed", type=int, default=1, help="decides the split and every draw (default: 1)")
    options = parser.parse_args()
    programs = read_programs(AptCatalogue(options.lists))
    write_collection(options.output / "popular", make_popular(programs, options.seed))
    write_collection(options.output / "graded", make_graded(programs, options.seed))


if __name__ == "__main__":
    main()
