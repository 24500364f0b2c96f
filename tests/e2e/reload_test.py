"""Models that change under full load: a good version, a broken one, one that is too large; many SIGHUPs, files that are
overwritten in place, links that are switched as Kubernetes switches them, and a drain in the middle of it."""

import collections
import concurrent.futures as futures
import json
import os
import random
import shutil
import signal
import struct
import sys
import tempfile
import threading
import time
import unittest

import grpc

import together
from harness import MODEL, SOURCE_DIR, await_true, golden_inputs, pb, seed, serve

load_tests = together.load_tests

OTHER = os.path.join(SOURCE_DIR, "tests/golden/models/marian-rand")
TRAINED = os.path.join(SOURCE_DIR, "tests/golden/models/marian-trained")


def copy_model(source, target):
    shutil.copytree(source, target, symlinks=False)
    return target


def too_large(directory):
    """Changes a model to one that fits on no machine; its weights are a sparse file."""
    config_path = os.path.join(directory, "config.json")
    with open(config_path, encoding="utf-8") as file:
        config = json.load(file)
    config["d_model"] = 1 << 16
    config["encoder_layers"] = config["decoder_layers"] = 64
    with open(config_path, "w", encoding="utf-8") as file:
        json.dump(config, file)
    weights = os.path.join(directory, "model.safetensors")
    header = {"model.shared.weight": {"dtype": "F32", "shape": [config["vocab_size"], 1 << 16],
                                      "data_offsets": [0, config["vocab_size"] << 18]}}
    text = json.dumps(header).encode()
    with open(weights, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        file.truncate(8 + len(text) + (config["vocab_size"] << 18))


class Load:
    """Clients in a closed loop, and a record of which version gave which translation."""

    def __init__(self, server, texts, clients=8):
        self.server, self.texts = server, texts
        self.answers = collections.defaultdict(set)  # (version, text): translations
        self.codes = collections.Counter()
        self.latencies = []
        self.ending = threading.Event()
        self.lock = threading.Lock()
        self.threads = [threading.Thread(target=self.run, args=(i,)) for i in range(clients)]
        for thread in self.threads:
            thread.start()

    def run(self, number):
        pick = random.Random(number)
        translate = type(self.server.translation)(self.server.new_channel()).Translate
        while not self.ending.is_set():
            texts = pick.sample(self.texts, 4)
            begin = time.monotonic()
            try:
                response = translate(pb.TranslateRequest(contents=texts), timeout=60)
            except grpc.RpcError as error:
                with self.lock:
                    self.codes[error.code().name] += 1
                if error.code() == grpc.StatusCode.UNAVAILABLE:
                    return
                continue
            with self.lock:
                self.codes["OK"] += 1
                self.latencies.append((begin, time.monotonic() - begin))
                for text, translation in zip(texts, response.translations):
                    self.answers[response.model_version, text].add(translation.hypotheses[0].text)

    def stop(self):
        self.ending.set()
        for thread in self.threads:
            thread.join()

    def await_calls(self, count):
        """Waits until so many more have ended."""
        def ended():
            with self.lock:
                return sum(self.codes.values())
        before = ended()
        await_true(lambda: ended() >= before + count, f"{count} calls end")

    def p99_between(self, begin, end):
        times = sorted(took for at, took in self.latencies if begin <= at < end)
        return times[len(times) * 99 // 100] if times else float("nan")


class ReloadTest(unittest.TestCase):

    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.addCleanup(self.temporary.cleanup)
        self.root = self.temporary.name
        self.current = os.path.join(self.root, "current")

    def path(self, name):
        return os.path.join(self.root, name)

    def point(self, target):
        """Switches the link to the served directory atomically."""
        os.symlink(target, self.current + ".next")
        os.rename(self.current + ".next", self.current)

    def load(self, *arguments, **options):
        load = Load(*arguments, **options)
        self.addCleanup(load.stop)
        return load

    def model(self, server, name="en-de"):
        return server.models.GetModel(pb.GetModelRequest(name=name), timeout=120)

    def states(self, server):
        return [(v.label, pb.Model.State.Name(v.state)[6:].lower(), v.failure)
                for v in self.model(server).versions]

    def hang_up(self, server):
        server.process.send_signal(signal.SIGHUP)

    def resident(self, server):
        return server.metrics()["process_resident_memory_bytes"][()] / 1e6

    def test_under_full_load_a_good_a_broken_and_a_too_large_version(self):
        good = copy_model(MODEL, self.path("good"))
        with open(os.path.join(good, "generation_config.json"), "a", encoding="utf-8") as file:
            file.write("\n")  # another version with the same translations
        broken = copy_model(MODEL, self.path("broken"))
        os.truncate(os.path.join(broken, "model.safetensors"), 1000)
        large = copy_model(MODEL, self.path("large"))
        too_large(large)
        self.point(MODEL)
        server = serve(self, "--model", f"en-de={self.current}", "--workers", "2")
        first = self.model(server).version
        load = self.load(server, [i["text"] for i in golden_inputs()[:60]])
        marks, resident = [("before", time.monotonic())], {}

        def phase(name, target, done):
            resident[f"before {name}"] = self.resident(server)
            marks.append((name, time.monotonic()))
            self.point(target)
            self.hang_up(server)
            peak = 0

            def done_and_ready_meanwhile():
                nonlocal peak
                peak = max(peak, self.resident(server))
                self.assertEqual(server.http("/readyz")[0], 200)
                return done()
            await_true(done_and_ready_meanwhile, name)
            took = time.monotonic() - marks[-1][1]
            marks.append((f"after {name}", time.monotonic()))
            print(f"{name}: {took:.2f} s, resident {resident[f'before {name}']:.0f} MB before, "
                  f"{peak:.0f} at most", file=sys.stderr)
            load.await_calls(40)

        load.await_calls(40)
        phase("good", good, lambda: self.model(server).version != first
              and self.states(server) == [("stable", "ready", "")])
        second = self.model(server).version
        phase("broken", broken, lambda: ("stable", "failed", "broken") in self.states(server))
        phase("large", large, lambda: ("stable", "failed", "memory") in self.states(server))
        phase("good again", MODEL, lambda: self.states(server) == [("stable", "ready", "")]
              and self.model(server).version == first)
        load.stop()
        marks.append(("end", time.monotonic()))

        # No request was lost, and a version always gives a text the same translation.
        self.assertEqual(set(load.codes), {"OK"}, load.codes)
        self.assertEqual({version for version, _ in load.answers}, {first, second})
        for key, translations in load.answers.items():
            self.assertEqual(len(translations), 1, key)
        await_true(lambda: self.resident(server) < 1.3 * resident["before good"] + 20,
                   "the memory of what has left is returned")
        print(f"{sum(load.codes.values())} requests; resident at the end "
              f"{self.resident(server):.0f} MB", file=sys.stderr)
        for (name, begin), (_, end) in zip(marks, marks[1:]):
            print(f"  p99 {name}: {1000 * load.p99_between(begin, end):.0f} ms", file=sys.stderr)
        for words in ("model not reloaded: the old version stays in use", "reason=broken",
                      "reason=memory", "left"):
            server.await_log(words)
        self.assertEqual(server.stop(), 0)

    def test_files_written_in_place_while_they_are_watched(self):
        """Copies files repeatedly without being atomic: a half-written model is never served."""
        served = copy_model(TRAINED, self.path("served"))
        self.point(served)
        server = serve(self, "--model", f"en-de={self.current}", "--model-poll-seconds", "1")
        want = {}
        for directory in (TRAINED, OTHER):
            reference = serve(self, "--model", f"en-de={directory}")
            response = reference.translate("The cat is old.")
            want[response.model_version] = response.translations[0].hypotheses[0].text
            self.assertEqual(reference.stop(), 0)
        pick = random.Random(seed())
        for directory in (OTHER, TRAINED, OTHER):
            with open(os.path.join(directory, "model.safetensors"), "rb") as file:
                weights = file.read()
            for _ in range(3):  # truncated, half written, then complete
                with open(os.path.join(served, "model.safetensors"), "r+b") as file:
                    file.truncate(pick.randrange(len(weights)))
                    self.hang_up(server)
                    file.write(weights[:pick.randrange(len(weights))])
                    file.flush()
                    time.sleep(pick.random() / 4)  # the server, which was told to look, sees some of these states
                    self.assert_answer(server, want)
            with open(os.path.join(served, "model.safetensors"), "wb") as file:
                file.write(weights)
            expected = {OTHER: 1, TRAINED: 0}[directory]
            await_true(lambda: self.model(server).version == list(want)[expected],
                       "the whole version is served")
            self.assert_answer(server, want)
        self.assertEqual(server.stop(), 0)

    def assert_answer(self, server, want):
        response = server.translate("The cat is old.")
        self.assertEqual(response.translations[0].hypotheses[0].text,
                         want[response.model_version])

    def test_links_turned_as_kubernetes_turns_them(self):
        """A mounted ConfigMap or a synchronized volume: file -> ..data/file, ..data -> ..time."""
        served = self.path("served")
        os.mkdir(served)

        def project(name, directory):
            copy_model(directory, os.path.join(served, name))
            os.symlink(name, os.path.join(served, "..data_tmp"))
            os.rename(os.path.join(served, "..data_tmp"), os.path.join(served, "..data"))

        project("..2026_01", TRAINED)
        for name in os.listdir(TRAINED):
            os.symlink(os.path.join("..data", name), os.path.join(served, name))
        server = serve(self, "--model", f"en-de={served}", "--model-poll-seconds", "1")
        version = self.model(server).version
        project("..2026_02", OTHER)
        shutil.rmtree(os.path.join(served, "..2026_01"))
        await_true(lambda: self.model(server).version != version, "the new link is seen")
        self.assertEqual(server.stop(), 0)

    def test_streams_end_on_the_version_that_they_began_with(self):
        """Versions change, and a config file breaks, while streams and a bulk call are in progress."""
        config = self.path("server.txtpb")

        def write(text):
            with open(config + ".next", "w", encoding="utf-8") as file:
                file.write(text)
            os.rename(config + ".next", config)

        self.point(TRAINED)
        write(f'models {{ name: "en-de" directory: "{self.current}" }}')
        server = serve(self, "--config", config, "--workers", "2")
        texts = [i["text"] for i in golden_inputs()[:4]]
        options = pb.DecodingOptions(beam_size=4)
        want = {}
        for directory in (TRAINED, OTHER):
            self.point(directory)
            self.hang_up(server)
            await_true(lambda: self.states(server) == [("stable", "ready", "")]
                       and self.model(server).version not in want, "a new version")
            response = server.translate(*texts, options=options)
            want[response.model_version] = [t.hypotheses[0].text for t in response.translations]
        self.assertEqual(len(want), 2)
        self.assertNotEqual(*want.values())
        ending = threading.Event()
        wrong, streamed, answered = [], [0], [0]

        def stream():
            while not ending.is_set():
                got = [""] * len(texts)
                for message in server.translation.TranslateStream(
                        pb.TranslateRequest(contents=texts, options=options), timeout=600):
                    if message.WhichOneof("event") == "stable_text":
                        got[message.content_index] += message.stable_text
                streamed[0] += 1
                if got not in want.values():
                    wrong.append(got)

        def requests():
            while not ending.is_set():
                yield pb.TranslateBulkRequest(id="all", request=pb.TranslateRequest(
                    contents=texts, options=options, priority=pb.PRIORITY_BATCH))

        def bulk():
            for answer in server.translation.TranslateBulk(requests(), timeout=600):
                answered[0] += 1
                got = [t.hypotheses[0].text for t in answer.response.translations]
                if got != want.get(answer.response.model_version):
                    wrong.append(answer.error or got)

        with futures.ThreadPoolExecutor() as pool:
            calls = [pool.submit(stream) for _ in range(2)] + [pool.submit(bulk)]
            try:
                for i in range(8):
                    self.point((TRAINED, OTHER)[i % 2])
                    if i == 4:
                        write('models { name: "en-de" directory')
                    self.hang_up(server)
                    before = streamed[0]
                    await_true(lambda: streamed[0] > before, "a stream ends")
                await_true(lambda: server.metrics()["dragoman_config_stale"][()] == 1,
                           "the broken file is told")
                self.assertEqual(server.http("/readyz")[0], 200)
                await_true(lambda: min(streamed[0], answered[0]) > 4, "calls end")
                write(f'models {{ name: "en-de" directory: "{self.current}" }}')
                self.hang_up(server)
                await_true(lambda: server.metrics()["dragoman_config_stale"][()] == 0,
                           "the mended file is read")
            finally:
                ending.set()
            for call in calls:
                call.result()
        print(f"{streamed[0]} streams of {len(texts)} texts, {answered[0]} answers", file=sys.stderr)
        self.assertEqual(wrong, [])
        self.assertEqual(server.stop(), 0)

    def test_a_storm_of_signals_and_a_version_that_flaps(self):
        self.point(TRAINED)
        server = serve(self, "--model", f"en-de={self.current}")
        load = self.load(server, [i["text"] for i in golden_inputs()[:20]], clients=2)
        before = self.resident(server)
        for i in range(40):
            self.point((OTHER, TRAINED)[i % 2])
            for _ in range(10):
                self.hang_up(server)
            load.await_calls(2)
        self.point(OTHER)
        self.hang_up(server)
        await_true(lambda: self.states(server) == [("stable", "ready", "")], "it settles")
        load.stop()
        self.assertEqual(set(load.codes), {"OK"}, load.codes)
        for key, translations in load.answers.items():
            self.assertEqual(len(translations), 1, key)
        await_true(lambda: self.resident(server) < before + 60, "the memory of what has left is returned")
        print(f"40 versions: resident {before:.0f} MB before, {self.resident(server):.0f} after", file=sys.stderr)
        self.assertEqual(server.stop(), 0)

    def test_sigterm_during_a_reload_drains_as_ever(self):
        self.point(TRAINED)
        server = serve(self, "--model", f"en-de={self.current}")
        load = self.load(server, [i["text"] for i in golden_inputs()[:20]], clients=2)
        load.await_calls(2)
        self.point(MODEL)
        self.hang_up(server)
        self.assertEqual(server.stop(), 0)
        load.stop()
        self.assertLessEqual(set(load.codes), {"OK", "UNAVAILABLE"}, load.codes)

    def test_a_config_file_that_changes(self):
        config = self.path("server.txtpb")

        def write(text):
            with open(config + ".next", "w", encoding="utf-8") as file:
                file.write(text)
            os.rename(config + ".next", config)

        write(f'models {{ name: "a" directory: "{TRAINED}" }}')
        server = serve(self, "--config", config, "--model-poll-seconds", "1")

        def names():
            models = server.models.ListModels(pb.ListModelsRequest(), timeout=120).models
            return [m.name for m in models]

        write(f'models {{ name: "a" directory: "{TRAINED}" }}'
              f' models {{ name: "b" directory: "{OTHER}" }} default_model: "b" max_texts: 3')
        await_true(lambda: names() == ["a", "b"], "b is there")
        await_true(lambda: server.translate("Good morning.").model == "b", "b is the default")
        server.await_log("settings=max_texts")
        write('models { name: "a" directory')
        await_true(lambda: server.metrics()["dragoman_config_stale"][()] == 1, "told")
        self.assertEqual(names(), ["a", "b"])
        write(f'models {{ name: "b" directory: "{OTHER}" }}')
        await_true(lambda: names() == ["b"], "a has gone")
        await_true(lambda: server.metrics()["dragoman_config_stale"][()] == 0, "told")
        self.assertEqual(server.stop(), 0)

    def test_the_level_and_the_format_of_the_log_change(self):
        config = self.path("server.txtpb")

        def write(settings):
            with open(config, "w", encoding="utf-8") as file:
                file.write(f'models {{ name: "a" directory: "{TRAINED}" }} {settings}')

        def call(request_id):
            server.translation.Translate(pb.TranslateRequest(contents=["a"]), timeout=120,
                                         metadata=[("x-request-id", request_id)])

        write('log_level: "warn"')
        server = serve(self, "--config", config)
        call("first")
        write('log_format: "json"')
        self.hang_up(server)
        # Requests are logged as soon as the configuration has been read.
        await_true(lambda: call("second") or '"request_id":"second"' in server.log_text(), "json")
        log = server.log_text()
        self.assertNotIn("first", log)
        self.assertNotIn("need a restart", log)
        line, = [json.loads(line) for line in log.splitlines() if line.startswith('{') and "second" in line][:1]
        self.assertEqual((line["event"], line["code"]), ("request", "OK"))
        self.assertEqual(server.stop(), 0)


if __name__ == "__main__":
    unittest.main()
