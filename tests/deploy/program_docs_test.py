#!/usr/bin/env python3
"""Man pages and completions of the packages: they name what the programs have,
and a real bash and a real zsh complete with them.

usage: program_docs_test.py PROJECT_DIR BINARY_DIR
"""
import gzip
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

PROJECT, BINARIES = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
BASH_COMPLETION = pathlib.Path("/usr/share/bash-completion/bash_completion")


class ProgramDocsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.temporary.name)
        subprocess.run([PROJECT / "deploy/debian/program_docs.py", BINARIES, cls.folder, "semrank-server", "semrank-train", "semrank"], check=True)

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    def page(self, name: str) -> str:
        page = gzip.decompress((self.folder / f"man/{name}.1.gz").read_bytes())
        done = subprocess.run(["groff", "-man", "-Tascii", "-ww", "-P-c"], input=page, capture_output=True)
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        return re.sub(r".\x08", "", done.stdout.decode())

    def complete(self, line: str) -> set[str]:
        """The words that bash offers at the end of `line`."""
        words = re.split(r"(=)|\s+", line)
        words = [word for word in words if word is not None and (word or word is words[-1])]
        program = words[0]
        quoted = " ".join(f"'{word}'" for word in words)
        script = (f". {BASH_COMPLETION}; . {self.folder}/bash/{program}; compopt() {{ :; }}; COMP_WORDS=({quoted}); "
                  f"COMP_CWORD={len(words) - 1}; COMP_LINE='{line}'; COMP_POINT={len(line)}; "
                  f"{f'_{program}'.replace('-', '_')}; printf '%s\\n' \"${{COMPREPLY[@]}}\"")
        return set(subprocess.run(["bash", "-c", script], check=True, capture_output=True, text=True).stdout.split())

    @staticmethod
    def help(program: str, *command: str) -> str:
        return subprocess.run([BINARIES / program, *command, "--help-all"], check=True, capture_output=True, text=True).stdout

    def test_the_pages_hold_every_flag(self):
        help_text = self.help("semrank-server")
        flags = re.findall(r"(?m)^  --(?:\[no\])?([\w-]+)", help_text)
        page = self.page("semrank-server")
        self.assertGreater(len(flags), 30)
        for flag in flags:
            self.assertRegex(page, rf"(?m)^ +--(\[no\])?{flag}\b")
        self.assertIn("orders titles for a query", self.page("semrank-rank"))

    def test_the_pages_hold_the_exit_codes(self):
        for name, has_four in (("semrank", False), ("semrank-train", True)):
            page = gzip.decompress((self.folder / f"man/{name}.1.gz").read_bytes()).decode()
            self.assertEqual("2: wrong use. 4: the model was rejected" in page, has_four)

    def test_help_says_what_kind_of_value_a_flag_takes(self):
        programs = [["semrank-server"], ["semrank-train"], ["semrank-eval"], ["semrank"]]
        commands = re.findall(r"(?m)^  (\w+) +\w", self.help("semrank").split("\nCommands:\n")[1].split("\n\n")[0])
        self.assertIn("events", commands)
        for program in [*programs, *(["semrank", command] for command in commands)]:
            self.assertNotIn("=VALUE", self.help(*program), program)

    @unittest.skipUnless(BASH_COMPLETION.exists(), "needs the package bash-completion")
    def test_bash_completes_files_and_folders(self):
        (self.folder / "models/shop").mkdir(parents=True)
        (self.folder / "models/docs.tsv").touch()
        place = f"{self.folder}/models/"
        self.assertEqual(self.complete(f"semrank-server --model_dir={place}"), {f"{place}shop"})
        self.assertEqual(self.complete(f"semrank put --documents={place}"), {f"{place}shop", f"{place}docs.tsv"})

    @unittest.skipUnless(BASH_COMPLETION.exists(), "needs the package bash-completion")
    def test_bash_completes_flags_their_words_and_commands(self):
        self.assertEqual(self.complete("semrank-server --tls_"), {"--tls_cert=", "--tls_key=", "--tls_client_ca="})
        self.assertEqual(self.complete("semrank-server --log_format="), {"text", "json"})
        self.assertEqual(self.complete("semrank-server --nowait"), {"--nowait_for_model"})
        self.assertLessEqual({"rank", "embed", "search"}, self.complete("semrank "))
        self.assertIn("--titles=", self.complete("semrank rank --ti"))
        self.assertNotIn("--titles=", self.complete("semrank health --ti"))

    @unittest.skipUnless(shutil.which("zsh"), "needs the package zsh")
    def test_zsh_completes_flags_their_words_and_commands(self):
        def complete(line: str) -> set[str]:
            script = pathlib.Path(__file__).with_name("complete.zsh")
            return set(subprocess.run(["zsh", "-f", script, self.folder / "zsh", line], check=True, capture_output=True,
                                      text=True, timeout=60).stdout.split())
        self.assertEqual(complete("semrank-server --tls_"), {"--tls_cert", "--tls_key", "--tls_client_ca"})
        self.assertEqual(complete("semrank-server --log_format="), {"text", "json"})
        self.assertLessEqual({"rank", "embed", "search"}, complete("semrank "))
        self.assertIn("--titles", complete("semrank rank --ti"))
        self.assertNotIn("--titles", complete("semrank health --ti"))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
