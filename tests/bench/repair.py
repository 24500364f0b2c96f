#!/usr/bin/env python3
"""Measures what the repair of fuzzy matches does: chrF and decoder steps, against translating from scratch.

    repair.py --pairs PAIRS.tsv [--model models/en-de-fr-es] [--target de] [--tests 400] [--memory 100000]

PAIRS.tsv has a sentence and its translation in each line.  A part of it is the memory.  The tests are other lines that
have a match of at least 75 % in it, but not the same sentence, so that each has a translation by people of what was
edited; the edits are those by which people's sentences differ, mostly a word, a name or a number.  Compared, for the
same sentences and each beam size:

    stored    the target of the match as it is, without the model
    plain     from scratch
    memory    with the memory: repaired, or translated where that is better

    repair.py --pairs PAIRS.tsv --sweep [--losses 2,4,8] [--doubts 0.25,0.5,inf]

compares thresholds of repairs (engine/request/translation.h) without a server: the loss of a token that is kept, and that of a
doubtful translation.
"""

import argparse
import os
import random
import subprocess
import sys
import tempfile

import own_server

sys.path.insert(0, os.path.join(own_server.ROOT, "tools", "evaluate"))
import metrics  # noqa: E402


def read_pairs(path):
    with open(path, encoding="utf-8") as file:
        lines = [line.rstrip("\n").split("\t") for line in file]
    pairs = {}
    for source, target, *_ in (line for line in lines if len(line) >= 2):
        if source.strip() and target.strip():
            pairs.setdefault(source.strip(), target.strip())
    return list(pairs.items())


class Bench:

    def __init__(self, server, target):
        self.server, self.target = server, target

    def translate(self, texts, beam, ids=()):
        """The translations, and the steps that they took."""
        answers, steps = [], 0
        for begin in range(0, len(texts), 64):
            answer = self.server.translate(
                *texts[begin:begin + 64], source_language="en", target_language=self.target, memory_ids=ids,
                sentence_splitting=pb.SENTENCE_SPLITTING_NONE, options=pb.DecodingOptions(beam_size=beam))
            answers += answer.translations
            steps += answer.timing.decoder_steps
        return answers, steps


def report(name, texts, references, steps):
    print(f"  {name:22} chrF {metrics.chrf(texts, references):6.2f}"
          + (f"   {steps / len(texts):6.2f} steps a sentence" if steps is not None else ""))


def measure(bench, tests, beam, show):
    sources = [source for source, _ in tests]
    references = [target for _, target in tests]
    plain, plain_steps = bench.translate(sources, beam)
    used, used_steps = bench.translate(sources, beam, ["memory"])
    matches = [translation.memory_matches[0] for translation in used]
    repaired = [match.kind == pb.MemoryMatch.KIND_REPAIRED for match in matches]
    text = lambda translation: translation.hypotheses[0].text  # noqa: E731
    print(f"beam {beam}: {len(tests)} sentences, {sum(repaired)} repaired")
    report("stored", [match.target for match in matches], references, None)
    report("plain", list(map(text, plain)), references, plain_steps)
    report("memory", list(map(text, used)), references, used_steps)
    some = [i for i, is_repaired in enumerate(repaired) if is_repaired]
    if some:
        print(f" of those {len(some)}, which were repaired:")
        report("plain", [text(plain[i]) for i in some], [references[i] for i in some], None)
        report("memory", [text(used[i]) for i in some], [references[i] for i in some], None)
    for i in range(0, len(tests), max(1, len(tests) // show) if show else len(tests) + 1):
        print(f"    {sources[i]}\n      want   {references[i]}\n      stored {matches[i].source} | {matches[i].target}"
              f"\n      plain  {text(plain[i])}\n      memory {text(used[i])} ({matches[i].percent} %)")


def write_pairs(path, pairs):
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(f"{source}\t{target}\n" for source, target in pairs)
    return path


def sweep(memory, rest, directory):
    """Prints a line for each pair of thresholds."""
    command = [os.path.join(FLAGS.build, "tests/bench/repair_bench"), FLAGS.model,
               write_pairs(os.path.join(directory, "memory"), memory),
               write_pairs(os.path.join(directory, "rest"), rest), FLAGS.target, str(FLAGS.tests), str(FLAGS.beams[-1]),
               FLAGS.losses, FLAGS.doubts]
    blocks = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split("#\t")[1:]
    print("   loss   doubt    chrF   steps   repaired   of these less likely than from scratch")
    for block in blocks:
        head, *lines = block.rstrip("\n").split("\n")
        loss, doubt, steps, repaired, below = head.split("\t")
        references, texts = zip(*(line.split("\t") for line in lines))
        print(f"{loss:>7} {doubt:>7}  {metrics.chrf(texts, references):6.2f}  {int(steps) / len(lines):6.2f}   {repaired:>8}"
              f"   {below:>6}", flush=True)


def main():
    pairs = read_pairs(FLAGS.pairs)
    random.Random(7).shuffle(pairs)
    memory, rest = pairs[:FLAGS.memory], pairs[FLAGS.memory:]
    rest = [pair for pair in rest if len(pair[0].split()) >= FLAGS.words]
    if FLAGS.sweep:
        with tempfile.TemporaryDirectory() as directory:
            return sweep(memory, rest, directory)
    with tempfile.TemporaryDirectory() as directory:
        with open(os.path.join(directory, "memory.tsv"), "w", encoding="utf-8") as file:
            file.write(f"# languages: en {FLAGS.target}\n")
            file.writelines(("\\" if source[0] in "#\\" else "") + f"{source}\t{target}\n" for source, target in memory)
        server = own_server.start_server(FLAGS, "--model", "en-de=" + FLAGS.model, "--precision", FLAGS.precision,
                                         "--store", f"sqlite:{directory}/store.db")
        try:
            bench = Bench(server, FLAGS.target)
            tests = []
            for begin in range(0, len(rest), 64):
                some = rest[begin:begin + 64]
                answers, _ = bench.translate([source for source, _ in some], 1, ["memory"])
                tests += [pair for pair, answer in zip(some, answers) if answer.memory_matches
                          and answer.memory_matches[0].percent < 100]
                if len(tests) >= FLAGS.tests:
                    break
            for beam in FLAGS.beams:
                measure(bench, tests[:FLAGS.tests], beam, FLAGS.show)
        finally:
            server.stop()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    own_server.add_build_flag(parser)
    own_server.add_core_flags(parser)
    parser.add_argument("--pairs", required=True)
    parser.add_argument("--model", default=os.path.join(own_server.ROOT, "models", "en-de-fr-es"))
    parser.add_argument("--precision", default="int8")
    parser.add_argument("--target", default="de")
    parser.add_argument("--tests", type=int, default=400)
    parser.add_argument("--memory", type=int, default=100_000)
    parser.add_argument("--words", type=int, default=6, help="the fewest words of a test")
    parser.add_argument("--beams", type=int, nargs="*", default=[1, 4])
    parser.add_argument("--show", type=int, default=0, help="how many to show")
    parser.add_argument("--sweep", action="store_true", help="compare thresholds; only with the last of --beams")
    parser.add_argument("--losses", default="2,3,4,6,8,inf")
    parser.add_argument("--doubts", default="0.1,0.25,0.5,1,inf")
    FLAGS = parser.parse_args()
    if not FLAGS.sweep:
        own_server.use_build(FLAGS.build)
        from harness import pb  # noqa: E402
    main()
