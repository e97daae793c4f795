#!/usr/bin/env python3
"""The server's messages to systemd (sd_notify, watchdog) and its log lines for ready, reload, rollback and key
changes, with the caller who asked for them.

usage: service_test.py PROJECT_DIR BINARY_DIR
"""
import hashlib
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import unittest

PROJECT, BINARIES = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
MODEL = PROJECT / "tests/testdata/reference_model/dssm"
TRACE = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
MAX_WAIT_SECONDS = 60


class ServiceTest(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)

    def start(self, *flags: str, **environment: str) -> subprocess.Popen:
        server = subprocess.Popen(
            [BINARIES / "semrank-server", "--listen_address=127.0.0.1:0", "--http_address=127.0.0.1:0",
             "--log_format=json", *flags], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env={**os.environ, **environment})
        self.addCleanup(self.stop, server)
        return server

    def stop(self, server: subprocess.Popen) -> None:
        server.kill()
        server.wait()
        server.stdout.close()
        server.stderr.close()

    def wait_for(self, server: subprocess.Popen, message: str) -> dict:
        """The first line of the log that begins with `message`."""
        timer = threading.Timer(MAX_WAIT_SECONDS, server.kill)
        timer.start()
        try:
            for line in server.stderr:
                entry = json.loads(line)
                if entry["message"].startswith(message):
                    return entry
        finally:
            timer.cancel()
        self.fail(f"the server did not log '{message}' within {MAX_WAIT_SECONDS} s")

    def write_keys(self, *keys: str) -> None:
        text = "".join(f"admin {hashlib.sha256(key.encode()).hexdigest()}\n" for key in keys)
        (self.folder / "next").write_text(text)
        os.replace(self.folder / "next", self.folder / "keys")

    def make_certificate(self) -> list[str]:
        """Writes cert.pem and key.pem; returns them as flags of the server."""
        openssl = ["openssl", "req", "-x509", "-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1",
                   "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
        subprocess.run([*openssl, "-keyout", self.folder / "key.pem", "-out", self.folder / "cert.pem"], check=True, capture_output=True)
        return [f"--tls_cert={self.folder}/cert.pem", f"--tls_key={self.folder}/key.pem"]

    def test_systemd_hears_that_it_is_ready_alive_and_stopping(self):
        path = self.folder / "notify"
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as notifications:
            notifications.bind(str(path))
            notifications.settimeout(MAX_WAIT_SECONDS)
            server = self.start(f"--model_dir={MODEL}", NOTIFY_SOCKET=str(path), WATCHDOG_USEC="100000")
            heard = [notifications.recv(4096).decode() for _ in range(3)]
            self.assertTrue(heard[0].startswith("READY=1\nSTATUS=ready grpc="), heard)
            self.assertEqual(heard[1:], ["WATCHDOG=1", "WATCHDOG=1"])
            server.send_signal(signal.SIGTERM)
            while (last := notifications.recv(4096).decode()) == "WATCHDOG=1":
                pass
            self.assertTrue(last.startswith("STOPPING=1"), last)
            self.assertEqual(server.wait(MAX_WAIT_SECONDS), 0)

    def test_reloads_rollbacks_and_keys_are_logged_with_who_asked(self):
        self.write_keys("first")
        shutil.copytree(MODEL, self.folder / "shop")
        shutil.copytree(MODEL / "1", self.folder / "shop/2")
        server = self.start(f"--model_dir={self.folder}/shop", f"--api_keys_file={self.folder}/keys",
                            "--enable_admin_rpcs", "--access_log=1", "--model_poll_interval=0")
        self.assertIn("model shop version 2", self.wait_for(server, "loaded")["message"])
        address = re.search(r"grpc=(\S+)", self.wait_for(server, "ready: ")["message"])[1]
        (self.folder / "key").write_text("first")
        client = [BINARIES / "semrank", f"--address={address}", f"--api_key_file={self.folder}/key"]
        subprocess.run([*client, "model", "--reload", "--model_version=1"], check=True, stdout=subprocess.DEVNULL)
        self.assertIn("model shop version 1 in place of 2", self.wait_for(server, "rolled back")["message"])
        call = self.wait_for(server, "admin call")
        self.assertRegex(call["request_id"], "^[0-9a-f]{32}$")
        self.assertEqual((call["method"], call["code"]), ("semrank.v1.ModelService/ReloadModel", "OK"))
        self.assertRegex(call["actor"], f"^key {hashlib.sha256(b'first').hexdigest()[:8]} at ipv4:127.0.0.1:")
        subprocess.run([*client, "model", "--reload"], check=True, stdout=subprocess.DEVNULL)
        self.assertIn("model shop version 2 in place of 1", self.wait_for(server, "reloaded")["message"])
        self.write_keys("first", "second")
        self.assertEqual(self.wait_for(server, "new API keys")["message"], "new API keys are in force: 2 keys")
        server.send_signal(signal.SIGHUP)
        self.assertIn("nothing new", self.wait_for(server, "SIGHUP")["message"])
        shutil.copytree(MODEL / "1", self.folder / "shop/3")
        server.send_signal(signal.SIGHUP)
        self.assertEqual(self.wait_for(server, "SIGHUP")["message"], "SIGHUP: reloaded model shop version 3")

    def test_the_access_log_continues_the_callers_trace_and_spells_codes_as_grpc_does(self):
        server = self.start(f"--model_dir={MODEL}", "--access_log=1")
        http = re.search(r"http=(\S+)", self.wait_for(server, "ready: ")["message"])[1]
        for body, code in (('{"query": "a", "titles": ["b"]}', "OK"), ("{}", "INVALID_ARGUMENT")):
            answer = subprocess.run(["curl", "-sS", "-D", "-", "-d", body, "-H", f"traceparent: {TRACE}",
                                     f"http://{http}/v1/rank"], check=True, capture_output=True, text=True).stdout
            self.assertIn(f"traceparent: {TRACE}", answer)
            line = self.wait_for(server, "request")
            self.assertEqual((line["method"], line["code"], line["traceparent"]), ("POST /v1/rank", code, TRACE))
            self.assertTrue(line["peer"].startswith("ipv4:127.0.0.1:"))
            self.assertNotIn("key", line)
            # The query and the title.
            self.assertEqual((line.get("model"), line.get("texts")),
                             (f"{MODEL.name}/1", 2) if code == "OK" else (None, None))

    def test_a_side_without_tls_is_told_that_the_other_has_it(self):
        tls = self.make_certificate()
        for server_flags, client_flags, hint in (([], [f"--tls_ca={self.folder}/cert.pem"], "the server does not speak TLS there"),
                                                 (tls, [], "connect with TLS")):
            server = self.start(f"--model_dir={MODEL}", *server_flags)
            address = re.search(r"grpc=(\S+)", self.wait_for(server, "ready: ")["message"])[1]
            done = subprocess.run([BINARIES / "semrank", f"--address={address}", *client_flags, "--max_attempts=1", "health"],
                                  capture_output=True, text=True)
            self.assertEqual(done.returncode, 1)
            self.assertIn(hint, done.stderr)
        self.assertIn("a client that does not speak TLS", self.wait_for(server, "gRPC: Handshake failed")["message"])

    def test_a_side_of_http_without_tls_is_told_that_the_other_has_it(self):
        tls = self.make_certificate()
        for server_flags, scheme, seen, logged in (
                ([], "https", "wrong version number", " speaks TLS, this port plain text"),
                (tls, "http", "this port speaks TLS: use https://", " does not speak TLS")):
            server = self.start(f"--model_dir={MODEL}", *server_flags)
            http = re.search(r"http=(\S+)", self.wait_for(server, "ready: ")["message"])[1]
            done = subprocess.run(["curl", "-sSk", f"{scheme}://{http}/"], capture_output=True, text=True)
            self.assertIn(seen, done.stdout + done.stderr)
            line = self.wait_for(server, "HTTP: a client at ipv4:127.0.0.1:")
            self.assertIn(logged, line["message"])
            self.assertEqual(line["level"], "warning")
            ca = [f"--tls_ca={self.folder}/cert.pem"] if server_flags else []
            lost = subprocess.run([BINARIES / "semrank", f"--address={http}", *ca, "--max_attempts=1", "health"], capture_output=True, text=True)
            self.assertIn("not a gRPC port but one for HTTP", lost.stderr)

    def test_a_page_of_another_origin_is_named_in_the_log_with_the_flag_that_allows_it(self):
        server = self.start(f"--model_dir={MODEL}")
        http = re.search(r"http=(\S+)", self.wait_for(server, "ready: ")["message"])[1]
        subprocess.run(["curl", "-sS", "-X", "OPTIONS", "-H", "Origin: http://localhost:5173", f"http://{http}/v1/rank"],
                       check=True, stdout=subprocess.DEVNULL)
        self.assertIn("--cors_origins=http://localhost:5173", self.wait_for(server, "HTTP: calls of web pages")["message"])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
