#!/usr/bin/env python3
"""Compares which two results --explore could exchange: how far the curve of positions is
off that is estimated from simulated clicks, and what an explored list loses of its NDCG@10.

    scripts/experiments/explored_pairs.py [--impressions=1000000] [--rate=0.05] [--runs=12]

Queries have ten results of random relevance, which an imperfect ranker has ordered. A
result is clicked with its probability of relevance times (1/position)^eta. The curve is
the weighted least squares fit of the log ratios between the clicks on exchanged results
and those that their usual positions lead one to expect. Needs python3-numpy.
"""
import argparse

import numpy as np

NUM_QUERIES, NUM_RESULTS = 2_000, 10


def pair_probabilities(policy: str) -> np.ndarray:
    """[i, j] is the probability that an explored list has results i and j exchanged."""
    pairs = {"neighbours": [(i, i + 1) for i in range(NUM_RESULTS - 1)],
             "any two": [(i, j) for i in range(NUM_RESULTS) for j in range(i + 1, NUM_RESULTS)],
             "the first and another": [(0, j) for j in range(1, NUM_RESULTS)]}[policy]
    probabilities = np.zeros((NUM_RESULTS, NUM_RESULTS))
    for i, j in pairs:
        probabilities[i, j] = probabilities[j, i] = 1 / len(pairs)
    return probabilities


def ranked_relevance(random: np.random.Generator) -> np.ndarray:
    """A row for each query: the relevance of its results, in the ranker's order."""
    relevance = random.beta(.6, 1.8, (NUM_QUERIES, NUM_RESULTS))
    scores = relevance + random.normal(0, .15, relevance.shape)
    return np.take_along_axis(relevance, np.argsort(-scores, axis=1), axis=1)


def shown_counts(probabilities: np.ndarray, impressions: float, rate: float, random: np.random.Generator) -> np.ndarray:
    """[query, i, k]: how often result i is shown at position k."""
    shown = random.poisson(impressions / NUM_QUERIES * rate * probabilities, (NUM_QUERIES, NUM_RESULTS, NUM_RESULTS))
    for i in range(NUM_RESULTS):
        shown[:, i, i] = np.maximum(impressions / NUM_QUERIES - shown[:, i, :].sum(1), 1)
    return shown


def estimate(shown: np.ndarray, clicks: np.ndarray) -> np.ndarray:
    """The probability that a position is looked at, over that of the first one."""
    rows, ratios, weights = [], [], []
    for i, k in np.argwhere(shown.sum(0) > 0):
        expected = (shown[:, i, k] * clicks[:, i, i] / shown[:, i, i]).sum()
        if i == k or clicks[:, i, k].sum() == 0 or expected == 0:
            continue
        row = np.zeros(NUM_RESULTS)
        row[[k, i]] = 1, -1
        rows.append(row[1:])
        ratios.append(np.log(clicks[:, i, k].sum() / expected))
        weights.append(np.sqrt(clicks[:, i, k].sum()))
    weights = np.array(weights)
    fit = np.linalg.lstsq(np.array(rows) * weights[:, None], np.array(ratios) * weights, rcond=None)[0]
    return np.exp(np.concatenate([[0], fit]))


def ndcg_loss(relevance: np.ndarray, probabilities: np.ndarray) -> float:
    discounts = 1 / np.log2(np.arange(2, NUM_RESULTS + 2))
    ideal = (np.sort(relevance, axis=1)[:, ::-1] * discounts).sum(1)
    losses = (relevance[:, :, None] - relevance[:, None, :]) * (discounts[:, None] - discounts[None, :]) / ideal[:, None, None]
    return float((losses.mean(0) * np.triu(probabilities)).sum())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--impressions", type=int, default=1_000_000)
    parser.add_argument("--rate", type=float, default=.05, help="share of the impressions that is explored")
    parser.add_argument("--runs", type=int, default=12)
    options = parser.parse_args()
    random = np.random.default_rng(1)
    print("eta  pairs                  largest error of ten positions  NDCG@10 of an explored list")
    for eta in (.5, 1, 2):
        curve = np.arange(1, NUM_RESULTS + 1.) ** -eta
        for policy in ("neighbours", "any two", "the first and another"):
            probabilities = pair_probabilities(policy)
            errors, losses = [], []
            for _ in range(options.runs):
                relevance = ranked_relevance(random)
                shown = shown_counts(probabilities, options.impressions, options.rate, random)
                clicks = random.binomial(shown, curve * (.9 * relevance[:, :, None] + .05))
                errors.append(np.abs(estimate(shown, clicks) / curve - 1).max())
                losses.append(ndcg_loss(relevance, probabilities))
            print(f"{eta:<4} {policy:<22} {np.mean(errors):>30.1%} {-np.mean(losses):>28.2%}", flush=True)


if __name__ == "__main__":
    main()
