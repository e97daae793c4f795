"""EM of PLSA, and ranking by topics: what plsa.py, lda.py and bltm.py share.

    P(w|D) = sum over topics z of P(w|z) P(z|D)
"""
import numpy as np
from scipy import sparse


def _expected_ratio(counts, theta, phi):
    """Sparse counts / P(w|D), and the log likelihood."""
    rows = np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))
    probabilities = np.empty(counts.nnz)
    by_word = np.ascontiguousarray(phi.T)  # so that a word's topics lie side by side
    for first in range(0, counts.nnz, 1 << 16):
        part = slice(first, first + (1 << 16))
        probabilities[part] = np.einsum("ij,ij->i", theta[rows[part]],
                                        by_word[counts.indices[part]])
    ratio = sparse.csr_matrix((counts.data / probabilities, counts.indices, counts.indptr),
                              shape=counts.shape)
    return ratio, float(counts.data @ np.log(probabilities))


def normalized(rows):
    return rows / rows.sum(axis=1, keepdims=True)


def log_prior(rows, pseudo_count):
    return pseudo_count * np.log(rows).sum() if pseudo_count else 0.0


def _new_theta(ratio, theta, phi, topic_prior):
    new_theta = theta * (ratio @ phi.T) + topic_prior
    # Texts without a known word keep their topics.
    empty = new_theta.sum(axis=1) == 0
    new_theta[empty] = theta[empty]
    return normalized(new_theta)


def em_step(counts, theta, phi, topic_prior, word_prior):
    """One step for theta = P(z|D) [texts, topics] and phi = P(w|z) [topics,
    words]. Priors are pseudo-counts (Dirichlet parameters less 1), 0 = maximum
    likelihood. Returns the new theta and phi, and the log posterior (up to a
    constant) of the old ones."""
    ratio, log_likelihood = _expected_ratio(counts, theta, phi)
    objective = log_likelihood + log_prior(theta, topic_prior) + log_prior(phi, word_prior)
    new_phi = phi * (ratio.T @ theta).T + word_prior
    return _new_theta(ratio, theta, phi, topic_prior), normalized(new_phi), objective


def random_phi(num_topics, num_words, seed):
    return normalized(np.random.default_rng(seed).random((num_topics, num_words)) + 0.5)


def fold_in(counts, phi, topic_prior, iterations=20):
    """P(z|D) of texts with P(w|z) fixed."""
    theta = np.full((counts.shape[0], len(phi)), 1 / len(phi))
    for _ in range(iterations):
        theta = _new_theta(_expected_ratio(counts, theta, phi)[0], theta, phi, topic_prior)
    return theta


class TopicScorer:
    """log P(Q|D) of all documents, P(q|D) = weight P_ulm(q|D) + (1 - weight)
    sum over z of P(q|z) P(z|D), with ULM's Dirichlet smoothing."""

    def __init__(self, doc_counts, theta, phi, unigram_weight, mu):
        self.theta, self.phi, self.weight = theta, phi, unigram_weight
        self.counts = doc_counts.tocsc()
        self.lengths = np.asarray(doc_counts.sum(axis=1)).ravel()
        self.background = np.asarray(doc_counts.sum(axis=0)).ravel() / doc_counts.sum()
        self.mu = mu

    def score(self, query):
        """`query` is a sparse row of counts."""
        total = np.zeros(len(self.theta))
        for word, count in zip(query.indices, query.data):
            probability = (1 - self.weight) * (self.theta @ self.phi[:, word])
            if self.weight:
                own = self.counts[:, word].toarray().ravel()
                probability = probability + self.weight * (
                    (own + self.mu * self.background[word]) / (self.lengths + self.mu))
            total += count * np.log(probability + 1e-12)
        return total
