#!/usr/bin/python3
"""Compares an exported model in the server and in PyTorch, sentence by sentence.

    dragoman-server --model new=DIR/model --precision float32 &
    compare.py --directory DIR/model --pairs DIR/held-out/test.eng-deu.tsv --target-language deu

Greedy translations must have the same tokens.  For each sentence, the server's beam search returns
several hypotheses with their scores; PyTorch, forced to the same tokens, must give the same sums of
log-probabilities.
"""

import argparse
import json
import os
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "evaluate"))

import evaluate  # tools/evaluate

import export
from search import greedy, log_probabilities
from text import InputError
from vocabulary import EOS

_HYPOTHESES = 4


def ask_server(sources: list[str], flags: argparse.Namespace, beam_size: int) -> list[dict]:
    flags = argparse.Namespace(**vars(flags), beam_size=beam_size, num_hypotheses=beam_size)
    lines, _ = evaluate.translate(sources, flags)
    return evaluate.parse_translations(flags.client, lines, sources)


def compare(flags: argparse.Namespace) -> dict:
    model, vocabulary = export.load(flags.directory)
    texts, _ = evaluate.read_pairs(flags.pairs, flags.reverse)
    texts = texts[:flags.limit]
    sources = [vocabulary.encode_source(text, flags.target_language) for text in texts]
    answers = ask_server(texts, flags, 1)
    same_greedy, cut = 0, 0
    for source, answer in zip(sources, answers, strict=True):
        hypothesis = answer["hypotheses"][0]
        cut += hypothesis["finish_reason"] != "eos"
        ids = hypothesis["token_ids"]
        # A translation that reached the maximum length has no eos: compare as many tokens.
        limit = len(ids) + (hypothesis["finish_reason"] == "eos")
        same_greedy += greedy(model, [source], limit)[0] == ids
    differences = []
    for source, answer in zip(sources, ask_server(texts, flags, _HYPOTHESES), strict=True):
        for hypothesis in answer["hypotheses"]:
            if hypothesis["finish_reason"] == "eos":
                target = hypothesis["token_ids"] + [EOS]
                ours = log_probabilities(model, source, target).double().sum().item()
                differences.append(abs(ours - hypothesis["score"] * len(target)))
    return {
        "sentences": len(texts),
        "same_source_tokens": sum(
            len(s) == a["source_tokens"] for s, a in zip(sources, answers)),
        "same_greedy_tokens": same_greedy,
        "cut_at_max_length": cut,
        "scored_hypotheses": len(differences),
        "log_probability_difference_max": max(differences, default=0.0),
        "log_probability_difference_mean": sum(differences) / max(len(differences), 1),
    }


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--directory", required=True, metavar="DIR", help="of the exported model")
    parser.add_argument("--pairs", required=True, help="lines SOURCE tab REFERENCE")
    parser.add_argument("--reverse", action="store_true", help="lines REFERENCE tab SOURCE")
    parser.add_argument("--limit", type=int, default=500, help="how many pairs (default: 500)")
    parser.add_argument("--target-language", help="of a model of several, such as deu")
    parser.add_argument("--server", help="HOST:PORT")
    parser.add_argument("--model", help="its name on the server; default: the server's default")
    parser.add_argument("--client", default=os.path.join(
        evaluate.ROOT, "build/release/client/dragoman"))
    flags = parser.parse_args(arguments)
    try:
        report = compare(flags)
    except (InputError, evaluate.InputError) as error:
        print(f"compare: {error}", file=sys.stderr)
        return 1
    print(json.dumps(report, indent=1))
    same = (report["same_source_tokens"] == report["same_greedy_tokens"] == report["sentences"]
            and report["log_probability_difference_max"] < 1e-3)
    return 0 if same else 2


if __name__ == "__main__":
    sys.exit(main())
