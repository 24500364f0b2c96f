"""The flags of train.py, and its command line as others would write it."""

import argparse
import math
import os
import shlex
import sys

import torch

# Flags that a profile sets; each can be overridden.
PROFILES = {
    "toy": {"vocabulary": 80, "width": 32, "feed_forward": 64, "heads": 2, "encoder_layers": 1,
            "decoder_layers": 1, "batch_tokens": 400, "warmup": 150, "steps": 600,
            "test_pairs": 40, "validation_pairs": 20, "report_every": 100,
            "validate_every": 300, "dropout": 0.0, "average_decay": 0.98, "precision": "float32"},
    "cpu": {"vocabulary": 8000, "width": 192, "feed_forward": 768, "heads": 4, "encoder_layers": 3,
            "decoder_layers": 2, "batch_tokens": 4000, "warmup": 1500, "steps": 50_000,
            "test_pairs": 2000, "validation_pairs": 500, "report_every": 50,
            "validate_every": 1000, "dropout": 0.1, "average_decay": 0.999,
            "precision": "bfloat16"},
    "gpu": {"vocabulary": 16000, "width": 384, "feed_forward": 1536, "heads": 6,
            "encoder_layers": 6, "decoder_layers": 3, "batch_tokens": 25_000, "warmup": 4000,
            "steps": 100_000, "test_pairs": 2000, "validation_pairs": 500, "report_every": 100,
            "validate_every": 2500, "dropout": 0.1, "average_decay": 0.9995,
            "precision": "bfloat16"},
    # That of "Attention Is All You Need", section 5 and table 3.
    "base": {"vocabulary": 37000, "width": 512, "feed_forward": 2048, "heads": 8,
             "encoder_layers": 6, "decoder_layers": 6, "batch_tokens": 25_000, "warmup": 4000,
             "steps": 100_000, "test_pairs": 2000, "validation_pairs": 500, "report_every": 100,
             "validate_every": 2500, "dropout": 0.1, "average_decay": 0.9995,
             "precision": "bfloat16"},
}


def parse_flags(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description="Trains a translation model from parallel text and writes it as "
        "dragoman-server loads it.")
    parser.add_argument("--data", action="append", required=True, metavar="ENG-DEU[@SHARE]=FILE",
                        help="lines ENGLISH tab GERMAN (.xz is read, too), for both directions, or "
                        "for one: eng-to-deu, eng-from-deu; each epoch draws a share, such as 0.2 "
                        "(default: 1), or has each pair often, such as 40; repeat it")
    parser.add_argument("--out", required=True, metavar="DIR", help="where everything is written")
    parser.add_argument("--resume", action="store_true", help="go on from DIR's checkpoint")
    parser.add_argument("--warm-start", metavar="MODEL",
                        help="a model directory of the same width and layers to start from")
    parser.add_argument("--vocabulary-from", metavar="MODEL",
                        help="a model directory whose pieces to use instead of training new ones")
    parser.add_argument("--profile", choices=PROFILES, default="cpu",
                        help="the default of what follows (default: %(default)s)")
    parser.add_argument("--note", action="append", default=[],
                        help="a line for the model card, such as the text's source and licence")
    parser.add_argument("--write-out-contractions", action="store_true",
                        help="English targets (en, eng) have \"I am\" for \"I'm\"")
    parser.add_argument("--noise", type=float, default=0.0, metavar="SHARE",
                        help="train on such a share of the sources a second time, as people type "
                        "them: in lower case, without a full stop and so on (default: 0)")
    parser.add_argument("--sinusoids", choices=("halves", "interleaved"), default="halves",
                        help="the order of sines and cosines: Marian's, or that of the paper, which "
                        "dragoman-server reads and transformers does not (default: %(default)s)")
    parser.add_argument("--patience", type=int, default=5, metavar="N",
                        help="stop when N validations have not lowered the loss (default: 5)")
    parser.add_argument("--max-minutes", type=float, help="stop after so much training")
    parser.add_argument("--max-tokens", type=int, default=160, help="of one side of a pair")
    parser.add_argument("--bleu-pairs", type=int, default=100, help="of a direction's validation")
    parser.add_argument("--card-pairs", type=int, default=200, help="of a direction's test")
    parser.add_argument("--learning-rate", type=float, metavar="PEAK",
                        help="after the warm-up (default: 1 / sqrt(width * warmup))")
    parser.add_argument("--cool-down", type=int, default=0, metavar="N",
                        help="in the last N of --steps the learning rate falls to nothing; the "
                        "checkpoint stays the one from before, so that --resume can go on")
    parser.add_argument("--cool-down-minutes", type=float, metavar="M",
                        help="the same over the next M minutes, after which the run stops, for a "
                        "machine whose speed is not known")
    parser.add_argument("--threads", type=int, help="of a CPU; default: all cores")
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--seed", type=int, default=1)
    for name, value in PROFILES["cpu"].items():
        choices = ("float32", "bfloat16") if name == "precision" else None
        parser.add_argument("--" + name.replace("_", "-"), type=type(value), choices=choices)
    flags = parser.parse_args(arguments)
    flags.arguments = sys.argv[1:] if arguments is None else arguments
    for name, value in PROFILES[flags.profile].items():
        if getattr(flags, name) is None:
            setattr(flags, name, value)
        if isinstance(value, int) and getattr(flags, name) < 1:
            parser.error(f"--{name.replace('_', '-')} {getattr(flags, name)}: want at least 1")
    if flags.learning_rate is not None and not 0 < flags.learning_rate < math.inf:
        parser.error(f"--learning-rate {flags.learning_rate}: want a number above 0")
    if not 0 <= flags.cool_down <= flags.steps:
        parser.error(f"--cool-down {flags.cool_down}: want 0 to --steps {flags.steps}")
    for name in ("cool_down_minutes", "max_minutes"):
        if (value := getattr(flags, name)) is not None and not 0 < value < math.inf:
            parser.error(f"--{name.replace('_', '-')} {value}: want a number above 0")
    if flags.cool_down_minutes is not None and flags.cool_down:
        parser.error("--cool-down and --cool-down-minutes: want one of them")
    if not 0 <= flags.noise <= 1:
        parser.error(f"--noise {flags.noise}: want 0 to 1")
    if flags.width % 2 or flags.width % flags.heads:
        parser.error(f"--width {flags.width}: want an even number that --heads {flags.heads} "
                     "divides")
    return flags


def command_of(flags: argparse.Namespace) -> str:
    """The command line without the directories of this machine."""
    paths = [flags.out, flags.warm_start, flags.vocabulary_from] + [
        data.partition("=")[2] for data in flags.data]
    command = ["tools/train/train.py"]
    for argument in flags.arguments:
        name, equals, value = argument.rpartition("=")
        if value in paths:
            argument = name + equals + os.path.basename(os.path.normpath(value))
        if argument != "--resume":
            command.append(argument)
    return shlex.join(command)
