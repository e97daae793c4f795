"""Client of a semrank server.

    with semrank.Client("127.0.0.1:50051") as client:
        response = client.rank("edit photos", titles=["photo editor", "mail reader"])
        for index, score in zip(response.indices, response.scores): ...

Deadline  covers a call with all its attempts, chunks and streams.
Retries   a call that the server rejects for now is retried after the delay that
          the server asks for, or after a backoff. reload_model and check_health
          are not retried.
Size      any number of texts and documents: rank sends larger requests in chunks,
          but not one with impression or interleave; embed, put and embed_stream
          use streams. Responses of any size are received.
Errors    semrank.Error, with the server's code, message and reason; TypeError and
          ValueError for wrong arguments.
Messages  semrank.v1 has the messages of proto/semrank/v1."""
from __future__ import annotations

import array
import struct
import sys
from collections.abc import Sequence

from semrank._calls import Calls as _Calls, PutResult
from semrank._clients import AsyncClient, Client
from semrank._errors import Error, from_item_status
from semrank._options import Options
from semrank.v1.catalog_service_pb2 import Document, DocumentHit, SearchDocumentsResponse
from semrank.v1.common_pb2 import VECTOR_ENCODING_FLOAT16, VECTOR_ENCODING_INT8, ImpressionOptions, Interleaving, ModelRef
from semrank.v1.common_pb2 import Problem, TagFilter
from semrank.v1.embedding_service_pb2 import EmbedTextsResponse, EmbedTextsStreamResponse
from semrank.v1.event_service_pb2 import Event, ReportEventsResponse, ShownDocument, ShownList
from semrank.v1.ranking_service_pb2 import ExplainResponse, RankRequest, RankResponse

__all__ = ["AsyncClient", "Client", "Document", "DocumentHit", "EmbedTextsResponse", "EmbedTextsStreamResponse", "Error",
           "Event", "ExplainResponse", "ImpressionOptions", "Interleaving", "ModelRef", "Options", "Problem", "PutResult",
           "RankRequest", "RankResponse", "ReportEventsResponse", "SearchDocumentsResponse", "ShownDocument", "ShownList",
           "TagFilter", "from_item_status", "vectors"]


def vectors(response: EmbedTextsResponse | EmbedTextsStreamResponse) -> Sequence[array.array[float]]:
    """The vectors of a response, as float32. With NumPy and the default encoding:
    numpy.frombuffer(response.vectors, "<f4").reshape(-1, response.embedding_dim)."""
    dim = response.embedding_dim
    if dim == 0:
        return []
    if response.encoding == VECTOR_ENCODING_FLOAT16:
        return [array.array("f", row) for row in struct.iter_unpack(f"<{dim}e", response.vectors)]
    if response.encoding == VECTOR_ENCODING_INT8:
        return [array.array("f", (scale * element for element in row))
                for row, scale in zip(struct.iter_unpack(f"{dim}b", response.vectors), response.scales)]
    elements = array.array("f", response.vectors)
    if sys.byteorder == "big":
        elements.byteswap()
    return [elements[i:i + dim] for i in range(0, len(elements), dim)]
