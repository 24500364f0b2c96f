#!/usr/bin/python3
"""Does a server keep what --plan promises?

    tests/bench/plan_bench.py [--build build/release] [--model NAME=DIR] [--words 10] [--beam 4] [--p99 none,4,2.5]
        [--duration 30] [--server-core 0] [--client-core 1]

--plan says what a core does in a CPU second and how long a sentence alone takes.  For each wanted p99, none or a
multiple of that time, this looks up the largest load for which the plan is one core, puts a server on one core under
this load with sentences of the same length, and prints what was promised and what came.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile

import own_server

# Beginnings of these words in a row, as those of --plan: the same number in each sentence, no two alike.
ENGLISH = ("the new bridge over the river will be opened next week by the mayor of the city because the old one was "
           "damaged in the storm last winter and many people who live on the other side had to take a long way to "
           "their work every morning until the engineers found that most of its stones could be used again").split()


def flags():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    own_server.add_build_flag(parser)
    parser.add_argument("--model", default="en-de-fr-es=" + os.path.join(own_server.ROOT, "models", "en-de-fr-es"))
    parser.add_argument("--source-language", default="en")
    parser.add_argument("--target-language", default="de")
    parser.add_argument("--words", type=int, default=10)
    parser.add_argument("--beam", type=int, default=4)
    parser.add_argument("--p99", default="none,4,2.5", help="wanted, in times of a sentence alone")
    parser.add_argument("--duration", type=float, default=30)
    parser.add_argument("--server-core", default="0")
    parser.add_argument("--client-core", default="1")
    return parser.parse_args()


FLAGS = flags()
own_server.use_build(FLAGS.build)
FLAGS.server_cores, FLAGS.client_cores = FLAGS.server_core, FLAGS.client_core


def plan(rate, p99_ms=None):
    """The numbers of a plan, by their names here."""
    load = (f"{rate}sentences/s,words={FLAGS.words},beam={FLAGS.beam},from={FLAGS.source_language},"
            f"to={FLAGS.target_language}") + (f",p99={p99_ms:.1f}ms" if p99_ms else "")
    command = ["taskset", "-c", FLAGS.server_core, os.environ["DRAGOMAN_SERVER_BINARY"], "--model", FLAGS.model,
               "--plan", load]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    match = re.search(r"(?m)^model .*: (\d+) sentences a CPU second; one alone takes up to ([\d.]+) ms$"
                      r"\nutilization +(\d+) %.*\ncores +(\d+), of which ([\d.]+)", text)
    rate, alone, utilization, cores, busy = (float(number) for number in match.groups())
    return {"rate": rate, "alone": alone, "utilization": utilization / 100, "cores": cores, "busy": busy}


def drive(rate, sentences):
    """Puts a new server under this load; returns (p50 and p99 in ms, its CPU seconds a second, codes)."""
    server = own_server.start_server(FLAGS, "--model", FLAGS.model, "--workers", "1", "--cache-bytes", "0")

    def seconds():
        with open(f"/proc/{server.process.pid}/stat", encoding="utf-8") as stat:
            fields = stat.read().rsplit(") ", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def load(duration):
        command = [os.environ["DRAGOMAN_CLIENT_BINARY"], "load", "--server", server.grpc_address, "--input", sentences,
                   "--rate", f"{rate:.1f}", "--duration", str(duration), "--beam-size", str(FLAGS.beam), "--source-language",
                   FLAGS.source_language, "--target-language", FLAGS.target_language, "-o", "json"]
        return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)

    load(3)  # warms up
    before = seconds()
    report = load(FLAGS.duration)
    cpu = (seconds() - before) / report["seconds"]
    server.stop()
    return report, cpu


def main():
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as sentences:
        for first in range(len(ENGLISH)):
            words = [ENGLISH[(first + i) % len(ENGLISH)] for i in range(FLAGS.words)]
            print(" ".join(words) + ".", file=sentences)
        sentences.flush()
        measured = plan(1)
        print(f"a core: {measured['rate']:.0f} sentences a CPU second, one alone takes up to {measured['alone']:.1f} ms")
        print("| wanted p99 | load of one core | promised utilization | measured | p50 | p99 | failed |")
        print("|---|---|---|---|---|---|---|")
        for times in FLAGS.p99.split(","):
            wanted = None if times == "none" else float(times) * measured["alone"]
            planned = plan(1, wanted)
            # Somewhat less than the whole core, for the plan measures anew each time.
            rate = 0.98 * planned["utilization"] / (planned["busy"] or 1 / planned["rate"] + 0.0002)
            report, cpu = drive(rate, sentences.name)
            codes = report["codes"]
            print(f"| {'none' if wanted is None else f'{wanted:.0f} ms'} | {rate:.1f}/s | {planned['utilization']:.0%} | "
                  f"{cpu:.0%} | {1000 * report['latency_seconds']['p50']:.0f} ms | {1000 * report['latency_seconds']['p99']:.0f} ms | "
                  f"{sum(codes.values()) - codes.get('OK', 0)} of {sum(codes.values())} |")


if __name__ == "__main__":
    sys.exit(main())
