"""Splits what exceeds a message into blocks, and merges the responses to the parts
of a request as if it had been one call. The rules are those of the C++ client
(client/lib/request_chunks.h)."""
from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple, TypeVar

from semrank.v1.common_pb2 import Timings
from semrank.v1.embedding_service_pb2 import EmbedTextsResponse, EmbedTextsStreamResponse
from semrank.v1.model_service_pb2 import Limits
from semrank.v1.ranking_service_pb2 import RankRequest, RankResponse

T = TypeVar("T")

_CANDIDATES = ("titles", "ids", "document_ids")
_BYTES_AROUND = 11  # upper bound of the tag and length around each item
_COMMON_BYTES = 1_024  # for the fields that every message of a stream repeats


class MessageLimits(NamedTuple):
    max_texts: int
    max_bytes: int

    def holds(self, num_texts: int, num_bytes: int) -> bool:
        return num_texts <= self.max_texts and num_bytes <= self.max_bytes


# What a message can have at most.
NO_LIMITS = MessageLimits(2**31 - 1, 2**31 - 1)
# A client assumes these limits until a request exceeds them, so that one of small
# requests never calls GetLimits. They also bound a message of a stream, where
# small ones bring the first responses early.
ASSUMED_LIMITS = MessageLimits(1_000, 1 << 20)


def message_limits(limits: Limits) -> MessageLimits:
    given = MessageLimits(limits.max_texts_per_request, limits.max_request_bytes)
    return MessageLimits(*(min(limit or most, most) for limit, most in zip(given, NO_LIMITS)))


def stream_limits(limits: MessageLimits) -> MessageLimits:
    return MessageLimits(*map(min, limits, ASSUMED_LIMITS))


def size_of(item: Any) -> int:
    """Bytes of an item on the wire."""
    if isinstance(item, str):
        return len(item.encode())
    if isinstance(item, bytes):
        return len(item)
    return 8 if isinstance(item, int) else int(item.ByteSize())


def blocks(items: Iterable[T], limits: MessageLimits, size: Callable[[T], int] = size_of) -> Iterator[list[T]]:
    """As many items at a time as fit into a message, at least one: the server then
    explains what is wrong with an item that is too large."""
    block: list[T] = []
    num_bytes = _COMMON_BYTES
    for item in items:
        item_bytes = size(item) + _BYTES_AROUND
        if block and not limits.holds(len(block) + 1, num_bytes + item_bytes):
            yield block
            block, num_bytes = [], _COMMON_BYTES
        block.append(item)
        num_bytes += item_bytes
    if block:
        yield block


def rank_chunks(request: RankRequest, embedding_dim: int, limits: MessageLimits) -> Iterator[tuple[int, RankRequest]]:
    """The requests, at least one, that share the candidates of a request, each with
    the number of its first candidate. Candidates are numbered titles first, then
    ids, document ids and vectors. ValueError for one list that would be several."""
    common = RankRequest()
    common.CopyFrom(request)
    for name in (*_CANDIDATES, "vectors"):
        common.ClearField(name)
    row_bytes = 4 * embedding_dim
    candidates: list[tuple[str, Any]] = [(name, item) for name in _CANDIDATES for item in getattr(request, name)]
    if row_bytes:
        candidates += [("vectors", request.vectors[i:i + row_bytes]) for i in range(0, len(request.vectors), row_bytes)]
    room = MessageLimits(limits.max_texts, limits.max_bytes - common.ByteSize())
    begin = 0
    all_blocks = list(blocks(candidates, room, lambda candidate: size_of(candidate[1]))) or [[]]
    if len(all_blocks) > 1 and (request.HasField("impression") or request.HasField("interleave")):
        raise ValueError("a request with impression or interleave is one list, and this one exceeds a message: "
                         "send fewer candidates")
    for block in all_blocks:
        chunk = RankRequest()
        chunk.CopyFrom(common)
        for name in _CANDIDATES:
            getattr(chunk, name).extend(item for kind, item in block if kind == name)
        chunk.vectors = b"".join(item for kind, item in block if kind == "vectors")
        yield begin, chunk
        begin += len(block)


def merged_ranking(top_k: int, parts: Sequence[tuple[int, RankResponse]]) -> RankResponse:
    """One response from those to the chunks, sorted as the server does; keeps the
    best top_k (0 = all). The server may have ordered a whole ranking by more than scores."""
    if len(parts) == 1:
        return parts[0][1]
    whole = RankResponse()
    for begin, part in parts:
        for numbers in (part.indices, part.embedded_titles):
            numbers[:] = [begin + number for number in numbers]
        for problem in part.problems:
            problem.index += begin
        whole.MergeFrom(part)
    _set_sums(whole, [part for _, part in parts], "cache_hits", "cache_misses", "store_hits")
    matches = list(whole.name_matches) or [0] * len(whole.scores)
    # Stable: the parts are in order, and each keeps ties in request order.
    order = sorted(range(len(whole.scores)), key=lambda i: (-matches[i], -whole.scores[i]))[:top_k or None]
    for name in ("indices", "scores", "semantic_scores", "lexical_scores", "titles", "name_matches"):
        field = getattr(whole, name)
        if field:
            field[:] = [field[i] for i in order]
    returned = set(whole.indices)
    whole.embedded_titles[:] = [title for title in whole.embedded_titles if title in returned]
    return whole


def merged_embeddings(parts: Sequence[EmbedTextsStreamResponse]) -> EmbedTextsResponse:
    """The response to one call from those of a stream, of which the first names the
    model."""
    whole = EmbedTextsResponse(
        vectors=b"".join(part.vectors for part in parts), scales=[scale for part in parts for scale in part.scales],
        embedding_dim=parts[0].embedding_dim, encoding=parts[0].encoding, model=parts[0].model)
    _set_sums(whole, parts, "cache_hits", "cache_misses")
    return whole


def _set_sums(whole: Any, parts: Sequence[Any], *names: str) -> None:
    for name in names:
        setattr(whole, name, sum(getattr(part, name) for part in parts))
    for field in Timings.DESCRIPTOR.fields:
        setattr(whole.timings, field.name, sum(getattr(part.timings, field.name) for part in parts))
