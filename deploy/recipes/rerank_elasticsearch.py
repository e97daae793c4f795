#!/usr/bin/env python3
"""Searches an index of Elasticsearch or OpenSearch and prints the best of its 100 hits, in semrank's order."""
import argparse
import json
import sys
import urllib.request

CANDIDATES = 100


def post(url: str, body: dict, timeout: float) -> dict:
    request = urllib.request.Request(url, json.dumps(body).encode(), {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=timeout) as response:
        return json.load(response)


def find(engine: str, field: str, query: str) -> list[tuple[str, str]]:
    """Id and title of the engine's best documents."""
    body = {"query": {"match": {field: query}}, "size": CANDIDATES, "_source": [field]}
    hits = post(f"{engine}/_search", body, timeout=5)["hits"]["hits"]
    return [(hit["_id"], hit["_source"][field]) for hit in hits if field in hit["_source"]]


def rerank(semrank: str, query: str, hits: list[tuple[str, str]], top: int) -> list[tuple[str, str]]:
    if not hits:
        return []
    try:
        body = {"query": query, "titles": [title for _, title in hits], "top_k": top}
        ranking = post(f"{semrank}/v1/rank", body, timeout=2)
    except OSError as error:
        # The engine's order is better than no results.
        print(f"not reranked: {error}", file=sys.stderr)
        return hits[:top]
    # A title that cannot be ranked, as one that is too long, follows the others. JSON leaves out the index 0.
    unranked = [problem.get("index", 0) for problem in ranking.get("problems", [])]
    return [hits[index] for index in ranking["indices"] + unranked][:top]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("query")
    parser.add_argument("--engine", default="http://127.0.0.1:9200/products", help="URL of the index")
    parser.add_argument("--field", default="title", help="field with the titles")
    parser.add_argument("--semrank", default="http://127.0.0.1:8080", help="--http_address of semrank-server")
    parser.add_argument("--top", type=int, default=10, help="how many to print")
    flags = parser.parse_args()
    hits = find(flags.engine, flags.field, flags.query)
    for identity, title in rerank(flags.semrank, flags.query, hits, flags.top):
        print(f"{identity}\t{title}")


if __name__ == "__main__":
    main()
