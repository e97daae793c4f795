"""The program itself: help, wrong use, no apt, an apt that fetches nothing."""

import os
import stat
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from apt_catalogue import AptCatalogue, CatalogueError

PROGRAM = Path(__file__).resolve().parents[3] / "scripts" / "corpus" / "build_package_corpus.py"


def run(*arguments, path=None):
    environment = {**os.environ, **({"PATH": path} if path is not None else {})}
    return subprocess.run([sys.executable, str(PROGRAM), *arguments], env=environment,
                          capture_output=True, encoding="utf-8", check=False)


class CommandLineTest(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = Path(temporary.name)

    def test_help_names_every_file(self):
        done = run("--help")
        self.assertEqual(done.returncode, 0)
        for name in ("docs.tsv", "train.tsv", "dev.qrels.txt", "corpus.json", "--seed"):
            self.assertIn(name, done.stdout)

    def test_wrong_use_exits_with_two(self):
        self.assertEqual(run().returncode, 2)
        self.assertEqual(run("--output=x", "--queries=0").returncode, 2)

    def test_machine_without_apt_is_told_so(self):
        done = run(f"--output={self.folder}/corpus", path=str(self.folder))
        self.assertEqual(done.returncode, 1)
        self.assertIn("needs Debian or Ubuntu", done.stderr)
        self.assertFalse((self.folder / "corpus").exists())

    def test_folder_with_other_files_is_refused_before_any_work(self):
        (self.folder / "precious").touch()
        done = run(f"--output={self.folder}")
        self.assertEqual(done.returncode, 1)
        self.assertIn("precious", done.stderr)


class AptCatalogueTest(unittest.TestCase):
    """Runs with programs that have the names of apt's and print what the test wants."""

    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = Path(temporary.name)
        self.addCleanup(os.environ.__setitem__, "PATH", os.environ["PATH"])
        (self.folder / "bin").mkdir()
        os.environ["PATH"] = f"{self.folder}/bin:{os.environ['PATH']}"
        self.fake("apt-config", 'echo \'APT::Architecture "riscv64";\'\n'
                  'echo \'Acquire::IndexTargets::deb::Contents "";\'')
        self.fake("apt-cache", "exit 0")
        self.fake("apt-helper", "exit 0")
        self.addCleanup(setattr, sys.modules["apt_catalogue"], "_APT_HELPER",
                        sys.modules["apt_catalogue"]._APT_HELPER)
        sys.modules["apt_catalogue"]._APT_HELPER = "apt-helper"

    def fake(self, program, script):
        path = self.folder / "bin" / program
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(path.stat().st_mode | stat.S_IXUSR)

    def fake_lists(self, kinds, says=""):
        listing = ""
        for kind in kinds:
            (self.folder / kind).touch()
            listing += f"Created-By: {kind}\\nFilename: {self.folder}/{kind}\\n\\n"
        self.fake("apt-get", f"case \"$*\" in *update) echo '{says}' >&2;; "
                  f"*) printf '{listing}';; esac")

    def test_apt_is_kept_to_the_private_folder(self):
        AptCatalogue(self.folder / "apt")
        config = (self.folder / "apt" / "apt.conf").read_text()
        for setting in ("Dir::State", "Dir::State::Lists", "Dir::State::status", "Dir::Cache"):
            self.assertRegex(config, f'{setting} "{self.folder}/apt')
        self.assertIn('APT::Architectures { "riscv64"; }', config)
        self.assertIn('deb::Contents::DefaultEnabled "false"', config)
        self.assertIn("#clear APT::Update::Post-Invoke-Success", config)

    def test_complete_only_when_everything_was_fetched(self):
        catalogue = AptCatalogue(self.folder / "apt")
        self.fake_lists(["Packages", "Translations"], says="W: Failed to fetch something")
        self.assertEqual(catalogue.fetch(), ["W: Failed to fetch something"])
        self.assertFalse(catalogue.is_complete())
        self.fake_lists(["Packages", "Translations"])
        self.assertEqual(catalogue.fetch(), [])
        self.assertTrue(catalogue.is_complete())

    def test_no_descriptions_is_an_error_with_apt_s_own_words(self):
        catalogue = AptCatalogue(self.folder / "apt")
        self.fake_lists(["Packages"], says="W: Could not resolve host")
        with self.assertRaisesRegex(CatalogueError, "no Translations.*\n.*Could not resolve"):
            catalogue.fetch()


if __name__ == "__main__":
    unittest.main()
