"""Hostile requests over all methods, made from the API's descriptors: memory, time and others' latency stay bounded.

DRAGOMAN_HOSTILE_CALLS sets their number (default 600).  What is printed beside each attack is in docs/limits.md.
"""

import collections
import concurrent.futures as futures
import contextlib
import glob
import http.client
import io
import itertools
import json
import math
import os
import random
import re
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import zipfile

import grpc
from google.protobuf import descriptor_pb2, json_format, symbol_database
from google.protobuf.descriptor import FieldDescriptor

import bystanders
import http2_attacker as http2
from harness import BUILT_IN, SOURCE_DIR, Server, await_true, instrumented, pb, seed

from dragoman.v1 import admin_pb2
from google.cloud.translate.v3 import translation_service_pb2 as google_pb
from inference import grpc_service_pb2 as inference_pb

CALLS = int(os.environ.get("DRAGOMAN_HOSTILE_CALLS", 600))
MIB = 1 << 20
LIMIT = 1024 * MIB
TOKENS = {name: f"{name}-token-0123456789" for name in ("victim", "attacker", "another")}
# Seconds: what may be prepared where it is (docs/limits.md), and what other tests on the same cores take: the p99 of a
# second's calls is nearly the worst.
PREPARING, ALLOWANCE = 0.001, 1.5
# Of attackers, almost as if they were on other machines; with more, they would wait for the tests beside this one.
NICENESS = 10
OPTIONS = [("grpc.enable_http_proxy", 0), ("grpc.use_local_subchannel_pool", 1), ("grpc.enable_retries", 0)]


def methods():
    """All methods of the API, and those of operators: (service, method)."""
    for file in (pb, admin_pb2):
        for service in file.DESCRIPTOR.services_by_name.values():
            for method in service.methods:
                yield service, method


def methods_of_other_apis():
    for file in (google_pb, inference_pb):
        for service in file.DESCRIPTOR.services_by_name.values():
            for method in service.methods:
                yield service, method


def new(descriptor):
    return symbol_database.Default().GetPrototype(descriptor)()


def form(fields, name, content, field="file"):
    """A form with a file, whose boundary is B."""
    parts = [(f'name="{key}"', value.encode()) for key, value in fields.items()]
    return b"".join(b"--B\r\nContent-Disposition: form-data; " + head.encode() + b"\r\n\r\n" + value + b"\r\n"
                    for head, value in [*parts, (f'name="{field}"; filename="{name}"', content)]) + b"--B--\r\n"


def varint(number):
    return bytes([number]) if number < 128 else bytes([number & 127 | 128]) + varint(number >> 7)


def repeated(rng, content, most):
    """The content with a piece of it up to so many bytes again."""
    places = [match.start() for match in re.finditer(rb"[<\n]", content)] + [0, len(content)]
    begin, end = sorted(rng.sample(places, 2))
    piece = content[begin:end] or b"a"
    return content[:end] + piece * int(2 ** rng.uniform(0, math.log2(most)) / len(piece)) + content[end:]


def hostile_file(rng, most):
    """A sample of some format in which something is there very often: its name, and what is in it."""
    path = rng.choice(sorted(glob.glob(os.path.join(SOURCE_DIR, "tests/documents/data/*"))))
    if not zipfile.is_zipfile(path):
        with open(path, "rb") as file:
            return os.path.basename(path), repeated(rng, file.read(), most)
    packed = io.BytesIO()
    with zipfile.ZipFile(path) as sample, zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as file:
        much = rng.choice(sample.namelist())
        for name in sample.namelist():
            file.writestr(name, repeated(rng, sample.read(name), most) if name == much else sample.read(name))
    return os.path.basename(path), packed.getvalue()


# The paths that take files: how they name the file, and what comes with it.
FILE_PATHS = {"/v1/translate_file": ("file", {"target_language": "de"}),
              "/v2/document": ("file", {"target_lang": "DE"}),
              "/translate_file": ("file", {"source": "en", "target": "de"}),
              "/translator/document:translate?api-version=2024-05-01&targetLanguage=de": ("document", {})}


def bearer(name):
    return [("authorization", "Bearer " + TOKENS[name])]


class Messages:
    """Requests with one field, or several, filled with much."""

    def __init__(self, rng, ids):
        self.rng = rng
        self.ids = ids  # of what the caller keeps: {"Glossary": id, "Memory": id}

    def base(self, descriptor):
        """A request that is nearly right, so that it is not refused for something else."""
        message = new(descriptor)
        self.name(message)
        if descriptor.name in ("TranslateRequest", "TokenizeRequest", "TranslateTextRequest") or \
                descriptor.full_name == "dragoman.v1.DetectLanguageRequest":
            message.contents.append("The cat is old.")
        if descriptor.name == "ModelInferRequest":
            text = message.inputs.add(name="text", datatype="BYTES", shape=[1])
            text.contents.bytes_contents.append(b"The cat is old.")
        for name in ("request", "header"):  # of a bulk call and a document
            field = descriptor.fields_by_name.get(name)
            if field is not None and field.type == FieldDescriptor.TYPE_MESSAGE:
                getattr(message, name).CopyFrom(self.base(field.message_type))
        if descriptor.name == "ScoreRequest":
            message.pairs.add(source="The cat is old.", target="Die Katze ist alt.")
        return message

    def name(self, message):
        """Sets what says where the request goes."""
        kept = "Glossary" if "Glossary" in message.DESCRIPTOR.name else "Memory"
        for name, value in (("source_language", "en"), ("target_language", "de"), ("id", self.ids[kept]),
                            ("source_language_code", "en"), ("target_language_code", "de"), ("name", "en-de-fr-es"), ("model", "en-de-fr-es"), ("model_name", "en-de-fr-es")):
            field = message.DESCRIPTOR.fields_by_name.get(name)
            if field is not None and field.type == FieldDescriptor.TYPE_STRING:
                setattr(message, name, value)

    def fields(self, descriptor, depth=4):
        """Paths to all fields that are repeated or hold bytes: lists of fields."""
        for field in descriptor.fields:
            if field.type == FieldDescriptor.TYPE_MESSAGE:
                if field.label == FieldDescriptor.LABEL_REPEATED:
                    yield [field]
                if depth and not field.message_type.GetOptions().map_entry:
                    for rest in self.fields(field.message_type, depth - 1):
                        yield [field, *rest]
            elif field.label == FieldDescriptor.LABEL_REPEATED or field.cpp_type == FieldDescriptor.CPPTYPE_STRING:
                yield [field]

    def text(self, size, number=0):
        words = self.rng.choice((["a"], ["The", "old", "cat"], ["x" * 40], ["<b>", "%1$s", "&amp;"], ["."]))
        unit = " ".join(words) + f" {number} "
        return (unit * (size // len(unit) + 1))[:max(size, 1)]

    def fill(self, message, path, count, same=False):
        """Adds `count` values, or as many words, to the field at the end of the path."""
        for field in path[:-1]:
            inner = getattr(message, field.name)
            message = inner.add() if field.label == FieldDescriptor.LABEL_REPEATED else inner
        field = path[-1]
        repeated = field.label == FieldDescriptor.LABEL_REPEATED
        if field.type == FieldDescriptor.TYPE_MESSAGE:
            for number in range(count):
                self.set_all(getattr(message, field.name).add(), 0 if same else number)
        elif repeated:
            values = [self.scalar(field, 0 if same else number, 8) for number in range(count)]
            getattr(message, field.name).extend(values)
        else:
            setattr(message, field.name, self.scalar(field, 0, 8 * count))

    def set_all(self, message, number):
        for field in message.DESCRIPTOR.fields:
            if field.label == FieldDescriptor.LABEL_REPEATED:
                if field.type != FieldDescriptor.TYPE_MESSAGE:
                    getattr(message, field.name).append(self.scalar(field, number, 8))
            elif field.type != FieldDescriptor.TYPE_MESSAGE and field.containing_oneof is None:
                setattr(message, field.name, self.scalar(field, number, 8))

    def scalar(self, field, number, size):
        kind = field.cpp_type
        if kind == FieldDescriptor.CPPTYPE_STRING:
            text = self.text(size, number)
            return text if field.type == FieldDescriptor.TYPE_STRING else text.encode()
        if kind == FieldDescriptor.CPPTYPE_ENUM:
            return field.enum_type.values[number % len(field.enum_type.values)].number
        if kind == FieldDescriptor.CPPTYPE_BOOL:
            return bool(number % 2)
        return number % 1000

    def hostile(self, descriptor):
        """A request of up to a MiB of which one to three fields are full, with wild numbers elsewhere."""
        message = self.base(descriptor)
        paths = list(self.fields(descriptor))
        for path in self.rng.sample(paths, min(len(paths), self.rng.randrange(1, 4))):
            with contextlib.suppress(ValueError, TypeError):
                self.fill(message, path, int(2 ** self.rng.uniform(0, 14)), self.rng.random() < 0.5)
        if self.rng.random() < 0.8 and not descriptor.name.startswith("Delete"):
            self.name(message)
        options = descriptor.fields_by_name.get("options")
        for field in options.message_type.fields if options is not None and self.rng.random() < 0.5 else ():
            if field.label != FieldDescriptor.LABEL_REPEATED and self.rng.random() < 0.1 and \
                    field.type in (FieldDescriptor.TYPE_INT32, FieldDescriptor.TYPE_FLOAT, FieldDescriptor.TYPE_BOOL):
                setattr(message.options, field.name, self.rng.choice((0, 1, 2, 5)))
        return message


class HostileTest(unittest.TestCase):
    idle = []  # the p99 of others' calls and of /healthz beside those who only take time, in seconds

    @classmethod
    def setUpClass(cls):
        cls.directory = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.directory.cleanup)
        tokens = os.path.join(cls.directory.name, "tokens")
        with open(tokens, "w", encoding="utf-8") as file:
            file.writelines(f"{name} {token}\n" for name, token in TOKENS.items())
        admin = f"unix:{os.path.join(cls.directory.name, 'admin')}"
        cls.server = Server("--model", f"en-de-fr-es={BUILT_IN}", "--workers", "2", "--auth-tokens", tokens,
                            "--memory-limit", "1GiB", "--max-characters", "1000000", "--cache-bytes", "16MiB",
                            "--admin-address", admin)
        cls.addClassCleanup(cls.server.kill)
        cls.others = subprocess.Popen(
            [sys.executable, bystanders.__file__, cls.server.grpc_address, cls.server.http_address, TOKENS["victim"]],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        cls.addClassCleanup(cls.others.communicate)
        for thread in os.listdir("/proc/self/task"):
            os.setpriority(os.PRIO_PROCESS, int(thread), NICENESS)
        cls.attacker = grpc.insecure_channel(cls.server.grpc_address, OPTIONS)
        cls.operators = grpc.insecure_channel(admin, OPTIONS)
        cls.addClassCleanup(cls.operators.close)
        cls.addClassCleanup(cls.attacker.close)
        glossary = pb.Glossary(name="own", dictionaries=[pb.GlossaryDictionary(
            source_language="en", target_language="de", entries=[pb.GlossaryEntry(source="cat", targets=["Katze"])])])
        segments = [pb.MemorySegment(source=f"The {i} old cats sleep.", target=f"Die {i} alten Katzen schlafen.")
                    for i in range(1000)]
        memory = pb.TranslationMemory(name="own", source_language="en", target_language="de")
        cls.ids = {}
        for kept, request in (("Glossary", pb.CreateGlossaryRequest(glossary=glossary)),
                              ("Memory", pb.CreateMemoryRequest(memory=memory, segments=segments))):
            answer = getattr(pb, {"Glossary": "Glossary", "Memory": "TranslationMemory"}[kept])
            create = cls.attacker.unary_unary(f"/dragoman.v1.{kept}Service/Create{kept}",
                                              request_serializer=lambda m: m.SerializeToString(),
                                              response_deserializer=answer.FromString)
            cls.ids[kept] = create(request, metadata=bearer("attacker")).id

    def call(self, service, method, request, timeout=5, name="attacker"):
        """The code of a call with any message, or its bytes, thrice if the method takes several."""
        channel = self.operators if service.file.name.endswith("admin.proto") else self.attacker
        path = f"/{service.full_name}/{method.name}"
        answer = type(new(method.output_type))
        described = descriptor_pb2.MethodDescriptorProto()
        method.CopyToProto(described)
        several, streams = described.client_streaming, described.server_streaming
        kind = channel.stream_stream if several else channel.unary_stream if streams else channel.unary_unary
        try:
            answers = kind(path, request_serializer=lambda m: m if isinstance(m, bytes) else m.SerializeToString(),
                           response_deserializer=answer.FromString)(
                iter([request] * 3) if several else request, metadata=bearer(name), timeout=timeout)
            if streams:
                collections.deque(answers, maxlen=0)
        except grpc.RpcError as error:
            return error.code()
        return grpc.StatusCode.OK

    def ask(self, method, path, body, seconds="30", token=TOKENS["attacker"], kind="application/json"):
        connection = http.client.HTTPConnection(self.server.http_address, timeout=60)
        try:
            connection.request(method, path, body, {"X-Request-Timeout": seconds, "Content-Type": kind, **(
                {"Authorization": f"Bearer {token}"} if token else {})})
            answer = connection.getresponse()
            return answer.status, answer.read()
        except (ConnectionError, TimeoutError):
            return 0, b""  # a body over the limit is not read
        finally:
            connection.close()

    def post_unread(self, path, request):
        """A connection over which a request is sent whose answer nobody reads."""
        body = json_format.MessageToJson(request).encode()
        connection = socket.socket()
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        host, port = self.server.http_address.split(":")
        connection.connect((host, int(port)))
        connection.sendall(f"POST {path} HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n"
                           f"Authorization: Bearer {TOKENS['attacker']}\r\n"
                           "Content-Type: application/json\r\n\r\n".encode() + body)
        return connection

    def upload(self, whole, seconds="30", path="/v1/translate_file", token=TOKENS["attacker"]):
        """The answer to a form with a file."""
        return self.ask("POST", path, whole, seconds, token, "multipart/form-data; boundary=B")

    def resident(self):
        with open(f"/proc/{self.server.process.pid}/status", encoding="utf-8") as file:
            sizes = dict(line.split(":", 1) for line in file)
        return {key: int(sizes[key].split()[0]) / 1024 for key in ("VmRSS", "VmHWM")}

    def peak_begins(self):
        """Resets VmHWM, and returns what is resident now."""
        with open(f"/proc/{self.server.process.pid}/clear_refs", "w", encoding="utf-8") as file:
            file.write("5")
        return self.resident()["VmRSS"]

    def cpu(self):
        with open(f"/proc/{self.server.process.pid}/stat", encoding="utf-8") as file:
            fields = file.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    @contextlib.contextmanager
    def watched(self):
        """The p99 of others' calls and of /healthz for at least half a second, and their errors."""
        print("begin", file=self.others.stdin, flush=True)
        start = time.monotonic()
        seen = []
        try:
            yield seen
            time.sleep(max(0, start + 0.5 - time.monotonic()))
        finally:
            print("end", file=self.others.stdin, flush=True)
            seen += json.loads(self.others.stdout.readline())

    def setUp(self):
        if self.idle:
            return
        busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(2)]
        with self.watched() as seen:
            time.sleep(1)
        for each in busy:
            each.kill()
            each.wait()
        self.idle.extend(seen[:2])

    @contextlib.contextmanager
    def beside(self, what, allowance=ALLOWANCE):
        """Others' latency and the memory while something goes on."""
        before = self.cpu()
        with self.watched() as seen:
            yield
        calls, health, errors = seen
        print(f"{what}: p99 of others {1000 * calls:.0f} ms, of /healthz {1000 * health:.0f} ms, "
              f"peak {self.resident()['VmHWM']:.0f} MB, CPU {self.cpu() - before:.1f} s")
        self.assertEqual(errors, [], what)
        if not instrumented():
            self.assertLess(calls, 3 * self.idle[0] + allowance, what)
            self.assertLess(health, 2 * self.idle[1] + PREPARING + ALLOWANCE, what)
            self.assertLess(self.resident()["VmHWM"] * MIB, LIMIT, what)
        self.assertIsNone(self.server.process.poll(), what)

    def in_parallel(self, number, act):
        with futures.ThreadPoolExecutor(number) as threads:
            for done in [threads.submit(act, i) for i in range(number)]:
                done.result()

    # ---- All methods ---------------------------------------------------------------------------

    def test_calls_of_every_method_with_any_field_full(self):
        value = seed()
        every = [*methods(), *methods_of_other_apis()]
        self.assertGreater(len(every), 28)

        def attack(thread):
            messages = Messages(random.Random(value * 1000 + thread), self.ids)
            for i in range(CALLS // 4):
                service, method = every[(i + thread) % len(every)]
                code = self.call(service, method, messages.hostile(method.input_type), timeout=2)
                codes[method.name, code.name] += 1
                self.assertNotIn(code, (grpc.StatusCode.INTERNAL, grpc.StatusCode.UNKNOWN), method.name)
        codes = collections.Counter()
        print(f"idle: p99 of others {1000 * self.idle[0]:.0f} ms, of /healthz {1000 * self.idle[1]:.0f} ms")
        with self.beside(f"{CALLS} hostile calls of {len(every)} methods"):
            self.in_parallel(4, attack)
        print(", ".join(f"{method} {code} {number}" for (method, code), number in sorted(codes.items())))

    def test_the_same_as_json(self):
        value = seed()
        inputs = {method.name: method.input_type for _, method in methods()}
        paths = [(verb.upper(), path, inputs[its["operationId"]]) for path, verbs in json.loads(
            self.ask("GET", "/openapi.json", None)[1])["paths"].items() for verb, its in verbs.items()
                 if its["operationId"] in inputs]
        self.assertGreater(len(paths), 18)

        def attack(thread):
            messages = Messages(random.Random(value * 1000 + thread), self.ids)
            for i in range(CALLS // 16):
                verb, path, kind = paths[(i + thread) % len(paths)]
                message = messages.hostile(kind)
                message = getattr(message, "glossary", message)  # which is the body
                at = path.replace("{id}", self.ids["Memory" if "memories" in path else "Glossary"])
                body = json_format.MessageToJson(message) if verb[0] == "P" else None
                if verb != "DELETE":
                    code, read = self.ask(verb, at.replace("{name}", "en-de-fr-es"), body, "2")
                    self.assertNotEqual(code, 500, (path, read))
        with self.beside(f"{CALLS // 4} of them as JSON"):
            self.in_parallel(4, attack)

    def test_every_path_with_json_of_any_shape(self):
        value, names = seed(), set()
        for path in glob.glob(os.path.join(SOURCE_DIR, "server/compat/*.cc")):
            with open(path, encoding="utf-8") as file:
                names.update(re.findall(r'"([A-Za-z_]\w{1,40})"', file.read()))
        names = sorted(names)
        routes = sorted((verb, path + ("?api-version=3.0&to=de" if api == "azure" else "")) for api, path in {
            (labels["api"], labels["path"]) for labels in
            map(dict, self.server.metrics()["dragoman_http_responses_total"]) if labels["path"]}
                        for verb in ("GET", "POST", "PUT", "PATCH"))
        routes = [(verb, path) for verb, path in routes if self.ask(verb, path.replace("*", "x"), "{}")[0] != 405]
        self.assertGreater(len(routes), 88)
        rng, codes = random.Random(value), collections.Counter()

        def shape(depth):
            scalars = ("de", "The cat is old.", "x" * 1000, 1, -1, 1e99, None, True, "", "BYTES", "text")
            kind = rng.random() if depth < 4 else 1
            if kind < 0.5:
                return {rng.choice(names): shape(depth + 1) for _ in range(rng.randrange(1, 6))}
            if kind < 0.7:
                return [shape(depth + 1)] * int(2 ** rng.uniform(0, 3 if depth else 16))
            return rng.choice(scalars)

        def request(number):
            verb, path = routes[number % len(routes)]
            at = path.replace("**", "any").replace("*", rng.choice(list(self.ids.values())))
            return verb, rng.choice((at, at.replace("3.0&to=de", "2026-06-06"))), json.dumps(shape(0))[:MIB], "2"

        def attack(thread):
            for each in requests[thread::4]:
                code, read = self.ask(*each)
                self.assertNotEqual(code, 500, (each[1], read))
                codes[code] += 1
        for part in range(max(1, CALLS // 600)):  # not all of them at once, which are large
            requests = [request(part * 300 + number) for number in range(300)]
            with self.beside(f"{len(requests)} requests of any shape to {len(routes)} paths"):
                self.in_parallel(4, attack)
        print(sorted(codes.items()))

    def test_every_path_that_takes_files(self):
        value = seed()
        names = {labels["path"] for labels in map(dict, self.server.metrics()["dragoman_http_responses_total"])}
        for path in names:  # a new one cannot be left out
            takes = self.upload(form({}, "a.xyz", b""), path=path)[1].find(b"is of no known format") >= 0
            self.assertLessEqual(takes, any(each.split("?")[0] == path for each in FILE_PATHS), path)
        memories = "/v3/translation_memories"
        with open(os.path.join(SOURCE_DIR, "tests/documents/data/memory.tmx"), "rb") as file:
            memory = file.read().replace(b"    </tu>", b"<tuv xml:lang='de'><seg>Der Hafen</seg></tuv></tu>")
        codes = collections.Counter()

        def take(path, answer):
            self.assertNotEqual(answer[0], 500, (path, answer[1]))
            codes[path.split("?")[0], answer[0]] += 1
            with contextlib.suppress(ValueError):
                return json.loads(answer[1] or "{}")
            return {}

        def attack(thread):
            rng = random.Random(value * 1000 + thread)
            for number in range(max(1, CALLS // 100)):
                name, content = hostile_file(rng, 4 * MIB)
                path, (field, fields) = list(FILE_PATHS.items())[(number + thread) % len(FILE_PATHS)]
                kept = take(path, self.upload(form(fields, name, content, field), "2", path))
                if "document_id" in kept:
                    for end in ("", "/result"):
                        take("/v2/document/*" + end, self.ask("POST", f"/v2/document/{kept['document_id']}{end}",
                                                              json.dumps(kept), "2"))
                content = repeated(rng, memory, 4 * MIB)
                begun = take(memories, self.ask("POST", memories + "/import", json.dumps({
                    "source_file": {"file_name": "a.tmx", "content_length": len(content)}}), "2"))
                if "upload_url" in begun:
                    take("PUT", self.ask("PUT", "/v3" + begun["upload_url"].split("/v3")[1], content, "2",
                                         kind="application/xml"))
        with self.beside(f"{4 * max(1, CALLS // 100)} files and memories"):
            self.in_parallel(4, attack)
        print(sorted(codes.items()))

    def test_streams_that_nobody_reads(self):
        request = pb.TranslateRequest(
            contents=["The cat is old."] * 128, source_language="en", target_language="de",
            options=pb.DecodingOptions(beam_size=8, num_hypotheses=8),
            output=pb.OutputOptions(tokens=True, token_scores=True))
        stub = self.attacker.unary_stream("/dragoman.v1.TranslationService/TranslateStream",
                                          request_serializer=lambda m: m.SerializeToString())
        with self.beside("100 streams over gRPC and 100 over HTTP that nobody reads"):
            calls = [stub(request, metadata=bearer("attacker"), timeout=3) for _ in range(100)]
            held = [self.post_unread("/v1/translate:stream", request) for _ in range(100)]
            time.sleep(2)
            for each in held:
                each.close()
            for call in calls:
                call.cancel()

    def test_large_insights_that_nobody_reads(self):
        request = pb.TranslateRequest(
            contents=["The old cat sees a house. " * 80], source_language="en", target_language="de",
            sentence_splitting=pb.SENTENCE_SPLITTING_NONE, options=pb.DecodingOptions(max_length=1),
            output=pb.OutputOptions(alignments=True, attention_heads=[
                pb.AttentionHeads(kind=pb.ATTENTION_KIND_ENCODER, layer=0)]))
        answers = (("budget", "answers"),)
        with self.beside("100 connections that ask for large insights and do not read them"):
            for _ in range(100):
                self.addCleanup(self.post_unread("/v1/translate", request).close)
            await_true(lambda: self.server.metrics()["dragoman_requests_in_flight"][()] == 0, "all are answered")
            metrics = self.server.metrics()
        used = metrics["dragoman_budget_used"][answers]
        print(f"{used / MIB:.0f} MiB of answers wait")
        self.assertLess(used, metrics["dragoman_budget_limit"][answers])

    def test_each_budget_of_the_page_of_limits_is_in_the_metrics(self):
        with open(os.path.join(SOURCE_DIR, "docs/limits.md"), encoding="utf-8") as page:
            named = set(re.findall(r'budget="(\w+)"', page.read()))
        metrics = self.server.metrics()
        for family in ("used", "limit", "refusals_total"):
            self.assertEqual({dict(labels)["budget"] for labels in metrics[f"dragoman_budget_{family}"]}, named)
        self.assertGreater(min(metrics["dragoman_budget_limit"].values()), 0)
        await_true(lambda: self.server.metrics()["dragoman_budget_used"][(("budget", "store"),)] > 10_000,
                   "what is kept is seen")

    # ---- Nothing is quadratic ------------------------------------------------------------------

    def test_the_work_for_a_field_grows_with_what_is_in_it(self):
        messages = Messages(random.Random(seed()), self.ids)
        slow = []
        for service, method in [*methods(), *methods_of_other_apis()]:
            if method.name in ("TranslateBulk", "TranslateDocument", "TranslateStream") and CALLS <= 600:
                continue  # they have the fields of Translate

            def send(count):
                request = messages.base(method.input_type)
                with contextlib.suppress(ValueError, TypeError):
                    messages.fill(request, path, count, same)
                    if request.ByteSize() <= MIB:
                        self.call(service, method, request, timeout=60)
            for path in messages.fields(method.input_type):
                for same in (False, True):
                    slow += self.grows((method.name, *(field.name for field in path), same), send)
        self.assertEqual(slow, [])

    def test_the_work_for_a_list_in_json_grows_with_what_is_in_it(self):
        entries = {"source_lang": "en", "target_lang": "de", "entries": "cat\tKatze"}
        one = json.dumps({"name": "json", "dictionaries": [entries]})
        glossary = json.loads(self.ask("POST", "/v3/glossaries", one)[1])["glossary_id"]
        kept, azure = f"/v3/glossaries/{glossary}", "?api-version=3.0&to=de"
        slow = []
        for method, path, body in (
                ("POST", "/v2/translate", lambda n: {"text": ["a"] * n, "target_lang": "DE"}),
                ("POST", "/v2/translate", lambda n: {"text": ["a"], "target_lang": "DE", "glossary_ids": ["x"] * n}),
                ("POST", "/v3/glossaries", lambda n: {"name": "json", "dictionaries": [entries] * n}),
                ("PATCH", kept, lambda n: {"dictionaries": [entries] * n}),
                ("PATCH", kept, lambda n: {"dictionaries": [{**entries, "target_lang": f"d{i}"} for i in range(n)]}),
                ("PUT", f"{kept}/dictionaries", lambda n: {
                    **entries, "entries": "\n".join(f"{i}\tKatze" for i in range(n))}),
                ("POST", f"/translate{azure}", lambda n: [{"Text": "a"}] * n),
                ("POST", "/translate?api-version=2026-06-06", lambda n: {
                    "inputs": [{"text": "a", "targets": [{"language": "de"}]}] * n}),
                ("POST", f"/detect{azure}", lambda n: [{"Text": "a"}] * n),
                ("POST", f"/breaksentence{azure}", lambda n: [{"Text": "a"}] * n),
                ("POST", "/language/translate/v2", lambda n: {"q": ["a"] * n, "target": "de"}),
                ("POST", "/language/translate/v2/detect", lambda n: {"q": ["De nada."] * n}),
                ("POST", "/translate", lambda n: {"q": ["a"] * n, "source": "auto", "target": "de"}),
                ("POST", "/imme", lambda n: {"source_lang": "auto", "target_lang": "de", "text_list": ["a"] * n}),
                ("POST", "/v1/chat/completions", lambda n: {
                    "model": ":de", "messages": [{"role": "user", "content": "a"}] * n}),
                ("POST", "/v1/chat/completions", lambda n: {
                    "model": ":de", "messages": [{"role": "user", "content": "\n\n%%\n\n".join(["De nada."] * n)}]}),
                ("POST", "/v2/models/en-de-fr-es/infer", lambda n: {"inputs": [
                    {"name": "text", "datatype": "BYTES", "shape": [n], "data": ["a"] * n}]})):
            slow += self.grows((method, path), lambda count: self.ask(method, path, json.dumps(body(count))))
        self.assertEqual(slow, [])

    def grows(self, what, send):
        """Whether that takes more than in proportion; nothing that is over within moments."""
        def seconds(count):
            before = self.cpu()
            send(count)
            return self.cpu() - before
        small = 2000
        most = seconds(8 * small)
        if most < 0.3:
            return []
        least = min(seconds(small) for _ in range(2))
        # Eight times as much takes at most sixteen times as long.
        if most < 16 * max(least, 0.02):
            return []
        return [f"{what}: {small} take {least:.2f} s and {8 * small} {most:.2f} s"]

    # ---- What was found ------------------------------------------------------------------------

    def translate(self, request, timeout):
        service = pb.DESCRIPTOR.services_by_name["TranslationService"]
        return self.call(service, service.methods_by_name["Translate"], request, timeout=timeout)

    def test_a_glossary_whose_entries_match_everywhere(self):
        request = pb.TranslateRequest(contents=["a " * 200_000], source_language="en", target_language="de")
        for i in range(40_000):
            request.options.glossary.add(source="a", targets=[f"b{i % 100}"])
        with self.beside("a glossary of 40,000 entries for one word"):
            self.in_parallel(4, lambda _: self.translate(request, 5))

    def test_glossary_targets_that_are_inflected(self):
        request = pb.TranslateRequest(contents=["The cat sees w7 and w9. " * 200], source_language="en",
                                      target_language="de")
        for i in range(250):
            request.options.glossary.add(source=f"w{i}", inflect=True,
                                         targets=[f"Donaudampfschiff{i}x{k}" for k in range(20)])
        with self.beside("5,000 glossary targets with inflections, 16 at a time"):
            start = time.monotonic()
            self.in_parallel(16, lambda _: self.translate(request, 1))
            self.assertLess(time.monotonic() - start, 10)

    def test_what_strangers_send_is_read_for_their_token_alone(self):
        bodies = [("application/json", b'{"x":[' + b"{}," * 340_000 + b"{}]}"),
                  ("application/json", b'{"x":"' + b"\\n" * 520_000 + b'","api_key":"nobodys"}'),
                  ("application/x-www-form-urlencoded", b"&".join(b"%d=" % i for i in range(9_000))),
                  ("multipart/form-data; boundary=B", form({str(i): "" for i in range(9_000)}, "a.txt", b"Hi."))]
        paths = sorted({labels["path"] for labels in map(dict, self.server.metrics()["dragoman_http_responses_total"])})
        codes = collections.Counter()

        def send(path):
            for kind, body in bodies:
                query = "?api-version=3.0&to=de" if path.startswith(("/detect", "/breaksentence")) else ""
                codes[self.ask("POST", path.replace("*", "x") + query, body, token=None, kind=kind)[0]] += 1
        before = self.peak_begins()
        with self.beside(f"{len(bodies)} bodies of up to a MiB to {len(paths)} paths, without a token"):
            for path in paths:
                send(path)
        taken = self.resident()["VmHWM"] - before
        print(f"{taken:.0f} MB more: {sorted(codes.items())}")
        if not instrumented():
            self.assertLess(taken, 64)

    def test_stored_glossaries_and_forbidden_words_that_repeat_themselves(self):
        create = self.attacker.unary_unary("/dragoman.v1.GlossaryService/CreateGlossary",
                                           request_serializer=lambda m: m.SerializeToString(),
                                           response_deserializer=pb.Glossary.FromString)
        words = ["".join(letters) for letters in itertools.islice(itertools.product("abcdefghijklmnopqrst", repeat=4),
                                                                  90_000)]
        pair = pb.GlossaryDictionary(source_language="en", target_language="de", entries=[
            pb.GlossaryEntry(source=word, target="b") for word in words])
        kept = [create(pb.CreateGlossaryRequest(glossary=pb.Glossary(name=name, dictionaries=[pair])),
                       metadata=bearer("attacker")).id for name in "abc"]
        request = pb.TranslateRequest(contents=[" ".join(words[::500])], source_language="en", target_language="de",
                                      glossary_ids=kept)
        with self.beside("three stored glossaries of 90,000 entries and a text of their words, 4 at a time"):
            self.in_parallel(4, lambda _: self.translate(request, 5))
        service = pb.DESCRIPTOR.services_by_name["GlossaryService"]
        for each in kept:
            self.call(service, service.methods_by_name["DeleteGlossary"], pb.DeleteGlossaryRequest(id=each))
        request = pb.TranslateRequest(contents=["The cat is old."], source_language="en", target_language="de",
                                      options=pb.DecodingOptions(suppress_token_ids=[5] * 1_000_000))
        with self.beside("a forbidden token a million times, 4 at a time"):
            self.in_parallel(4, lambda _: [self.translate(request, 5) for _ in range(8)])

    def test_segments_of_one_source_are_learned(self):
        service = pb.DESCRIPTOR.services_by_name["MemoryService"]
        request = pb.LearnSegmentsRequest(id=self.ids["Memory"], segments=[
            pb.MemorySegment(source="a", target=str(i)) for i in range(80_000)])
        with self.beside("80,000 segments of one source are learned, 2 at a time"):
            self.in_parallel(2, lambda _: self.call(service, service.methods_by_name["LearnSegments"], request, 15))

    def test_a_form_of_800_000_parts(self):
        whole = b"--B\r\ncontent-disposition:;name=a\r\n\r\n\r\n" * 800_000
        with self.beside(f"forms of 800,000 parts, {len(whole) / 1e6:.0f} MB, without a token, 8 at a time"):
            self.in_parallel(8, lambda _: self.upload(whole, token=None))

    def test_languages_of_many_texts(self):
        texts = {"q": ["De nada."] * 90_000}
        with self.beside("languages of 90,000 texts, 4 at a time"):
            self.in_parallel(4, lambda _: self.ask("POST", "/language/translate/v2/detect", json.dumps(texts)))
            self.in_parallel(4, lambda _: self.ask("POST", "/detect?api-version=3.0", json.dumps(
                [{"Text": text} for text in texts["q"][:40_000]])))
            self.in_parallel(4, lambda _: self.ask("POST", "/breaksentence?api-version=3.0", json.dumps(
                [{"Text": "Hello there. How are you? " * 35_000}])))
            self.in_parallel(4, lambda _: self.ask("POST", "/v1/translate", json.dumps(
                {"contents": texts["q"], "sourceLanguage": "auto", "targetLanguage": "de"})))

    def test_one_text_into_thousands_of_languages(self):
        with self.beside("30,000 texts into 3,000 languages"):
            self.assertEqual(self.ask("POST", "/translate?api-version=3.0&to=" + "a," * 3000,
                                      json.dumps([{"Text": "a"}] * 30_000))[0], 400)

    def test_a_large_glossary_is_changed_in_many_places(self):
        pair = {"source_lang": "en", "target_lang": "de"}
        entries = "\n".join(f"w{i}\tx{i}" for i in range(40_000))
        code, made = self.ask("POST", "/v3/glossaries", json.dumps(
            {"name": "large", "dictionaries": [{**pair, "entries": entries}]}))
        self.assertEqual(code, 201)
        path = f"/v3/glossaries/{json.loads(made)['glossary_id']}"
        with self.beside("a glossary of 40,000 entries is changed in 1,000 places"):
            start = time.monotonic()
            self.assertEqual(self.ask("PATCH", path, json.dumps(
                {"dictionaries": [{**pair, "entries": "cat\tKater"}] * 1000}))[0], 200)
            self.assertLess(time.monotonic() - start, 5)
        with self.beside("its entries are read, 32 at a time"):
            self.in_parallel(32, lambda _: self.ask("GET", path + "/entries", None))
        self.ask("DELETE", path, None)

    def test_answers_that_nobody_reads(self):
        create = self.attacker.unary_unary("/dragoman.v1.GlossaryService/CreateGlossary",
                                           request_serializer=lambda m: m.SerializeToString(),
                                           response_deserializer=pb.Glossary.FromString)
        made = create(pb.CreateGlossaryRequest(glossary=pb.Glossary(name="read", dictionaries=[pb.GlossaryDictionary(
            source_language="en", target_language="de",
            entries=[pb.GlossaryEntry(source=f"w{i}", targets=["x" * 1000]) for i in range(1000)])])),
                      metadata=bearer("attacker"))
        request = pb.GetGlossaryRequest(id=made.id).SerializeToString()
        head = http2.head("/dragoman.v1.GlossaryService/GetGlossaryEntries", TOKENS["attacker"])
        message = b"\0" + len(request).to_bytes(4, "big") + request
        with self.beside("1,000 answers of a MB that nobody reads"), socket.create_connection(
                self.server.grpc_address.rsplit(":", 1), timeout=30) as connection:
            connection.sendall(http2.PREFACE + http2.frame(http2.SETTINGS, 0, 0) + b"".join(
                http2.frame(http2.HEADERS, http2.END_HEADERS, stream, head) +
                http2.frame(http2.DATA, http2.END_STREAM, stream, message) for stream in range(1, 2000, 2)))
            time.sleep(2)
        self.call(pb.DESCRIPTOR.services_by_name["GlossaryService"], pb.DESCRIPTOR.services_by_name[
            "GlossaryService"].methods_by_name["DeleteGlossary"], pb.DeleteGlossaryRequest(id=made.id))

    def test_long_texts_are_prepared_beside_others(self):
        text = "The old teacher sees a small house. " * 27_000
        with self.beside("texts of 970 kB, 16 at a time"):
            self.in_parallel(16, lambda _: self.translate(
                pb.TranslateRequest(contents=[text], source_language="en", target_language="de"), 2))
        service = pb.DESCRIPTOR.services_by_name["TranslationService"]
        with self.beside("970 kB to be tokenized, 16 at a time"):
            self.in_parallel(16, lambda _: self.call(
                service, service.methods_by_name["Tokenize"],
                pb.TokenizeRequest(contents=[text], source_language="en", target_language="de"), timeout=2))

    def test_bodies_that_never_end(self):
        head = (b"POST /v1/translate HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
                b"Content-Length: 1048576\r\n\r\n")
        with self.beside("700 bodies of a MiB that never end"):
            held = []
            for _ in range(700):
                connection = socket.create_connection(self.server.http_address.split(":"), timeout=30)
                with contextlib.suppress(OSError):
                    connection.sendall(head + b" " * (MIB - 1))
                held.append(connection)
            refused = self.server.metrics()["dragoman_budget_refusals_total"][(("budget", "requests"),)]
            self.assertGreater(refused, 0)
            for connection in held:
                connection.close()

    def aborted(self):
        return self.server.metrics()["dragoman_connections_refused_total"][(("reason", "calls"),)]

    def attack_port(self, attack, connections, token="", seconds=1 if CALLS <= 600 else 3):
        """Attacks the gRPC port with frames (http2_attacker.py)."""
        ended = subprocess.run([sys.executable, http2.__file__, self.server.grpc_address, attack, str(connections),
                                str(seconds), token], capture_output=True, text=True, timeout=60, check=True)
        print(ended.stdout, end="")
        await_true(lambda: self.server.metrics()["dragoman_budget_used"][(("budget", "requests"),)] < MIB,
                   "the attackers' room is free again, for the next test")

    def test_messages_that_never_end(self):
        with self.beside("60 messages of a MiB that never end on each of 40 connections, without a token"):
            self.attack_port("messages", 40)
        with self.beside("the same of a caller with a token"):
            self.attack_port("messages", 40, TOKENS["attacker"])
        with self.beside("the same in bulk calls and documents"):
            self.attack_port("streams", 40, TOKENS["attacker"])

    def test_a_file_in_json_that_is_mostly_something_else(self):
        body = json.dumps({"targetLanguageCode": "de", "x": [{}] * 2_000_000})
        with self.beside("8 MB of empty objects as a file in JSON, 4 at a time"):
            answers = []
            self.in_parallel(4, lambda _: answers.append(
                self.ask("POST", "/v3/projects/any/locations/any:translateDocument", body)[0]))
        self.assertLessEqual(set(answers), {400, 429})

    def test_pages_that_nobody_reads(self):
        host, port = self.server.http_address.split(":")
        held = []
        with self.beside("700 connections that ask for a large page and do not read it"):
            for _ in range(700):
                held.append(socket.socket())
                self.addCleanup(held[-1].close)
                # With large segments, the page would be in the server's kernel at once.
                held[-1].setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, 536)
                held[-1].setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
                held[-1].connect((host, int(port)))
                held[-1].sendall(b"GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n")
            self.assertEqual({each.recv(12) for each in held}, {b"HTTP/1.1 200", b"HTTP/1.1 429"})

    def test_messages_of_gigabytes(self):
        with self.beside("60 messages of 2 GiB on each of 8 connections, of a caller with a token"):
            self.attack_port("gigabytes", 8, TOKENS["attacker"])

    def test_entries_of_two_bytes(self):
        """What an entry becomes when it is parsed is reserved, whatever the method and the field."""
        messages = Messages(random.Random(seed()), self.ids)
        ways = {(service.full_name, method.name, path[-1].full_name): (service, method, path)
                for service, method in [*methods(), *methods_of_other_apis()]
                for path in messages.fields(method.input_type)
                if path[-1].label == FieldDescriptor.LABEL_REPEATED}
        always = [way for key, way in ways.items() if key[2] == "dragoman.v1.DecodingOptions.glossary"]
        self.assertGreater(len(always), 3)
        limits = self.server.metrics()["dragoman_budget_limit"]
        for service, method, path in always + messages.rng.sample(list(ways.values()), max(6, CALLS // 100)):
            message = varint(path[-1].number << 3 | 2) + b"\0"
            message *= (MIB - 1000) // len(message)
            for field in path[-2::-1]:
                message = varint(field.number << 3 | 2) + varint(len(message)) + message
            message = messages.base(method.input_type).SerializeToString() + message
            before = self.peak_begins()
            with self.beside(f"{path[-1].full_name} in {method.name}, {len(message) / 1e6:.1f} MB, 8 at a time"):
                self.in_parallel(8, lambda number: self.call(
                    service, method, message, 5, ("attacker", "another")[number % 2]))
            taken = self.resident()["VmHWM"] - before
            print(f"{taken:.0f} MB more")
            if not instrumented():
                self.assertLess(taken * MIB, limits[(("budget", "requests"),)])

    def test_requests_of_a_bulk_call_that_wait_for_memory(self):
        request = pb.TranslateBulkRequest(id="1")
        request.request.options.glossary.extend([pb.GlossaryEntry()] * 340_000)
        message = request.SerializeToString()
        stub = self.attacker.stream_stream("/dragoman.v1.TranslationService/TranslateBulk")
        release = threading.Event()

        def send():
            yield message
            release.wait()
        # They are parsed on gRPC's threads, so others wait for some of them.
        with self.beside(f"requests of {len(message) / 1e6:.1f} MB that take fifty times as much, of 48 bulk calls",
                         allowance=5):
            calls = [stub(send(), metadata=bearer(("attacker", "another")[i % 2])) for i in range(48)]
            time.sleep(2)
            release.set()
            for call in calls:
                call.cancel()

    def test_frames_that_never_end(self):
        with self.beside("12 connections with nothing but metadata, continuations, empty data, settings or pings"):
            self.attack_port("frames", 12)

    def test_calls_that_are_reset_at_once(self):
        before = self.aborted()
        stub = self.attacker.unary_unary("/dragoman.v1.TranslationService/Translate",
                                         request_serializer=lambda m: m.SerializeToString())
        request = pb.TranslateRequest(contents=["Good morning."], source_language="en", target_language="de")
        with self.beside("a client that cancels 1,000 calls"):
            for call in [stub.future(request, metadata=bearer("attacker")) for _ in range(1000)]:
                call.cancel()
        self.assertEqual(self.aborted(), before)
        # The calls of four connections, twice what each may have open, come before those of others.
        with self.beside("4 connections that begin calls and reset them, without a token", allowance=3):
            self.attack_port("resets", 4)
        self.assertGreater(self.aborted(), before)
        with self.beside("afterwards, new connections"), \
                grpc.insecure_channel(self.server.grpc_address, OPTIONS) as channel:
            channel.unary_unary("/dragoman.v1.TranslationService/Translate",
                                request_serializer=lambda m: m.SerializeToString())(
                request, metadata=bearer("another"), timeout=5)

    def test_a_call_is_judged_before_its_message_has_come(self):
        message = pb.TranslateRequest(contents=["Good morning."], source_language="en",
                                      target_language="de").SerializeToString()
        message = b"\0" + len(message).to_bytes(4, "big") + message

        def begin(name):
            connection = socket.create_connection(self.server.grpc_address.split(":"), timeout=10)
            self.addCleanup(connection.close)
            connection.sendall(http2.PREFACE + http2.frame(http2.SETTINGS, 0, 0) + http2.frame(
                http2.HEADERS, http2.END_HEADERS, 1, http2.head(http2.ONE[0], TOKENS.get(name, "nobody's-token-0123"))) +
                http2.frame(http2.DATA, 0, 1, message[:7]))
            return connection, connection.makefile("rb")

        def kinds_until_the_end(file):
            kinds = set()
            while True:
                header = file.read(9)
                file.read(int.from_bytes(header[:3], "big"))
                kinds.add(header[3])
                if header[3] == http2.HEADERS and header[4] & http2.END_STREAM:
                    return kinds

        # Nothing but headers: an error.
        self.assertNotIn(http2.DATA, kinds_until_the_end(begin("nobody")[1]))
        connection, file = begin("another")
        gone, _ = begin("another")
        time.sleep(0.2)
        gone.close()
        connection.sendall(http2.frame(http2.DATA, http2.END_STREAM, 1, message[7:]))
        self.assertIn(http2.DATA, kinds_until_the_end(file))

    def test_uploads_that_never_end(self):
        head = (b"POST /v1/translate_file HTTP/1.1\r\nHost: x\r\n"
                b"Content-Type: multipart/form-data; boundary=B\r\nAuthorization: Bearer " +
                TOKENS["attacker"].encode() + b"\r\nContent-Length: 33000000\r\n\r\n"
                b"--B\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.txt\"\r\n\r\n")
        with self.beside("60 uploads of 20 MB that never end"):
            held = []
            for _ in range(60):
                connection = socket.create_connection(self.server.http_address.split(":"), timeout=30)
                with contextlib.suppress(OSError):
                    connection.sendall(head + b" " * 20_000_000)
                held.append(connection)
            # Another one's file finds room.
            answer = self.upload(form({"target_language": "de"}, "a.txt", b"Good morning."), token=TOKENS["another"])
            self.assertEqual(answer, (200, b"Guten Morgen."))
            for each in held:
                each.close()

    def test_documents_that_only_begin(self):
        with self.beside("64 documents that only begin"):
            channel = grpc.insecure_channel(self.server.grpc_address, OPTIONS)
            self.addCleanup(channel.close)
            stub = channel.stream_stream("/dragoman.v1.TranslationService/TranslateDocument",
                                         request_serializer=lambda m: m.SerializeToString(),
                                         response_deserializer=pb.TranslateDocumentResponse.FromString)
            header = pb.TranslateDocumentRequest(header=pb.DocumentHeader(file_name="a.txt"))
            release = threading.Event()

            def begin():
                yield header
                release.wait()
            calls = [stub(begin(), metadata=bearer("attacker")) for _ in range(64)]
            time.sleep(1)

            def whole():
                yield pb.TranslateDocumentRequest(header=pb.DocumentHeader(
                    file_name="a.txt", request=pb.TranslateRequest(source_language="en", target_language="de")))
                yield pb.TranslateDocumentRequest(chunk=b"Good morning.")
            answers = list(stub(whole(), metadata=bearer("another"), timeout=30))
            self.assertTrue(any(answer.chunk == b"Guten Morgen." for answer in answers))
            release.set()
            for call in calls:
                call.cancel()

    def test_documents_that_unpack_to_much(self):
        # With numbers, so that it is not taken for a bomb before it is read.
        paragraphs = "".join(f"<w:p><w:r><w:t>a{i * 7919 % 300007}</w:t></w:r></w:p>" for i in range(300_000))
        body = (b'<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body>' +
                paragraphs.encode() + b"</w:body></w:document>")
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as file:
            file.writestr("[Content_Types].xml", '<Types xmlns="http://schemas.openxmlformats.org/package/2006/'
                          'content-types"><Default Extension="xml" ContentType="application/vnd.openxmlformats-'
                          'officedocument.wordprocessingml.document.main+xml"/></Types>')
            file.writestr("word/document.xml", body)
        markdown = b"- *a* `b` [c](d) **e** ![f](g)\n" * 900_000

        def send(number):
            name, content = (("a.docx", packed.getvalue()), ("a.md", markdown))[number % 2]
            answers[name, self.upload(form({"target_language": "de"}, name, content), "10")[0]] += 1
        answers = collections.Counter()
        with self.beside(f"8 documents of {len(packed.getvalue()) / 1e3:.0f} kB that are {len(body) / 1e6:.0f} MB, and "
                         "of Markdown"):
            self.in_parallel(8, send)
        self.assertLessEqual({code for _, code in answers}, {0, 413, 429, 504}, answers)

    def test_memories_that_have_far_more_than_was_asked(self):
        create = self.attacker.unary_unary("/dragoman.v1.MemoryService/CreateMemory",
                                           request_serializer=lambda m: m.SerializeToString(),
                                           response_deserializer=pb.TranslationMemory.FromString)
        memory = create(pb.CreateMemoryRequest(
            memory=pb.TranslationMemory(name="long", source_language="en", target_language="de"),
            segments=[pb.MemorySegment(source="Good day.", target="Tag " * 4000)]), metadata=bearer("attacker")).id
        whole = pb.TranslateRequest(contents=["Good day.\n" * 13_000], source_language="en", target_language="de",
                                    memory_ids=[memory])
        fields = {"target_language": "de", "source_language": "en",
                  "request": json.dumps({"memoryIds": [memory]})}
        file = form(fields, "a.txt", b"Good day.\n\n" * 40_000)

        def send(number):
            return self.translate(whole, 5).name if number % 2 == 0 else self.upload(file)[0]
        with self.beside("200 MB of a memory for a text of 130 kB, and 640 MB for a file of 440 kB, 4 at a time"), \
                futures.ThreadPoolExecutor(4) as threads:
            answers = set(threads.map(send, range(4)))
        self.assertLessEqual(answers, {"INVALID_ARGUMENT", 413, 429})
        self.assertGreater(len(answers), 1)

    def test_a_document_with_a_large_glossary_of_its_own(self):
        own = json.dumps({"options": {"glossary": [{"source": f"w{i}", "targets": ["a"]} for i in range(20_000)]}})
        fields = {"source_language": "en", "target_language": "de", "request": own}
        file = form(fields, "a.txt", b"Good day.\n\n" * 300)
        answers = collections.Counter()
        with self.beside("files of 300 passages with a glossary of 20,000 entries, 4 at a time"):
            self.in_parallel(4, lambda _: answers.update([self.upload(file, "3")[0]]))
        # The glossary is prepared once for a file, so that there is time for the file.
        self.assertGreater(answers[200], 0, answers)

    def test_what_others_asked_does_not_show(self):
        stub = self.attacker.unary_unary("/dragoman.v1.TranslationService/Translate",
                                         request_serializer=lambda m: m.SerializeToString(),
                                         response_deserializer=pb.TranslateResponse.FromString)
        request = pb.TranslateRequest(contents=["The secret cat is old."], source_language="en", target_language="de")
        reused = [stub(request, metadata=bearer(name)).timing.reused_sentences
                  for name in ("victim", "attacker", "attacker", "victim")]
        self.assertEqual(reused, [0, 0, 1, 1])


if __name__ == "__main__":
    unittest.main()
