#!/usr/bin/env python3
"""Measures what decoding options cost: the server's CPU time for the same 200 texts with and without the option, in
turns within one run.

    option_costs.py [--rounds 5] [--build build/release] [NAME...]

Uses the small model en-de (for what is called "built-in", the built-in one) in int8, one worker, and requests of 50
texts. For options that change what is generated
(sampling), the ratio per generated token is printed as well. A prefix of 20 tokens is compared with decoding these tokens:
both requests encode the same text and make one more step; "net" leaves out that cost, which is measured with a request
of one token.
"""

import argparse
import glob
import os
import statistics
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=os.path.join(ROOT, "build/release"))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("names", nargs="*", metavar="NAME")
    return parser.parse_args()


ARGUMENTS = parse()
os.environ.setdefault("DRAGOMAN_SOURCE_DIR", ROOT)
os.environ.setdefault("DRAGOMAN_STUBS", os.path.join(ARGUMENTS.build, "tests/e2e/stubs"))
os.environ.setdefault("DRAGOMAN_SERVER_BINARY", os.path.join(ARGUMENTS.build, "server/dragoman-server"))
os.environ.setdefault("DRAGOMAN_CLIENT_BINARY", os.path.join(ARGUMENTS.build, "client/dragoman"))
sys.path.insert(0, os.path.join(ROOT, "tests/e2e"))

import harness  # noqa: E402

pb = harness.pb
GLOSSARY = {"weather": "Klima", "house": "Heim", "train": "Bahn", "water": "Nass", "city": "Metropole", "book": "Band",
            "doctor": "Mediziner", "friend": "Kumpel", "today": "an diesem Tag", "please": "gefälligst"}
PREFIX = 20  # tokens


class Setting:
    """A request: the options, the texts, and the setting that it is compared with."""

    def __init__(self, base, texts, output=None, prefixes=None, model="en-de", **options):
        self.base = base
        self.texts = texts
        self.prefixes = prefixes
        self.model = model
        self.output = output
        self.options = pb.DecodingOptions(**options)
        self.seconds = []
        self.tokens = 0


def settings(texts, prefixed):
    beam = {"beam_size": 4}
    draw = {"beam_size": 1}
    long_texts = [text for text, _ in prefixed]
    prefixes = [prefix for _, prefix in prefixed]
    made = {
        "beam 4": Setting("beam 4", texts, **beam),
        "beam 4 again": Setting("beam 4", texts, **beam),
        "alignments": Setting("beam 4", texts, pb.OutputOptions(alignments=True), **beam),
        "whole attention": Setting("beam 4", texts, pb.OutputOptions(alignments=True, attention=True), **beam),
        "n-best 4": Setting("beam 4", texts, num_hypotheses=4, **beam),
        "token scores": Setting("beam 4", texts, pb.OutputOptions(token_scores=True, tokens=True), **beam),
        "quality": Setting("beam 4", texts, pb.OutputOptions(quality=True), **beam),
        "no repeated 3-grams": Setting("beam 4", texts, no_repeat_ngram_size=3, **beam),
        "coverage penalty": Setting("beam 4", texts, coverage_penalty=0.2, **beam),
        "glossary of 10": Setting("beam 4", texts, glossary=[
            pb.GlossaryEntry(source=s, target=t) for s, t in GLOSSARY.items()], **beam),
        "never say": Setting("beam 4", texts, never_say=["Haus"], **beam),
        "greedy": Setting("greedy", texts, **draw),
        "greedy again": Setting("greedy", texts, **draw),
        "greedy, quality": Setting("greedy", texts, pb.OutputOptions(quality=True), **draw),
        "built-in": Setting("built-in", texts, model="built-in", **beam),
        "built-in, quality": Setting("built-in", texts, pb.OutputOptions(quality=True), model="built-in", **beam),
        "built-in, in reverse": Setting("built-in", texts, pb.OutputOptions(quality=True, reverse_check=True),
                                        model="built-in", **beam),
        "built-in, greedy": Setting("built-in, greedy", texts, model="built-in", **draw),
        "built-in, greedy, quality": Setting("built-in, greedy", texts, pb.OutputOptions(quality=True),
                                             model="built-in", **draw),
        "built-in, greedy, in reverse": Setting("built-in, greedy", texts,
                                                pb.OutputOptions(quality=True, reverse_check=True), model="built-in",
                                                **draw),
        "sampling": Setting("greedy", texts, sampling=pb.Sampling(seed=1), **draw),
        "sampling, top-k 20": Setting("greedy", texts, sampling=pb.Sampling(seed=1, top_k=20), **draw),
        "sampling, top-p 0.9": Setting("greedy", texts, sampling=pb.Sampling(seed=1, top_p=0.9), **draw),
        "sampling, t 0.7": Setting("greedy", texts, sampling=pb.Sampling(seed=1, temperature=0.7), **draw),
    }
    for size in (1, 4):
        common = {"beam_size": size, "repetition_guard": False}
        made[f"one token, beam {size}"] = Setting(f"{PREFIX} tokens, beam {size}", long_texts, max_length=1, **common)
        made[f"{PREFIX} tokens, beam {size}"] = Setting(f"{PREFIX} tokens, beam {size}", long_texts,
                                                        max_length=PREFIX + 1, **common)
        made[f"prefix, beam {size}"] = Setting(f"{PREFIX} tokens, beam {size}", long_texts, prefixes=prefixes,
                                               max_length=PREFIX + 1, **common)
    return made


class Bench:

    def __init__(self):
        self.server = harness.Server("--model", "en-de=" + harness.MODEL, "--model", "built-in=" + harness.BUILT_IN,
                                     "--workers", "1", "--precision", "int8", "--log-level", "off",
                                     "--cache-bytes", "0")

    def cpu(self):
        nanoseconds = 0
        for path in glob.glob(f"/proc/{self.server.process.pid}/task/*/schedstat"):
            try:
                with open(path, encoding="ascii") as file:
                    nanoseconds += int(file.read().split()[0])
            except OSError:
                pass  # the thread has just ended
        return nanoseconds / 1e9

    def run(self, setting, part, output=None):
        """Translates a quarter of the texts; returns the translations."""
        found = []
        texts = setting.texts[part::4]
        prefixes = (setting.prefixes or [])[part::4]
        for i in range(0, len(texts), 50):
            request = pb.TranslateRequest(contents=texts[i:i + 50], options=setting.options, model=setting.model,
                                          source_language="en", target_language="de",
                                          output=output or setting.output, target_prefixes=prefixes[i:i + 50],
                                          sentence_splitting=pb.SENTENCE_SPLITTING_NONE)
            found += self.server.translation.Translate(request, timeout=120).translations
        return found

    def prefixed(self, texts):
        """Returns texts with long translations, and the first PREFIX tokens of each translation."""
        both = Setting("", [" ".join(texts[i:i + 3]) for i in range(0, len(texts), 2)], beam_size=1,
                       max_length=PREFIX + 1, repetition_guard=False)
        made = []
        for part in range(4):
            for text, translation in zip(both.texts[part::4], self.run(both, part)):
                made.append((text, translation.hypotheses[0].text))
        tokens = []
        for i in range(0, len(made), 50):
            tokens += self.server.translation.Tokenize(pb.TokenizeRequest(
                contents=[prefix for _, prefix in made[i:i + 50]], target=True, model="en-de"), timeout=60).texts
        return [pair for pair, text in zip(made, tokens) if len(text.token_ids) == PREFIX][:48]

    def measure(self, made, rounds):
        for setting in made.values():
            for part in range(4):
                for translation in self.run(setting, part, pb.OutputOptions(tokens=True)):
                    setting.tokens += len(translation.hypotheses[0].tokens) + 1
        names = list(made)
        for turn in range(rounds):
            seconds = dict.fromkeys(names, 0.0)
            for part in range(4):
                shift = part + 5 * turn
                for name in names[shift % len(names):] + names[:shift % len(names)]:
                    before = self.cpu()
                    self.run(made[name], part)
                    seconds[name] += self.cpu() - before
            for name in names:
                made[name].seconds.append(seconds[name])


def main():
    bench = Bench()
    try:
        texts = [entry["text"] for entry in harness.golden_inputs()][:200]
        prefixed = bench.prefixed(texts)
        made = settings(texts, prefixed)
        if ARGUMENTS.names:
            wanted = set(ARGUMENTS.names) | {made[name].base for name in ARGUMENTS.names}
            made = {name: made[name] for name in made if name in wanted}
        bench.measure(made, ARGUMENTS.rounds)
    finally:
        bench.server.stop()
    print(f"{'':28} {'CPU ms':>8} {'ratio':>7} {'per token':>10}   of")
    for name, setting in made.items():
        base = made[setting.base]
        ratios = [own / other for own, other in zip(setting.seconds, base.seconds)]
        ratio = statistics.median(ratios)
        print(f"{name:28} {1e3 * statistics.median(setting.seconds):8.1f} {ratio:7.3f} "
              f"{ratio * base.tokens / max(1, setting.tokens):10.3f}   {setting.base}")
    for size in (1, 4):
        parts = [made.get(name.format(size)) for name in ("prefix, beam {}", f"{PREFIX} tokens, beam {{}}",
                                                          "one token, beam {}")]
        if None not in parts:
            prefix, decoded, one = (statistics.median(part.seconds) for part in parts)
            print(f"a prefix of {PREFIX} tokens, beam {size}, {len(prefixed)} texts: {prefix / decoded:.2f} of decoding "
                  f"them, net {(prefix - one) / (decoded - one):.2f}")


if __name__ == "__main__":
    main()
