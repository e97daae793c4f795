"""The calls, as plans (_steps.py). The methods of the clients have their signatures
and documentation."""
from __future__ import annotations

import dataclasses
import functools
import itertools
import operator
import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, TypeVar

import grpc
from google.protobuf import json_format, wrappers_pb2
from google.protobuf.message import Message

from semrank import _chunks as chunks
from semrank._checks import check_embed_chunk, check_rank, check_vectors
from semrank._chunks import ASSUMED_LIMITS, MessageLimits
from semrank._errors import Error, from_item_status, invalid_response
from semrank._options import Options
from semrank._steps import Connection, Give, Giving, Plan, Retry, Sleep
from semrank.v1 import catalog_service_pb2 as catalog, common_pb2 as common
from semrank.v1 import embedding_service_pb2 as embedding, event_service_pb2 as event, model_service_pb2 as model_service
from semrank.v1 import ranking_service_pb2 as ranking

T = TypeVar("T")
M = TypeVar("M", bound=Message)
Parts = Literal["both", "semantic", "lexical"]
Side = Literal["query", "document"]
Encoding = Literal["float32", "float16", "int8"]
Key = int | str  # a number is Document.id, a text Document.document_id
Fields = Mapping[str, Any]  # of a message, by name

_PARTS: dict[str, Any] = {"both": common.PARTS_UNSPECIFIED, "semantic": common.PARTS_SEMANTIC, "lexical": common.PARTS_LEXICAL}
_SIDES: dict[str, Any] = {"query": common.SIDE_QUERY, "document": common.SIDE_DOCUMENT}
_ENCODINGS: dict[str, Any] = {"float32": common.VECTOR_ENCODING_FLOAT32, "float16": common.VECTOR_ENCODING_FLOAT16,
                              "int8": common.VECTOR_ENCODING_INT8}
# The items of a stream are held, until they are answered, in blocks of this size;
# each has a deadline of its own.
_BLOCK = MessageLimits(20_000, 16 << 20)


def _enum(name: str, values: dict[str, Any], value: str) -> Any:
    if value not in values:
        raise ValueError(f"{name} {value!r}: want one of {', '.join(values)}")
    return values[value]


def _several(name: str, items: Iterable[T]) -> Iterable[T]:
    """TypeError for a text in place of several: its characters would be taken for them."""
    if isinstance(items, (str, bytes)):
        raise TypeError(f"{name} {items!r:.40}: want a list, not a single text")
    return items


def _tag_filter(value: common.TagFilter | Fields | None) -> Any:
    """The filter as it is given. TypeError for one text in place of several tags."""
    for name, tags in value.items() if isinstance(value, Mapping) else ():
        _several(f"filter.{name}", tags)
    return value


def _keys(name: str, keys: Iterable[Key]) -> list[Key]:
    """The keys, with the integers of NumPy as int. TypeError for what is neither a
    number nor a text, before it is taken for no key at all."""
    checked: list[Key] = []
    for i, key in enumerate(_several(name, keys)):
        try:
            checked.append(key if isinstance(key, str) else operator.index(key))
        except TypeError:
            raise TypeError(f"{name}[{i}] {key!r:.40}: want int or str, not {type(key).__name__}") from None
    return checked


def _each(name: str, items: Iterable[T], kind: type[T]) -> Iterator[T]:
    """The items. TypeError for one that is none, before gRPC fails to send it."""
    for i, item in enumerate(items):
        if not isinstance(item, kind):
            raise TypeError(f"{name}[{i}] {item!r:.40}: want {kind.__name__}, not {type(item).__name__}")
        yield item


def _message(name: str, kind: type[M], value: M | Fields) -> M:
    """The message, made of its fields if they are given. ValueError for a field that it has not."""
    if isinstance(value, kind):
        return value
    if not isinstance(value, Mapping):
        raise TypeError(f"{name} {value!r:.40}: want {kind.__name__} or a dict of its fields, not {type(value).__name__}")
    try:
        return json_format.ParseDict(value, kind())
    except json_format.ParseError as error:
        raise ValueError(f"{name}: {error}") from None


def _messages(name: str, kind: type[M], values: Iterable[M | Fields]) -> list[M]:
    if isinstance(values, (Message, Mapping)):
        raise TypeError(f"{name} {values!r:.40}: want a list, not a single {kind.__name__}")
    return [_message(f"{name}[{i}]", kind, value) for i, value in enumerate(_several(name, values))]


def _random_id() -> str:
    """128 random bits; training counts what has an id once, however often it is sent."""
    return secrets.token_urlsafe(16)


def _set_impression(request: ranking.RankRequest | catalog.SearchDocumentsRequest,
                    impression: common.ImpressionOptions | Fields | None, interleave: common.Interleaving | Fields | None) -> None:
    """An empty impression is set too, hence the copies."""
    if impression is not None:
        request.impression.CopyFrom(_message("impression", common.ImpressionOptions, impression))
    if interleave is not None:
        request.interleave.CopyFrom(_message("interleave", common.Interleaving, interleave))


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
             filter: common.TagFilter | Fields | None = None, name_match: bool = False,
             impression: common.ImpressionOptions | Fields | None = None,
             interleave: common.Interleaving | Fields | None = None) -> Plan[ranking.RankResponse]:
        """Orders candidates for a query: position i of the response is candidate
        indices[i] with scores[i]. Any number of candidates: what exceeds the
        server's limits is sent in chunks, all to one version of the model. The
        arguments are the fields of RankRequest.

        With `impression`, {} at least, the server keeps the ranking, and report_events
        refers to it by the impression_id of the response. A ranking with `impression`
        or `interleave` is one list: ValueError if it exceeds a message. A retry may
        keep it twice."""
        request = ranking.RankRequest(
            query=query, titles=_several("titles", titles), ids=ids, document_ids=_several("document_ids", document_ids),
            vectors=vectors, top_k=top_k, min_score=min_score, model=common.ModelRef(name=model, version=version),
            with_titles=with_titles, parts=_enum("parts", _PARTS, parts), with_parts=with_parts,
            filter=_tag_filter(filter), name_match=name_match)
        _set_impression(request, impression, interleave)
        deadline = self._connection.deadline_for()
        # The dimension of vectors is not known yet; their bytes count anyway.
        size = (len(request.titles) + len(request.ids) + len(request.document_ids), request.ByteSize())
        limits = self._limits or ASSUMED_LIMITS
        try:
            if limits.holds(*size):
                return (yield from self._rank_in_one_message(request, deadline))
            limits = yield from self._known_or_fetched(deadline)
            return (yield from self._rank_in_chunks(request, limits, deadline))
        except Error as error:
            # Vectors were not counted, so their message may exceed any limit.
            limits = yield from self._renewed(error, deadline, chunks.NO_LIMITS if request.vectors else limits)
        return (yield from self._rank_in_chunks(request, limits, deadline))

    def rank_stream(self, requests: Iterable[ranking.RankRequest]) -> Giving[tuple[int, ranking.RankResponse | Error]]:
        """Ranks many queries over one stream, which costs the server less per
        query than rank. Iterates, in any order, over pairs: the number of the
        request, and its RankResponse or the server's Error for it. After a broken
        stream, a new one carries the requests without a response and those that
        the server rejected for now. Requests are not split."""
        all_requests = list(_each("requests", requests, ranking.RankRequest))
        deadline = self._connection.deadline_for(len(all_requests))
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
        """Says which words make the score of one title, or of one document of the catalog."""
        request = ranking.ExplainRequest(query=query, model=common.ModelRef(name=model, version=version),
                                         parts=_enum("parts", _PARTS, parts))
        if title is not None and document_id is not None:
            raise ValueError("title and document_id: want one of them")
        if title is not None:
            request.title = title
        elif isinstance(document_id, int):
            request.id = document_id
        elif document_id is not None:
            request.document_id = document_id
        return (yield from self._call("Explain", request))

    def embed(self, texts: Sequence[str], side: Side, *, encoding: Encoding = "float32", model: str = "",
              version: int = 0) -> Plan[embedding.EmbedTextsResponse]:
        """Returns one vector per text, in order; semrank.vectors() decodes them. All
        texts are embedded or none. Any number of texts: many go over a stream, as those of
        embed_stream."""
        request = embedding.EmbedTextsRequest(
            side=_enum("side", _SIDES, side), texts=_several("texts", texts), encoding=_enum("encoding", _ENCODINGS, encoding),
            model=common.ModelRef(name=model, version=version))
        deadline = self._connection.deadline_for()
        if chunks.stream_limits(self._limits or ASSUMED_LIMITS).holds(len(request.texts), request.ByteSize()):
            try:
                response = yield from self._connection.call("EmbedTexts", request, deadline)
            except Error as error:
                if not request.texts or not _may_be_too_large(error):
                    raise
            else:
                check_vectors(request.encoding, len(request.texts), response)
                return response

        def send(parts: list[embedding.EmbedTextsStreamResponse]) -> Plan[None]:
            def use(part: embedding.EmbedTextsStreamResponse) -> tuple[()]:
                for problem in part.problems:
                    error = from_item_status(problem.status, self._connection.options.address)
                    raise self._counted_from(part.first_text, error)
                parts.append(part)
                return ()

            yield from self._embed_over_streams(request.texts, request, use, deadline)

        return chunks.merged_embeddings((yield from self._of_one_version(request.model, send)))

    def embed_stream(self, texts: Iterable[str], side: Side, *, encoding: Encoding = "float32", model: str = "",
                     version: int = 0) -> Giving[embedding.EmbedTextsStreamResponse]:
        """Embeds any number of texts in bounded memory, with one version of the
        model. Iterates over EmbedTextsStreamResponse in the order of the texts:
        one vector per text, zeros for those in `problems`. After a broken stream,
        a new one continues with the first text without a response."""
        request = embedding.EmbedTextsRequest(
            side=_enum("side", _SIDES, side), encoding=_enum("encoding", _ENCODINGS, encoding),
            model=common.ModelRef(name=model, version=version))
        yield from self._embed_over_streams(_each("texts", _several("texts", texts), str), request, lambda part: [Give(part)])

    def _embed_over_streams(self, texts: Iterable[str], request: embedding.EmbedTextsRequest,
                            use: Callable[[embedding.EmbedTextsStreamResponse], Iterable[Give[Any]]],
                            deadline: float | None = None) -> Plan[None]:
        """Embeds `texts` as `request` says. `use` returns what to give for a response."""
        answering = common.ModelRef()
        answering.CopyFrom(request.model)

        def start() -> Callable[[list[str]], embedding.EmbedTextsStreamRequest]:
            # After a reload, a new stream without a version would mix two models;
            # within a stream the version must not change.
            model = common.ModelRef()
            model.CopyFrom(answering)
            return lambda some: embedding.EmbedTextsStreamRequest(
                side=request.side, encoding=request.encoding, model=model, texts=some)

        def take(part: embedding.EmbedTextsStreamResponse, begin: int, done: int,
                 num_left: int) -> tuple[int, Iterable[Give[Any]]]:
            # The server counts from 0 in each stream.
            part.first_text += begin
            check_embed_chunk(request.encoding, num_left, done, part)
            if part.HasField("model"):
                answering.CopyFrom(part.model)
            return part.num_texts, use(part)

        yield from self._over_streams("EmbedTextsStream", texts, start, take, deadline)

    def put(self, documents: Iterable[catalog.Document]) -> Plan[PutResult]:
        """Puts documents into the catalog; a known key is replaced, so repeating is
        safe. Any number of them, in bounded memory. Refused ones are in `problems`."""
        result = PutResult()

        def start() -> Callable[[list[catalog.Document]], catalog.PutDocumentsStreamRequest]:
            return lambda some: catalog.PutDocumentsStreamRequest(documents=some)

        def take(response: catalog.PutDocumentsStreamResponse, begin: int, done: int,
                 num_left: int) -> tuple[int, Iterable[Give[Any]]]:
            num_answered = response.num_created + response.num_replaced + len(response.problems)
            # The server counts from 0 in each stream.
            if begin + response.first_document != done or not 0 < num_answered <= num_left:
                raise invalid_response("it does not account for the documents sent")
            for problem in response.problems:
                problem.index += done
                result.problems.append(problem)
            result.num_created += response.num_created
            result.num_replaced += response.num_replaced
            return num_answered, ()

        yield from self._over_streams("PutDocumentsStream", _each("documents", documents, catalog.Document), start, take)
        return result

    def get(self, keys: Iterable[Key], *, with_payloads: bool = False) -> Plan[list[catalog.Document | None]]:
        """Returns the documents of these keys, in order; None = there is no such document."""
        all_keys = _keys("keys", keys)
        found: dict[Key, catalog.Document] = {}
        make = functools.partial(catalog.GetDocumentsRequest, with_payloads=with_payloads)
        for response in (yield from self._send_keys("GetDocuments", make, all_keys)):
            for document in response.documents:
                found[document.id if document.WhichOneof("key") == "id" else document.document_id] = document
        return [found.get(key) for key in all_keys]

    def delete(self, keys: Iterable[Key]) -> Plan[int]:
        """Deletes documents. Returns how many there were; repeating is safe."""
        responses = yield from self._send_keys("DeleteDocuments", catalog.DeleteDocumentsRequest, _keys("keys", keys))
        return sum(response.num_deleted for response in responses)

    def search(self, query: str, *, top_k: int = 10, offset: int = 0, min_score: float | None = None, model: str = "",
               version: int = 0, with_titles: bool = True, with_payloads: bool = False, exclude: Iterable[Key] = (),
               filter: common.TagFilter | Fields | None = None, parts: Parts = "both", with_parts: bool = False,
               name_match: bool = True, impression: common.ImpressionOptions | Fields | None = None,
               interleave: common.Interleaving | Fields | None = None) -> Plan[catalog.SearchDocumentsResponse]:
        """Finds the best documents of the whole catalog, best first. The arguments are
        the fields of SearchDocumentsRequest; `impression` and `interleave` as in rank."""
        excluded = _by_kind(_keys("exclude", exclude))
        request = catalog.SearchDocumentsRequest(
            query=query, top_k=top_k, offset=offset, min_score=min_score, model=common.ModelRef(name=model, version=version),
            with_titles=with_titles, with_payloads=with_payloads, exclude_ids=excluded["ids"],
            exclude_document_ids=excluded["document_ids"], filter=_tag_filter(filter), parts=_enum("parts", _PARTS, parts),
            with_parts=with_parts, name_match=name_match)
        _set_impression(request, impression, interleave)
        response = yield from self._call("SearchDocuments", request)
        if 0 < top_k < len(response.hits):
            raise invalid_response("more hits than asked for")
        return response

    def report_events(self, events: Iterable[event.Event | Fields] = (), *,
                      impressions: Iterable[event.ShownList | Fields] = ()) -> Plan[event.ReportEventsResponse]:
        """Reports what users did with lists of results, and lists that other systems
        showed: {"impression_id": ..., "kind": "click", "position": 1} is an event.
        Returns once they are kept. Events without an event_id and lists without an
        impression_id get one, so that what a retry keeps twice is counted once in training.
        Reports are not split; one that fails as UNAVAILABLE may be kept in part."""
        request = event.ReportEventsRequest(events=_messages("events", event.Event, events),
                                            impressions=_messages("impressions", event.ShownList, impressions))
        for reported in request.events:
            reported.event_id = reported.event_id or _random_id()
        for shown in request.impressions:
            shown.impression_id = shown.impression_id or _random_id()
        return (yield from self._call("ReportEvents", request))

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
        """Loads a version and makes it current. Needs the admin role; the call is not retried."""
        request = model_service.ReloadModelRequest(model=common.ModelRef(name=model, version=version))
        return (yield from self._connection.call("ReloadModel", request, self._connection.deadline_for(), retries=False))

    def get_limits(self) -> Plan[model_service.Limits]:
        return (yield from self._call("GetLimits", model_service.GetLimitsRequest())).limits

    def check_health(self, service: str = "") -> Plan[bool]:
        """Whether the server accepts calls, for all its services or for one, such as
        "semrank.v1.RankingService". Suits probes: the call is not retried."""
        request = wrappers_pb2.StringValue(value=service)
        serving = 1  # of HealthCheckResponse.ServingStatus
        deadline = self._connection.deadline_for()
        return (yield from self._connection.call("Check", request, deadline, retries=False)).value == serving

    def _call(self, method: str, request: Any) -> Plan[Any]:
        return (yield from self._connection.call(method, request, self._connection.deadline_for()))

    def _fetch_limits(self, deadline: float) -> Plan[MessageLimits]:
        response = yield from self._connection.call("GetLimits", model_service.GetLimitsRequest(), deadline)
        self._limits = chunks.message_limits(response.limits)
        return self._limits

    def _known_or_fetched(self, deadline: float) -> Plan[MessageLimits]:
        return self._limits or (yield from self._fetch_limits(deadline))

    def _renewed(self, error: Error, deadline: float, used: MessageLimits) -> Plan[MessageLimits]:
        """After a message within the limits `used` failed: new limits, if it may have
        been too large for them, because a restarted server may have lower ones. Else
        raises the error."""
        if not _may_be_too_large(error):
            raise error
        try:
            limits = yield from self._fetch_limits(deadline)
        except Error:
            raise error from None
        if limits.holds(*used):
            raise error
        return limits

    def _of_one_version(self, model: common.ModelRef, send: Callable[[list[T]], Plan[None]]) -> Plan[list[T]]:
        """The parts of a response that `send` appends: it sends the first to `model` and
        the others to the version that answered. If `model` names no version and
        that one is unloaded in between, starts over."""
        for attempt in itertools.count(1):
            parts: list[T] = []
            try:
                yield from send(parts)
                return parts
            except Error as error:
                unloaded = parts and model.version == 0 and error.reason == "MODEL_NOT_FOUND"
                if not unloaded or attempt >= self._connection.options.max_attempts:
                    raise
        raise AssertionError

    @staticmethod
    def _counted_from(begin: int, error: Error) -> Error:
        """Lets the caller find "titles[17]" of a chunk in its own request."""
        return error.with_note(f"counted from number {begin}") if begin else error

    def _rank_in_one_message(self, request: ranking.RankRequest, deadline: float) -> Plan[ranking.RankResponse]:
        response = yield from self._connection.call("Rank", request, deadline)
        check_rank(request, response)
        return response

    def _rank_in_chunks(self, request: ranking.RankRequest, limits: MessageLimits,
                        deadline: float) -> Plan[ranking.RankResponse]:
        embedding_dim = 0
        if request.vectors:
            asked = model_service.GetModelRequest(model=request.model)
            embedding_dim = (yield from self._connection.call("GetModel", asked, deadline)).model.embedding_dim
            # The server rejects vectors of another dimension with the better message.
            if embedding_dim == 0 or len(request.vectors) % (4 * embedding_dim):
                return (yield from self._rank_in_one_message(request, deadline))

        def send(parts: list[tuple[int, ranking.RankResponse]]) -> Plan[None]:
            for begin, chunk in chunks.rank_chunks(request, embedding_dim, limits):
                if parts:
                    chunk.model.CopyFrom(parts[0][1].model)
                try:
                    parts.append((begin, (yield from self._rank_in_one_message(chunk, deadline))))
                except Error as error:
                    raise self._counted_from(begin, error) from None

        return chunks.merged_ranking(request.top_k, (yield from self._of_one_version(request.model, send)))

    def _over_streams(self, method: str, items: Iterable[T], start: Callable[[], Callable[[list[T]], Message]],
                      take: Callable[[Any, int, int, int], tuple[int, Iterable[Give[Any]]]],
                      deadline: float | None = None) -> Plan[None]:
        """Sends items over a stream for each block, and after a broken one over another
        that continues it, until all have responses. `start` begins a stream: it
        returns what makes its messages. `take` gets a response, the number of the
        stream's first item, that of the first item without a response, and how many
        of the block have none. It returns how many this one answers, and what to
        give for it. Without a deadline, each block has its own."""
        num_before = 0
        for block in chunks.blocks(items, _BLOCK):
            by = deadline or self._connection.deadline_for(len(block))
            limits = yield from self._known_or_fetched(by)
            retry = Retry(self._connection.options, by)
            done = 0

            def count(begin: int, response: Any) -> Plan[None]:
                nonlocal done
                num_answered, gives = take(response, num_before + begin, num_before + done, len(block) - done)
                done += num_answered
                if num_answered:
                    retry.restart()
                yield from gives

            while True:
                messages = map(start(), chunks.blocks(block[done:], chunks.stream_limits(limits)))
                error, again = yield from self._connection.attempt(method, messages, by, retry, functools.partial(count, done))
                if error is None:
                    break
                if not again:
                    limits = yield from self._renewed(error, by, limits)
            if done != len(block):
                raise invalid_response(f"the stream ended after {done} of {len(block)}")
            num_before += len(block)

    def _send_keys(self, method: str, make: Callable[..., Message], keys: list[Key]) -> Plan[list[Any]]:
        """The responses to the keys, which are sent in messages of a stream's size."""
        limits = yield from self._known_or_fetched(self._connection.deadline_for())
        responses = []
        while keys:
            some = next(chunks.blocks(keys, chunks.stream_limits(limits)))
            try:
                responses.append((yield from self._call(method, make(**_by_kind(some)))))
                keys = keys[len(some):]
            except Error as error:
                limits = yield from self._renewed(error, self._connection.deadline_for(), limits)
        return responses


def _may_be_too_large(error: Error) -> bool:
    """gRPC's own RESOURCE_EXHAUSTED has no reason."""
    if not error.reason:
        return error.code == grpc.StatusCode.RESOURCE_EXHAUSTED
    return error.reason in ("TOO_MANY_TEXTS", "MESSAGE_TOO_LARGE")


def _by_kind(keys: list[Key]) -> dict[str, Any]:
    return {"ids": [key for key in keys if isinstance(key, int)],
            "document_ids": [key for key in keys if isinstance(key, str)]}
