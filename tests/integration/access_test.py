#!/usr/bin/env python3
"""Calls every gRPC method of the descriptors and every HTTP path that the server names with every kind of key and
certificate. A new method or path fails this test until ROLE_OF_METHOD or ROLE_OF_PATH says who may call it.

usage: access_test.py PROJECT_DIR BINARY_DIR
"""
import hashlib
import http.client
import json
import os
import pathlib
import re
import socket
import ssl
import subprocess
import sys
import tempfile
import unittest

os.environ["GRPC_VERBOSITY"] = "NONE"  # the test makes handshakes that fail
import grpc
from google.protobuf import descriptor_pb2

PROJECT = pathlib.Path(sys.argv[1]).resolve()
BINARIES = pathlib.Path(sys.argv[2]).resolve()
# What each role may call; write-events is none of the others.
MAY = {"read": {"read"}, "write": {"read", "write"}, "write-events": {"write-events"}, "admin": {"read", "write", "write-events", "admin"}}
KEYS = {role: f"{role}-key-{hashlib.sha256(role.encode()).hexdigest()[:16]}" for role in MAY}
OPEN = None  # needs neither key nor certificate

ROLE_OF_METHOD = {
    "RankingService": {"Rank": "read", "RankStream": "read", "Explain": "read"},
    "EmbeddingService": {"EmbedTexts": "read", "EmbedTextsStream": "read"},
    "CatalogService": {"PutDocuments": "write", "PutDocumentsStream": "write", "DeleteDocuments": "write",
                       "GetDocuments": "read", "SearchDocuments": "read"},
    "EventService": {"ReportEvents": "write-events"},
    "ModelService": {"GetModel": "read", "ListModels": "read", "GetLimits": "read", "ResolveModel": "read", "ReloadModel": "admin"},
}
ROLE_OF_PATH = {
    **dict.fromkeys(("/v1/events", "/v1/ubi", "/v1/ubi/ubi_events", "/v1/ubi/ubi_queries"), "write-events"),
    "/v1/put": "write", "/v1/put_stream": "write", "/v1/delete": "write", "/v1/reload": "admin",
    **dict.fromkeys(("/v1/get", "/v1/search", "/v1/rank", "/v1/explain", "/v1/embed", "/v1/model", "/v1/models", "/v1/limits", "/v1/list_models",
                     "/v1/resolve_model", "/v1/models/", "/v1/embeddings", "/v1/rerank", "/v2/rerank", "/v2/embed", "/embed", "/rerank", "/info"), "read"),
    **dict.fromkeys(("/", "/api", "/health", "/healthz", "/metrics", "/openapi.json", "/readyz", "/statusz"), OPEN),
}
OPEN_PREFIX = "/pages/"  # style and scripts of the pages
SECRET = "what-lies-beside-the-model"


def issue_certificates(folder: pathlib.Path) -> None:
    """Writes the authorities ca and foreign_ca, and the certificates server, client, expired and foreign."""
    def openssl(*arguments: str) -> None:
        subprocess.run(("openssl", *arguments), check=True, capture_output=True, cwd=folder)

    new_key = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes")
    (folder / "extensions").write_text("subjectAltName=DNS:localhost,IP:127.0.0.1\n")
    for ca in ("ca", "foreign_ca"):
        openssl("req", "-x509", "-days", "2", "-subj", f"/CN={ca}", *new_key, "-keyout", f"{ca}.key", "-out", f"{ca}.pem")
    for name, ca, days in (("server", "ca", "2"), ("client", "ca", "2"), ("expired", "ca", "-1"), ("foreign", "foreign_ca", "2")):
        openssl("req", "-subj", f"/CN={name}", *new_key, "-keyout", f"{name}.key", "-out", f"{name}.csr")
        openssl("x509", "-req", "-days", days, "-CA", f"{ca}.pem", "-CAkey", f"{ca}.key", "-CAcreateserial",
                "-in", f"{name}.csr", "-out", f"{name}.pem", "-extfile", "extensions")


def methods_of_protos(folder: pathlib.Path) -> dict[str, dict[str, bool]]:
    """Maps services to methods to whether they are streams."""
    protos = sorted((PROJECT / "proto/semrank/v1").glob("*.proto"))
    subprocess.run(["protoc", f"-I{PROJECT}/proto", "--include_imports", f"--descriptor_set_out={folder}/set", *protos], check=True)
    files = descriptor_pb2.FileDescriptorSet.FromString((folder / "set").read_bytes()).file
    return {service.name: {method.name: method.client_streaming for method in service.method}
            for file in files if file.package == "semrank.v1" for service in file.service}


class AccessTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(temporary.cleanup)
        cls.folder = pathlib.Path(temporary.name)
        issue_certificates(cls.folder)
        (cls.folder / "keys").write_text("".join(f"{role} {hashlib.sha256(key.encode()).hexdigest()}\n" for role, key in KEYS.items()))
        (cls.folder / "secret").write_text(SECRET)
        (cls.folder / "models").symlink_to(PROJECT / "tests/testdata/reference_model/dssm")
        cls.log = open(cls.folder / "log", "w+")
        cls.addClassCleanup(cls.log.close)
        cls.server = subprocess.Popen(
            [BINARIES / "semrank-server", f"--model_dir={cls.folder}/models", f"--events={cls.folder}/events", "--listen_address=127.0.0.1:0",
             "--http_address=127.0.0.1:0", "--enable_admin_rpcs", "--access_log=1", f"--tls_cert={cls.folder}/server.pem",
             f"--tls_key={cls.folder}/server.key", f"--tls_client_ca={cls.folder}/ca.pem", f"--api_keys_file={cls.folder}/keys"],
            stdout=subprocess.PIPE, stderr=cls.log, text=True)
        cls.addClassCleanup(cls.stop)
        cls.grpc, cls.host, port = re.search(r" grpc=(\S+) http=(\S+):(\d+)", cls.server.stdout.readline()).groups()
        cls.port = int(port)

    @classmethod
    def stop(cls):
        cls.server.terminate()
        cls.server.wait()
        cls.server.stdout.close()

    def setUp(self):
        self.connections = {}

    # gRPC

    def channel(self, certificate: str | None) -> grpc.Channel:
        own = [(self.folder / f"{certificate}.{end}").read_bytes() for end in ("key", "pem")] if certificate else []
        credentials = grpc.ssl_channel_credentials((self.folder / "ca.pem").read_bytes(), *own)
        channel = grpc.secure_channel(self.grpc, credentials, [("grpc.use_local_subchannel_pool", 1)])
        self.addCleanup(channel.close)
        return channel

    def call(self, channel: grpc.Channel, path: str, key: str | None, stream=False, message=b"") -> grpc.StatusCode:
        metadata = [] if key is None else [("authorization", f"Bearer {key}")]
        try:
            if stream:
                list(channel.stream_stream(path)(iter([message]), timeout=30, metadata=metadata))
            else:
                channel.unary_unary(path)(message, timeout=30, metadata=metadata)
            return grpc.StatusCode.OK
        except grpc.RpcError as error:
            return error.code()

    def expected_code(self, role: str, key: str | None) -> set[grpc.StatusCode]:
        caller = next((held for held, secret in KEYS.items() if secret == key), None)
        if caller is None:
            return {grpc.StatusCode.UNAUTHENTICATED}
        if role not in MAY[caller]:
            return {grpc.StatusCode.PERMISSION_DENIED}
        return {grpc.StatusCode.OK, grpc.StatusCode.INVALID_ARGUMENT}  # the message is empty

    def test_every_method_asks_for_its_role(self):
        methods = methods_of_protos(self.folder)
        self.assertEqual({service: set(names) for service, names in methods.items()},
                         {service: set(names) for service, names in ROLE_OF_METHOD.items()},
                         "every method needs a line in ROLE_OF_METHOD")
        channel, wrong = self.channel("client"), KEYS["admin"][:-1]
        for service, names in methods.items():
            for name, stream in names.items():
                for key in (None, "", "unknown", wrong, KEYS["admin"] + "x", *KEYS.values()):
                    with self.subTest(method=name, key=key):
                        code = self.call(channel, f"/semrank.v1.{service}/{name}", key, stream)
                        self.assertIn(code, self.expected_code(ROLE_OF_METHOD[service][name], key))

    def test_no_method_is_reached_without_a_valid_certificate(self):
        for certificate in (None, "expired", "foreign"):
            channel = self.channel(certificate)
            for service, names in methods_of_protos(self.folder).items():
                for name, stream in names.items():
                    with self.subTest(method=name, certificate=certificate):
                        code = self.call(channel, f"/semrank.v1.{service}/{name}", KEYS["admin"], stream)
                        self.assertEqual(code, grpc.StatusCode.UNAVAILABLE)  # no handshake

    def test_health_and_reflection_need_no_key(self):
        channel = self.channel("client")
        self.assertEqual(self.call(channel, "/grpc.health.v1.Health/Check", None), grpc.StatusCode.OK)
        list_services = b"\x3a\x01*"
        self.assertEqual(self.call(channel, "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo", None,
                                   stream=True, message=list_services), grpc.StatusCode.OK)

    # HTTP

    def tls(self, certificate: str | None) -> ssl.SSLContext:
        context = ssl.create_default_context(cafile=self.folder / "ca.pem")
        if certificate:
            context.load_cert_chain(self.folder / f"{certificate}.pem", self.folder / f"{certificate}.key")
        return context

    def connection(self, certificate: str | None) -> http.client.HTTPSConnection:
        """A handshake costs more than a request, so requests with one certificate share a connection."""
        if certificate not in self.connections:
            self.connections[certificate] = http.client.HTTPSConnection(self.host, self.port, timeout=30, context=self.tls(certificate))
            self.addCleanup(self.connections[certificate].close)
        return self.connections[certificate]

    def ask(self, method: str, path: str, key=None, certificate="client", body="{}") -> tuple[int, str]:
        """Code and body; code 0 if the server ended the handshake."""
        connection = self.connection(certificate)
        try:
            connection.request(method, path, body if method == "POST" else None,
                               {} if key is None else {"Authorization": f"Bearer {key}"})
            response = connection.getresponse()
            return response.status, response.read().decode()
        except (ssl.SSLError, ConnectionError):
            connection.close()
            return 0, ""

    def paths(self) -> list[tuple[str, str]]:
        """All (method, path) that the server's 404 lists."""
        code, body = self.ask("GET", "/none")
        self.assertEqual(code, 404)
        lines = [line.rpartition(" ") for line in body.splitlines() if "/" in line]
        return [(method, path) for methods, _, path in lines for method in (methods or "GET").split(", ")]

    def expected_http(self, role: str | None, key: str | None) -> set[int]:
        if role is OPEN:
            return {200}
        return {{grpc.StatusCode.UNAUTHENTICATED: 401, grpc.StatusCode.PERMISSION_DENIED: 403, grpc.StatusCode.OK: 200,
                 grpc.StatusCode.INVALID_ARGUMENT: 400}[code] for code in self.expected_code(role, key)}

    def role_of(self, path: str) -> str | None:
        if path.startswith(OPEN_PREFIX):
            return OPEN
        self.assertIn(path, ROLE_OF_PATH, "every path needs a line in ROLE_OF_PATH")
        return ROLE_OF_PATH[path]

    def test_every_path_asks_for_its_role(self):
        paths = self.paths()
        published = json.loads((PROJECT / "proto/semrank/v1/openapi.json").read_text())["paths"]
        self.assertLessEqual({path.replace("{name}", "") for path in published}, {path for _, path in paths})
        for method, path in paths:
            role = self.role_of(path)
            for key in (None, "unknown", KEYS["admin"][:-1], *KEYS.values()):
                with self.subTest(path=path, method=method, key=key):
                    self.assertIn(self.ask(method, path, key)[0], self.expected_http(role, key))

    def test_no_path_but_pages_is_reached_without_a_valid_certificate(self):
        for method, path in self.paths():
            role = self.role_of(path)
            for certificate, refused in ((None, 403), ("expired", 0), ("foreign", 0)):
                with self.subTest(path=path, method=method, certificate=certificate):
                    open_page = role is OPEN and certificate is None
                    self.assertEqual(self.ask(method, path, KEYS["admin"], certificate)[0], 200 if open_page else refused)

    def raw(self, request: bytes) -> bytes:
        with self.tls("client").wrap_socket(socket.create_connection((self.host, self.port), 30), server_hostname="localhost") as connection:
            connection.sendall(request)
            answer = b""
            while piece := connection.recv(1 << 16):
                answer += piece
            return answer

    def test_no_path_leads_out_of_the_pages(self):
        for path in ("/pages/../../secret", "/pages/..%2f..%2fsecret", "/%2e%2e/secret", "//secret", "/../secret", "/..\\secret",
                     "/pages/%00", "/./metrics", "/v1/../metrics", "/pages//style.css", "/secret%00.css", "file:///etc/passwd"):
            with self.subTest(path=path):
                answer = self.raw(b"GET %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n" % path.encode())
                self.assertRegex(answer, rb"^HTTP/1.1 40[04] ")
                self.assertNotIn(SECRET.encode(), answer)

    def test_a_model_of_a_name_outside_the_folder_does_not_exist(self):
        for name in ("../secret", "..", ".", "/etc", "models/../../secret", "a\0b", "x\r\nSet-Cookie: a=1", "%2e%2e", "a" * 100_000):
            with self.subTest(name=name[:40]):
                body = json.dumps({"query": "q", "titles": ["t"], "model": {"name": name}})
                code, answer = self.ask("POST", "/v1/rank", KEYS["read"], body=body)
                self.assertIn(code, (400, 404))
                self.assertNotIn(SECRET, answer)

    def test_what_a_caller_names_adds_neither_header_nor_log_line(self):
        body = json.dumps({"query": "q", "titles": ["t"], "model": {"name": "m\r\nX-Injected: 1\r\n\r\nINJECTED"}}).encode()
        head = b"POST /v1/rank HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nAuthorization: Bearer %s\r\nContent-Length: %d\r\n"
        for line in (b"", b"X-Request-Id: a\rX-Injected: 1\r\n", b"X-Request-Id: a\nX-Injected: 1\r\n", b"X-Request-Id: a\0b\r\n",
                     b"X-Request-Id: a\r\n\tX-Injected: 1\r\n", b"X-Request-Id: \x1b[2JINJECTED\r\n",
                     b"traceparent: 00-\nINJECTED\r\n", b"X-Request-Id: " + b"a" * 3_000 + b"\r\n"):
            with self.subTest(line=line[:50]):
                answer = self.raw(head % (KEYS["read"].encode(), len(body)) + line + b"\r\n" + body)
                self.assertRegex(answer, rb"^HTTP/1.1 40[04] ")
                self.assertNotRegex(answer.partition(b"\r\n\r\n")[0], rb"(?im)^x-injected|\x1b|\0")
        self.log.flush()
        logged = (self.folder / "log").read_text(errors="replace")
        self.assertNotRegex(logged, r"(?m)^(X-Injected|INJECTED)|\x1b|\0")
        for key in KEYS.values():
            self.assertNotIn(key, logged)

    def test_two_lengths_of_one_body_are_refused(self):
        head = b"POST /v1/limits HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nAuthorization: Bearer %s\r\n" % KEYS["read"].encode()
        for lines in (b"Content-Length: 2\r\nContent-Length: 40\r\n", b"Content-Length: 40\r\nContent-Length: 2\r\n",
                      b"Content-Length: 2, 40\r\n", b"Content-Length: 2\r\nTransfer-Encoding: chunked\r\n",
                      b"Transfer-Encoding: chunked\r\nContent-Length: 2\r\n", b"Content-Length: +2\r\n", b"Content-Length: -1\r\n",
                      b"Content-Length: 0x2\r\n", b"Content-Length: 99999999999999999999\r\n"):
            with self.subTest(lines=lines):
                answer = self.raw(head + lines + b"\r\n{}" + b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n")
                self.assertRegex(answer, rb"^HTTP/1.1 (400|413) ")
                self.assertEqual(answer.count(b"HTTP/1.1 "), 1)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
