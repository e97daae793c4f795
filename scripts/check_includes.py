#!/usr/bin/env python3
"""Enforces who may include whom, as a table of allowed edges.

Every #include "..." of a C++ file must name a file of an allowed
folder by its path from the project's root, so the folders form a ladder
without cycles. Exits 1 and names each line that breaks the rule.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"')

# Generated headers, by their include path. model/ knows only the configuration.
MODEL_CONFIG = "semrank/v1/model_config.pb.h"
GENERATED = re.compile(r"^(semrank/v1|google/rpc|grpc/health/v1)/[a-z_]+(\.grpc)?\.pb\.h$")

TOP_FOLDERS = ["model", "server", "client", "tests"]
MODEL = ["model/base", "model/text", "model/nn", "model/format"]
ALLOWED = {
    "model/base": [],
    "model/text": ["model/base"],
    "model/nn": ["model/text", "model/base", "model_config"],
    "model/format": ["model/nn", "model/text", "model/base", "model_config"],
    "model/eval": [*MODEL, "model_config"],
    "model/train": [*MODEL, "model/eval", "model_config"],
    "server/core": [*MODEL, "model_config"],
    "server/rpc": [*MODEL, "server/core", "model_config", "proto"],
    "server/http": [*MODEL, "server/core", "model_config", "proto"],
    "server": [*MODEL, "server/core", "server/rpc", "server/http", "model_config", "proto"],
    "client": ["model/base", "model_config", "proto", "client/local"],
    "client/local": [*MODEL, "proto"],
    "client/example": ["client", "proto"],
}


def folder_of(path: str) -> str:
    return str(pathlib.PurePosixPath(path).parent)


def target_of(include: str) -> str:
    """The name under which ALLOWED lists what `include` stands for."""
    if include == MODEL_CONFIG:
        return "model_config"
    if GENERATED.match(include):
        return "proto"
    return folder_of(include)


def problems_in(path: str) -> list[str]:
    folder = folder_of(path)
    free = path.startswith("tests/")
    if not free and folder not in ALLOWED:
        return [f"{path}: folder {folder} is not in the table of {pathlib.Path(__file__).name}"]
    problems = []
    lines = (ROOT / path).read_text(encoding="utf-8").splitlines()
    for number, line in enumerate(lines, start=1):
        match = INCLUDE.match(line)
        # Other libraries are included with <> or from a folder that is not ours.
        if not match or not is_ours(match[1]):
            continue
        target = target_of(match[1])
        if free or target == folder or target in ALLOWED[folder]:
            continue
        problems.append(f"{path}:{number}: {folder} must not include {match[1]}")
    return problems


def is_ours(include: str) -> bool:
    return bool(GENERATED.match(include)) or (ROOT / include).exists() or "/" not in include


def main() -> int:
    listed = sorted(str(path.relative_to(ROOT)) for top in TOP_FOLDERS for path in (ROOT / top).rglob("*")
                    if path.suffix in (".h", ".cc"))
    problems = [problem for path in listed for problem in problems_in(path)]
    for problem in problems:
        print(problem, file=sys.stderr)
    print(f"check_includes: {len(listed)} files, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
