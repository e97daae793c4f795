#!/usr/bin/env python3
"""Checks the form of every guide, and that the links and files that guides name
exist.

usage: guides_test.py PROJECT_DIR
"""
import pathlib
import re
import sys
import unittest

PROJECT = pathlib.Path(sys.argv[1]).resolve()
# Folders with no guide of this project: builds, modules, what the quickstart makes.
SKIPPED = {"build", "demo", "node_modules"}
CODE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)\s]+)\)")
# A path in backticks: `server/catalog`, `rpc/memory_watchdog`, `tests/chaos/kill9.py`.
PATH = re.compile(r"`((?:[\w.-]+/)+[\w.-]*)(?::\d+)?(?: [^`]*)?`")
# A source by its name alone: `gradient_test.cc`.
SOURCE = re.compile(r"`([\w-]+\.(?:h|cc|py|sh|cmake|proto))`")
# A guide and perhaps its section, in a comment: RESULTS.md, "Speed".
REFERENCE = re.compile(r"\b((?:[\w/]+/)?[A-Z]+\.md)\b(?:, \"([^\"\n]+)\")?")
# A name of a test or a benchmark: `RankTest`, `BM_Rank_Cached/1000`.
TEST_NAME = re.compile(r"`(BM_\w+|[A-Z]\w+Test)\b[^`]*`")


def guides() -> list[pathlib.Path]:
    found = [PROJECT / ".github", PROJECT] + [folder for folder in PROJECT.iterdir() if folder.is_dir() and not folder.name.startswith(".")
                                              and folder.name not in SKIPPED]
    files = {path for folder in found for path in (folder.glob("*.md") if folder == PROJECT else folder.rglob("*.md"))}
    return sorted(path for path in files if not SKIPPED & set(path.relative_to(PROJECT).parts))


def anchors(text: str) -> set[str]:
    """What GitHub makes of the headings."""
    headings = re.findall(r"^#+ (.*)$", CODE.sub("", text), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading).lower()).replace(" ", "-") for heading in headings}


def paragraphs(text: str) -> list[list[str]]:
    """Prose outside code and tables; an item of a list is a paragraph."""
    found = [[]]
    for line in CODE.sub("", text).splitlines():
        ends = not line.strip() or line.lstrip().startswith(("|", "#", "<!--")) or line.startswith("    ")
        if ends or re.match(r"\s*([*-]|\d+\.) ", line):
            found.append([])
        if not ends:
            found[-1].append(line)
    return found


def cells(text: str) -> list[str]:
    rows = [line.strip().strip("|") for line in CODE.sub("", text).splitlines() if line.lstrip().startswith("|")]
    return [cell.strip() for row in rows for cell in re.split(r"(?<!\\)\|", row)]


def exists(folder: pathlib.Path, name: str) -> bool:
    """Whether `name` is a file or a folder, or a source without its suffix, here or from the top. NAME is any name."""
    name = name.replace("NAME", "*")
    for base in (folder, PROJECT):
        if any(base.glob(name)) or any(base.glob(f"{name}.*")):
            return True
    return False


class GuidesTest(unittest.TestCase):
    def test_guides_are_short(self):
        for guide in guides():
            with self.subTest(guide=guide.relative_to(PROJECT)):
                text = guide.read_text(encoding="utf-8")
                self.assertLess(len(text.splitlines()), 300)
                self.assertEqual([cell for cell in cells(text) if len(cell) > 200], [])
                self.assertEqual([part for part in paragraphs(text) if len(part) > 5], [])
                self.assertEqual([line for part in paragraphs(text) for line in part if len(line) > 100], [])

    def test_long_guides_begin_with_their_readers_and_their_contents(self):
        for guide in guides():
            text = guide.read_text(encoding="utf-8")
            if len(text.splitlines()) > 80 and guide not in {PROJECT / "README.md", PROJECT / "deploy/CHANGELOG.md"}:
                with self.subTest(guide=guide.relative_to(PROJECT)):
                    opening = text.partition("\n## ")[0]
                    self.assertRegex(opening, r"(?m)^For ")
                    self.assertIn("](#", opening)

    def test_links_lead_to_files_and_headings(self):
        for guide in guides():
            text = guide.read_text(encoding="utf-8")
            for target in LINK.findall(CODE.sub("", text)):
                if "://" in target or target.startswith("mailto:"):
                    continue
                with self.subTest(guide=guide.relative_to(PROJECT), target=target):
                    file, _, heading = target.partition("#")
                    linked = guide.parent / file if file else guide
                    self.assertTrue(linked.exists())
                    if heading:
                        self.assertIn(heading, anchors(linked.read_text(encoding="utf-8")))

    def test_paths_exist(self):
        for guide in guides():
            for name in PATH.findall(CODE.sub("", guide.read_text(encoding="utf-8"))):
                first = name.split("/")[0]
                # Other paths are those of a user: models/shop, corpus/docs.tsv.
                if not any((base / first).is_dir() for base in (guide.parent, PROJECT)) or first in SKIPPED:
                    continue
                with self.subTest(guide=guide.relative_to(PROJECT), name=name):
                    self.assertTrue(exists(guide.parent, name.rstrip("/")))

    def test_sources_exist(self):
        sources = {path.name for folder in PROJECT.iterdir() if folder.is_dir() and folder.name not in SKIPPED for path in folder.rglob("*.*")}
        for guide in guides():
            for name in SOURCE.findall(CODE.sub("", guide.read_text(encoding="utf-8"))):
                with self.subTest(guide=guide.relative_to(PROJECT), name=name):
                    self.assertTrue(name in sources, name)

    def test_tests_and_benchmarks_exist(self):
        sources = "".join(path.read_text(encoding="utf-8") for path in (PROJECT / "tests").rglob("*.cc"))
        for guide in guides():
            for name in TEST_NAME.findall(CODE.sub("", guide.read_text(encoding="utf-8"))):
                with self.subTest(guide=guide.relative_to(PROJECT), name=name):
                    self.assertTrue(name in sources, name)

    def test_sources_refer_to_guides_and_sections_that_exist(self):
        sections = {}
        for guide in guides():
            headings = re.findall(r"^#+ (.*)$", CODE.sub("", guide.read_text(encoding="utf-8")), re.MULTILINE)
            for name in (guide.name, guide.relative_to(PROJECT).as_posix()):
                sections.setdefault(name, set()).update(headings)
        for folder in ("model", "server", "client", "scripts", "deploy", "tests"):
            for path in (PROJECT / folder).rglob("*"):
                if path.suffix not in {".h", ".cc", ".py", ".sh", ".yml", ".yaml"} or SKIPPED & set(path.parts) or path == pathlib.Path(__file__).resolve():
                    continue
                for name, section in REFERENCE.findall(path.read_text(encoding="utf-8")):
                    with self.subTest(path=path.relative_to(PROJECT), name=name):
                        self.assertTrue(name.removeprefix("../") in sections, name)
                        if section:
                            self.assertIn(section, sections[name])

    def test_rsync_copies_the_files_of_a_folder_and_not_the_folder(self):
        copies = [source for guide in guides() for source in re.findall(r"(?m)^rsync -a (\S+) ", guide.read_text(encoding="utf-8"))]
        self.assertEqual([source for source in copies if not source.endswith("/")], [])

    def test_every_guide_is_found_from_the_readme(self):
        linked, to_read = set(), [PROJECT / "README.md"]
        while to_read:
            guide = to_read.pop()
            linked.add(guide)
            targets = (target.partition("#")[0] for target in LINK.findall(guide.read_text(encoding="utf-8")) if "://" not in target)
            found = {(guide.parent / target).resolve() for target in targets if target.endswith(".md")}
            to_read += sorted(path for path in found - linked if path.exists() and path not in to_read)
        templates = {guide for guide in guides() if guide.parent.name in {"ISSUE_TEMPLATE", ".github"} and guide.name != "CONTRIBUTING.md"}
        self.assertEqual(set(guides()) - linked - templates, set())


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
