#!/usr/bin/env python3
"""The package of the general model, made of a model of a few pairs.

Run: model_deb_test.py PROJECT_FOLDER FOLDER_OF_PROGRAMS
"""
import hashlib
import pathlib
import subprocess
import sys
import tempfile
import unittest

PROJECT, PROGRAMS = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
PAIRS = "feline\tcat\ncanine\tdog\nfeline mammal\tcat, true cat\nthe dog barks\tdog, domestic dog\n"


def run(*command: object) -> str:
    return subprocess.run([str(part) for part in command], check=True, capture_output=True, text=True).stdout


class ModelDebTest(unittest.TestCase):
    def test_the_package_has_the_model_and_the_notice(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            (folder / "pairs.tsv").write_text(PAIRS)
            (folder / "NOTICE").write_text("WordNet 3.0 Copyright 2006\n")
            run(PROGRAMS / "semrank-train", "--preset=general", f"--train={folder}/pairs.tsv",
                f"--model_dir={folder}/general")
            sums = []
            for out in ("first", "second"):
                run(PROJECT / "deploy/debian/build_model_deb.sh", folder / "general", folder / "NOTICE", folder / out)
                package, = (folder / out).glob("semrank-model-en_*_all.deb")
                sums.append(hashlib.sha256(package.read_bytes()).hexdigest())
            self.assertEqual(*sums)
            run("dpkg-deb", "-x", package, folder / "root")
            share = folder / "root/usr/share"
            self.assertIn("WordNet", (share / "doc/semrank-model-en/copyright").read_text())
            model = share / "semrank/models/general"
            (folder / "docs.tsv").write_text("1\tcat food\n2\tdog food\n")
            run(PROGRAMS / "semrank-train", f"--docs={folder}/docs.tsv", f"--model_dir={folder}/shop",
                f"--init_from={model}")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
