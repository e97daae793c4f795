"""Checks responses, because callers index arrays with numbers that come from
another machine. The rules are those of the C++ client (response_check.h)."""
from __future__ import annotations

from typing import Any

from semrank._errors import invalid_response
from semrank.v1.common_pb2 import VECTOR_ENCODING_FLOAT16, VECTOR_ENCODING_FLOAT32, VECTOR_ENCODING_INT8
from semrank.v1.embedding_service_pb2 import EmbedTextsResponse, EmbedTextsStreamResponse
from semrank.v1.ranking_service_pb2 import RankRequest, RankResponse

BYTES_PER_ELEMENT = {VECTOR_ENCODING_FLOAT32: 4, VECTOR_ENCODING_FLOAT16: 2, VECTOR_ENCODING_INT8: 1}


def _want(field: str, value: int, good: bool, want: str) -> None:
    if not good:
        raise invalid_response(f"{field} is {value}, {want}")


def check_rank(request: RankRequest, response: RankResponse) -> None:
    num_ranked = len(response.indices)
    _want("the number of scores", len(response.scores), len(response.scores) == num_ranked, f"that of indices {num_ranked}")
    for scores in (response.semantic_scores, response.lexical_scores):
        _want("the number of scores of a part", len(scores), len(scores) in (0, num_ranked), f"that of indices {num_ranked}")
    for name, asked in (("titles", request.with_titles), ("name_matches", request.name_match)):
        value, want = len(getattr(response, name)), num_ranked if asked else 0
        _want(f"the number of {name}", value, value == want, f"wanted {want}")
    # An upper bound: the dimension is not known here.
    most = len(request.titles) + len(request.ids) + len(request.document_ids) + len(request.vectors) // 4
    for index in (*response.indices, *(problem.index for problem in response.problems), *response.embedded_titles):
        _want("a candidate number", index, index < most, f"of candidates {most}")


def check_vectors(asked: Any, num_rows: int, response: EmbedTextsResponse | EmbedTextsStreamResponse) -> None:
    want = asked or VECTOR_ENCODING_FLOAT32
    _want("the encoding", response.encoding, response.encoding == want, f"wanted {want}")
    row_bytes = response.embedding_dim * BYTES_PER_ELEMENT[want]
    if len(response.vectors) != num_rows * row_bytes:
        raise invalid_response(f"{len(response.vectors)} bytes of vectors for {num_rows} rows "
                               f"with {response.embedding_dim} dimensions")
    want_scales = num_rows if want == VECTOR_ENCODING_INT8 else 0
    _want("the number of scales", len(response.scales), len(response.scales) == want_scales, f"wanted {want_scales}")


def check_embed_chunk(asked: Any, num_left: int, first_text: int, chunk: EmbedTextsStreamResponse) -> None:
    _want("the first text of a chunk", chunk.first_text, chunk.first_text == first_text, f"wanted {first_text}")
    _want("the number of texts in a chunk", chunk.num_texts, chunk.num_texts <= num_left, f"not answered before {num_left}")
    for problem in chunk.problems:
        good = problem.index < chunk.num_texts
        _want("the number of a text with a problem", problem.index, good, f"of texts {chunk.num_texts}")
    check_vectors(asked, chunk.num_texts, chunk)
