"""Many clients that change their minds.  DRAGOMAN_SOAK_SECONDS says for how long (default 5)."""

import collections
import os
import random
import sys
import threading
import time
import unittest

import grpc

from harness import ServerTest, golden_inputs, pb, pb_grpc, seed

SECONDS = float(os.environ.get("DRAGOMAN_SOAK_SECONDS", "5"))
CLIENTS = 16
ALLOWED = {grpc.StatusCode.OK, grpc.StatusCode.CANCELLED, grpc.StatusCode.DEADLINE_EXCEEDED,
           grpc.StatusCode.RESOURCE_EXHAUSTED}
IDLE = {name: {(): 0.0} for name in
        ("dragoman_requests_in_flight", "dragoman_queue_requests", "dragoman_queue_tokens",
         "dragoman_queue_oldest_age_seconds", "dragoman_kv_cache_bytes")}


class Client(threading.Thread):
    """Makes calls one after another; some it cancels, some have next to no time."""

    def __init__(self, server, inputs, client_seed, end):
        super().__init__()
        self.server, self.inputs, self.end = server, inputs, end
        self.random = random.Random(client_seed)
        self.ends = []  # one list of codes for each call: a code each time that it ended
        self.wrong = []

    def run(self):
        with self.server.new_channel() as channel:
            stub = pb_grpc.TranslationServiceStub(channel)
            while time.monotonic() < self.end:
                self.call(stub)

    def call(self, stub):
        chosen = self.random.choices(self.inputs, k=self.random.randint(1, 8))
        greedy = self.random.random() < 0.5
        request = pb.TranslateRequest(contents=[i["text"] for i in chosen],
                                      options=pb.DecodingOptions(beam_size=1 if greedy else 4))
        hurried = self.random.random() < 0.3
        timeout = self.random.uniform(0.001, 0.2) if hurried else 300
        call = stub.Translate.future(request, timeout=timeout)
        ends = []
        done = threading.Event()
        self.ends.append(ends)
        call.add_done_callback(lambda c: (ends.append(c.code()), done.set()))
        if self.random.random() < 0.3:
            time.sleep(self.random.uniform(0, 0.1))
            call.cancel()
        done.wait(timeout=400)
        if ends == [grpc.StatusCode.OK]:
            got = [t.hypotheses[0].text for t in call.result().translations]
            want = [(i["greedy"] if greedy else i["beam4"][0])["text"] for i in chosen]
            if got != want:
                self.wrong.append((got, want))


class SoakTest(ServerTest):

    def test_every_call_ends_once_and_nothing_stays_behind(self):
        value = seed()
        end = time.monotonic() + SECONDS
        inputs = golden_inputs()
        clients = [Client(self.server, inputs, value + i, end) for i in range(CLIENTS)]
        for client in clients:
            client.start()
        for client in clients:
            client.join()

        ends = [e for client in clients for e in client.ends]
        self.assertEqual([e for e in ends if len(e) != 1], [])
        codes = collections.Counter(e[0] for e in ends)
        print({code.name: count for code, count in codes.items()}, file=sys.stderr)
        self.assertLessEqual(set(codes), ALLOWED)
        self.assertGreater(codes[grpc.StatusCode.OK], 0)
        self.assertGreater(codes[grpc.StatusCode.CANCELLED], 0)
        self.assertGreater(codes[grpc.StatusCode.DEADLINE_EXCEEDED], 0)
        self.assertEqual([w for client in clients for w in client.wrong], [])

        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            metrics = self.server.metrics()
            gauges = {name: metrics[name] for name in IDLE}
            if gauges == IDLE:
                break
            time.sleep(0.05)
        self.assertEqual(gauges, IDLE)
        self.assertEqual(len(self.server.translate("Good morning.").translations), 1)


if __name__ == "__main__":
    unittest.main()
