#!/usr/bin/env python3
"""Keeps the vectors of titles in PostgreSQL with pgvector, and searches them.

search_pgvector.py --put=docs.tsv  puts "doc_id<TAB>title" lines, new ones and changed ones
search_pgvector.py QUERY           prints the best 10
"""
import argparse
import itertools
import json
import urllib.request

import psycopg2  # Debian: python3-psycopg2
from psycopg2.extras import execute_values

BATCH = 500


def embed(semrank: str, side: str, texts: list[str]) -> list[str]:
    """A vector per text, as pgvector reads it."""
    body = {"input": texts, "input_type": side, "encoding_format": "float"}
    request = urllib.request.Request(f"{semrank}/v1/embeddings", json.dumps(body).encode(), {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=30) as response:
        return [json.dumps(item["embedding"]) for item in json.load(response)["data"]]


def put(cursor, semrank: str, path: str) -> None:
    cursor.execute("CREATE EXTENSION IF NOT EXISTS vector")
    cursor.execute("CREATE TABLE IF NOT EXISTS documents (id text PRIMARY KEY, title text NOT NULL, embedding vector NOT NULL)")
    with open(path, encoding="utf-8") as lines:
        documents = (line.rstrip("\n").split("\t", 1) for line in lines if "\t" in line)
        while rows := list(itertools.islice(documents, BATCH)):
            vectors = embed(semrank, "document", [title for _, title in rows])
            execute_values(cursor, "INSERT INTO documents VALUES %s ON CONFLICT (id) DO UPDATE "
                                   "SET title = excluded.title, embedding = excluded.embedding",
                           [(*row, vector) for row, vector in zip(rows, vectors)])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("query", nargs="?")
    parser.add_argument("--put", metavar="FILE")
    parser.add_argument("--database", default="postgresql:///", help="as psql takes it")
    parser.add_argument("--semrank", default="http://127.0.0.1:8080", help="--http_address of semrank-server")
    flags = parser.parse_args()
    with psycopg2.connect(flags.database) as connection, connection.cursor() as cursor:
        if flags.put:
            put(cursor, flags.semrank, flags.put)
        if flags.query:
            [vector] = embed(flags.semrank, "query", [flags.query])
            cursor.execute("SELECT 1 - (embedding <=> %s) AS score, id, title FROM documents "
                           "ORDER BY embedding <=> %s LIMIT 10", (vector, vector))
            for score, identity, title in cursor.fetchall():
                print(f"{score:.4f}\t{identity}\t{title}")


if __name__ == "__main__":
    main()
