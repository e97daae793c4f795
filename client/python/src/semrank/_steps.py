"""What a call does, one step at a time and without I/O, so that the blocking and
the asyncio client share every rule. A plan is a generator: it yields a step and
receives its result, or the grpc.RpcError that the step ended with.

The rules of retries are those of the C++ client (client/lib/retry.h)."""
from __future__ import annotations

import dataclasses
import random
import time
from collections.abc import Callable, Generator, Iterator
from typing import Any, Generic, TypeVar, Union

import grpc
from google.protobuf.message import Message

from semrank._errors import Error, from_rpc_error, trailer
from semrank._options import Options

T = TypeVar("T")
Plan = Generator[Any, Any, T]

_ITEMS_PER_DEADLINE = 1_000


@dataclasses.dataclass(frozen=True)
class Send:
    """A unary call. Result: the response."""
    method: str
    request: Message
    deadline: float  # of time.monotonic()


@dataclasses.dataclass(frozen=True)
class Sleep:
    seconds: float


@dataclasses.dataclass(frozen=True)
class Open:
    """A bidirectional stream. Result: its handle, which can cancel()."""
    method: str
    messages: Iterator[Message]  # drawn in another thread or task
    deadline: float


@dataclasses.dataclass(frozen=True)
class Read:
    """Result: the next response, or None after the last one."""
    stream: Any


@dataclasses.dataclass(frozen=True)
class Give(Generic[T]):
    """A result for the user, who iterates over the call."""
    value: T


Giving = Generator[Union[Send, Sleep, Open, Read, Give[T]], Any, None]


class Retry:
    """Decides whether and when a failed call is attempted again. Codes:
    UNAVAILABLE; RESOURCE_EXHAUSTED only with a pushback, which forbids further
    attempts if it is negative or malformed. No delay ends after the deadline."""

    def __init__(self, options: Options, deadline: float) -> None:
        self._options = options
        self._deadline = deadline
        self.num_attempts = 0

    @staticmethod
    def is_retryable(code: grpc.StatusCode, has_pushback: bool) -> bool:
        return code == grpc.StatusCode.UNAVAILABLE or (code == grpc.StatusCode.RESOURCE_EXHAUSTED and has_pushback)

    def restart(self) -> None:
        """Forgets the attempts, because the last one made progress."""
        self.num_attempts = 0

    def next_delay(self, code: grpc.StatusCode, pushback: str | None) -> float | None:
        self.num_attempts += 1
        if self.num_attempts >= self._options.max_attempts or not self.is_retryable(code, pushback is not None):
            return None
        if pushback is None:
            # Beyond 60 doublings every backoff is the maximum, and 2.0 ** 1024 is an OverflowError.
            backoff = self._options.initial_backoff_seconds * 2.0 ** min(self.num_attempts - 1, 60)
            delay = min(backoff, self._options.max_backoff_seconds) * random.uniform(0.5, 1.0)
        elif pushback.isascii() and pushback.isdecimal():
            delay = int(pushback) / 1000 * random.uniform(1.0, 1.2)
        else:
            return None
        return None if time.monotonic() + delay >= self._deadline else delay


class Connection:
    """Plans of one call, and of one attempt of a stream."""

    def __init__(self, options: Options) -> None:
        self.options = options

    def deadline_for(self, num_items: int = 0) -> float:
        """That of a call that starts now. A stream of more items has more time."""
        return time.monotonic() + (1 + num_items // _ITEMS_PER_DEADLINE) * self.options.deadline_seconds

    def call(self, method: str, request: Message, deadline: float, *, retries: bool = True) -> Plan[Any]:
        retry = Retry(self.options, deadline)
        while True:
            try:
                return (yield Send(method, request, deadline))
            except grpc.RpcError as failed:
                if not retries or not (yield from self._wait(failed, retry)):
                    raise self._describe(failed, retry) from None

    def attempt(self, method: str, messages: Iterator[Message], deadline: float, retry: Retry,
                take: Callable[[Any], Plan[None]]) -> Plan[tuple[Error | None, bool]]:
        """One attempt of a stream; `take` is a plan for each response. Returns the
        error that broke it, and whether the delay before a retry is over."""
        stream = yield Open(method, messages, deadline)
        try:
            while (response := (yield Read(stream))) is not None:
                yield from take(response)
            return None, False
        except grpc.RpcError as failed:
            again = yield from self._wait(failed, retry)
            return self._describe(failed, retry), again
        finally:
            stream.cancel()  # does nothing to a complete one

    def _wait(self, failed: grpc.RpcError, retry: Retry) -> Plan[bool]:
        pushback = trailer(failed, "grpc-retry-pushback-ms")
        delay = retry.next_delay(failed.code(), None if pushback is None else str(pushback))
        if delay is None:
            return False
        yield Sleep(delay)
        return True

    def _describe(self, failed: grpc.RpcError, retry: Retry) -> Error:
        return from_rpc_error(failed, self.options, retry.num_attempts)
