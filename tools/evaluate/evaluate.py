#!/usr/bin/python3
"""Measures how good and how fast the translations of a model are: BLEU, chrF, word errors, speed and lengths.

Translates one side of a parallel text with the `dragoman` command and a running server, and compares
the translations with the other side:

    evaluate.py --pairs test.tsv --server 127.0.0.1:50051 --beam-size 4
    evaluate.py --pairs test.tsv --translations german.txt           # no server

See README.md for what the figures mean.
"""

import argparse
import json
import lzma
import math
import os
import subprocess
import sys
import time

import markdown
import metrics

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


class InputError(Exception):
    """A problem with a file or the server."""


def read_lines(path):
    """The lines of a text file, which may be compressed (.xz)."""
    opened = lzma.open if path.endswith(".xz") else open
    try:
        with opened(path, "rt", encoding="utf-8", newline="\n") as file:
            return [line.rstrip("\r\n") for line in file]
    except (OSError, UnicodeDecodeError, lzma.LZMAError) as error:
        raise InputError(f"cannot read {path}: {error}") from error


def read_pairs(path, reverse=False):
    """Reads sources and references from a file of lines SOURCE tab REFERENCE."""
    sources, references = [], []
    for number, line in enumerate(read_lines(path), 1):
        columns = line.split("\t")
        if len(columns) < 2:
            raise InputError(f"{path}:{number}: has no tab, want SOURCE tab REFERENCE")
        sources.append(columns[0])
        references.append(columns[1])
    return (references, sources) if reverse else (sources, references)


def parse_translations(path, lines, sources):
    """Parses the output of the client: JSON objects, or plain text with a line per translation."""
    if len(lines) != len(sources):
        raise InputError(f"{path} has {len(lines)} translations, want {len(sources)}")
    try:
        if lines and all(line.startswith("{") for line in lines):
            return [json.loads(line) for line in lines]
    except json.JSONDecodeError as error:
        raise InputError(f"{path} is not JSON: {error}") from error
    return [{"hypotheses": [{"text": line}]} for line in lines]


def translate(sources, flags):
    """Translates with the server; returns the JSON lines of the client and the seconds it took."""
    # One text per pair, even if its source has two sentences.
    command = [flags.client, "translate", "--output", "json", "--no-split-sentences"]
    for flag in ("server", "model", "target_language", "beam_size", "num_hypotheses"):
        value = getattr(flags, flag)
        if value is not None:
            command += ["--" + flag.replace("_", "-"), str(value)]
    start = time.monotonic()
    try:
        done = subprocess.run(command, input="".join(s + "\n" for s in sources), text=True,
                              encoding="utf-8", stdout=subprocess.PIPE, check=False)
    except OSError as error:
        raise InputError(f"cannot run {flags.client}: {error}") from error
    if done.returncode != 0:
        raise InputError(f"{' '.join(command)} ended with exit code {done.returncode}")
    return done.stdout.split("\n")[:-1], time.monotonic() - start


def spread(values):
    """Mean, median, 90th percentile and maximum."""
    ordered = sorted(values)
    p50, p90 = (ordered[math.ceil(p * len(ordered)) - 1] for p in (0.5, 0.9))
    return {"mean": sum(ordered) / len(ordered), "p50": p50, "p90": p90, "max": ordered[-1]}


def best(translation):
    return translation["hypotheses"][0]


def agreement(translations, others):
    """How much two runs agree: equal texts, and equal tokens at the same position."""
    same = positions = equal = 0
    for ours, theirs in zip(map(best, translations), map(best, others), strict=True):
        same += ours["text"] == theirs["text"]
        a, b = (h.get("token_ids") or h["text"].split() for h in (ours, theirs))
        positions += max(len(a), len(b))
        equal += sum(x == y for x, y in zip(a, b))
    return {"same_texts": same / len(translations), "same_tokens": equal / max(positions, 1)}


def report_of(sources, references, translations, seconds=None):
    """All figures, as an object for JSON."""
    texts = [best(translation)["text"] for translation in translations]
    score = metrics.bleu(texts, [[reference] for reference in references])
    report = {
        "sentences": len(texts),
        "bleu": score.score,
        "bleu_precisions": score.precisions,
        "brevity_penalty": score.brevity_penalty,
        "length_ratio": score.words / max(score.reference_words, 1),
        "chrf2": metrics.chrf(texts, references),
        "word_error_rate": metrics.word_error_rate(texts, references),
        "words": {name: spread([len(text.split()) for text in side])
                  for name, side in (("source", sources), ("reference", references),
                                     ("translation", texts))},
        "empty_translations": sum(not text for text in texts),
    }
    if all("source_tokens" in translation for translation in translations):
        target_tokens = [len(best(translation)["token_ids"]) for translation in translations]
        report["tokens"] = {"source": spread([t["source_tokens"] for t in translations]),
                            "translation": spread(target_tokens)}
        report["truncated"] = sum(t["truncated"] for t in translations)
        report["cut_at_max_length"] = sum(
            best(t)["finish_reason"] == "max_length" for t in translations)
        if seconds is not None:
            report["target_tokens_per_second"] = sum(target_tokens) / seconds
    if seconds is not None:
        report["seconds"] = seconds
        report["sentences_per_second"] = len(texts) / seconds
    return report


def as_text(value, indent=""):
    """The report for people, with a line for each figure."""
    lines = []
    for name, figure in value.items():
        if isinstance(figure, dict) and all(isinstance(v, dict) for v in figure.values()):
            lines += [f"{indent}{name}", as_text(figure, indent + "  ")]
            continue
        if isinstance(figure, dict):
            figure = "  ".join(f"{k} {v:.4g}" for k, v in figure.items())
        elif isinstance(figure, list):
            figure = " / ".join(f"{v:.1f}" for v in figure)
        elif isinstance(figure, float):
            figure = f"{figure:.2f}" if figure >= 1.5 else f"{figure:.4f}"
        lines.append(f"{indent}{name:<{26 - len(indent)}}{figure}")
    return "\n".join(lines)


def samples(sources, references, translations):
    """A table of sources, references and translations."""
    texts = [best(translation)["text"] for translation in translations]
    return markdown.table(("source", "translation", "reference"), (
        map(markdown.escape, row) for row in zip(sources, texts, references)))


def parse_flags(arguments):
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--pairs", required=True, help="lines SOURCE tab REFERENCE (.xz is read, too)")
    parser.add_argument("--reverse", action="store_true", help="lines REFERENCE tab SOURCE")
    parser.add_argument("--limit", type=int, help="only this many pairs from the beginning")
    parser.add_argument("--translations", help="evaluate this file, text or JSON lines, instead")
    parser.add_argument("--save", help="write the client's JSON lines here")
    parser.add_argument("--compare", help="JSON lines of another run: how far do the two agree")
    parser.add_argument("--client", default=os.path.join(ROOT, "build/release/client/dragoman"))
    parser.add_argument("--server", help="HOST:PORT")
    parser.add_argument("--model", help="name; default: the server's default")
    parser.add_argument("--target-language", help="of a model of several, such as deu")
    parser.add_argument("--beam-size", type=int, help="1 is greedy; default: the model's own")
    parser.add_argument("--num-hypotheses", type=int, help="for --save; the best one is evaluated")
    parser.add_argument("--samples", type=int, metavar="N",
                        help="print the first N translations instead, as a Markdown table")
    parser.add_argument("--output", choices=("text", "json"), default="text")
    return parser.parse_args(arguments)


def evaluate(flags):
    """The text to print."""
    sources, references = read_pairs(flags.pairs, flags.reverse)
    sources, references = sources[:flags.limit], references[:flags.limit]
    if not sources:
        raise InputError(f"{flags.pairs} has no pairs")
    seconds = None
    if flags.translations:
        name, lines = flags.translations, read_lines(flags.translations)
    else:
        name = flags.client
        lines, seconds = translate(sources, flags)
    translations = parse_translations(name, lines, sources)
    if flags.save:
        with open(flags.save, "w", encoding="utf-8") as file:
            file.writelines(line + "\n" for line in lines)
    if flags.samples is not None:
        chosen = slice(flags.samples)
        return samples(sources[chosen], references[chosen], translations[chosen])
    report = report_of(sources, references, translations, seconds)
    if flags.compare:
        others = parse_translations(flags.compare, read_lines(flags.compare), sources)
        report["agreement"] = agreement(translations, others)
    return json.dumps(report) if flags.output == "json" else as_text(report)


def main(arguments=None):
    flags = parse_flags(arguments)
    try:
        print(evaluate(flags))
    except InputError as error:
        print(f"evaluate: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
