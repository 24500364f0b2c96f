"""Traces: what a collector gets over OTLP/HTTP as JSON, checked against the published schema (opentelemetry-proto 1.x,
trace/v1/trace.proto, and the JSON mapping of the OTLP specification)."""

import http.client
import http.server
import json
import os
import re
import tempfile
import threading
import unittest

import grpc

import together
from harness import FLOAT32, MODEL, Server, await_true, pb, pb_grpc, run_server

load_tests = together.load_tests

TEXT = "The old teacher sees a small house."
TRACE, SPAN = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
FULL = 256  # calls, which the server sends at once; fewer wait for five seconds


def is_id(digits):
    """In OTLP's JSON, ids are hexadecimal (other bytes are base64), and none is all zeros."""
    return lambda value: (isinstance(value, str) and re.fullmatch(f"[0-9a-f]{{{digits}}}", value)
                          and set(value) != {"0"})


def is_text(value):
    return isinstance(value, str)


def is_time(value):
    """A fixed64: a string of digits in protobuf's JSON."""
    return isinstance(value, str) and re.fullmatch("[0-9]{18,20}", value)


def is_int64(value):
    return isinstance(value, str) and re.fullmatch("-?[0-9]+", value)


def is_enum(*values):
    """Enums are numbers in OTLP's JSON."""
    return lambda value: type(value) is int and value in values


def is_list(schema):
    return lambda value: isinstance(value, list) and all(check(each, schema) for each in value)


def check(message, schema):
    """Raises unless a message has only fields of the schema, with values of their kinds.  `!` marks a required one."""
    assert isinstance(message, dict), message
    fields = {name.rstrip("!"): kind for name, kind in schema.items()}
    for name in schema:
        assert not name.endswith("!") or name[:-1] in message, (name, message)
    for name, value in message.items():
        assert name in fields, (name, message)
        kind = fields[name]
        assert check(value, kind) if isinstance(kind, dict) else kind(value), (name, value)
    return True


VALUE = {"stringValue": is_text, "intValue": is_int64, "boolValue": lambda value: type(value) is bool,
         "doubleValue": lambda value: isinstance(value, (int, float))}
ATTRIBUTES = is_list({"key!": lambda key: isinstance(key, str) and key, "value!": VALUE})
SPAN_SCHEMA = {
    "traceId!": is_id(32), "spanId!": is_id(16), "parentSpanId": is_id(16), "traceState": is_text,
    "name!": lambda name: isinstance(name, str) and name,
    "kind!": is_enum(1, 2, 3, 4, 5), "startTimeUnixNano!": is_time, "endTimeUnixNano!": is_time,
    "attributes": ATTRIBUTES, "status": {"message": is_text, "code": is_enum(0, 1, 2)},
}
REQUEST_SCHEMA = {"resourceSpans!": is_list({
    "resource!": {"attributes!": ATTRIBUTES},
    "scopeSpans!": is_list({"scope!": {"name!": is_text, "version": is_text},
                            "spans!": is_list(SPAN_SCHEMA)}),
})}


def attributes_of(message):
    return {each["key"]: next(iter(each["value"].values())) for each in message["attributes"]}


class Collector(http.server.ThreadingHTTPServer):
    """Takes what the schema allows, and refuses the rest.  The first `away` requests get 503, and those to an `endless`
    one get an answer that goes on as long as it is read."""

    endless = False
    sent = 0  # bytes of such answers

    def __init__(self, away=0):
        self.spans, self.resources, self.errors, self.bodies = [], [], [], []
        self.headers = {}
        self.away = away
        super().__init__(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        self.endpoint = f"http://127.0.0.1:{self.server_port}"

    def take(self, path, kind, body):
        if path != "/v1/traces" or kind != "application/json":
            return 404
        if self.away > 0:
            self.away -= 1
            return 503
        self.bodies.append(body)
        try:
            request = json.loads(body)
            check(request, REQUEST_SCHEMA)
        except (ValueError, AssertionError) as error:
            self.errors.append(error)
            return 400
        for resource in request["resourceSpans"]:
            self.resources.append(attributes_of(resource["resource"]))
            for scope in resource["scopeSpans"]:
                self.spans.extend(scope["spans"])
        return 200

    def stop(self):
        self.shutdown()
        self.server_close()


class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.headers = self.headers
        code = self.server.take(self.path, self.headers["Content-Type"], body)
        answer = b'{"partialSuccess":{}}'
        self.send_response(code)
        self.send_header("Content-Type", "application/json")
        if self.server.endless:
            self.end_headers()
            while True:
                self.wfile.write(answer * 1000)  # until it breaks
                self.server.sent += len(answer) * 1000
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_):
        pass


class TracesTest(unittest.TestCase):

    def start(self, *arguments, away=0):
        collector = Collector(away)
        self.addCleanup(collector.stop)
        server = Server(*FLOAT32, "--workers", "1", "--otlp-endpoint", collector.endpoint, *arguments)
        self.addCleanup(server.stop)
        return server, collector

    def translate(self, server, parent=None, text=TEXT, **fields):
        metadata = [("traceparent", parent)] if parent else None
        return pb_grpc.TranslationServiceStub(server.channel).Translate(
            pb.TranslateRequest(contents=[text], **fields), metadata=metadata, timeout=60)

    def ended(self, server, collector):
        """The spans of a server, which ends: it sends what waits."""
        self.assertEqual(server.stop(), 0)
        self.assertEqual(collector.errors, [])
        return collector.spans

    def test_a_call_has_a_span_with_its_stages_below_that_of_its_caller(self):
        server, collector = self.start()
        self.translate(server, f"00-{TRACE}-{SPAN}-01")
        call, *stages = self.ended(server, collector)
        self.assertEqual((call["traceId"], call["parentSpanId"]), (TRACE, SPAN))
        self.assertEqual((call["name"], call["kind"]), ("dragoman.v1.TranslationService/Translate", 2))
        attributes = attributes_of(call)
        self.assertEqual(
            {name: attributes[name] for name in ("rpc.system", "rpc.service", "rpc.method",
                                                 "rpc.grpc.status_code", "dragoman.texts")},
            {"rpc.system": "grpc", "rpc.service": "dragoman.v1.TranslationService",
             "rpc.method": "Translate", "rpc.grpc.status_code": "0", "dragoman.texts": "1"})
        self.assertGreater(int(attributes["dragoman.target_tokens"]), 1)
        self.assertEqual([stage["name"] for stage in stages], ["queue", "encode", "decode", "answer"])
        last = call["startTimeUnixNano"]
        for stage in stages:
            self.assertEqual((stage["traceId"], stage["parentSpanId"], stage["kind"]),
                             (TRACE, call["spanId"], 1))
            self.assertGreaterEqual(int(stage["startTimeUnixNano"]), int(last))
            last = stage["endTimeUnixNano"]
        self.assertEqual(last, call["endTimeUnixNano"])
        self.assertLess(int(stages[2]["startTimeUnixNano"]), int(stages[2]["endTimeUnixNano"]))
        self.assertEqual(len({span["spanId"] for span in (call, *stages)}), 5)
        resource = collector.resources[0]
        self.assertEqual(resource["service.name"], "dragoman-server")
        self.assertEqual(resource["telemetry.sdk.language"], "cpp")
        self.assertIn(f"trace_id={TRACE} span_id={call['spanId']}", server.log_text())

    def test_http_calls_have_the_names_of_http(self):
        server, collector = self.start()
        connection = http.client.HTTPConnection(server.http_address, timeout=60)
        self.addCleanup(connection.close)
        headers = {"Content-Type": "application/json", "traceparent": f"00-{TRACE}-{SPAN}-01"}
        for method, path, body, wanted in (
                ("POST", "/v1/translate", json.dumps({"contents": [TEXT]}), 200),
                ("GET", "/v1/models/no-such-model", None, 404)):
            connection.request(method, path, body, headers)
            answer = connection.getresponse()
            answer.read()
            self.assertEqual(answer.status, wanted)
        spans = self.ended(server, collector)
        calls = {span["name"]: attributes_of(span) for span in spans if span["kind"] == 2}
        self.assertEqual(set(calls), {"POST /v1/translate", "GET /v1/models/**"})
        translated, missing = calls["POST /v1/translate"], calls["GET /v1/models/**"]
        self.assertEqual(translated["http.response.status_code"], "200")
        self.assertEqual(translated["dragoman.api"], "http")
        self.assertEqual((missing["http.response.status_code"], missing["error.type"]),
                         ("404", "NOT_FOUND"))

    def test_the_requests_of_a_bulk_call_are_its_parts(self):
        server, collector = self.start("--otlp-one-in", "1")
        requests = [pb.TranslateBulkRequest(id=str(i), request=pb.TranslateRequest(contents=[TEXT]))
                    for i in range(120)]
        requests.append(pb.TranslateBulkRequest(id="bad", request=pb.TranslateRequest()))
        requests.insert(0, requests.pop())
        answers = list(server.translation.TranslateBulk(iter(requests), timeout=60))
        self.assertEqual(len(answers), 121)
        spans = self.ended(server, collector)
        call, = [span for span in spans if span["kind"] == 2]
        parts = [span for span in spans if span["name"] == "part"]
        self.assertEqual(call["name"], "dragoman.v1.TranslationService/TranslateBulk")
        self.assertEqual(attributes_of(call)["dragoman.texts"], "121")
        self.assertEqual(len(parts), 100)  # the first ones
        self.assertEqual(len(spans), 101)
        codes = []
        for part in parts:
            self.assertEqual((part["traceId"], part["parentSpanId"]), (call["traceId"], call["spanId"]))
            self.assertLessEqual(int(part["startTimeUnixNano"]), int(part["endTimeUnixNano"]))
            attributes = attributes_of(part)
            codes.append(attributes.get("error.type"))
            if codes[-1] is None:
                self.assertEqual(attributes["dragoman.model"], "en-de")
                self.assertGreater(int(attributes["dragoman.target_tokens"]), 0)
        self.assertEqual(codes.count("INVALID_ARGUMENT"), 1)

    def test_the_passages_of_a_file_are_its_parts(self):
        server, collector = self.start("--otlp-one-in", "1")
        header = pb.DocumentHeader(file_name="a.txt")
        messages = [pb.TranslateDocumentRequest(header=header),
                    pb.TranslateDocumentRequest(chunk=f"{TEXT}\n\n{TEXT} Again.\n".encode())]
        list(server.translation.TranslateDocument(iter(messages), timeout=60))
        spans = self.ended(server, collector)
        call, = [span for span in spans if span["kind"] == 2]
        parts = [span for span in spans if span["name"] == "part"]
        self.assertEqual(call["name"], "dragoman.v1.TranslationService/TranslateDocument")
        self.assertGreaterEqual(len(parts), 1)
        self.assertEqual({part["parentSpanId"] for part in parts}, {call["spanId"]})

    def test_a_collector_gets_the_headers_that_it_wants(self):
        with tempfile.TemporaryDirectory() as directory:
            path = os.path.join(directory, "headers")
            with open(path, "w", encoding="utf-8") as file:
                file.write("# of the collector\n\nAuthorization: Bearer secret\nx-team: words\n")
            server, collector = self.start("--otlp-one-in", "1", "--otlp-headers", path)
            self.translate(server)
            self.ended(server, collector)
            self.assertEqual(collector.headers["Authorization"], "Bearer secret")
            self.assertEqual(collector.headers["x-team"], "words")
            self.assertNotIn("secret", server.log_text())
            for wrong, want in (("x-team: a\nsecret\n", f"otlp-headers: {path}: line 2 is not `name: value`"),
                                (": secret\n", "line 1"), ("x y: secret\n", "line 1"),
                                ("x: se\x01cret\n", "line 1")):
                with open(path, "w", encoding="utf-8") as file:
                    file.write(wrong)
                ended = run_server("--model", f"en-de={MODEL}", "--otlp-endpoint", collector.endpoint,
                                   "--otlp-headers", path, "--grpc-address", "127.0.0.1:0",
                                   "--http-address", "127.0.0.1:0")
                self.assertEqual(ended.returncode, 1)
                self.assertIn(want, ended.stderr)
                self.assertNotIn("secret", ended.stderr)

    def test_the_caller_or_else_the_rate_decides(self):
        server, collector = self.start("--otlp-one-in", "1")
        for parent in (f"00-{TRACE}-{SPAN}-00", "garbage", None):
            self.translate(server, parent)
        calls = [span for span in self.ended(server, collector) if span["kind"] == 2]
        self.assertEqual(len(calls), 2)
        for call in calls:
            self.assertNotIn("parentSpanId", call)
            self.assertNotEqual(call["traceId"], TRACE)
        server, collector = self.start("--otlp-one-in", "0")
        self.translate(server)
        self.assertEqual(self.ended(server, collector), [])

    def test_no_text_is_in_a_span(self):
        server, collector = self.start("--otlp-one-in", "1")
        secret = "Zebrafink"
        self.translate(server, text=f"{secret} is old.")
        for fields in ({"model": secret}, {"target_language": secret}, {"source_language": secret}):
            with self.assertRaises(grpc.RpcError):
                self.translate(server, text=secret, **fields)
        spans = self.ended(server, collector)
        self.assertEqual(len([span for span in spans if span["kind"] == 2]), 4)
        for body in collector.bodies:
            self.assertNotIn(secret.lower().encode(), body.lower())

    def test_a_collector_that_comes_back_gets_all_and_one_that_does_not_is_counted(self):
        server, collector = self.start("--otlp-one-in", "1", away=1)

        def fill():
            for _ in range(4):  # so that they have room in the queue
                calls = [server.translation.Translate.future(pb.TranslateRequest(contents=["Hello"]), timeout=60)
                         for _ in range(FULL // 4)]
                for call in calls:
                    call.result()
        fill()
        await_true(lambda: collector.spans, "the second attempt came through")
        name = "dragoman_trace_spans_sent_total"
        await_true(lambda: server.metrics()[name][()] == 5 * FULL, "all spans are counted")
        collector.stop()
        fill()
        dropped = "dragoman_trace_spans_dropped_total"
        await_true(lambda: server.metrics()[dropped][(("reason", "unreachable"),)] == 5 * FULL,
                   "the loss is counted")
        self.assertIn("traces not sent", server.log_text())
        self.translate(server)  # as if nothing had happened

    def test_of_an_answer_without_end_little_is_read(self):
        server, collector = self.start("--otlp-one-in", "1")
        collector.endless = True
        collector.handle_error = lambda *_: None  # of the connection that breaks
        self.translate(server)
        self.assertEqual(server.stop(), 0)
        self.assertIn("the answer is too long", server.log_text())
        self.assertLess(collector.sent, 32 << 20)

    def test_an_endpoint_that_is_no_url_ends_the_server(self):
        ended = run_server("--model", f"en-de={MODEL}", "--otlp-endpoint", "localhost:4318")
        self.assertEqual(ended.returncode, 1)
        self.assertIn('otlp-endpoint is "localhost:4318", want', ended.stderr)


if __name__ == "__main__":
    unittest.main()
