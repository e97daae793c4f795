#!/usr/bin/env python3
"""Runs the programs as service managers, shells and terminals do: with standard
streams that are closed or have no reader, and in a terminal that goes away.

usage: process_test.py PROJECT_DIR BINARY_DIR
"""
import json
import os
import pathlib
import pty
import re
import signal
import subprocess
import sys
import tempfile
import unittest
import urllib.request

PROJECT = pathlib.Path(sys.argv[1]).resolve()
BINARIES = pathlib.Path(sys.argv[2]).resolve()
REFERENCE = PROJECT / "tests/testdata/reference_model"
ENVIRONMENT = {name: value for name, value in os.environ.items() if not name.startswith("SEMRANK_")} | {"TERM": "dumb"}
SERVER = [BINARIES / "semrank-server", f"--model_dir={REFERENCE}/dssm", "--listen_address=127.0.0.1:0",
          "--http_address=127.0.0.1:0", "--access_log=1"]


def without(fds: str, command: list) -> list:
    """The command, started without these descriptors: "1 2"."""
    return ["/bin/sh", "-c", " ".join(f"exec {fd}>&-;" for fd in fds.split()) + ' exec "$@"', "sh", *command]


def broken_pipe() -> int:
    """The writing end of a pipe without a reader."""
    reader, writer = os.pipe()
    os.close(reader)
    return writer


def run(command: list, **options) -> subprocess.CompletedProcess:
    return subprocess.run(command, env=ENVIRONMENT, text=True, check=False, **options)


def run_without_reader(command: list, *streams: str, **options) -> subprocess.CompletedProcess:
    """Runs the command; its `streams`, "stdout" or "stderr", are broken pipes."""
    writer = broken_pipe()
    try:
        return run(command, **dict.fromkeys(streams, writer), **options)
    finally:
        os.close(writer)


def address_in(line: str) -> str:
    return re.search(r"http=(\S+)", line)[1]


class ServerTest(unittest.TestCase):
    def start(self, command: list, **streams) -> subprocess.Popen:
        server = subprocess.Popen(command, env=ENVIRONMENT, text=True, **streams)
        self.addCleanup(server.wait)
        self.addCleanup(server.kill)
        for stream in (server.stdout, server.stderr):
            if stream is not None:
                self.addCleanup(stream.close)
        return server

    def call(self, address: str) -> dict:
        body = json.dumps({"query": "running shoes", "titles": ["shoes", "lamp"]}).encode()
        request = urllib.request.Request(f"http://{address}/v1/rank", body, {"content-type": "application/json"})
        with urllib.request.urlopen(request) as response:
            return json.load(response)

    def dropped_lines(self, address: str) -> float:
        with urllib.request.urlopen(f"http://{address}/metrics") as response:
            return float(re.search(r"(?m)^semrank_log_lines_dropped_total (\S+)$", response.read().decode())[1])

    def expect_clean_stop(self, server: subprocess.Popen) -> None:
        server.terminate()
        self.assertEqual(server.wait(), 0)

    def expect_three_streams(self, server: subprocess.Popen, closed: str) -> None:
        for fd in closed.split():
            # In builds with a sanitizer an unused descriptor that gRPC opens before main may come first.
            self.assertIn(os.readlink(f"/proc/{server.pid}/fd/{fd}"), ("/dev/null", "anon_inode:[eventfd]"))

    def test_answers_when_nobody_reads_its_log(self):
        server = self.start(SERVER, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        address = address_in(server.stdout.readline())
        before = self.dropped_lines(address)
        server.stderr.close()
        server.stdout.close()
        for _ in range(3):
            self.assertEqual(len(self.call(address)["indices"]), 2)
        self.assertEqual(self.dropped_lines(address), before + 3)
        self.expect_clean_stop(server)

    def test_starts_without_standard_input_and_error(self):
        server = self.start(without("0 2", SERVER), stdout=subprocess.PIPE)
        address = address_in(server.stdout.readline())
        self.expect_three_streams(server, "0 2")
        self.assertEqual(len(self.call(address)["indices"]), 2)
        self.assertGreaterEqual(self.dropped_lines(address), 1)
        self.expect_clean_stop(server)

    def test_starts_without_standard_output(self):
        server = self.start(without("1", SERVER), stderr=subprocess.PIPE)
        # The line of a listening server has the addresses too.
        address = next(address_in(line) for line in server.stderr if "http=" in line)
        self.expect_three_streams(server, "1")
        with urllib.request.urlopen(f"http://{address}/healthz") as response:
            self.assertEqual(response.status, 200)
        self.expect_clean_stop(server)

    def test_reads_a_configuration_that_begins_with_a_byte_order_mark(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "server.toml"
            path.write_text(f"model_dir = {REFERENCE}/dssm\n", encoding="utf-8-sig")
            done = run([BINARIES / "semrank-server", f"--config={path}", "--print_config"], capture_output=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn(f"model_dir={REFERENCE}/dssm\n", done.stdout)


class TrainerTest(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)
        (self.folder / "clicks.tsv").write_text("".join(f"query {i}\ttitle {i % 40}\n" for i in range(200)))

    def command(self, epochs: int) -> list:
        return [str(BINARIES / "semrank-train"), f"--train={self.folder}/clicks.tsv", f"--model_dir={self.folder}/model",
                "--batch_size=16", "--hidden=12", "--embedding_dim=8", "--threads=1", "--patience=0", f"--epochs={epochs}"]

    def expect_published(self) -> None:
        self.assertTrue((self.folder / "model/1/weights.safetensors").is_file())

    def test_publishes_when_nobody_reads_what_it_prints(self):
        done = run_without_reader(self.command(epochs=2), "stdout", "stderr")
        self.assertEqual(done.returncode, 0)
        self.expect_published()

    def test_publishes_without_standard_streams(self):
        self.assertEqual(run(without("0 1 2", self.command(epochs=2))).returncode, 0)
        self.expect_published()

    def test_saves_its_work_when_the_terminal_goes_away(self):
        pid, terminal = pty.fork()
        if pid == 0:
            # --force: after one epoch the model may be worse than its random start, which is not published.
            command = [*self.command(epochs=1_000_000), "--force"]
            os.execve(command[0], command, ENVIRONMENT)
        with os.fdopen(terminal, "rb") as output:
            printed = ""
            # The line of a finished epoch; progress within it begins with "epoch 1/".
            while not re.search(r"(?m)^epoch +1: ", printed):
                printed += output.readline().decode()
        # The kernel has sent a hangup; many shells send one more.
        try:
            os.kill(pid, signal.SIGHUP)
        except ProcessLookupError:
            pass
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), 0)
        self.assertTrue((self.folder / "model/checkpoint.safetensors").is_file())
        self.expect_published()


class OutputTest(unittest.TestCase):
    def test_a_client_ends_quietly_when_its_reader_does(self):
        done = run_without_reader([BINARIES / "semrank", "--help-all"], "stdout", stderr=subprocess.PIPE)
        self.assertEqual((done.returncode, done.stderr), (-signal.SIGPIPE, ""))

    def test_the_evaluator_says_that_its_results_have_not_arrived(self):
        words = ["vocabulary", f"--words={PROJECT}/README.md"]
        for done in (run_without_reader([BINARIES / "semrank-eval", *words], "stdout", stderr=subprocess.PIPE),
                     run(without("1", [BINARIES / "semrank-eval", *words]), stderr=subprocess.PIPE)):
            self.assertEqual(done.returncode, 1)
            self.assertIn("standard output cannot be written", done.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
