"""Thousands of hostile requests: each gets an error code or is cut off, and the server survives without a leak.

DRAGOMAN_HOSTILE_REQUESTS sets their number (default 2,000).
"""

import contextlib
import os
import random
import re
import socket
import threading
import unittest

from harness import FLOAT32, ServerTest, seed, serve

JSON = b"Content-Type: application/json\r\n"
GOOD = b'{"contents": ["Good morning."]}'


def post(body, headers=JSON, path=b"/v1/translate", length=None):
    size = b"%d" % (len(body) if length is None else length)
    return (b"POST " + path + b" HTTP/1.1\r\nHost: x\r\n" + headers + b"Content-Length: " + size +
            b"\r\n\r\n" + body)


def hostile(rng):
    """Returns (description, bytes, allowed codes), where 0 means that the connection was closed."""
    noise = bytes(rng.randrange(256) for _ in range(rng.randrange(1, 200)))
    depth = rng.randrange(200, 60_000)
    good = post(GOOD)
    return rng.choice((
        ("noise", noise + b"\r\n\r\n", {0, 400, 505}),
        ("torn", good[:rng.randrange(1, len(good))], {0, 400}),
        ("huge length", post(b"", length=1 << rng.randrange(21, 70)), {400, 413}),
        ("huge body", post(b"[" + b"1," * (1 << 20)), {0, 413}),
        ("huge header", b"GET / HTTP/1.1\r\nX: " + b"a" * rng.randrange(20_000, 90_000) +
         b"\r\n\r\n", {0, 431}),
        ("two lengths", post(GOOD, JSON + b"Content-Length: 5\r\n"), {400}),
        ("length and chunks", post(GOOD, JSON + b"Transfer-Encoding: chunked\r\n"), {400}),
        ("smuggled", post(b"0\r\n\r\nGET /metrics HTTP/1.1\r\nHost: x\r\n\r\n",
                          JSON + b"Transfer-Encoding: chunked\r\n"), {400}),
        ("odd coding", b"POST /v1/translate HTTP/1.1\r\nHost: x\r\n" + JSON +
         b"Transfer-Encoding: chunked, identity\r\n\r\n", {400, 501}),
        ("bad chunk", b"POST /v1/translate HTTP/1.1\r\nHost: x\r\n" + JSON +
         b"Transfer-Encoding: chunked\r\n\r\n" + rng.choice((b"zz", b"-1", b"fffffffffffffffff")) +
         b"\r\n\r\n", {400, 413}),
        ("folded header", b"GET /healthz HTTP/1.1\r\nHost: x\r\n X: y\r\n\r\n", {200, 400}),
        ("two tokens", post(GOOD, JSON + b"Authorization: Bearer a\r\nauthorization: Bearer b\r\n"), {400}),
        ("no host", b"GET /healthz HTTP/1.1\r\n\r\n", {400}),
        ("bad path", b"GET /%" + bytes([rng.randrange(103, 122)]) + b"0 HTTP/1.1\r\nHost: x\r\n\r\n",
         {400}),
        ("traversal", b"GET /../../etc/passwd HTTP/1.1\r\nHost: x\r\n\r\n", {404}),
        ("wrong type", post(GOOD, b"Content-Type: text/plain\r\n"), {415}),
        ("gzip", post(noise, JSON + b"Content-Encoding: gzip\r\n"), {415}),
        ("wrong method", b"DELETE /v1/translate HTTP/1.1\r\nHost: x\r\n\r\n", {405}),
        ("deep", post(b'{"contents": ' + b"[" * depth + b"]" * depth + b"}"), {400}),
        ("deep compat", post(b'{"q": ' + b"[" * depth + b"]" * depth + b"}", path=b"/translate"),
         {400}),
        ("deep azure", post(b"[" * depth + b"]" * depth, path=b"/translate?api-version=3.0&to=de"), {400}),
        ("wrong azure", post(rng.choice((
            b'{"Text": "a"}', b"null", b"[null]", b"[[]]", b"[{}]", b'[{"Text": []}]', b'[{"Text": "\xff"}]')),
            path=b"/translate?api-version=3.0&to=de"), {400}),
        ("many targets", post(b'[{"Text": "a"}]', path=b"/translate?api-version=3.0&to=" + b"de," * 200), {400}),
        ("bad utf-8", post(b'{"contents": ["\xc3\x28' + noise.replace(b'"', b"") + b'"]}'), {400}),
        ("bad form", post(b"q=%ff%zz&source=en&target=de",
                          b"Content-Type: application/x-www-form-urlencoded\r\n",
                          b"/translate"), {400}),
        ("many fields", post(b"q=a&source=en&target=de" + b"&a=" * 10_000,
                             b"Content-Type: application/x-www-form-urlencoded\r\n", b"/translate"), {400}),
        ("wrong types", post(rng.choice((
            b'{"contents": {}}', b'{"contents": [{}]}', b'{"options": []}', b'[]', b'null', b'1',
            b'{"options": {"beamSize": "x"}}', b'{"options": {"beamSize": 1e99}}',
            b'{"priority": "X"}', b'{"contents": [null]}'))), {400}),
        ("many texts", post(b'{"contents": [' + b'"a",' * 5000 + b'"a"]}'), {400}),
        ("bad timeout", post(GOOD, JSON + b"X-Request-Timeout: " + str(
            rng.randrange(-9, 0)).encode() + b"\r\n"), {400}),
        ("expectation", post(GOOD, JSON + b"Expect: 200-ok\r\n"), {417}),
        ("http/2", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", {505}),
        ("tls", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + noise, {0, 400}),
    ))


class HostileHttpTest(ServerTest):

    arguments = FLOAT32

    def send(self, request, server=None):
        """Returns the code of the response; 0 if the server hung up without one."""
        host, port = (server or self.server).http_address.rsplit(":", 1)
        with socket.create_connection((host, int(port)), timeout=120) as connection:
            try:
                connection.sendall(request)
                connection.shutdown(socket.SHUT_WR)
            except OSError:
                pass  # the server refused it before it was complete
            received = b""
            try:
                while b"\r\n" not in received:
                    more = connection.recv(4096)
                    if not more:
                        break
                    received += more
            except ConnectionResetError:
                pass
            match = re.match(rb"HTTP/1\.1 (\d{3}) ", received)
            return int(match.group(1)) if match else 0

    def memory(self):
        with open(f"/proc/{self.server.process.pid}/status", encoding="utf-8") as status:
            return int(re.search(r"VmRSS:\s+(\d+)", status.read()).group(1))

    def run_requests(self, count, rng, wrong):
        for _ in range(count):
            what, request, codes = hostile(rng)
            code = self.send(request)
            if code not in codes:
                wrong.append((what, request[:200], code))

    def test_each_gets_its_code_and_memory_stays(self):
        value, wrong = seed(), []
        total = int(os.environ.get("DRAGOMAN_HOSTILE_REQUESTS", "2000"))

        def burst(count, first):
            threads = [threading.Thread(target=self.run_requests,
                                        args=(count // 4, random.Random(value + first + i), wrong))
                       for i in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()

        # Threads, pools and caches grow to their full size, some earlier and some later; a leak grows in every part.
        memory, part = [self.memory()], max(1, total // 8)
        while len(memory) <= 8 or min(b - a for a, b in zip(memory[-5:], memory[-4:])) > 10 * part:
            burst(part, 4 * len(memory))
            memory.append(self.memory())
            self.assertEqual(wrong[:5], [])
            self.assertLess(len(memory), 40, f"memory grows by more than 10 KiB a request: {memory} KiB")
        print(f"memory in KiB, each after another {part} requests: {memory}")
        self.assertIsNone(self.server.process.poll())
        self.assertEqual(self.send(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"), 200)
        self.assertEqual(self.server.metrics()["dragoman_requests_in_flight"][()], 0)

    def test_slow_clients_are_cut_and_keep_nobody_out(self):
        server = serve(self, *self.arguments, "--http-header-timeout", "1s", "--http-body-timeout", "1s")
        self.addCleanup(server.channel.close)
        host, port = server.http_address.rsplit(":", 1)
        slow = [socket.create_connection((host, int(port))) for _ in range(200)]
        for i, connection in enumerate(slow):
            with contextlib.suppress(ConnectionError):  # it was cut already, if this has taken a second
                connection.sendall(post(GOOD)[:10 + i % 100])
        self.assertEqual(self.send(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n", server), 200)
        for connection in slow:
            connection.settimeout(60)
            with contextlib.suppress(ConnectionError):
                self.assertIn(connection.recv(4096)[:12], (b"HTTP/1.1 408", b""))
            connection.close()
        self.assertEqual(server.stop(), 0)


if __name__ == "__main__":
    unittest.main()
