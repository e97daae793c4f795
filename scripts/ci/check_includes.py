#!/usr/bin/env python3
"""Enforces who may include whom: between folders, and between units of a folder.

ALLOWED has a row for each folder: the folders that its files may include. A
unit is a header with its source of the same name. There may be no include cycle
of folders or of units, and every #include "..." names a file by its path from the
project's root. Exits 1 and prints each line that breaks a rule.
"""
import graphlib
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"')

# Generated headers, by their include path. model/ knows only the configuration.
MODEL_CONFIG = "semrank/v1/model_config.pb.h"
GENERATED = re.compile(r"^(semrank/v1|google/rpc|grpc/health/v1)/[a-z_]+(\.grpc)?\.pb\.h$")

TOP_FOLDERS = ["model", "server", "client", "tests"]


def ladder(root: str, *names: str, below: list[str]) -> dict[str, list[str]]:
    """Each folder may include those before it, and all of `below`."""
    folders = [f"{root}/{name}" for name in names]
    return {folder: [*below, *folders[:number]] for number, folder in enumerate(folders)}


MODEL = ["model/base", "model/text", "model/nn", "model/format"]
EVAL = ["model/eval/translation", "model/eval/rankers", "model/eval/metrics"]
ALLOWED = {
    "model/base": [],
    "model/html": [],
    "model/redis": ["model/base"],
    "model/kafka": ["model/base"],
    "model/text": ["model/base"],
    "model/cli": ["model/base", "model/text"],
    "model/data": ["model/base", "model/text", "model/cli"],
    "model/events": ["model/base", "model/text", "model/cli", "model/data"],
    "model/nn": ["model/base", "model/text", "model_config"],
    "model/format": ["model/base", "model/text", "model/nn", "model_config"],
    **ladder("model/eval", "translation", "rankers", "metrics", below=[*MODEL, "model/data", "model/cli"]),
    "model/eval": [*MODEL, "model/data", "model/cli", "model/html", *EVAL],
    **ladder("model/train", "options", "start", "data", "batches", "optimizer", "distributed", "towers", "ssi",
             "validation", "report", "run",
             below=[*MODEL, "model/data", "model/events", "model/cli", "model/html", *EVAL, "model_config"]),
    "model/train": ["model/base", "model/cli", "model/train/options", "model/train/distributed", "model/train/run"],
    **ladder("server", "base", "auth", "events", "models", "stores", "vectors", "catalog/store", "catalog/search",
             "catalog/sync", "ranking", below=[*MODEL, "model/redis", "model/kafka", "model/events", "model_config"]),
}
CORE = [folder for folder in ALLOWED if folder.startswith("server/")]
ALLOWED |= {
    "server/requests": ["model/base", "model/events", *CORE, "model_config", "proto"],
    "server/rpc": ["model/base", *CORE, "server/requests", "proto"],
    "server/http": ["model/base", "server/base", "server/auth"],
    "server/api": ["model/base", "model/text", "model/events", *CORE, "server/requests", "server/http", "proto"],
    "server/pages": ["model/base", "model/html", *CORE, "server/requests", "server/http"],
    "server": [*MODEL, "model/redis", "model/events", "model/data", "model/cli", *CORE, "server/requests", "server/rpc", "server/http", "server/api",
               "server/pages", "model_config", "proto"],
    "client/lib": ["model/base", "model_config", "proto"],
    "client/output": ["model/base", "model/text", "model/cli", "model/data", "client/lib", "model_config", "proto"],
    # Offline embedding alone reaches the towers.
    "client/bulk": [*MODEL, "model/data", "model/cli", "client/lib", "client/output", "proto"],
    "client/load": ["model/base", "model/cli", "client/lib", "client/output", "proto"],
    "client/streams": ["model/base", "model/redis", "model/kafka", "model/data", "model/events"],
    "client/commands": ["model/base", "model/text", "model/cli", "model/data", "model/events", "client/lib",
                        "client/output", "client/bulk", "client/load", "client/streams", "model/redis", "model_config",
                        "proto"],
    "client/example": ["client/lib", "proto"],
}


def folder_of(path: str) -> str:
    return str(pathlib.PurePosixPath(path).parent)


def unit_of(path: str) -> str:
    return str(pathlib.PurePosixPath(path).with_suffix(""))


def target_of(include: str) -> str:
    """The name under which ALLOWED lists what `include` stands for."""
    if include == MODEL_CONFIG:
        return "model_config"
    if GENERATED.match(include):
        return "proto"
    return folder_of(include)


def is_ours(include: str) -> bool:
    # Other libraries are included with <> or from a folder that is not ours.
    return bool(GENERATED.match(include)) or (ROOT / include).exists() or "/" not in include


def includes_of(path: str) -> list[tuple[int, str]]:
    lines = (ROOT / path).read_text(encoding="utf-8").splitlines()
    matches = [(number, INCLUDE.match(line)) for number, line in enumerate(lines, start=1)]
    return [(number, match[1]) for number, match in matches if match and is_ours(match[1])]


def problems_in(path: str) -> list[str]:
    folder = folder_of(path)
    if path.startswith("tests/"):
        return []
    if folder not in ALLOWED:
        return [f"{path}: folder {folder} is not in the table of {pathlib.Path(__file__).name}"]
    return [f"{path}:{number}: {folder} must not include {include}"
            for number, include in includes_of(path)
            if target_of(include) not in (folder, *ALLOWED[folder])]


def cycle_in(graph: dict[str, set[str]]) -> list[str]:
    """A cycle of the graph, its first node again at the end; empty if it has none."""
    try:
        graphlib.TopologicalSorter({node: sorted(edges) for node, edges in graph.items()}).prepare()
    except graphlib.CycleError as error:
        return error.args[1][::-1]  # a node precedes what includes it
    return []


def unit_graph(paths: list[str]) -> dict[str, set[str]]:
    graph: dict[str, set[str]] = {}
    for path in paths:
        unit = unit_of(path)
        edges = {unit_of(include) for _, include in includes_of(path)}
        graph.setdefault(unit, set()).update(edges - {unit})
    return graph


def main() -> int:
    listed = sorted(str(path.relative_to(ROOT)) for top in TOP_FOLDERS for path in (ROOT / top).rglob("*")
                    if path.suffix in (".h", ".cc"))
    problems = [problem for path in listed for problem in problems_in(path)]
    folders = {folder: set(allowed) for folder, allowed in ALLOWED.items()}
    for graph in (folders, unit_graph(listed)):
        if cycle := cycle_in(graph):
            problems.append("include cycle: " + " -> ".join(cycle))
    for problem in problems:
        print(problem, file=sys.stderr)
    print(f"check_includes: {len(listed)} files, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
