#!/usr/bin/env python3
"""Counts the decoder steps that previous translations save while texts are typed and edited.

    keystrokes.py --pairs FILE [--sentences 1000] [--build build/release]

Each sentence (the first column of the file) is typed letter by letter, and every state is translated greedily with the
state before it and its translation as previous_sources and previous_translations.  Then a word in its middle is deleted
letter by letter and typed again.  Without them, as many steps would be taken as decoder_steps and kept_tokens together:
every --check-th state is also translated from scratch, which must give the same text and that number of steps.
"""

import argparse
import os
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=os.path.join(ROOT, "build/release"))
    parser.add_argument("--pairs", required=True)
    parser.add_argument("--sentences", type=int, default=1000)
    parser.add_argument("--check", type=int, default=20)
    return parser.parse_args()


ARGUMENTS = parse()
os.environ.setdefault("DRAGOMAN_SOURCE_DIR", ROOT)
os.environ.setdefault("DRAGOMAN_STUBS", os.path.join(ARGUMENTS.build, "tests/e2e/stubs"))
os.environ.setdefault("DRAGOMAN_SERVER_BINARY", os.path.join(ARGUMENTS.build, "server/dragoman-server"))
os.environ.setdefault("DRAGOMAN_CLIENT_BINARY", os.path.join(ARGUMENTS.build, "client/dragoman"))
sys.path.insert(0, os.path.join(ROOT, "tests/e2e"))

import harness  # noqa: E402

pb = harness.pb


def states(sentence):
    """What the text is after each keystroke: of typing it, and of typing the word in its middle again."""
    for end in range(1, len(sentence) + 1):
        yield "typing", sentence[:end]
    words = sentence.split(" ")
    middle = len(words) // 2
    before, word, after = " ".join(words[:middle]), words[middle], " ".join(words[middle + 1:])
    for part in [word[:i] for i in range(len(word) - 1, -1, -1)] + [word[:i] for i in range(1, len(word) + 1)]:
        yield "editing", " ".join(filter(None, (before, part, after)))


def main():
    server = harness.Server("--model", "en-de=" + harness.BUILT_IN, "--workers", "1", "--precision", "int8",
                            "--log-level", "off", "--cache-bytes", "0")
    greedy = pb.DecodingOptions(beam_size=1)
    steps, kept, requests, checked = {}, {}, 0, 0
    with open(ARGUMENTS.pairs, encoding="utf-8") as file:
        sentences = [line.split("\t")[0] for line in file][:ARGUMENTS.sentences]
    try:
        for sentence in sentences:
            previous = ("", "")
            for kind, text in states(sentence):
                response = server.translate(text, options=greedy, target_language="de", previous_sources=[previous[0]],
                                            previous_translations=[previous[1]])
                translation = response.translations[0].hypotheses[0].text
                steps[kind] = steps.get(kind, 0) + response.timing.decoder_steps
                kept[kind] = kept.get(kind, 0) + response.timing.kept_tokens
                if requests % ARGUMENTS.check == 0:
                    scratch = server.translate(text, options=greedy, target_language="de")
                    assert scratch.translations[0].hypotheses[0].text == translation, text
                    assert scratch.timing.decoder_steps == (response.timing.decoder_steps
                                                            + response.timing.kept_tokens), text
                    checked += 1
                previous = (text, translation)
                requests += 1
    finally:
        server.stop()
    print(f"{len(sentences)} sentences, {requests} states, {checked} of them checked")
    for kind, taken in steps.items():
        print(f"{kind:8} {taken} steps of {taken + kept[kind]}: {100 * kept[kind] / (taken + kept[kind]):.1f} % fewer")
    taken, saved = sum(steps.values()), sum(kept.values())
    print(f"all      {taken} steps of {taken + saved}: {100 * saved / (taken + saved):.1f} % fewer")


if __name__ == "__main__":
    main()
