#!/usr/bin/python3
"""Measures what callers notice while a saturated server is given new versions of its model, one after another.

    tests/bench/reload_bench.py [--build build/release] [--model tests/golden/models/en-de] [--callers 64] [--seconds 6]
                                [--max-length N] [--server-cores 0,1] [--client-cores 2,3]

`dragoman load` keeps --callers requests of one sentence in flight: first without a reload, then while the
server gets a SIGHUP with another version as soon as it has dealt with the last one.  The versions are good
ones, broken ones (weights cut short), and ones too large for the memory.  Prints a table in Markdown.
"""

import argparse
import concurrent.futures as futures
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

import own_server


def flags():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    own_server.add_build_flag(parser)
    own_server.add_core_flags(parser)
    parser.add_argument("--model", default=os.path.join(own_server.ROOT, "tests/golden/models/en-de"))
    parser.add_argument("--callers", type=int, default=64)
    parser.add_argument("--max-length", type=int, default=256, help="of a translation; random weights find no end")
    parser.add_argument("--seconds", type=float, default=6, help="of each kind of version")
    return parser.parse_args()


FLAGS = flags()
own_server.use_build(FLAGS.build)

from harness import CLIENT, golden_inputs  # noqa: E402
from reload_test import too_large  # noqa: E402


def variant(directory, name, number):
    """A copy of the model that differs from the others by a blank line, and is then spoiled as `name` says."""
    path = os.path.join(directory, f"{name}-{number}")
    shutil.copytree(FLAGS.model, path)
    with open(os.path.join(path, "config.json"), "a", encoding="utf-8") as file:
        file.write("\n" * (number + 1))
    if name == "broken":
        weights = os.path.join(path, "model.safetensors")
        os.truncate(weights, os.path.getsize(weights) // 2)
    if name == "too large":
        too_large(path)
        with open(os.path.join(path, "config.json"), "a", encoding="utf-8") as file:
            file.write("\n" * number)
    return path


def loads(server, result):
    return server.metrics()["dragoman_model_loads_total"].get((("model", "m"), ("result", result)), 0)


def reload(server, link, versions, result, ending):
    """Gives the server one version after another; returns the seconds each took and the most memory in use."""
    seconds, memory = [], 0
    while not ending.is_set():
        before, begin = loads(server, result), time.monotonic()
        os.symlink(versions[len(seconds) % len(versions)], link + ".next")
        os.rename(link + ".next", link)
        server.process.send_signal(signal.SIGHUP)
        while loads(server, result) == before:
            memory = max(memory, resident(server))
            if time.monotonic() - begin > 60:
                raise TimeoutError(f"no version was {result} in a minute")
            time.sleep(0.02)  # between two looks at its memory
        seconds.append(time.monotonic() - begin)
    return seconds, memory


def resident(server):
    return server.metrics()["process_resident_memory_bytes"][()]


def load(server, texts):
    ended = subprocess.run(
        [CLIENT, "load", "--server", server.grpc_address, "--input", texts,
         "--concurrency", str(FLAGS.callers), "--max-length", str(FLAGS.max_length),
         "--duration", str(FLAGS.seconds), "--output", "json"],
        capture_output=True, text=True, check=True)
    return json.loads(ended.stdout)


def row(name, report, memory, seconds):
    latency = report["latency_seconds"]
    failed = sum(count for code, count in report["codes"].items() if code != "OK")
    each = f"{1000 * sum(seconds) / len(seconds):.0f} ms" if seconds else ""
    print(f"| {name} | {len(seconds) or ''} | {each} | {report['codes']['OK'] / report['seconds']:.0f} "
          f"| {1000 * latency['p50']:.0f} / {1000 * latency['p99']:.0f} / {1000 * latency['max']:.0f} ms "
          f"| {failed} | {memory / 1e6:.0f} MB |", flush=True)


def main():
    with tempfile.TemporaryDirectory() as directory, futures.ThreadPoolExecutor() as pool:
        texts = os.path.join(directory, "texts")
        with open(texts, "w", encoding="utf-8") as file:
            file.writelines(given["text"] + "\n" for given in golden_inputs())
        link = os.path.join(directory, "current")
        os.symlink(os.path.abspath(FLAGS.model), link)
        server = own_server.start_server(FLAGS, "--model", f"m={link}", "--workers", "2", "--precision", "int8")
        try:
            print("| versions | reloads | each | answers/s | p50 / p99 / max | failed | memory |\n"
                  "|---|---|---|---|---|---|---|")
            load(server, texts)  # warm
            row("none", load(server, texts), resident(server), [])
            for name, result in (("good", "loaded"), ("broken", "broken"), ("too large", "memory")):
                versions = [variant(directory, name, number) for number in range(2)]
                ending = threading.Event()
                reloads = pool.submit(reload, server, link, versions, result, ending)
                try:
                    report = load(server, texts)
                finally:
                    ending.set()
                seconds, memory = reloads.result()
                row(name, report, memory, seconds)
            row("none, afterwards", load(server, texts), resident(server), [])
        finally:
            server.channel.close()
            code = server.stop()
    return code


if __name__ == "__main__":
    sys.exit(main())
