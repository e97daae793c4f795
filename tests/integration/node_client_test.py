#!/usr/bin/env python3
"""Runs node_client/client.js against a real server. Exit code 77: skipped,
because Node or its modules are not installed.

usage: node_client_test.py PROJECT_DIR BINARY_DIR
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

from secure_server import KEY, SecureServer

PROJECT = pathlib.Path(sys.argv[1]).resolve()
BINARIES = pathlib.Path(sys.argv[2]).resolve()
MODULES = PROJECT / "build/node_client/node_modules"
SKIPPED = 77


def main() -> int:
    if not shutil.which("node"):
        print("skipped: no node on the PATH (scripts/install_packages.sh node)")
        return SKIPPED
    if not (MODULES / "@grpc/grpc-js").is_dir():
        print(f"skipped: no @grpc/grpc-js in {MODULES} (scripts/install_node_modules.sh)")
        return SKIPPED
    with tempfile.TemporaryDirectory() as folder:
        server = SecureServer(PROJECT, BINARIES, pathlib.Path(folder))
        address = server.address.replace("127.0.0.1", "localhost")  # Node wants a name for TLS
        try:
            return subprocess.run(
                ["node", PROJECT / "tests/integration/node_client/client.js", PROJECT / "proto", address, server.certificate, KEY],
                env={**os.environ, "NODE_PATH": str(MODULES)}, timeout=120).returncode
        finally:
            server.stop()


if __name__ == "__main__":
    sys.exit(main())
