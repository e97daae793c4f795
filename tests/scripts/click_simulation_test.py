"""Simulated users (scripts/experiments/click_models.py) and the clicks that click_simulation.py draws."""

import pathlib
import random
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True  # leave the source tree as it is
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts/experiments"))

import click_simulation  # noqa: E402
from click_models import WANTED, ClickModel, examination  # noqa: E402

USERS = 40_000


def click_rates(model, wanted):
    """By position, of many users."""
    rng = random.Random(1)
    clicks = [0] * len(wanted)
    for _ in range(USERS):
        for position in model.clicks(wanted, rng):
            clicks[position - 1] += 1
    return [count / USERS for count in clicks]


class ClickModelsTest(unittest.TestCase):
    def test_position_users_click_by_examination_and_relevance(self):
        model = ClickModel("position", eta=1.0, unwanted=0.1)
        rates = click_rates(model, [True, False, True, False])
        for position, (rate, probability) in enumerate(zip(rates, [WANTED, 0.1, WANTED, 0.1]), start=1):
            self.assertAlmostEqual(rate, examination(position, 1.0) * probability, delta=0.01)

    def test_without_bias_every_position_is_looked_at(self):
        for rate in click_rates(ClickModel("position", eta=0.0), [True] * 10):
            self.assertAlmostEqual(rate, WANTED, delta=0.01)

    def test_cascade_users_stop_at_the_first_click(self):
        rng = random.Random(1)
        model = ClickModel("cascade", eta=0.0)
        self.assertTrue(all(len(model.clicks([True] * 10, rng)) <= 1 for _ in range(1000)))
        rates = click_rates(model, [True, True])
        self.assertAlmostEqual(rates[1], (1 - WANTED) * WANTED, delta=0.01)

    def test_dependent_users_may_read_on_after_a_click(self):
        rates = click_rates(ClickModel("dependent", eta=0.0), [True, True])
        self.assertAlmostEqual(rates[1], (WANTED * 0.5 + 1 - WANTED) * WANTED, delta=0.01)

    def test_users_click_only_what_they_look_at(self):
        rng = random.Random(1)
        for name in click_simulation.NAMES:
            for _ in range(100):
                looked_at, clicked = ClickModel(name).visit([True, False] * 5, rng)
                self.assertLessEqual(set(clicked), set(looked_at))

    def test_trusting_users_click_wrong_results_at_the_top(self):
        rates = click_rates(ClickModel("trust", eta=0.0, unwanted=0.0), [False] * 4)
        self.assertEqual(rates, sorted(rates, reverse=True))
        self.assertAlmostEqual(rates[0] / rates[3], 4, delta=0.5)


class Lists(click_simulation.Collection):
    def __init__(self, lists):
        self.lists = lists


class DrawnClicksTest(unittest.TestCase):
    LISTS = [("q1", ["a", "b", "c"], [True, False, False]), ("q2", ["d"], [True])]

    def draw(self, exploration, seed=1):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "clicks.tsv"
            Lists(self.LISTS).write_clicks(ClickModel(), exploration, 2_000, seed, path)
            return [line.split("\t") for line in path.read_text().splitlines()]

    def test_a_line_has_the_sums_of_a_title_at_a_position(self):
        rows = self.draw(exploration=0.0)
        self.assertEqual([(query, title, position) for query, title, _, _, position in rows],
                         [("q1", "a", "1"), ("q1", "b", "2"), ("q1", "c", "3"), ("q2", "d", "1")])
        shown = {title: int(impressions) for _, title, _, impressions, _ in rows}
        self.assertEqual(shown["a"], shown["c"])
        self.assertEqual(shown["a"] + shown["d"], 2_000)
        self.assertTrue(all(int(clicks) <= int(impressions) for _, _, clicks, impressions, _ in rows))

    def test_exploration_exchanges_two_results_of_some_lists(self):
        rows = self.draw(exploration=0.3)
        moved = sum(int(impressions) for query, title, _, impressions, position in rows
                    if query == "q1" and ("a", "b", "c")["123".index(position)] != title)
        shown = sum(int(impressions) for query, title, _, impressions, _ in rows if title == "a")
        self.assertAlmostEqual(moved / shown, 2 * 0.3, delta=0.1)

    def test_the_true_curve_is_of_wanted_results(self):
        with tempfile.TemporaryDirectory() as folder:
            lists = Lists([("q", ["a", "b", "c"], [True, False, True])])
            looked_at = lists.write_clicks(ClickModel("cascade", eta=1.0), 0.0, 20_000, 1, pathlib.Path(folder) / "c")
        # Users who find the first result stop there.
        self.assertAlmostEqual(looked_at[2], (1 - WANTED) / 3, delta=0.01)
        self.assertEqual(looked_at[:2], [1, 0])  # no user wants the second
        self.assertEqual(looked_at[3:], [0] * 7)

    def test_errors_are_relative_to_the_true_curve(self):
        result = {"curve": [(1.0, 0.0), (0.6, 0.1)], "looked_at": [1.0, 0.5, 0.3]}
        self.assertEqual([round(error, 6) for error in click_simulation.errors_of(result)], [0, 0.2, 1])

    def test_an_affine_correction_knows_what_trusting_users_click(self):
        users = ClickModel("trust", eta=1.0, unwanted=0.0)
        with tempfile.TemporaryDirectory() as name:
            clicks, corrected = pathlib.Path(name) / "clicks.tsv", pathlib.Path(name) / "corrected.tsv"
            Lists([("q", ["a", "b", "c"], [False, True, False])]).write_clicks(users, 0.2, USERS, 1, clicks)
            weights = []
            for affine in (False, True):
                click_simulation.write_corrected(users, clicks, affine, corrected)
                weights.append({title: int(count) / click_simulation.CLICK_PARTS / USERS
                                for _, title, count in click_simulation.read_tsv(corrected, 3)})
        inverse, affine = weights
        self.assertGreater(inverse["a"], 0.15)
        self.assertAlmostEqual(affine["a"], 0, delta=0.02)
        self.assertAlmostEqual(affine["b"], 1, delta=0.02)

    def test_the_same_seed_draws_the_same_clicks(self):
        self.assertEqual(self.draw(0.1, seed=3), self.draw(0.1, seed=3))
        self.assertNotEqual(self.draw(0.1, seed=3), self.draw(0.1, seed=4))


if __name__ == "__main__":
    unittest.main()
