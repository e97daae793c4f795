#!/usr/bin/env python3
"""Trains each kind of model on more and more pairs of a planted log
(scripts/corpus/make_planted_log.py) and prints how often each ranks the right
title first, by slice: where order of words or composition of meanings decides,
and how many pairs it takes to learn it.

    scripts/experiments/scale_curve.py --results=FOLDER --pairs=10000,100000,1000000

writes the log of the largest number of pairs into the folder (smaller ones are
its beginning), one JSON line a finished run into runs.jsonl, and the tables as
table.md and, with a plot of each slice, table.html. The same command continues
an interrupted run; more --pairs or --models add to it. Fewer pairs are passed
over more often, so that each run has about --visits of them, in at most
--max_epochs epochs. The epoch is chosen by NDCG@10 of the log's dev queries,
the values are those of its test queries.
"""
import argparse
import datetime
import html
import itertools
import json
import math
import pathlib
import sys
import time

import paper_table
import quality_table

sys.path.insert(0, str(quality_table.ROOT / "scripts/corpus"))
import make_planted_log  # noqa: E402

LETTERS = "--features=letters"
# The rates suit mini-batches of --batch_size; ssi has its own. CLSM at 0.002 is
# worse at marked orders.
MODELS = {
    "linear, letters": ["--tower=linear", LETTERS, "--learning_rate=0.002"],
    "linear, letters+bigrams": ["--tower=linear", "--features=letters+bigrams", "--learning_rate=0.002"],
    "dssm, letters": ["--tower=dssm", LETTERS, "--learning_rate=0.002"],
    "dssm, letters+bigrams": ["--tower=dssm", "--features=letters+bigrams", "--learning_rate=0.002"],
    "clsm, window 1": ["--tower=clsm", "--window=1", LETTERS, "--learning_rate=0.001"],
    "clsm, window 3": ["--tower=clsm", "--window=3", LETTERS, "--learning_rate=0.001"],
    "ssi, words": ["--tower=ssi"],
}
METRICS = ["ndcg@1", "ndcg@3", "ndcg@10"]
COLOURS = ["#1b6ca8", "#7aa6c2", "#b5302a", "#e08a3c", "#8fbf6b", "#2f8f4e", "#555"]


class Curve(quality_table.Collection):
    """Finished and new runs; calls programs as quality_table.py does."""

    def __init__(self, options):  # without its collection and models
        self.options = options
        self.folder = options.results
        self.folder.mkdir(parents=True, exist_ok=True)
        self.file = self.folder / "runs.jsonl"
        self.runs = []
        if self.file.exists():
            self.runs = [json.loads(line) for line in self.file.read_text().splitlines()]

    def write_log(self, pairs):
        """The planted log, unless the folder has one that is long enough."""
        stamp = self.folder / "log.json"
        wanted = {"pairs": pairs, "seed": self.options.log_seed}
        if stamp.exists():
            kept = json.loads(stamp.read_text())
            if kept["seed"] == wanted["seed"] and kept["pairs"] >= pairs:
                return
            if kept["seed"] != wanted["seed"]:
                sys.exit(f"{self.folder} has a log of --log_seed={kept['seed']}; use another folder")
        make_planted_log.write_log(self.folder, pairs, self.options.log_seed)
        stamp.write_text(json.dumps(wanted))

    def judged(self, part, prefix=""):
        return [f"--{prefix}{name}={self.folder}/{part}.{name}.{kind}"
                for name, kind in (("queries", "tsv"), ("docs", "tsv"), ("qrels", "txt"))] + \
            [f"--{prefix}candidates=judged"]

    def evaluate(self, *flags):
        """NDCG by slice on the test queries."""
        printed = self.call("semrank-eval", *self.judged("test"), "--output=json",
                            f"--slices={self.folder}/test.slices.tsv", *flags)
        return {name: {metric: part["metrics"][metric] for metric in METRICS}
                for name, part in json.loads(printed)["slices"].items()}

    def run(self, name, pairs):
        o = self.options
        flags = [*MODELS[name], f"--batch_size={o.batch_size}"]
        run = {"model": name, "train": flags, "pairs": pairs, "seed": o.seed,
               "epochs": max(1, min(o.max_epochs, round(o.visits / pairs)))}
        for kept in self.runs:
            if all(kept[key] == run[key] for key in run):
                return
        part = self.folder / f"train.{pairs}.tsv"
        if not part.exists():
            with open(self.folder / "train.tsv", encoding="ascii") as lines:
                part.write_text("".join(itertools.islice(lines, pairs)), encoding="ascii")
        print(f"{name}, {pairs} pairs, {run['epochs']} epochs", file=sys.stderr, flush=True)
        started = time.monotonic()
        lexical = [] if "--tower=ssi" in flags else ["--lexical=none"]
        model = self.folder / "models" / f"{name}.{pairs}.{o.seed}".replace(" ", "_").replace(",", "")
        trained = self.call(
            "semrank-train", f"--train={part}", f"--model_dir={model}", "--resume", "--force",
            f"--epochs={run['epochs']}", f"--seed={o.seed}", f"--threads={o.threads}",
            *self.judged("dev", "valid_"), *lexical, *flags)
        if trained is None:
            sys.exit(f"semrank-train refuses the flags of {name}")
        run |= {"seconds": round(time.monotonic() - started), "commit": paper_table.commit(),
                "date": datetime.date.today().isoformat(),
                "slices": self.evaluate("--ranker=model", f"--model_dir={model}")}
        self.runs.append(run)
        with open(self.file, "a", encoding="utf-8") as lines:
            lines.write(json.dumps(run) + "\n")


def values(runs, part, metric):
    """By model and number of pairs; of runs of one model, the latest."""
    table = {}
    for run in runs:
        table.setdefault(run["model"], {})[run["pairs"]] = run["slices"][part][metric]
    return {name: table[name] for name in MODELS if name in table}


def short(value):
    return f"{value:.3f}".lstrip("0")


def as_markdown(runs, chance, metric):
    sizes = sorted({run["pairs"] for run in runs})
    lines = ["| slice | model | " + " | ".join(f"{size:,}" for size in sizes) + " |",
             "|---|---|" + "---|" * len(sizes)]
    for part in chance:
        lines.append(f"| {part} | word matching | " + " | ".join([short(chance[part][metric])] * len(sizes)) + " |")
        for name, by_size in values(runs, part, metric).items():
            cells = [short(by_size[size]) if size in by_size else "" for size in sizes]
            lines.append(f"| | {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def chart(runs, part, chance, metric, width=420, height=260):
    """SVG of one slice: a line a model over the number of pairs, dashed what word
    matching reaches."""
    sizes = sorted({run["pairs"] for run in runs})
    low, high = math.log10(sizes[0]), math.log10(sizes[-1])
    bottom, top, left, right = height - 36, 26, 36, width - 14

    def x(size):
        return left + (right - left) * ((math.log10(size) - low) / (high - low) if high > low else 0.5)

    def y(value):
        return bottom - (bottom - top) * value

    svg = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
           f'font-family="sans-serif" font-size="11"><text x="{left}" y="15" font-size="13">'
           f"{html.escape(part)}</text>"]
    for tick in (0, 0.25, 0.5, 0.75, 1):
        svg.append(f'<path d="M{left} {y(tick):.1f}H{right}" stroke="#ddd"/>'
                   f'<text x="{left - 5}" y="{y(tick) + 4:.1f}" text-anchor="end">{tick:g}</text>')
    for size in sizes:
        svg.append(f'<text x="{x(size):.1f}" y="{bottom + 16}" text-anchor="middle">{size:,}</text>')
    svg.append(f'<path d="M{left} {y(chance):.1f}H{right}" stroke="#000" stroke-dasharray="4 3"/>')
    for name, by_size in values(runs, part, metric).items():
        colour = COLOURS[list(MODELS).index(name)]
        points = [(x(size), y(by_size[size])) for size in sorted(by_size)]
        svg.append(f'<polyline fill="none" stroke="{colour}" stroke-width="2" points="'
                   + " ".join(f"{a:.1f},{b:.1f}" for a, b in points) + '"/>')
        svg += [f'<circle cx="{a:.1f}" cy="{b:.1f}" r="3" fill="{colour}"/>' for a, b in points]
    return "".join(svg) + "</svg>"


def as_html(runs, chance, metric):
    legend = "".join(f'<span style="color:{COLOURS[list(MODELS).index(name)]}">&#9632;</span> '
                     f"{html.escape(name)} &nbsp; " for name in MODELS
                     if any(run["model"] == name for run in runs))
    rows = "".join("<tr>" + "".join(f"<td>{html.escape(cell.strip())}</td>"
                                    for cell in line.strip("|").split("|")) + "</tr>"
                   for line in as_markdown(runs, chance, metric).splitlines()
                   if not line.startswith("|---"))
    return ("<!doctype html><meta charset=utf-8><title>Scale</title><style>body{font-family:sans-serif;"
            "margin:2em}td{padding:.1em .7em}</style><h1>A planted structure: " + metric.upper()
            + f" over pairs</h1><p>{legend} dashed: word matching (chance)</p>"
            + "".join(chart(runs, part, chance[part][metric], metric) for part in chance)
            + f"<table>{rows}</table>\n")


def parse_arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--results", type=pathlib.Path, required=True,
                        help="folder of the log, the models, the finished runs and the tables")
    parser.add_argument("--pairs", default="10000,100000,1000000", help="numbers of training pairs")
    parser.add_argument("--models", default="",
                        help="names with semicolons between them (default: all)")
    parser.add_argument("--metric", default="ndcg@1", choices=METRICS, help="of the tables")
    parser.add_argument("--visits", type=float, default=1e6,
                        help="training pairs of a run, repeated ones too, at least")
    parser.add_argument("--max_epochs", type=int, default=100)
    parser.add_argument("--batch_size", type=int, default=128)
    parser.add_argument("--seed", type=int, default=1, help="of the training")
    parser.add_argument("--log_seed", type=int, default=1, help="of the planted log")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--bin", default=str(quality_table.ROOT / "build/release/bin"))
    return parser.parse_args()


def main():
    options = parse_arguments()
    names = quality_table.chosen_names(options.models, MODELS, "models") or list(MODELS)
    sizes = sorted(int(pairs) for pairs in options.pairs.split(","))
    curve = Curve(options)
    curve.write_log(sizes[-1])
    chance = curve.evaluate("--ranker=bm25")
    for pairs in sizes:
        for name in names:
            curve.run(name, pairs)
            (curve.folder / "table.md").write_text(
                as_markdown(curve.runs, chance, options.metric), encoding="utf-8")
            (curve.folder / "table.html").write_text(
                as_html(curve.runs, chance, options.metric), encoding="utf-8")
    print(as_markdown(curve.runs, chance, options.metric), end="")


if __name__ == "__main__":
    main()
