#!/usr/bin/env python3
"""The scripts of the Debian package, with the paths of the system below a folder of the test.

usage: package_scripts_test.py PROJECT_DIR BINARY_DIR
"""
import configparser
import pathlib
import re
import stat
import subprocess
import sys
import tempfile
import unittest

PROJECT = pathlib.Path(sys.argv[1]).resolve()
# These would change the machine.
HELPERS = ("addgroup", "delgroup", "getent", "deb-systemd-helper", "deb-systemd-invoke", "systemctl")


class PackageScriptsTest(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.root = pathlib.Path(temporary.name)
        for folder in ("etc/default", "etc/semrank", "var/lib/private", "var/lib/semrank/models", "bin"):
            (self.root / folder).mkdir(parents=True)
        for helper in HELPERS:
            (self.root / "bin" / helper).write_text(f'#!/bin/sh\necho "{helper} $*" >>{self.root}/calls\n')
            (self.root / "bin" / helper).chmod(0o755)
        self.secrets = self.root / "etc/default/semrank-server"
        self.state = self.root / "var/lib/semrank-server"

    def run_script(self, name: str, *arguments: str) -> None:
        text = (PROJECT / "deploy/debian" / name).read_text()
        text = re.sub(r"(?<![\w/])/(etc|var|run)/", rf"{self.root}/\1/", text)
        run = subprocess.run(["/bin/sh", "-s", *arguments], input=text, capture_output=True, text=True,
                             env={"PATH": f"{self.root}/bin:/usr/bin:/bin"})
        self.assertEqual(run.returncode, 0, run.stderr)

    def mode(self) -> int:
        return stat.S_IMODE(self.secrets.stat().st_mode)

    def test_secrets_are_for_root_alone(self):
        self.run_script("postinst", "configure")
        self.assertEqual(self.mode(), 0o640)
        self.assertTrue(all(line.startswith("#") for line in self.secrets.read_text().splitlines()))

    def test_an_upgrade_keeps_the_secrets_and_hides_them(self):
        self.secrets.write_text("SEMRANK_STORE=redis://a:b@c\n")
        self.secrets.chmod(0o644)
        self.run_script("postinst", "configure", "0.1.0")
        self.assertEqual(self.secrets.read_text(), "SEMRANK_STORE=redis://a:b@c\n")
        self.assertEqual(self.mode(), 0o640)

    def test_a_night_begins_with_the_import_of_a_stream(self):
        units = {}
        for name in ("import", "train"):
            units[name] = configparser.ConfigParser(strict=False, interpolation=None)
            units[name].optionxform = str
            units[name].read(PROJECT / f"deploy/debian/semrank-{name}.service")
        for setting in ("Requires", "After"):
            self.assertEqual(units["train"]["Unit"][setting], "semrank-import.service")
        secrets = units["import"]["Service"]["EnvironmentFile"]
        self.assertEqual(units["import"]["Unit"]["ConditionPathExists"], secrets)
        output = re.search(r"--output=(\S+)", units["import"]["Service"]["ExecStart"])[1]
        for text in ("train.toml", "semrank-import.service"):
            self.assertIn(output, (PROJECT / "deploy/debian" / text).read_text())
        state = units["import"]["Service"]["StateDirectory"]
        self.assertEqual(output, f"/var/lib/{state}")

    def import_with(self, *codes: int) -> tuple[int, list[str], str]:
        """What the unit's command does when imports end with these exit codes: its own code, its pauses, its log."""
        text = (PROJECT / "deploy/debian/semrank-import.service").read_text()
        script = re.search(r"(?ms)^ExecStart=/bin/sh -c '(.*?)'$", text)[1]
        # systemd joins lines and replaces $$.
        script = script.replace("\\\n", " ").replace("$$", "$").replace("/usr/bin/semrank", "semrank")
        (self.root / "codes").write_text("".join(f"{code}\n" for code in codes))
        for name, body in (("semrank", "code=$(head -n 1 codes); sed -i 1d codes; exit $code"), ("sleep", 'echo "$1" >>pauses')):
            (self.root / "bin" / name).write_text(f"#!/bin/sh\n{body}\n")
            (self.root / "bin" / name).chmod(0o755)
        (self.root / "pauses").write_text("")
        done = subprocess.run(["/bin/sh", "-c", script], cwd=self.root, capture_output=True, text=True,
                              env={"PATH": f"{self.root}/bin:/usr/bin:/bin"})
        self.assertEqual((self.root / "codes").read_text(), "")
        return done.returncode, (self.root / "pauses").read_text().split(), done.stdout

    def test_an_import_that_fails_is_repeated_for_half_an_hour(self):
        self.assertEqual(self.import_with(0), (0, [], ""))
        code, pauses, log = self.import_with(1, 1, 0)
        self.assertEqual((code, pauses), (0, ["60", "120"]))
        self.assertIn("the next attempt is in 120 s", log)
        code, pauses, log = self.import_with(1, 1, 1, 1, 1, 1)
        self.assertEqual((code, sum(map(int, pauses))), (1, 30 * 60))
        self.assertTrue(log.endswith("so nothing is trained this night\n"), log)

    def test_an_import_with_a_wrong_flag_is_not_repeated(self):
        self.assertEqual(self.import_with(2)[:2], (2, []))

    def test_purge_removes_links_folders_and_nothing_else(self):
        private = self.root / "var/lib/private/semrank-server"
        for kind in ("link", "folder", "none"):
            with self.subTest(kind):
                private.mkdir()
                (private / "store").write_text("vectors")
                if kind == "link":
                    self.state.symlink_to("private/semrank-server")
                elif kind == "folder":
                    self.state.mkdir()
                    (self.state / "store").write_text("vectors")
                    self.secrets.unlink(missing_ok=True)
                    self.secrets.mkdir()
                (self.root / "var/lib/semrank/models/shop").write_text("model")
                self.run_script("postrm", "purge")
                self.assertFalse(self.state.exists() or self.state.is_symlink() or private.exists() or self.secrets.exists())
                self.assertTrue((self.root / "var/lib/semrank/models/shop").exists())

    def test_purge_of_the_trainer_removes_imported_events(self):
        events = self.root / "var/lib/semrank/events"
        secrets = self.root / "etc/default/semrank-import"
        (self.root / "var/lib/semrank/models/shop").write_text("model")
        for action, stays in (("remove", True), ("purge", False)):
            events.mkdir(exist_ok=True)
            (events / "positions").write_text("shop 1")
            secrets.write_text("SEMRANK_STREAM=redis://a:b@c/shop\n")
            self.run_script("train/postrm", action)
            self.assertEqual((events.exists(), secrets.exists()), (stays, stays))
        self.assertTrue((self.root / "var/lib/semrank/models/shop").exists())

    def test_remove_of_the_trainer_ends_its_nights(self):
        (self.root / "run/systemd/system").mkdir(parents=True)
        self.run_script("train/prerm", "upgrade", "0.2.0")
        self.assertFalse((self.root / "calls").exists())
        self.run_script("train/prerm", "remove")
        self.assertEqual((self.root / "calls").read_text().splitlines(),
                         ["systemctl --quiet disable --now semrank-train.timer",
                          "deb-systemd-invoke stop semrank-train.service semrank-import.service"])
        package = re.search(r"TRAINING_PACKAGE_CONTROL_EXTRA(.*?)\)", (PROJECT / "scripts/cmake/package.cmake").read_text(), re.DOTALL)[1]
        self.assertEqual({pathlib.Path(name).name for name in package.split()},
                         {path.name for path in (PROJECT / "deploy/debian/train").iterdir()})

    def test_remove_keeps_what_the_server_wrote(self):
        self.state.mkdir()
        self.secrets.write_text("a=b\n")
        self.run_script("postrm", "remove")
        self.assertTrue(self.state.exists() and self.secrets.exists())


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
