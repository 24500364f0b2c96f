"""deploy/haproxy in front of two real servers: under load, one is killed and one is drained, and no
caller notices."""

import json
import os
import signal
import socket
import subprocess
import tempfile
import threading
import unittest

import grpc

import files
from harness import CLIENT, MODEL, Server, await_true, free_port, golden_inputs, pb, pb_grpc

CONFIG = os.path.join(files.DEPLOY, "haproxy", "haproxy.cfg")


class Backend:
    """A server that keeps its ports when it is restarted."""

    def __init__(self):
        self.grpc_port, self.http_port = free_port(), free_port()
        self.start()

    def start(self):
        self.server = Server("--model", f"en-de={MODEL}", "--drain-delay", "6s", grpc_port=self.grpc_port,
                             http_port=self.http_port)

    def kill(self):
        self.server.process.kill()
        self.server.process.wait()


class Haproxy:

    def __init__(self, a, b):
        self.address = f"127.0.0.1:{free_port()}"
        self.log = tempfile.TemporaryFile(mode="w+")
        environment = dict(os.environ, DRAGOMAN_FRONTEND=self.address)
        for name, backend in (("A", a), ("B", b)):
            environment[f"DRAGOMAN_{name}"] = "127.0.0.1"
            environment[f"DRAGOMAN_{name}_GRPC"] = str(backend.grpc_port)
            environment[f"DRAGOMAN_{name}_HTTP"] = str(backend.http_port)
        self.process = subprocess.Popen(["haproxy", "-db", "-f", CONFIG], env=environment,
                                        stdout=self.log, stderr=self.log)
        await_true(self.listens_or_ended, "haproxy listens")
        if self.process.poll() is not None:
            self.log.seek(0)
            raise AssertionError(f"haproxy does not listen:\n{self.log.read()}")

    def listens_or_ended(self):
        with socket.socket() as s:
            listens = s.connect_ex(("127.0.0.1", int(self.address.rsplit(":", 1)[1]))) == 0
        return listens or self.process.poll() is not None

    def stop(self):
        self.process.send_signal(signal.SIGUSR1)
        try:
            self.process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def channel_through(address):
    """A channel whose calls are repeated as deploy/service_config.json says."""
    with open(os.path.join(files.DEPLOY, "service_config.json"), encoding="utf-8") as file:
        service_config = json.load(file)
    # The load balancer balances, not the client.
    del service_config["loadBalancingConfig"], service_config["healthCheckConfig"]
    return grpc.insecure_channel(address, [
        ("grpc.service_config", json.dumps(service_config)), ("grpc.enable_http_proxy", 0),
        ("grpc.use_local_subchannel_pool", 1)])


class Callers:
    """Threads that translate again and again, each over its own connection."""

    def __init__(self, address, count):
        self.address = address
        self.texts = [i["text"] for i in golden_inputs()[:40]]
        self.answers = {}  # text: set of translations
        self.errors = []
        self.calls = 0
        self.lock = threading.Lock()
        self.ended = threading.Event()
        self.threads = [threading.Thread(target=self.run, args=(i,)) for i in range(count)]
        for thread in self.threads:
            thread.start()

    def run(self, number):
        with channel_through(self.address) as channel:
            stub = pb_grpc.TranslationServiceStub(channel)
            while not self.ended.wait(0.05):
                number += 1
                text = self.texts[number % len(self.texts)]
                try:
                    response = stub.Translate(pb.TranslateRequest(contents=[text]), timeout=120)
                    with self.lock:
                        self.calls += 1
                        self.answers.setdefault(text, set()).add(
                            response.translations[0].hypotheses[0].text)
                except grpc.RpcError as error:
                    with self.lock:
                        self.errors.append(f"{error.code()}: {error.details()}")

    def finish(self):
        self.ended.set()
        for thread in self.threads:
            thread.join()


class HaproxyTest(unittest.TestCase):

    def setUp(self):
        self.a, self.b = Backend(), Backend()
        self.addCleanup(self.a.kill)
        self.addCleanup(self.b.kill)
        self.haproxy = Haproxy(self.a, self.b)
        self.addCleanup(self.haproxy.stop)

    def await_served(self, *backends):
        """Waits until new calls go to each of them, as soon as its health checks allow it."""
        before = {backend: self.translated(backend) for backend in backends}
        with channel_through(self.haproxy.address) as channel:
            stub = pb_grpc.TranslationServiceStub(channel)

            def served():
                stub.Translate(pb.TranslateRequest(contents=["Hello"]), timeout=60)
                return all(self.translated(backend) > before[backend] for backend in backends)
            await_true(served, "calls go to the server")

    def translated(self, backend):
        samples = backend.server.metrics()["dragoman_requests_total"]
        return sum(value for labels, value in samples.items()
                   if ("method", "Translate") in labels and ("code", "OK") in labels)

    def test_nothing_is_lost(self):
        callers = Callers(self.haproxy.address, 8)
        self.addCleanup(callers.finish)
        await_true(lambda: callers.calls > 100, "calls flow")
        self.await_served(self.a, self.b)

        self.a.kill()
        calls = callers.calls
        await_true(lambda: callers.calls > calls + 100, "calls go on without it")
        self.a.start()
        self.await_served(self.a)

        self.b.server.terminate()
        self.assertEqual(self.b.server.process.wait(timeout=60), 0)
        calls = callers.calls
        await_true(lambda: callers.calls > calls + 8, "calls go on")
        callers.finish()
        self.assertEqual(callers.errors, [])
        for text, answers in callers.answers.items():
            self.assertEqual(len(answers), 1, f"{text}: {answers}")

    def test_the_command_goes_through(self):
        self.await_served(self.a, self.b)
        ended = subprocess.run([CLIENT, "translate", "--server", self.haproxy.address],
                               input="Good morning.\n" * 200, capture_output=True, text=True,
                               timeout=120)
        self.assertEqual(ended.returncode, 0, ended.stderr)
        self.assertEqual(len(set(ended.stdout.splitlines())), 1)
        self.assertEqual(len(ended.stdout.splitlines()), 200)

    def test_the_job_translates_a_sharded_corpus(self):
        """Does what the pods of deploy/kubernetes/jobs/corpus do, while one server and one pod are
        killed and restarted."""
        job = files.read_yaml("kubernetes/jobs/corpus/job.yaml")
        container, = job["spec"]["template"]["spec"]["containers"]
        texts = [i["text"] for i in golden_inputs()[:150]]
        shards = 3
        with tempfile.TemporaryDirectory() as corpus:
            for shard in range(shards):
                with open(f"{corpus}/part-{shard}.txt", "w", encoding="utf-8") as file:
                    file.writelines(text + "\n" for text in texts[shard * 50:(shard + 1) * 50] * 3)

            def start(shard):
                arguments = [argument.replace("$(SHARD)", str(shard))
                             .replace("/corpus/", corpus + "/")
                             .replace("dragoman-balancer:50050", self.haproxy.address)
                             for argument in container["args"]]
                return subprocess.Popen([CLIENT, *arguments], stderr=subprocess.PIPE, text=True)

            self.await_served(self.a, self.b)
            def sentences():
                return self.a.server.metrics()["dragoman_sentences_total"][()]
            before = sentences()
            pods = [start(shard) for shard in range(shards)]
            await_true(lambda: sentences() > before, "the server works for them")
            self.a.kill()
            pods[1].kill()
            pods[1].communicate()
            pods[1] = start(1)
            self.a.start()
            for pod in pods:
                _, errors = pod.communicate(timeout=300)
                self.assertEqual(pod.returncode, 0, errors)
            want = {text: self.b.server.translate(text).translations[0].hypotheses[0].text
                    for text in texts}
            for shard in range(shards):
                with open(f"{corpus}/part-{shard}.out", encoding="utf-8") as file:
                    self.assertEqual(file.read().splitlines(),
                                     [want[text] for text in texts[shard * 50:(shard + 1) * 50] * 3])


if __name__ == "__main__":
    unittest.main()
