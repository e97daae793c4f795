#!/usr/bin/env python3
"""Runs the systems of the DSSM, CLSM and SSI papers on one judged collection and
prints the papers' table.

    scripts/experiments/paper_table.py --train=train.tsv --docs=docs.tsv \\
        --queries=dev.tsv --qrels=dev.qrels.txt --results=FOLDER

Each row is NDCG@1, @3, @10, MAP, P@10, MRR and the ranking loss, with standard
errors. A row with several settings is cross-validated in two folds, as the papers
do it: each half of the queries is measured with the setting whose NDCG@10 is
best on the other half. a, b, c behind a value: better than BM25, PTM, DSSM (J =
50) with p < 0.05 in a paired t-test over the queries (with the normal
distribution for Student's: the same from a hundred queries on).

--training_shares=0.01,0.1,1 and --query_words=5,10,20 measure the rows on collections
that are made out of this one, and add their curves (SSI, tables 9 and 6): with that
share of the training pairs, and with that number of random words of each query, in
training too. Name the rows then (--rows): each is run once a point.

A finished row is a JSON file in --results, so an interrupted run continues. The
table comes as text, and as Markdown and one HTML page in --results. Rows of
scripts/experiments/baselines need Python packages (scripts/install_packages.sh baselines);
rows that cannot run are named below the table. Runs of scripts/experiments/baselines list
1,000 documents a query: on larger collections their ranking loss is too high.
"""
import collections
import copy
import datetime
import html
import json
import math
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time

import quality_table

ROOT = quality_table.ROOT
sys.path.insert(0, str(ROOT / "scripts" / "corpus"))
from derived_files import sample_pairs, shorten_queries  # noqa: E402

METRICS = ["ndcg@1", "ndcg@3", "ndcg@10", "map", "p@10", "mrr", "ranking_loss"]
MARKED = METRICS[:3]
CURVE_METRICS = ["ndcg@10", "map", "p@10", "ranking_loss"]
REFERENCES = {"a": "BM25", "b": "PTM", "c": "DSSM, J = 50"}

# Documents of a query in the runs of scripts/experiments/baselines. The judged documents of a query
# may be anywhere in the ranking of all.
RUN_DEPTH = {"all": 1000, "judged": 10**9}

# The baselines allocate and free arrays of tens of megabytes. malloc would give each back to the
# kernel, and page faults would take most of the time.
KEEP_MEMORY = {"MALLOC_MMAP_THRESHOLD_": "4000000000", "MALLOC_TRIM_THRESHOLD_": "4000000000"}

Ranker = collections.namedtuple("Ranker", "name ranker tune")
Script = collections.namedtuple("Script", "name script settings")
Trained = collections.namedtuple("Trained", "name settings")
# The sum of two models, with a factor that is cross-validated.
Mixed = collections.namedtuple("Mixed", "name settings")
# A curve over derived collections: its points are (label, options of its run).
Curve = collections.namedtuple("Curve", "title axis points")

PAPER = ["--preset=dssm2013", "--noshared_towers"]
CLSM = ["--preset=clsm2014"]
SSI = ["--tower=ssi"]
CFH = ["--ssi_frequent_words=5000", "--ssi_correlated_top_k=5"]
SAME_RANK = CFH + ["--ssi_correlated_pairing=same_rank"]
DENSE = ["--ssi_dense_words=5000"]
HASHED = ["--ssi_pair_hash_buckets=1000003", "--negative_sampling=uniform", "--negatives=4"]
TWO_GRAMS = ["--features=words+bigrams"]


def negatives(name, flags):
    """Rows with J = 4, J = 50, and all other titles of the batch."""
    return [Trained(f"{name}, J = 4", [flags + ["--negatives=4"]]),
            Trained(f"{name}, J = 50", [flags + ["--negatives=50"]]),
            Trained(f"{name}, in batch",
                    [flags + ["--negative_sampling=in_batch", "--negatives=0"]])]


ROWS = [
    Ranker("TF-IDF", "word_tfidf", ""),
    Ranker("BM25", "bm25", "bm25_k1,bm25_b"),
    Ranker("ULM", "ulm", "dirichlet_mu"),
    Ranker("query expansion", "qe", "qe_documents,qe_weight"),
    Script("LSA", "lsa.py", [[f"--rank={k}", f"--scaling={s}"]
                             for k in (100, 300) for s in ("none", "inverse")]),
    Script("a LSI + (1 - a) TF-IDF", "lsa.py",
           [["--rank=200", "--scaling=none", f"--alpha={a}"] for a in (0.1, 0.3, 0.5, 0.7)]),
    *(Script(f"PLSA, T = {topics}", "plsa.py",
             [[f"--topics={topics}", f"--topic_prior={prior}"] for prior in (0.001, 0.01, 0.1)])
      for topics in (100, 500)),
    Script("LDA, T = 100", "lda.py", [["--topics=100"]]),
    Script("LDA, T = 500", "lda.py", [["--topics=500"]]),
    Script("DAE", "dae.py", [[]]),
    Script("BLTM-PR, T = 100", "bltm.py", [["--topics=100"]]),
    Ranker("MRF", "mrf", "dirichlet_mu,mrf_ordered,mrf_unordered"),
    Script("LCE", "lce.py", [["--mu=300", f"--weight={w}"] for w in (0.1, 0.2, 0.4)]),
    Ranker("WTM", "wtm", "translation_background,translation_self"),
    Ranker("PTM", "ptm", "translation_background,translation_self"),
    # S2Net: log(1 + exp(-gamma (cos(q, d+) - cos(q, d-)))) is the softmax of J = 1.
    Trained("DPM (S2Net)", [["--preset=dssm2013", "--tower=linear", "--features=words",
                             "--max_words=40000", "--negatives=1"]]),
    *negatives("DNN", PAPER + ["--features=words", "--max_words=40000"]),
    *negatives("L-WH linear", PAPER + ["--tower=linear"]),
    *negatives("L-WH non-linear", PAPER + ["--tower=linear", "--activation=tanh"]),
    *negatives("DSSM", PAPER),
    *(row for window in (1, 3, 5)
      for row in negatives(f"CLSM, window {window}", CLSM + [f"--window={window}"])),
    Trained("SSI, W = diagonal", [SSI + ["--ssi=diagonal"]]),
    Trained("SSI, W = U'U + I", [SSI + ["--ssi=symmetric"]]),
    Trained("SSI, W = U'V + I", [SSI]),
    Trained("SSI, W = U'V", [SSI + ["--ssi=low_rank_no_identity"]]),
    Trained("SSI, full W", [SSI + ["--ssi=full", "--max_words=5000"]]),
    Trained("SSI, hash kernel", [SSI + ["--ssi=full_no_identity", *HASHED]]),
    Trained("SSI, hash kernel + I", [SSI + ["--ssi=full", *HASHED]]),
    Trained("SSI, W = (U'V)n + I", [SSI + DENSE]),
    Trained("SSI, W = U'V + I, 1- and 2-grams", [SSI + TWO_GRAMS]),
    Trained("SSI, CFH", [SSI + CFH]),
    Trained("SSI, CFH, eq. 6", [SSI + SAME_RANK]),
    Trained("SSI, CFH, 1- and 2-grams", [SSI + CFH + TWO_GRAMS]),
    Mixed("SSI, (U'V)n + I with CFH", [SSI + DENSE, SSI + CFH]),
    Mixed("SSI, (U'V)n + I with CFH, eq. 6", [SSI + DENSE, SSI + SAME_RANK]),
    Trained("SSI, (U'V)n + I with CFH, eq. 6, one model", [SSI + SAME_RANK + ["--ssi_mix_parts"]]),
]


def halves(queries):
    """0 or 1 for each query, as semrank-eval --tune halves them."""
    return {query: i % 2 for i, query in enumerate(sorted(queries))}


def cross_validate(per_query):
    """Values by metric and query out of those of several settings, and the
    number of the setting that each half of the queries chose."""
    half_of = halves(per_query[0]["ndcg@10"])
    chosen = []
    for half in (0, 1):
        sums = [sum(v for q, v in values["ndcg@10"].items() if half_of[q] == half)
                for values in per_query]
        chosen.append(sums.index(max(sums)))
    return {metric: {q: per_query[chosen[1 - half_of[q]]][metric][q] for q in values}
            for metric, values in per_query[0].items()}, chosen


class Runner(quality_table.Collection):
    """Measures rows; trains and calls programs as quality_table.py does."""

    def __init__(self, options):  # without its file of results
        self.options = options
        self.models = tempfile.TemporaryDirectory()
        self.folder = pathlib.Path(options.results)
        self.folder.mkdir(parents=True, exist_ok=True)

    def row(self, row):
        """The finished row, new or kept; None when it cannot run here."""
        definition = json.loads(json.dumps([type(row).__name__, *row, self.options.epochs,
                                            self.options.seed, self.options.candidates]))
        path = self.folder / (re.sub(r"[^a-z0-9]+", "_", row.name.lower()).strip("_") + ".json")
        if path.exists():
            kept = json.loads(path.read_text(encoding="utf-8"))
            if kept["definition"] == definition:
                return kept
        started = time.monotonic()
        measured = getattr(self, type(row).__name__.lower())(row)
        if measured is None:
            return None
        per_query, chosen = measured
        result = {"name": row.name, "definition": definition, "chosen": chosen,
                  "seconds": round(time.monotonic() - started, 1),
                  "date": datetime.date.today().isoformat(), "commit": commit(),
                  "per_query": per_query}
        temporary = path.with_suffix(".tmp")
        temporary.write_text(json.dumps(result), encoding="utf-8")
        temporary.replace(path)
        return result

    def evaluate(self, *flags):
        """Values by metric and query, and the tuned flags."""
        measured = super().evaluate(f"--threads={self.options.threads}", *flags)
        return measured and (measured[1], measured[0].get("tuned", {}).get("on_half", []))

    def ranker(self, row):
        tune = [f"--tune={row.tune}"] if row.tune else []
        return self.evaluate(f"--ranker={row.ranker}", f"--train={self.options.train}", *tune)

    def script(self, row):
        measured = []
        with tempfile.TemporaryDirectory() as folder:
            run = pathlib.Path(folder, "run")
            extra = []
            if row.script == "lce.py":
                first = pathlib.Path(folder, "mrf.run")
                if self.evaluate("--ranker=mrf", "--dirichlet_mu=300", f"--run_out={first}") is None:
                    return None
                extra = [f"--first_run={first}"]
            for setting in row.settings:
                done = subprocess.run(
                    ["/usr/bin/python3", str(ROOT / "scripts/experiments/baselines" / row.script),
                     f"--docs={self.options.docs}", f"--queries={self.options.queries}",
                     f"--train={self.options.train}", f"--seed={self.options.seed}",
                     f"--run_out={run}", f"--run_depth={RUN_DEPTH[self.options.candidates]}",
                     *extra, *setting],
                    capture_output=True, text=True, env={**os.environ, **KEEP_MEMORY})
                if done.returncode != 0:
                    print(f"{row.script}: {done.stderr.strip()[-500:]}", file=sys.stderr)
                    return None
                measured.append(self.evaluate(f"--ranker=run:{run}")[0])
        return self.best(row, measured)

    def trained(self, row):
        measured = []
        for setting in row.settings:
            folder = self.train([*setting, *self.lexical_of(setting)], self.options.seed)
            if folder is None:
                return None
            measured.append(self.evaluate("--ranker=model", f"--model_dir={folder}")[0])
        return self.best(row, measured)

    def mixed(self, row):
        folders = [self.train([*setting, *self.lexical_of(setting)], self.options.seed)
                   for setting in row.settings]
        if None in folders:
            return None
        return self.evaluate("--ranker=" + "+".join(f"model:{folder}" for folder in folders),
                             "--tune=hybrid_weight")

    @staticmethod
    def lexical_of(setting):
        """The papers' towers have no lexical part; SSI never has one."""
        return [] if "--tower=ssi" in setting else ["--lexical=none"]

    @staticmethod
    def best(row, measured):
        values, chosen = cross_validate(measured)
        return values, [" ".join(row.settings[i]) for i in chosen] if len(measured) > 1 else []


def commit():
    done = subprocess.run(["git", "-C", str(ROOT), "rev-parse", "--short", "HEAD"],
                          capture_output=True, text=True)
    return done.stdout.strip()


def mean_and_error(values):
    error = statistics.stdev(values) / math.sqrt(len(values)) if len(values) > 1 else 0.0
    return statistics.mean(values), error


def is_better(here, there):
    """Whether the mean of `here` is above that of `there`, two-sided p < 0.05."""
    differences = [here[query] - there[query] for query in here]
    mean, error = mean_and_error(differences)
    return mean > 0 and error > 0 and 2 * (1 - statistics.NormalDist().cdf(mean / error)) < 0.05


def cells(row, rows):
    """Mean and marks, and standard error, of each metric."""
    for metric in METRICS:
        values = row["per_query"].get(metric, {})
        if not values:
            yield "-", "-"
            continue
        mean, error = mean_and_error(list(values.values()))
        marks = ""
        if metric in MARKED:
            marks = "".join(mark for mark, name in REFERENCES.items()
                            if name in rows and name != row["name"]
                            and is_better(values, rows[name]["per_query"][metric]))
        yield f"{mean:.3f}".lstrip("0") + marks, f"{error:.3f}".lstrip("0")


def as_text(rows):
    lines = [f"{'':24}" + "".join(f"{metric:>13}" for metric in METRICS)]
    for row in rows.values():
        parts = list(cells(row, rows))
        lines.append(f"{row['name']:24}" + "".join(f"{mean:>13}" for mean, _ in parts))
        lines.append(f"{'  +-':24}" + "".join(f"{error:>13}" for _, error in parts))
    return "\n".join(lines) + "\n"


def as_markdown(rows):
    lines = ["| system | " + " | ".join(METRICS) + " | chosen | s |",
             "|---|" + "---|" * (len(METRICS) + 2)]
    for row in rows.values():
        chosen = "; ".join(dict.fromkeys(row["chosen"])).replace("--", "")
        lines.append(f"| {row['name']} | "
                     + " | ".join(f"{mean} ±{error}" for mean, error in cells(row, rows))
                     + f" | {chosen} | {row['seconds']:.0f} |")
    return "\n".join(lines) + "\n"


def bars(rows, metric, width=640):
    """An SVG bar a row, with twice the standard error on both sides."""
    values = [(row["name"], *mean_and_error(list(row["per_query"][metric].values())))
              for row in rows.values() if row["per_query"].get(metric)]
    top = max((mean + 2 * error for _, mean, error in values), default=1) or 1
    scale = (width - 260) / top
    svg = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" '
           f'height="{22 * len(values) + 4}" font-family="sans-serif" font-size="12">']
    for i, (name, mean, error) in enumerate(values):
        y, end = 22 * i + 4, 200 + mean * scale
        svg.append(f'<text x="194" y="{y + 13}" text-anchor="end">{html.escape(name)}</text>'
                   f'<rect x="200" y="{y}" width="{mean * scale:.1f}" height="16" fill="#7aa6c2"/>'
                   f'<path d="M{end - 2 * error * scale:.1f} {y + 8}H{end + 2 * error * scale:.1f}"'
                   f' stroke="#222"/><text x="{end + 2 * error * scale + 6:.1f}" y="{y + 13}">'
                   f'{mean:.3f}</text>')
    return "".join(svg) + "</svg>"


def lines(series, labels, metric, width=640, height=300):
    """An SVG line a system over the points, with the standard error on both sides."""
    curves = [(name, [mean_and_error(list(row["per_query"][metric].values())) for row in rows])
              for name, rows in series.items() if all(row["per_query"].get(metric) for row in rows)]
    top = max((mean + error for _, values in curves for mean, error in values), default=1) or 1
    step = (width - 280) / max(1, len(labels) - 1)
    svg = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height + 30}" '
           'font-family="sans-serif" font-size="12">']
    for i, label in enumerate(labels):
        svg.append(f'<text x="{40 + i * step:.1f}" y="{height + 20}" text-anchor="middle">{label}</text>')
    for tick in range(5):
        y = height - tick / 4 * (height - 20)
        svg.append(f'<text x="0" y="{y + 4:.1f}">{top * tick / 4:.2f}</text>'
                   f'<path d="M32 {y:.1f}H{width - 230}" stroke="#ddd"/>')
    for i, (name, values) in enumerate(curves):
        color = f"hsl({360 * i // len(curves)} 60% 40%)"
        places = [(40 + k * step, height - mean / top * (height - 20), error / top * (height - 20))
                  for k, (mean, error) in enumerate(values)]
        path = "L".join(f"{x:.1f} {y:.1f}" for x, y, _ in places)
        svg.append(f'<path d="M{path}" fill="none" stroke="{color}" stroke-width="2"/>'
                   + "".join(f'<path d="M{x:.1f} {y - e:.1f}V{y + e:.1f}" stroke="{color}"/>'
                             for x, y, e in places)
                   + f'<text x="{width - 220}" y="{16 + 18 * i}" fill="{color}">{html.escape(name)}</text>')
    return "".join(svg) + "</svg>"


def curve_as_markdown(curve, series):
    text = f"\n{curve.title}: NDCG@10 / MAP / P@10 / ranking loss\n\n"
    text += f"| {curve.axis} | " + " | ".join(label for label, _ in curve.points) + " |\n"
    text += "|---|" + "---|" * len(curve.points) + "\n"
    for name, rows in series.items():
        shown = [" / ".join(f"{statistics.mean(row['per_query'][metric].values()):.3f}".lstrip("0")
                            for metric in CURVE_METRICS) for row in rows]
        text += f"| {name} | " + " | ".join(shown) + " |\n"
    return text


def curve_as_html(curve, series):
    labels = [label for label, _ in curve.points]
    return f"<h2>{html.escape(curve.title)}</h2>" + "".join(
        f"<h3>{metric} by {html.escape(curve.axis)}</h3>{lines(series, labels, metric)}"
        for metric in CURVE_METRICS)


def as_html(rows, note):
    head = "".join(f"<th>{metric}</th>" for metric in METRICS)
    body = "".join(
        f"<tr><th>{html.escape(row['name'])}</th>"
        + "".join(f"<td>{mean}<br><small>±{error}</small></td>" for mean, error in cells(row, rows))
        + "</tr>" for row in rows.values())
    return ("<!doctype html><meta charset=utf-8><title>The papers' systems</title><style>"
            "body{font-family:sans-serif;margin:2em}td,th{padding:.2em .7em;text-align:right}"
            "small{color:#666}</style><h1>The papers' systems</h1>"
            f"<p>{html.escape(note)}</p><table><tr><th></th>{head}</tr>{body}</table>"
            + "".join(f"<h2>{metric}</h2>{bars(rows, metric)}"
                      for metric in ("ndcg@1", "ndcg@10", "map")))


def parse_arguments():
    parser = quality_table.argument_parser(__doc__, "folder of finished rows and of the tables", required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rows", default="",
                        help="names with semicolons between them (default: all)")
    parser.add_argument("--training_shares", default="", help="shares of the pairs, 0 to 1, with commas between")
    parser.add_argument("--query_words", default="", help="numbers of words, with commas between")
    return parser.parse_args()


def numbers(text, kind, low, high, flag):
    """The values of a flag, rising; exits with an error for a bad one."""
    try:
        values = sorted({kind(part) for part in text.split(",") if part})
    except ValueError:
        sys.exit(f"{flag}={text}: not numbers with commas between")
    if any(not low < value <= high for value in values):
        sys.exit(f"{flag}={text}: each must be above {low} and at most {high}")
    return values


def make_curves(options):
    """The collections of --training_shares and --query_words, made below --results."""
    curves = []

    def point(name, train, queries):
        derived = copy.copy(options)
        folder = pathlib.Path(options.results, name)
        folder.mkdir(parents=True, exist_ok=True)
        derived.results = folder
        if train:
            derived.train = folder / "train.tsv"
            train(derived.train)
        if queries:
            derived.queries = folder / "queries.tsv"
            queries(derived.queries)
        return derived

    shares = numbers(options.training_shares, float, 0, 1, "--training_shares")
    if shares:
        curves.append(Curve("Training size (SSI, table 9)", "share of the training pairs", [
            (f"{share:g}", point(f"share_{share:g}", lambda path, share=share: sample_pairs(
                options.train, share, options.seed, path), None)) for share in shares]))
    counts = numbers(options.query_words, int, 0, 1000, "--query_words")
    if counts:
        curves.append(Curve("Keyword queries (SSI, table 6)", "words of a query", [
            (str(count), point(
                f"words_{count}",
                lambda path, count=count: shorten_queries(options.train, 0, count, options.seed, path),
                lambda path, count=count: shorten_queries(options.queries, 1, count, options.seed, path)))
            for count in counts]))
    return curves


def run_rows(options, wanted, refused):
    """Finished rows by name; names of those that cannot run are added to `refused`."""
    runner = Runner(options)
    rows = {}
    for row in ROWS:
        if wanted and row.name not in wanted:
            continue
        print(row.name, file=sys.stderr, flush=True)
        result = runner.row(row)
        if result is None:
            refused.add(row.name)
        else:
            rows[row.name] = result
    return rows


def run_curve(curve, wanted, refused):
    """The rows of each point, by name; of rows that all points have."""
    points = []
    for label, options in curve.points:
        print(f"{curve.axis}: {label}", file=sys.stderr, flush=True)
        points.append(run_rows(options, wanted, refused))
    return {name: [rows[name] for rows in points] for name in points[0]
            if all(name in rows for rows in points)}


def main():
    options = parse_arguments()
    wanted = quality_table.chosen_names(options.rows, [row.name for row in ROWS], "rows")
    curves = make_curves(options)
    refused = set()
    rows = run_rows(options, wanted, refused)
    measured = [(curve, run_curve(curve, wanted, refused)) for curve in curves]
    note = (f"{options.candidates} candidates, {options.epochs} epochs, seed {options.seed}. "
            "a, b, c: better than BM25, PTM, DSSM (J = 50) with p < 0.05.")
    if refused:
        note += f" Not measured: {'; '.join(sorted(refused))}."
    folder = pathlib.Path(options.results)
    tables = "".join(curve_as_markdown(curve, series) for curve, series in measured)
    plots = "".join(curve_as_html(curve, series) for curve, series in measured)
    folder.joinpath("table.md").write_text(as_markdown(rows) + f"\n{note}\n" + tables,
                                           encoding="utf-8")
    folder.joinpath("table.html").write_text(as_html(rows, note) + plots, encoding="utf-8")
    print(as_text(rows) + f"\n{note}\n" + tables)


if __name__ == "__main__":
    main()
