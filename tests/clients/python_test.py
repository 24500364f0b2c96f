"""The Python package of clients/python against a real server, and installed by pip."""

import asyncio
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import unittest.mock
from concurrent import futures

import grpc

PACKAGE = os.path.join(os.environ["DRAGOMAN_SOURCE_DIR"], "clients", "python")
sys.path.insert(0, PACKAGE)  # before the harness, whose bare stubs have the same name

import dragoman
from certificates import Authority
from harness import FLOAT32, SOURCE_DIR, Server
from dragoman.v1 import translation_pb2 as pb
from dragoman.v1 import translation_pb2_grpc as pb_grpc

TEXTS = ["Good morning.", "Hello"]
TRANSLATIONS = ["Guten Morgen!", "Hallo!"]
TOKEN = "client-test-token-0123456789"


class PythonClientTest(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        cls.server = Server(*FLOAT32, "--workers", "1")
        cls.client = dragoman.Client(cls.server.grpc_address)

    @classmethod
    def tearDownClass(cls):
        cls.client.close()
        code = cls.server.stop()
        if code != 0:
            raise AssertionError(f"the server ended with exit code {code}")

    def test_translates_texts(self):
        self.assertEqual(self.client.translate_text(TEXTS[0]), TRANSLATIONS[0])
        self.assertEqual(self.client.translate_texts(TEXTS, target_language="de"), TRANSLATIONS)

    def test_options_are_dictionaries_or_messages(self):
        for options in ({"beam_size": 3, "num_hypotheses": 3},
                        pb.DecodingOptions(beam_size=3, num_hypotheses=3)):
            response = self.client.translate("Where are you going?", options=options,
                                             output={"token_scores": True})
            hypotheses = response.translations[0].hypotheses
            self.assertEqual(len(hypotheses), 3)
            self.assertGreater(len(hypotheses[0].token_scores), 0)

    def test_scores_tokenizes_and_lists(self):
        scores = self.client.score([("Hello", "Hallo!"), ("Hello", "Guten Morgen!")]).scores
        self.assertGreater(scores[0].log_prob, scores[1].log_prob)
        self.assertGreater(len(self.client.tokenize("Hello").texts[0].token_ids), 0)
        self.assertEqual([model.name for model in self.client.models()], ["en-de"])
        self.assertTrue(self.client.model().is_default)

    def test_errors_say_which_field_and_which_call(self):
        with self.assertRaises(dragoman.InvalidArgument) as caught:
            self.client.translate("x", options={"beam_size": 99})
        self.assertEqual(caught.exception.violations[0].field, "options.beam_size")
        self.assertTrue(caught.exception.request_id)
        self.assertIn("INVALID_ARGUMENT: ", str(caught.exception))
        with self.assertRaises(dragoman.NotFound):
            self.client.model("none")
        with self.assertRaises(ValueError):  # from protobuf: unknown field
            self.client.translate("x", options={"beam": 1})

    def test_nobody_listens(self):
        with dragoman.Client("127.0.0.1:1", retry=dragoman.Retry(attempts=2, initial_backoff=0.01)) as client:
            with self.assertRaises(dragoman.Unavailable):
                client.translate_text("x")

    def test_asyncio(self):
        async def main():
            async with dragoman.aio.Client(self.server.grpc_address) as client:
                answers = await asyncio.gather(*(client.translate_text(text) for text in TEXTS))
                self.assertEqual(answers, TRANSLATIONS)
                self.assertEqual((await client.model()).name, "en-de")
                with self.assertRaises(dragoman.InvalidArgument):
                    await client.translate([])
        asyncio.run(main())

    def test_stream(self):
        self.check_stream(list(self.client.translate_stream(TEXTS)))

        async def main():
            async with dragoman.aio.Client(self.server.grpc_address) as client:
                self.check_stream([event async for event in client.translate_stream(TEXTS)])
        asyncio.run(main())

    def check_stream(self, events):
        done = {event.content_index: event.translation.hypotheses[0].text
                for event in events if event.WhichOneof("event") == "translation"}
        self.assertEqual([done[0], done[1]], TRANSLATIONS)
        stable = ["", ""]
        for event in events:
            stable[event.content_index] += event.stable_text
        self.assertEqual(stable, TRANSLATIONS)

    def test_bulk(self):
        items = [("a", TEXTS[0]), TEXTS[1], ("bad", pb.TranslateRequest())]
        self.check_bulk(dict(self.client.translate_bulk(items)))

        async def main():
            async with dragoman.aio.Client(self.server.grpc_address) as client:
                self.check_bulk({name: answer async for name, answer in client.translate_bulk(items)})
        asyncio.run(main())

    def check_bulk(self, answers):
        self.assertEqual(answers.keys(), {"a", "1", "bad"})
        self.assertEqual(answers["a"].translations[0].hypotheses[0].text, TRANSLATIONS[0])
        self.assertEqual(answers["1"].translations[0].hypotheses[0].text, TRANSLATIONS[1])
        self.assertIsInstance(answers["bad"], dragoman.InvalidArgument)
        self.assertEqual([violation.field for violation in answers["bad"].violations], ["contents"])


class SecureTest(unittest.TestCase):

    def test_tls_and_tokens(self):
        authority = Authority()
        cert, key = authority.issue("server", "IP:127.0.0.1")
        tokens = authority.path("tokens")
        with open(tokens, "w", encoding="utf-8") as file:
            file.write(f"tester {TOKEN}\n")
        server = Server(*FLOAT32, "--workers", "1", "--tls-cert", cert, "--tls-key", key, "--auth-tokens", tokens)
        tls = dragoman.Tls(ca=authority.ca)
        for token in (TOKEN, lambda: TOKEN):
            with dragoman.Client(server.grpc_address, tls=tls, token=token) as client:
                self.assertEqual(client.translate_text(TEXTS[0]), TRANSLATIONS[0])
        with dragoman.Client(server.grpc_address, tls=tls, token="wrong") as client:
            with self.assertRaises(dragoman.Unauthenticated):
                client.translate_text(TEXTS[0])
        with unittest.mock.patch.dict(os.environ, DRAGOMAN_SERVER=server.grpc_address,
                                      DRAGOMAN_TLS_CA=authority.ca, DRAGOMAN_TOKEN=TOKEN):
            with dragoman.Client.from_environment() as client:
                self.assertEqual(client.translate_text(TEXTS[0]), TRANSLATIONS[0])
        self.assertEqual(server.stop(), 0)


class FlakyService(pb_grpc.TranslationServiceServicer):
    """Refuses as many times as told, then answers each text with its upper case."""

    def __init__(self):
        self.refusals = []  # (code, trailing metadata)
        self.calls = 0
        self.bulk_ids = []

    def refuse(self, context):
        self.calls += 1
        if self.refusals:
            code, trailers = self.refusals.pop(0)
            context.set_trailing_metadata(trailers)
            context.abort(code, "not now")

    def answer(self, request):
        texts = [pb.Translation(hypotheses=[pb.Hypothesis(text=text.upper())]) for text in request.contents]
        return pb.TranslateResponse(translations=texts)

    def Translate(self, request, context):
        self.refuse(context)
        return self.answer(request)

    def TranslateStream(self, request, context):
        self.refuse(context)
        for index, translation in enumerate(self.answer(request).translations):
            yield pb.TranslateStreamResponse(content_index=index, translation=translation)

    def TranslateBulk(self, requests, context):
        self.calls += 1
        for request in requests:
            self.bulk_ids.append(request.id)
            if self.refusals and request.id == "2":
                context.abort(self.refusals.pop(0)[0], "lost")
            yield pb.TranslateBulkResponse(id=request.id, response=self.answer(request.request))


def busy(seconds):
    """RESOURCE_EXHAUSTED as the server sends it, with RetryInfo in a google.rpc.Status."""
    from google.rpc import error_details_pb2 as rpc
    status = rpc.Status(code=8, message="busy")
    info = rpc.RetryInfo()
    info.retry_delay.FromMilliseconds(int(seconds * 1000))
    status.details.add().Pack(info)
    return grpc.StatusCode.RESOURCE_EXHAUSTED, (("grpc-status-details-bin", status.SerializeToString()),)


LOST = (grpc.StatusCode.UNAVAILABLE, ())


class RetryTest(unittest.TestCase):

    def setUp(self):
        self.service = FlakyService()
        server = grpc.server(futures.ThreadPoolExecutor(8))
        pb_grpc.add_TranslationServiceServicer_to_server(self.service, server)
        port = server.add_insecure_port("127.0.0.1:0")
        server.start()
        self.addCleanup(server.stop, None)
        self.address = f"127.0.0.1:{port}"
        self.retry = dragoman.Retry(initial_backoff=0.01)
        self.client = dragoman.Client(self.address, retry=self.retry, timeout=50)
        self.addCleanup(self.client.close)

    def asynchronously(self, use):
        async def main():
            async with dragoman.aio.Client(self.address, retry=self.retry, timeout=50) as client:
                return await use(client)
        return asyncio.run(main())

    def test_comes_back_when_the_server_says(self):
        self.service.refusals = [LOST, busy(0.05), LOST]
        self.assertEqual(self.client.translate_text("x"), "X")
        self.assertEqual(self.service.calls, 4)
        self.service.refusals = [LOST, busy(0.05)]
        self.assertEqual(self.asynchronously(lambda client: client.translate_text("x")), "X")
        self.assertEqual(self.service.calls, 7)

    def test_gives_up_what_would_come_too_late(self):
        self.service.refusals = [busy(60)]
        with self.assertRaises(dragoman.ResourceExhausted) as caught:
            self.client.translate_text("x")
        self.assertEqual(caught.exception.retry_delay, 60)
        self.assertEqual(self.service.calls, 1)

    def test_does_not_repeat_what_is_wrong(self):
        for code in (grpc.StatusCode.INVALID_ARGUMENT, grpc.StatusCode.RESOURCE_EXHAUSTED,
                     grpc.StatusCode.DEADLINE_EXCEEDED):
            self.service.calls, self.service.refusals = 0, [(code, ())]
            with self.assertRaises(dragoman.DragomanError) as caught:
                self.client.translate_text("x")
            self.assertEqual((caught.exception.code, self.service.calls), (code, 1))

    def test_a_stream_begins_again(self):
        self.service.refusals = [LOST]
        self.assertEqual(len(list(self.client.translate_stream(["x", "y"]))), 2)
        self.service.refusals = [LOST]

        async def use(client):
            return [event async for event in client.translate_stream(["x", "y"])]
        self.assertEqual(len(self.asynchronously(use)), 2)

    def test_a_bulk_call_sends_again_what_was_not_answered(self):
        wanted = {str(i): f"T{i}" for i in range(100)}
        texts = [f"t{i}" for i in range(100)]

        def text(answer):
            return answer.translations[0].hypotheses[0].text
        self.service.refusals = [LOST, LOST]
        self.assertEqual({name: text(answer) for name, answer in self.client.translate_bulk(texts)}, wanted)
        self.service.refusals = [LOST, LOST]

        async def use(client):
            return {name: text(answer) async for name, answer in client.translate_bulk(texts)}
        self.assertEqual(self.asynchronously(use), wanted)

    def test_a_bulk_call_raises_what_its_items_raise(self):
        class Elsewhere(grpc.RpcError):
            """Of another server that the items come from: no reason to try again."""

        def items(failure):
            yield "x"
            raise failure

        async def use(client, failure):
            return [answer async for answer in client.translate_bulk(items(failure))]
        failures = (KeyError("mine"), Elsewhere())
        for failure in failures:
            with self.assertRaises(type(failure)):
                list(self.client.translate_bulk(items(failure)))
            with self.assertRaises(type(failure)):
                self.asynchronously(lambda client: use(client, failure))
        # The service may count a cancelled call late, so all four are counted together.
        self.assertLessEqual(self.service.calls, 2 * len(failures))

    def test_asynchronous_items_that_are_awaited_when_the_call_is_lost_are_sent_once(self):
        self.service.refusals = [LOST]

        async def use(client):
            again = asyncio.Event()

            async def items():
                for number in range(10):
                    if number == 3:  # the call is lost with request 2, which begins again
                        await again.wait()
                    yield f"t{number}"
            got = []
            async for name, _ in client.translate_bulk(items()):
                got.append(name)
                if self.service.calls == 2:
                    again.set()
            return got
        self.assertEqual(sorted(self.asynchronously(use)), sorted(map(str, range(10))))
        self.assertEqual([name for name in self.service.bulk_ids if int(name) > 2], list("3456789"))


class PackagingTest(unittest.TestCase):

    def run_ok(self, *command, **options):
        ended = subprocess.run(command, capture_output=True, text=True, timeout=300, **options)
        self.assertEqual(ended.returncode, 0, ended.stdout + ended.stderr)
        return ended.stdout

    def test_generated_files_are_up_to_date(self):
        self.run_ok(os.path.join(SOURCE_DIR, "clients", "generate.sh"), "--check")

    def test_no_word_of_asyncio_is_left_in_the_synchronous_client(self):
        spec = importlib.util.spec_from_file_location("unasync", os.path.join(PACKAGE, "unasync.py"))
        unasync = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(unasync)
        with open(os.path.join(PACKAGE, "dragoman", "aio.py"), encoding="utf-8") as file:
            source = file.read()
        for line in ("    asyncio.run(main())", "    items.__anext__()", "async\tdef f():"):
            with self.assertRaisesRegex(ValueError, "no replacement for: " + re.escape(line.strip())):
                unasync.synchronous(f"{source}\n{line}\n")
        with self.assertRaisesRegex(ValueError, "aio.py has nothing like"):
            unasync.synchronous(source.replace("await ", ""))

    def test_pip_installs_it(self):
        with tempfile.TemporaryDirectory() as directory:
            # pip builds inside the source tree, so give it a copy.
            source = os.path.join(directory, "source")
            shutil.copytree(PACKAGE, source, ignore=shutil.ignore_patterns("build", "*.egg-info", "__pycache__"))
            target = os.path.join(directory, "target")
            self.run_ok(sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps",
                        "--no-build-isolation", "--target", target, source)
            for name in ("py.typed", "service_config.json", "error_details.binpb", "v1/translation_pb2.pyi"):
                self.assertTrue(os.path.exists(os.path.join(target, "dragoman", name)), name)
            said = self.run_ok(sys.executable, "-c", "import dragoman; print(dragoman.Client, dragoman.__file__)",
                               cwd=directory, env={"PYTHONPATH": target})
            self.assertIn(target, said)

    def test_types(self):
        self.run_ok("mypy", "--cache-dir", os.devnull, "--enable-incomplete-feature=Unpack", "-p", "dragoman",
                    cwd=PACKAGE)


if __name__ == "__main__":
    unittest.main()
