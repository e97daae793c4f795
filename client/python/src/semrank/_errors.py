"""The one exception of this package for what a server or the network says."""
from __future__ import annotations

import grpc

from semrank._google_rpc import error_details, status
from semrank._options import Options


class Error(Exception):
    """A call failed, or one item of it.

    code      grpc.StatusCode, as the server's
    message   names the server, the field, the value and the limit
    reason    machine-readable, as in proto/README.md; "" if the server was not
              reached or gave none
    metadata  the values beside the reason
    retry_delay_seconds  how long the server asks to wait; None = it does not say
    """

    def __init__(self, code: grpc.StatusCode, message: str, details: status.Status | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.reason = ""
        self.metadata: dict[str, str] = {}
        self.retry_delay_seconds: float | None = None
        self.details = details
        for detail in details.details if details else ():
            info, retry = error_details.ErrorInfo(), error_details.RetryInfo()
            if detail.Unpack(info):
                self.reason, self.metadata = info.reason, dict(info.metadata)
            elif detail.Unpack(retry) and retry.HasField("retry_delay"):
                self.retry_delay_seconds = retry.retry_delay.seconds + 1e-9 * retry.retry_delay.nanos

    def with_note(self, note: str) -> Error:
        return Error(self.code, f"{self.message} ({note})", self.details)


_CODES = {code.value[0]: code for code in grpc.StatusCode}


def from_item_status(item: status.Status, address: str = "") -> Error:
    """The error of one item (Problem.status). Never OK. Names the server if its
    address is given."""
    code = _CODES.get(item.code, grpc.StatusCode.UNKNOWN)
    message = f"{address}: {item.message}" if address else item.message
    return Error(grpc.StatusCode.UNKNOWN if code == grpc.StatusCode.OK else code, message, item)


def trailer(failed: grpc.RpcError, name: str) -> str | bytes | None:
    for key, value in failed.trailing_metadata() or ():
        if key == name:
            return value
    return None


def _protocol_hint(text: str, uses_tls: bool) -> str:
    """What it usually means when the two sides speak different protocols; gRPC
    says no more than that the connection failed."""
    if "http1.x server" in text or "missing selected ALPN" in text:
        return " (that is not a gRPC port but one for HTTP: gRPC has another)"
    if uses_tls and "wrong version number" in text:
        return " (the server does not speak TLS there: leave tls_ca out)"
    if not uses_tls and "failed to connect" in text and "Socket closed" in text:
        return " (it closed the connection at once: a server that speaks TLS does so, set tls_ca)"
    return ""


def from_rpc_error(failed: grpc.RpcError, options: Options, num_attempts: int) -> Error:
    """gRPC's own errors name neither the address nor what was attempted; a server
    that was reached always sends ErrorInfo."""
    packed = trailer(failed, "grpc-status-details-bin")
    details = status.Status.FromString(packed) if isinstance(packed, bytes) else None
    text = failed.details() or failed.code().name
    address = options.address
    message = f"{address}: {text}"
    if details is None and failed.code() == grpc.StatusCode.UNAVAILABLE:
        message = f"cannot reach {address}: {text}{_protocol_hint(text, bool(options.tls_ca))}"
    if details is None and failed.code() == grpc.StatusCode.DEADLINE_EXCEEDED:
        message = f"{address}: no answer before the deadline ({options.deadline_seconds:g} s; in a stream, for each 1,000 items)"
    error = Error(failed.code(), message, details)
    return error if num_attempts <= 1 else error.with_note(f"tried {num_attempts} times")


def invalid_response(what: str) -> Error:
    return Error(grpc.StatusCode.INTERNAL, f"invalid response from the server: {what}")
