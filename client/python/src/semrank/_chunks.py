"""Splits a request that exceeds the server's limits into chunks, and merges their
responses as if it had been one call. The rules are those of the C++ client
(client/lib/request_chunks.h)."""
from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple, TypeVar

from semrank.v1.common_pb2 import ModelRef, Timings
from semrank.v1.embedding_service_pb2 import EmbedTextsRequest, EmbedTextsResponse
from semrank.v1.model_service_pb2 import Limits
from semrank.v1.ranking_service_pb2 import RankRequest, RankResponse

T = TypeVar("T")

CANDIDATES = ("titles", "ids", "document_ids", "vectors")
_BYTES_AROUND = 11  # upper bound of the tag and length around each item
_COMMON_BYTES = 1_024  # of the fields that every chunk repeats
_NO_LIMIT = 2**31 - 1


class MessageLimits(NamedTuple):
    max_texts: int
    max_bytes: int

    def holds(self, num_texts: int, num_bytes: int) -> bool:
        return num_texts <= self.max_texts and num_bytes <= self.max_bytes


# Assumed until a request exceeds them, so that a client of small requests never
# calls GetLimits; also the limits of a message in a stream, where small ones
# bring the first responses early.
ASSUMED_LIMITS = MessageLimits(1_000, 1 << 20)


def message_limits(limits: Limits) -> MessageLimits:
    return MessageLimits(limits.max_texts_per_request or _NO_LIMIT, min(limits.max_request_bytes or _NO_LIMIT, _NO_LIMIT))


def stream_limits(limits: MessageLimits) -> MessageLimits:
    return MessageLimits(min(limits.max_texts, ASSUMED_LIMITS.max_texts), min(limits.max_bytes, ASSUMED_LIMITS.max_bytes))


class Room:
    """The space that is left in a chunk while it is filled."""

    def __init__(self, limits: MessageLimits, common_bytes: int = 0) -> None:
        self._texts = limits.max_texts
        self._bytes = limits.max_bytes - common_bytes - _COMMON_BYTES
        self._taken = False

    def take(self, num_bytes: int) -> bool:
        """Reserves space for one more item. The first always fits: the server
        then explains what is wrong with it."""
        fits = self._texts > 0 and num_bytes + _BYTES_AROUND <= self._bytes
        if not fits and self._taken:
            return False
        self._texts -= 1
        self._bytes -= num_bytes + _BYTES_AROUND
        self._taken = True
        return True


def size_of(item: Any) -> int:
    if isinstance(item, str):
        return len(item.encode())
    return 8 if isinstance(item, int) else int(item.ByteSize())


def blocks(items: Iterable[T], limits: MessageLimits) -> Iterator[list[T]]:
    """As many items at a time as fit."""
    block: list[T] = []
    room = Room(limits)
    for item in items:
        if not room.take(size_of(item)):
            yield block
            block, room = [], Room(limits)
            room.take(size_of(item))
        block.append(item)
    if block:
        yield block


class RankChunks:
    """The chunks of one request. Candidates are numbered titles first, then ids,
    document ids and vectors."""

    def __init__(self, request: RankRequest, embedding_dim: int, limits: MessageLimits) -> None:
        self._common = RankRequest()
        self._common.CopyFrom(request)
        for name in CANDIDATES:
            self._common.ClearField(name)
        row_bytes = 4 * embedding_dim
        rows = range(0, len(request.vectors), row_bytes) if row_bytes else range(0)
        self._candidates: list[tuple[str, Any]] = [
            *(("titles", title) for title in request.titles), *(("ids", number) for number in request.ids),
            *(("document_ids", name) for name in request.document_ids),
            *(("vectors", request.vectors[i:i + row_bytes]) for i in rows)]
        self._limits = limits
        self.num_items = len(self._candidates)

    def chunk(self, begin: int, model: ModelRef) -> tuple[RankRequest, int]:
        """The request with as many candidates from number `begin` on as fit, and how many."""
        chunk = RankRequest()
        chunk.CopyFrom(self._common)
        chunk.model.CopyFrom(model)
        room = Room(self._limits, self._common.ByteSize())
        end = begin
        vectors = []
        for name, item in self._candidates[begin:]:
            if not room.take(len(item) if name == "vectors" else size_of(item)):
                break
            vectors.append(item) if name == "vectors" else getattr(chunk, name).append(item)
            end += 1
        chunk.vectors = b"".join(vectors)
        return chunk, end - begin


def embed_chunk(request: EmbedTextsRequest, begin: int, model: ModelRef, limits: MessageLimits) -> tuple[EmbedTextsRequest, int]:
    texts: list[str] = next(blocks(request.texts[begin:], limits), [])
    return EmbedTextsRequest(side=request.side, encoding=request.encoding, texts=texts, model=model), len(texts)


def add_rank_chunk(begin: int, chunk: RankResponse, whole: RankResponse) -> None:
    whole.indices.extend(begin + index for index in chunk.indices)
    for name in ("scores", "semantic_scores", "lexical_scores", "titles", "name_matches"):
        getattr(whole, name).extend(getattr(chunk, name))
    for problem in chunk.problems:
        added = whole.problems.add()
        added.CopyFrom(problem)
        added.index += begin
    whole.embedded_titles.extend(begin + title for title in chunk.embedded_titles)
    whole.model.CopyFrom(chunk.model)
    whole.score_kind = chunk.score_kind
    add_timings(chunk.timings, whole.timings)
    for name in ("cache_hits", "cache_misses", "store_hits"):
        setattr(whole, name, getattr(whole, name) + getattr(chunk, name))


def finish_rank(top_k: int, whole: RankResponse) -> None:
    """Sorts the merged ranking as the server does, and keeps the best top_k (0 = all)."""
    matches = list(whole.name_matches) or [0] * len(whole.scores)
    # Stable: chunks were added in order, and each keeps ties in request order.
    order = sorted(range(len(whole.scores)), key=lambda i: (-matches[i], -whole.scores[i]))[:top_k or None]
    for name in ("indices", "scores", "semantic_scores", "lexical_scores", "titles", "name_matches"):
        field = getattr(whole, name)
        if field:
            field[:] = [field[i] for i in order]


def add_embed_chunk(chunk: EmbedTextsResponse, whole: EmbedTextsResponse) -> None:
    whole.vectors += chunk.vectors
    whole.scales.extend(chunk.scales)
    whole.model.CopyFrom(chunk.model)
    for name in ("embedding_dim", "encoding"):
        setattr(whole, name, getattr(chunk, name))
    add_timings(chunk.timings, whole.timings)
    for name in ("cache_hits", "cache_misses"):
        setattr(whole, name, getattr(whole, name) + getattr(chunk, name))


def add_timings(timings: Timings, total: Timings) -> None:
    for field in Timings.DESCRIPTOR.fields:
        setattr(total, field.name, getattr(total, field.name) + getattr(timings, field.name))
