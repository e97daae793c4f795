"""How a client reaches its server: address, deadline, TLS, API key, retries."""
from __future__ import annotations

import dataclasses
import importlib.metadata
import os
import re
from typing import Any

import grpc


@dataclasses.dataclass(frozen=True)
class Options:
    """ValueError, naming the option and its value, if one is bad."""

    address: str = "127.0.0.1:50051"  # HOST:PORT, [IPv6]:PORT, unix:PATH or dns:///HOST:PORT
    # Bounds each call with all its attempts, chunks and streams, and each 1,000
    # items of a stream of the caller's own; math.inf = none.
    deadline_seconds: float = 30.0
    # Every call carries the key; without TLS the network can read it. "" = the
    # environment variable SEMRANK_API_KEY.
    api_key: str = ""
    # The PEM texts of certificates and keys. tls_ca turns TLS on; the others are for
    # mutual TLS.
    tls_ca: bytes = b""
    tls_cert: bytes = b""
    tls_key: bytes = b""
    # Allows plain text to a server on another machine: the network between can
    # read texts and the key.
    plain_text: bool = False
    max_attempts: int = 4  # with the first; 1 = no retries
    initial_backoff_seconds: float = 0.1  # doubles up to the maximum
    max_backoff_seconds: float = 2.0

    def __post_init__(self) -> None:
        _check_address(self.address)
        if not self.deadline_seconds > 0:
            raise ValueError(f"deadline_seconds {self.deadline_seconds}: must be positive")
        if self.max_attempts < 1:
            raise ValueError(f"max_attempts {self.max_attempts}: must be at least 1")
        if bool(self.tls_cert) != bool(self.tls_key):
            raise ValueError("tls_cert and tls_key: want both or neither")
        if self.tls_cert and not self.tls_ca:
            raise ValueError("tls_cert: needs tls_ca, because only TLS uses it")
        if self.tls_ca and self.plain_text:
            raise ValueError("plain_text: excludes tls_ca, which turns TLS on")
        if not (self.tls_ca or self.plain_text or _is_on_this_machine(self.address)):
            raise ValueError(f"server address '{self.address}': is on another machine: want tls_ca, or plain_text=True "
                             "where the network may read all texts")
        if len(self.key()) > 4096 or not all("!" <= c <= "~" for c in self.key()):
            raise ValueError("API key: want at most 4096 visible ASCII characters")

    def key(self) -> str:
        return self.api_key or os.environ.get("SEMRANK_API_KEY", "").strip()

    def metadata(self) -> list[tuple[str, str]]:
        return [("authorization", f"Bearer {self.key()}")] if self.key() else []

    def credentials(self) -> grpc.ChannelCredentials | None:
        if not self.tls_ca:
            return None
        return grpc.ssl_channel_credentials(self.tls_ca, self.tls_key or None, self.tls_cert or None)

    def channel_arguments(self) -> list[tuple[str, Any]]:
        arguments: list[tuple[str, Any]] = [
            # With gRPC's default, 4 MB, the client would reject responses to requests
            # that the server accepts (Limits.max_response_bytes).
            ("grpc.max_receive_message_length", -1),
            ("grpc.max_send_message_length", -1),
            ("grpc.primary_user_agent", f"semrank-python/{importlib.metadata.version('semrank')}"),
            # With gRPC's default of one second, a channel would still be waiting
            # when the last retry of a call fails.
            ("grpc.initial_reconnect_backoff_ms", 100),
            ("grpc.max_reconnect_backoff_ms", 5_000)]
        # gRPC obeys http_proxy for every address, but no proxy reaches our loopback.
        return arguments + [("grpc.enable_http_proxy", 0)] * _is_on_this_machine(self.address)


def _is_on_this_machine(address: str) -> bool:
    return re.match(r"unix:|(dns:///)?(127(\.\d{1,3}){3}|\[::1\]|localhost):", address) is not None


def _check_address(address: str) -> None:
    """gRPC would replace a missing port by 443 and resolve nonsense until the deadline."""
    if address.startswith("unix:") and address != "unix:":
        return
    host, _, port = address.removeprefix("dns:///").rpartition(":")
    scheme = re.match("https?://", address)
    bracketed = host.startswith("[") and host.endswith("]")
    reason = ""
    if scheme:
        reason = f"is a URL: leave {scheme[0]} out, and name the gRPC port, not that of --http_address"
    elif not (port.isascii() and port.isdecimal() and 0 < int(port) < 65536):
        reason = "want HOST:PORT, PORT from 1 to 65535"
    elif not host:
        reason = "has no host"
    elif ":" in host and not bracketed:
        reason = "write an IPv6 host as [HOST]:PORT"
    elif any(c in host for c in " \t/"):
        reason = "want HOST:PORT without blanks, slashes or a scheme"
    if reason:
        raise ValueError(f"server address '{address}': {reason}")
