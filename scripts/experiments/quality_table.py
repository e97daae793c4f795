#!/usr/bin/env python3
"""Trains and evaluates every kind of model on one judged collection, and prints
the table of their NDCG in Markdown.

    scripts/experiments/quality_table.py --train=train.tsv --docs=docs.tsv \\
        --queries=dev.tsv --qrels=dev.qrels.txt --results=results.jsonl

Each model is trained on --train alone, for --epochs without using the judged
queries, once per seed. The table has the mean over the seeds and, after +-, half
the difference between the best and the worst. "p" says whether the difference of
NDCG@10 to --reference could be chance: a paired randomization test over the
queries, of the means over the seeds. Finished runs are kept in --results,
so an interrupted run continues where it stopped. Variants that this build does not
support are listed below the table.
"""
import argparse
import collections
import json
import math
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
METRICS = ["ndcg@1", "ndcg@3", "ndcg@10"]
SIGN_FLIPS = 2000

# `train`: flags of semrank-train beside the defaults, None for rankers that
# learn nothing. `evaluate`: flags of semrank-eval.
Variant = collections.namedtuple("Variant", "name train evaluate",
                                 defaults=(["--ranker=model"],))


def tower(name, *flags):
    """A model without a lexical part: what the tower itself learns."""
    return Variant(name, [*flags, "--lexical=none"])


DEFAULT = "the default, as served"
TOWER_OF_DEFAULT = "linear, 256 (the default's tower)"
VARIANTS = [
    Variant("BM25", None, ["--ranker=bm25"]),
    Variant("word TF-IDF", None, ["--ranker=word_tfidf"]),
    Variant("letter-trigram TF-IDF", None, ["--ranker=letter_tfidf"]),
    Variant(DEFAULT, []),
    Variant(TOWER_OF_DEFAULT, [], ["--ranker=tower"]),
    tower("linear, the recipe before (letters, constant rate)",
          "--features=letters", "--learning_rate_decay=none", "--gamma=15"),
    tower("linear, 128", "--embedding_dim=128"),
    tower("linear, tanh", "--activation=tanh"),
    tower("linear, letters alone", "--features=letters"),
    tower("linear, letters+words", "--features=letters+words"),
    tower("linear, letters+words+bigrams", "--features=letters+words+bigrams"),
    tower("linear, 20,000 bigrams", "--max_bigrams=20000"),
    tower("linear, constant rate", "--learning_rate_decay=none"),
    tower("linear, typos in 20 % of the queries", "--query_typos=0.2"),
    tower("linear, no logQ correction", "--logq=0"),
    tower("linear, logQ correction of .5", "--logq=0.5"),
    tower("linear, gamma 10", "--gamma=10"),
    tower("linear, gamma 15", "--gamma=15"),
    tower("linear, gamma 20", "--gamma=20"),
    tower("linear, separate towers", "--noshared_towers"),
    tower("linear, shown but not clicked", "--hard_negatives=4", "{judged}"),
    tower("dssm", "--tower=dssm"),
    tower("dssm, one hidden layer, 256",
          "--tower=dssm", "--hidden=300", "--embedding_dim=256"),
    tower("dssm, words", "--tower=dssm", "--features=words"),
    tower("dssm, letters", "--tower=dssm", "--features=letters"),
    tower("dssm, letter 2-grams",
          "--tower=dssm", "--features=letters", "--ngram_length=2"),
    tower("dssm, letter 4-grams",
          "--tower=dssm", "--features=letters", "--ngram_length=4"),
    tower("dssm, 4,096 hash buckets",
          "--tower=dssm", "--features=letters", "--hash_buckets=4096"),
    tower("dssm, separate towers", "--tower=dssm", "--noshared_towers"),
    tower("dssm, 4 uniform negatives",
          "--tower=dssm", "--negative_sampling=uniform", "--negatives=4"),
    tower("dssm, shown but not clicked",
          "--tower=dssm", "--hard_negatives=4", "{judged}"),
    tower("dssm, gamma 10", "--tower=dssm", "--gamma=10"),
    Variant("preset dssm2013", ["--preset=dssm2013"]),
    tower("clsm, window 1", "--tower=clsm", "--window=1"),
    tower("clsm, window 3", "--tower=clsm", "--window=3"),
    tower("clsm, window 5", "--tower=clsm", "--window=5"),
    Variant("preset clsm2014", ["--preset=clsm2014"]),
    Variant("ssi, low rank", ["--tower=ssi"]),
    Variant("ssi, 1,000 dense words", ["--tower=ssi", "--ssi_dense_words=1000"]),
    Variant("ssi, correlated features",
            ["--tower=ssi", "--ssi_frequent_words=1000",
             "--ssi_correlated_top_k=5"]),
    Variant("ssi, symmetric", ["--tower=ssi", "--ssi=symmetric"]),
    Variant("ssi, low rank without identity",
            ["--tower=ssi", "--ssi=low_rank_no_identity"]),
    Variant("ssi, diagonal", ["--tower=ssi", "--ssi=diagonal"]),
    Variant("ssi, full", ["--tower=ssi", "--ssi=full", "--max_words=5000"]),
    Variant("ssi, hashed pairs",
            ["--tower=ssi", "--ssi=full", "--ssi_pair_hash_buckets=1000003",
             "--negative_sampling=uniform", "--negatives=4"]),
    Variant("preset ssi2009", ["--preset=ssi2009"]),
]


class Collection:
    def __init__(self, options):
        self.options = options
        self.results = pathlib.Path(options.results)
        self.models = tempfile.TemporaryDirectory()
        self.done = {}
        if self.results.exists():
            for line in self.results.read_text().splitlines():
                result = json.loads(line)
                if "per_query" in result:  # older versions kept means only
                    self.done[self.key(result)] = result

    @staticmethod
    def key(result):
        return (tuple(result["train"] or []), tuple(result["evaluate"]),
                result["seed"], result["epochs"])

    def run(self, variant, seed):
        """{"metrics": ..., "per_query": NDCG@10 by query id} of one run, new or
        kept; None when the build refuses."""
        judged = self.options.judged
        flags = variant.train and [flag.format(judged=f"--judged={judged}")
                                   for flag in variant.train]
        if flags and not judged and any("{judged}" in f for f in variant.train):
            return None
        learns = variant.train is not None
        result = {"train": flags if learns else None,
                  "evaluate": variant.evaluate,
                  "seed": seed if learns else 0,
                  "epochs": self.options.epochs if learns else 0}
        if self.key(result) not in self.done:
            measured = self.train_and_evaluate(result)
            if measured is None:
                return None
            result |= measured
            self.done[self.key(result)] = result
            with open(self.results, "a", encoding="utf-8") as lines:
                lines.write(json.dumps(result) + "\n")
        return self.done[self.key(result)]

    def train_and_evaluate(self, result):
        model = []
        if result["train"] is not None:
            folder = self.train(result["train"], result["seed"])
            if folder is None:
                return None
            model = [f"--model_dir={folder}"]
        measured = self.evaluate(*model, *result["evaluate"])
        if measured is None:
            return None
        printed, per_query = measured
        return {"metrics": printed["metrics"], "per_query": per_query["ndcg@10"]}

    def evaluate(self, *flags):
        """What semrank-eval prints, and values by metric and query."""
        o = self.options
        with tempfile.TemporaryDirectory() as folder:
            per_query = pathlib.Path(folder, "per_query.tsv")
            printed = self.call("semrank-eval", f"--docs={o.docs}", f"--queries={o.queries}",
                                f"--qrels={o.qrels}", f"--candidates={o.candidates}", "--output=json",
                                f"--per_query={per_query}", *flags)
            if printed is None:
                return None
            values = collections.defaultdict(dict)
            for line in per_query.read_text(encoding="utf-8").splitlines():
                query, metric, value = line.split("\t")
                values[metric][query] = float(value)
        return json.loads(printed), values

    def train(self, flags, seed):
        """The folder of a model, which rankers of the same flags share; None
        when the build refuses the flags."""
        o = self.options
        folder = pathlib.Path(self.models.name, "".join(flags).replace("/", "_") + f".{seed}")
        if folder.exists():
            return folder
        trained = self.call(
            "semrank-train", f"--train={o.train}", f"--model_dir={folder}",
            f"--epochs={o.epochs}", f"--seed={seed}",
            f"--threads={o.threads}", "--valid_fraction=0", *flags)
        return None if trained is None else folder

    def call(self, program, *arguments):
        """What the program prints; None when it does not know a flag or value
        (exit code 2). Any other failure ends the table."""
        done = subprocess.run([str(pathlib.Path(self.options.bin, program)),
                               *arguments], capture_output=True, text=True)
        if done.returncode not in (0, 2):
            sys.exit(f"{program} {' '.join(arguments)}\n{done.stderr}")
        if done.returncode == 2:
            print(f"{program}: {done.stderr.strip()}", file=sys.stderr)
            return None
        return done.stdout


def cell(values):
    mean = f"{statistics.mean(values):.3f}".lstrip("0")
    if len(values) == 1:
        return mean
    return f"{mean} ±{(max(values) - min(values)) / 2:.3f}".replace("±0.", "±.")


def mean_per_query(runs):
    return {query: statistics.mean(run["per_query"][query] for run in runs)
            for query in runs[0]["per_query"]}


def query_differences(runs, reference):
    """By query, of the means over the seeds that both have. What learns nothing
    has no seeds."""
    learned = all(run["train"] is not None for run in runs + reference)
    seeds = {run["seed"] for run in runs} & {run["seed"] for run in reference}
    here, there = (mean_per_query([run for run in side if run["seed"] in seeds or not learned])
                   for side in (runs, reference))
    return [here[query] - there[query] for query in sorted(here)]


def randomization_p(runs, reference):
    """Two-sided p of the difference of the means, as semrank-eval computes it:
    if the two were equally good, each difference could have the other sign."""
    differences = query_differences(runs, reference)
    observed = abs(sum(differences)) - 1e-12
    draw = random.Random(1)
    as_large = sum(abs(sum((d if draw.getrandbits(1) else -d) for d in differences if d)) >= observed
                   for _ in range(SIGN_FLIPS))
    return (1 + as_large) / (1 + SIGN_FLIPS)


def print_table(rows, reference):
    runs_of = dict(rows)
    print("| model | " + " | ".join(m.upper() for m in METRICS) + " | p |")
    print("|---|" + "---|" * (len(METRICS) + 1))
    for name, runs in rows:
        cells = [cell([run["metrics"][metric] for run in runs]) for metric in METRICS]
        p = ""
        if reference in runs_of and name != reference:
            p = f"{randomization_p(runs, runs_of[reference]):.3f}".lstrip("0")
        print(f"| {name} | " + " | ".join(cells) + f" | {p} |")


def read_runs(results):
    """Finished runs of a collection, by variant."""
    names = {(tuple(v.train or []), tuple(v.evaluate)): v.name for v in VARIANTS}
    runs = collections.defaultdict(list)
    for line in pathlib.Path(results).read_text().splitlines():
        run = json.loads(line)
        if run["train"] is not None and "per_query" in run:
            flags = tuple(run["train"]), tuple(run["evaluate"])
            runs[names.get(flags, " ".join(run["train"]))].append(run)
    return runs


def standardized_gain(runs, reference):
    """The mean difference of NDCG@10 over the queries, in its standard errors."""
    differences = query_differences(runs, reference)
    deviation = statistics.stdev(differences)
    return statistics.mean(differences) / deviation * math.sqrt(len(differences)) if deviation else 0


def print_leave_one_out(files, reference):
    """A tie, as between gains below 0, goes to the reference, whose gain is 0."""
    runs_of = {pathlib.Path(file).stem: read_runs(file) for file in files}
    candidates = [name for name in next(iter(runs_of.values()))
                  if all(name in runs for runs in runs_of.values())]
    candidates.sort(key=lambda name: name != reference)
    gains = {name: {collection: standardized_gain(runs[name], runs[reference])
                    for collection, runs in runs_of.items()} for name in candidates}
    print("| gain and (standardized) | " + " | ".join(runs_of) + " | mean |")
    print("|---|" + "---|" * (len(runs_of) + 1))
    for name in candidates[1:]:
        cells = [f"{statistics.mean(query_differences(runs[name], runs[reference])):+.4f} "
                 f"({gains[name][collection]:+.1f})" for collection, runs in runs_of.items()]
        mean = statistics.mean(gains[name].values())
        print(f"| {name} | " + " | ".join(cells) + f" | ({mean:+.1f}) |")
    print("\n| left out | the others choose | their mean | gain on it | p |\n|---|---|---|---|---|")
    for left_out, runs in runs_of.items():
        means = {name: statistics.mean(gain for collection, gain in gains[name].items()
                                       if collection != left_out) for name in candidates}
        chosen = max(candidates, key=means.get)
        here = statistics.mean(query_differences(runs[chosen], runs[reference]))
        print(f"| {left_out} | {chosen} | ({means[chosen]:+.1f}) | {here:+.4f} | "
              f"{randomization_p(runs[chosen], runs[reference]):.3f} |")


def argument_parser(description, results_help, required=False):
    """The flags of every table of a judged collection."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, what in (("train", "pairs: query TAB title"),
                       ("docs", "documents: doc_id TAB title"),
                       ("queries", "judged queries: query_id TAB query"),
                       ("qrels", "their judgements, TREC qrels"),
                       ("results", results_help)):
        parser.add_argument(f"--{name}", required=required, help=what)
    parser.add_argument("--candidates", default="all", choices=("all", "judged"))
    parser.add_argument("--epochs", type=int, default=12)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--bin", default=str(ROOT / "build/release/bin"))
    return parser


def chosen_names(text, known, what):
    """The names of a flag, which have semicolons between them; exits with an error for one that is not known."""
    names = [name.strip() for name in text.split(";") if name.strip()]
    unknown = set(names) - set(known)
    if unknown:
        sys.exit(f"no such {what}: {'; '.join(sorted(unknown))}; there are {'; '.join(known)}")
    return names


def parse_arguments():
    parser = argument_parser(__doc__, "file of finished runs, JSON lines")
    parser.add_argument("--judged", default="",
                        help="judged training pairs, for negatives that were "
                        "shown (semrank-train --judged)")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--variants", default="",
                        help="names with semicolons between them (default: all)")
    parser.add_argument("--reference", default=TOWER_OF_DEFAULT,
                        help="the variant that the others are tested against")
    parser.add_argument("--leave_one_out", nargs="+", metavar="RESULTS",
                        help="files of --results, one a collection: chooses "
                        "among the variants that all of them have")
    options = parser.parse_args()
    missing = [f"--{name}" for name in ("train", "docs", "queries", "qrels", "results")
               if getattr(options, name) is None]
    if missing and not options.leave_one_out:
        parser.error(f"missing: {', '.join(missing)}")
    return options


def main():
    options = parse_arguments()
    if options.leave_one_out:
        print_leave_one_out(options.leave_one_out, options.reference)
        return
    collection = Collection(options)
    wanted = chosen_names(options.variants, [variant.name for variant in VARIANTS], "variants")
    rows, refused = [], []
    for variant in VARIANTS:
        if wanted and variant.name not in wanted:
            continue
        seeds = range(1, options.seeds + 1) if variant.train is not None else [0]
        runs = []
        for seed in seeds:
            print(f"{variant.name}, seed {seed}", file=sys.stderr, flush=True)
            metrics = collection.run(variant, seed)
            if metrics is None:
                break
            runs.append(metrics)
        if runs:
            rows.append((variant.name, runs))
        else:
            refused.append(variant.name)
    print_table(rows, options.reference)
    if refused:
        print(f"\nNot measured: {'; '.join(refused)}.")


if __name__ == "__main__":
    main()
