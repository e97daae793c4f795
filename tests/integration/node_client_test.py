#!/usr/bin/env python3
"""The Node package, as `npm pack` makes it, against a real server: its calls
(node_client/client.js), its TypeScript types (node_client/types.ts) and its
README's program. Exit code 77: skipped, because Node or its modules are not installed.

usage: node_client_test.py PROJECT_DIR BINARY_DIR
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from secure_server import EVENTS_KEY, KEY, MAX_TEXTS, WRITE_KEY, SecureServer

PROJECT = pathlib.Path(sys.argv[1]).resolve()
BINARIES = pathlib.Path(sys.argv[2]).resolve()
MODULES = PROJECT / "build/node_client/node_modules"
PROGRAMS = PROJECT / "tests/integration/node_client"
SKIPPED = 77


def install_package(folder: pathlib.Path, environment: dict[str, str]) -> None:
    """Installs the package in FOLDER/node_modules, beside its dependencies."""
    for name in ("client/node", "proto"):
        shutil.copytree(PROJECT / name, folder / name)
    version = json.loads((folder / "client/node/package.json").read_text())["version"]
    if f"project(semrank VERSION {version} " not in (PROJECT / "CMakeLists.txt").read_text():
        raise AssertionError(f"client/node/package.json has version {version}, CMakeLists.txt another one")
    subprocess.run(["npm", "pack", "--silent", "--offline", "--pack-destination", folder], cwd=folder / "client/node",
                   env=environment, check=True, stdout=subprocess.DEVNULL)
    package = folder / "node_modules/semrank"
    package.mkdir(parents=True)
    subprocess.run(["tar", "-xzf", folder / f"semrank-{version}.tgz", "--strip-components=1", "-C", package], check=True)
    (folder / "node_modules/@grpc").symlink_to(MODULES / "@grpc")
    for program in ("client.js", "types.ts"):
        shutil.copy(PROGRAMS / program, folder)


def run(folder: pathlib.Path) -> int:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("SEMRANK_")}
    environment["NODE_PATH"] = str(MODULES)
    install_package(folder, environment)
    types = subprocess.run(["node", MODULES / "typescript/bin/tsc", "--noEmit", "--strict", "--target", "es2022", "--lib", "es2022",
                            "--module", "nodenext", "types.ts"], cwd=folder, timeout=120)
    if types.returncode != 0:
        return types.returncode
    print("ok: types", flush=True)
    server = SecureServer(PROJECT, BINARIES, folder)
    address = server.address.replace("127.0.0.1", "localhost")  # Node wants a name for TLS
    try:
        sample = re.search(r"^```js\n(.*?)^```$", (PROJECT / "client/node/README.md").read_text(), re.MULTILINE | re.DOTALL)[1]
        options = f"{{tlsCa: require('node:fs').readFileSync('{server.certificate}'), apiKey: '{WRITE_KEY}'}}"
        (folder / "sample.js").write_text(sample.replace("'127.0.0.1:50051'", f"'{address}', {options}"))
        printed = subprocess.run(["node", "sample.js"], cwd=folder, env=environment, timeout=120, capture_output=True, text=True, check=True)
        if "gimp photo editor" not in printed.stdout:
            raise AssertionError(f"the README's program printed {printed.stdout}")
        return subprocess.run(["node", "client.js", address, server.certificate, KEY, WRITE_KEY, str(MAX_TEXTS),
                               server.http_address.replace("127.0.0.1", "localhost"), EVENTS_KEY],
                              cwd=folder, env=environment, timeout=120).returncode
    finally:
        server.stop()


def main() -> int:
    if not shutil.which("node"):
        print("skipped: no node on the PATH (scripts/install_packages.sh node)")
        return SKIPPED
    if not (MODULES / "typescript").is_dir():
        print(f"skipped: no typescript in {MODULES} (scripts/install_node_modules.sh)")
        return SKIPPED
    with tempfile.TemporaryDirectory() as folder:
        return run(pathlib.Path(folder))


if __name__ == "__main__":
    sys.exit(main())
