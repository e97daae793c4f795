#!/usr/bin/env python3
"""Runs the commands and the program that README.md shows, as it shows them, and
checks its numbers.

An HTML comment before a block marks it, `<!-- run: NAME -->` or `<!-- file: NAME -->`. A block without a mark,
or one that no test runs, is a failure, except for the lines of RUN_ELSEWHERE. The test replaces ports by free
ones.

usage: readme_test.py PROJECT_DIR BINARY_DIR
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

PROJECT = pathlib.Path(sys.argv[1]).resolve()
BINARIES = pathlib.Path(sys.argv[2]).resolve()
README = (PROJECT / "README.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"^<!-- (?:run|file): (\S+) -->\n```\w*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)]+)\)")

# Commands that would build the project, each with the file in which CI runs it.
RUN_ELSEWHERE = {
    "./scripts/quickstart.sh": ".ci/run",
    "./scripts/test.sh": ".ci/run",
    "scripts/install_packages.sh build": "scripts/quickstart.sh",
    "cmake --preset release -DSEMRANK_BUILD_TESTS=OFF": "scripts/quickstart.sh",
    "cmake --build --preset release": "scripts/quickstart.sh",
}
PATH_COMMAND = 'export PATH="$PWD/build/release/bin:$PATH"'

# Every number outside the blocks that run, with the file that it comes from and a pattern of that file.
NUMBERS = {
    "Debian 12": ("scripts/install_packages.sh", r"semrank builds on Debian 12 "),
    "CIKM 2013": ("model/train/options/recipes.cc", r"dssm2013"),
    "CIKM 2014": ("model/train/options/recipes.cc", r"clsm2014"),
    "CIKM 2009": ("model/train/options/recipes.cc", r"ssi2009"),
    "NDCG@10 [.625 beside BM25's .272": ("model/train/RESULTS.md", r"\| tldr \| 26,569 \| \.272 \| \.309 \| \.625 \| \.625 "),
    "BM25": ("model/eval/rankers/ranker_factory.cc", r"bm25"),
    "32 s of one core": ("model/train/RESULTS.md", r"training takes 31\.5 s of CPU time on tldr"),
    "26,569 pairs": ("model/train/RESULTS.md", r"\| tldr \|.*\| 26,569 \|"),
    "0.87 µs of one core": ("server/PERFORMANCE.md", r"CPU time for 100\s+titles(?s:.*)\| linear 256, default features \| 87 us"),
    "7.4 to 7.8 ms": ("server/PERFORMANCE.md", r"A million composed titles(?s:.*)\| ours, exact \| 7\.4 to 7\.8 ms"),
    "53 MB": ("deploy/README.md", r"\| the image \| 53 MB compressed"),
    "UTF-8": ("model/data/input_lines.h", r"what is not UTF-8"),
    "http://127.0.0.1:8080/": ("server/options.h", r'http_address = "127\.0\.0\.1:8080"'),
}

PRODUCTS = ["running shoes", "rain jacket", "coffee grinder", "desk lamp", "garden hose", "chess set", "wool socks", "bread knife"]


def blocks() -> dict[str, str]:
    return dict(BLOCK.findall(README))


def write_shop(folder: pathlib.Path) -> None:
    """A click log, titles and judgements of a shop with eight products."""
    clicks = [f"{word} {product}\t{product} for home and travel" for product in PRODUCTS for word in ("cheap", "best", "new")]
    (folder / "clicks.tsv").write_text("\n".join(clicks) + "\n")
    titles = [f"{product} for home and travel" for product in PRODUCTS]
    (folder / "titles.txt").write_text("\n".join(titles) + "\n")
    (folder / "docs.tsv").write_text("".join(f"d{i}\t{title}\n" for i, title in enumerate(titles)))
    (folder / "queries.tsv").write_text("".join(f"q{i}\t{product}\n" for i, product in enumerate(PRODUCTS)))
    (folder / "qrels.txt").write_text("".join(f"q{i} 0 d{i} 1\n" for i in range(len(PRODUCTS))))
    for name in ("client/python", "proto"):
        shutil.copytree(PROJECT / name, folder / name, ignore=shutil.ignore_patterns("build", "*.egg-info"))
    shutil.copy(PROJECT / "CMakeLists.txt", folder)


class ReadmeTest(unittest.TestCase):
    used = set()

    @classmethod
    def setUpClass(cls):
        cls.blocks = blocks()
        cls.temporary = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.temporary.name)
        write_shop(cls.folder)
        # Flags that the caller's environment sets would reach the programs.
        inherited = {name: value for name, value in os.environ.items() if not name.startswith("SEMRANK_")}
        cls.environment = {**inherited, "PATH": f"/usr/bin:{os.environ['PATH']}"}
        (cls.folder / "build/release").mkdir(parents=True)
        (cls.folder / "build/release/bin").symlink_to(BINARIES)
        cls.environment["PATH"] = cls.run_command(f'{PATH_COMMAND}\necho "$PATH"').strip()
        train, serve, cls.rank = cls.block("clicks").strip().splitlines()
        cls.run_command(train)
        cls.start_server(serve)

    @classmethod
    def tearDownClass(cls):
        cls.server.terminate()
        cls.exit_code = cls.server.wait(timeout=60)
        cls.server.stdout.close()
        cls.temporary.cleanup()
        if cls.exit_code != 0:
            raise AssertionError(f"semrank-server ended with {cls.exit_code} after SIGTERM")
        if cls.used != set(cls.blocks):
            raise AssertionError(f"blocks of README.md that no test runs: {set(cls.blocks) - cls.used}")

    @classmethod
    def block(cls, name: str) -> str:
        """The commands, or the program, for the ports of this server."""
        cls.used.add(name)
        text = cls.blocks[name]
        if hasattr(cls, "server"):
            text = text.replace("127.0.0.1:50051", cls.address).replace("127.0.0.1:8080", cls.http)
        return text

    @classmethod
    def run_command(cls, command: str) -> str:
        done = subprocess.run(["bash", "-euo", "pipefail", "-c", command], cwd=cls.folder, env=cls.environment,
                              capture_output=True, text=True, timeout=200)
        if done.returncode != 0:
            raise AssertionError(f"{command}\nexit {done.returncode}\n{done.stdout}\n{done.stderr}")
        return done.stdout

    @classmethod
    def start_program(cls, command: str) -> tuple[subprocess.Popen, str, str]:
        """A server on free ports, with its addresses for gRPC and HTTP."""
        ports = ["--listen_address=127.0.0.1:0", "--http_address=127.0.0.1:0"]
        server = subprocess.Popen([*command.split(), *ports], cwd=cls.folder, env=cls.environment, stdout=subprocess.PIPE, text=True)
        ready = re.match(r"semrank-server ready grpc=(\S+) http=(\S+)$", server.stdout.readline())
        if not ready:
            raise AssertionError("semrank-server did not say that it is ready")
        return server, ready[1], ready[2]

    @classmethod
    def start_server(cls, command: str) -> None:
        cls.server, cls.address, cls.http = cls.start_program(command)
        cls.environment["SEMRANK_ADDRESS"] = cls.address

    def test_rank_command_puts_the_product_that_was_asked_for_first(self):
        first = self.run_command(self.rank).splitlines()[0]
        self.assertIn("running shoes for home and travel", first)

    def test_http_command_puts_the_shoes_first(self):
        response = json.loads(self.run_command(self.block("http")))
        self.assertEqual(response["indices"][0], 1)

    def test_batch_commands_write_vectors_and_find_the_product_that_was_asked_for(self):
        lines = self.run_command(self.block("batch")).splitlines()
        self.assertIn("8 new, 0 replaced, 0 refused, of 8 documents", lines)
        self.assertIn("running shoes for home and travel", lines[-3])
        self.assertTrue((self.folder / "docs.npy").read_bytes().startswith(b"\x93NUMPY"))
        self.assertEqual((self.folder / "docs.npy.ids").read_text().split(), [f"d{i}" for i in range(len(PRODUCTS))])

    def test_operator_commands_show_health_versions_and_metrics(self):
        printed = self.run_command(self.block("operate"))
        for text in ("SERVING", "shop", "semrank_build_info{"):
            self.assertIn(text, printed)

    def test_relevance_commands_have_a_row_for_each_word_and_each_ranker(self):
        printed = self.run_command(self.block("relevance"))
        for word in ("query  running", "query  shoes", "title  travel"):
            self.assertRegex(printed, rf"(?m)^{word} +[-+]")
        for ranker in ("bm25", "letter_tfidf", "model"):
            self.assertRegex(printed, rf"(?m)^\s*{ranker}\b")
        self.assertTrue((self.folder / "models/shop/report.html").exists())

    def test_loop_commands_report_a_click_on_the_list_that_they_asked_for(self):
        flags = re.search(r"`semrank-server (--events=\S+)`", README)[1]
        server, _, http = self.start_program(f"semrank-server --model_dir=models/shop {flags}")
        try:
            commands = self.block("loop").replace(self.http, http)
            rank, report = commands.split("curl -s")[1:]
            impression = json.loads(self.run_command(f"curl -s{rank}"))["impression_id"]
            shown = re.search(r'"impression_id": "(\w+)"', report)[1]
            self.assertEqual(len(impression), len(shown))
            self.assertEqual(json.loads(self.run_command(f"curl -s{report.replace(shown, impression)}")), {"accepted": 1})
            self.assertIn("clicks\t1", self.run_command("semrank events stats events").splitlines())
        finally:
            server.terminate()
            server.wait(timeout=60)
            server.stdout.close()

    def test_python_program_ranks_its_three_titles(self):
        (self.folder / "rank.py").write_text(self.block("rank.py"))
        # Debian's grpcio belongs to Debian's Python.
        commands = self.block("python").replace("python3 -m", "/usr/bin/python3 -W ignore -m")
        printed = self.run_command(commands)
        lines = printed.strip().splitlines()[-3:]
        scores = [float(line.split()[0]) for line in lines]
        self.assertEqual(scores, sorted(scores, reverse=True))
        sample = re.search(r"^```python\n(.*?)^```$", (PROJECT / "client/python/README.md").read_text(), re.MULTILINE | re.DOTALL)
        (self.folder / "sample.py").write_text(sample[1].replace("127.0.0.1:50051", self.address))
        self.assertIn("gimp photo editor", self.run_command("venv/bin/python sample.py"))

    def test_every_block_of_commands_is_run_here_or_by_ci(self):
        rest = BLOCK.sub("", README)
        self.assertEqual(re.findall(r"^```(?!sh$|text$)(\w+)$", rest, re.MULTILINE), [])
        others = re.findall(r"^```sh\n(.*?)^```$", rest, re.MULTILINE | re.DOTALL)
        commands = "".join(others).splitlines()
        self.assertEqual(sorted(commands), sorted([*RUN_ELSEWHERE, PATH_COMMAND]))
        for command, file in RUN_ELSEWHERE.items():
            script = (PROJECT / file).read_text()
            self.assertTrue(re.search(rf"(?m)^{re.escape(command)}\b", script), f"{file} does not run {command}")

    def test_every_number_is_what_the_source_says(self):
        prose = BLOCK.sub("", LINK.sub("]", README))
        for number, (file, pattern) in NUMBERS.items():
            self.assertIn(number, prose, "is in NUMBERS, but no longer in README.md")
            source = (PROJECT / file).read_text(encoding="utf-8")
            self.assertTrue(re.search(pattern, source), f"{number}: {file} does not say so")
            prose = prose.replace(number, "")
        self.assertEqual(re.findall(r".*\d.*", prose), [], "a number that is not in NUMBERS")

    def test_a_person_with_two_minutes_can_read_it_in_a_terminal(self):
        lines = README.splitlines()
        self.assertLessEqual(len(lines), 150)
        self.assertEqual([line for line in lines if len(line) > 100], [])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
