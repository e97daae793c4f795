#!/usr/bin/env python3
"""Measures what a call by JSON costs the server beside the same call by gRPC.

    cmake --preset release && cmake --build --preset release
    scripts/bench/bench_json.py --rounds=7

Trains a model on made-up clicks, starts semrank-server, and sends it calls by gRPC and by
HTTP in turn, in short rounds, over connections that stay open; all titles are cached. Prints
medians over the rounds: CPU time of the server per call, and the ratio to gRPC. The last line
of each case is noop_http_server (tests/bench), which reads the same body and ranks nothing.

Needs python3-grpcio and wamerican's list of words.
"""
import argparse
import concurrent.futures
import json
import pathlib
import random
import socket
import statistics
import sys
import tempfile
import time

import grpc

from bench_serving import CACHE_BYTES, ROOT, cpu_seconds, start, train


def varint(number):
    data = b""
    while number > 127:
        data += bytes([number & 127 | 128])
        number >>= 7
    return data + bytes([number])


def text_field(number, text):
    data = text.encode()
    return varint(number << 3 | 2) + varint(len(data)) + data


# A case is the call by gRPC, and bodies in JSON that ask for the same.
def rank_case(titles):
    message = text_field(1, QUERY) + b"".join(text_field(2, title) for title in titles)
    return ("/semrank.v1.RankingService/Rank", message,
            {"/v1/rank": {"query": QUERY, "titles": titles},
             "/v2/rerank": {"query": QUERY, "documents": titles},
             "/rerank": {"query": QUERY, "texts": titles}})


def embed_case(texts):
    message = varint(1 << 3) + varint(2) + b"".join(text_field(2, text) for text in texts)
    body = {"side": "SIDE_DOCUMENT", "texts": texts}
    return ("/semrank.v1.EmbeddingService/EmbedTexts", message,
            {"/v1/embed": body,
             "/v1/embed base64": {**body, "encoding": "base64"},
             "/v1/embeddings": {"input": texts},
             "/v1/embeddings base64": {"input": texts, "encoding_format": "base64"}})


QUERY = "running shoes for winter"
CASES = {"rank 100": (rank_case, 100), "rank 1000": (rank_case, 1000), "embed 100": (embed_case, 100)}


class Http:
    """A connection that stays open."""

    def __init__(self, address, path, body):
        host, port = address.rsplit(":", 1)
        self.socket = socket.create_connection((host, int(port)))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        data = json.dumps(body).encode()
        self.request = (f"POST {path} HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\n"
                        f"Content-Length: {len(data)}\r\n\r\n").encode() + data

    def call(self):
        self.socket.sendall(self.request)
        data = self.socket.recv(1 << 20)
        while b"\r\n\r\n" not in data:
            data += self.socket.recv(1 << 20)
        head, _, body = data.partition(b"\r\n\r\n")
        if not head.startswith(b"HTTP/1.1 200"):
            sys.exit(data[:500].decode())
        lengths = [line for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:")]
        left = int(lengths[0].split(b":")[1]) - len(body)
        while left > 0:
            left -= len(self.socket.recv(1 << 20))


class Grpc:
    def __init__(self, address, method, message):
        self.channel = grpc.insecure_channel(address, [("grpc.max_receive_message_length", -1),
                                                       ("grpc.use_local_subchannel_pool", 1)])
        self.method = self.channel.unary_unary(method)
        self.message = message

    def call(self):
        self.method(self.message)


def cpu_per_call(server, clients, seconds):
    """Microseconds of the server's CPU time per call, all clients calling at once."""
    end = time.monotonic() + seconds

    def run(client):
        calls = 0
        while time.monotonic() < end:
            client.call()
            calls += 1
        return calls

    before = cpu_seconds(server)
    with concurrent.futures.ThreadPoolExecutor(len(clients)) as pool:
        calls = sum(pool.map(run, clients))
    return (cpu_seconds(server) - before) / calls * 1e6


def measure(arguments, name, server, noop, rows):
    make, size = CASES[name]
    words = [word for word in arguments.word_list.read_text().split() if word.isalpha()]
    rng = random.Random(1)
    method, message, bodies = make([" ".join(rng.choices(words, k=7)) for _ in range(size)])
    for inflight in arguments.inflight:
        clients = {"gRPC": (server, [Grpc(server.grpc, method, message) for _ in range(inflight)])}
        for label, body in bodies.items():
            clients[label] = server, [Http(server.http, label.split()[0], body) for _ in range(inflight)]
        body = next(iter(bodies.values()))
        clients["no-op HTTP"] = noop, [Http(noop.http, "/v1/rank", body) for _ in range(inflight)]
        times = {label: [] for label in clients}
        for _ in range(arguments.rounds + 1):
            for label, (called, group) in clients.items():
                times[label].append(cpu_per_call(called.process, group, arguments.seconds))
        floor = statistics.median(times["gRPC"][1:])  # the first round warms up
        for label, values in times.items():
            value = statistics.median(values[1:])
            rows.append({"case": name, "inflight": inflight, "call": label, "cpu_us": value, "ratio": value / floor})
            print(f"{name:10} {inflight:3} in flight  {label:24} {value:8.1f} us  {value / floor:5.2f}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "release", help="folder of the build (%(default)s)")
    parser.add_argument("--cases", nargs="+", default=list(CASES), choices=CASES, help="(%(default)s)")
    parser.add_argument("--inflight", nargs="+", type=int, default=[1, 32], help="calls in flight (%(default)s)")
    parser.add_argument("--seconds", type=float, default=0.5, help="length of one measurement (%(default)s)")
    parser.add_argument("--rounds", type=int, default=5, help="number of rounds (%(default)s)")
    parser.add_argument("--word_list", type=pathlib.Path, default="/usr/share/dict/words", help="a word a line (%(default)s)")
    parser.add_argument("--json", type=pathlib.Path, help="also write the figures to this file")
    arguments = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        model = train(arguments, pathlib.Path(folder), "linear")
        server = start("server", [arguments.build / "bin" / "semrank-server", f"--model_dir={model}",
                                  "--listen_address=127.0.0.1:0", "--http_address=127.0.0.1:0",
                                  f"--cache_bytes={CACHE_BYTES}", "--max_inflight_texts=100000",
                                  "--max_share_per_caller=1"])
        for name in arguments.cases:
            noop = start("no-op HTTP", [arguments.build / "bench" / "noop_http_server", str(CASES[name][1])])
            try:
                measure(arguments, name, server, noop, rows)
            finally:
                noop.process.kill()
        server.process.kill()
    if arguments.json:
        arguments.json.write_text(json.dumps(rows, indent=2))


if __name__ == "__main__":
    main()
