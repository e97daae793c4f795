#!/usr/bin/python3
"""LSA, and alpha LSI + (1 - alpha) TF-IDF.

Row 4 of table 2 of the DSSM paper; "LSI" and "alpha LSI + (1 - alpha) TFIDF" of
section 4 of the SSI paper. With the word-document matrix C ~ U_k S_k V_k':

    d^ = A' d,  A = U_k S_k^-1          (CLSM paper, section 2.2)
    score(q, d) = alpha cos(q^, d^) + (1 - alpha) cos(q, d)

Left open: the weights in C and d; here tf-idf with norm 1, as SSI's TFIDF (and
in cos(q, d)). S_k^-1 is the paper's; without it (--scaling=none) d^ = U_k' d, the
usual projection of LSI. k: 50 to 1000 in SSI. C has the documents, and with
--train the queries and titles of the pairs as separate documents, as in the
DSSM paper, which also does PCA instead of SVD: --centre subtracts each word's
mean. At most 40,000 words, as there.
"""
import numpy as np
from scipy.sparse import linalg

from collection import (Vocabulary, idf, parser, read_pairs, read_texts, unit_rows, write_run)


def decompose(matrix, rank, centre=False, seed=1):
    """U_k [words, k], S_k falling, and the mean row, of the sparse [texts, words]
    `matrix`; by Lanczos iterations on products, so that a centred matrix need
    not be dense."""
    mean = np.asarray(matrix.mean(axis=0)).ravel() if centre else np.zeros(matrix.shape[1])
    ones = np.ones(matrix.shape[0])
    operator = linalg.LinearOperator(
        matrix.shape, dtype=float,
        matvec=lambda v: matrix @ v.ravel() - ones * (mean @ v.ravel()),
        rmatvec=lambda v: matrix.T @ v.ravel() - mean * (ones @ v.ravel()))
    start = np.random.default_rng(seed).standard_normal(min(matrix.shape))
    _, values, words = linalg.svds(operator, k=rank, v0=start)
    order = np.argsort(-values)
    return words[order].T, values[order], mean


def project(texts, directions, values, mean, scaling="inverse"):
    projected = texts @ directions - mean @ directions
    if scaling == "inverse":
        projected = projected / np.where(values > 1e-9, values, np.inf)
    return unit_rows(np.asarray(projected))


def main():
    flags = parser(__doc__)
    flags.add_argument("--rank", type=int, default=200)
    flags.add_argument("--alpha", type=float, default=1.0, help="1 = LSI alone")
    flags.add_argument("--scaling", choices=("inverse", "none"), default="inverse")
    flags.add_argument("--centre", action="store_true", help="PCA instead of SVD")
    options = flags.parse_args()
    doc_ids, docs = read_texts(options.docs)
    query_ids, queries = read_texts(options.queries)
    texts = docs
    if options.train:
        texts = docs + [text for pair in read_pairs(options.train) for text in pair[:2]]
    vocabulary = Vocabulary(texts)
    doc_counts = vocabulary.counts(docs)
    weights = idf(doc_counts)
    tfidf = [unit_rows(vocabulary.counts(t).multiply(weights).tocsr())
             for t in (texts, docs, queries)]
    parts = decompose(tfidf[0], options.rank, options.centre, options.seed)
    d_latent, q_latent = (project(t, *parts, options.scaling) for t in tfidf[1:])

    def score(i):
        exact = (tfidf[1] @ tfidf[2][i].T).toarray().ravel()
        return options.alpha * (d_latent @ q_latent[i]) + (1 - options.alpha) * exact
    write_run(options, "lsa", query_ids, doc_ids, score)


if __name__ == "__main__":
    main()
