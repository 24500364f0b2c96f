"""A program that calls a server as others do beside an attack: bystanders.py GRPC_ADDRESS HTTP_ADDRESS TOKEN

Between the lines "begin" and "end" that it reads it translates a sentence and asks for /healthz, each every 20 ms.
Then it prints the p99 of both in seconds, and what went wrong.  A program, so that attackers do not slow it down.
"""

import http.client
import json
import statistics
import sys
import threading
import time

import grpc

from harness import pb, pb_grpc


class Watch(threading.Thread):
    """Calls `act` every so often and keeps how long it took."""

    def __init__(self, act):
        super().__init__(daemon=True)
        self.act, self.seconds, self.errors = act, [], []
        self.over = threading.Event()
        self.start()

    def run(self):
        while not self.over.is_set():
            start = time.monotonic()
            try:
                self.act()
            except Exception as error:  # whatever it is, the test tells
                self.errors.append(repr(error))
            self.seconds.append(time.monotonic() - start)
            self.over.wait(0.02)

    def p99(self):
        self.over.set()
        self.join()
        return statistics.quantiles(self.seconds, n=100)[98]


def main(grpc_address, http_address, token):
    stub = pb_grpc.TranslationServiceStub(grpc.insecure_channel(grpc_address, [("grpc.enable_http_proxy", 0)]))
    request = pb.TranslateRequest(contents=["Good morning."], source_language="en", target_language="de")

    def translate():
        stub.Translate(request, metadata=[("authorization", "Bearer " + token)], timeout=30)

    def health():
        connection = http.client.HTTPConnection(http_address, timeout=30)
        connection.request("GET", "/healthz")
        status = connection.getresponse().status
        connection.close()
        if status != 200:
            raise AssertionError(f"/healthz is {status}")
    translate()
    while sys.stdin.readline() == "begin\n":
        watches = [Watch(translate), Watch(health)]
        sys.stdin.readline()
        p99 = [watch.p99() for watch in watches]
        print(json.dumps([*p99, sum((watch.errors for watch in watches), [])]), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
