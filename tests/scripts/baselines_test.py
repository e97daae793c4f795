"""The baselines of scripts/experiments/baselines: against full decompositions, toy data
worked out by hand, and the promise that EM never makes its objective worse.
Skipped without the packages of `scripts/install_packages.sh baselines`."""

import argparse
import importlib.util
import math
import pathlib
import sys
import tempfile
import unittest

SCRIPTS = pathlib.Path(__file__).resolve().parents[2] / "scripts/experiments/baselines"
sys.path.insert(0, str(SCRIPTS))

try:
    import numpy as np
    import scipy.sparse  # noqa: F401
except ImportError as error:
    print(f"skipped: {error} (scripts/install_packages.sh baselines)")
    sys.exit(0)

import bltm
import collection
import lce
import lda
import lsa
import plsa
import topic_models


def random_counts(num_texts, num_words, seed=1):
    random = np.random.default_rng(seed)
    dense = random.poisson(0.4, (num_texts, num_words))
    dense[:, 0] += 1  # no text is empty
    return scipy.sparse.csr_matrix(dense.astype(float))


class CollectionTest(unittest.TestCase):
    def test_words_are_those_of_semrank(self):
        self.assertEqual(collection.normalize("McDonald's  ＡＢＣ-42, l'été_x"),
                         ["mcdonalds", "abc", "42", "lété", "x"])

    def test_run_has_the_best_documents_first(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "run")
            options = argparse.Namespace(run_out=path, run_depth=2)
            collection.write_run(options, "tag", ["q"], ["a", "b", "c"], lambda i: [1, 3, 2])
            self.assertEqual(path.read_text(), "q Q0 b 1 3 tag\nq Q0 c 2 2 tag\n")


class LsaTest(unittest.TestCase):
    def test_equals_the_full_decomposition(self):
        matrix = random_counts(30, 12)
        for centre in (False, True):
            dense = matrix.toarray()
            if centre:
                dense = dense - dense.mean(axis=0)
            _, values, words = np.linalg.svd(dense, full_matrices=False)
            directions, found, _ = lsa.decompose(matrix, 5, centre)
            np.testing.assert_allclose(found, values[:5], rtol=1e-8)
            # Directions are unique up to their sign.
            np.testing.assert_allclose(np.abs(np.sum(directions.T * words[:5], axis=1)), 1,
                                       rtol=1e-6)

    def test_words_of_one_document_mean_the_same(self):
        # Two documents, "a b" and "c c": the directions are (a + b) and c.
        matrix = scipy.sparse.csr_matrix([[1.0, 1, 0], [0, 0, 2], [1, 1, 0]])
        directions, values, mean = lsa.decompose(matrix, 2)
        query = scipy.sparse.csr_matrix([[1.0, 0, 0]])
        for scaling in ("none", "inverse"):
            latent = lsa.project(query, directions, values, mean, scaling)
            documents = lsa.project(matrix, directions, values, mean, scaling)
            np.testing.assert_allclose(documents @ latent[0], [1, 0, 1], atol=1e-9)


class TopicModelTest(unittest.TestCase):
    def test_em_never_lowers_the_posterior(self):
        counts = random_counts(40, 15)
        for priors in ((0, 0), (0.1, 0.01)):
            _, objectives = plsa.learn(counts, 4, 40, *priors, seed=2)
            for before, after in zip(objectives, objectives[1:]):
                self.assertGreaterEqual(after, before - 1e-8)
            self.assertGreater(objectives[-1], objectives[0] + 1)

    def test_one_topic_is_the_collection(self):
        counts = scipy.sparse.csr_matrix([[2.0, 1, 0], [0, 1, 4]])
        phi, _ = plsa.learn(counts, 1, 3, 0, 0, seed=1)
        np.testing.assert_allclose(phi, [[2 / 8, 2 / 8, 4 / 8]])
        scorer = topic_models.TopicScorer(counts, np.ones((2, 1)), phi, 0, mu=1)
        query = scipy.sparse.csr_matrix([[1.0, 0, 2]])
        np.testing.assert_allclose(scorer.score(query), [math.log(1 / 4 * 1 / 4)] * 2, rtol=1e-9)

    def test_unigram_weight_one_is_the_unigram_model(self):
        counts = scipy.sparse.csr_matrix([[2.0, 1, 0], [0, 1, 4]])
        scorer = topic_models.TopicScorer(counts, np.ones((2, 1)), np.full((1, 3), 1 / 3), 1, mu=2)
        query = scipy.sparse.csr_matrix([[1.0, 0, 0]])
        np.testing.assert_allclose(scorer.score(query),
                                   np.log([(2 + 2 / 4) / 5, (2 / 4) / 7]), rtol=1e-9)

    def test_disjoint_words_become_two_topics(self):
        counts = scipy.sparse.csr_matrix([[3.0, 3, 0, 0], [0, 0, 3, 3]] * 4)
        phi, _ = plsa.learn(counts, 2, 200, 0, 0, seed=3)
        rows = sorted(np.round(phi, 3).tolist())
        self.assertEqual(rows, [[0, 0, 0.5, 0.5], [0.5, 0.5, 0, 0]])


class LdaTest(unittest.TestCase):
    def test_one_topic_by_hand(self):
        counts = scipy.sparse.csr_matrix([[2.0, 1, 0], [0, 1, 4]])
        theta, phi = lda.sample(counts, 1, alpha=0.1, beta=0.5, sweeps=3, averaged=2, seed=1)
        np.testing.assert_allclose(theta, [[1], [1]])
        np.testing.assert_allclose(phi, [[2.5 / 9.5, 2.5 / 9.5, 4.5 / 9.5]])

    def test_counts_stay_those_of_the_texts(self):
        counts = random_counts(20, 10)
        theta, phi = lda.sample(counts, 3, 0.1, 0.01, sweeps=5, averaged=1, seed=1)
        np.testing.assert_allclose(theta.sum(axis=1), 1)
        np.testing.assert_allclose(phi.sum(axis=1), 1)


class BltmTest(unittest.TestCase):
    def setUp(self):
        self.sides = random_counts(30, 10, seed=4), random_counts(30, 10, seed=5)

    def test_em_never_lowers_the_posterior(self):
        _, objectives = bltm.learn(*self.sides, 3, 40, ascent_steps=0)
        for before, after in zip(objectives, objectives[1:]):
            self.assertGreaterEqual(after, before - 1e-8)

    def test_constraint_makes_topic_fractions_equal(self):
        sides = [bltm.Side(counts) for counts in self.sides]
        phis = [topic_models.random_phi(3, 10, seed) for seed in (1, 2)]
        theta = np.full((30, 3), 1 / 3)
        gaps = [bltm.em_step(sides, theta, phis, 0.1, 0.01, steps)[3] for steps in (0, 200)]
        self.assertGreater(gaps[0], 0.02)
        self.assertLess(gaps[1], 1e-4)

    def test_one_topic_by_hand(self):
        phis, _ = bltm.learn(scipy.sparse.csr_matrix([[1.0, 3]]),
                             scipy.sparse.csr_matrix([[2.0, 2]]), 1, 2, 0, 0)
        np.testing.assert_allclose(phis[0], [[0.25, 0.75]])
        np.testing.assert_allclose(phis[1], [[0.5, 0.5]])


class LceTest(unittest.TestCase):
    def test_concepts_of_one_document_by_hand(self):
        # P(w|C) = 1/2, 1/3, 1/6; mu 2: P(w|D) = (2+1)/5, (0+2/3)/5, (1+1/3)/5.
        counts = scipy.sparse.csr_matrix([[2.0, 0, 1], [1, 2, 0]])
        expander = lce.Expander(counts, mu=2, background_weight=1)
        words, weights = expander.concepts(np.array([0]), [0.7], 2)
        # P(w|D) / P(w|C) of words 0 and 2: 6/5 and 8/5.
        self.assertEqual(words.tolist(), [2, 0])
        np.testing.assert_allclose(weights, [8 / 14, 6 / 14])
        np.testing.assert_allclose(
            expander.expansion_scores(np.array([0]), words, weights),
            [8 / 14 * math.log(8 / 5) + 6 / 14 * math.log(6 / 5)])


@unittest.skipUnless(importlib.util.find_spec("torch"), "no python3-torch")
class DaeTest(unittest.TestCase):
    def test_learns_to_reconstruct_the_same_way_each_time(self):
        import dae
        counts = scipy.sparse.csr_matrix(np.kron(np.eye(4), [[3.0, 1], [1, 3]]))
        _, losses = dae.learn(counts, machine_epochs=2, epochs=60, batch=4, rate=0.01)
        _, again = dae.learn(counts, machine_epochs=2, epochs=60, batch=4, rate=0.01)
        self.assertLess(losses[-1], losses[0] - 0.5)
        self.assertEqual(losses, again)

    def test_word_machine_finds_the_words_that_go_together(self):
        import dae
        import torch
        torch.manual_seed(1)
        counts = scipy.sparse.csr_matrix(np.kron(np.eye(4), [[3.0, 1], [1, 3]]))
        texts = dae.Words.of_counts(counts)
        self.assertEqual(texts.lengths().tolist(), [4] * 8)
        machine = dae.WordMachine(texts.word_counts(8), 6, rate=0.05)
        for _ in range(300):
            machine.learn(texts)
        drawn = machine.reconstruct(machine.hidden(texts), texts)
        self.assertEqual(drawn.lengths().tolist(), [4] * 8)
        share = (drawn.words // 2 == drawn.texts // 2).float().mean()
        self.assertGreater(share, 0.75)  # .25 by chance


if __name__ == "__main__":
    unittest.main()
