"""A real semrank-server behind TLS and API keys, for the tests of clients in
other languages."""
import hashlib
import pathlib
import re
import subprocess

KEY = "reader-key"
WRITE_KEY = "writer-key"
EVENTS_KEY = "reporter-key"
# This many titles can exceed the 4 MB that gRPC receives by default.
MAX_TEXTS = 10_000


def make_certificate(folder: pathlib.Path) -> None:
    """Writes cert.pem, self-signed for localhost, and key.pem."""
    subprocess.run(["openssl", "req", "-x509", "-days", "2", "-subj", "/CN=localhost", "-addext",
                    "subjectAltName=DNS:localhost,IP:127.0.0.1", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
                    "-nodes", "-keyout", folder / "key.pem", "-out", folder / "cert.pem"], check=True, capture_output=True)


class SecureServer:
    """Serves the reference DSSM and keeps events; `address` and `http_address` are HOST:PORT, `certificate` the path of
    what to trust."""

    def __init__(self, project: pathlib.Path, binaries: pathlib.Path, folder: pathlib.Path):
        make_certificate(folder)
        keys = (("read", KEY), ("write", WRITE_KEY), ("write-events", EVENTS_KEY))
        (folder / "keys").write_text("".join(f"{role} {hashlib.sha256(key.encode()).hexdigest()}\n" for role, key in keys))
        self.certificate = folder / "cert.pem"
        self.process = subprocess.Popen(
            [binaries / "semrank-server", f"--model_dir={project}/tests/testdata/reference_model/dssm",
             "--listen_address=127.0.0.1:0", "--http_address=127.0.0.1:0", f"--max_texts_per_request={MAX_TEXTS}",
             f"--events={folder}/events", f"--tls_cert={folder}/cert.pem", f"--tls_key={folder}/key.pem", f"--api_keys_file={folder}/keys"],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        ready = re.search(r" grpc=(\S+) http=(\S+)", self.process.stdout.readline())
        if not ready:
            raise AssertionError("semrank-server did not say that it is ready")
        self.address, self.http_address = ready.groups()

    def peak_memory(self) -> int:
        """Resident memory in bytes."""
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return 1024 * int(re.search(r"VmHWM:\s+(\d+) kB", status)[1])

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait()
        self.process.stdout.close()
