"""Many clients that cancel calls or give up on them, next to documents, bursts, batch work, and a
greedy principal that sends most of all this.

DRAGOMAN_SOAK_SECONDS sets the duration (default 3).  In a soak of a minute or more, the memory, the
descriptors and the threads of the server must not grow either (with a sanitizer, the memory may).
"""

import collections
import os
import random
import statistics
import sys
import tempfile
import threading
import time
import unittest

import grpc

from harness import FLOAT32, ServerTest, await_true, golden_inputs, instrumented, pb, pb_grpc, seed

SECONDS = float(os.environ.get("DRAGOMAN_SOAK_SECONDS", "3"))
PRINCIPALS = ("greedy",) * 6 + ("shop", "press", "press") + ("desk",) * 7  # a client of each
# Growth from the second quarter to the last one; in ten minutes, a leak grows by more.
MOST_GROWTH = 1.15
ALLOWED = {grpc.StatusCode.OK, grpc.StatusCode.CANCELLED, grpc.StatusCode.DEADLINE_EXCEEDED,
           grpc.StatusCode.RESOURCE_EXHAUSTED}
IDLE = {name: 0.0 for name in
        ("dragoman_requests_in_flight", "dragoman_queue_requests", "dragoman_queue_tokens",
         "dragoman_queue_oldest_age_seconds", "dragoman_kv_cache_bytes")}


def bearer(principal):
    return (("authorization", f"Bearer the-token-of-{principal}"),)


class Client(threading.Thread):
    """Makes calls one after another; cancels some, and gives some hardly any time."""

    def __init__(self, principal, server, inputs, client_seed, end):
        super().__init__()
        self.metadata = bearer(principal)
        self.greed = 5 if principal == "greedy" else 1
        self.server, self.inputs, self.end = server, inputs, end
        self.random = random.Random(client_seed)
        self.ends = []  # for each call, a list with a code for each time that it ended
        self.wrong = []
        self.unexpected = []  # codes that no client may see, with what the call said

    def run(self):
        with self.server.new_channel() as channel:
            stub = pb_grpc.TranslationServiceStub(channel)
            # However slow the machine is, there are enough calls to tell.
            while time.monotonic() < self.end or len(self.ends) < 8:
                self.call(stub)

    def call(self, stub):
        if self.random.random() < 0.02 * self.greed:  # a burst
            for call in [self.send(stub, 1, 30) for _ in range(50)]:
                call.wait()
        document = self.random.random() < 0.03 * self.greed
        self.send(stub, 100 if document else self.random.randint(1, 8), 300).wait()

    def send(self, stub, texts, timeout):
        """Starts one call; returns the event of its end."""
        chosen = self.random.choices(self.inputs, k=texts)
        greedy = self.random.random() < 0.5
        batch = self.random.random() < 0.2
        request = pb.TranslateRequest(
            contents=[i["text"] for i in chosen],
            options=pb.DecodingOptions(beam_size=1 if greedy else 4),
            sentence_splitting=pb.SENTENCE_SPLITTING_NONE,
            priority=pb.PRIORITY_BATCH if batch else pb.PRIORITY_INTERACTIVE)
        hurried = self.random.random() < 0.3
        timeout = self.random.uniform(0.001, 0.2) if hurried else timeout
        call = stub.Translate.future(request, timeout=timeout, metadata=self.metadata)
        ends = []
        done = threading.Event()
        self.ends.append(ends)

        def end(ended):
            ends.append(ended.code())
            if ended.code() not in ALLOWED:
                self.unexpected.append(f"{ended.code().name}: {ended.details()}")
            if ends == [grpc.StatusCode.OK]:
                self.compare(ended.result(), [(i["greedy"] if greedy else i["beam4"][0])["text"]
                                              for i in chosen])
            done.set()

        call.add_done_callback(end)
        if self.random.random() < 0.3:
            time.sleep(self.random.uniform(0, 0.1))  # so that it is cancelled somewhere on its way
            call.cancel()
        return done

    def compare(self, response, want):
        got = [t.hypotheses[0].text for t in response.translations]
        if got != want:
            self.wrong.append((got, want))


class Usage(threading.Thread):
    """Samples the memory, descriptors and threads of the server until the end."""

    NAMES = ("process_resident_memory_bytes", "process_open_fds", "process_threads")

    def __init__(self, server, end):
        super().__init__()
        self.server, self.end = server, end
        self.samples = {name: [] for name in self.NAMES}

    def run(self):
        while time.monotonic() < self.end:
            metrics = self.server.metrics()
            for name in self.NAMES:
                self.samples[name].append(metrics[name][()])
            time.sleep(1)  # between two samples

    def growth(self, name):
        """Returns the median of the last quarter divided by that of the second one."""
        samples = self.samples[name]
        quarter = len(samples) // 4
        return (statistics.median(samples[-quarter:]) /
                statistics.median(samples[quarter:2 * quarter]))


class SoakTest(ServerTest):

    @classmethod
    def setUpClass(cls):
        with tempfile.NamedTemporaryFile("w", suffix="tokens") as tokens:
            for principal in sorted(set(PRINCIPALS)):
                tokens.write(f"{principal} the-token-of-{principal}\n")
            tokens.flush()
            cls.arguments = (*FLOAT32, "--auth-tokens", tokens.name)
            super().setUpClass()

    def test_every_call_ends_once_and_nothing_stays_behind(self):
        value = seed()
        end = time.monotonic() + SECONDS
        inputs = golden_inputs()
        clients = [Client(principal, self.server, inputs, value + i, end)
                   for i, principal in enumerate(PRINCIPALS)]
        usage = Usage(self.server, end)
        for thread in [usage, *clients]:
            thread.start()
        for thread in [usage, *clients]:
            thread.join()

        ends = [e for client in clients for e in client.ends]
        self.assertEqual([e for e in ends if len(e) != 1], [])
        codes = collections.Counter(e[0] for e in ends)
        print({code.name: count for code, count in codes.items()}, file=sys.stderr)
        self.assertEqual([u for client in clients for u in client.unexpected], [])
        self.assertGreater(codes[grpc.StatusCode.OK], 0)
        self.assertGreater(codes[grpc.StatusCode.CANCELLED], 0)
        self.assertGreater(codes[grpc.StatusCode.DEADLINE_EXCEEDED], 0)
        self.assertEqual([w for client in clients for w in client.wrong], [])

        if SECONDS >= 60:
            growth = {name: usage.growth(name) for name in usage.NAMES}
            print({name: (min(usage.samples[name]), max(usage.samples[name]), round(ratio, 3))
                   for name, ratio in growth.items()}, file=sys.stderr)
            if instrumented():
                del growth["process_resident_memory_bytes"]
            self.assertLess(max(growth.values()), MOST_GROWTH)

        def gauges():
            metrics = self.server.metrics()
            return {name: sum(metrics[name].values()) for name in IDLE}
        await_true(lambda: gauges() == IDLE, f"{IDLE}")
        response = self.server.translation.Translate(
            pb.TranslateRequest(contents=["Good morning."]), timeout=60, metadata=bearer("desk"))
        self.assertEqual(len(response.translations), 1)


if __name__ == "__main__":
    unittest.main()
