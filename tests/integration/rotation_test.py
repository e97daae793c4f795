#!/usr/bin/env python3
"""The test replaces keys, the server's certificate and the clients' authorities on disk during calls over mTLS: no
permitted call fails, and the new files take effect.

usage: rotation_test.py PROJECT_DIR BINARY_DIR
"""
import hashlib
import http.client
import os
import pathlib
import re
import ssl
import subprocess
import sys
import tempfile
import threading
import time
import unittest

os.environ["GRPC_VERBOSITY"] = "NONE"  # the test makes handshakes that fail
import grpc

PROJECT = pathlib.Path(sys.argv[1]).resolve()
BINARIES = pathlib.Path(sys.argv[2]).resolve()
RANK = "/semrank.v1.RankingService/Rank"
PUT = "/semrank.v1.CatalogService/PutDocuments"
RANK_REQUEST = b"\x0a\x06photos\x12\x06editor"  # query, one title
OK, UNAUTHENTICATED, UNAVAILABLE = grpc.StatusCode.OK, grpc.StatusCode.UNAUTHENTICATED, grpc.StatusCode.UNAVAILABLE
DENIED, INVALID = grpc.StatusCode.PERMISSION_DENIED, grpc.StatusCode.INVALID_ARGUMENT


class RotationTest(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)
        for name in ("server", "new", "steady", "leaving", "coming"):
            self.make_certificate(name)
        self.replace("clients.pem", self.read("steady.pem") + self.read("leaving.pem"))
        self.replace_keys(steady="read", leaving="read", promoted="read")
        self.old, self.new = self.read("server.pem"), self.read("new.pem")
        self.server = subprocess.Popen(
            [BINARIES / "semrank-server", f"--model_dir={PROJECT}/tests/testdata/reference_model/dssm",
             "--listen_address=127.0.0.1:0", "--http_address=127.0.0.1:0", f"--tls_cert={self.folder}/server.pem",
             f"--tls_key={self.folder}/server.key", f"--tls_client_ca={self.folder}/clients.pem",
             f"--api_keys_file={self.folder}/keys"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.addCleanup(self.stop)
        ready = self.server.stdout.readline()
        self.address = re.search(r" grpc=(\S+)", ready)[1]
        self.http_host, self.http_port = re.search(r" http=(\S+):(\d+)", ready).groups()

    def stop(self):
        self.server.terminate()
        self.server.wait()
        self.server.stdout.close()

    def make_certificate(self, name: str) -> None:
        """Writes NAME.pem, which is self-signed, and NAME.key."""
        subprocess.run(["openssl", "req", "-x509", "-days", "2", "-subj", f"/CN={name}", "-addext",
                        "subjectAltName=DNS:localhost,IP:127.0.0.1", "-newkey", "ec", "-pkeyopt",
                        "ec_paramgen_curve:P-256", "-nodes", "-keyout", self.folder / f"{name}.key", "-out",
                        self.folder / f"{name}.pem"], check=True, capture_output=True)

    def read(self, name: str) -> bytes:
        return (self.folder / name).read_bytes()

    def replace(self, name: str, content: bytes) -> None:
        (self.folder / "next").write_bytes(content)
        os.replace(self.folder / "next", self.folder / name)

    def replace_keys(self, **roles: str) -> None:
        lines = (f"{role} {hashlib.sha256(key.encode()).hexdigest()}\n" for key, role in roles.items())
        self.replace("keys", "".join(lines).encode())

    def connect(self, trusted: bytes, client: str) -> grpc.Channel:
        credentials = grpc.ssl_channel_credentials(trusted, self.read(f"{client}.key"), self.read(f"{client}.pem"))
        # Channels that share a connection would share its handshake.
        return grpc.secure_channel(self.address, credentials, [("grpc.use_local_subchannel_pool", 1)])

    def call(self, channel: grpc.Channel, key: str, method: str = RANK, request: bytes = RANK_REQUEST) -> grpc.StatusCode:
        try:
            channel.unary_unary(method)(request, timeout=30, metadata=[("authorization", f"Bearer {key}")])
            return OK
        except grpc.RpcError as error:
            return error.code()

    def call_anew(self, trusted: bytes, client: str = "steady", key: str = "steady", **call) -> grpc.StatusCode:
        with self.connect(trusted, client) as channel:
            return self.call(channel, key, **call)

    def page_is_served(self, trusted: bytes) -> bool:
        """Whether a client over HTTPS that trusts only `trusted` gets the page."""
        context = ssl.create_default_context(cadata=trusted.decode())
        page = http.client.HTTPSConnection(self.http_host, int(self.http_port), timeout=30, context=context)
        try:
            page.request("GET", "/healthz")
            return page.getresponse().status == 200
        except ssl.SSLCertVerificationError:
            return False
        finally:
            page.close()

    def wait_until(self, wanted: grpc.StatusCode, call) -> None:
        end = time.monotonic() + 60
        while (code := call()) != wanted:
            self.assertLess(time.monotonic(), end, f"{code}, not {wanted}, after a minute")

    def test_what_is_replaced_takes_effect_and_no_other_call_fails(self):
        both, codes, over = self.old + self.new, {}, threading.Event()
        trusting_old = self.connect(self.old, "leaving")
        self.addCleanup(trusting_old.close)

        def count(code):
            codes[code] = codes.get(code, 0) + 1

        def over_one_connection():
            with self.connect(both, "steady") as channel:
                while not over.is_set():
                    count(self.call(channel, "steady"))

        def over_many_connections():
            while not over.is_set():
                count(self.call_anew(both))

        threads = [threading.Thread(target=work) for work in (over_one_connection, over_many_connections)]
        for thread in threads:
            thread.start()
        try:
            self.replace_all(trusting_old)
        finally:
            over.set()
            for thread in threads:
                thread.join()
        self.assertEqual(set(codes), {OK}, codes)
        self.assertGreater(codes[OK], 100)

    def replace_all(self, early: grpc.Channel) -> None:
        self.assertEqual(self.call(early, "leaving"), OK)
        self.assertEqual(self.call(early, "coming"), UNAUTHENTICATED)
        self.assertEqual(self.call(early, "promoted", PUT, b""), DENIED)
        self.replace_keys(steady="read", coming="read", promoted="write")
        self.wait_until(OK, lambda: self.call(early, "coming"))
        self.assertEqual(self.call(early, "leaving"), UNAUTHENTICATED)
        self.assertEqual(self.call(early, "promoted", PUT, b""), INVALID)  # no documents

        self.assertEqual(self.call_anew(self.new), UNAVAILABLE)
        self.assertTrue(self.page_is_served(self.old))
        self.assertFalse(self.page_is_served(self.new))
        self.replace("server.key", self.read("new.key"))
        self.replace("server.pem", self.new)
        self.wait_until(OK, lambda: self.call_anew(self.new))
        self.assertEqual(self.call_anew(self.old), UNAVAILABLE)
        self.assertTrue(self.page_is_served(self.new))
        self.assertFalse(self.page_is_served(self.old))

        self.assertEqual(self.call_anew(self.new, "coming"), UNAVAILABLE)
        self.replace("clients.pem", self.read("steady.pem") + self.read("coming.pem"))
        self.wait_until(OK, lambda: self.call_anew(self.new, "coming"))
        self.assertEqual(self.call_anew(self.new, "leaving"), UNAVAILABLE)
        # Open connections stay open.
        self.assertEqual(self.call(early, "coming"), OK)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
