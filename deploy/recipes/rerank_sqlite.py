#!/usr/bin/env python3
"""Finds titles with SQLite's full-text search and prints the best of 100, in semrank's order.

DATABASE is made of a file with "doc_id<TAB>title" lines: rerank_sqlite.py DATABASE --index=docs.tsv
"""
import argparse
import json
import re
import sqlite3
import urllib.request

CANDIDATES = 100


def index(database: sqlite3.Connection, path: str) -> None:
    with database, open(path, encoding="utf-8") as lines:
        database.execute("CREATE VIRTUAL TABLE IF NOT EXISTS documents USING fts5(id UNINDEXED, title, tokenize = porter)")
        database.execute("DELETE FROM documents")
        database.executemany("INSERT INTO documents VALUES (?, ?)", (line.rstrip("\n").split("\t", 1) for line in lines if "\t" in line))


def find(database: sqlite3.Connection, query: str) -> list[tuple[str, str]]:
    # Quotes make a word of whatever a user types; OR, because semrank decides the order.
    words = " OR ".join(f'"{word}"' for word in re.findall(r"\w+", query))
    return database.execute("SELECT id, title FROM documents WHERE documents MATCH ? ORDER BY rank LIMIT ?",
                            (words, CANDIDATES)).fetchall() if words else []


def rerank(semrank: str, query: str, hits: list[tuple[str, str]], top: int) -> list[tuple[str, str, float]]:
    if not hits:
        return []
    body = {"query": query, "titles": [title for _, title in hits], "top_k": top}
    request = urllib.request.Request(f"{semrank}/v1/rank", json.dumps(body).encode(), {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=5) as response:
        ranking = json.load(response)
    return [(*hits[index], score) for index, score in zip(ranking["indices"], ranking["scores"])]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("database")
    parser.add_argument("query", nargs="?", default="")
    parser.add_argument("--index", metavar="FILE", help="documents to put into the database first")
    parser.add_argument("--semrank", default="http://127.0.0.1:8080", help="--http_address of semrank-server")
    flags = parser.parse_args()
    database = sqlite3.connect(flags.database)
    if flags.index:
        index(database, flags.index)
    for identity, title, score in rerank(flags.semrank, flags.query, find(database, flags.query), top=10):
        print(f"{score:.4f}\t{identity}\t{title}")


if __name__ == "__main__":
    main()
