#!/usr/bin/env python3
"""Makes two collections of linked documents out of the package catalogue.

    build_link_corpora.py --lists=demo/corpus.apt --output=demo

As the document-document experiments of SSI (Bai et al., 2009), tables 3 to 5, on
packages in place of Wikipedia pages: a document is the name and the description of a
package, a link is its `Depends` on a package of another source. The query is a
document; relevant are those that it links to.

  links     70 % of the links are for training, the others for the test; both have
            the same documents (tables 3 and 4)
  disjoint  30 % of the source packages are for the test: training has the links
            among the others, the test those among these (table 5)

Packages on which more than --max_dependents others depend are not targets, as the paper
removes links to years: they say little. Ranked are the documents that links
lead to, and 10,000 others. Each folder has docs.tsv, train.tsv, dev.queries.tsv and
dev.qrels.txt. The same lists and seed give the same bytes.
"""
import argparse
import collections
import sys
from pathlib import Path

sys.dont_write_bytecode = True  # leave the source tree as it is

from apt_catalogue import AptCatalogue  # noqa: E402
from apt_records import parse_records, read_packages  # noqa: E402
from build_tag_corpora import write_collection  # noqa: E402
from titles import title_of  # noqa: E402
from words import stable_hash, stable_sample, words_of  # noqa: E402

TEST_PERCENT = 30


def names_of(depends):
    """The packages of a Depends field, of alternatives the first."""
    for part in depends.replace("\n", " ").split(","):
        name = part.split("|")[0].split("(")[0].strip().partition(":")[0]
        if name:
            yield name


def read_links(package_records, packages, max_dependents):
    """(from, to) of packages of different sources, sorted."""
    source_of = {package.name: package.source for package in packages}
    links = set()
    for record in parse_records(package_records, ("Package", "Depends")):
        name = record.get("Package")
        for other in names_of(record.get("Depends", "")):
            if name in source_of and source_of.get(other, source_of[name]) != source_of[name]:
                links.add((name, other))
    dependents = collections.Counter(other for _, other in links)
    return sorted(link for link in links if dependents[link[1]] <= max_dependents)


def text_of(package, max_words):
    return " ".join(words_of(f"{title_of(package)} {package.description}")[:max_words])


def split_links(links, seed):
    """Training and test links, which share documents."""
    test = {link for link in links if stable_hash("link", seed, *link) % 100 < TEST_PERCENT}
    return [link for link in links if link not in test], sorted(test)


def split_documents(links, source_of, seed):
    """Training and test links, between which there is no link."""
    def is_test(name):
        return stable_hash("document", seed, source_of[name]) % 100 < TEST_PERCENT
    return ([link for link in links if not any(map(is_test, link))],
            [link for link in links if all(map(is_test, link))])


def make_collection(packages, split, options):
    """What write_collection writes."""
    train, test = split
    names = stable_sample(sorted({name for name, _ in test}), options.queries, "query", options.seed)
    wanted = set(names)
    relevant = [link for link in test if link[0] in wanted]
    linked = {other for _, other in relevant}
    others = stable_sample([name for name in packages if name not in linked], options.others,
                           "other", options.seed)
    text = {name: text_of(package, options.words) for name, package in packages.items()}
    sampled = set(stable_sample([" ".join(link) for link in train], options.pairs, "pair", options.seed))
    return ([(name, text[name]) for name in sorted(linked.union(others))],
            [(text[a], text[b]) for a, b in train if f"{a} {b}" in sampled],
            [(name, text[name]) for name in names],
            [(a, b, 1) for a, b in relevant])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lists", required=True, type=Path, metavar="DIR", help="folder with apt's package lists")
    parser.add_argument("--output", required=True, type=Path, metavar="DIR",
                        help="folder in which `links` and `disjoint` are made")
    parser.add_argument("--max_dependents", type=int, default=100, help="(default: 100)")
    parser.add_argument("--words", type=int, default=100, help="of a document, at most (default: 100)")
    parser.add_argument("--pairs", type=int, default=1 << 30, help="for training, at most (default: all)")
    parser.add_argument("--queries", type=int, default=1000, help="at most (default: 1000)")
    parser.add_argument("--others", type=int, default=10000,
                        help="documents without a link among those ranked (default: 10000)")
    parser.add_argument("--seed", type=int, default=1, help="decides every draw (default: 1)")
    options = parser.parse_args()
    catalogue = AptCatalogue(options.lists)
    if not catalogue.is_complete():
        catalogue.fetch()
    records = catalogue.package_records()
    packages = {p.name: p for p in read_packages(records, catalogue.description_records())}
    links = read_links(records, packages.values(), options.max_dependents)
    source_of = {name: package.source for name, package in packages.items()}
    for name, split in (("links", split_links(links, options.seed)),
                        ("disjoint", split_documents(links, source_of, options.seed))):
        write_collection(options.output / name, make_collection(packages, split, options))


if __name__ == "__main__":
    main()
