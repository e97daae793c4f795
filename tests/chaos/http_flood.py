"""Open- and closed-loop load of POST /v1/rank, with the report of `semrank load`.

One thread, non-blocking sockets, one call at a time on each connection.
"""
import collections
import itertools
import json
import multiprocessing
import os
import selectors
import socket
import time

MAX_CONNECTIONS = 128  # the server keeps 192
WORDS = ("photo editor network viewer desktop library manager system graphics sound server client terminal database language "
         "package monitor player security documents").split()
CODES = {429: "RESOURCE_EXHAUSTED", 503: "UNAVAILABLE", 504: "DEADLINE_EXCEEDED"}


class Connection:
    def __init__(self, address):
        host, port = address.rsplit(":", 1)
        self.socket = socket.create_connection((host, int(port)))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.socket.setblocking(False)
        self.unsent, self.received, self.due, self.sent = b"", b"", 0.0, 0.0
        self.closes = False  # the server will close the connection

    def write(self):
        """Whether everything is sent."""
        try:
            self.unsent = self.unsent[self.socket.send(self.unsent):]
        except BlockingIOError:
            pass
        return not self.unsent

    def read(self):
        """The HTTP status of a complete response; None if it is not complete."""
        try:
            piece = self.socket.recv(1 << 18)
        except BlockingIOError:
            return None
        if not piece:
            raise ConnectionError
        self.received += piece
        head, end, body = self.received.partition(b"\r\n\r\n")
        if not end:
            return None
        length = int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0])
        if len(body) < length:
            return None
        self.received = b""
        self.closes = b"connection: close" in head.lower()
        return int(head[9:12])


class Requests:
    """Bodies of Rank calls, the same as those of `semrank load`."""

    def __init__(self, address, titles, new):
        self.head = f"POST /v1/rank HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\nContent-Length: "
        self.titles = [" ".join(WORDS[(i * k + k) % 20] for k in (1, 3, 7, 11)) + f" with the {i}" for i in range(titles)]
        self.new, self.number = new, itertools.count()
        self.run = f"{time.time_ns() & 0xffffffff:x}"

    def next(self):
        end = f' {self.run}x{next(self.number)}"' if self.new else '"'
        body = '{"query":"edit photos","titles":["' + (end + ',"').join(self.titles) + end + "]}"
        return f"{self.head}{len(body)}\r\n\r\n{body}".encode()


class Flood:
    def __init__(self, address, titles, new, deadline, rate, connections, seconds, warmup):
        self.address, self.deadline, self.rate = address, deadline, rate
        self.requests = Requests(address, titles, new)
        self.selector = selectors.DefaultSelector()
        self.max_connections = connections or MAX_CONNECTIONS
        self.idle, self.num_connections = [], 0
        self.begin = time.monotonic() + warmup
        self.start, self.seconds = self.begin - warmup, seconds
        self.latencies, self.refusals, self.lateness = [], [], []
        self.failed = collections.Counter()
        self.in_flight = self.unsent = self.late = 0

    def take(self):
        if self.idle:
            return self.idle.pop()
        if self.num_connections >= self.max_connections:
            return None
        self.num_connections += 1
        one = Connection(self.address)
        self.selector.register(one.socket, selectors.EVENT_READ, one)
        return one

    def send(self, one, due):
        one.unsent, one.due, one.sent = self.requests.next(), due, time.monotonic()
        self.in_flight += 1
        if not one.write():
            self.selector.modify(one.socket, selectors.EVENT_READ | selectors.EVENT_WRITE, one)

    def send_due(self, number, now):
        """The number of the next call to send."""
        while (due := self.start + number / self.rate) <= now:
            one = self.take()
            if one is None:
                if now - due > self.deadline:  # too late for its caller
                    self.unsent += due >= self.begin
                    number += 1
                    continue
                break
            self.send(one, due)
            number += 1
            if number % 4 == 0:
                break  # to the responses
        return number

    def count(self, one, code, now):
        if one.due < self.begin:
            return
        if self.rate:
            self.lateness.append(one.sent - one.due)
            self.late += one.sent - one.due > 1e-3
        if code == 200:
            self.latencies.append(now - one.due)
            return
        if code == 429:
            self.refusals.append(now - one.sent)
        self.failed[CODES.get(code, str(code))] += 1

    def close(self, one):
        self.selector.unregister(one.socket)
        one.socket.close()
        self.num_connections -= 1

    def handle(self, wait):
        for key, events in self.selector.select(wait):
            one = key.data
            code = None
            try:
                # A refusal may come before the whole body is sent.
                if events & selectors.EVENT_READ:
                    code = one.read()
                if code is None and events & selectors.EVENT_WRITE and one.write():
                    self.selector.modify(one.socket, selectors.EVENT_READ, one)
            except OSError:
                code = 0
            if code is None:
                continue
            if one.due:
                self.in_flight -= 1
                self.count(one, code, time.monotonic())
            elif one in self.idle:
                self.idle.remove(one)
            one.due = 0.0
            if code and not one.closes:
                self.idle.append(one)
            else:
                self.close(one)

    def run(self):
        number, end = 0, self.begin + self.seconds
        while (now := time.monotonic()) < end:
            if self.rate:
                number = self.send_due(number, now)
                self.handle(min(max(self.start + number / self.rate - time.monotonic(), 0), 0.05))
            else:
                while (one := self.take()) is not None:
                    self.send(one, time.monotonic())
                self.handle(0.05)
        if self.rate:
            self.unsent += max(round((end - max(self.start + number / self.rate, self.begin)) * self.rate), 0)
        limit = time.monotonic() + 2 * self.deadline
        while self.in_flight and time.monotonic() < limit:
            self.handle(0.05)
        self.failed["DEADLINE_EXCEEDED"] += self.in_flight
        return self.report()

    def report(self):
        in_time = sum(latency <= self.deadline for latency in self.latencies)

        def milliseconds(values, share):
            values = sorted(values)
            return round(1e3 * values[min(int(share * len(values)), len(values) - 1)], 3) if values else 0

        return {"seconds": self.seconds, "calls": len(self.latencies), "calls_per_second": len(self.latencies) / self.seconds,
                "in_time": in_time, "goodput_per_second": in_time / self.seconds, "late_sends": self.late, "unsent": self.unsent,
                "lateness_ms": {"p50": milliseconds(self.lateness, 0.5), "p99": milliseconds(self.lateness, 0.99)},
                "latency_ms": {"p50": milliseconds(self.latencies, 0.5), "p99": milliseconds(self.latencies, 0.99)},
                "refused": {"calls": len(self.refusals), "p50_ms": milliseconds(self.refusals, 0.5),
                            "p99_ms": milliseconds(self.refusals, 0.99)},
                "failed": {code: count for code, count in self.failed.items() if count}}


def _run(core, pipe, arguments, options):
    os.sched_setaffinity(0, [core])
    pipe.send(json.dumps(Flood(*arguments, **options).run()))


def run_pinned(core, *arguments, **options):
    """Flood(...).run() in a process of its own on `core`."""
    parent, child = multiprocessing.Pipe()
    process = multiprocessing.Process(target=_run, args=(core, child, arguments, options))
    process.start()
    child.close()
    report = json.loads(parent.recv())
    process.join()
    return report
