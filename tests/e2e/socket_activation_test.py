"""Sockets that a service manager opened before the server started: who connects early is answered."""

import json
import os
import socket
import subprocess
import sys
import tempfile
import unittest

import grpc

from harness import FLOAT32, SERVER, Server, await_true, free_port, listening, pb, pb_grpc

# Does what a service manager does: its arguments are names with descriptors, and a command.
MANAGER = """
import fcntl, os, sys
names, descriptors, command = sys.argv[1], [int(fd) for fd in sys.argv[2].split(",")], sys.argv[3:]
kept = [fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 100) for fd in descriptors]
for number, fd in enumerate(kept, start=3):
    os.dup2(fd, number)
os.environ.update(LISTEN_PID=str(os.getpid()), LISTEN_FDS=str(len(kept)), LISTEN_FDNAMES=names)
os.execv(command[0], command)
"""

TRANSLATE = json.dumps({"contents": ["Good morning."]}).encode()
POST = (b"POST /v1/translate HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nConnection: close\r\n"
        b"Content-Length: %d\r\n\r\n" % len(TRANSLATE)) + TRANSLATE


def opened(address=("127.0.0.1", 0)):
    """A listening socket, as systemd makes one."""
    listener = socket.socket()
    listener.bind(address)
    listener.listen(128)
    return listener


def address_of(listener):
    return "{}:{}".format(*listener.getsockname())


def everything(connection):
    """What comes over a connection until its other end hangs up."""
    connection.settimeout(120)
    parts = []
    while part := connection.recv(1 << 16):
        parts.append(part)
    return b"".join(parts).decode()


class ActivatedServer(Server):
    """A server that gets sockets, a list of (name, socket)."""

    def __init__(self, sockets, *arguments):
        descriptors = [listener.fileno() for _, listener in sockets]
        self.log = tempfile.TemporaryFile(mode="w+")
        self.process = subprocess.Popen(
            [sys.executable, "-c", MANAGER, ":".join(name for name, _ in sockets), ",".join(map(str, descriptors)),
             SERVER, *arguments],
            stdout=subprocess.PIPE, stderr=self.log, text=True, pass_fds=descriptors)

    def await_listening(self):
        for line in self.process.stdout:
            if listening(line):
                return line
        raise AssertionError(f"the server ended with {self.process.wait()}:\n{self._read_log()}")


class SocketActivationTest(unittest.TestCase):

    def start(self, sockets, *arguments):
        for _, listener in sockets:
            self.addCleanup(listener.close)
        server = ActivatedServer(sockets, *arguments)
        self.addCleanup(server.process.stdout.close)
        self.addCleanup(server.kill)
        return server

    def channel(self, address):
        channel = grpc.insecure_channel(address, [("grpc.enable_http_proxy", 0), ("grpc.use_local_subchannel_pool", 1)])
        self.addCleanup(channel.close)
        return channel

    def assert_refused(self, want, *sockets):
        server = self.start(sockets, *FLOAT32, "--grpc-address", "127.0.0.1:0", "--http-address", "127.0.0.1:0")
        self.assertEqual(server.process.wait(timeout=120), 1)
        self.assertIn(want, server.log_text())

    def test_calls_made_before_the_start_are_answered_over_both_transports(self):
        rpc, http, more = opened(), opened(), opened()
        # They are in the backlogs: over HTTP the whole request, over gRPC a channel that waits for its peer.
        early = socket.create_connection(http.getsockname())
        self.addCleanup(early.close)
        early.sendall(POST)
        calls = [pb_grpc.TranslationServiceStub(self.channel(address_of(listener))).Translate.future(
            pb.TranslateRequest(contents=["Good morning."]), timeout=120, wait_for_ready=True)
            for listener in (rpc, more)]
        # The settings' own addresses are those of other servers; they are not used.
        server = self.start([("grpc", rpc), ("http", http), ("grpc", more)], *FLOAT32,
                            "--grpc-address", address_of(rpc), "--http-address", address_of(http))
        answer = everything(early)
        self.assertIn("200 OK", answer.partition("\r\n")[0], answer)
        self.assertIn("Guten Morgen!", answer)
        for call in calls:
            self.assertEqual(call.result().translations[0].hypotheses[0].text, "Guten Morgen!")
        line = server.await_listening()
        self.assertIn(f"grpc={address_of(rpc)} http={address_of(http)}", line)
        # The server's own probe of its port works, too.
        server.http_address = address_of(http)
        await_true(lambda: server.http("/readyz")[0] == 200, "the server is ready")
        self.assertEqual(server.stop(), 0)

    def test_the_next_server_gets_who_came_between(self):
        rpc, http = opened(), opened()
        sockets = [("grpc", rpc), ("http", http)]
        first = self.start(sockets, *FLOAT32)
        first.await_listening()
        self.assertEqual(first.stop(), 0)
        between = socket.create_connection(http.getsockname())
        self.addCleanup(between.close)
        between.sendall(POST)
        second = self.start(sockets, *FLOAT32)
        self.assertIn("Guten Morgen!", everything(between))
        second.await_listening()
        self.assertEqual(second.stop(), 0)

    def test_an_operator_reaches_the_socket_of_its_own(self):
        with tempfile.TemporaryDirectory() as directory:
            path = os.path.join(directory, "admin.sock")
            admin = socket.socket(socket.AF_UNIX)
            admin.bind(path)
            admin.listen()
            self.assert_refused("want 0600", ("admin", admin))  # others could connect as well
            os.chmod(path, 0o600)
            # Whoever reached this port would be taken for the owner.
            self.assert_refused("descriptor 4 (admin) is not at a path", ("admin", admin), ("admin", opened()))
            server = self.start([("admin", admin)], *FLOAT32, "--grpc-address", "127.0.0.1:0",
                                "--http-address", "127.0.0.1:0")
            self.assertIn(f"admin=unix:{path}", server.await_listening())
            self.assertEqual(server.stop(), 0)
            self.assertTrue(os.path.exists(path))

    def test_what_cannot_be_used_is_named(self):
        self.assert_refused('descriptor 3 is named "dragoman.socket"', ("dragoman.socket", opened()))
        self.assert_refused("descriptor 3 (admin) is not at a path", ("admin", opened()))
        with tempfile.TemporaryDirectory() as directory:
            path = socket.socket(socket.AF_UNIX)
            path.bind(os.path.join(directory, "grpc.sock"))
            path.listen()
            self.assert_refused("want ListenStream=HOST:PORT", ("grpc", path))

    def test_systemd_starts_it_at_the_first_connection(self):
        address = f"127.0.0.1:{free_port()}"
        process = subprocess.Popen(
            ["systemd-socket-activate", "--listen", address, "--fdname", "grpc", SERVER, *FLOAT32,
             "--http-address", "127.0.0.1:0"], stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        self.addCleanup(process.wait)
        self.addCleanup(process.terminate)
        answer = pb_grpc.TranslationServiceStub(self.channel(address)).Translate(
            pb.TranslateRequest(contents=["Good morning."]), timeout=120, wait_for_ready=True)
        self.assertEqual(answer.translations[0].hypotheses[0].text, "Guten Morgen!")


if __name__ == "__main__":
    unittest.main()
