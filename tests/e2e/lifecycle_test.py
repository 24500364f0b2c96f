"""How the server starts, refuses to start, and exits."""

import os
import signal
import subprocess
import tempfile
import threading
import unittest

import grpc

import together
from harness import (BUILT_IN, FLOAT32, HELD_TEXTS, MODEL, SERVER, await_true, golden_inputs, hold_call, pb,
                     run_server, serve)

load_tests = together.load_tests


class StartTest(unittest.TestCase):

    def assert_refuses(self, want, *arguments):
        ended = run_server("--grpc-address", "127.0.0.1:0", "--http-address", "127.0.0.1:0",
                           *arguments)
        self.assertEqual(ended.returncode, 1, ended)
        self.assertNotIn("listening", ended.stdout)
        self.assertIn(want, ended.stderr)

    def test_a_bad_model_ends_it_before_it_listens(self):
        self.assert_refuses("/no/such/dir", "--model", "en-de=/no/such/dir")
        with tempfile.TemporaryDirectory() as directory:
            for name in os.listdir(MODEL):
                if name != "model.safetensors":
                    os.symlink(os.path.join(MODEL, name), os.path.join(directory, name))
            self.assert_refuses("model.safetensors", "--model", f"en-de={directory}")
            with open(os.path.join(directory, "model.safetensors"), "wb") as file:
                file.write(b"\xff" * 100)
            self.assert_refuses("model.safetensors", "--model", f"en-de={directory}")

    def test_bad_flags_end_it(self):
        good = ("--model", f"en-de={MODEL}")
        self.assert_refuses("--no-such-flag", *good, "--no-such-flag")
        self.assert_refuses("en-de", "--model", "en-de")
        self.assert_refuses("model")
        self.assert_refuses("many", *good, "--workers", "many")
        self.assert_refuses("fast", *good, "--precision", "fast")
        self.assert_refuses("/no/such/file", "--config", "/no/such/file")

    def test_a_port_in_use_ends_it(self):
        server = serve(self, *FLOAT32)
        for grpc_address, http_address in ((server.grpc_address, "127.0.0.1:0"),
                                           ("127.0.0.1:0", server.http_address)):
            ended = run_server("--model", f"en-de={MODEL}", "--grpc-address", grpc_address,
                               "--http-address", http_address)
            self.assertEqual(ended.returncode, 1, ended)
            self.assertNotIn("listening", ended.stdout)
        self.assertEqual(server.stop(), 0)

    def test_help_and_version(self):
        for flag, want in (("--help", "--grpc-address"), ("--version", "dragoman-server 0.")):
            ended = run_server(flag)
            self.assertEqual(ended.returncode, 0)
            self.assertIn(want, ended.stdout)

    def test_several_models_and_a_config_file(self):
        with tempfile.NamedTemporaryFile("w", suffix=".txtpb") as config:
            config.write(f'models {{ name: "a" directory: "{MODEL}" }}\n'
                         f'models {{ name: "b" directory: "{MODEL}" }}\n'
                         'default_model: "b"\n')
            config.flush()
            server = serve(self, "--config", config.name)
        models = server.models.ListModels(pb.ListModelsRequest(), timeout=120).models
        self.assertEqual([(m.name, m.is_default) for m in models], [("a", False), ("b", True)])
        self.assertEqual(server.translate("Good morning.").model, "b")
        self.assertEqual(server.translate("Good morning.", model="a").model, "a")
        self.assertEqual(server.stop(), 0)


class OpenToTheNetworkTest(unittest.TestCase):

    def warnings(self, *arguments):
        # The last --grpc-address would be one too many, so the address comes from a file.
        with tempfile.NamedTemporaryFile("w", suffix=".txtpb") as config:
            config.write(f'models {{ name: "en-de" directory: "{MODEL}" }}\n'
                         f'grpc_address: "{arguments[0]}:0"\nhttp_address: "{arguments[1]}:0"\n')
            config.flush()
            process = subprocess.Popen([SERVER, "--config", config.name], text=True,
                                       stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            self.assertIn("listening", process.stdout.readline())
            process.send_signal(signal.SIGTERM)
            log = process.communicate(timeout=60)[1]
            self.assertEqual(process.returncode, 0)
            return log.count("neither TLS nor tokens")

    def test_a_server_that_is_open_to_the_network_says_so_once(self):
        self.assertEqual(self.warnings("0.0.0.0", "0.0.0.0"), 1)
        self.assertEqual(self.warnings("127.0.0.1", "[::]"), 1)

    def test_one_that_only_this_machine_reaches_does_not(self):
        self.assertEqual(self.warnings("127.0.0.1", "localhost"), 0)


class CheckConfigTest(unittest.TestCase):

    def check(self, *arguments):
        ended = run_server(*arguments, "--check-config")
        self.assertNotIn("listening", ended.stdout)
        return ended

    def test_settings_that_can_be_served(self):
        ended = self.check("--model", f"en-de={MODEL}", "--grpc-address", "0.0.0.0:1")
        self.assertEqual(ended.returncode, 0, ended)
        self.assertIn(f"model en-de ({MODEL}): can be served\n", ended.stdout)
        self.assertIn("the configuration is right\n", ended.stdout)

    def test_everything_that_is_wrong_is_named(self):
        with tempfile.TemporaryDirectory() as directory:
            tokens = os.path.join(directory, "tokens")
            with open(tokens, "w", encoding="utf-8") as file:
                file.write("team short\n")
            os.mkdir(os.path.join(directory, "empty"))
            ended = self.check("--model", f"en-de={MODEL}", "--model", f"bad={directory}/empty",
                               "--shortlist", f"en-de={directory}/lex.s2t", "--pivot", "xx",
                               "--auth-tokens", tokens, "--tls-cert", f"{directory}/cert.pem",
                               "--tls-key", f"{directory}/key.pem")
        self.assertEqual(ended.returncode, 1, ended)
        for line in (r"model bad \(.*/empty\): .+", r"shortlist of en-de: cannot read .*/lex.s2t",
                     r'pivot: no model translates into "xx"', r"auth-tokens: .*line 1.*",
                     r"tls: .*cert.pem.*", "the configuration is wrong"):
            self.assertRegex(ended.stdout, f"(?m)^{line}$")

    def test_a_setting_that_is_wrong_by_itself(self):
        ended = self.check("--model", f"en-de={MODEL}", "--workers", "-1")
        self.assertEqual(ended.returncode, 1)
        self.assertIn("workers is -1", ended.stderr)

    def test_the_default_pivot_of_a_directory_of_models_need_not_be_of_use(self):
        with tempfile.TemporaryDirectory() as directory:
            os.symlink(MODEL, os.path.join(directory, "en-de"))
            self.assertEqual(self.check("--models", directory).returncode, 0)


class PlanTest(unittest.TestCase):

    def plan(self, load):
        return run_server("--model", f"en-de-fr-es={BUILT_IN}", "--plan", load)

    def test_a_load_is_measured_and_planned(self):
        ended = self.plan("100words/s,words=5,p99=1h,beam=1,from=en,to=de")
        self.assertEqual(ended.returncode, 0, ended)
        self.assertRegex(ended.stdout, r"(?m)^load +20 sentences/s of 5 words$")
        self.assertRegex(ended.stdout, r"(?m)^model +en-de-fr-es: [1-9]\d* sentences a CPU second; ")
        self.assertRegex(ended.stdout, r"(?m)^utilization +80 % of the cores, for a p99 of 1h$")
        self.assertRegex(ended.stdout, r"(?m)^cores +[1-9]\d*, of which \d+\.\d are busy$")
        self.assertRegex(ended.stdout, r"(?m)^replicas +[1-9]\d* of [1-9]\d* cores each")
        self.assertRegex(ended.stdout, r"(?m)^memory +[1-9]\d* MB each$")
        self.assertNotIn("listening", ended.stdout)

    def test_what_is_wrong_is_named(self):
        for load, want in (("many", "want for example 200sentences/s"),
                           ("1words/s,to=xx", "xx"),
                           ("1words/s,p99=1ns,from=en,to=de", "cannot be had by more cores")):
            ended = self.plan(load)
            self.assertEqual(ended.returncode, 1, ended)
            self.assertIn(want, ended.stderr)


class StopTest(unittest.TestCase):

    def test_sigterm_finishes_what_is_in_flight(self):
        server = serve(self, *FLOAT32)
        texts = [i["text"] for i in golden_inputs()[:24]]
        started = threading.Semaphore(0)
        results = []

        def client():
            channel = server.new_channel()
            translate = type(server.translation)(channel).Translate
            while True:
                started.release()
                try:
                    translate(pb.TranslateRequest(contents=texts), timeout=120)
                    results.append(grpc.StatusCode.OK)
                except grpc.RpcError as error:
                    results.append(error.code())
                    return

        clients = [threading.Thread(target=client) for _ in range(4)]
        for thread in clients:
            thread.start()
        for _ in range(8):  # enough calls for (nearly) every client to have had a response
            started.acquire()
        await_true(lambda: server.metrics()["dragoman_requests_in_flight"][()] > 0, "a call is in flight")
        code = server.stop()
        for thread in clients:
            thread.join()
        self.assertEqual(code, 0)
        # Calls that started before the signal succeeded; those that started after it were refused.
        self.assertGreaterEqual(results.count(grpc.StatusCode.OK), 4)
        self.assertEqual(set(results), {grpc.StatusCode.OK, grpc.StatusCode.UNAVAILABLE})

    def test_readiness_ends_before_the_server_does(self):
        server = serve(self, *FLOAT32, "--workers", "1", "--drain-timeout", "10m")
        call = hold_call(self, server)
        server.terminate()
        await_true(lambda: server.http("/readyz")[0] == 503, "the server is not ready")
        self.assertEqual(server.http("/healthz")[0], 200)
        self.assertIsNone(server.process.poll())
        self.assertFalse(call.done())
        self.assertEqual(sum(m.WhichOneof("event") == "translation" for m in call), HELD_TEXTS)
        self.assertEqual(server.process.wait(timeout=60), 0)


if __name__ == "__main__":
    unittest.main()
