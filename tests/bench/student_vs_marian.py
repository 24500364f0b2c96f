#!/usr/bin/env python3
"""Runs the student of make_student.py with this engine and with marian-decoder, in turns: words per CPU second of one core.

    tests/bench/make_student.py /tmp/student --words 24
    tests/bench/student_vs_marian.py --marian MARIAN_DECODER --student /tmp/student [--bench DRAGOMAN_BENCH]

Beam 1, int8, the shortlist, 1, 8 and 64 sentences in flight (for Marian: in a batch). Both sides translate the same
sentences to the same number of tokens, so a word is a token of the vocabulary. Loading is not counted: Marian's CPU time
for one sentence is subtracted. Marian runs with the fastest --gemm-precision that the model supports.
"""

import argparse
import json
import os
import resource
import statistics
import subprocess
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PRECISIONS = ("int8shiftAlphaAll", "int8shiftAll", "int8shift", "int8")


def cpu_seconds(command, lines=""):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, input=lines, capture_output=True, text=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, done.stdout


class Marian:

    def __init__(self, program, student, precision):
        path = os.path.join(student, "{}").format
        self.command = [program, "--cpu-threads", "1", "--models", path("model.intgemm8.bin"), "--vocabs",
                        path("vocab.yml"), path("vocab.yml"), "--shortlist", path("lex.bin"), "false", "--beam-size", "1",
                        "--gemm-precision", precision, "--max-length-factor", "1", "--skip-cost", "--quiet",
                        "--quiet-translation", "--workspace", "128"]

    def run(self, lines, batch):
        options = ["--mini-batch", str(batch), "--maxi-batch", "100" if batch > 1 else "1", "--maxi-batch-sort", "src"]
        seconds, found = cpu_seconds(self.command + options, "".join(lines))
        words = [len(line.split()) for line in found.splitlines()]
        return seconds, sum(words), words

    def words_per_second(self, lines, batch):
        seconds, words, _ = self.run(lines, batch)
        first, first_words, _ = self.run(lines[:1], batch)
        return (words - first_words) / (seconds - first)


def ours(bench, student, lines, in_flight, length):
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
        file.writelines(lines)
        file.flush()
        _, out = cpu_seconds([bench, "--model", student, "--input", file.name, "--precision", "int8", "--workers", "1",
                              "--beam-size", "1", "--in-flight", str(in_flight), "--min-length", str(length - 1),
                              "--max-length", str(length)])
    found = json.loads(out)
    return found["target_tokens"] / found["cpu_seconds"], found["target_tokens"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--marian", required=True)
    parser.add_argument("--student", required=True)
    parser.add_argument("--bench", default=os.path.join(ROOT, "build/release/tests/bench/dragoman-bench"))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--sentences", type=int, default=256)
    arguments = parser.parse_args()
    with open(os.path.join(arguments.student, "input.txt"), encoding="utf-8") as file:
        lines = file.readlines()[:arguments.sentences]
    length = len(lines[0].split()) + 1
    speeds = {}
    for precision in PRECISIONS:
        try:
            speeds[precision] = Marian(arguments.marian, arguments.student, precision).words_per_second(lines[:64], 8)
        except (subprocess.CalledProcessError, ZeroDivisionError):
            continue
    best = max(speeds, key=speeds.get)
    print("Marian, 8 in a batch, words per CPU second: " +
          ", ".join(f"{name} {speed:.0f}" for name, speed in speeds.items()) + f"; below: {best}")
    marian = Marian(arguments.marian, arguments.student, best)
    _, _, words = marian.run(lines[:16], 8)
    print(f"tokens of a translation: Marian {min(words)} to {max(words)}, here {length}")
    print("in flight   here   Marian   ratio   (each round)")
    for in_flight in (1, 8, 64):
        pairs = []
        for _ in range(arguments.rounds):
            pairs.append((ours(arguments.bench, arguments.student, lines, in_flight, length)[0],
                          marian.words_per_second(lines, in_flight)))
        here, there = (statistics.median(column) for column in zip(*pairs))
        rounds = " ".join(f"{a:.0f}/{b:.0f}" for a, b in pairs)
        print(f"{in_flight:9} {here:6.0f} {there:8.0f} {here / there:7.2f}   {rounds}")


if __name__ == "__main__":
    main()
