"""What a server must survive: no descriptors, a log that nobody reads, signals, small limits."""

import fcntl
import os
import resource
import signal
import socket
import tempfile
import threading
import time
import unittest

import grpc

from harness import (FLOAT32, MODEL, Server, await_true, details_of, hold_call, pb, pb_grpc, run_server,
                     serve)

ONE_WORKER = (*FLOAT32, "--workers", "1")
impatient = None  # a server that gives clients up soon; some have stalled since the start


def connect(address):
    host, port = address.split(":")
    return socket.create_connection((host, int(port)), timeout=120)


class Relay(threading.Thread):
    """A connection to the server whose client stops reading when it is told to."""

    def __init__(self, address):
        super().__init__(daemon=True)
        self.upstream = address
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.address = "127.0.0.1:%d" % self.listener.getsockname()[1]
        self.stalled = threading.Event()
        self.over = threading.Event()
        self.start()

    def run(self):
        with self.listener:
            client = self.listener.accept()[0]
        server = connect(self.upstream)
        back = threading.Thread(target=self.pump, args=(server, client, self.stalled), daemon=True)
        back.start()
        self.pump(client, server, self.over)
        self.over.wait()
        server.close()
        client.close()

    @staticmethod
    def pump(source, sink, stop):
        try:
            while not stop.is_set():
                data = source.recv(1 << 16)
                if not data:
                    return
                sink.sendall(data)
        except OSError:
            pass


def stall(server, count, add_cleanup):
    """Makes clients that stop to read, while large answers are on their way to them."""
    relays = [Relay(server.grpc_address) for _ in range(count)]
    channels = [grpc.insecure_channel(relay.address, [("grpc.enable_http_proxy", 0)]) for relay in relays]
    output = pb.OutputOptions(tokens=True, token_scores=True)
    large = pb.TranslateRequest(contents=["Good morning."] * 128, output=output,
                                options=pb.DecodingOptions(beam_size=8, num_hypotheses=8))
    calls = []
    for relay, channel in zip(relays, channels):
        stub = pb_grpc.TranslationServiceStub(channel)
        stub.Translate(pb.TranslateRequest(contents=["Good morning."]), timeout=60)
        relay.stalled.set()
        calls.append(stub.Translate.future(large))

    def end():
        for relay, channel, call in zip(relays, channels, calls):
            call.cancel()
            relay.over.set()
            channel.close()
    add_cleanup(end)
    await_true(lambda: server.metrics()["dragoman_requests_in_flight"][()] > 0, "calls run")


def setUpModule():
    """Starts what takes time: SlowReaderTest, the last one, looks for what has become of it."""
    global impatient
    impatient = Server(*ONE_WORKER, "--keepalive-time", "1s", "--keepalive-timeout", "8s")
    unittest.addModuleCleanup(impatient.kill)
    stall(impatient, 10, unittest.addModuleCleanup)


class SlowReaderTest(unittest.TestCase):

    def test_readers_that_stall_keep_nobody_waiting(self):
        # They stay for hours, so whoever waited for them would wait for longer than the timeout of a call.
        server = Server(*ONE_WORKER, "--keepalive-time", "1h", "--keepalive-timeout", "1h")
        self.addCleanup(lambda: self.assertEqual(server.stop(), 0))
        stall(server, 30, self.addCleanup)
        for _ in range(20):
            self.assertTrue(server.translate("Good morning.").translations)

    def test_readers_that_stall_are_given_up(self):
        server = impatient
        # Neither their calls nor their connections stay, because they answer no pings.
        await_true(lambda: server.metrics()["dragoman_connections"][()] <= 1, "they are disconnected")
        await_true(lambda: server.metrics()["dragoman_requests_in_flight"][()] == 0, "their calls end")
        self.assertEqual(server.metrics()["dragoman_kv_cache_bytes"][()], 0)
        self.assertEqual(server.http("/readyz")[0], 200)
        self.assertEqual(server.stop(), 0)


class DescriptorTest(unittest.TestCase):

    def test_it_serves_again_after_more_connections_than_there_are_descriptors(self):
        server = Server(*ONE_WORKER, limit="--nofile=1024")
        self.addCleanup(lambda: self.assertEqual(server.stop(), 0))
        # The test's own limit may be small, too.
        resource.setrlimit(resource.RLIMIT_NOFILE,
                           (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
        idle = [connect(server.grpc_address) for _ in range(1100)]
        await_true(lambda: server.http("/readyz")[0] == 503, "it says that it takes nobody")
        self.assertIn("the limit of connections is reached", server.http("/readyz")[2])
        self.assertEqual(server.http("/healthz")[0], 200)
        metrics = server.metrics()
        self.assertEqual(metrics["dragoman_connections"][()],
                         (1024 - 256) * 3 // 4)  # the rest is for HTTP
        self.assertGreater(metrics["dragoman_connections_refused_total"][(("reason", "limit"),)],
                           300)
        for connection in idle:
            connection.close()
        await_true(lambda: server.http("/readyz")[0] == 200, "it recovers")
        channel = server.new_channel()
        response = pb_grpc.TranslationServiceStub(channel).Translate(
            pb.TranslateRequest(contents=["Good morning."]), timeout=60)
        self.assertEqual(response.translations[0].hypotheses[0].text, "Guten Morgen!")
        channel.close()

    def test_max_connections(self):
        server = Server(*ONE_WORKER, "--max-connections", "3")
        self.addCleanup(lambda: self.assertEqual(server.stop(), 0))
        held = [connect(server.grpc_address) for _ in range(3)]
        for connection in held:
            self.assertNotEqual(connection.recv(9), b"")  # gRPC's SETTINGS
        with connect(server.grpc_address) as fourth:
            self.assertEqual(fourth.recv(9), b"")
        for connection in held:
            connection.close()
        await_true(lambda: server.metrics()["dragoman_connections"][()] == 0, "they are closed")
        self.assertEqual(len(server.translate("Hello").translations), 1)
        server.channel.close()

    def test_more_connections_than_the_limit_of_open_files_is_an_error(self):
        ended = run_server(*ONE_WORKER, "--max-connections", "100000",
                           limit="--nofile=4096")
        self.assertEqual(ended.returncode, 1)
        self.assertRegex(ended.stderr, "max-connections is 100000, .*ulimit -n.* room for 2688")


TOO_LITTLE = 180  # MiB of address space: the program and its libraries take most of it


class LimitTest(unittest.TestCase):

    def test_too_few_descriptors_or_too_little_memory_are_named(self):
        for limit, want in (("--nofile=20", "ulimit -n"), ("--nofile=100", "ulimit -n"),
                            (f"--as={TOO_LITTLE << 20}", "ulimit -v|annot allocate memory")):
            ended = run_server("--model", f"en-de={MODEL}", "--grpc-address", "127.0.0.1:0",
                               "--http-address", "127.0.0.1:0", limit=limit)
            self.assertEqual(ended.returncode, 1, (limit, ended))
            self.assertNotIn("listening", ended.stdout)
            self.assertRegex(ended.stderr, want)

    def test_a_server_that_listens_has_the_memory_to_serve(self):
        served = []
        # From some size on it serves, which depends on the machine: each core needs some.
        for megabytes in (TOO_LITTLE, 260, 300, 340, 450, 600, 750, 900, 1050, 1300, 2000):
            limit = f"--as={megabytes << 20}"
            with self.subTest(megabytes=megabytes):
                try:
                    server = serve(self, "--model", f"en-de={MODEL}", limit=limit)
                except AssertionError as ended:
                    self.assertIn("the server ended with 1 before", str(ended))
                    # Whatever was short, a line says so (the log is written beside it).
                    self.assertRegex(str(ended),
                                     "\ndragoman-server: .*(ulimit -v|annot allocate memory)")
                    continue
                served.append(megabytes)
                texts = ["Good morning.", "The weather is nice today. " * 20]
                calls = [server.translation.Translate.future(
                    pb.TranslateRequest(contents=texts), timeout=60) for _ in range(8)]
                for call in calls:
                    self.assertEqual(call.result().translations[0].hypotheses[0].text,
                                     "Guten Morgen!")
                self.assertEqual(server.http("/readyz")[0], 200)
                server.channel.close()
                self.assertEqual(server.stop(), 0)
        print(f"serves with {served} MiB of address space on {os.cpu_count()} cores", flush=True)
        self.assertNotIn(TOO_LITTLE, served)

    def test_a_start_that_nearly_succeeds_ends(self):
        # Where models are loaded, but there is no room left for requests or for gRPC's threads.
        low, high = TOO_LITTLE << 10, 3 << 20  # KiB
        while high - low > 4 << 10:
            middle = (low + high) // 2
            with self.subTest(kilobytes=middle):
                try:
                    server = serve(self, "--model", f"en-de={MODEL}", limit=f"--as={middle << 10}")
                    server.kill()
                    high = middle
                except AssertionError as ended:
                    low, high = (low, middle) if "less than" in str(ended) else (middle, high)

    def test_few_descriptors_are_enough(self):
        server = serve(self, *ONE_WORKER, limit="--nofile=128")
        self.assertEqual(len(server.translate("Hello").translations), 1)
        self.assertEqual(server.http("/readyz")[0], 200)
        server.channel.close()
        self.assertEqual(server.stop(), 0)


class LogTest(unittest.TestCase):

    def test_a_reader_that_stalls_stops_nothing_but_the_log(self):
        log, unread = os.pipe()
        fcntl.fcntl(log, fcntl.F_SETPIPE_SZ, 1 << 16)
        server = serve(self, *ONE_WORKER, log=unread)
        os.close(unread)
        for _ in range(200):  # 64 KiB hold about 400 lines, the queue 4096
            calls = [server.models.GetModel.future(pb.GetModelRequest(), timeout=60)
                     for _ in range(40)]
            for call in calls:
                call.result()
        self.assertEqual(len(server.translate("Good morning.", timeout=60).translations), 1)
        dropped = server.metrics()["dragoman_log_lines_dropped_total"][()]
        self.assertGreater(dropped, 1000)
        for path in ("/readyz", "/healthz"):
            self.assertEqual(server.http(path)[0], 200)
        server.channel.close()
        server.terminate()
        self.assertEqual(server.process.wait(timeout=60), 0)
        os.close(log)

    def test_a_reader_that_goes_away_harms_nobody(self):
        log, write_end = os.pipe()
        server = serve(self, *ONE_WORKER, log=write_end)
        os.close(write_end)
        os.close(log)
        for _ in range(10):
            self.assertEqual(len(server.translate("Hello", timeout=60).translations), 1)
        await_true(lambda: server.metrics()["dragoman_log_lines_dropped_total"][()] >= 10, "lines are counted")
        server.channel.close()
        server.terminate()
        self.assertEqual(server.process.wait(timeout=60), 0)


class SignalTest(unittest.TestCase):

    def test_sighup_reads_tokens_again_and_stops_nothing(self):
        with tempfile.NamedTemporaryFile("w", suffix="tokens") as tokens:
            tokens.write("shop 0123456789abcdef\n")
            tokens.flush()
            server = serve(self, *ONE_WORKER, "--auth-tokens", tokens.name)

            def reload_time():
                name = "dragoman_last_reload_success_timestamp_seconds"
                return server.metrics()[name][(("what", "tokens"),)]

            before = reload_time()

            def read_again():
                server.process.send_signal(signal.SIGHUP)
                return reload_time() > before

            await_true(read_again, "the tokens are read in another second, because the metric has whole ones")
            server.await_log("certificates and tokens again")
            self.assertEqual(server.http("/readyz")[0], 200)
            server.channel.close()
            self.assertEqual(server.stop(), 0)

    def test_the_second_sigterm_ends_it_at_once(self):
        server = serve(self, *ONE_WORKER, "--drain-timeout", "1h")
        call = hold_call(self, server)
        server.terminate()
        await_true(lambda: server.http("/readyz")[0] == 503, "it drains")
        server.terminate()
        self.assertEqual(server.process.wait(timeout=60), 128 + signal.SIGTERM)
        server.await_log("second signal: ending at once")
        call.cancel()
        server.channel.close()


class PortTest(unittest.TestCase):

    def assert_refused(self, want, grpc_address="127.0.0.1:0", http_address="127.0.0.1:0"):
        # The model does not exist either, but the port is checked first.
        ended = run_server("--model", "en-de=/no/such/model", "--grpc-address", grpc_address,
                           "--http-address", http_address)
        self.assertEqual(ended.returncode, 1, ended)
        self.assertIn(want, ended.stderr)

    def test_a_port_that_cannot_be_had_fails_at_once_and_says_why(self):
        with socket.create_server(("127.0.0.1", 0)) as taken:
            address = "127.0.0.1:{}".format(taken.getsockname()[1])
            for which, name in (("grpc_address", "gRPC"), ("http_address", "HTTP")):
                self.assert_refused(f"cannot listen on {address} for {name}: the port is in use",
                                    **{which: address})
        for which in ("grpc_address", "http_address"):
            self.assert_refused("the address is not one of this machine", **{which: "192.0.2.1:0"})
        self.assert_refused("there is no host with that name", grpc_address="no-such-host.invalid:0")


class RefusalTest(unittest.TestCase):
    """Requests that the transport used to refuse without a trace in logs and metrics."""

    def setUp(self):
        self.server = Server(*ONE_WORKER)
        self.addCleanup(lambda: self.assertEqual(self.server.stop(), 0))
        self.addCleanup(self.server.channel.close)

    def refused(self, code, text, **arguments):
        with self.assertRaises(grpc.RpcError) as caught:
            self.server.translation.Translate(
                pb.TranslateRequest(contents=[text]), timeout=60,
                metadata=[("x-request-id", "my-own-id")], **arguments)
        self.assertEqual(caught.exception.code(), code)
        self.assertEqual(dict(caught.exception.trailing_metadata())["x-request-id"], "my-own-id")
        log = self.server.await_log("request_id=my-own-id")
        self.assertRegex(log, rf"request method=Translate api=grpc code={code.name} .*request_id=my-own-id")
        count = self.server.metrics()["dragoman_requests_total"]
        self.assertEqual(count[(("code", code.name), ("method", "Translate"), ("model", ""))], 1)
        return caught.exception

    def test_an_oversized_message(self):
        error = self.refused(grpc.StatusCode.RESOURCE_EXHAUSTED, "x" * (2 << 20))
        self.assertIn("RetryInfo", details_of(error))
        self.assertIn("the most is 1048576", error.details())
        self.assertEqual(dict(error.trailing_metadata())["grpc-retry-pushback-ms"], "-1")
        rejected = self.server.metrics()["dragoman_rejected_total"]
        self.assertEqual(rejected[(("reason", "message_size"),)], 1)

    def test_a_compressed_message(self):
        self.refused(grpc.StatusCode.UNIMPLEMENTED, "a" * 10000,
                     compression=grpc.Compression.Gzip)

    def test_a_call_that_ends_before_its_message_is_read(self):
        stub = self.server.translation
        self.server.translate("Hello")
        for timeout in (0.0005, 0.001, 0.002):
            calls = [stub.Translate.future(pb.TranslateRequest(contents=["Good morning."] * 64),
                                           timeout=timeout) for _ in range(150)]
            for call in calls:
                call.exception()
        calls = [stub.Translate.future(pb.TranslateRequest(contents=["Good morning."] * 64))
                 for _ in range(100)]
        for call in calls:
            call.cancel()
        await_true(lambda: self.server.metrics()["dragoman_requests_in_flight"][()] == 0, "no work is left")
        ended = {dict(labels)["code"]: value for labels, value
                 in self.server.metrics()["dragoman_requests_total"].items()
                 if value and dict(labels)["method"] == "Translate"}
        self.assertLessEqual(set(ended), {"OK", "CANCELLED", "DEADLINE_EXCEEDED",
                                          "RESOURCE_EXHAUSTED"})
        self.assertEqual(sum(self.server.metrics()["dragoman_invalid_total"].values()), 0)


if __name__ == "__main__":
    unittest.main()
