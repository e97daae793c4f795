#!/usr/bin/env python3
"""Runs a Node program of node_client/ against the HTTP ports of two real servers,
which serve two small models and have documents: one without and one with API
keys. Exit code 77: skipped, because Node or its modules are not installed.

usage: http_clients_test.py PROJECT_DIR BINARY_DIR PROGRAM
"""
import hashlib
import importlib.util
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request

from python_package import install_package

PROJECT = pathlib.Path(sys.argv[1]).resolve()
BINARIES = pathlib.Path(sys.argv[2]).resolve()
MODULES = PROJECT / "build/node_client/node_modules"
KEY = "reader-key"
PRODUCTS = ["running shoes", "rain jacket", "coffee grinder", "desk lamp", "garden hose", "chess set", "wool socks", "bread knife"]
SKIPPED = 77


def train(folder: pathlib.Path) -> None:
    clicks = [f"{word} {product}\t{product} for home and travel\n" for product in PRODUCTS for word in ("cheap", "best", "new")]
    (folder / "clicks.tsv").write_text("".join(clicks))
    environment = {name: value for name, value in os.environ.items() if not name.startswith("SEMRANK_")}
    for name, flags in (("shop", ["--lexical=0.3"]), ("news", ["--tower=linear", "--embedding_dim=16", "--noshared_towers"])):
        subprocess.run([BINARIES / "semrank-train", f"--train={folder}/clicks.tsv", f"--model_dir={folder}/{name}", "--threads=1",
                        "--hidden=32", "--valid_fraction=0.2", *flags], check=True, env=environment, capture_output=True)


def start_server(folder: pathlib.Path, *flags: str) -> tuple[subprocess.Popen, str, str]:
    """The process, the URL of its HTTP port, and its gRPC port."""
    server = subprocess.Popen(
        [BINARIES / "semrank-server", f"--model_dir=shop={folder}/shop,news={folder}/news", "--listen_address=127.0.0.1:0",
         "--http_address=127.0.0.1:0", "--enable_admin_rpcs", *flags],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    ready = re.search(r" grpc=\S+:(\d+) http=(\S+)", server.stdout.readline())
    if not ready:
        raise AssertionError("semrank-server did not say that it is ready")
    return server, f"http://{ready[2]}", ready[1]


def status(url: str, headers: dict[str, str] = {}, body: bytes | None = None) -> tuple[int, str]:
    """The status code, and the origin that may read the response."""
    try:
        answer = urllib.request.urlopen(urllib.request.Request(url, data=body, headers=headers))
    except urllib.error.HTTPError as error:
        answer = error
    with answer:
        return answer.status, answer.headers.get("Access-Control-Allow-Origin", "")


def check_flags(folder: pathlib.Path) -> None:
    """Pages can be turned off; the server refuses calls of other origins unless they are listed."""
    shop = "https://shop.test"
    server, url, _ = start_server(folder, "--pages=off", f"--cors_origins={shop}")
    try:
        for path, code in (("/", 404), ("/api", 404), ("/statusz", 404), ("/openapi.json", 200), ("/metrics", 200)):
            assert status(url + path) == (code, ""), path
        for headers, expected in (({}, (200, "")), ({"Origin": shop}, (200, shop)), ({"Origin": "https://evil.test"}, (403, ""))):
            assert status(f"{url}/v1/limits", headers, b"{}") == expected, headers
    finally:
        stop(server)


def stop(server: subprocess.Popen) -> None:
    server.terminate()
    server.wait()
    server.stdout.close()


def main() -> int:
    program = PROJECT / "tests/integration/node_client" / sys.argv[3]
    if not shutil.which("node"):
        print("skipped: no node on the PATH (scripts/install_packages.sh node)")
        return SKIPPED
    if not (MODULES / "openai").is_dir():
        print(f"skipped: no openai in {MODULES} (scripts/install_node_modules.sh)")
        return SKIPPED
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        train(folder)
        (folder / "keys").write_text(f"read {hashlib.sha256(KEY.encode()).hexdigest()}\n")
        environment = {**os.environ, "NODE_PATH": str(MODULES)}
        if program.name == "playground.js":
            check_flags(folder)
            if importlib.util.find_spec("build") is None:
                print("skipped: no python3-build (scripts/install_packages.sh test)")
                return SKIPPED
            environment["PYTHON"] = str(install_package(PROJECT, folder / "python"))
        servers = []
        try:
            # The pages must not ask for more than the limit.
            servers = [start_server(folder, f"--events={folder}/events"),
                       start_server(folder, f"--api_keys_file={folder}/keys", "--max_top_k=10")]
            return subprocess.run(["node", program, *(url for _, url, _ in servers), KEY, servers[0][2]], timeout=200,
                                  env=environment).returncode
        finally:
            for server, *_ in servers:
                stop(server)


if __name__ == "__main__":
    sys.exit(main())
