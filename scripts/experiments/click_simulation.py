#!/usr/bin/env python3
"""Judges the correction of position bias: simulated users click on rankings of a
judged collection, and models learn from these clicks.

    scripts/experiments/click_simulation.py --docs=docs.tsv --train=train.tsv \\
        --queries=dev.tsv --qrels=dev.qrels.txt --results=simulation.jsonl

--train has pairs, query TAB title: what users who type the query want. A ranker
(--before) orders the titles for each of these queries, users see the first ten,
and click as --users describes (click_models.py). In a share of the lists
(--exploration) two results are exchanged, as semrank-server --explore does.

Three models learn from the same lists:

  biased     from the clicks as they are
  corrected  from the clicks, corrected by --position_bias=estimate
  unbiased   from the clicks of users who look at every position (eta 0)

--trust adds two models for users who trust the top (--users=trust). Both know the
true probabilities of a click on a wanted and on an unwanted result at each
position, eps+ and eps- (Agarwal et al., WWW 2019):

  inverse    from clicks / examination
  affine     from (clicks - shown eps-) / (eps+ - eps-), at least 0

"regained" is the share of what biased loses against unbiased that corrected wins
back, in NDCG@10 of --queries. Both p compare biased with the others by a paired
randomization test over the queries, of the means over --seeds.

The other table compares the estimated curve with the true one: how often users
look at a wanted result at a position, against the first one. The largest error of
the ten positions is the mean of the seeds, with their smallest and largest.
--only_curve skips the models. Finished runs are kept in --results; an interrupted
run continues where it stopped.
"""
import argparse
import collections
import json
import pathlib
import random
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True  # leave the source tree as it is

from click_models import NAMES, UNWANTED, ClickModel, examination  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
DEPTH = 10  # results of a list
SIGN_FLIPS = 2000
# What a finished run is known by.
KEY = ("eta", "exploration", "impressions", "seed", "users", "noise", "only_curve", "trust")
# Corrected clicks are written in these parts of one, because lines have integers.
CLICK_PARTS = 10
# A model that takes little time, where only the curve is looked at.
SMALLEST_MODEL = ["--epochs=1", "--embedding_dim=8", "--features=words", "--lexical=none"]


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, text in (("docs", "doc_id TAB title"), ("train", "query TAB title, what users want"),
                       ("queries", "judged queries"), ("qrels", "their TREC judgements"),
                       ("results", "finished runs, as JSON lines")):
        parser.add_argument(f"--{name}", required=True, type=pathlib.Path, metavar="FILE", help=text)
    parser.add_argument("--bin", type=pathlib.Path, default=ROOT / "build/release/bin", metavar="DIR",
                        help="folder of the programs (default: build/release/bin)")
    parser.add_argument("--before", default="bm25", metavar="RANKER",
                        help="ranker whose lists were shown (default: bm25)")
    parser.add_argument("--users", choices=NAMES, default="position", help="click model (default: position)")
    parser.add_argument("--noise", type=float, default=UNWANTED, metavar="SHARE",
                        help="how often a user who looks at a result clicks it although it is not wanted "
                        f"(default: {UNWANTED})")
    parser.add_argument("--eta", default="0.5,1,2", help="how fast attention falls (default: 0.5,1,2)")
    parser.add_argument("--exploration", default="0.05", help="shares of lists that are changed (default: 0.05)")
    parser.add_argument("--impressions", default="1000000", help="numbers of lists shown (default: 1000000)")
    parser.add_argument("--seeds", type=int, default=3, help="runs of each (default: 3)")
    parser.add_argument("--only_curve", action="store_true", help="compare no models")
    parser.add_argument("--trust", action="store_true", help="compare two corrections that know the users")
    parser.add_argument("--flags", default="", help="further flags of semrank-train, separated by blanks")
    options = parser.parse_args()
    if options.trust and (options.users not in ("position", "trust") or options.only_curve):
        parser.error("--trust needs users who look at positions independently, and models")
    return options


def read_tsv(path, columns):
    with path.open(encoding="utf-8") as lines:
        return [line.rstrip("\n").split("\t")[:columns] for line in lines if line.strip()]


def run(command):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{command[0]} failed:\n{done.stderr[-2000:]}")
    return done


class Collection:
    """The lists of the ranker before: for each query its first titles, and
    which of them users want."""

    def __init__(self, options, folder):
        titles = dict(read_tsv(options.docs, 2))
        ids = collections.defaultdict(list)
        for name, title in titles.items():
            ids[title].append(name)
        wanted = collections.defaultdict(set)
        for query, title in read_tsv(options.train, 2):
            wanted[query].update(ids.get(title, ()))
        queries = [query for query, names in wanted.items() if names]
        (folder / "queries.tsv").write_text("".join(f"q{i}\t{q}\n" for i, q in enumerate(queries)), encoding="utf-8")
        (folder / "qrels.txt").write_text(
            "".join(f"q{i} 0 {name} 1\n" for i, q in enumerate(queries) for name in sorted(wanted[q])),
            encoding="utf-8")
        run([options.bin / "semrank-eval", f"--docs={options.docs}", f"--queries={folder / 'queries.tsv'}",
             f"--qrels={folder / 'qrels.txt'}", "--candidates=all", f"--ranker={options.before}",
             f"--run_out={folder / 'shown.run'}", f"--run_depth={DEPTH}"])
        lists = collections.defaultdict(list)
        for line in (folder / "shown.run").read_text(encoding="utf-8").splitlines():
            query, _, name, *_ = line.split()
            lists[query].append(name)
        # (query, titles as ranked, whether each is wanted)
        self.lists = [(query, [titles[name] for name in lists[f"q{i}"]],
                       [name in wanted[query] for name in lists[f"q{i}"]])
                      for i, query in enumerate(queries) if lists[f"q{i}"]]
        self.wanted_share = sum(any(wanted) for _, _, wanted in self.lists) / max(1, len(self.lists))

    def write_clicks(self, users, exploration, impressions, seed, path):
        """Shows lists, draws clicks, and writes their sums: query, title,
        clicks, impressions, position. Returns how often wanted results were
        looked at, by position, against the first."""
        rng = random.Random(f"{seed} {exploration} {impressions}")
        clicked = [[0] * (DEPTH * DEPTH) for _ in self.lists]
        shown = [[0] * (DEPTH * DEPTH) for _ in self.lists]
        num_wanted, num_seen = [0] * DEPTH, [0] * DEPTH
        for _ in range(impressions):
            number = rng.randrange(len(self.lists))
            wanted = self.lists[number][2]
            order = list(range(len(wanted)))
            if len(order) > 1 and rng.random() < exploration:
                first, second = rng.sample(range(len(order)), 2)
                order[first], order[second] = order[second], order[first]
            for position, place in enumerate(order):
                shown[number][place * DEPTH + position] += 1
                num_wanted[position] += wanted[place]
            looked_at, clicks = users.visit([wanted[place] for place in order], rng)
            for position in looked_at:
                num_seen[position - 1] += wanted[order[position - 1]]
            for position in clicks:
                clicked[number][order[position - 1] * DEPTH + position - 1] += 1
        with path.open("w", encoding="utf-8") as out:
            for number, (query, titles, _) in enumerate(self.lists):
                for place, title in enumerate(titles):
                    for position in range(DEPTH):
                        cell = place * DEPTH + position
                        if shown[number][cell]:
                            out.write(f"{query}\t{title}\t{clicked[number][cell]}\t{shown[number][cell]}"
                                      f"\t{position + 1}\n")
        shares = [seen / max(1, number) for seen, number in zip(num_seen, num_wanted)]
        return [share / (shares[0] or 1) for share in shares]


def write_corrected(users, clicks, affine, path):
    """Writes the sum over positions of a title's clicks, corrected by what users do. Without
    `affine` a click counts as one of a user who looks at every position."""
    sums = collections.defaultdict(float)
    for query, title, clicked, shown, position in read_tsv(clicks, 5):
        looked_at = examination(int(position), users.eta)
        if affine:
            wanted, unwanted = (looked_at * users.click_probability(w, int(position)) for w in (True, False))
            sums[query, title] += (int(clicked) - int(shown) * unwanted) / (wanted - unwanted)
        else:
            sums[query, title] += int(clicked) / looked_at
    with path.open("w", encoding="utf-8") as out:
        for (query, title), value in sums.items():
            out.write(f"{query}\t{title}\t{max(0, round(CLICK_PARTS * value))}\n")


def train(options, clicks, model_dir, seed, *flags):
    return run([options.bin / "semrank-train", f"--train={clicks}", f"--model_dir={model_dir}", f"--seed={seed}",
                "--clicks=weight", *options.flags.split(), *flags])


def ndcg_of(options, model_dir, folder):
    """NDCG@10 by query."""
    per_query = folder / "per_query.tsv"
    run([options.bin / "semrank-eval", f"--docs={options.docs}", f"--queries={options.queries}",
         f"--qrels={options.qrels}", "--candidates=all", f"--model_dir={model_dir}", f"--per_query={per_query}"])
    return {query: float(value) for query, metric, value in read_tsv(per_query, 3) if metric == "ndcg@10"}


def curve_of(model_dir):
    """The curve that the model was corrected by: (examination, error) by position."""
    newest = max((path for path in model_dir.iterdir() if path.name.isdigit()), key=lambda path: int(path.name))
    config = json.loads((newest / "config.json").read_text(encoding="utf-8"))
    training = config["training"]
    return list(zip(training["examination"], training["examination_error"]))


def key_of(options, setting, seed):
    """The values of KEY in a finished run."""
    return (*setting, seed, options.users, options.noise, options.only_curve, options.trust)


def measure(options, collection, setting, seed):
    """One seed of one setting: NDCG@10 by query of the three models, and the curve."""
    eta, exploration, impressions = setting
    users = ClickModel(options.users, eta, options.noise)
    result = dict(zip(KEY, key_of(options, setting, seed)))
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        clicks, all_seen = folder / "clicks.tsv", folder / "all_seen.tsv"
        result["looked_at"] = collection.write_clicks(users, exploration, impressions, seed, clicks)
        if users.name == "position":
            result["looked_at"] = [examination(position, eta) for position in range(1, DEPTH + 1)]
        if options.only_curve:
            train(options, clicks, folder / "corrected", seed, "--position_bias=estimate", *SMALLEST_MODEL)
        else:
            collection.write_clicks(ClickModel(options.users, 0.0, options.noise), exploration, impressions, seed,
                                    all_seen)
            for model, file, flags in (("biased", clicks, []), ("corrected", clicks, ["--position_bias=estimate"]),
                                       ("unbiased", all_seen, [])):
                train(options, file, folder / model, seed, *flags)
                result[model] = ndcg_of(options, folder / model, folder)
        for model in ("inverse", "affine") if options.trust else ():
            write_corrected(users, clicks, model == "affine", folder / f"{model}.tsv")
            train(options, folder / f"{model}.tsv", folder / model, seed)
            result[model] = ndcg_of(options, folder / model, folder)
        result["curve"] = curve_of(folder / "corrected")
    return result


def p_value(first, second):
    """Of the difference of two lists of paired values, by random signs."""
    rng = random.Random(1)
    differences = [a - b for a, b in zip(first, second)]
    observed = abs(sum(differences))
    extreme = sum(abs(sum(d if rng.random() < 0.5 else -d for d in differences)) >= observed
                  for _ in range(SIGN_FLIPS))
    return (extreme + 1) / (SIGN_FLIPS + 1)


def print_setting(setting, results):
    eta, exploration, impressions = setting
    queries = sorted(results[0]["biased"])
    means = {model: [sum(r[model][q] for r in results) / len(results) for q in queries]
             for model in ("biased", "corrected", "unbiased")}
    ndcg = {model: sum(values) / len(values) for model, values in means.items()}
    lost = ndcg["unbiased"] - ndcg["biased"]
    regained = f"{(ndcg['corrected'] - ndcg['biased']) / lost:.0%}" if lost > 0.001 else "nothing lost"
    print(f"| {eta:g} | {exploration:g} | {impressions:,} | {ndcg['biased']:.4f} | {ndcg['corrected']:.4f} | "
          f"{ndcg['unbiased']:.4f} | {regained} | {p_value(means['corrected'], means['biased']):.4f} | "
          f"{p_value(means['unbiased'], means['biased']):.4f} |")


def print_trust(setting, results):
    eta, exploration, impressions = setting
    means = [[sum(result[model][query] for result in results) / len(results) for query in sorted(results[0]["biased"])]
             for model in ("inverse", "affine")]
    inverse, affine = (sum(values) / len(values) for values in means)
    print(f"| {eta:g} | {exploration:g} | {impressions:,} | {inverse:.4f} | {affine:.4f} | {p_value(*means):.4f} |")


def errors_of(result):
    """Returns how far the estimate is from the truth, relative to the truth, by position."""
    curve = result["curve"]
    return [curve[min(position, len(curve) - 1)][0] / truth - 1 for position, truth in enumerate(result["looked_at"])]


def print_curve(setting, results):
    eta, exploration, impressions = setting
    cells = []
    for position, errors in enumerate(zip(*(errors_of(result) for result in results))):
        truth = sum(result["looked_at"][position] for result in results) / len(results)
        root_mean_square = (sum(error * error for error in errors) / len(errors)) ** 0.5
        cells.append(f"{truth:.3f} ± {root_mean_square:.0%}")
    largest = [max(map(abs, errors_of(result))) for result in results]
    print(f"| {eta:g} | {exploration:g} | {impressions:,} | {' | '.join(cells)} | {sum(largest) / len(largest):.1%} "
          f"({min(largest):.1%} to {max(largest):.1%}) |")


def main():
    options = parse_options()
    done = {}
    if options.results.exists():
        for line in options.results.read_text(encoding="utf-8").splitlines():
            result = json.loads(line)
            done[tuple(result[name] for name in KEY)] = result
    settings = [(float(eta), float(exploration), int(impressions)) for impressions in options.impressions.split(",")
                for exploration in options.exploration.split(",") for eta in options.eta.split(",")]
    collection = None
    with tempfile.TemporaryDirectory() as name:
        for setting in settings:
            for seed in range(1, options.seeds + 1):
                key = key_of(options, setting, seed)
                if key in done:
                    continue
                if collection is None:
                    collection = Collection(options, pathlib.Path(name))
                    print(f"{len(collection.lists):,} queries; {collection.wanted_share:.0%} of the lists have a "
                          "wanted result", file=sys.stderr)
                done[key] = measure(options, collection, setting, seed)
                with options.results.open("a", encoding="utf-8") as out:
                    out.write(json.dumps(done[key]) + "\n")
                print(f"eta {setting[0]:g}, seed {seed}: done", file=sys.stderr)
    groups = [(setting, [done[key_of(options, setting, seed)] for seed in range(1, options.seeds + 1)])
              for setting in settings]
    if not options.only_curve:
        print("| eta | exploration | lists | biased | corrected | unbiased | regained | p of corrected | "
              "p of unbiased |\n" + "|---" * 9 + "|")
        for group in groups:
            print_setting(*group)
    if options.trust:
        print("\n| eta | exploration | lists | inverse | affine | p |\n" + "|---" * 6 + "|")
        for group in groups:
            print_trust(*group)
    positions = " | ".join(str(position) for position in range(1, DEPTH + 1))
    print(f"\n| eta | exploration | lists | {positions} | largest error |\n" + "|---" * (DEPTH + 4) + "|")
    for group in groups:
        print_curve(*group)


if __name__ == "__main__":
    main()
