#!/usr/bin/env python3
"""Gives the green server of blue_green.cfg a share of the calls: 0 = none, 5 = a canary, 100 = all."""
import argparse
import csv
import io
import socket
import sys

BACKENDS = ("semrank_grpc", "semrank_http")


def command(path: str, text: str) -> str:
    """The answer of HAProxy's runtime API; it has one line or none unless something is wrong."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(path)
        connection.sendall(text.encode() + b"\n")
        return b"".join(iter(lambda: connection.recv(65536), b"")).decode()


def status(path: str) -> dict[tuple[str, str], str]:
    """UP, DOWN or the like, by backend and server."""
    rows = csv.DictReader(io.StringIO(command(path, "show stat").removeprefix("# ")))
    return {(row["pxname"], row["svname"]): row["status"] for row in rows}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("percent", type=int)
    parser.add_argument("--socket", default="/run/haproxy/admin.sock", help="the stats socket of HAProxy")
    flags = parser.parse_args()
    if not 0 <= flags.percent <= 100:
        parser.error("percent: must be from 0 to 100")
    weights = {"green": flags.percent, "blue": 100 - flags.percent}
    is_up = status(flags.socket)
    # Nothing moves to a server that is not ready: its model may still be loading.
    for backend in BACKENDS:
        for server, weight in weights.items():
            if weight > 0 and not is_up[backend, server].startswith("UP"):
                sys.exit(f"{backend}/{server} is {is_up[backend, server]}; nothing was changed")
    for backend in BACKENDS:
        for server, weight in weights.items():
            if problem := command(flags.socket, f"set weight {backend}/{server} {weight}").strip():
                sys.exit(f"{backend}/{server}: {problem}")
    print(f"green answers {flags.percent} % of the calls")


if __name__ == "__main__":
    main()
