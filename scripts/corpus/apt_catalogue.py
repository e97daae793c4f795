"""Fetches the package catalogue with apt, into a folder of its own.

The machine's apt state is not touched and nothing needs root: lists, cache
and status live in the private folder, hooks that run after an update are
switched off, and only package lists and English descriptions are fetched
(machines are often set up to leave the descriptions out).
"""

import os
import re
import shutil
import subprocess
from pathlib import Path

_APT_HELPER = "/usr/lib/apt/apt-helper"
_WANTED_TARGETS = ("Packages", "Translations")
_CONFIG = """\
// Written by build_package_corpus.py: a private apt, used with `apt-get -c`.
Dir::State "{state}";
Dir::State::Lists "{state}/lists";
Dir::State::status "{state}/status";
Dir::Cache "{state}/cache";
#clear Acquire::Languages;
Acquire::Languages {{ "en"; }};
#clear APT::Architectures;
APT::Architectures {{ "{architecture}"; }};
#clear APT::Update::Pre-Invoke;
#clear APT::Update::Post-Invoke;
#clear APT::Update::Post-Invoke-Success;
Acquire::IndexTargets::deb-src::Sources::DefaultEnabled "false";
{unwanted}"""


class CatalogueError(Exception):
    """The catalogue cannot be had; the message says what to do about it."""


class AptCatalogue:
    """The package lists of this machine's apt sources, kept in `folder`."""

    def __init__(self, folder):
        """Creates `folder`. Raises CatalogueError where there is no apt."""
        _require("apt-get", "apt-cache", "apt-config", _APT_HELPER)
        self._folder = Path(folder).resolve()
        self._config = self._folder / "apt.conf"
        self._complete = self._folder / "complete"
        self._write_private_state()

    def is_complete(self):
        """True once a fetch into the folder has brought everything."""
        return self._complete.exists()

    def fetch(self):
        """Downloads the lists (about 16 MB), or brings them up to date.
        Returns apt's complaints, one string each; with any, what could be
        fetched is used, and the next run fetches again."""
        self._complete.unlink(missing_ok=True)
        updated = self._run("apt-get", "-q", "update", check=False)
        complaints = [line for line in updated.stderr.splitlines()
                      if line.startswith(("W:", "E:", "Err:")) and "unsandboxed" not in line]
        targets = self.index_targets()
        missing = [kind for kind in _WANTED_TARGETS
                   if kind not in {target["Created-By"] for target in targets}]
        if missing:
            raise CatalogueError(_explain_missing(missing, complaints))
        if not complaints:
            self._complete.touch()
        return complaints

    def download(self, package):
        """Fetches the newest version of a package; returns the path of its file."""
        folder = self._folder / "packages"
        folder.mkdir(exist_ok=True)
        self._run("apt-get", "-q", "download", package, folder=folder)
        files = sorted(folder.glob(f"{package}_*.deb"))
        if not files:
            raise CatalogueError(f"apt-get downloaded no {package}")
        return files[-1]

    def index_targets(self):
        """One dict of apt's fields for each list file that is there, in the
        order of the file names."""
        listed = self._run("apt-get", "indextargets").stdout
        targets = [dict(line.split(": ", 1) for line in block.splitlines() if ": " in line)
                   for block in listed.split("\n\n") if block.strip()]
        return sorted((target for target in targets
                       if target.get("Created-By") in _WANTED_TARGETS
                       and os.path.exists(target["Filename"])),
                      key=lambda target: target["Filename"])

    def package_records(self):
        """Text of apt's records of every package, newest version each."""
        return self._run("apt-cache", "dumpavail").stdout

    def description_records(self):
        """Text of the records that hold the long English descriptions."""
        files = [target["Filename"] for target in self.index_targets()
                 if target["Created-By"] == "Translations"]
        return self._run(_APT_HELPER, "cat-file", *files).stdout

    def _write_private_state(self):
        for name in ("lists/partial", "cache/archives/partial"):
            (self._folder / name).mkdir(parents=True, exist_ok=True)
        # An empty status: what is installed here must not change the corpus.
        (self._folder / "status").touch()
        dump = _checked(["apt-config", "dump"]).stdout
        self._config.write_text(_CONFIG.format(
            state=self._folder,
            architecture=re.search(r'^APT::Architecture "(.*)";', dump, re.M).group(1),
            unwanted=_switch_off_targets(dump)), encoding="utf-8")

    def _run(self, program, *arguments, check=True, folder=None):
        return _checked([program, "-c", str(self._config), *arguments], check, folder)


def _switch_off_targets(config_dump):
    """Lines that keep apt from fetching icons, file lists and the like."""
    kinds = set(re.findall(r"^Acquire::IndexTargets::deb::([^: ]+)", config_dump, re.M))
    return "".join(f'Acquire::IndexTargets::deb::{kind}::DefaultEnabled "false";\n'
                   for kind in sorted(kinds.difference(_WANTED_TARGETS)))


def _checked(command, check=True, folder=None):
    done = subprocess.run(command, env={**os.environ, "LC_ALL": "C"}, encoding="utf-8",
                          errors="replace", capture_output=True, check=False, cwd=folder)
    if check and done.returncode != 0:
        raise CatalogueError(f"`{' '.join(command)}` failed with exit code "
                             f"{done.returncode}:\n{done.stderr.strip()}")
    return done


def _require(*programs):
    for program in programs:
        if shutil.which(program) is None:
            raise CatalogueError(f"{program} was not found: the corpus is made from the package "
                                 "catalogue of apt, so this needs Debian or Ubuntu.")


def _explain_missing(missing, complaints):
    said = "\n".join(f"  {line}" for line in complaints[:8]) or "  (apt gave no reason)"
    return (f"apt fetched no {' and no '.join(missing)} list. Is the network up, and do the apt "
            f"sources of this machine work (`apt-get update`)? apt said:\n{said}")
