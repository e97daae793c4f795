#!/usr/bin/env python3
"""Measures what a large batch costs the small calls beside it.

Ranks 10 titles again and again, first alone and then while another process
sends EmbedTexts of 10,000 new texts one after another, and prints the median
and the 99th percentile of both in milliseconds. Needs a running semrank-server
and python3-grpcio.

  scripts/latency_beside_batch.py --address=127.0.0.1:50051 --seconds=10
"""
import argparse
import multiprocessing
import time

import grpc

RANK = "/semrank.v1.RankingService/Rank"
EMBED_TEXTS = "/semrank.v1.EmbeddingService/EmbedTexts"
SIDE_DOCUMENT = b"\x08\x02"
BATCH_TEXTS = 10_000


def field(number: int, text: str) -> bytes:
    """A string field of a Protobuf message; up to 127 bytes."""
    data = text.encode()
    return bytes([number << 3 | 2, len(data)]) + data


def rank_request() -> bytes:
    return field(1, "edit photos") + b"".join(field(2, f"photo editor number {i}") for i in range(10))


def connect(address: str, method: str):
    options = [("grpc.max_receive_message_length", -1), ("grpc.enable_http_proxy", 0)]
    channel = grpc.insecure_channel(address, options)
    return channel.unary_unary(method, request_serializer=None, response_deserializer=None)


def send_batches(address: str, num_batches) -> None:
    embed = connect(address, EMBED_TEXTS)
    run = time.time_ns()
    while True:
        batch = num_batches.value
        embed(SIDE_DOCUMENT + b"".join(field(2, f"title {run} {batch} number {i} of many") for i in range(BATCH_TEXTS)))
        num_batches.value += 1


def measure(rank, seconds: float) -> list[float]:
    """Milliseconds of each call, sorted."""
    request, latencies = rank_request(), []
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        begin = time.monotonic()
        rank(request)
        latencies.append((time.monotonic() - begin) * 1e3)
    return sorted(latencies)


def describe(name: str, latencies: list[float]) -> float:
    p50 = latencies[len(latencies) // 2]
    p99 = latencies[len(latencies) * 99 // 100]
    print(f"{name:13} {len(latencies):7} calls  p50 {p50:7.3f} ms  p99 {p99:7.3f} ms", flush=True)
    return p50


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--address", default="127.0.0.1:50051", help="HOST:PORT of the server (%(default)s)")
    parser.add_argument("--seconds", type=float, default=10, help="of each of the two parts (%(default)s)")
    args = parser.parse_args()

    rank = connect(args.address, RANK)
    measure(rank, 0.5)  # warm: connection, cache
    alone = describe("alone", measure(rank, args.seconds))
    context = multiprocessing.get_context("spawn")  # gRPC does not survive a fork
    num_batches = context.Value("q", 0)
    sender = context.Process(
        target=send_batches, args=(args.address, num_batches), daemon=True)
    sender.start()
    while num_batches.value == 0:
        time.sleep(0.01)
    beside = describe("beside batch", measure(rank, args.seconds))
    sender.terminate()
    print(f"p50 beside the batch is {beside / alone:.2f} times that alone; {num_batches.value:,} batches were embedded")


if __name__ == "__main__":
    main()
