#!/usr/bin/python3
"""LDA by Gibbs sampling, ranked as Wei and Croft do.

Rows 5 and 6 of table 5 of the CLSM paper (T = 100 and 500); Wei and Croft,
SIGIR 2006; collapsed Gibbs sampling of Griffiths and Steyvers, PNAS 2004:

    P(z_i = z | rest) ~ (n(w_i, z) + beta) / (n(z) + V beta) (n(z, D) + alpha)
    P_lda(w|D) = sum over z of (n(w, z) + beta) / (n(z) + V beta)
                               * (n(z, D) + alpha) / (|D| + T alpha)
    P(w|D) = l P_ulm(w|D) + (1 - l) P_lda(w|D),  score = log P(Q|D)

with P_ulm smoothed by Dirichlet. Learned from the documents' titles. Left open
by the CLSM paper: alpha = 50 / T and beta = 0.01 are those of Wei and Croft, and
l = 0.7 their best; alpha is far too much for titles of ten words, so the default
here is 0.1 (--alpha). 100 sweeps; counts of the last ten are averaged.
"""
import numpy as np

from collection import Vocabulary, parser, read_texts, write_run
from topic_models import TopicScorer, normalized


def sample(counts, num_topics, alpha, beta, sweeps, averaged, seed):
    """theta = P(z|D) and phi = P(w|z), means over the last `averaged` sweeps."""
    random = np.random.default_rng(seed)
    repeats = counts.data.astype(int)
    words = np.repeat(counts.indices, repeats)
    texts = np.repeat(np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr)), repeats)
    topics = random.integers(num_topics, size=len(words))
    # Words and texts by row, so that a token's counts lie side by side.
    of_word = np.zeros((counts.shape[1], num_topics))
    of_text = np.zeros((counts.shape[0], num_topics))
    np.add.at(of_word, (words, topics), 1)
    np.add.at(of_text, (texts, topics), 1)
    of_topic = of_word.sum(axis=0)
    theta, phi = np.zeros_like(of_text), np.zeros_like(of_word)
    for sweep in range(sweeps):
        draws = random.random(len(words))
        for i, (word, text) in enumerate(zip(words.tolist(), texts.tolist())):
            old = topics[i]
            word_row, text_row = of_word[word], of_text[text]
            word_row[old] -= 1
            text_row[old] -= 1
            of_topic[old] -= 1
            cumulated = ((word_row + beta) * (text_row + alpha)
                         / (of_topic + counts.shape[1] * beta)).cumsum()
            new = min(int(cumulated.searchsorted(draws[i] * cumulated[-1], side="right")),
                      num_topics - 1)
            topics[i] = new
            word_row[new] += 1
            text_row[new] += 1
            of_topic[new] += 1
        if sweep >= sweeps - averaged:
            theta += normalized(of_text + alpha)
            phi += (of_word + beta) / (of_topic + counts.shape[1] * beta)
    return theta / averaged, phi.T / averaged


def main():
    flags = parser(__doc__)
    flags.add_argument("--topics", type=int, default=100)
    flags.add_argument("--alpha", type=float, default=0.1)
    flags.add_argument("--beta", type=float, default=0.01)
    flags.add_argument("--sweeps", type=int, default=100)
    flags.add_argument("--unigram_weight", type=float, default=0.7)
    flags.add_argument("--mu", type=float, default=100.0, help="of ULM")
    options = flags.parse_args()
    doc_ids, docs = read_texts(options.docs)
    query_ids, queries = read_texts(options.queries)
    vocabulary = Vocabulary(docs)
    doc_counts, query_counts = vocabulary.counts(docs), vocabulary.counts(queries)
    theta, phi = sample(doc_counts, options.topics, options.alpha, options.beta,
                        options.sweeps, min(10, options.sweeps), options.seed)
    scorer = TopicScorer(doc_counts, theta, phi, options.unigram_weight, options.mu)
    write_run(options, "lda", query_ids, doc_ids,
              lambda i: scorer.score(query_counts[i]))


if __name__ == "__main__":
    main()
