#!/usr/bin/python3
"""Translates a long file by the command and by TranslateBulk: lines per second, memory of both sides, and kill -9.

    tests/bench/file_bench.py --lines 1000000 [--model DIR] [--stops 3] [--runs stopped,whole]

The server runs on cores 0 and 1, the clients on the others.  A file of --lines short lines is translated by `dragoman
translate --resume`, which is killed and restarted --stops times; then without a stop; then by a bidirectional call of
another client.  All must give the same bytes; --runs leaves some out.  Memory is sampled ten times on the way.  Prints lines per second
of each, and those of dragoman-bench with as many sentences in flight.  Needs the environment of the tests in tests/e2e
(ctest --preset release -R stream_test -V -N shows it).
"""

import argparse
import hashlib
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time

import own_server  # finds harness
from harness import CLIENT, MODEL, SERVER, golden_inputs, pb

BENCH = os.path.join(os.path.dirname(SERVER), "..", "tests", "bench", "dragoman-bench")
IN_FLIGHT = 256  # requests of one bulk call that the server processes at a time


def write_lines(path, count):
    """Sentences of three to twelve words, nearly all of them different."""
    source = random.Random(14)
    words = sorted({word for given in golden_inputs() for word in given["text"].split()})
    with open(path, "w", encoding="utf-8") as file:
        for _ in range(count):
            file.write(" ".join(source.choices(words, k=source.randint(3, 12))) + "\n")


class LineCounter:
    """Counts the lines of a file that another process writes: reads only what is new."""

    def __init__(self, path):
        self.path, self.read, self.lines = path, 0, 0

    def count(self):
        if not os.path.exists(self.path):
            return 0
        with open(self.path, "rb") as file:
            if os.fstat(file.fileno()).st_size < self.read:  # it was truncated, to continue from there
                self.read = self.lines = 0
            file.seek(self.read)
            for block in iter(lambda: file.read(1 << 20), b""):
                self.read += len(block)
                self.lines += block.count(b"\n")
        return self.lines


def digest(path):
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def resident(pid):
    with open(f"/proc/{pid}/status", encoding="utf-8") as file:
        return next(int(line.split()[1]) / 1024 for line in file if line.startswith("VmRSS"))


class Sampler:
    """Prints the memory of both sides at each tenth of the way."""

    def __init__(self, server, lines):
        self.server, self.lines, self.next = server.process.pid, lines, 1
        self.samples = []

    def at(self, done, client):
        while done >= self.lines * self.next / 10 and self.next <= 10:
            self.samples.append((resident(self.server), resident(client)))
            self.next += 1

    def report(self):
        for name, side in zip(("server", "client"), zip(*self.samples)):
            print(f"    MB of the {name} at each tenth: " + " ".join(f"{mb:.0f}" for mb in side))


def pin(command, cores):
    return ["taskset", "-c", cores, *command]


def run_command(flags, server, lines_path, output, stops):
    """Lines per second of `dragoman translate`, killed `stops` times on the way."""
    stops = list(stops)
    sampler = Sampler(server, flags.lines)
    written = LineCounter(output)
    begin = time.monotonic()
    while True:
        client = subprocess.Popen(
            pin([CLIENT, "translate", "--server", server.grpc_address, "--beam-size", "1",
                 "--input", lines_path, "--resume", output], flags.client_cores))
        while client.poll() is None:
            time.sleep(flags.sample)  # between two looks at its memory
            done = written.count()
            if client.poll() is None:
                sampler.at(done, client.pid)
            if stops and done >= stops[0]:
                stops.pop(0)
                client.send_signal(signal.SIGKILL)
                client.wait()
        if client.returncode == 0:
            break
        assert client.returncode == -signal.SIGKILL, client.returncode
        print(f"    killed at line {written.count()}", flush=True)
    rate = flags.lines / (time.monotonic() - begin)
    sampler.report()
    return rate


def run_bulk(flags, server, lines_path, output):
    """Lines per second of one TranslateBulk call by this process."""
    sampler = Sampler(server, flags.lines)
    begin = time.monotonic()
    options = pb.DecodingOptions(beam_size=1)

    def requests():
        with open(lines_path, encoding="utf-8") as file:
            for number, line in enumerate(file):
                yield pb.TranslateBulkRequest(id=str(number), request=pb.TranslateRequest(
                    contents=[line.rstrip("\n")], options=options))

    waiting, next_line = {}, 0
    with open(output, "w", encoding="utf-8") as file:
        for answer in server.translation.TranslateBulk(requests()):
            assert answer.WhichOneof("result") == "response", answer.error
            waiting[int(answer.id)] = answer.response.translations[0].hypotheses[0].text
            while next_line in waiting:
                file.write(waiting.pop(next_line) + "\n")
                next_line += 1
            sampler.at(next_line, os.getpid())
    assert not waiting
    sampler.report()
    return flags.lines / (time.monotonic() - begin)


def run_bench(flags, lines_path, sample_path):
    with open(lines_path, encoding="utf-8") as file, open(sample_path, "w", encoding="utf-8") as out:
        out.writelines(line for line, _ in zip(file, range(20_000)))
    ended = subprocess.run(pin([BENCH, "--model", flags.model, "--input", sample_path, "--workers",
                                "2", "--beam-size", "1", "--in-flight", str(IN_FLIGHT)],
                               flags.server_cores), capture_output=True, text=True, check=True)
    report = json.loads(ended.stdout)
    return report["sentences"] / report["seconds"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--lines", type=int, default=20_000)
    parser.add_argument("--stops", type=int, default=2)
    parser.add_argument("--runs", default="stopped,whole,bulk", help="some of stopped,whole,bulk")
    parser.add_argument("--model", default=MODEL)
    own_server.add_core_flags(parser)
    parser.add_argument("--sample", type=float, default=0.5, help="seconds between looks at the output")
    flags = parser.parse_args()
    server = own_server.start_server(flags, "--model", f"m={flags.model}", "--workers", "2", "--log-level", "warn")
    with tempfile.TemporaryDirectory() as directory:
        lines_path, sample_path, *outputs = (
            os.path.join(directory, name)
            for name in ("lines.txt", "sample.txt", "stopped.txt", "whole.txt", "bulk.txt"))
        write_lines(lines_path, flags.lines)
        stops = [flags.lines * (i + 1) // (flags.stops + 1) for i in range(flags.stops)]
        engine = run_bench(flags, lines_path, sample_path)
        print(f"dragoman-bench, {IN_FLIGHT} in flight: {engine:.0f} lines/s", flush=True)
        runs = {"stopped": (f"command, killed {flags.stops} times", run_command, (stops,)),
                "whole": ("command", run_command, ([],)),
                "bulk": ("bulk", run_bulk, ())}
        written = []
        for (run, (name, function, more)), output in zip(runs.items(), outputs):
            if run in flags.runs.split(","):
                print(f"{name}:", flush=True)
                rate = function(flags, server, lines_path, output, *more)
                print(f"    {rate:.0f} lines/s", flush=True)
                written.append(output)
        engine = run_bench(flags, lines_path, sample_path)
        print(f"dragoman-bench again: {engine:.0f} lines/s")
        same = len({digest(path) for path in written}) == 1
        print(f"{flags.lines} lines: "
              + (f"the same bytes {len(written)} times" if same else "OUTPUTS DIFFER"))
    server.channel.close()
    return server.stop() or (0 if same else 1)


if __name__ == "__main__":
    sys.exit(main())
