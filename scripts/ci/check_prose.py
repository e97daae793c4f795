#!/usr/bin/env python3
"""Checks that comments, help texts and guides are plain English sentences.

  scripts/ci/check_prose.py                all tracked files
  scripts/ci/check_prose.py server model   only these files and folders

It refuses
  * a sentence that begins with a word that cannot begin one ("Of UTF-8.") or with
    a participle alone ("Taken before reading."),
  * a label of a header that says only what is the rule anyway,
  * words and phrases of WORDS, everywhere.
A sentence that is refused wrongly is worth rewriting. Exits 1 if there is one.
"""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
COMMENTS = {".h": "//", ".cc": "//", ".proto": "//", ".js": "//", ".ts": "//", ".py": "#", ".sh": "#",
            ".cmake": "#", ".txt": "#", ".yml": "#", ".yaml": "#", ".toml": "#"}
# Data that tests read, and text that is not ours.
SKIPPED = re.compile(r"^(tests/testdata/|tests/fuzz/seeds/|LICENSE|proto/(google|grpc)/|client/node/package-lock)")

FRAGMENT = re.compile(r"(Of|Those|That of|Whose|Which|Likewise|To be)\b(?!.*\?$)")
# "Taken before reading.", "Kept for its memory."
IRREGULAR = "Begun|Bound|Built|Done|Found|Given|Gone|Held|Kept|Left|Made|Meant|Said|Seen|Sent|Set|Taken|Told|Written"
NO_PARTICIPLE = "Need|Indeed|Speed|Feed|Seed|Embed|Exceed|Proceed"
PARTICIPLE = re.compile(rf"(?!(?:{NO_PARTICIPLE})\b)(?:{IRREGULAR}|[A-Z][a-z]+ed)"
                        r"(?:[.,;:]| (?:after|also|and|anew|as|at|before|beside|but|by|for|from|here|if|in|into|like"
                        r"|of|on|once|only|or|out|so|to|too|until|when|where|while|with|without)\b)")
EMPTY_LABEL = re.compile(r"\b(Threads\s+free functions|Threads\s+(from )?any( thread)?\.$|Errors\s+none\.?$)")
WORDS = re.compile(
    r"\b(whoever|somebody|of late|lately|mended|rubbish|in hand|turned round|told|tells?|told apart|so many|hand on"
    r"|gives? back|hand(s|ed)? over|take(s|n)? in|giv(e|es|en|ing) up|for want of|in vain|dear|meanwhile|hurry|crew"
    r"|beforehand|for good|drawer|goes on|go on)\b", re.IGNORECASE)


def tracked_files(wanted: list[str]) -> list[str]:
    listed = subprocess.run(["git", "ls-files", "-z", "--", *wanted], cwd=ROOT, check=True, capture_output=True)
    names = [name for name in listed.stdout.decode().split("\0") if name and not SKIPPED.match(name)]
    this = pathlib.Path(__file__).relative_to(ROOT).as_posix()
    return [name for name in names if name != this and (is_guide(name) or suffix(name) in COMMENTS)]


def suffix(name: str) -> str:
    return pathlib.PurePosixPath(name).suffix


def is_guide(name: str) -> bool:
    return suffix(name) == ".md"


def comment_blocks(lines: list[str], mark: str) -> list[tuple[int, list[str]]]:
    """Runs of lines that are only comment, with the number of the first one."""
    blocks: list[tuple[int, list[str]]] = []
    previous = -1
    for number, line in enumerate(lines, start=1):
        text = line.strip()
        if not text.startswith(mark) or text.startswith("#!"):
            continue
        if number != previous + 1:
            blocks.append((number, []))
        blocks[-1][1].append(text.lstrip(mark).strip())
        previous = number
    return blocks


def guide_blocks(lines: list[str]) -> list[tuple[int, list[str]]]:
    """Paragraphs, list items and table rows outside code."""
    blocks: list[tuple[int, list[str]]] = [(1, [])]
    in_code = False
    for number, line in enumerate(lines, start=1):
        text = line.strip()
        in_code ^= text.startswith("```")
        if in_code or text.startswith("```") or not text or re.match(r"[*#|-]|\d+\.", text):
            blocks.append((number, []))
        if not in_code and not text.startswith(("```", "|")):
            blocks[-1][1].append(re.sub(r"^([*#-]+|\d+\.)\s*", "", text))
    return blocks


def sentences(block: list[str]) -> list[str]:
    return re.split(r"(?<=[.:;?!])\s+", " ".join(block))


def problems_in(name: str) -> list[str]:
    lines = (ROOT / name).read_text(encoding="utf-8", errors="replace").splitlines()
    blocks = guide_blocks(lines) if is_guide(name) else comment_blocks(lines, COMMENTS[suffix(name)])
    problems = [f"{name}:{number}: no sentence: {sentence[:90]}"
                for number, block in blocks for sentence in sentences(block)
                if FRAGMENT.match(sentence) or (not is_guide(name) and PARTICIPLE.match(sentence))]
    for number, line in enumerate(lines, start=1):
        if word := WORDS.search(line):
            problems.append(f"{name}:{number}: \"{word[0]}\": {line.strip()[:90]}")
        if EMPTY_LABEL.search(line):
            problems.append(f"{name}:{number}: label says nothing: {line.strip()[:90]}")
    return problems


def main() -> int:
    files = tracked_files(sys.argv[1:] or ["."])
    problems = [problem for name in files for problem in problems_in(name)]
    for problem in problems:
        print(problem, file=sys.stderr)
    print(f"check_prose: {len(files)} files, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
