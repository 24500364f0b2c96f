#!/usr/bin/env python3
"""Judges how a server splits texts into sentences by the cases of pragmatic_segmenter.

    git clone https://github.com/diasks2/pragmatic_segmenter /tmp/pragmatic_segmenter
    tests/bench/sentences.py --server 127.0.0.1:9464 --cases /tmp/pragmatic_segmenter/spec --failures en

A case is right if the sentences are those that it expects; white space within them does not count.  Cases that expect
other characters than the text has (of a cleaner of PDF and HTML) are left out.
"""

import argparse
import ast
import json
import pathlib
import re
import urllib.request

LANGUAGES = {"english": "en", "deutsch": "de", "french": "fr", "spanish": "es", "italian": "it", "russian": "ru",
             "japanese": "ja", "chinese": "zh", "arabic": "ar", "hindi": "hi"}
STRING = r""""(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'"""
CASE = re.compile(rf"new\(text:\s*({STRING})(?:,[^)]*)?\)\s*\n\s*expect\(ps\.segment\)\.to eq\(\[(.*?)\]\)\s*\n", re.S)


def bare(text):
    return re.sub(r"\s+", "", text)


def read_cases(path):
    """Pairs of a text and its sentences."""
    for match in CASE.finditer(path.read_text()):
        text = ast.literal_eval(match[1])
        sentences = [ast.literal_eval(sentence) for sentence in re.findall(STRING, match[2])]
        if bare(text) == bare("".join(sentences)):
            yield text, sentences


def split(server, text):
    request = urllib.request.Request(f"http://{server}/breaksentence?api-version=3.0",
                                     json.dumps([{"Text": text}]).encode(), {"Content-Type": "application/json"})
    with urllib.request.urlopen(request) as answer:
        lengths = json.load(answer)[0]["sentLen"]
    ends = [sum(lengths[:i + 1]) for i in range(len(lengths))]
    return [text[end - length:end] for length, end in zip(lengths, ends)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--server", default="127.0.0.1:9464")
    parser.add_argument("--cases", type=pathlib.Path, required=True, help="the folder spec of pragmatic_segmenter")
    parser.add_argument("--failures", metavar="LANGUAGE", nargs="*", default=[], help="print what goes wrong")
    arguments = parser.parse_args()
    for name, language in LANGUAGES.items():
        cases = list(read_cases(arguments.cases / f"pragmatic_segmenter/languages/{name}_spec.rb"))
        right = 0
        for text, wanted in cases:
            found = split(arguments.server, text)
            if [bare(sentence) for sentence in found] == [bare(sentence) for sentence in wanted]:
                right += 1
            elif language in arguments.failures:
                print(f"{text!r}\n  wanted {wanted}\n  found  {found}")
        print(f"{language}: {right} of {len(cases)}, {100 * right / len(cases):.1f} %")


if __name__ == "__main__":
    main()
