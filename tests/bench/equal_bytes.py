#!/usr/bin/env python3
"""Compares what CPUs compute: digests of the translations of 1,000 texts, natively and in QEMU (docs/bytes.md).

    cmake --build --preset release --target dragoman-fingerprint
    cmake --build --preset arm64 --target dragoman-fingerprint
    tests/bench/equal_bytes.py --emulated 200 --cpu cortex-a72 neoverse-n1 max Haswell

Natively it computes with each instruction set that this CPU has.  An emulated CPU translates the first --emulated texts,
because it takes a second for what takes a hundredth natively.  It prints a table, and fails if two CPUs of the same
isa differ.  The texts are English ones of this tree, a line each: of the bench of glossaries, the goldens, and the
phrasebooks with which the built-in model was trained, but for the last few.
"""

import argparse
import glob
import json
import os
import re
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PROGRAM = "tests/bench/dragoman-fingerprint"
X86 = ("Haswell", "Nehalem", "Penryn", "Opteron_G1")
LINE = re.compile(r"^(\S+) beam (\d+) on (\S+): (\w+) of (\d+) lines$", re.M)


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default=os.path.join(ROOT, "models/en-de-fr-es"))
    parser.add_argument("--texts", type=int, default=1000)
    parser.add_argument("--emulated", type=int, default=200, help="texts for each emulated CPU")
    parser.add_argument("--cpu", nargs="*", default=["cortex-a72", "neoverse-n1", "max"], help="QEMU's names")
    parser.add_argument("--precision", nargs="*", default=["int8"])
    parser.add_argument("--beam-size", nargs="*", default=["1", "4"])
    parser.add_argument("--qemu", default="qemu-{}-static", help="where {} is aarch64 or x86_64")
    return parser.parse_args()


def texts():
    """Different ones, in an order that never changes."""
    with open(os.path.join(ROOT, "tests/bench/glossary/sentences.txt"), encoding="utf-8") as file:
        found = file.read().splitlines()
    with open(os.path.join(ROOT, "tests/golden/expected/en-de/golden.json"), encoding="utf-8") as file:
        found += [i["text"] for i in json.load(file)["inputs"]]
    names = sorted(glob.glob(os.path.join(ROOT, "tools/train/phrasebook/*.tsv")))
    for name in [os.path.join(ROOT, "tests/golden/alignments/en-de.tsv"), *names]:
        with open(name, encoding="utf-8") as file:
            found += [line.split("\t")[0] for line in file.read().splitlines()]
    return list(dict.fromkeys(found))


def command(cpu, qemu):
    """What runs the program, with its environment."""
    native = os.path.join(ROOT, "build/release", PROGRAM)
    if cpu is None:
        return [native, "--every-set"]
    if cpu in X86:
        return [qemu.format("x86_64"), "-cpu", cpu, native]
    return [qemu.format("aarch64"), "-cpu", cpu, "-L", os.path.join(ROOT, "build/arm64-sysroot"),
            os.path.join(ROOT, "build/arm64", PROGRAM)]


def main():
    arguments = parse()
    lines = texts()[:arguments.texts]
    digest_of = {}
    equal = True
    print("| isa | beam | instruction set | CPU | texts | digest | seconds |\n|---|---|---|---|---|---|---|")
    runs = [(None, len(lines))]
    if arguments.cpu:
        runs += [(None, arguments.emulated), *((cpu, arguments.emulated) for cpu in arguments.cpu)]
    for cpu, count in runs:
        with tempfile.NamedTemporaryFile("w", encoding="utf-8", suffix=".txt") as file:
            file.write("".join(line + "\n" for line in lines[:count]))
            file.flush()
            start = time.monotonic()
            said = subprocess.run([*command(cpu, arguments.qemu), "--model", arguments.model, "--input", file.name,
                                   "--precision", *arguments.precision, "--beam-size", *arguments.beam_size],
                                  stdout=subprocess.PIPE, text=True, check=False)
        seconds = time.monotonic() - start
        equal &= said.returncode == 0
        for isa, beam, instructions, digest, number in LINE.findall(said.stdout):
            equal &= digest_of.setdefault((isa, beam, number), digest) == digest
            print(f"| {isa} | {beam} | {instructions} | {cpu or 'native'} | {number} | {digest} | {seconds:.0f} |",
                  flush=True)
    print("\nequal" if equal else "\nDIFFERENT")
    return 0 if equal else 1


if __name__ == "__main__":
    sys.exit(main())
