#!/usr/bin/python3
"""Measures what callers notice of 200 models in memory for 20: the times of warm and cold answers, and the memory.

    tests/bench/many_models_bench.py [--build build/release] [--models 200] [--different 20] [--memory 2GiB]
        [--requests 600] [--rate 4] [--size base] [--server-cores 0,1] [--client-cores 2,3]

Requests of one sentence arrive at random, --rate a second, each for a model by Zipf's law; the same number is then sent
for a single model that is always in memory.  The models are links to --different directories of this size, as
tests/bench/make_model.py writes it, each of which has packed weights of its own in the page cache when the requests
begin; the server loads, maps and counts all models separately.  At the end two servers of one model share its weights.
"""

import argparse
import collections
import concurrent.futures as futures
import itertools
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time

import own_server


def flags():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    own_server.add_build_flag(parser)
    own_server.add_core_flags(parser)
    parser.add_argument("--models", type=int, default=200)
    parser.add_argument("--different", type=int, default=20, help="directories that the models are links to")
    parser.add_argument("--memory", default="2GiB")
    parser.add_argument("--requests", type=int, default=600)
    parser.add_argument("--rate", type=float, default=4, help="requests a second")
    parser.add_argument("--size", default="base", help="of make_model.py")
    parser.add_argument("--exponent", type=float, default=1.0, help="of Zipf's law")
    parser.add_argument("--packed-cache", default=None, help="that of the server; default: in a temporary directory")
    return parser.parse_args()


FLAGS = flags()
own_server.use_build(FLAGS.build)

from harness import pb  # noqa: E402

MAKE_MODEL = os.path.join(own_server.ROOT, "tests", "bench", "make_model.py")


def megabytes(server, file, *fields):
    with open(f"/proc/{server.process.pid}/{file}", encoding="utf-8") as numbers:
        text = numbers.read()
    return [int(re.search(rf"^{field}:\s+(\d+)", text, re.M).group(1)) / 1024 for field in fields]


class Run:
    """Sends requests as they arrive; what happened to each is in `calls`: (whether it was cold, seconds)."""

    def __init__(self, server, names, texts):
        self.server, self.failed, self.calls, self.most = server, collections.Counter(), [], 0.0
        pick = random.Random(1)
        due = itertools.accumulate(pick.expovariate(FLAGS.rate) for _ in names)
        begin = time.monotonic()
        with futures.ThreadPoolExecutor(64) as pool:
            for at, name in zip(due, names):
                time.sleep(max(0.0, begin + at - time.monotonic()))
                pool.submit(self.call, name, pick.choice(texts))
                if len(self.calls) % 10 == 0:
                    self.most = max(self.most, megabytes(server, "status", "VmRSS")[0])

    def call(self, name, text):
        request = pb.TranslateRequest(model=name, contents=[text],
                                      options=pb.DecodingOptions(beam_size=1, min_length=11, max_length=12))
        in_memory = bool(self.server.models.GetModel(pb.GetModelRequest(name=name), timeout=60).version)
        begin = time.monotonic()
        try:
            self.server.translation.Translate(request, timeout=60)
        except Exception as error:  # pylint: disable=broad-except
            self.failed[getattr(error, "code", lambda: error)()] += 1
            return
        self.calls.append((not in_memory, time.monotonic() - begin))

    def row(self, kind, cold):
        times = sorted(1000 * took for was_cold, took in self.calls if was_cold == cold)
        if not times:
            return f"| {kind} | 0 | | |"
        at = [times[min(len(times) - 1, len(times) * part // 100)] for part in (50, 99)] + times[-1:]
        return f"| {kind} | {len(times)} | " + " / ".join(f"{ms:.0f}" for ms in at) + " ms |"


def make_directories(directory):
    """A directory of models that are links to some with files of their own, which are links, too."""
    made = os.path.join(directory, "made")
    subprocess.run([sys.executable, MAKE_MODEL, "--size", FLAGS.size, "--directory", made], check=True)
    for number in range(FLAGS.different):
        shutil.copytree(made, os.path.join(directory, f"different{number}"), copy_function=os.link)
    models = os.path.join(directory, "models")
    os.mkdir(models)
    names = [f"m{i:03}" for i in range(FLAGS.models)]
    for number, name in enumerate(names):
        os.symlink(os.path.join(directory, f"different{number % FLAGS.different}"), os.path.join(models, name))
    return made, models, names


def sentences_of(tokens):
    return subprocess.run([sys.executable, MAKE_MODEL, "--sentences", "64", "--tokens", str(tokens)], check=True,
                          capture_output=True, text=True).stdout.splitlines()


def many(models, names, cache, sentences):
    begin = time.monotonic()
    server = own_server.start_server(FLAGS, "--models", models, "--model-memory", FLAGS.memory, "--kv-cache-bytes",
                                     "128MiB", "--packed-cache", cache)
    print(f"{len(names)} models: ready after {time.monotonic() - begin:.1f} s")
    for name in names[-FLAGS.different:]:  # packs each of the different ones
        server.translation.Translate(pb.TranslateRequest(model=name, contents=["x"]), timeout=60)
    weights = [1 / (rank + 1) ** FLAGS.exponent for rank in range(len(names))]
    run = Run(server, random.Random(2).choices(names, weights, k=FLAGS.requests), sentences)
    print("| requests | number | p50 / p99 / longest |\n|---|---|---|")
    print(run.row("of many, model in memory", False) + "\n" + run.row("of many, model not in memory", True))
    own, files = megabytes(server, "status", "RssAnon", "RssFile")
    metrics = server.metrics()
    listed = server.models.ListModels(pb.ListModelsRequest(), timeout=60).models
    print(f"{sum(run.failed.values())} failed {dict(run.failed)}; "
          f"{sum(metrics.get('dragoman_model_evictions_total', {}).values()):.0f} evictions; resident at most "
          f"{run.most:.0f} MB, in the end {own:.0f} MB of its own and {files:.0f} MB of files, for "
          f"{sum(bool(model.version) for model in listed)} models")
    server.stop()


def main():
    with tempfile.TemporaryDirectory() as directory:
        made, models, names = make_directories(directory)
        sentences = sentences_of(12)
        cache = FLAGS.packed_cache or os.path.join(directory, "cache")
        many(models, names, cache, sentences)

        def one(kept):
            return own_server.start_server(FLAGS, "--model", f"{names[0]}={made}", "--kv-cache-bytes", "128MiB",
                                           "--packed-cache", kept)
        for kept in ("none", cache):
            server = one(kept)
            print(Run(server, [names[0]] * FLAGS.requests, sentences).row(
                "of one, weights in " + ("memory of its own" if kept == "none" else "a file"), False))
            if kept == "none":
                server.stop()
        print("a process alone: Rss {:.0f} MB, Pss {:.0f} MB".format(*megabytes(server, "smaps_rollup", "Rss", "Pss")))
        other = one(cache)
        other.translation.Translate(pb.TranslateRequest(contents=sentences), timeout=60)
        for process in server, other:
            print("one of two: Rss {:.0f} MB, Pss {:.0f} MB".format(*megabytes(process, "smaps_rollup", "Rss", "Pss")))
        server.stop()
        other.stop()


if __name__ == "__main__":
    main()
