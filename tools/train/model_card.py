"""Writes README.md of a trained model: what it is, its training data, and its quality."""

import dataclasses
import os
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "evaluate"))

import markdown  # tools/evaluate

from batches import Direction
from model import ModelSize
from text import Pair, Split
from trainer import Progress, TrainingSettings

_SHOWN = 50  # sample translations


@dataclasses.dataclass
class Quality:
    """The quality of PyTorch's greedy translations of the first test pairs of one direction."""

    pairs: list[Pair]  # source, reference
    translations: list[str]
    bleu: float
    chrf: float


@dataclasses.dataclass
class Facts:
    size: ModelSize
    weights: int
    settings: TrainingSettings
    progress: Progress
    data: Split
    dropped: int
    notes: list[str]
    directions: list[Direction]
    tags: list[str]
    validation_loss: float
    device: str
    command: str
    quality: dict[str, Quality]  # by direction, "eng-deu"


def _made_from(facts: Facts) -> list[str]:
    lines = ["## Training data", ""]
    lines.append(markdown.table(("languages", "file", "training pairs"), (
        ("-".join(text.languages), os.path.basename(text.path), f"{len(text.pairs):,}")
        for text in facts.data.train)))
    held = next(iter(facts.data.test))
    lines += ["", f"Held out: {len(facts.data.test[held]):,} sentence pairs of each language pair "
              f"for tests and {len(facts.data.validation[held]):,} for validation. A sentence that is "
              "held out, compared by its letters and digits in lower case, is in no training "
              f"pair. {facts.dropped:,} pairs were too long to train on.", ""]
    return lines + [f"- {note}" for note in facts.notes] + [""] * bool(facts.notes)


def _training(facts: Facts) -> list[str]:
    settings, progress = facts.settings, facts.progress
    return [
        "## Training", "",
        f"- {progress.step:,} steps of up to {settings.batch_tokens:,} tokens per side "
        f"({progress.epoch} full epochs), {progress.seconds / 60:.0f} minutes on {facts.device}.",
        f"- Adam (0.9, 0.98), warm-up of {settings.warmup:,} steps to a rate of "
        f"{settings.peak_learning_rate:.2g}, then inverse square root decay; label smoothing "
        f"{settings.label_smoothing}, dropout {settings.dropout}, average of the weights with "
        f"decay {settings.average_decay}, gradients clipped at {settings.clip_norm}, "
        f"{'bfloat16' if settings.bfloat16 else 'float32'} arithmetic, seed {settings.seed}.",
        f"- Validation loss at the end: {facts.validation_loss:.3f} nats per target token.", "",
        "The command:", "", f"    {facts.command}", "",
    ]


def _quality(facts: Facts) -> list[str]:
    counts = {len(quality.pairs) for quality in facts.quality.values()}
    lines = ["## Quality", "",
             f"The first {' or '.join(f'{count:,}' for count in sorted(counts))} test pairs of "
             "each direction, translated greedily by PyTorch; BLEU and chrF2 as sacreBLEU "
             "computes them:",
             ""]
    lines.append(markdown.table(("direction", "BLEU", "chrF2"), (
        (name, f"{q.bleu:.1f}", f"{q.chrf:.1f}") for name, q in facts.quality.items())))
    return lines + [""]


def _samples(facts: Facts) -> list[str]:
    each = -(-_SHOWN // len(facts.quality))
    rows = [[name, *map(markdown.escape, (source, translation, reference))]
            for name, q in facts.quality.items()
            for (source, reference), translation in list(zip(q.pairs, q.translations))[:each]]
    return ["## Samples", "", f"The first {each} test pairs of each direction, not selected.", "",
            markdown.table(("direction", "source", "translation", "reference"), rows)]


def write(path: str, facts: Facts) -> None:
    size = facts.size
    names = ", ".join("-".join(direction) for direction in facts.directions)
    lines = [
        f"# {names}: {facts.weights / 1e6:.1f} million parameters", "",
        f"A Transformer ({size.encoder_layers} encoder and {size.decoder_layers} decoder layers, "
        f"width {size.width}, feed-forward {size.feed_forward}, {size.heads} heads, ReLU, "
        "post-norm, sinusoidal positions, one joint SentencePiece unigram vocabulary of "
        f"{size.vocabulary:,}, all embeddings tied) in the Hugging Face Marian layout, float16.",
        "",
    ]
    if facts.tags:
        lines += ["The target language is chosen by a first token: " + ", ".join(
            f"`{tag}`" for tag in facts.tags)
                  + " (`--target-language` of the `dragoman` command).", ""]
    lines += _made_from(facts) + _training(facts) + _quality(facts) + _samples(facts)
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")
