#!/usr/bin/python3
"""Measures how long a one-liner takes: alone, and next to a full bulk call, a call of 30 kB, four documents, or 32 long sentences.

    tests/bench/waiting_bench.py [--build build/release] [--seconds 10] [--server-cores 0,1]
                                 [--client-cores 2,3]

One caller sends short sentences one after the other, for --seconds next to each kind of load.  The server
runs the small model en-de with a worker on each of its cores.  Prints the median and the 99th percentile in
milliseconds, and the latter relative to that of the caller alone.
"""

import argparse
import sys
import threading
import time

import own_server


def flags():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    own_server.add_build_flag(parser)
    own_server.add_core_flags(parser)
    parser.add_argument("--server", help="another build's dragoman-server")
    parser.add_argument("--seconds", type=float, default=10)
    return parser.parse_args()


FLAGS = flags()
own_server.use_build(FLAGS.build, FLAGS.server)

from harness import MODEL, golden_inputs, pb, pb_grpc  # noqa: E402

SHORT = [entry["text"] for entry in golden_inputs() if len(entry["text"]) < 60]


def request(texts, **options):
    return pb.TranslateRequest(contents=texts, options=pb.DecodingOptions(**options))


def big_call(_):
    """A text of 30 kB with nearly 5,000 sentences."""
    big = request(["I am. " * 47 for _ in range(106)], beam_size=16, min_length=30)
    big.sentence_splitting = pb.SENTENCE_SPLITTING_SENTENCES
    return [big]


def documents(_):
    return [request((SHORT * 100)[i:i + 100]) for i in range(4)]


def long_sentences(_):
    return [request([" ".join(["house"] * 500)]) for _ in range(32)]


def bulk_requests(stop, room):
    """The requests of a bulk call: sentences and short documents, as many at a time as `room` admits."""
    number = 0
    while not stop.is_set():
        room.acquire()
        number += 1
        first, count = number % 50, 20 if number % 4 == 3 else 1
        yield pb.TranslateBulkRequest(id=str(number),
                                      request=request((SHORT * 3)[first:first + count]))


# What a kind of load calls again and again; None stands for one bulk call that never ends.
COMPANY = {"alone": lambda _: [], "a full bulk call": lambda _: [None], "a call of 30 kB": big_call,
           "4 documents": documents, "32 calls of 500 tokens": long_sentences}


def measure(server, company):
    """Returns the latencies of one-liners in seconds, and how many other calls succeeded and failed."""
    stop = threading.Event()
    ends = {}

    def keep_calling(message):
        with server.new_channel() as channel:
            stub = pb_grpc.TranslationServiceStub(channel)
            while not stop.is_set():
                call = stub.Translate.future(message)
                while not call.done() and not stop.wait(0.01):
                    pass
                call.cancel()
                code = "cut" if stop.is_set() else call.code().name
                ends[code] = ends.get(code, 0) + 1
                if code not in ("OK", "cut"):
                    print(call.details(), file=sys.stderr)
                    time.sleep(0.1)  # a client that was refused comes back later

    def keep_bulk(_):
        room = threading.Semaphore(400)  # more than the server keeps open
        with server.new_channel() as channel:
            call = pb_grpc.TranslationServiceStub(channel).TranslateBulk(bulk_requests(stop, room))
            for answer in call:
                result = answer.WhichOneof("result")
                ends[result] = ends.get(result, 0) + 1
                room.release()
                if stop.is_set():
                    break
            call.cancel()

    threads = [threading.Thread(target=keep_bulk if m is None else keep_calling, args=(m,))
               for m in COMPANY[company](server)]
    for thread in threads:
        thread.start()
    time.sleep(min(1, FLAGS.seconds) if threads else 0)  # the company has begun before the first is measured
    seconds = []
    with server.new_channel() as channel:
        stub = pb_grpc.TranslationServiceStub(channel)
        end = time.monotonic() + FLAGS.seconds
        while time.monotonic() < end:
            start = time.monotonic()
            stub.Translate(request([SHORT[len(seconds) % len(SHORT)]]))
            seconds.append(time.monotonic() - start)
    stop.set()
    for thread in threads:
        thread.join()
    return sorted(seconds), ends


def main():
    server = own_server.start_server(FLAGS, "--model", f"en-de={MODEL}")
    alone = None
    try:
        for company in COMPANY:
            seconds, ends = measure(server, company)
            p50, p99 = seconds[len(seconds) // 2], seconds[int(len(seconds) * 0.99)]
            alone = alone or p99
            print(f"{company:24} p50 {p50 * 1e3:7.1f} ms  p99 {p99 * 1e3:7.1f} ms  "
                  f"{p99 / alone:5.2f} x alone  {len(seconds)} calls, beside {ends}", flush=True)
    finally:
        server.stop()


if __name__ == "__main__":
    main()
