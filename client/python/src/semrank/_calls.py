"""The calls, as plans (_steps.py). Signatures and documentation are those of the
clients' methods."""
from __future__ import annotations

import dataclasses
import functools
import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Literal, TypeVar

import grpc
from google.protobuf import wrappers_pb2

from semrank import _chunks as chunks
from semrank._checks import check_embed_chunk, check_rank, check_vectors
from semrank._chunks import ASSUMED_LIMITS, MessageLimits
from semrank._errors import Error, from_item_status, invalid_response
from semrank._options import Options
from semrank._steps import Connection, Give, Giving, Plan, Retry, Sleep
from semrank.v1 import catalog_service_pb2 as catalog, common_pb2 as common
from semrank.v1 import embedding_service_pb2 as embedding, model_service_pb2 as model_service, ranking_service_pb2 as ranking

T = TypeVar("T")
Parts = Literal["both", "semantic", "lexical"]
Side = Literal["query", "document"]
Encoding = Literal["float32", "float16", "int8"]
Key = int | str  # a number is Document.id, a text Document.document_id

_PARTS: dict[str, Any] = {"both": common.PARTS_UNSPECIFIED, "semantic": common.PARTS_SEMANTIC, "lexical": common.PARTS_LEXICAL}
_SIDES: dict[str, Any] = {"query": common.SIDE_QUERY, "document": common.SIDE_DOCUMENT}
_ENCODINGS: dict[str, Any] = {"float32": common.VECTOR_ENCODING_FLOAT32, "float16": common.VECTOR_ENCODING_FLOAT16,
                              "int8": common.VECTOR_ENCODING_INT8}
# A part of a stream that has a deadline of its own and is held until answered.
_BLOCK = MessageLimits(20_000, 16 << 20)
_REQUESTS_PER_DEADLINE = 1_000


def _enum(name: str, values: dict[str, Any], value: str) -> Any:
    if value not in values:
        raise ValueError(f"{name} {value!r}: want one of {', '.join(values)}")
    return values[value]


@dataclasses.dataclass
class PutResult:
    """What became of the documents. Problem.index counts through all of them."""
    num_created: int = 0
    num_replaced: int = 0
    problems: list[common.Problem] = dataclasses.field(default_factory=list)


class Calls:
    def __init__(self, options: Options) -> None:
        self._connection = Connection(options)
        self._limits: MessageLimits | None = None

    def rank(self, query: str, titles: Sequence[str] = (), *, ids: Sequence[int] = (), document_ids: Sequence[str] = (),
             vectors: bytes = b"", top_k: int = 0, min_score: float | None = None, model: str = "", version: int = 0,
             with_titles: bool = False, parts: Parts = "both", with_parts: bool = False,
             filter: common.TagFilter | None = None, name_match: bool = False) -> Plan[ranking.RankResponse]:
        """Orders candidates for a query: position i of the response is candidate
        indices[i] with scores[i]. Any number of candidates: what exceeds the
        server's limits is sent in chunks, all to one version of the model. The
        arguments are the fields of RankRequest."""
        request = ranking.RankRequest(
            query=query, titles=titles, ids=ids, document_ids=document_ids, vectors=vectors, top_k=top_k, min_score=min_score,
            model=common.ModelRef(name=model, version=version), with_titles=with_titles, parts=_enum("parts", _PARTS, parts),
            with_parts=with_parts, filter=filter, name_match=name_match)
        deadline = self._connection.deadline_for()
        # The dimension of vectors is not known yet; their bytes count anyway.
        num_candidates = len(request.titles) + len(request.ids) + len(request.document_ids)
        return (yield from self._within_limits(
            num_candidates, request.ByteSize(), deadline, lambda: self._rank_in_one_message(request, deadline),
            lambda limits: self._rank_in_chunks(request, limits, deadline)))

    def rank_stream(self, requests: Iterable[ranking.RankRequest]) -> Giving[tuple[int, ranking.RankResponse | Error]]:
        """Ranks many queries over one stream, which costs the server less per
        query than rank. Iterates, in any order, over pairs: the number of the
        request, and its RankResponse or the server's Error for it. After a broken
        stream, a new one carries the requests without a response and those that
        the server rejected for now. Requests are not split."""
        all_requests = list(requests)
        deadline = self._connection.deadline_for(1 + len(all_requests) // _REQUESTS_PER_DEADLINE)
        retry = Retry(self._connection.options, deadline)
        pending = dict(enumerate(all_requests))
        while pending:
            rejected: dict[int, Error] = {}
            messages = (ranking.RankStreamRequest(request_number=i, request=request) for i, request in list(pending.items()))
            error, again = yield from self._connection.attempt(
                "RankStream", messages, deadline, retry, functools.partial(self._take_ranking, pending, rejected, retry))
            if again:
                continue
            if error is not None:
                raise error
            if missing := pending.keys() - rejected.keys():
                raise invalid_response(f"the stream ended without request {min(missing)}")
            if rejected:
                # The latest rejection has the most recent estimate of the server.
                last = rejected[max(rejected)]
                pushback = None if last.retry_delay_seconds is None else str(int(1000 * last.retry_delay_seconds))
                delay = retry.next_delay(last.code, pushback)
                if delay is None:
                    for number, rejection in rejected.items():
                        yield Give((number, rejection.with_note(f"tried {retry.num_attempts} times")))
                    return
                yield Sleep(delay)

    def _take_ranking(self, pending: dict[int, ranking.RankRequest], rejected: dict[int, Error], retry: Retry,
                      response: ranking.RankStreamResponse) -> Plan[None]:
        number = response.request_number
        if number not in pending or number in rejected:
            raise invalid_response(f"not waiting for request {number}")
        if response.HasField("status"):
            error = from_item_status(response.status)
            if Retry.is_retryable(error.code, error.retry_delay_seconds is not None):
                rejected[number] = error
                return
            yield Give((number, error))
        elif response.HasField("response"):
            check_rank(pending[number], response.response)
            yield Give((number, response.response))
        else:
            raise invalid_response(f"nothing for request {number}")
        del pending[number]
        retry.restart()

    def explain(self, query: str, title: str | None = None, *, document_id: Key | None = None, model: str = "",
                version: int = 0, parts: Parts = "both") -> Plan[ranking.ExplainResponse]:
        """Which words make the score of one title, or of one document of the catalog."""
        request = ranking.ExplainRequest(query=query, model=common.ModelRef(name=model, version=version),
                                         parts=_enum("parts", _PARTS, parts))
        if title is not None:
            request.title = title
        elif isinstance(document_id, int):
            request.id = document_id
        elif document_id is not None:
            request.document_id = document_id
        return (yield from self._call("Explain", request))

    def embed(self, texts: Sequence[str], side: Side, *, encoding: Encoding = "float32", model: str = "",
              version: int = 0) -> Plan[embedding.EmbedTextsResponse]:
        """One vector per text, in order; semrank.vectors() decodes them. Chunks as in rank."""
        request = embedding.EmbedTextsRequest(
            side=_enum("side", _SIDES, side), texts=texts, encoding=_enum("encoding", _ENCODINGS, encoding),
            model=common.ModelRef(name=model, version=version))
        deadline = self._connection.deadline_for()
        return (yield from self._within_limits(
            len(request.texts), request.ByteSize(), deadline, lambda: self._embed_in_one_message(request, deadline),
            lambda limits: self._embed_in_chunks(request, limits, deadline)))

    def embed_stream(self, texts: Iterable[str], side: Side, *, encoding: Encoding = "float32", model: str = "",
                     version: int = 0) -> Giving[embedding.EmbedTextsStreamResponse]:
        """Embeds any number of texts in bounded memory, with one version of the
        model. Iterates over EmbedTextsStreamResponse in the order of the texts:
        one vector per text, zeros for those in `problems`. After a broken stream,
        a new one continues with the first text without a response."""
        request = embedding.EmbedTextsStreamRequest(
            side=_enum("side", _SIDES, side), encoding=_enum("encoding", _ENCODINGS, encoding),
            model=common.ModelRef(name=model, version=version))
        num_before = 0
        for block in chunks.blocks(texts, _BLOCK):
            done = 0

            def messages(limits: MessageLimits) -> Iterator[embedding.EmbedTextsStreamRequest]:
                # After a reload, a new stream without a version would mix two
                # models; within a stream the version must not change.
                model = common.ModelRef()
                model.CopyFrom(request.model)
                return (embedding.EmbedTextsStreamRequest(side=request.side, encoding=request.encoding, model=model, texts=chunk)
                        for chunk in chunks.blocks(block[done:], chunks.stream_limits(limits)))

            def take(first: int, retry: Retry, chunk: embedding.EmbedTextsStreamResponse) -> Plan[None]:
                nonlocal done
                # The server counts from 0 in each stream.
                chunk.first_text += first
                check_embed_chunk(request.encoding, len(block) - done, done, chunk)
                if chunk.HasField("model"):
                    request.model.CopyFrom(chunk.model)
                done += chunk.num_texts
                if chunk.num_texts:
                    retry.restart()
                chunk.first_text += num_before
                yield Give(chunk)

            yield from self._stream_block("EmbedTextsStream", len(block), lambda: done, messages, take)
            num_before += len(block)

    def put(self, documents: Iterable[catalog.Document]) -> Plan[PutResult]:
        """Puts documents into the catalog; a known key is replaced, so repeating is
        safe. Any number of them, in bounded memory. Refused ones are in `problems`."""
        result = PutResult()
        num_before = 0
        for block in chunks.blocks(documents, _BLOCK):
            sent: list[int] = []  # documents in the messages of this stream
            done = 0

            def messages(limits: MessageLimits) -> Iterator[catalog.PutDocumentsStreamRequest]:
                # A list for each stream: gRPC's thread may still draw a message
                # of a broken one.
                nonlocal sent
                sent = ours = []
                for chunk in chunks.blocks(block[done:], chunks.stream_limits(limits)):
                    ours.append(len(chunk))
                    yield catalog.PutDocumentsStreamRequest(documents=chunk)

            def take(first: int, retry: Retry, response: catalog.PutDocumentsStreamResponse) -> Plan[None]:
                nonlocal done
                num_in_chunk = sent.pop(0) if sent else 0
                if num_in_chunk == 0 or response.num_created + response.num_replaced + len(response.problems) != num_in_chunk:
                    raise invalid_response("it does not account for the documents sent")
                for problem in response.problems:
                    problem.index += num_before + done
                    result.problems.append(problem)
                result.num_created += response.num_created
                result.num_replaced += response.num_replaced
                done += num_in_chunk
                retry.restart()
                return
                yield

            yield from self._stream_block("PutDocumentsStream", len(block), lambda: done, messages, take)
            num_before += len(block)
        return result

    def get(self, keys: Iterable[Key], *, with_payloads: bool = False) -> Plan[list[catalog.Document | None]]:
        """The documents of these keys, in order; None = there is no such document."""
        found: dict[Key, catalog.Document] = {}
        all_keys = list(keys)

        def send(some: list[Key]) -> Plan[None]:
            request = catalog.GetDocumentsRequest(**_by_kind(some), with_payloads=with_payloads)
            for document in (yield from self._call("GetDocuments", request)).documents:
                found[document.id if document.WhichOneof("key") == "id" else document.document_id] = document

        yield from self._send_keys(all_keys, send)
        return [found.get(key) for key in all_keys]

    def delete(self, keys: Iterable[Key]) -> Plan[int]:
        """Forgets documents. Returns how many there were; repeating is safe."""
        num_deleted = 0

        def send(some: list[Key]) -> Plan[None]:
            nonlocal num_deleted
            request = catalog.DeleteDocumentsRequest(**_by_kind(some))
            num_deleted += (yield from self._call("DeleteDocuments", request)).num_deleted

        yield from self._send_keys(list(keys), send)
        return num_deleted

    def search(self, query: str, *, top_k: int = 10, offset: int = 0, min_score: float | None = None, model: str = "",
               version: int = 0, with_titles: bool = True, with_payloads: bool = False, exclude: Iterable[Key] = (),
               filter: common.TagFilter | None = None, parts: Parts = "both", with_parts: bool = False,
               name_match: bool = True) -> Plan[catalog.SearchDocumentsResponse]:
        """The best documents of the whole catalog, best first. The arguments are
        the fields of SearchDocumentsRequest."""
        excluded = _by_kind(list(exclude))
        response = yield from self._call("SearchDocuments", catalog.SearchDocumentsRequest(
            query=query, top_k=top_k, offset=offset, min_score=min_score, model=common.ModelRef(name=model, version=version),
            with_titles=with_titles, with_payloads=with_payloads, exclude_ids=excluded["ids"],
            exclude_document_ids=excluded["document_ids"], filter=filter, parts=_enum("parts", _PARTS, parts),
            with_parts=with_parts, name_match=name_match))
        if 0 < top_k < len(response.hits):
            raise invalid_response("more hits than asked for")
        return response

    def get_model(self, model: str = "", version: int = 0) -> Plan[model_service.Model]:
        """Describes one version; by default the current one of the default model."""
        request = model_service.GetModelRequest(model=common.ModelRef(name=model, version=version))
        return (yield from self._call("GetModel", request)).model

    def list_models(self, name: str = "") -> Plan[list[model_service.Model]]:
        """All versions that the server knows, with their states and failures."""
        models: list[model_service.Model] = []
        token = ""
        while True:
            page = yield from self._call("ListModels", model_service.ListModelsRequest(name=name, page_token=token))
            models += page.models
            if not (token := page.next_page_token):
                return models

    def reload_model(self, model: str = "", version: int = 0) -> Plan[model_service.ReloadModelResponse]:
        """Loads a version and makes it current. Not repeated; needs the admin role."""
        request = model_service.ReloadModelRequest(model=common.ModelRef(name=model, version=version))
        return (yield from self._connection.call("ReloadModel", request, self._connection.deadline_for(), retries=False))

    def get_limits(self) -> Plan[model_service.Limits]:
        return (yield from self._call("GetLimits", model_service.GetLimitsRequest())).limits

    def check_health(self, service: str = "") -> Plan[bool]:
        """Whether the server accepts calls; by default of all its services, else
        of one, "semrank.v1.RankingService". Not repeated: for probes."""
        request = wrappers_pb2.StringValue(value=service)
        serving = 1  # of HealthCheckResponse.ServingStatus
        return (yield from self._connection.call("Check", request, self._connection.deadline_for(), retries=False)).value == serving

    def _call(self, method: str, request: Any) -> Plan[Any]:
        return (yield from self._connection.call(method, request, self._connection.deadline_for()))

    def _fetch_limits(self, deadline: float) -> Plan[MessageLimits]:
        response = yield from self._connection.call("GetLimits", model_service.GetLimitsRequest(), deadline)
        self._limits = chunks.message_limits(response.limits)
        return self._limits

    def _known_or_fetched(self, deadline: float) -> Plan[MessageLimits]:
        return self._limits or (yield from self._fetch_limits(deadline))

    def _renewed(self, error: Error, deadline: float, used: MessageLimits | None) -> Plan[MessageLimits]:
        """After a message within the limits `used` failed: new limits, if it may have
        been too large and they differ, because a restarted server may have others.
        Else raises the error."""
        if not _may_be_too_large(error):
            raise error
        try:
            limits = yield from self._fetch_limits(deadline)
        except Error:
            raise error from None
        if limits == used:
            raise error
        return limits

    def _within_limits(self, num_texts: int, num_bytes: int, deadline: float, in_one_message: Callable[[], Plan[T]],
                       in_chunks: Callable[[MessageLimits], Plan[T]]) -> Plan[T]:
        """Sends one message if that probably suffices, else or if the server
        rejects it as too large, chunks."""
        if (self._limits or ASSUMED_LIMITS).holds(num_texts, num_bytes):
            try:
                return (yield from in_one_message())
            except Error as error:
                limits = yield from self._renewed(error, deadline, None)
                # If the request is within the limits, the rejection has another cause.
                if error.reason != "TOO_MANY_TEXTS" and limits.holds(num_texts, num_bytes):
                    raise
            return (yield from in_chunks(limits))
        limits = yield from self._known_or_fetched(deadline)
        try:
            return (yield from in_chunks(limits))
        except Error as error:
            limits = yield from self._renewed(error, deadline, limits)
        return (yield from in_chunks(limits))

    def _send_chunks(self, num_items: int, model: common.ModelRef, restart: Callable[[], None],
                     send: Callable[[int, common.ModelRef], Plan[tuple[int, common.ModelRef]]]) -> Plan[None]:
        """Sends chunks, at least one, until all items have responses. The first
        goes to `model`, the others to the version that answered it. If `model`
        names no version and that version is unloaded in between, starts over."""
        for attempt in itertools.count(1):
            restart()
            answering, begin = model, 0
            try:
                while True:
                    num_sent, answering = yield from send(begin, answering)
                    begin += num_sent
                    if begin >= num_items:
                        return
            except Error as error:
                unloaded = begin > 0 and model.version == 0 and error.reason == "MODEL_NOT_FOUND"
                if not unloaded or attempt >= self._connection.options.max_attempts:
                    raise (error.with_note(f"counted from number {begin}") if begin else error) from None

    def _rank_in_one_message(self, request: ranking.RankRequest, deadline: float) -> Plan[ranking.RankResponse]:
        response = yield from self._connection.call("Rank", request, deadline)
        check_rank(request, response)
        return response

    def _rank_in_chunks(self, request: ranking.RankRequest, limits: MessageLimits, deadline: float) -> Plan[ranking.RankResponse]:
        embedding_dim = 0
        if request.vectors:
            asked = model_service.GetModelRequest(model=request.model)
            embedding_dim = (yield from self._connection.call("GetModel", asked, deadline)).model.embedding_dim
            # The server rejects vectors of another dimension with the better message.
            if embedding_dim == 0 or len(request.vectors) % (4 * embedding_dim):
                return (yield from self._rank_in_one_message(request, deadline))
        parts = chunks.RankChunks(request, embedding_dim, limits)
        whole = ranking.RankResponse()

        def send(begin: int, model: common.ModelRef) -> Plan[tuple[int, common.ModelRef]]:
            chunk, num_items = parts.chunk(begin, model)
            response = yield from self._rank_in_one_message(chunk, deadline)
            chunks.add_rank_chunk(begin, response, whole)
            return num_items, response.model

        yield from self._send_chunks(parts.num_items, request.model, whole.Clear, send)
        chunks.finish_rank(request.top_k, whole)
        return whole

    def _embed_in_one_message(self, request: embedding.EmbedTextsRequest, deadline: float) -> Plan[embedding.EmbedTextsResponse]:
        response = yield from self._connection.call("EmbedTexts", request, deadline)
        check_vectors(request.encoding, len(request.texts), response)
        return response

    def _embed_in_chunks(self, request: embedding.EmbedTextsRequest, limits: MessageLimits,
                         deadline: float) -> Plan[embedding.EmbedTextsResponse]:
        whole = embedding.EmbedTextsResponse()

        def send(begin: int, model: common.ModelRef) -> Plan[tuple[int, common.ModelRef]]:
            chunk, num_items = chunks.embed_chunk(request, begin, model, limits)
            response = yield from self._embed_in_one_message(chunk, deadline)
            chunks.add_embed_chunk(response, whole)
            return num_items, response.model

        yield from self._send_chunks(len(request.texts), request.model, whole.Clear, send)
        return whole

    def _stream_block(self, method: str, num_items: int, num_done: Callable[[], int],
                      messages: Callable[[MessageLimits], Iterator[Any]],
                      take: Callable[[int, Retry, Any], Plan[None]]) -> Plan[None]:
        """Runs a stream, and after a broken one another that continues it, until
        all items have responses."""
        deadline = self._connection.deadline_for(1 + num_items // ASSUMED_LIMITS.max_texts)
        limits = yield from self._known_or_fetched(deadline)
        retry = Retry(self._connection.options, deadline)
        while True:
            error, again = yield from self._connection.attempt(
                method, messages(limits), deadline, retry, functools.partial(take, num_done(), retry))
            if error is None:
                if num_done() != num_items:
                    raise invalid_response(f"the stream ended after {num_done()} of {num_items}")
                return
            if not again:
                limits = yield from self._renewed(error, deadline, limits)

    def _send_keys(self, keys: list[Key], send: Callable[[list[Key]], Plan[None]]) -> Plan[None]:
        """Sends the keys, in messages of a stream's size."""
        limits = yield from self._known_or_fetched(self._connection.deadline_for())
        while keys:
            some = next(chunks.blocks(keys, chunks.stream_limits(limits)))
            try:
                yield from send(some)
            except Error as error:
                limits = yield from self._renewed(error, self._connection.deadline_for(), limits)
            else:
                keys = keys[len(some):]


def _may_be_too_large(error: Error) -> bool:
    """gRPC's own RESOURCE_EXHAUSTED has no reason."""
    if not error.reason:
        return error.code == grpc.StatusCode.RESOURCE_EXHAUSTED
    return error.reason in ("TOO_MANY_TEXTS", "MESSAGE_TOO_LARGE")


def _by_kind(keys: list[Key]) -> dict[str, Any]:
    return {"ids": [key for key in keys if isinstance(key, int)],
            "document_ids": [key for key in keys if isinstance(key, str)]}
