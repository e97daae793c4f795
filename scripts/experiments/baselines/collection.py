"""What the baselines have in common: texts as semrank reads them, word counts,
and rankings as TREC runs, which `semrank-eval --ranker=run:FILE` measures."""
import argparse
import collections
import gzip
import pathlib
import re
import unicodedata

import numpy as np
from scipy import sparse

_APOSTROPHE = re.compile("(?<=[^\\W_])['\u2019](?=[^\\W_])")


def normalize(text):
    """The words of `text`, as model/text/normalizer.h makes them: NFKC, case
    fold, apostrophes inside words dropped, letters, marks and numbers kept."""
    if not text.isascii():
        text = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    text = _APOSTROPHE.sub("", text.casefold())
    return "".join(c if unicodedata.category(c)[0] in "LMN" else " " for c in text).split()


def read_lines(path):
    opened = gzip.open if str(path).endswith(".gz") else open
    with opened(path, "rt", encoding="utf-8") as lines:
        return [line.rstrip("\n").split("\t") for line in lines if line.strip()]


def read_texts(path):
    """Ids and words of a file of `id TAB text` lines."""
    lines = read_lines(path)
    return [line[0] for line in lines], [normalize(line[1]) for line in lines]


def read_pairs(path):
    """Words of the query and of the title of each clicked pair, and its clicks."""
    pairs = [(normalize(line[0]), normalize(line[1]), float(line[2]) if len(line) > 2 else 1.0)
             for line in read_lines(path)]
    return [pair for pair in pairs if pair[0] and pair[1] and pair[2] > 0]


def clicked_titles(path):
    """Words of the distinct titles of the pairs; none without a file."""
    return sorted({tuple(title) for _, title, _ in read_pairs(path)}) if path else []


class Vocabulary:
    """The `max_words` most frequent words of `texts`; ties in order of words."""

    def __init__(self, texts, max_words=40000):
        counts = collections.Counter(word for text in texts for word in text)
        order = sorted(counts, key=lambda word: (-counts[word], word))[:max_words]
        self.index = {word: i for i, word in enumerate(order)}

    def __len__(self):
        return len(self.index)

    def counts(self, texts):
        """Sparse [texts, words]; unknown words are dropped."""
        rows, columns = [], []
        for row, text in enumerate(texts):
            known = [self.index[word] for word in text if word in self.index]
            rows += [row] * len(known)
            columns += known
        matrix = sparse.csr_matrix((np.ones(len(rows)), (rows, columns)),
                                   shape=(len(texts), len(self)))
        matrix.sum_duplicates()
        return matrix


def idf(counts):
    """ln((N + 1) / (n + 1)) + 1, as the ranker word_tfidf has it."""
    documents = np.asarray((counts > 0).sum(axis=0)).ravel()
    return np.log((counts.shape[0] + 1) / (documents + 1)) + 1


def unit_rows(matrix):
    """Rows scaled to norm 1; rows of zeros stay."""
    if sparse.issparse(matrix):
        norms = np.sqrt(np.asarray(matrix.multiply(matrix).sum(axis=1)).ravel())
        return sparse.diags(1 / np.where(norms > 0, norms, 1)) @ matrix
    norms = np.linalg.norm(matrix, axis=1, keepdims=True)
    return matrix / np.where(norms > 0, norms, 1)


def write_run(options, tag, query_ids, doc_ids, score):
    """Writes the best documents of each query, as --run_out and --run_depth say.
    `score(i)` are the scores of all documents for query i."""
    with open(options.run_out, "w", encoding="utf-8") as run:
        for i, query in enumerate(query_ids):
            scores = np.asarray(score(i), dtype=float)
            best = np.argsort(-scores, kind="stable")[:options.run_depth]
            for rank, d in enumerate(best, start=1):
                run.write(f"{query} Q0 {doc_ids[d]} {rank} {scores[d]:.9g} {tag}\n")


def parser(description):
    """The flags of every baseline."""
    result = argparse.ArgumentParser(description=description,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, what in (("docs", "documents: doc_id TAB title"),
                       ("queries", "queries: query_id TAB query"),
                       ("run_out", "TREC run to write")):
        result.add_argument(f"--{name}", required=True, type=pathlib.Path, help=what)
    result.add_argument("--train", type=pathlib.Path, help="clicked pairs: query TAB title")
    result.add_argument("--run_depth", type=int, default=1000,
                        help="documents of a query in the run, at most (default: 1000)")
    result.add_argument("--seed", type=int, default=1)
    return result
