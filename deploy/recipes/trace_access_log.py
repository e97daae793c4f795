#!/usr/bin/env python3
"""Sends OpenTelemetry spans of the calls in semrank-server's access log to a collector, and passes the log on.

semrank-server --log_format=json --access_log=1 ... 2>&1 | trace_access_log.py --collector=http://127.0.0.1:4318
"""
import argparse
import collections
import datetime
import json
import secrets
import sys
import threading
import urllib.request

MAX_WAITING = 10_000  # spans; when the collector is too slow, the oldest are dropped
NO_ATTRIBUTES = ("time", "level", "message", "milliseconds", "traceparent")


def attributes(values: dict) -> list[dict]:
    return [{"key": name, "value": {"stringValue": str(value)}} for name, value in values.items()]


def span_of(line: str) -> dict | None:
    """The span of a call whose traceparent says that it is sampled; other lines have none."""
    try:
        call = json.loads(line)
        _, trace, parent, flags = call["traceparent"].split("-")
        end = datetime.datetime.fromisoformat(call["time"]).timestamp()
        if call["message"] != "request" or int(flags, 16) % 2 == 0:
            return None
        return {"traceId": trace, "spanId": secrets.token_hex(8), "parentSpanId": parent, "name": call["method"],
                "kind": 2, "status": {"code": 1 if call["code"] == "OK" else 2},
                "startTimeUnixNano": str(round((end - call["milliseconds"] / 1e3) * 1e9)), "endTimeUnixNano": str(round(end * 1e9)),
                "attributes": attributes({f"semrank.{name}": call[name] for name in call if name not in NO_ATTRIBUTES})}
    except (ValueError, KeyError, TypeError):
        return None


def send(collector: str, service: str, spans: list[dict]) -> None:
    body = {"resourceSpans": [{"resource": {"attributes": attributes({"service.name": service})},
                               "scopeSpans": [{"scope": {"name": "semrank"}, "spans": spans}]}]}
    request = urllib.request.Request(f"{collector}/v1/traces", json.dumps(body).encode(), {"Content-Type": "application/json"})
    try:
        urllib.request.urlopen(request, timeout=5).close()
    except OSError as error:
        print(f"{len(spans)} spans are lost: {error}", file=sys.stderr)


def read(waiting: collections.deque) -> None:
    for line in sys.stdin:
        print(line, end="", flush=True)
        if span := span_of(line):
            waiting.append(span)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--collector", default="http://127.0.0.1:4318", help="URL of OTLP over HTTP")
    parser.add_argument("--service", default="semrank", help="service.name of the spans")
    flags = parser.parse_args()
    waiting = collections.deque(maxlen=MAX_WAITING)
    reader = threading.Thread(target=read, args=(waiting,))
    reader.start()
    while reader.is_alive() or waiting:
        reader.join(timeout=1)  # a second of calls in one request
        if spans := [waiting.popleft() for _ in range(len(waiting))]:
            send(flags.collector, flags.service, spans)


if __name__ == "__main__":
    main()
