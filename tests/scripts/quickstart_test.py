"""scripts/quickstart.sh --keep-serving on a small corpus, beside programs that are built already: which ports it takes."""

import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BINARIES = pathlib.Path(os.environ.get("SEMRANK_BINARY_DIR", ROOT / "build" / "release" / "bin"))
NAMES = [f"{kind} {name}" for kind in ("photo", "music", "password", "network") for name in ("editor", "viewer", "manager", "library", "tool")]


def write_tree(folder: pathlib.Path, grpc_port: int, http_port: int) -> None:
    """What the script needs of a clone, with other default ports."""
    (folder / "scripts").mkdir()
    script = (ROOT / "scripts/quickstart.sh").read_text()
    assert "grpc_port=50051 http_port=8080" in script
    (folder / "scripts/quickstart.sh").write_text(script.replace("grpc_port=50051 http_port=8080", f"grpc_port={grpc_port} http_port={http_port}"))
    for program in ("scripts/install_packages.sh", "cmake"):
        (folder / program).write_text("#!/bin/sh\n")
        (folder / program).chmod(0o755)
    (folder / "build/release").mkdir(parents=True)
    (folder / "build/release/bin").symlink_to(BINARIES)
    corpus = folder / "demo/corpus"
    corpus.mkdir(parents=True)
    (corpus / "docs.tsv").write_text("".join(f"d{i}\t{name}\n" for i, name in enumerate(NAMES)))
    (corpus / "train.tsv").write_text("".join(f"a {name} for you\t{name}\n" for name in NAMES))
    for part in ("dev", "test"):
        (corpus / f"{part}.queries.tsv").write_text("".join(f"q{i}\tuse a {name}\n" for i, name in enumerate(NAMES)))
        (corpus / f"{part}.qrels.txt").write_text("".join(f"q{i} 0 d{i} 1\n" for i in range(len(NAMES))))
    (corpus / "test.slices.tsv").write_text("".join(f"q{i}\tall\n" for i in range(len(NAMES))))


class KeepServingTest(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)
        self.listeners = [socket.create_server(("127.0.0.1", 0)) for _ in range(2)]
        for listener in self.listeners:
            self.addCleanup(listener.close)
        self.grpc, self.http = (listener.getsockname()[1] for listener in self.listeners)
        write_tree(self.folder, self.grpc, self.http)

    def keep_serving(self) -> tuple[str, str]:
        """What it prints, and the addresses on which the server is ready."""
        environment = {name: value for name, value in os.environ.items() if not name.startswith("SEMRANK_")}
        environment["PATH"] = f"{self.folder}:{environment['PATH']}"
        # A file: the server that stays would keep a pipe open.
        with open(self.folder / "printed", "w+") as printed:
            done = subprocess.run(["bash", "scripts/quickstart.sh", "--keep-serving"], cwd=self.folder, env=environment, stdout=printed,
                                  stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)
            printed.seek(0)
            text = printed.read()
        stays = re.search(r"process (\d+)", text)
        if stays:
            self.addCleanup(os.kill, int(stays[1]), signal.SIGTERM)
        self.assertEqual(done.returncode, 0, text)
        return text, (self.folder / "demo/server.ready").read_text()

    def run_printed(self, text: str) -> None:
        """The commands that it offers work as they are printed."""
        offered = text[text.index("The server stays up"):]
        commands = "".join(f"{line}\n" for line in re.findall(r"^  (export PATH.*|semrank.*)$", offered, re.MULTILINE))
        self.assertEqual(commands.count("semrank"), 3, commands)
        if "--address" not in commands:  # then the default is meant, which is another one here
            commands = f"export SEMRANK_ADDRESS=127.0.0.1:{self.grpc}\n{commands}"
        done = subprocess.run(["bash", "-e"], cwd=self.folder, input=commands, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("editor", done.stdout)

    def test_free_default_ports_are_taken(self):
        for listener in self.listeners:
            listener.close()
        text, ready = self.keep_serving()
        self.assertIn(f"grpc=127.0.0.1:{self.grpc} http=127.0.0.1:{self.http}", ready)
        self.assertNotIn("is in use", text)
        self.assertNotIn("--address", text[text.index("The server stays up"):])
        self.run_printed(text)

    def test_ports_in_use_are_named_and_others_taken(self):
        text, ready = self.keep_serving()
        grpc, http = re.search(r"grpc=(\S+) http=(\S+)", ready).groups()
        self.assertNotIn(str(self.grpc), grpc)
        self.assertNotIn(str(self.http), http)
        for port in (self.grpc, self.http):
            self.assertIn(f"port {port} is in use", text)
        self.assertIn(f"reach the server with --address={grpc}.", text)
        self.assertIn(f"http://{http}/ to search", text)
        self.run_printed(text)


if __name__ == "__main__":
    assert shutil.which("curl")
    unittest.main()
