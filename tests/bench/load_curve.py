#!/usr/bin/python3
"""Measures the load curve of one server on half of the cores: throughput at saturation compared with
dragoman-bench, latencies as the offered load grows, and the charts and tables of docs/load.md.

    tests/bench/load_curve.py --build build/release --name en-de --model tests/golden/models/en-de --input FILE
    tests/bench/load_curve.py --build build/release --name base --model /tmp/base --input /tmp/28.txt \\
        --min-length 29 --max-length 30
    tests/bench/load_curve.py --name en-de --model tests/golden/models/en-de --input FILE --beam-size 4 --no-sweep

The server runs on the first half of the cores, with a worker on each, `dragoman load` on the others.  A curve
takes a minute and a half on an idle machine.  Writes docs/load-NAME.svg and prints the table; with --no-sweep it
prints only the comparison.
"""

import argparse
import json
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TEXTS = 8  # per request, where requests have several
CORES = sorted(os.sched_getaffinity(0))
WORKERS = len(CORES) // 2
SERVER_CORES, CLIENT_CORES = (",".join(map(str, half)) for half in (CORES[:WORKERS], CORES[WORKERS:]))
SHARES = (0.1, 0.25, 0.5, 0.7, 0.8, 0.9, 1.0, 1.2)  # offered load, relative to the throughput at saturation


def run(*command):
    ended = subprocess.run(command, capture_output=True, text=True)
    if ended.returncode != 0:
        sys.exit(f"{' '.join(command)}: {ended.stderr}")
    return json.loads(ended.stdout)


class Server:
    """Starts the server on its cores, with a worker on each."""

    def __init__(self, flags):
        self.process = subprocess.Popen(
            ["taskset", "-c", SERVER_CORES, f"{flags.build}/server/dragoman-server", "--model",
             f"m={flags.model}", "--precision", "int8", "--grpc-address", "127.0.0.1:0",
             "--http-address", "127.0.0.1:0", "--log-level", "warn"],
            stdout=subprocess.PIPE, text=True)
        self.address = re.match(r"listening grpc=(\S+)", self.process.stdout.readline()).group(1)

    def stop(self):
        self.process.terminate()
        self.process.wait()


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--build", default="build/release")
    parser.add_argument("--name", required=True)
    parser.add_argument("--model", required=True)
    parser.add_argument("--input", required=True)
    parser.add_argument("--in-flight", default=64, type=int)
    parser.add_argument("--repeat", default=20, type=int, help="of the input, by dragoman-bench")
    parser.add_argument("--rounds", default=2, type=int, help="of turns with dragoman-bench")
    parser.add_argument("--seconds", default=6, type=float, help="of each point")
    parser.add_argument("--no-sweep", action="store_true", help="only the throughput at saturation")
    parser.add_argument("--beam-size", default="1")
    parser.add_argument("--min-length")
    parser.add_argument("--max-length")
    return parser.parse_args()


def options(flags):
    """The decoding options, as dragoman-bench and `dragoman load` both take them."""
    names = ("beam_size", "min_length", "max_length")
    return [word for name in names if getattr(flags, name)
            for word in ("--" + name.replace("_", "-"), getattr(flags, name))]


def bench(flags):
    """Sentences per second of the engine alone, on the server's cores."""
    report = run("taskset", "-c", SERVER_CORES, f"{flags.build}/tests/bench/dragoman-bench", "--model",
                 flags.model, "--input", flags.input, "--precision", "int8", "--workers", str(WORKERS),
                 "--in-flight", str(flags.in_flight), "--repeat", str(flags.repeat), *options(flags))
    return report["sentences"] / report["seconds"]


def load(flags, server, *arguments):
    return run("taskset", "-c", CLIENT_CORES, f"{flags.build}/client/dragoman", "load", "--server",
               server.address, "--input", flags.input, "--output", "json",
               "--duration", str(flags.seconds), *options(flags), *arguments)


def saturate(flags, server):
    """Prints the throughput at saturation beside that of the engine; returns it, with a sentence a request."""
    engine, single, together = [], [], []
    for _ in range(flags.rounds):  # in turns: if the machine changes its speed, it does so for all
        engine.append(bench(flags))
        single.append(load(flags, server, "--concurrency", str(flags.in_flight))["texts_per_second"])
        together.append(load(flags, server, "--concurrency", str(flags.in_flight // TEXTS),
                             "--texts-per-request", str(TEXTS))["texts_per_second"])
    print(f"{flags.in_flight} sentences in flight, beam {flags.beam_size}, sentences/s in {flags.rounds} rounds:")
    for name, served in (("the engine alone (dragoman-bench)", engine), ("served, one a request", single),
                         (f"served, {TEXTS} a request", together)):
        print(f"  {name}: {', '.join(f'{rate:.0f}' for rate in served)} ({max(served) / max(engine):.1%})")
    return max(single)


def sweep(flags, server, saturation):
    """Prints the table of latencies as the offered load grows, and writes the curve."""
    idle = load(flags, server, "--concurrency", "1")["latency_seconds"]
    rates = ",".join(f"{share * saturation:.1f}" for share in SHARES)
    curve = os.path.join(ROOT, "docs", f"load-{flags.name}")
    points = load(flags, server, "--sweep", rates, "--write", curve)
    for suffix in ("json", "csv"):
        os.remove(f"{curve}.{suffix}")
    print(f"idle: p50 {1e3 * idle['p50']:.1f} ms, p99 {1e3 * idle['p99']:.1f} ms\n")
    print("| offered, of saturation | requests/s | answered in 1 s | p50 | p99 | p99 / idle p99 |")
    print("|---|---|---|---|---|---|")
    for share, point in zip(SHARES, points):
        latency = point["latency_seconds"]
        print(f"| {share:.0%} | {share * saturation:.0f} | {point['good_per_second']:.0f} "
              f"| {1e3 * latency['p50']:.0f} ms | {1e3 * latency['p99']:.0f} ms "
              f"| {latency['p99'] / idle['p99']:.1f} |")


def main():
    flags = arguments()
    server = Server(flags)
    try:
        saturation = saturate(flags, server)
        if not flags.no_sweep:
            sweep(flags, server, saturation)
    finally:
        server.stop()


if __name__ == "__main__":
    main()
