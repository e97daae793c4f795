#!/usr/bin/env python3
"""What version 0.1.0 wrote is read today: its models, its catalog, a run of
`semrank embed` that it left half done, and its messages, all in
tests/testdata/v0.1.0. And no proto changed in a way that breaks callers.

usage: compatibility_test.py PROJECT_DIR BINARY_DIR
       compatibility_test.py PROJECT_DIR BINARY_DIR --write=FOLDER   (with the programs of a release)
       compatibility_test.py PROJECT_DIR BINARY_DIR --accept-protos  (after a deliberate change)
"""
import pathlib
import re
import resource
import shutil
import subprocess
import sys
import tarfile
import tempfile
import unittest

import grpc
from google.protobuf import descriptor_pb2, json_format, message_factory

PROJECT = pathlib.Path(sys.argv[1]).resolve()
BINARIES = pathlib.Path(sys.argv[2]).resolve()
TESTDATA = PROJECT / "tests/testdata"
KEPT = TESTDATA / "v0.1.0"
KEPT_PROTOS = KEPT / "protos.binpb"
# The kept scores come from another machine, perhaps with another order of sums.
TOLERANCE = 1e-5
# More texts than one block; the state file marks the end of a block.
NUM_TEXTS = 22_000
NUM_BYTES_OF_HALF = 340_000

CLICKS = [("fix auto", "car mechanic"), ("edit pictures", "photo editor"), ("cheap flight", "airline booking"),
          ("auto broken", "garage for cars"), ("retouch snapshot", "image program"), ("plane ticket", "travel agency")]
MODELS = {"linear": ["--tower=linear", "--lexical=0.3"], "dssm": ["--tower=dssm", "--hidden=6", "--noshared_towers", "--features=letters+words"],
          "clsm": ["--tower=clsm", "--hidden=6", "--lexical=none"], "ssi": ["--tower=ssi", "--ssi_unknown_word_buckets=16"]}
TITLES = [title for _, title in CLICKS]
# Maps file names to method and request; the test sends them in this order.
CALLS = {
    "rank": ("RankingService/Rank", {"query": "fix auto", "titles": TITLES, "ids": ["7", "99"], "top_k": 4, "with_titles": True}),
    "rank_dssm": ("RankingService/Rank", {"query": "fix auto", "titles": TITLES, "model": {"name": "dssm"}, "min_score": -0.5}),
    "rank_clsm": ("RankingService/Rank", {"query": "edit pictures", "titles": TITLES, "model": {"name": "clsm", "version": "1"}}),
    "rank_ssi": ("RankingService/Rank", {"query": "plane ticket", "titles": TITLES, "model": {"name": "ssi"}, "name_match": True}),
    "explain": ("RankingService/Explain", {"query": "fix auto", "title": "car mechanic"}),
    "embed": ("EmbeddingService/EmbedTexts", {"texts": TITLES, "side": "SIDE_DOCUMENT"}),
    "get": ("CatalogService/GetDocuments", {"ids": ["7", "8", "99"], "document_ids": ["manual"]}),
    "search": ("CatalogService/SearchDocuments", {"query": "edit pictures", "top_k": 3, "with_titles": True, "with_payloads": True}),
}
DOCUMENTS = {"documents": [{"id": "7", "title": "car mechanic", "payload": "AAE=", "tags": ["a"]}, {"id": "8", "title": "deleted"},
                           {"document_id": "manual", "title": "photo editor", "tags": ["a", "b"]}]}


def compile_protos() -> bytes:
    """Returns a FileDescriptorSet in which each file follows its imports."""
    protos = sorted((PROJECT / "proto").rglob("*.proto"))
    with tempfile.NamedTemporaryFile() as file:
        subprocess.run(["protoc", f"-I{PROJECT}/proto", "--include_imports", f"--descriptor_set_out={file.name}", *protos], check=True)
        return file.read()


def serve(models: pathlib.Path, store: pathlib.Path) -> tuple[subprocess.Popen, str]:
    folders = ",".join(f"{name}={models}/{name}" for name in MODELS)
    server = subprocess.Popen([BINARIES / "semrank-server", f"--model_dir={folders}", f"--store=rocksdb:{store}",
                               "--listen_address=127.0.0.1:0", "--http_address=127.0.0.1:0"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    ready = re.search(r" grpc=(\S+)", server.stdout.readline())
    if not ready:
        raise AssertionError(server.communicate()[1])
    return server, ready[1]


def stop(server: subprocess.Popen) -> None:
    server.terminate()
    server.communicate()


class Caller:
    """Sends bytes as they are, so that kept requests are not written anew."""

    def __init__(self, address: str):
        self.channel = grpc.insecure_channel(address)
        self.messages = message_factory.GetMessages(descriptor_pb2.FileDescriptorSet.FromString(compile_protos()).file)

    def __call__(self, method: str, request: bytes) -> bytes:
        return self.channel.unary_unary(f"/semrank.v1.{method}")(request, timeout=30)

    def message(self, method: str, end: str):
        return self.messages[f"semrank.v1.{method.split('/')[1]}{end}"]


def embed_half(folder: pathlib.Path) -> None:
    """Runs `semrank embed` as on a disk that is full after NUM_BYTES_OF_HALF."""
    (folder / "texts.tsv").write_text("".join(f"doc{i}\t{TITLES[i % 6]}\n" for i in range(NUM_TEXTS)))
    limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (NUM_BYTES_OF_HALF, NUM_BYTES_OF_HALF))
    subprocess.run(embed_command(folder), cwd=folder, preexec_fn=limit, stderr=subprocess.DEVNULL)
    (folder / "texts.tsv").unlink()


def embed_command(folder: pathlib.Path) -> list:
    return [BINARIES / "semrank", "embed", "--side=document", "--texts=texts.tsv", "--output=docs.npy", f"--model_dir={folder}/dssm"]


def pack(archive: pathlib.Path, folder: pathlib.Path, pattern: str) -> None:
    """Packs the files without the logs and locks of RocksDB."""
    with tarfile.open(archive, "w:gz") as tar:
        for path in sorted(folder.glob(pattern)):
            tar.add(path, path.name, filter=lambda file: None if pathlib.Path(file.name).name.startswith(("LOG", "LOCK")) else file)


def write(folder: pathlib.Path) -> None:
    folder.mkdir(parents=True)
    models = folder / "models"
    (folder / "clicks.tsv").write_text("".join(f"{query}\t{title}\n" for query, title in CLICKS))
    for name, flags in MODELS.items():
        size = [] if name == "ssi" else ["--batch_size=4"]
        subprocess.run([BINARIES / "semrank-train", f"--train={folder}/clicks.tsv", f"--model_dir={models}/{name}", "--valid_fraction=0",
                        "--embedding_dim=4", "--epochs=2", "--threads=1", *size, *flags], check=True, stdout=subprocess.DEVNULL)
        for file in models.glob(f"{name}/*.*"):
            file.unlink()
    with tempfile.TemporaryDirectory() as temporary:
        temporary = pathlib.Path(temporary)
        (folder / KEPT_PROTOS.name).write_bytes(compile_protos())
        shutil.copytree(models / "dssm", temporary / "dssm")
        embed_half(temporary)
        pack(folder / "embed.tar.gz", temporary, "docs.npy*")
        store = temporary / "store"
        server, address = serve(models, store)
        call = Caller(address)
        for name, (method, request) in {"put": ("CatalogService/PutDocuments", DOCUMENTS),
                                        "delete": ("CatalogService/DeleteDocuments", {"ids": ["8"]}), **CALLS}.items():
            message = json_format.ParseDict(request, call.message(method, "Request")()).SerializeToString()
            (folder / f"{name}.request").write_bytes(message)
            (folder / f"{name}.response").write_bytes(call(method, message))
        stop(server)
        pack(folder / "store.tar.gz", store, "*")


# Protos

def described(set_of_files: bytes) -> dict[str, tuple]:
    """Maps full names to the facts on which callers depend. Names of fields contain the number."""
    found = {}

    def add_message(prefix: str, message) -> None:
        name = f"{prefix}.{message.name}"
        found[f"message {name}"] = ()
        for field in message.field:
            oneof = field.HasField("oneof_index") and not field.proto3_optional and message.oneof_decl[field.oneof_index].name
            found[f"field {field.number} of {name}"] = (field.name, field.Type.Name(field.type), field.Label.Name(field.label),
                                                        field.type_name, f"oneof {oneof}", f"optional {field.proto3_optional}")
        for nested in message.nested_type:
            add_message(name, nested)
        for enum in message.enum_type:
            add_enum(name, enum)

    def add_enum(prefix: str, enum) -> None:
        for value in enum.value:
            found[f"value {value.number} of {prefix}.{enum.name}"] = (value.name,)

    for file in descriptor_pb2.FileDescriptorSet.FromString(set_of_files).file:
        for message in file.message_type:
            add_message(file.package, message)
        for enum in file.enum_type:
            add_enum(file.package, enum)
        for service in file.service:
            for method in service.method:
                found[f"method {file.package}.{service.name}.{method.name}"] = (
                    method.input_type, method.output_type, f"client stream {method.client_streaming}", f"server stream {method.server_streaming}")
    return found


def breaking_changes(kept: bytes, present: bytes) -> list[str]:
    now = described(present)
    return [f"{name}: was {' '.join(map(str, was))}, is {' '.join(map(str, now[name])) if name in now else 'removed'}"
            for name, was in described(kept).items() if now.get(name) != was]


class CompatibilityTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(temporary.cleanup)
        cls.folder = pathlib.Path(temporary.name)
        store = cls.folder / "store"
        with tarfile.open(KEPT / "store.tar.gz") as tar:
            tar.extractall(store)
        cls.server, address = serve(KEPT / "models", store)
        cls.addClassCleanup(stop, cls.server)
        cls.call = Caller(address)
        cls.addClassCleanup(cls.call.channel.close)

    def assert_same(self, kept, present, where: str) -> None:
        if isinstance(kept, dict):
            self.assertLessEqual(set(kept), set(present), where)  # new fields are fine
            for name, value in kept.items():
                self.assert_same(value, present[name], f"{where}.{name}")
        elif isinstance(kept, list):
            self.assertEqual(len(kept), len(present), where)
            for i, value in enumerate(kept):
                self.assert_same(value, present[i], f"{where}[{i}]")
        elif isinstance(kept, float):
            self.assertAlmostEqual(kept, present, delta=TOLERANCE, msg=where)
        else:
            self.assertEqual(kept, present, where)

    def decoded(self, method: str, response: bytes) -> dict:
        message = self.call.message(method, "Response").FromString(response)
        # These fields depend on the moment and the machine.
        for name in ("timings", "cache_hits", "cache_misses", "store_hits", "embedded_titles"):
            if name in message.DESCRIPTOR.fields_by_name:
                message.ClearField(name)
        return json_format.MessageToDict(message, preserving_proto_field_name=True,
                                         descriptor_pool=message.DESCRIPTOR.file.pool)

    def test_its_requests_get_its_answers_from_its_models_and_catalog(self):
        for name, (method, _) in CALLS.items():
            with self.subTest(name):
                kept = self.decoded(method, (KEPT / f"{name}.response").read_bytes())
                present = self.decoded(method, self.call(method, (KEPT / f"{name}.request").read_bytes()))
                if name == "embed":  # Rank compares vectors; here the size suffices
                    kept, present = ({**answer, "vectors": len(answer["vectors"])} for answer in (kept, present))
                self.assert_same(kept, present, name)

    def test_its_puts_and_deletes_are_taken(self):
        for name in ("put", "delete"):
            method = f"CatalogService/{name.capitalize()}Documents"
            request = (KEPT / f"{name}.request").read_bytes()
            self.assertEqual(self.decoded(method, self.call(method, request)).get("problems"), None)

    def test_its_half_done_embedding_goes_on(self):
        with tarfile.open(KEPT / "embed.tar.gz") as tar:
            tar.extractall(self.folder)
        shutil.copytree(KEPT / "models/dssm", self.folder / "dssm")
        (self.folder / "texts.tsv").write_text("".join(f"doc{i}\t{TITLES[i % 6]}\n" for i in range(NUM_TEXTS)))
        run = subprocess.run(embed_command(self.folder), cwd=self.folder, capture_output=True, text=True)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn("continuing after line 20,000", run.stderr)
        self.assertEqual(len((self.folder / "docs.npy.ids").read_text().split()), NUM_TEXTS)

    def test_no_proto_change_breaks_a_caller(self):
        changes = breaking_changes(KEPT_PROTOS.read_bytes(), compile_protos())
        self.assertEqual(changes, [], "\nCallers of published versions break:\n  " + "\n  ".join(changes) +
                         "\nGive a new field a new number and reserve those of deleted ones. If the change is deliberate, say so in the log"
                         f" of changes and run:\n  tests/integration/compatibility_test.py {PROJECT} {BINARIES} --accept-protos")

    def test_a_breaking_change_is_noticed(self):
        def changed(change) -> list[str]:
            files = descriptor_pb2.FileDescriptorSet.FromString(KEPT_PROTOS.read_bytes())
            change(next(file for file in files.file if file.name.endswith("ranking_service.proto")))
            return breaking_changes(KEPT_PROTOS.read_bytes(), files.SerializeToString())

        self.assertEqual(changed(lambda file: file.message_type[0].field.add(name="new", number=999)), [])
        for number, change in enumerate((
                lambda file: setattr(file.message_type[0].field[0], "number", 99), lambda file: setattr(file.message_type[0].field[0], "type", 5),
                lambda file: setattr(file.message_type[0].field[0], "name", "q"), lambda file: setattr(file.message_type[0].field[0], "label", 3),
                lambda file: file.service[0].method.pop(), lambda file: setattr(file.service[0].method[0], "client_streaming", True))):
            with self.subTest(number):
                self.assertEqual(len(changed(change)), 1)


if __name__ == "__main__":
    option = sys.argv[3] if len(sys.argv) > 3 else ""
    if option.startswith("--write="):
        write(pathlib.Path(option.partition("=")[2]))
    elif option == "--accept-protos":
        KEPT_PROTOS.write_bytes(compile_protos())
    else:
        unittest.main(argv=sys.argv[:1])
