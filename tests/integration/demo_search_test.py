#!/usr/bin/env python3
"""Checks what `semrank search` finds in the package catalogue of scripts/quickstart.sh: a person who types the
query expects one of these packages in the top three.

.ci/run calls it after the quickstart, whose model and documents it needs; ctest does not.

usage: demo_search_test.py PROJECT_DIR BINARY_DIR
"""
import pathlib
import re
import subprocess
import sys
import unittest

PROJECT = pathlib.Path(sys.argv[1]).resolve()
BINARIES = pathlib.Path(sys.argv[2]).resolve()
DOCUMENTS = PROJECT / "demo/corpus/docs.tsv"
MODEL = PROJECT / "demo/models/packages"

EXPECTED = {
    "edit photos": {"fotoxx", "gimp", "darktable", "digikam", "gnome-photos", "photoflare", "rawtherapee", "showfoto",
                    "shotwell"},
    "pasword manager": {"keepassxc", "keepass2", "pass", "password-gorilla", "qtpass", "revelation", "secrets"},
    "remote desktop": {"gnome-connections", "gnome-remote-desktop", "krdc", "remmina", "vinagre", "xrdp"},
    "postgres": {"postgresql"},
    "javascript runtime": {"nodejs", "gjs", "duktape", "quickjs", "libnode108"},
    "vim": {"vim"},
    "postgresql": {"postgresql"},
}


class DemoSearchTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = subprocess.Popen(
            [BINARIES / "semrank-server", f"--model_dir={MODEL}", "--listen_address=127.0.0.1:0",
             "--http_address=127.0.0.1:0", "--max_inflight_texts=200000"],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        cls.address = re.search(r" grpc=(\S+)", cls.server.stdout.readline())[1]
        cls.semrank("put", f"--documents={DOCUMENTS}")

    @classmethod
    def tearDownClass(cls):
        cls.server.terminate()
        cls.server.wait()
        cls.server.stdout.close()

    @classmethod
    def semrank(cls, *arguments: str) -> str:
        return subprocess.run([BINARIES / "semrank", f"--address={cls.address}", *arguments], check=True,
                              capture_output=True, text=True).stdout

    def test_top_three_have_what_a_person_expects(self):
        for query, expected in EXPECTED.items():
            with self.subTest(query):
                lines = self.semrank("search", f"--query={query}", "--top_k=3").splitlines()
                self.assertTrue(expected & {field for line in lines for field in line.split("\t")}, lines)


if __name__ == "__main__":
    if not (DOCUMENTS.exists() and MODEL.exists()):
        sys.exit("demo_search_test: scripts/quickstart.sh has not run here")
    unittest.main(argv=sys.argv[:1])
