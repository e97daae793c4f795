#!/usr/bin/python3
"""Search by FAISS (flat, IVF, HNSW) and hnswlib over the vectors of a semrank
model, to measure its exact search against:

    semrank embed --model_dir=models/shop --texts=titles.txt --output=titles.npy
    semrank embed --model_dir=models/shop --side=query --texts=queries.txt --output=queries.npy
    scripts/bench/peers/vector_search.py titles.npy queries.npy

One thread, cosine, the best 10. Recall is against the flat index, CPU is that of
this process. semrank's own figure comes from catalog_bench, or from the CPU of a
server, in the same run. Needs python3-faiss and python3-hnswlib
(scripts/install_packages.sh peers).
"""
import argparse
import time

import faiss
import hnswlib
import numpy as np

BEST = 10
LINKS = 32  # of a node of a graph
CONSTRUCTION = 80  # candidates for its links


def unit_rows(path):
    rows = np.load(path).astype(np.float32)
    return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)


class FaissIndex:
    """`set_effort` is called with the number of lists or candidates to search."""

    def __init__(self, index, set_effort=lambda index, effort: None):
        self.index, self.set_effort = index, set_effort

    def build(self, rows):
        if not self.index.is_trained:
            self.index.train(rows)
        self.index.add(rows)

    def search(self, query):
        return self.index.search(query[None], BEST)[1][0]

    def use(self, effort):
        self.set_effort(self.index, effort)


class HnswlibIndex:
    def __init__(self, dim, num_rows):
        self.index = hnswlib.Index(space="ip", dim=dim)
        self.index.init_index(max_elements=num_rows, M=LINKS, ef_construction=CONSTRUCTION)
        self.index.set_num_threads(1)

    def build(self, rows):
        self.index.add_items(rows)

    def search(self, query):
        return self.index.knn_query(query[None], k=BEST)[0][0]

    def use(self, effort):
        self.index.set_ef(effort)


def set_nprobe(index, effort):
    index.nprobe = effort


def set_ef(index, effort):
    index.hnsw.efSearch = effort


def make_ivf(dim, num_lists):
    quantizer = faiss.IndexFlatIP(dim)
    index = faiss.IndexIVFScalarQuantizer(quantizer, dim, num_lists, faiss.ScalarQuantizer.QT_8bit,
                                          faiss.METRIC_INNER_PRODUCT)
    index.own_fields = True
    quantizer.this.disown()
    return index


def make_hnsw(dim):
    index = faiss.IndexHNSWFlat(dim, LINKS, faiss.METRIC_INNER_PRODUCT)
    index.hnsw.efConstruction = CONSTRUCTION
    return index


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("documents", help="document vectors, .npy")
    parser.add_argument("queries", help="query vectors, .npy")
    parser.add_argument("--num_queries", type=int, default=500, help="queries to search (default: 500)")
    options = parser.parse_args()
    faiss.omp_set_num_threads(1)
    rows, queries = unit_rows(options.documents), unit_rows(options.queries)[:options.num_queries]
    dim = rows.shape[1]
    num_lists = max(1, int(4 * np.sqrt(len(rows))))
    indexes = [("flat", FaissIndex(faiss.IndexFlatIP(dim)), [None]),
               (f"IVF-SQ8, {num_lists} lists, nprobe", FaissIndex(make_ivf(dim, num_lists), set_nprobe), [32, 128, 512]),
               (f"HNSW, {LINKS} links, efSearch", FaissIndex(make_hnsw(dim), set_ef), [64, 512]),
               (f"hnswlib, {LINKS} links, ef", HnswlibIndex(dim, len(rows)), [64, 512])]
    print(f"{len(rows):,} documents of {dim} dimensions, {len(queries)} queries, one thread\n")
    print("| index | CPU a query | queries a second and core | recall@1 | recall@10 | build, CPU |\n" + "|---" * 6 + "|")
    exact = None
    for name, index, efforts in indexes:
        started = time.process_time()
        index.build(rows)
        build = time.process_time() - started
        for effort in efforts:
            if effort is not None:
                index.use(effort)
            started = time.process_time()
            found = [index.search(query) for query in queries]
            seconds = (time.process_time() - started) / len(queries)
            exact = exact or found
            first = np.mean([a[0] == b[0] for a, b in zip(found, exact)])
            best = np.mean([len(set(a) & set(b)) / BEST for a, b in zip(found, exact)])
            label = name if effort is None else f"{name} {effort}"
            print(f"| {label} | {seconds * 1e3:.3f} ms | {1 / seconds:,.0f} | {first:.3f} | {best:.3f} | {build:.1f} s |",
                  flush=True)


if __name__ == "__main__":
    main()
