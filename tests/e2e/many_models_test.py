"""More models than fit into --model-memory: they load when they are asked for, and nobody notices but by the time."""

import concurrent.futures as futures
import json
import os
import random
import re
import shutil
import signal
import tempfile
import unittest

import grpc

import together
from harness import SOURCE_DIR, Server, await_true, pb, seed

from dragoman.v1 import admin_pb2, admin_pb2_grpc  # which harness has made known

load_tests = together.load_tests

TRAINED = os.path.join(SOURCE_DIR, "tests/golden/models/marian-trained")
RANDOM = os.path.join(SOURCE_DIR, "tests/golden/models/marian-rand")  # the same sizes, other weights
LANGUAGES = ("de", "fr", "es", "it", "nl", "sv")
NAMES = sorted([f"en-{other}" for other in LANGUAGES] + [f"{other}-en" for other in LANGUAGES])
TEXTS = ("The cat is old.", "A small house.", "The teacher asks a question.")
MEMORY = "20MiB"  # for three of them


class Models(unittest.TestCase):

    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.root = os.path.join(temporary.name, "models")
        self.admin_address = "unix:" + os.path.join(temporary.name, "admin")
        for number, name in enumerate(NAMES):
            self.add(name, RANDOM if number % 2 else TRAINED)

    def path(self, *names):
        return os.path.join(self.root, *names)

    def add(self, name, model):
        shutil.copytree(model, self.path(name))
        with open(self.path(name, "tokenizer_config.json"), encoding="utf-8") as file:
            config = json.load(file)
        config["source_lang"], config["target_lang"] = name.split("-")
        with open(self.path(name, "tokenizer_config.json"), "w", encoding="utf-8") as file:
            json.dump(config, file)

    def serve(self, *arguments):
        server = Server("--models", self.root, "--workers", "2", "--precision", "float32", *arguments)
        self.addCleanup(server.stop)
        return server

    def translate(self, server, name, text=TEXTS[0], **options):
        return server.translation.Translate(pb.TranslateRequest(model=name, contents=[text], **options), timeout=60)

    def metric(self, server, name, **labels):
        return server.metrics()["dragoman_" + name].get(tuple(sorted(labels.items())), 0)

    def in_memory(self, server):
        models = server.models.ListModels(pb.ListModelsRequest(), timeout=60).models
        return sorted(model.name for model in models if model.version)

    def operate(self, method, name):
        with grpc.insecure_channel(self.admin_address) as channel:
            stub = admin_pb2_grpc.AdminServiceStub(channel)
            getattr(stub, method)(getattr(admin_pb2, method + "Request")(name=name), timeout=60)


class ManyModelsTest(Models):

    def test_all_are_served_and_all_bytes_are_those_of_a_server_with_all_in_memory(self):
        small = self.serve("--model-memory", MEMORY)
        large = self.serve()
        self.assertEqual(self.in_memory(small), [])
        self.assertEqual(self.in_memory(large), NAMES)
        listed = small.models.ListModels(pb.ListModelsRequest(), timeout=60).models
        self.assertEqual([model.name for model in listed], NAMES)
        for model in listed:
            self.assertEqual((model.state, f"{model.language_pairs[0].source}-{model.language_pairs[0].target}"),
                             (pb.Model.STATE_READY, model.name))
        pick = random.Random(seed())
        calls = [(pick.choice(NAMES), pick.choice(TEXTS)) for _ in range(150)]

        def run(server):
            with futures.ThreadPoolExecutor(6) as pool:
                return [(answer.model, answer.model_version, answer.translations[0].hypotheses[0].text)
                        for answer in pool.map(lambda call: self.translate(server, *call), calls)]
        self.assertEqual(run(small), run(large))
        self.assertLess(len(self.in_memory(small)), len(NAMES))
        evicted = sum(self.metric(small, "model_evictions_total", model=name) for name in NAMES)
        self.assertGreater(evicted, 0)
        self.assertGreater(self.metric(small, "model_cold_wait_seconds_count"), 0)
        self.assertLessEqual(self.metric(small, "model_memory_bytes"), self.metric(small, "model_memory_limit_bytes"))

    def test_languages_choose_among_models_that_are_not_in_memory(self):
        server = self.serve("--model-memory", MEMORY)
        request = pb.TranslateRequest(contents=[TEXTS[0]], source_language="en", target_language="fr")
        self.assertEqual(server.translation.Translate(request, timeout=60).model, "en-fr")
        through = pb.TranslateRequest(contents=[TEXTS[0]], source_language="de", target_language="it")
        answer = server.translation.Translate(through, timeout=60)
        self.assertEqual(answer.model, "de-en+en-it")
        self.assertEqual([step.model for step in answer.timing.steps], ["de-en", "en-it"])
        self.assertEqual(self.in_memory(server), ["de-en", "en-fr", "en-it"])
        with self.assertRaises(grpc.RpcError) as refused:
            server.translation.Translate(
                pb.TranslateRequest(contents=["x"], source_language="en", target_language="ja"), timeout=60)
        self.assertEqual(refused.exception.code(), grpc.StatusCode.INVALID_ARGUMENT)

    def test_all_methods_wait_for_the_model(self):
        server = self.serve("--model-memory", MEMORY)
        tokens = server.translation.Tokenize(pb.TokenizeRequest(model="en-de", contents=[TEXTS[0]]), timeout=60)
        self.assertGreater(len(tokens.texts[0].tokens), 2)
        scored = server.translation.Score(
            pb.ScoreRequest(model="en-es", pairs=[pb.ScorePair(source=TEXTS[0], target="x")]), timeout=60)
        self.assertEqual(len(scored.scores), 1)
        stream = server.translation.TranslateStream(pb.TranslateRequest(model="en-nl", contents=[TEXTS[0]]), timeout=60)
        self.assertEqual(list(stream)[-1].summary.model, "en-nl")
        bulk = server.translation.TranslateBulk(
            iter([pb.TranslateBulkRequest(id=name, request=pb.TranslateRequest(model=name, contents=[TEXTS[0]]))
                  for name in NAMES]), timeout=60)
        self.assertEqual(sorted(answer.response.model for answer in bulk), NAMES)

    def test_a_broken_one_is_refused_by_name_and_served_when_it_is_mended(self):
        weights = self.path("en-sv", "model.safetensors")
        os.truncate(weights, 1000)
        os.remove(self.path("sv-en", "config.json"))
        server = self.serve("--model-memory", MEMORY)
        for name in ("en-sv", "sv-en"):
            with self.assertRaises(grpc.RpcError) as refused:
                self.translate(server, name)
            self.assertEqual(refused.exception.code(), grpc.StatusCode.UNAVAILABLE)
            self.assertIn(f"model {name} cannot be loaded (broken)", refused.exception.details())
        self.translate(server, "en-de")
        for name in ("en-sv", "sv-en"):
            shutil.rmtree(self.path(name))
            self.add(name, TRAINED)

        def served(name):
            try:
                return self.translate(server, name).model == name
            except grpc.RpcError:
                return False
        for name in ("en-sv", "sv-en"):
            await_true(lambda name=name: served(name), f"{name} is tried again")
        self.assertEqual(self.metric(server, "model_stale", model="en-sv"), 0)

    def test_pinned_ones_stay(self):
        server = self.serve("--model-memory", MEMORY, "--pin", "nl-en", "--admin-address", self.admin_address)
        self.assertEqual(self.in_memory(server), ["nl-en"])
        self.operate("PinModel", "it-en")
        await_true(lambda: "it-en" in self.in_memory(server), "it-en is loaded")
        for name in NAMES:
            self.translate(server, name)
        self.assertLessEqual({"it-en", "nl-en"}, set(self.in_memory(server)))
        self.operate("UnpinModel", "it-en")
        server.process.send_signal(signal.SIGHUP)  # does not pin it again

        def left():
            for name in NAMES:
                if name != "it-en":
                    self.translate(server, name)
            return "it-en" not in self.in_memory(server)
        await_true(left, "it-en makes room")
        self.assertIn("nl-en", self.in_memory(server))

    def test_models_come_and_go_while_the_server_runs(self):
        server = self.serve("--model-memory", MEMORY)
        old = self.translate(server, "en-de").model_version
        shutil.rmtree(self.path("en-de"))
        self.add("en-de", TRAINED)  # it was the other one
        shutil.rmtree(self.path("en-es"))
        self.add("en-pt", TRAINED)
        server.process.send_signal(signal.SIGHUP)
        await_true(lambda: "en-pt" in [model.name for model in server.models.ListModels(
            pb.ListModelsRequest(), timeout=60).models], "en-pt is served")
        self.assertEqual(self.translate(server, "en-pt").model, "en-pt")
        self.assertNotEqual(self.translate(server, "en-de").model_version, old)
        with self.assertRaises(grpc.RpcError) as refused:
            self.translate(server, "en-es")
        self.assertEqual(refused.exception.code(), grpc.StatusCode.NOT_FOUND)


class PackedCacheTest(Models):
    """The same models in int8, with their packed weights in files."""

    def setUp(self):
        super().setUp()
        self.cache = os.path.join(os.path.dirname(self.root), "cache")

    def serve(self, *arguments, cache=None):
        server = Server("--models", self.root, "--workers", "2", "--packed-cache", cache or self.cache, *arguments)
        self.addCleanup(server.stop)
        return server

    def packed(self):
        return sorted(os.path.join(self.cache, name) for name in os.listdir(self.cache))

    def text_of(self, server, name):
        return self.translate(server, name, TEXTS[1]).translations[0].hypotheses[0].text

    def mapped(self, server):
        """Of each file of packed weights that the process maps: its kilobytes in memory, and those shared."""
        with open(f"/proc/{server.process.pid}/smaps", encoding="utf-8") as file:
            maps = re.split(r"\n(?=[0-9a-f]+-)", file.read())

        def kilobytes(text, *fields):
            return sum(int(re.search(rf"^{field}:\s+(\d+) kB", text, re.M).group(1)) for field in fields)
        # Pages that have not been written to the disk yet are dirty.
        return [(kilobytes(text, "Rss"), kilobytes(text, "Shared_Clean", "Shared_Dirty"))
                for text in maps if ".packed" in text.splitlines()[0]]

    def test_the_bytes_are_the_same_from_the_file_and_without_it(self):
        without = self.serve("--model-memory", MEMORY, cache="none")
        texts = [self.text_of(without, name) for name in NAMES]
        self.assertFalse(os.path.exists(self.cache))
        for _ in range(2):  # packed the first time, mapped the second time
            server = self.serve("--model-memory", MEMORY)
            self.assertEqual([self.text_of(server, name) for name in NAMES], texts)
            self.assertEqual(len(self.packed()), len(NAMES))
            server.stop()
        for path in self.packed():
            os.truncate(path, os.path.getsize(path) - 1)
        server = self.serve("--model-memory", MEMORY)
        self.assertEqual([self.text_of(server, name) for name in NAMES], texts)

    def test_two_processes_share_the_pages(self):
        servers = [self.serve("--model-memory", MEMORY) for _ in range(2)]
        for server in servers:
            self.text_of(server, "en-de")
        for server in servers:
            mapped = self.mapped(server)
            self.assertEqual(len(mapped), 1)
            self.assertGreater(mapped[0][0], 100)
            self.assertEqual(mapped[0][1], mapped[0][0])

    def test_weights_that_are_cut_while_in_use_translate_nothing(self):
        server = self.serve("--model-memory", MEMORY)
        text = self.text_of(server, "en-de")
        os.truncate(self.packed()[0], 0)
        with self.assertRaises(grpc.RpcError) as refused:
            self.text_of(server, "en-de")
        self.assertEqual(refused.exception.code(), grpc.StatusCode.UNAVAILABLE)
        self.assertIn("the packed weights of model en-de were cut", refused.exception.details())
        self.assertEqual(self.text_of(server, "en-de"), text)  # packed again

    def test_beside_means_in_the_directory_of_each_model(self):
        server = self.serve("--model-memory", MEMORY, cache="beside")
        self.text_of(server, "en-de")
        self.assertEqual(len(os.listdir(self.path("en-de", ".dragoman"))), 1)
        self.add("en-pt", TRAINED)
        server.process.send_signal(signal.SIGHUP)
        await_true(lambda: "en-pt" in [model.name for model in server.models.ListModels(
            pb.ListModelsRequest(), timeout=60).models], "en-pt is served")
        self.assertEqual(self.in_memory(server), ["en-de"])  # its file there was no change of the model


if __name__ == "__main__":
    unittest.main()
