"""Writes a corpus folder: whole or not at all.

Files are written into `<folder>.partial` and synced; only then does that
folder take the place of the old one, so a killed run leaves nothing half.
"""

import json
import os
import shutil
from pathlib import Path

from splitting import DEV, TEST

FILES = ("docs.tsv", "train.tsv", "dev.queries.tsv", "dev.qrels.txt", "dev.slices.tsv",
         "test.queries.tsv", "test.qrels.txt", "test.slices.tsv", "corpus.json")


class OutputError(OSError):
    """The folder cannot be written; the message says why."""


def check_replaceable(folder):
    """Refuses a folder that holds anything this program does not write."""
    folder = Path(folder)
    if not folder.exists():
        return
    if not folder.is_dir():
        raise OutputError(f"{folder} is there and is not a folder")
    strangers = sorted(entry.name for entry in folder.iterdir() if entry.name not in FILES)
    if strangers:
        raise OutputError(f"{folder} holds {strangers[0]}, which is not part of a corpus: "
                          "name another folder, this one would be replaced as a whole")


def write_corpus(corpus, facts, folder):
    """Replaces `folder` by the corpus; `facts` goes into corpus.json."""
    folder = Path(folder)
    check_replaceable(folder)
    partial = folder.with_name(folder.name + ".partial")
    replaced = folder.with_name(folder.name + ".replaced")
    for leftover in (partial, replaced):
        shutil.rmtree(leftover, ignore_errors=True)
    partial.mkdir(parents=True)
    try:
        _write_lines(partial / "docs.tsv", corpus.docs)
        _write_lines(partial / "train.tsv", corpus.train)
        for part in (DEV, TEST):
            queries = corpus.held_out[part]
            _write_lines(partial / f"{part}.queries.tsv", ((q.query_id, q.text) for q in queries))
            _write_lines(partial / f"{part}.qrels.txt",
                         ((q.query_id, "0", name, "1") for q in queries for name in q.relevant),
                         separator=" ")
            _write_lines(partial / f"{part}.slices.tsv", ((q.query_id, q.slice) for q in queries))
        _write_text(partial / "corpus.json", json.dumps(facts, indent=2, sort_keys=True) + "\n")
        if folder.exists():
            folder.rename(replaced)
        partial.rename(folder)
    finally:
        for leftover in (partial, replaced):
            shutil.rmtree(leftover, ignore_errors=True)


def _write_lines(path, rows, separator="\t"):
    _write_text(path, "".join(separator.join(row) + "\n" for row in rows))


def _write_text(path, text):
    with open(path, "w", encoding="utf-8", newline="\n") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
