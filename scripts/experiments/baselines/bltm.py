#!/usr/bin/python3
"""BLTM-PR, the bilingual topic model with posterior regularization.

Row 7 of table 2 of the DSSM paper, row 7 of table 5 of the CLSM paper; Gao,
Toutanova and Yih, SIGIR 2011. A query Q and its clicked title D share their
topics:

    P(Q, D) = product over q in Q of sum_z P_Q(q|z) P(z|Q,D)
            * product over w in D of sum_z P_D(w|z) P(z|Q,D)

"EM with a constraint": query and title have the same fraction of terms assigned
to each topic. As posterior regularization (Ganchev et al., JMLR 2010) the E step
takes, instead of the posteriors p, the q nearest in KL(q||p) with

    1/|Q| sum over q in Q of q(z|q) = 1/|D| sum over w in D of q(z|w)  for each z,

whose form is q(z|q) ~ p(z|q) exp(-l_z / |Q|), q(z|w) ~ p(z|w) exp(l_z / |D|).
The multipliers l of each pair are found by gradient ascent.

    score(Q, D) = sum over query words of log [ a P(q|C) + (1 - a) (b P_ml(q|D) +
                  (1 - b) sum_z P_Q(q|z) P(z|D)) ]

with P(z|D) of a document from its title and P_D. Left open by the DSSM and CLSM
papers: a, b (here 0.5, 0.5; to be tuned), 30 iterations, 10 ascent steps an E
step, and pseudo-counts of 0.01 for words and 0.1 for topics.
"""
import numpy as np
from scipy import sparse

from collection import Vocabulary, parser, read_pairs, read_texts, write_run
from topic_models import fold_in, log_prior, normalized, random_phi

BLOCK = 1 << 9  # pairs whose posteriors are in memory together


class Side:
    """The terms of one language: pair, word and count of each entry."""

    def __init__(self, counts):
        self.counts = counts

    def block(self, first, last):
        part = self.counts[first:last]
        pairs = np.repeat(np.arange(part.shape[0]), np.diff(part.indptr))
        lengths = np.maximum(np.asarray(part.sum(axis=1)).ravel(), 1)
        return pairs, part.indices, part.data, lengths


def sum_by(index, rows, size):
    """The sum of the rows of each index, [size, columns]."""
    ones = np.ones(len(index))
    return sparse.csr_matrix((ones, (index, np.arange(len(index)))), shape=(size, len(index))) @ rows


def regularize(logits, sides, num_pairs, steps):
    """Posteriors of both sides under the constraint. `logits` are the logarithms
    of unnormalized posteriors, one array a side. Steps of 0 = plain EM."""
    multipliers = np.zeros((num_pairs, logits[0].shape[1]))
    signs = (-1.0, 1.0)
    for step in range(steps + 1):
        posteriors, fractions = [], []
        for logit, (pairs, _, counts, lengths), sign in zip(logits, sides, signs):
            tilted = logit + sign * (multipliers / lengths[:, None])[pairs]
            tilted -= tilted.max(axis=1, keepdims=True)
            posterior = normalized(np.exp(tilted))
            posteriors.append(posterior)
            fractions.append(sum_by(pairs, posterior * counts[:, None], num_pairs)
                             / lengths[:, None])
        if step == steps:
            return posteriors, fractions
        # 1 / curvature: a softmax's is at most 1/2, so this is at most
        # (1/|Q| + 1/|D|) / 2.
        rate = (2 / (1 / sides[0][3] + 1 / sides[1][3]))[:, None]
        multipliers += rate * (fractions[0] - fractions[1])


def em_step(sides, theta, phis, topic_prior, word_prior, ascent_steps):
    """Returns the new theta and phis, the log posterior of the old ones (up to a
    constant), and the largest difference of topic fractions in a pair."""
    new_theta = np.full_like(theta, topic_prior)
    new_phis = [np.full_like(phi, word_prior) for phi in phis]
    objective = log_prior(theta, topic_prior) + sum(log_prior(phi, word_prior) for phi in phis)
    gap = 0.0
    for first in range(0, len(theta), BLOCK):
        last = min(first + BLOCK, len(theta))
        blocks = [side.block(first, last) for side in sides]
        joint = [theta[first:last][pairs] * phi[:, words].T
                 for phi, (pairs, words, _, _) in zip(phis, blocks)]
        objective += sum(float(counts @ np.log(p.sum(axis=1)))
                         for p, (_, _, counts, _) in zip(joint, blocks))
        logits = [np.log(p + 1e-300) for p in joint]
        posteriors, fractions = regularize(logits, blocks, last - first, ascent_steps)
        gap = max(gap, float(np.abs(fractions[0] - fractions[1]).max()))
        for side, (posterior, (pairs, words, counts, _)) in enumerate(zip(posteriors, blocks)):
            weighted = posterior * counts[:, None]
            new_theta[first:last] += sum_by(pairs, weighted, last - first)
            known, place = np.unique(words, return_inverse=True)
            new_phis[side][:, known] += sum_by(place, weighted, len(known)).T
    return normalized(new_theta), [normalized(phi) for phi in new_phis], objective, gap


def learn(query_counts, title_counts, num_topics, iterations, topic_prior=0.1, word_prior=0.01,
          ascent_steps=10, seed=1):
    """P_Q(q|z), P_D(w|z) and the log posterior before each step."""
    sides = [Side(query_counts), Side(title_counts)]
    phis = [random_phi(num_topics, side.counts.shape[1], seed + i) for i, side in enumerate(sides)]
    theta = np.full((query_counts.shape[0], num_topics), 1 / num_topics)
    objectives = []
    for _ in range(iterations):
        theta, phis, objective, _ = em_step(sides, theta, phis, topic_prior, word_prior,
                                            ascent_steps)
        objectives.append(objective)
    return phis, objectives


def main():
    flags = parser(__doc__)
    flags.add_argument("--topics", type=int, default=100)
    flags.add_argument("--iterations", type=int, default=30)
    flags.add_argument("--background", type=float, default=0.5, help="a")
    flags.add_argument("--own", type=float, default=0.5, help="b")
    options = flags.parse_args()
    if options.train is None:
        flags.error("--train is needed: BLTM learns from pairs")
    doc_ids, docs = read_texts(options.docs)
    query_ids, queries = read_texts(options.queries)
    pairs = read_pairs(options.train)
    vocabulary = Vocabulary(docs + [text for pair in pairs for text in pair[:2]])
    sides = [vocabulary.counts([pair[side] for pair in pairs]) for side in (0, 1)]
    (query_phi, title_phi), _ = learn(*sides, options.topics, options.iterations,
                                      seed=options.seed)
    doc_counts, query_counts = vocabulary.counts(docs), vocabulary.counts(queries)
    theta = fold_in(doc_counts, title_phi, 0.1)
    by_word = doc_counts.tocsc()
    lengths = np.maximum(np.asarray(doc_counts.sum(axis=1)).ravel(), 1)
    total = np.asarray((doc_counts.sum(axis=0) + sides[0].sum(axis=0))).ravel()
    background = total / total.sum()

    def score(i):
        result = np.zeros(len(docs))
        row = query_counts[i]
        for word, count in zip(row.indices, row.data):
            own = by_word[:, word].toarray().ravel() / lengths
            shown = options.own * own + (1 - options.own) * (theta @ query_phi[:, word])
            result += count * np.log(options.background * background[word]
                                     + (1 - options.background) * shown + 1e-12)
        return result
    write_run(options, "bltm-pr", query_ids, doc_ids, score)


if __name__ == "__main__":
    main()
