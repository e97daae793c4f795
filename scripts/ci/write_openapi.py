#!/usr/bin/env python3
"""Writes proto/semrank/v1/openapi.json, which the server serves as /openapi.json:
the messages from the .proto files with their comments, the paths and the other
products' forms from the tables below.

  scripts/ci/write_openapi.py           write the file
  scripts/ci/write_openapi.py --check   exit 1 if it is not up to date

Needs protoc and Debian's python3-protobuf.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

from google.protobuf import descriptor_pb2

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
TARGET = ROOT / "proto/semrank/v1/openapi.json"
PROTOS = ["common", "ranking_service", "embedding_service", "catalog_service", "model_service", "event_service", "model_config"]
Field = descriptor_pb2.FieldDescriptorProto

NUMBERS = {"type": "array", "items": {"type": "array", "items": {"type": "number"}}}
BASE64 = {"type": "string", "contentEncoding": "base64"}
ENCODINGS = ["float", "base64", "VECTOR_ENCODING_FLOAT32", "VECTOR_ENCODING_FLOAT16", "VECTOR_ENCODING_INT8"]
# Fields whose JSON is not Protobuf's (server/api/json_request.cc, json_messages.cc).
OVERRIDES = {
    **{f"{message}.vectors": {"oneOf": [NUMBERS, BASE64]}
       for message in ("RankRequest", "EmbedTextsResponse", "GetDocumentsResponse")},
    **{f"{message}.encoding": {"type": "string", "enum": ENCODINGS}
       for message in ("EmbedTextsRequest", "GetDocumentsRequest", "EmbedTextsResponse", "GetDocumentsResponse")},
}
ENCODING_NOTE = ('Over HTTP: "float" (default) = arrays of numbers, "base64" = the bytes of VECTOR_ENCODING_FLOAT32; the other '
                 "values give their bytes as base64.")


def obj(required: list[str], closed: bool = False, **properties) -> dict:
    schema = {"type": "object", "required": required, "properties": properties}
    if not required:
        del schema["required"]
    return schema | ({"additionalProperties": False} if closed else {})


def ref(name: str) -> dict:
    return {"$ref": f"#/components/schemas/{name}"}


def texts(of: dict = {"type": "string"}) -> dict:
    return {"type": "array", "items": of}


STRING, NUMBER, INTEGER, BOOLEAN = ({"type": kind} for kind in ("string", "number", "integer", "boolean"))
ONE_OR_MANY = {"oneOf": [STRING, texts()]}

SERVED = STRING | {"description": "A served model; empty = the default one."}
TEI_CUT = {"truncate": BOOLEAN | {"default": False, "description": "Cut long texts. Without it they are an error."},
           "truncation_direction": {"type": "string", "enum": ["Right", "Left"], "default": "Right"}}

# The forms of other products.
FOREIGN = {
    "OpenAiEmbeddingsRequest": obj(
        ["input"], model=SERVED, input=ONE_OR_MANY | {"description": "Token ids are refused."},
        encoding_format={"type": "string", "enum": ["float", "base64"], "default": "float"},
        dimensions=INTEGER | {"description": "Absent, or what the model has."}, user=STRING | {"description": "Has no effect."},
        input_type=STRING | {"description": "query or document (default); also passage, search_query, search_document."}),
    "OpenAiEmbeddings": obj(
        ["object", "data", "model", "usage"], True, object={"const": "list"},
        data=texts(obj(["object", "index", "embedding"], True, object={"const": "embedding"}, index=INTEGER,
                       embedding={"oneOf": [{"type": "array", "items": NUMBER}, BASE64]})),
        model=STRING, usage=obj(["prompt_tokens", "total_tokens"], True, prompt_tokens=INTEGER, total_tokens=INTEGER)),
    "OpenAiError": obj(["error"], True, error=obj(["message", "type", "param", "code"], True, message=STRING, type=STRING,
                                                  param={"type": ["string", "null"]}, code=STRING)),
    "OpenAiModels": obj(["object", "data"], True, object={"const": "list"},
                        data=texts(ref("OpenAiModel"))),
    "OpenAiModel": obj(["id", "object", "created", "owned_by"], True, id=STRING, object={"const": "model"}, created=INTEGER,
                       owned_by=STRING),
    "RerankRequest": obj(
        ["query", "documents"], model=SERVED, query=STRING,
        documents={"type": "array", "items": {"oneOf": [STRING, {"type": "object"}]}},
        top_n=INTEGER | {"description": "0 or absent = all."}, return_documents=BOOLEAN | {"default": False},
        rank_fields=texts() | {"description": 'Of documents that are objects; default ["text"].'},
        max_tokens_per_doc=INTEGER | {"description": "Words that are kept of a document; 0 or absent = all."},
        max_chunks_per_doc=INTEGER | {"description": "Has no effect: a document is one chunk."},
        priority=INTEGER | {"description": "Has no effect."}),
    "CohereEmbedRequest": obj(
        ["texts", "input_type"], model=SERVED, texts=texts(),
        input_type={"type": "string", "enum": ["search_query", "search_document"]},
        embedding_types={"type": "array", "items": {"type": "string", "enum": ["float", "int8", "base64"]}, "default": ["float"],
                         "description": "uint8, binary and ubinary are refused."},
        output_dimension=INTEGER | {"description": "Absent, or what the model has."},
        truncate={"type": "string", "enum": ["NONE", "START", "END"], "default": "END",
                  "description": "Which end of a text over max_tokens or --max_text_bytes is cut off; NONE = it is an error."},
        max_tokens=INTEGER | {"description": "Words that are kept of a text; 0 or absent = all."},
        priority=INTEGER | {"description": "Has no effect."}) | {"description": "`images` and `inputs` are refused."},
    "CohereEmbeddings": obj(
        ["id", "embeddings", "texts", "meta"], True, id=STRING, response_type={"const": "embeddings_by_type"},
        embeddings=obj([], True, float=NUMBERS, base64=texts(BASE64),
                       int8={"type": "array", "items": {"type": "array", "items": INTEGER},
                             "description": "Each vector is scaled so that its largest element is 127: compare by cosine."}),
        texts=texts(), meta={"type": "object"}),
    "Reranked": obj(
        ["id", "model", "results"], True, id=STRING, model=STRING,
        results=texts(obj(["index", "relevance_score"], True, index=INTEGER,
                          relevance_score=NUMBER | {"description": "The score of Rank: a cosine, no probability."},
                          document=obj(["text"], True, text=STRING))),
        usage=obj([], total_tokens=INTEGER), meta={"type": "object"}),
    "CohereError": obj(["message", "detail"], True, message=STRING, detail=STRING),
    "TeiEmbedRequest": obj(["inputs"], inputs=ONE_OR_MANY,
                           prompt_name=STRING | {"description": "query or document (default)."}, **TEI_CUT,
                           dimensions=INTEGER | {"description": "Absent, or what the model has."},
                           normalize={"const": True, "description": "false is refused: there are no vectors of another length."}),
    "TeiEmbeddings": NUMBERS,
    "TeiRerankRequest": obj(["query", "texts"], query=STRING, texts=texts(), return_text=BOOLEAN | {"default": False}, **TEI_CUT,
                            raw_scores=BOOLEAN | {"description": "true or absent: the scores of Rank. false: their sigmoid."}),
    "TeiRanks": texts(obj(["index", "score"], True, index=INTEGER, score=NUMBER, text=STRING)),
    "TeiInfo": obj(["model_id", "model_dtype", "model_type", "max_concurrent_requests", "max_input_length",
                    "max_batch_tokens", "max_client_batch_size", "auto_truncate", "tokenization_workers", "version"],
                   model_id=STRING, model_sha=STRING, model_dtype=STRING, model_type={"type": "object"},
                   max_concurrent_requests=INTEGER, max_input_length=INTEGER, max_batch_tokens=INTEGER,
                   max_client_batch_size=INTEGER, auto_truncate=BOOLEAN, tokenization_workers=INTEGER, version=STRING),
    "UbiRecords": {"oneOf": [ref("UbiRecord"), texts(ref("UbiRecord"))]},
    "UbiRecord": obj(
        [], query_id=STRING | {"description": "The id of the impression. Records without one are ignored."},
        action_name=STRING | {"description": "Makes the record an event. click_through is click, purchase is conversion."},
        user_query=STRING | {"description": "Makes a record without action_name a list that was shown."},
        query_response_hit_ids=texts() | {"description": "The list, in its order."},
        client_id=STRING | {"description": "The user, kept as keyed hash."}, session_id=STRING,
        application=STRING | {"description": "The name of what ranked."},
        timestamp={"type": ["string", "integer"], "description": "RFC 3339, or milliseconds since 1970."},
        event_attributes=obj([], object=obj([], object_id={"type": ["string", "integer"]}),
                             position=obj([], ordinal=INTEGER | {"description": "From 1."}))),
    "UbiAnswer": obj(["accepted", "ignored", "unknown_impressions"], True, accepted=INTEGER, ignored=INTEGER,
                     unknown_impressions=INTEGER),
    "TeiError": obj(["error", "error_type"], True, error=STRING, error_type=STRING),
}

UBI = [{"query_id": "00112233-4455-6677-8899-aabbccddeeff", "user_query": "running shoes", "query_response_hit_ids": ["7", "gimp"]},
       {"query_id": "00112233-4455-6677-8899-aabbccddeeff", "action_name": "click", "timestamp": "2026-01-13T20:20:39Z",
        "event_attributes": {"object": {"object_id": "7"}, "position": {"ordinal": 1}}}]
SHOES = {"query": "running shoes", "titles": ["desk lamp", "shoes for running"]}
LINES = '{"document_id": "lamp", "title": "desk lamp"}\n{"id": "8", "title": "trail shoes"}\n'
# (tag, path, operationId, summary, request schema, response schema, error schema, examples). The examples are run in
# this order by a test, against a server that has a model and an empty catalog.
CALLS = [
    ("Catalog", "/v1/put", "putDocuments", "Keeps documents", "PutDocumentsRequest", "PutDocumentsResponse", "Status", {
        "two": {"documents": [{"document_id": "gimp", "title": "image editor", "payload": "eyJwcmljZSI6MH0=", "tags": ["graphics"]},
                              {"id": "7", "title": "shoes for running"}]}}),
    ("Catalog", "/v1/put_stream", "putDocumentsStream", "Keeps any number of documents, a line of JSON each", "Document",
     "PutDocumentsStreamResponse", "Status", {"lines": LINES}),
    ("Catalog", "/v1/get", "getDocuments", "Returns documents by key", "GetDocumentsRequest", "GetDocumentsResponse", "Status", {
        "by_key": {"ids": ["7"], "document_ids": ["gimp"], "with_payloads": True, "with_vectors": True}}),
    ("Catalog", "/v1/search", "searchDocuments", "Finds the best documents of the catalog", "SearchDocumentsRequest",
     "SearchDocumentsResponse", "Status", {
         "best": {"query": "running shoes", "top_k": 2, "with_titles": True},
         "filtered": {"query": "editor", "filter": {"include_tags": ["graphics"]}, "with_parts": True}}),
    ("Ranking", "/v1/rank", "rank", "Orders titles for a query", "RankRequest", "RankResponse", "Status", {
        "titles": SHOES | {"top_k": 1, "with_titles": True}, "ids": {"query": "running shoes", "ids": ["7"], "document_ids": ["gimp"]}}),
    ("Ranking", "/v1/explain", "explain", "Says what each word adds to a score", "ExplainRequest", "ExplainResponse", "Status", {
        "title": {"query": "running shoes", "title": "shoes for running"}, "document": {"query": "editor", "document_id": "gimp"}}),
    ("Ranking", "/v1/embed", "embedTexts", "Turns texts into vectors", "EmbedTextsRequest", "EmbedTextsResponse", "Status", {
        "numbers": {"side": "SIDE_DOCUMENT", "texts": ["desk lamp"]},
        "base64": {"side": "SIDE_QUERY", "texts": ["lamp"], "encoding": "base64"}}),
    ("Models", "/v1/model", "getModel", "Describes a model", "GetModelRequest", "GetModelResponse", "Status", {"current": {}}),
    ("Models", "/v1/resolve_model", "resolveModel", "Names the version that answers", "ResolveModelRequest", "ResolveModelResponse",
     "Status", {"default": {}}),
    ("Models", "/v1/list_models", "listModels", "Lists versions of models with their states", "ListModelsRequest", "ListModelsResponse", "Status",
     {"all": {}}),
    ("Models", "/v1/reload", "reloadModel", "Loads, pins or rolls back a version", "ReloadModelRequest", "ReloadModelResponse",
     "Status", {"newest": {"model": {"version": "0"}}}),
    ("Models", "/v1/limits", "getLimits", "The server's limits", "GetLimitsRequest", "GetLimitsResponse", "Status", {"all": {}}),
    ("Catalog", "/v1/delete", "deleteDocuments", "Deletes documents by key", "DeleteDocumentsRequest", "DeleteDocumentsResponse",
     "Status", {"by_key": {"ids": ["7"], "document_ids": ["gimp"]}}),
    ("Events", "/v1/events", "reportEvents", "Keeps clicks on lists that were shown", "ReportEventsRequest", "ReportEventsResponse",
     "Status", {"click": {"events": [{"impression_id": "WkLT0WkYQ7OUV7ydQH8m1g", "kind": "click", "position": 1}]}}),
    *(("Events", path, operation, summary, "UbiRecords", "UbiAnswer", "Status", {"records": UBI}) for path, operation, summary in (
        ("/v1/ubi", "reportUbi", "Keeps records of OpenSearch's User Behavior Insights 1.3"),
        ("/v1/ubi/ubi_events", "reportUbiEvents", "The same, for the JavaScript client of UBI"),
        ("/v1/ubi/ubi_queries", "reportUbiQueries", "The same, for the JavaScript client of UBI"))),
    ("OpenAI", "/v1/embeddings", "openAiEmbeddings", "Embeddings as OpenAI's API", "OpenAiEmbeddingsRequest", "OpenAiEmbeddings",
     "OpenAiError", {"one": {"model": "", "input": "desk lamp"}, "query": {"input": ["lamp"], "input_type": "query"}}),
    ("Cohere and Jina", "/v1/rerank", "rerankV1", "Rerank as Cohere's version 1 and Jina", "RerankRequest", "Reranked", "CohereError",
     {"texts": {"query": "shoes", "documents": ["desk lamp", {"text": "trail shoes"}], "return_documents": True}}),
    ("Cohere and Jina", "/v2/rerank", "rerankV2", "Rerank as Cohere's version 2", "RerankRequest", "Reranked", "CohereError",
     {"texts": {"query": "shoes", "documents": ["desk lamp", "trail shoes"], "top_n": 1}}),
    ("Cohere and Jina", "/v2/embed", "embedV2", "Embeddings as Cohere's version 2", "CohereEmbedRequest", "CohereEmbeddings",
     "CohereError", {"float": {"texts": ["desk lamp"], "input_type": "search_document"},
                     "types": {"texts": ["lamp"], "input_type": "search_query", "embedding_types": ["int8", "base64"]}}),
    ("Text Embeddings Inference", "/embed", "teiEmbed", "Embeddings", "TeiEmbedRequest", "TeiEmbeddings", "TeiError",
     {"one": {"inputs": "desk lamp"}, "queries": {"inputs": ["lamp", "shoes"], "prompt_name": "query"}}),
    ("Text Embeddings Inference", "/rerank", "teiRerank", "Ranks texts for a query", "TeiRerankRequest", "TeiRanks", "TeiError",
     {"texts": {"query": "shoes", "texts": ["desk lamp", "trail shoes"], "return_text": True}}),
]
# (tag, path, operationId, summary, response schema; None = text)
PAGES = [
    ("Models", "/v1/model", "readModel", "Describes the default model", "GetModelResponse"),
    ("Models", "/v1/resolve_model", "resolveDefaultModel", "The version of the default model that answers", "ResolveModelResponse"),
    ("Models", "/v1/limits", "readLimits", "The server's limits", "GetLimitsResponse"),
    ("Models", "/v1/list_models", "listAllModels", "Lists versions of models with their states", "ListModelsResponse"),
    ("OpenAI", "/v1/models", "openAiModels", "The served models as OpenAI's API", "OpenAiModels"),
    ("OpenAI", "/v1/models/{name}", "openAiModel", "One served model as OpenAI's API", "OpenAiModel"),
    ("Text Embeddings Inference", "/info", "teiInfo", "The default model and the limits", "TeiInfo"),
    ("Operation", "/health", "teiHealth", "200 while the server is ready, else 503", None),
    ("Operation", "/healthz", "healthz", "200 while the process lives", None),
    ("Operation", "/readyz", "readyz", "200 while the server is ready, else 503", None),
    ("Operation", "/metrics", "metrics", "Metrics in Prometheus' text format", None),
]
TAGS = {
    "Ranking": "Scores and vectors of texts.", "Catalog": "Documents known by id.", "Models": "What is served.",
    "Events": "What users did with results; needs --events.",
    "OpenAI": "For clients of OpenAI's embeddings API.", "Cohere and Jina": "For clients of their rerank and embed APIs.",
    "Text Embeddings Inference": "For clients of Hugging Face's server.", "Operation": "For probes and scrapers; without a key.",
}
DESCRIPTION = """The messages of the gRPC API `semrank.v1` as JSON, and the forms of other products' APIs.

* Field names are those of the .proto files; 64-bit integers may be strings and come back as such; `bytes` are base64.
* With API keys: `Authorization: Bearer KEY`. `x-request-id` and `traceparent` come back.
* An error has the HTTP code of the same meaning, and `Retry-After` with 429. Its body is a `google.rpc.Status` with one
  `google.rpc.ErrorInfo`, or what clients of the other product expect.
* Responses are compressed for clients that accept gzip."""


def comment_of(location) -> str:
    """The leading comment, its paragraphs on one line each."""
    paragraphs = location.leading_comments.strip().split("\n\n") if location else []
    return "\n\n".join(" ".join(line.strip() for line in paragraph.splitlines()) for paragraph in paragraphs)


class Schemas:
    """Messages and enums of the .proto files as JSON schemas, by their short names."""

    SCALARS = {
        **dict.fromkeys((Field.TYPE_INT64, Field.TYPE_UINT64, Field.TYPE_FIXED64, Field.TYPE_SINT64), {"type": ["string", "integer"]}),
        **dict.fromkeys((Field.TYPE_INT32, Field.TYPE_UINT32, Field.TYPE_FIXED32, Field.TYPE_SINT32), INTEGER),
        **dict.fromkeys((Field.TYPE_FLOAT, Field.TYPE_DOUBLE), NUMBER),
        Field.TYPE_BOOL: BOOLEAN, Field.TYPE_STRING: STRING, Field.TYPE_BYTES: BASE64,
    }
    KNOWN = {".google.protobuf.Timestamp": {"type": "string", "format": "date-time"},
             ".google.rpc.Status": ref("Status")}

    def __init__(self, files):
        self.schemas = {"Status": obj(
            ["code"], True, code=INTEGER | {"description": "gRPC's number."}, message=STRING,
            details=texts(obj(["@type"], **{"@type": STRING, "reason": STRING | {"description": "See proto/README.md."}})))}
        self.schemas["Status"]["description"] = "google.rpc.Status: an error."
        for file in files:
            comments = {tuple(place.path): place for place in file.source_code_info.location}
            for number, message in enumerate(file.message_type):
                self.add_message(message, comments, (4, number))
            for number, enum in enumerate(file.enum_type):
                self.add_enum(enum, comments, (5, number))

    def add_enum(self, enum, comments, path):
        values = "\n".join(f"* `{value.name}`: {comment_of(comments.get((*path, 2, number)))}" for number, value in enumerate(enum.value))
        self.schemas[enum.name] = {"type": "string", "enum": [value.name for value in enum.value],
                                   "description": f"{comment_of(comments.get(path))}\n\n{values}".strip()}

    def add_message(self, message, comments, path):
        maps = {}
        for number, nested in enumerate(message.nested_type):
            if nested.options.map_entry:
                maps[nested.name] = nested
            else:
                self.add_message(nested, comments, (*path, 3, number))
        for number, nested in enumerate(message.enum_type):
            self.add_enum(nested, comments, (*path, 4, number))
        properties = {}
        for number, field in enumerate(message.field):
            name = f"{message.name}.{field.name}"
            schema = dict(OVERRIDES.get(name) or self.field_schema(field, maps))
            description = ENCODING_NOTE if name in OVERRIDES and field.name == "encoding" else comment_of(comments.get((*path, 2, number)))
            properties[field.name] = schema | ({"description": description} if description else {})
        self.schemas[message.name] = obj([], True, **properties) | {"description": comment_of(comments.get(path)) or message.name}

    def field_schema(self, field, maps) -> dict:
        name = field.type_name.rsplit(".", 1)[-1]
        if name in maps:
            return {"type": "object", "additionalProperties": self.value_schema(maps[name].field[1])}
        schema = self.value_schema(field)
        return {"type": "array", "items": schema} if field.label == Field.LABEL_REPEATED else schema

    def value_schema(self, field) -> dict:
        if field.type in self.SCALARS:
            return self.SCALARS[field.type]
        return self.KNOWN.get(field.type_name) or ref(field.type_name.rsplit(".", 1)[-1])

    def reachable(self, roots: list[str]) -> dict:
        found, waiting = {}, list(roots)
        while waiting:
            name = waiting.pop()
            if name in found:
                continue
            found[name] = self.schemas.get(name) or FOREIGN[name]
            text = json.dumps(found[name])
            waiting += [part.split('"', 1)[0] for part in text.split("#/components/schemas/")[1:]]
        return dict(sorted(found.items()))


def content(schema: dict, kind: str = "application/json", examples: dict | None = None) -> dict:
    named = {"examples": {name: {"value": value} for name, value in examples.items()}} if examples else {}
    return {kind: {"schema": schema, **named}}


def call(tag, _path, operation, summary, request, response, error, examples) -> dict:
    lines = operation == "putDocumentsStream"
    kind = "application/x-ndjson" if lines else "application/json"
    body = STRING | {"description": f"A {request} as JSON a line."} if lines else ref(request)
    answer = STRING | {"description": f"A {response} as JSON a line; after an error its Status."} if lines else ref(response)
    return {"tags": [tag], "operationId": operation, "summary": summary,
            "requestBody": {"required": True, "content": content(body, kind, examples)},
            "responses": {"200": {"description": summary + ".", "content": content(answer, kind)},
                          "4XX": {"description": "The caller can fix it, or come back later (429).", "content": content(ref(error))},
                          "5XX": {"description": "The server cannot answer now (503, 504), or has a bug.", "content": content(ref(error))}}}


def page(tag, path, operation, summary, response) -> dict:
    answer = content(ref(response)) if response else content(STRING, "text/plain")
    responses = {"200": {"description": summary + ".", "content": answer},
                 "4XX": {"description": "Not with this key, or not by this method."}}
    if path in ("/health", "/readyz"):
        responses["503"] = {"description": "Not ready, and why.", "content": content(STRING, "text/plain")}
    security = {} if response else {"security": []}
    parameters = {"parameters": [{"name": "name", "in": "path", "required": True, "schema": STRING,
                                  "description": "As requests name the model."}]} if "{name}" in path else {}
    return {"tags": [tag], "operationId": operation, "summary": summary, **security, **parameters, "responses": responses}


def read_protos():
    with tempfile.NamedTemporaryFile() as out:
        subprocess.run(["protoc", f"-I{ROOT}/proto", "--include_source_info", f"--descriptor_set_out={out.name}",
                        *(f"semrank/v1/{name}.proto" for name in PROTOS)], check=True)
        return descriptor_pb2.FileDescriptorSet.FromString(pathlib.Path(out.name).read_bytes()).file


def document() -> dict:
    paths: dict[str, dict] = {}
    for row in CALLS:
        paths.setdefault(row[1], {})["post"] = call(*row)
    for row in PAGES:
        paths.setdefault(row[1], {})["get"] = page(*row)
    roots = [name for row in CALLS for name in row[4:7]] + [row[4] for row in PAGES if row[4]]
    version = next(line.split()[2] for line in (ROOT / "CMakeLists.txt").read_text().splitlines() if line.startswith("project("))
    return {
        "openapi": "3.1.0",
        "info": {"title": "semrank", "version": version, "description": DESCRIPTION,
                 "license": {"name": "Apache 2.0", "identifier": "Apache-2.0"}},
        "servers": [{"url": "/"}],
        "security": [{}, {"key": []}],
        "tags": [{"name": name, "description": text} for name, text in TAGS.items()],
        "paths": paths,
        "components": {"securitySchemes": {"key": {"type": "http", "scheme": "bearer"}},
                       "schemas": Schemas(read_protos()).reachable([*roots, "PutDocumentsStreamResponse"])},
    }


def main() -> int:
    text = json.dumps(document(), indent=1, ensure_ascii=False) + "\n"
    if "--check" not in sys.argv:
        TARGET.write_text(text, encoding="utf-8")
        return 0
    if TARGET.exists() and TARGET.read_text(encoding="utf-8") == text:
        return 0
    print(f"{TARGET} is not up to date: run scripts/ci/write_openapi.py", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
