#!/usr/bin/python3
"""LCE, latent concept expansion.

Row 9 of table 5 of the CLSM paper; Metzler and Croft, SIGIR 2007. The MRF's
first documents R give expansion words e:

    P(e|Q) ~ sum over D in R of exp( MRF(Q, D) + log P_mu(e|D) - c log P(e|C) )

of which the best k, with weights w_e that add up to 1, are scored again:

    score(Q, D) = (1 - l) MRF(Q, D) + l sum over e of w_e log (P_mu(e|D) / P(e|C))

MRF(Q, D) with its word and its ordered and unordered pair features is
`semrank-eval --ranker=mrf --run_out=FILE --run_depth=N`, read with --first_run;
documents that it does not list are not ranked. P_mu has Dirichlet smoothing.
Concepts are single words, the form with which the paper reports its results.

Left open by the CLSM paper: |R| (10), k (10), l (0.2), c (0.25), mu (as MRF's).
"""
import collections

import numpy as np

from collection import Vocabulary, parser, read_lines, read_texts


def read_run(path):
    """Document and score of each query, best first."""
    run = collections.defaultdict(list)
    for (line,) in read_lines(path):
        query, _, document, _, score, _ = line.split()
        run[query].append((float(score), document))
    return {query: sorted(lines, key=lambda x: (-x[0], x[1])) for query, lines in run.items()}


class Expander:
    def __init__(self, counts, mu, background_weight):
        self.counts, self.mu, self.background_weight = counts, mu, background_weight
        self.background = np.asarray(counts.sum(axis=0)).ravel() / counts.sum()
        self.lengths = np.asarray(counts.sum(axis=1)).ravel()

    def log_probabilities(self, documents, words):
        """log P_mu(w|D), [documents, words]."""
        own = self.counts[documents][:, words].toarray()
        return np.log((own + self.mu * self.background[words])
                      / (self.lengths[documents][:, None] + self.mu))

    def concepts(self, documents, scores, num_concepts):
        """Words and weights from feedback documents with their MRF scores."""
        words = np.unique(self.counts[documents].indices)
        log_weights = (np.asarray(scores)[:, None] + self.log_probabilities(documents, words)
                       - self.background_weight * np.log(self.background[words]))
        # The sum of exponentials, safe from overflow.
        top = log_weights.max()
        weights = np.exp(log_weights - top).sum(axis=0)
        best = np.argsort(-weights, kind="stable")[:num_concepts]
        return words[best], weights[best] / weights[best].sum()

    def expansion_scores(self, documents, words, weights):
        ratio = self.log_probabilities(documents, words) - np.log(self.background[words])
        return ratio @ weights


def main():
    flags = parser(__doc__)
    flags.add_argument("--first_run", required=True, help="TREC run of the ranker mrf")
    flags.add_argument("--feedback", type=int, default=10)
    flags.add_argument("--concepts", type=int, default=10)
    flags.add_argument("--weight", type=float, default=0.2)
    flags.add_argument("--background_weight", type=float, default=0.25)
    flags.add_argument("--mu", type=float, default=20.0)
    options = flags.parse_args()
    doc_ids, docs = read_texts(options.docs)
    number_of = {document: i for i, document in enumerate(doc_ids)}
    expander = Expander(Vocabulary(docs, max_words=None).counts(docs), options.mu,
                        options.background_weight)
    with open(options.run_out, "w", encoding="utf-8") as out:
        for query, ranked in read_run(options.first_run).items():
            documents = np.array([number_of[document] for _, document in ranked])
            first = np.array([score for score, _ in ranked])
            words, weights = expander.concepts(documents[:options.feedback],
                                               first[:options.feedback], options.concepts)
            scores = ((1 - options.weight) * first + options.weight
                      * expander.expansion_scores(documents, words, weights))
            for rank, i in enumerate(np.argsort(-scores, kind="stable"), start=1):
                out.write(f"{query} Q0 {doc_ids[documents[i]]} {rank} {scores[i]:.9g} lce\n")


if __name__ == "__main__":
    main()
