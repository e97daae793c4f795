#!/usr/bin/env python3
"""Chooses settings of semrank-train by two-fold cross-validation.

  scripts/experiments/tune.py --grid="learning_rate=0.0005,0.001;gamma=10,20" -- \\
      --train=clicks.tsv --valid_queries=q.tsv --valid_docs=docs.tsv \\
      --valid_qrels=qrels.txt --model_dir=models/shop

trains every combination of the values and scores it on both halves of the
validation queries after each epoch. The setting and epoch that are best on one
half are measured on the other half, and vice versa, as the papers do it (DSSM
4.1, CLSM 5.1). Their mean, "cross-validated", says what tuning is worth on
queries that had no part in the choice; the winner's own scores are a little too
good for that. The winner over both halves is then trained as semrank-train does
it and published in --model_dir.

Values that contain commas are separated by bars: hidden=300,300|300. Without
--valid_queries the loss of the held-out pairs decides; then flags that change
the loss itself cannot be compared and are refused.

Finished settings are kept in grid.jsonl in --model_dir, under a fingerprint of
flags and files; grid/<fingerprint>/ has training.jsonl and report.html of each.
Ctrl-C stops the search. The same command continues where it stopped, also in the
middle of a setting.

Exit code: 0 done, 1 failed or interrupted, 2 wrong use.
"""
import argparse
import contextlib
import fcntl
import hashlib
import itertools
import json
import os
import pathlib
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
MAX_SETTINGS = 100

# Settings are compared on the same pairs and queries, drawn by the same seed.
FIXED_FLAGS = {"train", "judged", "model_dir", "memory_limit", "max_bad_lines", "seed", "preset", "init_from",
               "early_stopping", "config", "output", "resume", "threads", "checkpoint_every", "checkpoint_batches"}
# Losses of different functions cannot be compared.
LOSS_FLAGS = {"tower", "negative_sampling", "negatives", "hard_negatives", "clicks", "gamma", "margin", "batch_size"}
# They change no weights, so a finished setting stays finished.
NEUTRAL_FLAGS = {"model_dir", "output", "resume", "force", "threads", "checkpoint_every", "checkpoint_batches"}

# What semrank-train says when the loss overflows: the learning rate is too high.
DIVERGED = "the loss is no longer a number"


class WrongUse(Exception):
    """The command line has to be changed; exit code 2."""


class Failed(Exception):
    """A training run failed or was interrupted; exit code 1."""


def parse_grid(text):
    """All settings, each a dict from flag to value; the last flag changes fastest."""
    axes = {}
    for part in text.split(";"):
        flag, equals, values = part.partition("=")
        flag = flag.strip().removeprefix("--")
        if not flag or not equals:
            raise WrongUse(f"--grid={part}: must be flag=value,value;flag=value,...")
        if flag in axes:
            raise WrongUse(f"--grid={text}: names {flag} twice")
        if flag in FIXED_FLAGS or flag.startswith("valid_"):
            raise WrongUse(f"--grid={part}: {flag} must be the same for all settings")
        axes[flag] = [value.strip() for value in values.split("|" if "|" in values else ",")]
        for value in axes[flag]:
            if axes[flag].count(value) > 1:
                raise WrongUse(f"--grid={part}: contains '{value}' twice")
    settings = [dict(zip(axes, values)) for values in itertools.product(*axes.values())]
    if len(settings) > MAX_SETTINGS:
        raise WrongUse(f"--grid={text}: has {len(settings)} combinations, each a training run; the limit is "
                       f"{MAX_SETTINGS}")
    return settings


def parse_flags(arguments):
    """Flags of semrank-train as a dict; "--x y" is "--x=y", "--x" alone has value None."""
    flags = {}
    name = None
    for argument in arguments:
        if argument.startswith("--"):
            name, equals, value = argument[2:].partition("=")
            flags[name] = value if equals else None
        elif name is None or flags[name] is not None:
            raise WrongUse(f"unexpected argument '{argument}'")
        else:
            flags[name] = argument
    return flags


def arguments_of(flags):
    return [f"--{name}" if value is None else f"--{name}={value}" for name, value in flags.items()]


def name_of(setting):
    return " ".join(f"{flag}={value}" for flag, value in setting.items())


def loss_decides(flags):
    def given(name):
        return flags.get(name) or os.environ.get(f"SEMRANK_{name.upper()}")
    return given("early_stopping") == "loss" or not (given("valid_queries") or given("config"))


def check_losses_are_comparable(setting):
    for flag in LOSS_FLAGS & setting.keys():
        raise WrongUse(f"--grid: {flag} changes what the validation loss is, so the settings could not be compared; "
                       "give --valid_queries")


def check_grid(settings, flags):
    for flag in settings[0].keys() & flags.keys():
        raise WrongUse(f"--grid: --{flag} is also given after '--'")
    if loss_decides(flags):
        check_losses_are_comparable(settings[0])
    if not flags.get("model_dir"):
        raise WrongUse("--model_dir is missing after '--'")
    if "-" in (flags.get("train") or "").split(","):
        raise WrongUse("--train=-: standard input cannot be read once for each setting")


@contextlib.contextmanager
def only_search_in(folder):
    """One search at a time has a model directory; the lock ends with the process."""
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / "tune.lock", "w", encoding="utf-8") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Failed(f"{folder}: another search is running") from None
        yield


class Fingerprints:
    """Equal for runs of equal flags, environment and file contents."""

    def __init__(self):
        self._digests = {}

    def of(self, flags):
        facts = [[name, value] for name, value in sorted(flags.items()) if name not in NEUTRAL_FLAGS]
        facts += [[name, value] for name, value in sorted(os.environ.items()) if name.startswith("SEMRANK_")
                  and name.removeprefix("SEMRANK_").lower() not in NEUTRAL_FLAGS]
        files = [pathlib.Path(part) for _, value in facts for part in (value or "").split(",")]
        facts += [self._digest(path) for path in files if path.exists()]
        return hashlib.sha256(json.dumps(facts).encode()).hexdigest()[:32]

    def _digest(self, path):
        if path.is_dir():  # of --init_from: manifests list the checksums of the other files
            return [self._digest(manifest) for manifest in sorted(path.rglob("MANIFEST.json"))]
        if path not in self._digests:
            with open(path, "rb") as file:
                self._digests[path] = hashlib.file_digest(file, "sha256").hexdigest()
        return self._digests[path]


class Results:
    """grid.jsonl: the scores of both halves after each epoch of each finished setting."""

    def __init__(self, path):
        self._path = path
        self._runs = {}
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        for number, line in enumerate(lines, start=1):
            try:
                run = json.loads(line)
                self._runs[run["run"]] = {key: run[key] for key in ("measure", "epochs", "weights")}
            except (ValueError, KeyError, TypeError):  # a crash truncated it
                print(f"{path}:{number}: ignored, its setting is trained again", file=sys.stderr)

    def find(self, fingerprint):
        return self._runs.get(fingerprint)

    def add(self, fingerprint, setting, run):
        self._runs[fingerprint] = run
        # A truncated last line must not swallow this one.
        with open(self._path, "a+b") as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - 1))
            line = json.dumps({"run": fingerprint, "setting": name_of(setting), **run}) + "\n"
            file.write((b"" if file.read() in (b"", b"\n") else b"\n") + line.encode())
            file.flush()
            os.fsync(file.fileno())


class Trainer:
    """Runs semrank-train, one run at a time, and stops it cleanly after a signal."""

    def __init__(self, program, launcher):
        self._program = program
        self._launcher = launcher
        self._child = None
        self.interrupted = False

    def handle_signals(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._interrupt)

    def _interrupt(self, *_):
        child, again = self._child, self.interrupted
        self.interrupted = True
        if child is not None and child.poll() is None:
            # The trainer writes a checkpoint. mpirun allows no time for that after SIGINT, but hands SIGUSR1 on.
            child.send_signal(signal.SIGKILL if again else signal.SIGUSR1)

    def is_wrong_use(self, flags):
        """The message of semrank-train if it refuses `flags`, before it reads any data; else None."""
        with tempfile.TemporaryDirectory() as folder:
            probe = {**flags, "train": f"{folder}/missing", "model_dir": f"{folder}/model"}
            done = subprocess.run([self._program, *arguments_of(probe)], capture_output=True, encoding="utf-8",
                                  check=False)
        return done.stderr if done.returncode == 2 else None

    def run(self, flags, **pipes):
        """Popen of a run in a session of its own, so that Ctrl-C on the terminal reaches this script alone."""
        if self.interrupted:
            raise Failed("interrupted; the same command continues")
        self._child = subprocess.Popen([*self._launcher, self._program, *arguments_of(flags)],
                                       start_new_session=True, **pipes)
        if self.interrupted:  # between the check and the start
            self._child.send_signal(signal.SIGUSR1)
        return self._child


def score_setting(trainer, flags, folder):
    """The scores of one training run; None if its loss diverged."""
    # A setting that makes the model worse has scores, too.
    child = trainer.run({**flags, "model_dir": str(folder), "valid_halves": None, "resume": None, "force": None,
                         "output": "json"},
                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8")
    errors = []

    def forward():
        for line in child.stderr:
            errors.append(line)
            sys.stderr.write(line)
            sys.stderr.flush()
    forwarder = threading.Thread(target=forward)
    forwarder.start()
    output = child.stdout.read()
    code = child.wait()
    forwarder.join()
    if any(DIVERGED in line for line in errors):
        return None
    if code == 2:
        raise WrongUse("semrank-train refused its flags")
    # The checkpoint of a run that ended by itself is removed.
    if code != 0 or (folder / "checkpoint.safetensors").exists():
        raise Failed("interrupted; the same command continues with this setting" if trainer.interrupted or code == 0
                     else f"semrank-train failed with exit code {code}")
    # Only the scores were wanted. The winner is trained again for its model.
    shutil.rmtree(json.loads(output)["version_dir"])
    return read_scores(folder / "training.jsonl")


def read_scores(path):
    """The scores of the last run in training.jsonl; a resumed run repeats epochs, and the later line holds."""
    records = []
    for line in path.read_text(encoding="utf-8").splitlines():
        with contextlib.suppress(ValueError):
            records.append(json.loads(line))
    epochs = {record["epoch"]: record["halves"] for record in records if record["run"] == records[-1]["run"]}
    last = records[-1]["halves"]
    return {"measure": last["measure"], "weights": last["weights"],
            "epochs": [epochs[number]["scores"] for number in sorted(epochs)]}


def combine(scores, weights):
    return sum(score * weight for score, weight in zip(scores, weights)) / sum(weights)


def choose(runs):
    """Cross-validation over runs [{"setting", "epochs": [[half 1, half 2], ...], "weights"}, ...].

    A candidate is a setting after a number of epochs. Of equal ones the first wins.
    """
    candidates = [{"setting": run["setting"], "epoch": number + 1, "halves": halves,
                   "both": combine(halves, run["weights"])}
                  for run in runs for number, halves in enumerate(run["epochs"])]
    chosen = [max(candidates, key=lambda c, half=half: c["halves"][half]) for half in (0, 1)]
    weights = runs[0]["weights"]
    measured = [chosen[0]["halves"][1], chosen[1]["halves"][0]]
    return {"winner": max(candidates, key=lambda c: c["both"]), "chosen": chosen, "measured": measured,
            "cross_validated": combine(measured, weights[::-1]),
            "best": {run["setting"]: max((c for c in candidates if c["setting"] == run["setting"]),
                                         key=lambda c: c["both"]) for run in runs}}


def shown(score, measure):
    return -score if measure == "valid_loss" else score


def format_json(names, choice, measure):
    settings = []
    for name in names:
        best = choice["best"].get(name)
        settings.append({"setting": name, "diverged": True} if best is None else
                        {"setting": name, "epoch": best["epoch"],
                         "halves": [shown(score, measure) for score in best["halves"]],
                         "both": shown(best["both"], measure)})
    chosen = [{"on_half": half + 1, "setting": c["setting"], "epoch": c["epoch"],
               "measured": shown(choice["measured"][half], measure)} for half, c in enumerate(choice["chosen"])]
    return json.dumps({"measure": measure, "settings": settings, "chosen": chosen,
                       "cross_validated": shown(choice["cross_validated"], measure),
                       "winner": {key: choice["winner"][key] for key in ("setting", "epoch")}})


def format_table(names, choice, measure):
    width = max(len(name) for name in [*names, "setting"])
    lines = [f"{'setting':{width}}  epoch     half 1    half 2      both   ({measure})"]
    for name in names:
        best = choice["best"].get(name)
        if best is None:
            lines.append(f"{name:{width}}  diverged: {DIVERGED}")
            continue
        scores = [shown(score, measure) for score in (*best["halves"], best["both"])]
        lines.append(f"{name:{width}}  {best['epoch']:5}  " + " ".join(f"{score:9.4f}" for score in scores) +
                     ("   winner" if name == choice["winner"]["setting"] else ""))
    for half, c in enumerate(choice["chosen"]):
        lines.append(f"chosen on half {half + 1}: {c['setting']}, epoch {c['epoch']}; {measure} on half {2 - half}: "
                     f"{shown(choice['measured'][half], measure):.4f}")
    lines.append(f"cross-validated {measure}: {shown(choice['cross_validated'], measure):.4f}")
    return "\n".join(lines)


def search(settings, flags, trainer, output):
    model_dir = pathlib.Path(flags["model_dir"])
    results = Results(model_dir / "grid.jsonl")
    fingerprints = Fingerprints()
    runs = []
    for number, setting in enumerate(settings, start=1):
        name = name_of(setting)
        fingerprint = fingerprints.of({**flags, **setting})
        run = results.find(fingerprint)
        print(f"setting {number}/{len(settings)}: {name}" + (": finished before" if run else ""), file=sys.stderr,
              flush=True)
        if run is None:
            run = score_setting(trainer, {**flags, **setting}, model_dir / "grid" / fingerprint)
            if run is None:  # Not kept: it fails soon enough another time.
                continue
            results.add(fingerprint, setting, run)
        if run["measure"] == "valid_loss":  # --config may say so, which this script does not read
            check_losses_are_comparable(setting)
        runs.append({"setting": name, **run})
    if not runs:
        raise Failed("no setting of --grid keeps the loss finite")
    names = [name_of(setting) for setting in settings]
    choice = choose(runs)
    print((format_json if output == "json" else format_table)(names, choice, runs[0]["measure"]), flush=True)
    return settings[names.index(choice["winner"]["setting"])]


def find_program(given):
    built = ROOT / "build" / "release" / "bin" / "semrank-train"
    program = given or (str(built) if built.exists() else "semrank-train")
    if shutil.which(program) is None:
        raise WrongUse(f"--program={program}: no such program")
    return program


def main(arguments):
    parser = argparse.ArgumentParser(prog="tune.py", description=__doc__, allow_abbrev=False,
                                     formatter_class=argparse.RawDescriptionHelpFormatter,
                                     usage='tune.py --grid="flag=value,value;..." [options] -- flags of semrank-train')
    parser.add_argument("--grid", required=True, help="values of flags, tried in every combination (at most 100)")
    parser.add_argument("--program", help="semrank-train; default: that of build/release, else of the PATH")
    parser.add_argument("--launcher", default="", help='what starts it in several processes: "mpirun -n 2"')
    parser.add_argument("--output", choices=("table", "json"), default="table",
                        help="what is printed; json: one object for the search, one for the published model")
    split = arguments.index("--") if "--" in arguments else len(arguments)
    options = parser.parse_args(arguments[:split])
    try:
        flags = parse_flags(arguments[split + 1:])
        settings = parse_grid(options.grid)
        check_grid(settings, flags)
        trainer = Trainer(find_program(options.program), shlex.split(options.launcher))
        for setting in settings:
            if message := trainer.is_wrong_use({**flags, **setting, "valid_halves": None}):
                raise WrongUse(f"--grid: {name_of(setting)}:\n{message.rstrip()}")
        with only_search_in(pathlib.Path(flags["model_dir"]) / "grid"):
            trainer.handle_signals()
            winner = search(settings, flags, trainer, options.output)
            code = trainer.run({**flags, **winner, "resume": None, "output": options.output}).wait()
        return 1 if trainer.interrupted else code
    except WrongUse as error:
        print(f"tune.py: error: {error}\nTry 'tune.py --help'.", file=sys.stderr)
        return 2
    except (Failed, OSError) as error:
        print(f"tune.py: error: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
