"""The blocking and the asyncio client. Both run the plans of _calls.py, and have
their signatures and documentation."""
from __future__ import annotations

import asyncio
import functools
import inspect
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from typing import Any, Concatenate, ParamSpec, TypeVar, get_args, get_origin

import grpc
import grpc.aio
from google.protobuf import wrappers_pb2

from semrank._calls import Calls
from semrank._options import Options
from semrank._steps import Give, Giving, Open, Plan, Read, Send, Sleep
from semrank.v1 import catalog_service_pb2_grpc, embedding_service_pb2_grpc, event_service_pb2_grpc, model_service_pb2_grpc
from semrank.v1 import ranking_service_pb2_grpc

P = ParamSpec("P")
T = TypeVar("T")


class _Base:
    def __init__(self, address: str = Options.address, *, deadline_seconds: float = Options.deadline_seconds,
                 api_key: str = Options.api_key, tls_ca: bytes = Options.tls_ca, tls_cert: bytes = Options.tls_cert,
                 tls_key: bytes = Options.tls_key, plain_text: bool = Options.plain_text, max_attempts: int = Options.max_attempts,
                 initial_backoff_seconds: float = Options.initial_backoff_seconds,
                 max_backoff_seconds: float = Options.max_backoff_seconds) -> None:
        """Does not connect yet. ValueError for bad options, which Options describes."""
        self._options = Options(
            address, deadline_seconds=deadline_seconds, api_key=api_key, tls_ca=tls_ca, tls_cert=tls_cert, tls_key=tls_key,
            plain_text=plain_text, max_attempts=max_attempts, initial_backoff_seconds=initial_backoff_seconds, max_backoff_seconds=max_backoff_seconds)
        self._calls = Calls(self._options)
        self._channel: Any = self._open()
        stubs: tuple[Any, ...] = (
            ranking_service_pb2_grpc.RankingServiceStub, embedding_service_pb2_grpc.EmbeddingServiceStub,
            catalog_service_pb2_grpc.CatalogServiceStub, event_service_pb2_grpc.EventServiceStub,
            model_service_pb2_grpc.ModelServiceStub)
        self._methods: dict[str, Any] = {}
        for stub in stubs:
            self._methods.update(vars(stub(self._channel)))
        # grpc.health.v1 without its .proto, which another package may register
        # too: on the wire, its request is a StringValue and its response an
        # Int32Value.
        self._methods["Check"] = self._channel.unary_unary(
            "/grpc.health.v1.Health/Check", request_serializer=wrappers_pb2.StringValue.SerializeToString,
            response_deserializer=wrappers_pb2.Int32Value.FromString)

    def _open(self) -> Any:
        raise NotImplementedError

    def _start(self, method: str, request: Any, deadline: float) -> Any:
        timeout = deadline - time.monotonic()
        return self._methods[method](request, timeout=None if timeout == float("inf") else max(timeout, 0),
                                     metadata=self._options.metadata())


def _signature(plan: Callable[..., Any], iterator: Any = None) -> inspect.Signature:
    """That of a plan, for help(), with what it gives or returns in place of its steps."""
    signature = inspect.signature(plan, eval_str=True)
    steps, _, result = get_args(signature.return_annotation)
    for step in get_args(steps):
        if get_origin(step) is Give:
            result = iterator[get_args(step)[0]]
    return signature.replace(return_annotation=result)


def _blocking(plan: Callable[Concatenate[Calls, P], Plan[T]]) -> Callable[Concatenate[Client, P], T]:
    @functools.wraps(plan)
    def call(self: Client, /, *args: P.args, **kwargs: P.kwargs) -> T:
        run = self._iterate(plan(self._calls, *args, **kwargs))
        try:
            while True:
                next(run)
        except StopIteration as done:
            return done.value
    call.__signature__ = _signature(plan)  # type: ignore[attr-defined]
    return call


def _iterating(plan: Callable[Concatenate[Calls, P], Giving[T]]) -> Callable[Concatenate[Client, P], Iterator[T]]:
    @functools.wraps(plan)
    def call(self: Client, /, *args: P.args, **kwargs: P.kwargs) -> Iterator[T]:
        return self._iterate(plan(self._calls, *args, **kwargs))
    call.__signature__ = _signature(plan, Iterator)  # type: ignore[attr-defined]
    return call


class Client(_Base):
    """A blocking client of a semrank server. Its methods may be called from several
    threads; they raise semrank.Error. The client is a context manager."""

    rank = _blocking(Calls.rank)
    rank_stream = _iterating(Calls.rank_stream)
    explain = _blocking(Calls.explain)
    embed = _blocking(Calls.embed)
    embed_stream = _iterating(Calls.embed_stream)
    put = _blocking(Calls.put)
    get = _blocking(Calls.get)
    delete = _blocking(Calls.delete)
    search = _blocking(Calls.search)
    report_events = _blocking(Calls.report_events)
    get_model = _blocking(Calls.get_model)
    list_models = _blocking(Calls.list_models)
    reload_model = _blocking(Calls.reload_model)
    get_limits = _blocking(Calls.get_limits)
    check_health = _blocking(Calls.check_health)

    def close(self) -> None:
        self._channel.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _open(self) -> Any:
        credentials = self._options.credentials()
        arguments = self._options.channel_arguments()
        if credentials is None:
            return grpc.insecure_channel(self._options.address, arguments)
        return grpc.secure_channel(self._options.address, credentials, arguments)

    def _iterate(self, plan: Any) -> Any:
        try:
            step = next(plan)
            while True:
                try:
                    if isinstance(step, Give):
                        yield step.value
                    result = self._do(step)
                except grpc.RpcError as failed:
                    step = plan.throw(failed)
                else:
                    step = plan.send(result)
        except StopIteration as done:
            return done.value
        finally:
            plan.close()

    def _do(self, step: Any) -> Any:
        match step:
            case Send(method, request, deadline):
                return self._start(method, request, deadline)
            case Open(method, messages, deadline):
                return self._start(method, messages, deadline)
            case Read(stream):
                return next(stream, None)
            case Sleep(seconds):
                time.sleep(seconds)


def _awaitable(plan: Callable[Concatenate[Calls, P], Plan[T]]) -> Callable[Concatenate[AsyncClient, P], Coroutine[Any, Any, T]]:
    @functools.wraps(plan)
    async def call(self: AsyncClient, /, *args: P.args, **kwargs: P.kwargs) -> T:
        results: list[T] = []
        async for _ in self._iterate(plan(self._calls, *args, **kwargs), results):
            pass
        return results[0]
    call.__signature__ = _signature(plan)  # type: ignore[attr-defined]
    return call


def _async_iterating(plan: Callable[Concatenate[Calls, P], Giving[T]]) -> Callable[Concatenate[AsyncClient, P], AsyncIterator[T]]:
    @functools.wraps(plan)
    def call(self: AsyncClient, /, *args: P.args, **kwargs: P.kwargs) -> AsyncIterator[T]:
        return self._iterate(plan(self._calls, *args, **kwargs), [])
    call.__signature__ = _signature(plan, AsyncIterator)  # type: ignore[attr-defined]
    return call


class AsyncClient(_Base):
    """The same for asyncio: methods are awaited, and streams iterated by `async
    for`. A client is made and used in one event loop, and is an asynchronous
    context manager."""

    rank = _awaitable(Calls.rank)
    rank_stream = _async_iterating(Calls.rank_stream)
    explain = _awaitable(Calls.explain)
    embed = _awaitable(Calls.embed)
    embed_stream = _async_iterating(Calls.embed_stream)
    put = _awaitable(Calls.put)
    get = _awaitable(Calls.get)
    delete = _awaitable(Calls.delete)
    search = _awaitable(Calls.search)
    report_events = _awaitable(Calls.report_events)
    get_model = _awaitable(Calls.get_model)
    list_models = _awaitable(Calls.list_models)
    reload_model = _awaitable(Calls.reload_model)
    get_limits = _awaitable(Calls.get_limits)
    check_health = _awaitable(Calls.check_health)

    async def close(self) -> None:
        await self._channel.close()

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def _open(self) -> Any:
        credentials = self._options.credentials()
        arguments = self._options.channel_arguments()
        if credentials is None:
            return grpc.aio.insecure_channel(self._options.address, arguments)
        return grpc.aio.secure_channel(self._options.address, credentials, arguments)

    async def _iterate(self, plan: Any, results: list[Any]) -> Any:
        try:
            step = next(plan)
            while True:
                try:
                    if isinstance(step, Give):
                        yield step.value
                    result = await self._do(step)
                except grpc.RpcError as failed:
                    step = plan.throw(failed)
                else:
                    step = plan.send(result)
        except StopIteration as done:
            results.append(done.value)
        finally:
            plan.close()

    async def _do(self, step: Any) -> Any:
        match step:
            case Send(method, request, deadline):
                return await self._start(method, request, deadline)
            case Open(method, messages, deadline):
                return self._start(method, messages, deadline)
            case Read(stream):
                response = await stream.read()
                return None if response is grpc.aio.EOF else response
            case Sleep(seconds):
                await asyncio.sleep(seconds)
