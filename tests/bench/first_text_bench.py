#!/usr/bin/python3
"""Measures how soon a reader sees something: the time to the first text of TranslateStream, and to the whole text.

    tests/bench/first_text_bench.py [--model DIR] [--rounds 9]

For a text of 20 sentences and for one long sentence; medians, with no other load.  Needs the environment of the
tests in tests/e2e (ctest --preset release -R stream_test -V -N shows it).
"""

import argparse
import os
import statistics
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))
from harness import MODEL, Server, golden_inputs, pb  # noqa: E402

LONG = ("The old teacher who lives in the small house near the river told the children that the weather would be nice "
        "tomorrow, so they went home early, packed their bags, bought some bread and cheese at the market, and waited "
        "for the train that takes them to the lake, where they want to swim, eat and sleep under the trees.")


def twenty_sentences():
    whole = [given["text"] for given in golden_inputs() if given["text"].endswith((".", "!", "?"))]
    return " ".join(whole[:20])


def stream(server, request):
    """Returns the seconds until the first text and until the whole one."""
    begin, first = time.perf_counter(), None
    for message in server.translation.TranslateStream(request):
        if first is None and message.stable_text:
            first = time.perf_counter() - begin
    return first, time.perf_counter() - begin


def unary(server, request):
    begin = time.perf_counter()
    server.translation.Translate(request)
    return time.perf_counter() - begin


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--model", default=MODEL)
    parser.add_argument("--rounds", type=int, default=9)
    flags = parser.parse_args()
    server = Server("--model", f"m={flags.model}", "--workers", "2")
    print(f"{'text':18} {'beam':>4} {'first text':>11} {'whole text':>11} {'Translate':>10}")
    for name, text in (("20 sentences", twenty_sentences()), ("one long sentence", LONG)):
        for beam_size in (1, 4, 8):
            request = pb.TranslateRequest(
                contents=[text], options=pb.DecodingOptions(beam_size=beam_size),
                sentence_splitting=pb.SENTENCE_SPLITTING_SENTENCES)
            stream(server, request)  # warm
            rounds = [(*stream(server, request), unary(server, request)) for _ in range(flags.rounds)]
            first, whole, once = (statistics.median(column) * 1000 for column in zip(*rounds))
            print(f"{name:18} {beam_size:4} {first:8.1f} ms {whole:8.1f} ms {once:7.1f} ms", flush=True)
    server.channel.close()
    return server.stop()


if __name__ == "__main__":
    sys.exit(main())
