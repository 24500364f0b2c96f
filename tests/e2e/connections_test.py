"""Connections that are old, idle, too many or hostile: the server closes them and keeps serving."""

import os
import re
import socket
import struct
import tempfile
import time
import unittest

import grpc

import together
from harness import FLOAT32, Server, ServerTest, await_true, pb, pb_grpc, serve

load_tests = together.load_tests

ONE_WORKER = (*FLOAT32, "--workers", "1")
HEADERS, RST_STREAM, SETTINGS, PING, GOAWAY = 1, 3, 4, 6, 7  # frames (RFC 9113, section 6)
ACK, END_HEADERS = 1, 4  # flags of frames
MAX_CONCURRENT_STREAMS = 3
LONG = pb.DecodingOptions(beam_size=4, min_length=400, max_length=500)
ENDLESS = pb.DecodingOptions(beam_size=16, min_length=400, max_length=500)  # minutes of the one worker


def frame(kind, flags, stream, payload):
    return struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + payload


def literal(name, value):
    return b"\0" + bytes([len(name)]) + name + bytes([len(value)]) + value


# The headers of a Translate; 0x83 and 0x86 are POST and http in HPACK's static table.
TRANSLATE = (b"\x83\x86" + literal(b":path", b"/dragoman.v1.TranslationService/Translate")
             + literal(b":authority", b"x") + literal(b"te", b"trailers")
             + literal(b"content-type", b"application/grpc"))


class Http2:
    """An HTTP/2 client that can break the protocol."""

    def __init__(self, address):
        host, port = address.split(":")
        self.socket = socket.create_connection((host, int(port)), timeout=120)
        self.socket.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + frame(SETTINGS, 0, 0, b""))
        self.bytes = b""

    def _take(self, count):
        while len(self.bytes) < count:
            more = self.socket.recv(1 << 16)
            if not more:
                raise EOFError
            self.bytes += more
        taken, self.bytes = self.bytes[:count], self.bytes[count:]
        return taken

    def next_frame(self):
        """Returns (kind, stream, payload); EOFError if the server has hung up."""
        head = self._take(9)
        payload = self._take(int.from_bytes(head[:3], "big"))
        kind, flags, stream = head[3], head[4], int.from_bytes(head[5:], "big")
        if kind in (SETTINGS, PING) and flags == 0:
            self.socket.sendall(frame(kind, ACK, 0, payload if kind == PING else b""))
        return kind, stream, payload


class AgeTest(unittest.TestCase):

    def start(self, *arguments):
        server = Server(*ONE_WORKER, "--max-connection-age", "1s", *arguments)
        self.addCleanup(lambda: self.assertEqual(server.stop(), 0))
        return server

    def test_an_idle_connection_is_told_and_closed(self):
        server = self.start()
        start = time.monotonic()
        client = Http2(server.grpc_address)
        kinds = []
        with self.assertRaises(EOFError):
            while True:
                kinds.append(client.next_frame()[0])
        self.assertIn(GOAWAY, kinds)
        self.assertGreater(time.monotonic() - start, 0.8)  # gRPC adds a jitter of a tenth
        client.socket.close()

    def test_calls_in_flight_end_well_and_so_do_those_that_follow(self):
        server = self.start("--max-connection-age-grace", "10m")
        lost = []  # when the channel learned that its connection is being closed
        channel = server.new_channel()
        channel.subscribe(lambda state: lost.append(time.monotonic())
                          if state != grpc.ChannelConnectivity.READY else None, try_to_connect=True)
        stub = pb_grpc.TranslationServiceStub(channel)
        stub.Translate(pb.TranslateRequest(contents=["Hello"]), timeout=60)
        # Long calls one after the other, until a connection got too old during one, and short ones
        # all the time.
        while True:
            lost.clear()
            long = stub.Translate.future(
                pb.TranslateRequest(contents=["Good morning."] * 4, options=LONG), timeout=600)
            while not long.done():
                stub.Translate(pb.TranslateRequest(contents=["Hello"]), timeout=600)
            self.assertEqual(len(long.result().translations), 4)
            if lost:
                break
        for _ in range(20):
            stub.Translate(pb.TranslateRequest(contents=["Hello"]), timeout=60)
        ended = {dict(labels)["code"]: value
                 for labels, value in server.metrics()["dragoman_requests_total"].items() if value}
        self.assertEqual(list(ended), ["OK"])
        channel.close()

    def test_the_grace_ends_calls_that_last_too_long(self):
        server = self.start("--max-connection-age-grace", "1s")
        channel = server.new_channel()
        with self.assertRaises(grpc.RpcError) as caught:
            pb_grpc.TranslationServiceStub(channel).Translate(
                pb.TranslateRequest(contents=["Good morning."] * 128, options=ENDLESS))
        self.assertEqual(caught.exception.code(), grpc.StatusCode.UNAVAILABLE)  # which can be retried
        await_true(lambda: server.metrics()["dragoman_requests_in_flight"][()] == 0, "its work ends as well")
        channel.close()


class KeepaliveTest(unittest.TestCase):

    def start(self, timeout):
        server = Server(*ONE_WORKER, "--keepalive-time", "1s", "--keepalive-timeout", timeout)
        self.addCleanup(lambda: self.assertEqual(server.stop(), 0))
        return server

    def test_a_client_that_answers_stays(self):
        # A client that the machine keeps waiting for some seconds is not taken for one that has gone.
        client = Http2(self.start("8s").grpc_address)
        pings = 0
        while pings < 3:
            pings += client.next_frame()[0] == PING
        client.socket.setblocking(False)
        with self.assertRaises(BlockingIOError):  # still open
            while True:
                client.next_frame()
        client.socket.close()

    def test_who_does_not_answer_and_who_never_says_hello_go(self):
        server = self.start("2s")
        host, port = server.grpc_address.split(":")
        gone = Http2(server.grpc_address)
        with socket.create_connection((host, int(port)), timeout=120) as silent:
            for connection in (silent, gone.socket):
                while connection.recv(1 << 16):  # including pings, which it does not answer
                    pass
        gone.socket.close()


class UnharmedTest(ServerTest):
    """Whatever a client does, the server serves the next one, and nothing is left behind that keeps it from ending."""

    arguments = (*ONE_WORKER, "--drain-timeout", "1h")

    def tearDown(self):
        translation, = self.server.translate("Good morning.").translations
        self.assertEqual(translation.hypotheses[0].text, "Guten Morgen!")


class HostileTest(UnharmedTest):

    def test_requests_half_sent_do_not_keep_the_probes_out(self):
        # They stay for an hour, so a probe that waited for one of them would not be answered.
        server = serve(self, *ONE_WORKER, "--http-header-timeout", "1h")
        host, port = server.http_address.split(":")
        half = [socket.create_connection((host, int(port))) for _ in range(24)]
        for connection in half:
            connection.sendall(b"GET /metrics HTTP/1.1\r\nHost: x\r\n")
        for path in ("/healthz", "/readyz", "/metrics"):
            self.assertEqual(server.http(path)[0], 200)
        for connection in half:
            connection.close()
        self.assertEqual(server.stop(), 0)

    def test_the_http_port_takes_any_bytes(self):
        host, port = self.server.http_address.split(":")
        for data in (b"A" * 100000 + b"\r\n\r\n", b"GET /" + b"a" * 50000 + b" HTTP/1.1\r\n\r\n",
                     b"GET /metrics HTTP/1.1\r\n" + b"X: y\r\n" * 5000 + b"\r\n",
                     b"POST /metrics HTTP/1.1\r\nContent-Length: 99999999999\r\n\r\n",
                     b"GET /../../../etc/passwd HTTP/1.1\r\n\r\n", b"\0" * 1000 + b"\r\n\r\n"):
            with socket.create_connection((host, int(port)), timeout=120) as connection:
                answer = b""
                try:
                    connection.sendall(data)
                    answer = connection.recv(1 << 16)
                except ConnectionError:  # it hung up before it had read everything
                    continue
                self.assertRegex(answer[:12], rb"HTTP/1.[01] 4|^$", data[:30])
        self.assertEqual(self.server.http("/healthz")[0], 200)

    def test_metadata_over_the_limit_are_refused(self):
        for size in (9_000, 1_000_000):
            channel = self.server.new_channel()
            with self.assertRaises(grpc.RpcError) as caught:
                pb_grpc.TranslationServiceStub(channel).Translate(
                    pb.TranslateRequest(contents=["Hello"]), timeout=60,
                    metadata=[("x-large", "y" * size)])
            self.assertEqual(caught.exception.code(), grpc.StatusCode.RESOURCE_EXHAUSTED)
            channel.close()

    def test_the_log_does_not_quote_what_a_client_sent(self):
        client = Http2(self.server.grpc_address)
        client.socket.sendall(frame(HEADERS, END_HEADERS, 1,
                                    TRANSLATE + literal(b"grpc-encoding", b"sesame")))
        for words in ("parsing metadata", "key=grpc-encoding"):
            self.server.await_log(words)
        self.assertNotIn("sesame", self.server.log_text())
        client.socket.close()

    def test_a_connection_holds_so_many_calls_and_no_more(self):
        client = Http2(self.server.grpc_address)
        kind, _, payload = client.next_frame()
        self.assertEqual(kind, SETTINGS)
        settings = dict(struct.iter_unpack(">HI", payload))
        most = settings[MAX_CONCURRENT_STREAMS]
        self.assertEqual(most, 1024)
        while client.next_frame()[0] != SETTINGS:  # the server's settings, or its acknowledgement of ours
            pass
        # Calls without a message.  At the first one over the limit, the server hangs up.
        sent = 0
        with self.assertRaises((ConnectionError, EOFError)):
            while sent < 2 * most:
                client.socket.sendall(frame(HEADERS, END_HEADERS, 2 * sent + 1, TRANSLATE))
                sent += 1
            while True:
                client.next_frame()
        self.assertGreaterEqual(sent, most)
        client.socket.close()

    def test_a_burst_of_calls_over_one_connection_is_served_or_refused(self):
        futures = [self.server.translation.Translate.future(
            pb.TranslateRequest(contents=["Hello"]), timeout=120) for _ in range(1500)]
        codes = {future.code() for future in futures}
        self.assertLessEqual(codes, {grpc.StatusCode.OK, grpc.StatusCode.RESOURCE_EXHAUSTED})
        self.assertIn(grpc.StatusCode.OK, codes)

    def test_many_connections_that_say_nothing(self):
        host, port = self.server.grpc_address.split(":")
        silent = [socket.create_connection((host, int(port))) for _ in range(300)]
        channel = self.server.new_channel()
        response = pb_grpc.TranslationServiceStub(channel).Translate(
            pb.TranslateRequest(contents=["Hello"]), timeout=60)
        self.assertEqual(len(response.translations), 1)
        channel.close()
        for connection in silent:
            connection.close()


class CompressionTest(UnharmedTest):
    """With a server of its own, whose memory nothing else has grown."""

    def test_compressed_messages_are_refused_before_they_are_unpacked(self):
        self.server.translate("Hello")

        def peak():
            with open(f"/proc/{self.server.process.pid}/status", encoding="ascii") as status:
                return int(re.search(r"VmHWM:\s+(\d+) kB", status.read()).group(1)) << 10

        before = peak()
        for compression in (grpc.Compression.Gzip, grpc.Compression.Deflate):
            with self.assertRaises(grpc.RpcError) as caught:
                self.server.translation.Translate(pb.TranslateRequest(contents=["a" * (50 << 20)]),
                                                  timeout=60, compression=compression)
            self.assertEqual(caught.exception.code(), grpc.StatusCode.UNIMPLEMENTED)
        self.assertLess(peak() - before, 40 << 20)


class TokenFloodTest(unittest.TestCase):

    def test_long_wrong_tokens_against_many_known_ones_cost_little(self):
        with tempfile.TemporaryDirectory() as directory:
            tokens = os.path.join(directory, "tokens")
            with open(tokens, "w", encoding="utf-8") as file:
                for i in range(20_000):
                    file.write(f"user-{i} {i:032}\n")
            server = serve(self, *ONE_WORKER, "--auth-tokens", tokens)
        wrong = [("authorization", "Bearer " + "x" * 4000)]
        before = server.metrics()["process_cpu_seconds_total"][()]
        for _ in range(200):
            with self.assertRaises(grpc.RpcError) as caught:
                server.models.GetModel(pb.GetModelRequest(), metadata=wrong, timeout=60)
            self.assertEqual(caught.exception.code(), grpc.StatusCode.UNAUTHENTICATED)
        # 200 comparisons letter by letter would compare 16,000,000,000 letters.
        self.assertLess(server.metrics()["process_cpu_seconds_total"][()] - before, 5)
        server.channel.close()
        self.assertEqual(server.stop(), 0)


if __name__ == "__main__":
    unittest.main()
