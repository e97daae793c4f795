#!/usr/bin/python3
"""PLSA with MAP estimation.

Row 5 of table 2 of the DSSM paper, rows 3 and 4 of table 5 of the CLSM paper
(T = 100 and 500); Hofmann, SIGIR 1999:

    P(w|D) = sum over topics z of P(w|z) P(z|D)
    score(Q, D) = log P(Q|D) = sum over query words q of log P(q|D)

Learned from titles alone (of the documents, and of the pairs with --train) by
EM. MAP: "a Dirichlet prior", whose parameters no paper gives; here pseudo-counts
of 0.1 for P(z|D) and 0.01 for P(w|z). Left open too: the iterations (50), and
whether documents are folded in (here they are among the texts that P(w|z) is
learned from, and their P(z|D) are then found with P(w|z) fixed). The papers
score by P(Q|D) alone; --unigram_weight above 0 mixes with ULM as Wei and Croft
do for LDA (lda.py).
"""
from collection import Vocabulary, clicked_titles, parser, read_texts, write_run
from topic_models import TopicScorer, em_step, fold_in, random_phi


def learn(counts, num_topics, iterations, topic_prior, word_prior, seed):
    """P(w|z), and the log posterior before each step."""
    phi = random_phi(num_topics, counts.shape[1], seed)
    theta = fold_in(counts, phi, topic_prior, iterations=1)
    objectives = []
    for _ in range(iterations):
        theta, phi, objective = em_step(counts, theta, phi, topic_prior, word_prior)
        objectives.append(objective)
    return phi, objectives


def main():
    flags = parser(__doc__)
    flags.add_argument("--topics", type=int, default=100)
    flags.add_argument("--iterations", type=int, default=50)
    flags.add_argument("--topic_prior", type=float, default=0.1)
    flags.add_argument("--word_prior", type=float, default=0.01)
    flags.add_argument("--unigram_weight", type=float, default=0.0)
    flags.add_argument("--mu", type=float, default=100.0, help="of ULM")
    options = flags.parse_args()
    doc_ids, docs = read_texts(options.docs)
    query_ids, queries = read_texts(options.queries)
    titles = docs + clicked_titles(options.train)
    vocabulary = Vocabulary(titles)
    phi, _ = learn(vocabulary.counts(titles), options.topics, options.iterations,
                   options.topic_prior, options.word_prior, options.seed)
    doc_counts = vocabulary.counts(docs)
    theta = fold_in(doc_counts, phi, options.topic_prior)
    scorer = TopicScorer(doc_counts, theta, phi, options.unigram_weight, options.mu)
    query_counts = vocabulary.counts(queries)
    write_run(options, "plsa", query_ids, doc_ids,
              lambda i: scorer.score(query_counts[i]))


if __name__ == "__main__":
    main()
