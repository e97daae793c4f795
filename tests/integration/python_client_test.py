#!/usr/bin/env python3
"""The Python package, built as a wheel and installed without network, against a
real server over TLS and with keys, and against a server that misbehaves.

usage: python_client_test.py PROJECT_DIR BINARY_DIR
"""
import asyncio
import collections.abc
import concurrent.futures
import dataclasses
import importlib.util
import inspect
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import grpc
from google.protobuf import wrappers_pb2

from python_package import install_package
from secure_server import EVENTS_KEY, KEY, MAX_TEXTS, WRITE_KEY, SecureServer

PROJECT = pathlib.Path(sys.argv[1]).resolve()
BINARIES = pathlib.Path(sys.argv[2]).resolve()
SKIPPED = 77
TITLES = ["photo editor", "mail reader", "disk usage viewer"]
MANY_TITLES = [f"{TITLES[i % 3]} number {i}" for i in range(MAX_TEXTS + 2_000)]


def run_in_virtual_environment() -> int:
    if importlib.util.find_spec("build") is None:
        print("skipped: no python3-build (scripts/install_packages.sh test)")
        return SKIPPED
    with tempfile.TemporaryDirectory() as folder:
        python = install_package(PROJECT, pathlib.Path(folder))
        environment = {name: value for name, value in os.environ.items() if not name.startswith("SEMRANK_")}
        environment["SEMRANK_TEST_IN_VENV"] = "1"
        return subprocess.run([python, "-B", __file__, PROJECT, BINARIES], env=environment).returncode


class FakeServer:
    """Answers each method by a function of (request or requests, context)."""

    def __init__(self, **methods):
        self.server = grpc.server(concurrent.futures.ThreadPoolExecutor(4))
        port = self.server.add_insecure_port("127.0.0.1:0")
        self.address = f"127.0.0.1:{port}"
        handlers = {}
        for path, (request, response, streams, function) in methods.items():
            make = grpc.stream_stream_rpc_method_handler if streams else grpc.unary_unary_rpc_method_handler
            handlers[path] = make(function, request.FromString, response.SerializeToString)
        for service in ("semrank.v1.RankingService", "semrank.v1.EmbeddingService", "semrank.v1.CatalogService",
                        "semrank.v1.EventService", "semrank.v1.ModelService", "grpc.health.v1.Health"):
            self.server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(service, handlers),))
        self.server.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.stop(None)


def blocking(address, plan, **options):
    """Returns the result of plan(call), where call(name, ...) calls the client."""
    with semrank.Client(address, **options) as client:
        return plan(lambda name, *args, **kwargs: take(getattr(client, name)(*args, **kwargs)))


def take(result):
    return list(result) if hasattr(result, "__next__") else result


def in_asyncio(address, plan, **options):
    async def run():
        async with semrank.AsyncClient(address, **options) as client:
            def call(name, *args, **kwargs):
                made = getattr(client, name)(*args, **kwargs)
                if not hasattr(made, "__anext__"):
                    return asyncio.run_coroutine_threadsafe(made, loop).result()
                async def collect():
                    return [item async for item in made]
                return asyncio.run_coroutine_threadsafe(collect(), loop).result()
            loop = asyncio.get_running_loop()
            return await loop.run_in_executor(None, plan, call)
    return asyncio.run(run())


class AgainstRealServer:
    """The promises of both clients (`run`)."""

    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.server = SecureServer(PROJECT, BINARIES, pathlib.Path(cls.temporary.name))
        cls.ca = cls.server.certificate.read_bytes()

    @classmethod
    def tearDownClass(cls):
        cls.server.stop()
        cls.temporary.cleanup()

    def call(self, name, *args, key=KEY, **kwargs):
        return self.run_client(self.server.address, lambda call: call(name, *args, **kwargs), tls_ca=self.ca, api_key=key)

    def test_rank_orders_the_titles(self):
        response = self.call("rank", "edit photos", TITLES, with_titles=True)
        self.assertEqual(sorted(response.indices), [0, 1, 2])
        self.assertEqual(list(response.scores), sorted(response.scores, reverse=True))
        self.assertEqual(list(response.titles), [TITLES[i] for i in response.indices])

    def test_more_titles_than_the_limit_are_ranked_as_by_one_call(self):
        whole = self.call("rank", "edit photos", MANY_TITLES, with_titles=True)
        self.assertEqual(sorted(whole.indices), list(range(len(MANY_TITLES))))
        self.assertEqual(list(whole.titles), [MANY_TITLES[i] for i in whole.indices])
        scores = dict(zip(whole.indices, whole.scores))
        self.assertEqual(list(whole.indices), sorted(scores, key=lambda i: (-scores[i], i)))
        last = self.call("rank", "edit photos", MANY_TITLES[-100:])
        first = len(MANY_TITLES) - 100
        self.assertEqual([scores[first + i] for i in last.indices], list(last.scores))
        best = self.call("rank", "edit photos", MANY_TITLES, top_k=5)
        self.assertEqual(list(best.indices), list(whole.indices)[:5])

    def test_a_stream_of_queries_is_answered_as_each_alone(self):
        requests = [semrank.RankRequest(query=f"photo number {i}", titles=TITLES) for i in range(50)]
        answers = dict(self.call("rank_stream", requests))
        self.assertEqual(sorted(answers), list(range(50)))
        for i in (0, 17, 49):
            alone = self.call("rank", requests[i].query, TITLES)
            self.assertEqual(list(answers[i].scores), list(alone.scores))

    def test_vectors_give_the_scores_of_rank_in_each_encoding(self):
        response = self.call("rank", "edit photos", TITLES)
        for encoding, places in (("float32", 5), ("float16", 2), ("int8", 1)):
            query, = semrank.vectors(self.call("embed", ["edit photos"], "query", encoding=encoding))
            titles = semrank.vectors(self.call("embed", TITLES, "document", encoding=encoding))
            for index, score in zip(response.indices, response.scores):
                self.assertAlmostEqual(sum(a * b for a, b in zip(query, titles[index])), score, places=places)
        again = self.call("rank", "edit photos", vectors=self.call("embed", TITLES, "document").vectors)
        self.assertEqual(list(again.indices), list(response.indices))

    def test_streamed_vectors_are_those_of_embed(self):
        whole = self.call("embed", MANY_TITLES, "document")
        parts = self.call("embed_stream", iter(MANY_TITLES), "document")
        self.assertEqual([part.first_text for part in parts], list(range(0, len(MANY_TITLES), 1_000)))
        self.assertEqual(b"".join(part.vectors for part in parts), whole.vectors)

    def test_documents_are_put_found_and_deleted(self):
        documents = [semrank.Document(document_id=f"d{i}", title=title) for i, title in enumerate(MANY_TITLES)]
        documents += [semrank.Document(id=7, title="numbered"), semrank.Document(title="no key")]
        result = self.call("put", iter(documents), key=WRITE_KEY)
        num_put = len(documents) - 1
        self.assertEqual(result.num_created + result.num_replaced, num_put)
        self.assertEqual([problem.index for problem in result.problems], [num_put])
        hit, = self.call("search", "photo editor number 0", top_k=1).hits
        self.assertEqual((hit.document_id, hit.title), ("d0", MANY_TITLES[0]))
        self.assertEqual([d and d.title for d in self.call("get", ["d1", 7, "none", 8])], [MANY_TITLES[1], "numbered", None, None])
        self.assertEqual(len(self.call("rank", "numbered", ids=[7]).problems), 0)
        self.assertEqual(self.call("explain", "photo", document_id="d0").title, MANY_TITLES[0])
        keys = [7, "none", *(f"d{i}" for i in range(len(MANY_TITLES)))]
        self.assertEqual(self.call("delete", keys, key=WRITE_KEY), num_put)
        self.assertEqual(set(self.call("get", keys)), {None})

    def test_events_of_rankings_are_reported(self):
        ranked = self.call("rank", "edit photos", TITLES, impression={})
        self.assertEqual(len(ranked.impression_id), 22)
        self.assertEqual(self.call("rank", "edit photos", TITLES).impression_id, "")
        document = semrank.Document(document_id="shown", title="photo editor")
        self.call("put", [document], key=WRITE_KEY)
        found = self.call("search", "edit photos", impression=semrank.ImpressionOptions(session="s", user="u"))
        self.call("delete", ["shown"], key=WRITE_KEY)
        self.assertEqual(len(found.impression_id), 22)
        click = {"impression_id": ranked.impression_id, "kind": "click", "position": 1, "value": 0.5}
        sale = semrank.Event(impression_id=found.impression_id, kind="conversion", document="shown")
        unknown = {"impression_id": "elsewhere", "kind": "click", "position": 1}
        done = self.call("report_events", [click, sale, unknown], key=EVENTS_KEY)
        self.assertEqual((done.accepted, done.unknown_impressions, done.duplicates), (3, 1, 0))

    def test_lists_of_other_systems_are_reported(self):
        lists = [{"query": "edit photos", "results": [{"document": "gimp", "title": "photo editor"}]},
                 semrank.ShownList(query="read mail", results=[semrank.ShownDocument(title="mail reader")])]
        done = self.call("report_events", impressions=iter(lists), key=EVENTS_KEY)
        self.assertEqual((done.accepted, [len(name) for name in done.impression_ids]), (2, [22, 22]))
        event = {"impression_id": done.impression_ids[0], "kind": "click", "document": "gimp", "event_id": done.impression_ids[1]}
        self.assertEqual(self.call("report_events", events=[event], key=EVENTS_KEY).accepted, 1)
        self.assertEqual(self.call("report_events", events=[event], key=EVENTS_KEY).duplicates, 1)

    def test_two_rankings_are_interleaved(self):
        for interleave in ({"request_order": True}, {"a": {"version": 0}, "b": {}}, semrank.Interleaving(b=semrank.ModelRef())):
            response = self.call("rank", "edit photos", TITLES, impression={}, interleave=interleave)
            self.assertEqual(sorted(response.indices), [0, 1, 2])
            self.assertEqual(len(response.impression_id), 22)
        with self.assertRaisesRegex(semrank.Error, "interleave"):
            self.call("rank", "edit photos", TITLES, interleave={"b": {}})

    def test_one_list_is_not_split(self):
        for arguments in ({"impression": {}}, {"interleave": {"request_order": True}}):
            with self.assertRaisesRegex(ValueError, "^a request with impression or interleave is one list, and this one exceeds a message"):
                self.call("rank", "edit photos", MANY_TITLES, **arguments)
        whole = self.call("rank", "edit photos", MANY_TITLES[:MAX_TEXTS], impression={})
        self.assertEqual((len(whole.indices), len(whole.impression_id)), (MAX_TEXTS, 22))

    def test_a_response_over_the_4_mb_of_grpc_arrives(self):
        titles = [title + " " * 500 for title in MANY_TITLES[:MAX_TEXTS]]
        response = self.call("rank", "edit photos", titles, with_titles=True)
        self.assertGreater(response.ByteSize(), 5_000_000)

    def test_models_and_limits_are_listed(self):
        model = self.call("get_model")
        self.assertIn((model.name, model.version), [(m.name, m.version) for m in self.call("list_models")])
        self.assertEqual(self.call("get_limits").max_texts_per_request, MAX_TEXTS)

    def test_health_is_that_of_the_server_or_of_a_service(self):
        self.assertIs(self.call("check_health"), True)
        self.assertIs(self.call("check_health", "semrank.v1.RankingService"), True)
        with self.assertRaises(semrank.Error) as failed:
            self.call("check_health", "no.such.Service")
        self.assertEqual(failed.exception.code, grpc.StatusCode.NOT_FOUND)

    def test_an_error_has_the_code_the_message_and_the_reason(self):
        with self.assertRaises(semrank.Error) as failed:
            self.call("rank", "q", TITLES, key="stolen")
        self.assertEqual((failed.exception.code, failed.exception.reason), (grpc.StatusCode.UNAUTHENTICATED, "UNKNOWN_KEY"))
        with self.assertRaises(semrank.Error) as failed:
            self.call("put", [semrank.Document(id=1, title="t")])
        self.assertEqual(failed.exception.reason, "ROLE_REQUIRED")
        (number, error), = self.call("rank_stream", [semrank.RankRequest(query="q", titles=["t"] * (MAX_TEXTS + 1))])
        self.assertEqual((number, error.reason), (0, "TOO_MANY_TEXTS"))
        with self.assertRaises(semrank.Error) as failed:
            self.call("rank", "", TITLES)
        self.assertRegex(str(failed.exception), rf"^{self.server.address}: query: ")

    def test_a_text_that_is_too_long_is_counted_in_the_whole_request(self):
        with self.assertRaisesRegex(semrank.Error, rf"texts\[20\].*counted from number {MAX_TEXTS}"):
            self.call("embed", [*MANY_TITLES[:MAX_TEXTS + 20], "x" * 100_000], "document")


class BlockingTest(AgainstRealServer, unittest.TestCase):
    run_client = staticmethod(blocking)

    def test_a_client_of_another_protocol_is_told_so(self):
        for address, options, hint in ((self.server.address, {}, "speaks TLS does so, set tls_ca"),
                                       (self.server.http_address, {"tls_ca": self.ca}, "not a gRPC port but one for HTTP")):
            with self.assertRaisesRegex(semrank.Error, hint):
                blocking(address, lambda call: call("get_limits"), max_attempts=1, **options)
        with FakeServer() as plain, self.assertRaisesRegex(semrank.Error, "does not speak TLS there: leave tls_ca out"):
            blocking(plain.address, lambda call: call("get_limits"), max_attempts=1, tls_ca=self.ca)

    def test_a_caller_without_a_key_cannot_fill_the_memory(self):
        size = 1_200_000_000
        options = [("grpc.max_send_message_length", -1)]
        with grpc.secure_channel(self.server.address, grpc.ssl_channel_credentials(self.ca), options) as channel:
            rank = channel.unary_unary("/semrank.v1.RankingService/Rank")
            with self.assertRaises(grpc.RpcError):
                rank(bytes(size), timeout=60)
        self.assertLess(self.server.peak_memory(), 0.8 * size)
        self.call("rank", "edit photos", TITLES)


class AsyncioTest(AgainstRealServer, unittest.TestCase):
    run_client = staticmethod(in_asyncio)


class AgainstFakeServer(unittest.TestCase):
    """Cases that a real server has only in trouble; each test runs both clients."""

    def both(self, make_methods, plan, **options):
        for run in (blocking, in_asyncio):
            with self.subTest(run.__name__), FakeServer(**make_methods()) as server:
                plan(run, server.address, options)

    def test_a_rejected_call_is_repeated_after_the_pushback(self):
        attempts = []

        def methods():
            attempts.clear()

            def rank(request, context):
                attempts.append(request)
                if len(attempts) < 3:
                    context.set_trailing_metadata([("grpc-retry-pushback-ms", "10")])
                    context.abort(grpc.StatusCode.RESOURCE_EXHAUSTED, "busy")
                return ranking.RankResponse(indices=[0], scores=[1])
            return {"Rank": (ranking.RankRequest, ranking.RankResponse, False, rank)}

        def plan(run, address, options):
            self.assertEqual(list(run(address, lambda call: call("rank", "q", ["t"]), **options).indices), [0])
            self.assertEqual(len(attempts), 3)
            attempts.clear()
            with self.assertRaisesRegex(semrank.Error, r"busy \(tried 2 times\)$"):
                run(address, lambda call: call("rank", "q", ["t"]), max_attempts=2)

        self.both(methods, plan)

    def test_a_stream_of_many_items_has_more_time_and_its_error_says_so(self):
        over = threading.Event()
        self.addCleanup(over.set)

        def hang(requests, context):
            over.wait()
            yield from ()

        def plan(run, address, options):
            begin = time.monotonic()
            with self.assertRaisesRegex(semrank.Error, r"no answer before the deadline \(0.1 s; in a stream, for each 1,000 items\)$"):
                run(address, lambda call: call("rank_stream", [ranking.RankRequest()] * 1_000), deadline_seconds=0.1)
            self.assertGreaterEqual(time.monotonic() - begin, 0.19)

        self.both(lambda: {"RankStream": (ranking.RankStreamRequest, ranking.RankStreamResponse, True, hang)}, plan)

    def test_the_delay_stays_bounded_after_many_attempts(self):
        retry = Retry(Options("127.0.0.1:1", max_attempts=10_000), float("inf"))
        delays = [retry.next_delay(grpc.StatusCode.UNAVAILABLE, None) for _ in range(2_000)]
        self.assertLessEqual(max(delays), 2)

    def test_a_server_that_does_not_accept_calls_is_not_healthy(self):
        not_serving = wrappers_pb2.Int32Value(value=2)
        self.both(lambda: {"Check": (wrappers_pb2.StringValue, wrappers_pb2.Int32Value, False, lambda *_: not_serving)},
                  lambda run, address, options: self.assertIs(run(address, lambda call: call("check_health")), False))

    def test_a_failure_without_pushback_is_not_repeated(self):
        attempts = []

        def methods():
            attempts.clear()

            def rank(request, context):
                attempts.append(request)
                context.abort(grpc.StatusCode.RESOURCE_EXHAUSTED, "full")
            return {"Rank": (ranking.RankRequest, ranking.RankResponse, False, rank),
                    "GetLimits": (models.GetLimitsRequest, models.GetLimitsResponse, False, lambda *_: models.GetLimitsResponse())}

        def plan(run, address, options):
            with self.assertRaisesRegex(semrank.Error, "full$"):
                run(address, lambda call: call("rank", "q", ["t"]))
            self.assertEqual(len(attempts), 1)

        self.both(methods, plan)

    def test_a_repeated_report_has_the_same_ids(self):
        reports = []

        def methods():
            reports.clear()

            def report(request, context):
                reports.append(request)
                if len(reports) == 1:
                    context.abort(grpc.StatusCode.UNAVAILABLE, "restarting")
                return events.ReportEventsResponse(accepted=3)
            return {"ReportEvents": (events.ReportEventsRequest, events.ReportEventsResponse, False, report)}

        def plan(run, address, options):
            given = [{"impression_id": "list", "kind": "click", "position": 1}, semrank.Event(impression_id="list", event_id="own")]
            run(address, lambda call: call("report_events", given, impressions=[{"query": "q"}]), **options)
            self.assertEqual(len(reports), 2)
            self.assertEqual(reports[0], reports[1])
            self.assertRegex(reports[0].events[0].event_id, r"^[\w-]{22}$")
            self.assertEqual(reports[0].events[1].event_id, "own")
            self.assertRegex(reports[0].impressions[0].impression_id, r"^[\w-]{22}$")
            self.assertEqual(given[1].event_id, "own")

        self.both(methods, plan)

    def test_broken_streams_continue_with_what_has_no_response(self):
        received = []

        def methods():
            received.clear()

            def put(requests, context):
                first = 0
                for number, request in enumerate(requests):
                    if number == 2:
                        context.abort(grpc.StatusCode.UNAVAILABLE, "restarting")
                    received.extend(document.id for document in request.documents)
                    yield catalog.PutDocumentsStreamResponse(first_document=first, num_created=len(request.documents))
                    first += len(request.documents)

            def embed(requests, context):
                first = 0
                for number, request in enumerate(requests):
                    if number == 2:
                        context.abort(grpc.StatusCode.UNAVAILABLE, "restarting")
                    received.append((number, request.model.version))
                    yield embedding.EmbedTextsStreamResponse(
                        first_text=first, num_texts=len(request.texts), embedding_dim=1, vectors=bytes(4 * len(request.texts)),
                        encoding="VECTOR_ENCODING_FLOAT32", model=common.ModelRef(name="m", version=5))
                    first += len(request.texts)
            limits = models.GetLimitsResponse(limits=models.Limits(max_texts_per_request=2))
            return {"PutDocumentsStream": (catalog.PutDocumentsStreamRequest, catalog.PutDocumentsStreamResponse, True, put),
                    "EmbedTextsStream": (embedding.EmbedTextsStreamRequest, embedding.EmbedTextsStreamResponse, True, embed),
                    "GetLimits": (models.GetLimitsRequest, models.GetLimitsResponse, False, lambda *_: limits)}

        def plan(run, address, options):
            documents = [semrank.Document(id=i, title="t") for i in range(9)]
            self.assertEqual(run(address, lambda call: call("put", documents), **options).num_created, 9)
            self.assertEqual(received, list(range(9)))
            received.clear()
            parts = run(address, lambda call: call("embed_stream", ["t"] * 9, "query"), **options)
            self.assertEqual([part.first_text for part in parts], [0, 2, 4, 6, 8])
            # From the second stream on, requests name the version of the first response.
            self.assertEqual(received, [(0, 0), (1, 0), (0, 5), (1, 5), (0, 5)])

        self.both(methods, plan, initial_backoff_seconds=0.01)

    def test_a_stream_sends_rejected_queries_again(self):
        received = []

        def methods():
            received.clear()

            def rank(requests, context):
                for request in requests:
                    received.append(request.request_number)
                    answer = ranking.RankStreamResponse(request_number=request.request_number)
                    if request.request_number == 1 and received.count(1) % 3 != 0:
                        answer.status.code, answer.status.message = 8, "busy"
                        retry = error_details.RetryInfo()
                        retry.retry_delay.nanos = 10_000_000
                        answer.status.details.add().Pack(retry)
                    else:
                        answer.response.SetInParent()
                    yield answer
            return {"RankStream": (ranking.RankStreamRequest, ranking.RankStreamResponse, True, rank)}

        def plan(run, address, options):
            requests = [semrank.RankRequest(query="q", titles=["t"]) for _ in range(3)]
            answers = run(address, lambda call: call("rank_stream", requests))
            self.assertEqual([number for number, _ in answers], [0, 2, 1])
            self.assertEqual(received, [0, 1, 2, 1, 1])
            number, error = run(address, lambda call: call("rank_stream", requests), max_attempts=2)[-1]
            self.assertEqual((number, str(error)), (1, "busy (tried 2 times)"))

        self.both(methods, plan)

    def test_a_response_that_contradicts_the_request_is_refused(self):
        def methods():
            return {"Rank": (ranking.RankRequest, ranking.RankResponse, False,
                             lambda *_: ranking.RankResponse(indices=[9], scores=[1]))}

        def plan(run, address, options):
            with self.assertRaisesRegex(semrank.Error, "invalid response from the server: a candidate number is 9, of candidates 1"):
                run(address, lambda call: call("rank", "q", ["t"]))

        self.both(methods, plan)

    def test_a_list_of_one_message_keeps_the_order_of_the_server(self):
        shown = ranking.RankResponse(indices=[1, 0], scores=[0.25, 0.5], impression_id="i")
        limits = models.GetLimitsResponse(limits=models.Limits(max_texts_per_request=5_000))

        def methods():
            return {"Rank": (ranking.RankRequest, ranking.RankResponse, False, lambda *_: shown),
                    "GetLimits": (models.GetLimitsRequest, models.GetLimitsResponse, False, lambda *_: limits)}

        def plan(run, address, options):
            self.assertEqual(run(address, lambda call: call("rank", "q", ["t"] * 2_000, impression={})), shown)

        self.both(methods, plan)

    def test_texts_without_a_truth_value_show_the_error_of_the_call(self):
        class Texts(list):
            """As an array of NumPy, or a Series of pandas."""

            def __bool__(self):
                raise ValueError("the truth value is ambiguous")

        for run in (blocking, in_asyncio):
            with self.assertRaises(semrank.Error) as failed:
                run("127.0.0.1:1", lambda call: call("embed", Texts(["a"]), "query"), max_attempts=1)
            self.assertEqual(failed.exception.code, grpc.StatusCode.UNAVAILABLE)

    def test_one_text_in_place_of_several_is_a_type_error(self):
        for name, args in (("rank", ("q", "abc")), ("embed", ("abc", "query")), ("embed_stream", ("abc", "query")),
                           ("get", ("abc",)), ("delete", (b"abc",))):
            for run in (blocking, in_asyncio):
                with self.subTest(name), self.assertRaisesRegex(TypeError, "abc.*: want a list, not a single text"):
                    run("127.0.0.1:1", lambda call: call(name, *args))

    def test_an_item_of_another_type_is_named(self):
        for name, args, message in (
                ("put", ("abc",), r"documents\[0\] 'a': want Document, not str"),
                ("put", ([semrank.Document(id=1, title="t"), {"id": 7}],), r"documents\[1\] {'id': 7}: want Document, not dict"),
                ("rank_stream", ("abc",), r"requests\[0\] 'a': want RankRequest, not str"),
                ("embed_stream", ([7], "query"), r"texts\[0\] 7: want str, not int")):
            for run in (blocking, in_asyncio):
                with self.subTest(name), self.assertRaisesRegex(TypeError, message):
                    run("127.0.0.1:1", lambda call: call(name, *args))
        for name, args, kwargs in (("get", (["d1", 2.9],), {}), ("delete", (["d1", 2.9],), {}), ("search", ("q",), {"exclude": ["d1", 2.9]})):
            with self.subTest(name), self.assertRaisesRegex(TypeError, r"\[1\] 2.9: want int or str, not float"):
                blocking("127.0.0.1:1", lambda call: call(name, *args, **kwargs))
        event = {"impression_id": "i", "kind": "click", "position": 1}
        for name, args, kwargs, error, message in (
                ("report_events", (event,), {}, TypeError, r"events {.*: want a list, not a single Event"),
                ("report_events", (["i"],), {}, TypeError, r"events\[0\] 'i': want Event or a dict of its fields, not str"),
                ("report_events", ([event, {"id": "i"}],), {}, ValueError, r'events\[1\]: .*no field named "id"'),
                ("report_events", (), {"impressions": [event]}, ValueError, r'impressions\[0\]: .*no field named "kind"'),
                ("rank", ("q", ["t"]), {"impression": True}, TypeError, "impression True: want ImpressionOptions or a dict"),
                ("search", ("q",), {"impression": {"name": "u"}}, ValueError, 'impression: .*no field named "name"'),
                ("search", ("q",), {"interleave": {"c": {}}}, ValueError, 'interleave: .*no field named "c"')):
            for run in (blocking, in_asyncio):
                with self.subTest(message), self.assertRaisesRegex(error, message):
                    run("127.0.0.1:1", lambda call: call(name, *args, **kwargs))
        for name, args in (("rank", ("q", ["t"])), ("search", ("q",))):
            with self.subTest(name), self.assertRaisesRegex(TypeError, "filter.include_tags 'dev': want a list, not a single text"):
                blocking("127.0.0.1:1", lambda call: call(name, *args, filter={"include_tags": "dev"}))
        with self.assertRaisesRegex(ValueError, "title and document_id: want one of them"):
            blocking("127.0.0.1:1", lambda call: call("explain", "q", "t", document_id="d1"))

    def test_help_shows_what_a_call_returns_and_every_option(self):
        for client, method, returns in ((semrank.Client, "rank", ranking.RankResponse),
                                        (semrank.AsyncClient, "put", semrank.PutResult),
                                        (semrank.Client, "embed_stream", collections.abc.Iterator[embedding.EmbedTextsStreamResponse]),
                                        (semrank.AsyncClient, "embed_stream",
                                         collections.abc.AsyncIterator[embedding.EmbedTextsStreamResponse])):
            self.assertEqual(inspect.signature(getattr(client, method)).return_annotation, returns)
        options = list(inspect.signature(semrank.Client).parameters)
        self.assertEqual(options, [field.name for field in dataclasses.fields(semrank.Options)])
        with self.assertRaisesRegex(TypeError, "timeout"):
            semrank.Client(timeout=3)

    def test_a_bad_option_is_named_with_its_value(self):
        with self.assertRaisesRegex(ValueError, "is a URL: leave http:// out, and name the gRPC port"):
            semrank.Client("http://localhost:8080")
        for address in ("localhost", "localhost:0", "::1:50051", "http://a:80", ":50051"):
            with self.assertRaisesRegex(ValueError, f"server address '{address}': "):
                semrank.Client(address)
        for address in ("search-1:50051", "10.0.0.7:50051", "127.evil.test:50051", "dns:///search-1:50051"):
            with self.assertRaisesRegex(ValueError, f"server address '{address}': is on another machine: want tls_ca, or plain_text"):
                semrank.Client(address)
            semrank.Client(address, plain_text=True).close()
            semrank.Client(address, tls_ca=b"any").close()
        for address in ("127.0.0.1:1", "[::1]:1", "localhost:1", "dns:///localhost:1", "unix:/run/semrank"):
            semrank.Client(address).close()
        with self.assertRaisesRegex(ValueError, "plain_text: excludes tls_ca"):
            semrank.Client(tls_ca=b"any", plain_text=True)
        with self.assertRaisesRegex(ValueError, "max_attempts 0: must be at least 1"):
            semrank.AsyncClient(max_attempts=0)
        with self.assertRaisesRegex(semrank.Error, "^cannot reach 127.0.0.1:1: .*tried 2 times"):
            blocking("127.0.0.1:1", lambda call: call("get_limits"), max_attempts=2, initial_backoff_seconds=0.01)


if __name__ == "__main__":
    if "SEMRANK_TEST_IN_VENV" not in os.environ:
        sys.exit(run_in_virtual_environment())
    import semrank
    from semrank._options import Options
    from semrank._steps import Retry
    from semrank._google_rpc import error_details
    from semrank.v1 import catalog_service_pb2 as catalog, common_pb2 as common, embedding_service_pb2 as embedding
    from semrank.v1 import event_service_pb2 as events, model_service_pb2 as models, ranking_service_pb2 as ranking
    unittest.main(argv=sys.argv[:1], verbosity=2)
