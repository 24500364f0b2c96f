"""Starts the real server and calls it as any client would: with stubs generated from the protos."""

import json
import os
import random
import re
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import urllib.error
import urllib.request

import google
import grpc

# The stubs are in packages (google, grpc) that installed libraries define as well.
_STUBS = os.environ["DRAGOMAN_STUBS"]
sys.path.insert(0, _STUBS)
google.__path__.append(os.path.join(_STUBS, "google"))
grpc.__path__.append(os.path.join(_STUBS, "grpc"))

from dragoman.v1 import translation_pb2 as pb
from dragoman.v1 import translation_pb2_grpc as pb_grpc
from google.rpc import error_details_pb2
from prometheus_client.parser import text_string_to_metric_families

SERVER = os.environ["DRAGOMAN_SERVER_BINARY"]
CLIENT = os.environ["DRAGOMAN_CLIENT_BINARY"]
SOURCE_DIR = os.environ["DRAGOMAN_SOURCE_DIR"]
MODEL = os.path.join(SOURCE_DIR, "tests/golden/models/en-de")
BUILT_IN = os.path.join(SOURCE_DIR, "models/en-de-fr-es")
FLOAT32 = ("--model", f"en-de={MODEL}", "--precision", "float32")  # as in the goldens


def instrumented():
    """Whether the server was built with a sanitizer, whose own memory hides that of the server."""
    with open(SERVER, "rb") as file:
        program = file.read()
    return b"__asan_init" in program or b"__tsan_init" in program


HELD_TEXTS = 128  # of hold_call


def golden_inputs():
    """200 sentences, and Hugging Face's translations of them with MODEL, which has no "$": the server keeps it."""
    path = os.path.join(SOURCE_DIR, "tests/golden/expected/en-de/golden.json")
    with open(path, encoding="utf-8") as file:
        inputs = json.load(file)["inputs"]
    for price in (given for given in inputs if "$10" in given["text"]):
        for found in (price["greedy"], *price["beam4"]):
            found["text"] = found["text"].replace("10", "$10")
    return inputs


def seed():
    """Returns the seed for a random test, and prints it."""
    value = int(os.environ.get("DRAGOMAN_SEED", 1))
    print(f"DRAGOMAN_SEED={value}", file=sys.stderr)
    return value


def _limited(limit):
    # Not preexec_fn: Python then forks, and gRPC 1.51 waits for its threads before a fork.
    return ["prlimit", limit] if limit else []


def run_server(*arguments, limit=None, **options):
    """Runs a server that is expected to exit by itself; `limit` and `options` are as for Server."""
    return subprocess.run([*_limited(limit), SERVER, *arguments], capture_output=True, text=True,
                          timeout=120, **options)


PORTS = ("grpc", "http", "metrics")


def listening(line):
    """Parses the addresses of PORTS in the `listening` line, which is text or, with --log-format json, an object."""
    if line.startswith("{"):
        said = json.loads(line)
        return [said.get(port) for port in PORTS] if said["event"] == "listening" else None
    match = re.fullmatch(r"listening grpc=(\S+) http=(\S+)(?: metrics=(\S+))?(?: admin=\S+)?\n", line)
    return match and match.groups()


class Server:
    """A running server, on free ports unless told otherwise.

    Clients use `credentials`, or plain text without them.  The log goes to a file unless `log` is
    given; `limit` is an option of prlimit, such as "--nofile=1024"; `options` go to subprocess.
    """

    channel = None  # before it listens

    def __init__(self, *arguments, credentials=None, log=None, grpc_port=0, http_port=0, limit=None,
                 **options):
        self.log = tempfile.TemporaryFile(mode="w+")
        self.process = subprocess.Popen(
            [*_limited(limit), SERVER, "--grpc-address", f"127.0.0.1:{grpc_port}",
             "--http-address", f"127.0.0.1:{http_port}", *arguments],
            stdout=subprocess.PIPE, stderr=self.log if log is None else log, text=True, **options)
        for line in self.process.stdout:
            addresses = listening(line)
            if addresses:
                self.grpc_address, self.http_address, self.metrics_address = addresses
                break
        else:
            code = self.stop()
            raise AssertionError(
                f"the server ended with {code} before it listened:\n{self.log_text()}")
        # Drain its output, so that it never blocks on a full pipe.
        threading.Thread(target=self.process.stdout.read, daemon=True).start()
        channel_options = [("grpc.enable_http_proxy", 0), ("grpc.use_local_subchannel_pool", 1)]
        self.new_channel = lambda: (
            grpc.secure_channel(self.grpc_address, credentials, channel_options) if credentials
            else grpc.insecure_channel(self.grpc_address, channel_options))
        self.channel = self.new_channel()
        self.translation = pb_grpc.TranslationServiceStub(self.channel)
        self.models = pb_grpc.ModelServiceStub(self.channel)

    def log_text(self):
        """Returns the log when it stops growing.  A separate thread writes it, so the newest lines may be missing."""
        size, settled = -1, 0
        while settled < 4 and self.process.poll() is None:
            last, size = size, os.fstat(self.log.fileno()).st_size
            settled = settled + 1 if size == last else 0
            time.sleep(0.02)  # what it is about to write comes meanwhile
        return self._read_log()

    def await_log(self, text, times=1):
        """Waits until the log contains `text` so many times; returns the log."""
        try:
            await_true(lambda: self._read_log().count(text) >= times, f"{text!r} {times} times in the log")
        except AssertionError as error:
            raise AssertionError(f"{error}\n{self._read_log()}") from None
        return self._read_log()

    def _read_log(self):
        # Not by seek and read: the server writes at the same position of the file.
        descriptor = self.log.fileno()
        return os.pread(descriptor, os.fstat(descriptor).st_size, 0).decode(errors="replace")

    def terminate(self):
        self.process.send_signal(signal.SIGTERM)

    def stop(self):
        """Ends the server by SIGTERM and returns its exit code; first its channel, on which it would wait."""
        if self.channel is not None:
            self.channel.close()
        self.terminate()
        code = self.process.wait(timeout=120)
        if code != 0:
            print(f"the server ended with {code}:\n{self.log_text()}", file=sys.stderr)
        return code

    def kill(self):
        """Ends the server at once if it still runs."""
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()

    def translate(self, *texts, timeout=120, **fields):
        request = pb.TranslateRequest(contents=texts, **fields)
        return self.translation.Translate(request, timeout=timeout)

    def http(self, path):
        """The status code, headers and body of a GET."""
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with opener.open(f"http://{self.http_address}{path}", timeout=120) as response:
                return response.status, response.headers, response.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.headers, error.read().decode()

    def metrics(self):
        """Parses /metrics to {name: {sorted label pairs: value}}."""
        samples = {}
        for family in text_string_to_metric_families(self.http("/metrics")[2]):
            for sample in family.samples:
                labels = tuple(sorted(sample.labels.items()))
                samples.setdefault(sample.name, {})[labels] = sample.value
        return samples


def await_true(condition, what):
    """Waits until condition(); the limit is only there to end a test that has failed."""
    end = time.monotonic() + 300
    while True:
        look = time.monotonic()
        if condition():
            return
        if look > end:
            raise AssertionError(f"five minutes have passed without: {what}")
        # It looks at most a fifth of the time: reading /metrics takes some milliseconds.
        time.sleep(max(0.02, 4 * (time.monotonic() - look)))


def hold_call(test, server, metadata=None):
    """A call that has begun and lasts until it is read or cancelled, on a machine of any speed.

    Its answer, a translation for each of HELD_TEXTS, is larger than what HTTP/2 lets a server send unread."""
    channel = grpc.insecure_channel(server.grpc_address,
                                    [("grpc.enable_http_proxy", 0), ("grpc.http2.bdp_probe", 0)])
    test.addCleanup(channel.close)
    call = pb_grpc.TranslationServiceStub(channel).TranslateStream(pb.TranslateRequest(
        contents=[i["text"] for i in golden_inputs()[:HELD_TEXTS]],
        options=pb.DecodingOptions(beam_size=4, num_hypotheses=4),
        output=pb.OutputOptions(tokens=True, token_scores=True, alignments=True, attention=True)),
        metadata=metadata)
    next(call)  # it has begun; its first message is no translation yet
    return call


def free_port():
    """A port for a server that cannot choose its own, or that is started again on the same one.

    It is below those that the kernel gives to connections and to servers on port 0, so that no other test gets it."""
    while True:
        port = random.randrange(10_000, 32_000)
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
                return port
            except OSError:
                continue


def serve(test, *arguments, **options):
    """Starts a server that ends with the test, even if the test fails before it stops the server."""
    server = Server(*arguments, **options)
    test.addCleanup(server.kill)
    return server


class ServerTest(unittest.TestCase):
    """Tests that share one server, which must exit cleanly after them."""

    arguments = FLOAT32

    @classmethod
    def setUpClass(cls):
        cls.server = Server(*cls.arguments)

    @classmethod
    def tearDownClass(cls):
        cls.server.channel.close()
        code = cls.server.stop()
        if code != 0:
            raise AssertionError(f"the server ended with exit code {code}")

    def assert_fails(self, code, call):
        """Returns the error of `call`, which must have this code."""
        with self.assertRaises(grpc.RpcError) as caught:
            call()
        self.assertEqual(caught.exception.code(), code, caught.exception.details())
        return caught.exception


def write_adapter(directory, alpha, module, inputs, outputs):
    """A LoRA adapter of rank 1 for a matrix [outputs, inputs]."""
    os.makedirs(directory, exist_ok=True)
    with open(os.path.join(directory, "adapter_config.json"), "w", encoding="utf-8") as file:
        json.dump({"peft_type": "LORA", "r": 1, "lora_alpha": alpha, "target_modules": ["fc2"]}, file)
    parts = {"A": [1, inputs], "B": [outputs, 1]}
    header, data = {}, b""
    for part, shape in parts.items():
        values = [0.1 * ((7 * i) % 5 - 2) for i in range(shape[0] * shape[1])]
        begin = len(data)
        data += struct.pack(f"<{len(values)}f", *values)
        header[f"base_model.model.{module}.lora_{part}.weight"] = {
            "dtype": "F32", "shape": shape, "data_offsets": [begin, len(data)]}
    text = json.dumps(header).encode()
    with open(os.path.join(directory, "adapter_model.safetensors"), "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + data)


def details_of(error):
    """The google.rpc details of an error by type name: {"BadRequest": message}."""
    trailers = dict(error.trailing_metadata())
    status = error_details_pb2.Status.FromString(trailers.get("grpc-status-details-bin", b""))
    details = {}
    for detail in status.details:
        name = detail.type_url.rsplit(".", 1)[-1]
        message = getattr(error_details_pb2, name)()
        assert detail.Unpack(message), detail.type_url
        details[name] = message
    return details
