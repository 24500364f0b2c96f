#!/usr/bin/python3
"""Trains a translation model from parallel text and writes it as dragoman-server loads it.

    train.py --data eng-deu=en-de.tsv --data eng-fra=en-fr.tsv --out DIR     # all four directions
    train.py ... --out DIR --resume                                          # continue after a stop

See README.md for what is in DIR and what the flags mean.
"""

import argparse
import math
import os
import shutil
import signal
import sys
import time

import torch

import model_card
from batches import Corpus, Direction
from curves import Curves, no_longer_falls, plot
from export import export
from flags import command_of, parse_flags
from model import ModelSize, Transformer
from model_card import Quality
from text import InputError, Pair, Split, read_parallel_text, split, write_held_out
from trainer import Trainer, TrainingSettings, peak_learning_rate
from validation import loss_of, quality
from vocabulary import Vocabulary, tag_of, train_sentencepiece
from warm_start import warm_start

# Per core, Debian's reference BLAS reaches 7, an optimized one 100.
_SLOW_GFLOPS = 20


def say(message: str) -> None:
    print(message, flush=True)


def device_name(device: str) -> str:
    if torch.device(device).type == "cuda":
        return f"one {torch.cuda.get_device_name(device)}"
    threads = torch.get_num_threads()
    return f"{threads} CPU thread{'s' * (threads > 1)}"


def float32_gflops() -> float:
    """Roughly measures the speed of PyTorch's float32 products here, in a few milliseconds."""
    size, best = 512, math.inf
    x = torch.rand(size, size)
    for _ in range(3):
        start = time.monotonic()
        x @ x
        best = min(best, time.monotonic() - start)
    return 2 * size ** 3 / best / 1e9


class Run:
    """One run of train.py: prepares the data, trains, and writes the results."""

    def __init__(self, flags: argparse.Namespace):
        self.flags = flags
        os.makedirs(flags.out, exist_ok=True)
        if not flags.resume and os.path.exists(self.path("checkpoint.pt")):
            raise InputError(f"{flags.out} has a run: --resume it, or choose another --out")
        if flags.threads:
            torch.set_num_threads(flags.threads)
        torch.manual_seed(flags.seed)
        texts = [read_parallel_text(data) for data in flags.data]
        self.data = split(texts, flags.test_pairs, flags.validation_pairs)
        write_held_out(self.data, self.path("held-out"))
        self.directions = list(dict.fromkeys(d for t in self.data.train for d in t.directions))
        self.vocabulary = self._vocabulary()
        self.corpus, self.validation = (
            Corpus(self.vocabulary, flags.max_tokens, flags.write_out_contractions, noise)
            for noise in (flags.noise, 0.0))
        for text in self.data.train:
            self.corpus.add(text.pairs, text.languages, text.directions, text.share)
        for languages, pairs in self.data.validation.items():
            self.validation.add(pairs, languages, self.directions)
        for name, corpus in (("training", self.corpus), ("validation", self.validation)):
            if not len(corpus):
                raise InputError(f"no {name} pair has at most --max-tokens {flags.max_tokens} tokens")
        size = ModelSize(len(self.vocabulary), flags.width, flags.feed_forward, flags.heads,
                         flags.encoder_layers, flags.decoder_layers,
                         flags.sinusoids == "interleaved")
        settings = TrainingSettings(
            batch_tokens=flags.batch_tokens, warmup=flags.warmup,
            peak_learning_rate=(flags.learning_rate
                                or peak_learning_rate(flags.width, flags.warmup)),
            dropout=flags.dropout,
            average_decay=flags.average_decay, seed=flags.seed,
            bfloat16=flags.precision == "bfloat16")
        model = Transformer(size, flags.dropout)
        if flags.warm_start and not flags.resume:
            say(f"{warm_start(model, self.vocabulary, flags.warm_start)} pieces of "
                f"{flags.warm_start}")
        self.trainer = Trainer(model, self.corpus, settings, torch.device(flags.device))
        if flags.resume:
            self.trainer.load(self.path("checkpoint.pt"))
        begun = self.trainer.progress.step
        self.before_cool_down = max(flags.steps - flags.cool_down, begun)
        self.trainer.cool_down = range(self.before_cool_down + 1, flags.steps + 1)
        if flags.cool_down_minutes:
            flags.max_minutes = min(flags.max_minutes or math.inf, flags.cool_down_minutes)
            self.before_cool_down = begun
            self.trainer.time_left = lambda: 1 - self._minutes() / flags.cool_down_minutes
        self.curves = Curves(self.path("curves.jsonl"), self.trainer.progress.step)
        self.stopped = False

    def path(self, name: str) -> str:
        return os.path.join(self.flags.out, name)

    def _vocabulary(self) -> Vocabulary:
        path, model = self.path("vocabulary.spm"), self.flags.vocabulary_from
        if self.flags.resume:
            if not os.path.exists(path):
                raise InputError(f"--resume: there is no {path}")
        elif model:
            try:
                shutil.copyfile(os.path.join(model, "source.spm"), path)
            except OSError as error:
                raise InputError(f"--vocabulary-from {model}: {error}") from error
        else:
            sentences = dict.fromkeys(
                side for text in self.data.train for pair in text.pairs for side in pair)
            say(f"vocabulary of {self.flags.vocabulary} pieces from {len(sentences)} sentences")
            train_sentencepiece(list(sentences), self.flags.vocabulary, path)
        many = len(self.directions) > 1
        return Vocabulary(path, sorted({d[1] for d in self.directions}) if many else ())

    def _weights(self) -> int:
        return sum(weight.numel() for weight in self.trainer.model.parameters())

    def describe(self) -> None:
        say(f"{len(self.corpus)} pairs of {' '.join('-'.join(d) for d in self.directions)}, "
            f"{self.corpus.dropped} texts too long, vocabulary {len(self.vocabulary)}, "
            f"{self._weights() / 1e6:.1f} million weights, {device_name(self.flags.device)}, "
            f"{self.flags.precision}")
        if (torch.device(self.flags.device).type == "cpu" and self.flags.precision == "float32"
                and (speed := float32_gflops()) < _SLOW_GFLOPS):
            say(f"slow: {speed:.0f} GFLOP/s in float32; on Debian, apt install libopenblas0 may "
                "give ten times as much")

    def _minutes_left(self, rate: float) -> float:
        """The steps that fit at `rate` steps per second."""
        by_steps = (self.flags.steps - self.trainer.progress.step) / rate / 60
        if self.flags.max_minutes is None:
            return by_steps
        return min(by_steps, self.flags.max_minutes - self._minutes())

    def _minutes(self) -> float:
        """Since the training started."""
        return (time.monotonic() - self.start) / 60

    def train(self) -> None:
        """Trains until the last step, the last minute, the end of patience or a signal."""
        self.start = time.monotonic()
        progress, flags = self.trainer.progress, self.flags
        losses, tokens, since = [], 0, self.start
        last = progress.step >= flags.steps
        while not last:  # a signal that arrives after `last` is set takes effect after the next step
            loss, count = self.trainer.step()
            losses.append(loss)
            tokens += count
            if flags.max_minutes and self._minutes() > flags.max_minutes:
                self.stopped = True
            last = self.stopped or progress.step >= flags.steps
            validates = (last or progress.step % flags.validate_every == 0
                         or progress.step == self.before_cool_down)
            if validates or progress.step % flags.report_every == 0:
                mean = torch.stack(losses).mean().item()  # waits for the GPU
                seconds = time.monotonic() - since
                progress.seconds += seconds
                self._report(mean, len(losses), tokens, seconds)
                if validates:
                    self.validate()
                    if progress.step <= self.before_cool_down:
                        self.trainer.save(self.path("checkpoint.pt"))
                    last |= no_longer_falls(
                        self.curves.points("validation_loss")[1], flags.patience)
                losses, tokens, since = [], 0, time.monotonic()

    def _report(self, loss: float, steps: int, tokens: int, seconds: float) -> None:
        progress = self.trainer.progress
        rate = self.trainer.learning_rate_at(progress.step)
        self.curves.add(step=progress.step, seconds=round(progress.seconds, 1), loss=round(loss, 4),
                        learning_rate=rate, target_tokens_per_second=round(tokens / seconds))
        say(f"step {progress.step}  epoch {progress.epoch}  loss {loss:.3f}  rate {rate:.2e}  "
            f"{tokens / seconds:.0f} target tokens/s  "
            f"{self._minutes_left(steps / seconds):.1f} minutes left")

    def validate(self) -> None:
        """Validation loss and BLEU of the averaged weights."""
        progress = self.trainer.progress
        with self.trainer.average.in_place() as model, self._arithmetic():
            loss = loss_of(model, self.validation, self.flags.batch_tokens)
            quality = self._quality(model, self.data.validation, self.flags.bleu_pairs)
        bleu = {name: round(q.bleu, 2) for name, q in quality.items()}
        self.curves.add(step=progress.step, seconds=round(progress.seconds, 1),
                        validation_loss=round(loss, 4), bleu=bleu)
        say(f"step {progress.step}  validation loss {loss:.3f}  BLEU "
            + "  ".join(f"{name} {score:.1f}" for name, score in bleu.items()))

    def _arithmetic(self) -> torch.autocast:
        return torch.autocast(torch.device(self.flags.device).type, dtype=torch.bfloat16,
                              enabled=self.flags.precision == "bfloat16")

    def _quality(self, model: Transformer, held: dict[Direction, list[Pair]],
                 count: int) -> dict[str, Quality]:
        """The quality on the first `count` held-out pairs of each direction."""
        return {"-".join(direction): quality(model, self.vocabulary, direction, (
            held[direction] if direction in held
            else [pair[::-1] for pair in held[direction[::-1]]])[:count])
            for direction in self.directions}

    def finish(self) -> None:
        """Writes the model, its card and the plot."""
        directory = self.path("model")
        model = self.trainer.model
        export(directory, model.size, self.trainer.average.weights, self.flags.dropout,
               self.vocabulary, self.directions)
        with self.trainer.average.in_place(), self._arithmetic():
            quality = self._quality(model, self.data.test, self.flags.card_pairs)
        model_card.write(os.path.join(directory, "README.md"), model_card.Facts(
            size=model.size, weights=self._weights(), settings=self.trainer.settings,
            progress=self.trainer.progress, data=self.data, dropped=self.corpus.dropped,
            notes=self.flags.note, directions=self.directions,
            tags=list(map(tag_of, self.vocabulary.languages)),
            validation_loss=self.curves.points("validation_loss")[1][-1],
            device=device_name(self.flags.device),
            command=command_of(self.flags),
            quality=quality))
        if not plot(self.curves, self.path("curves.png")):
            say("no plot: matplotlib is not installed")
        say(f"wrote {directory}")


def main(arguments: list[str] | None = None) -> int:
    flags = parse_flags(arguments)
    try:
        run = Run(flags)
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: setattr(run, "stopped", True))
        run.describe()
        run.train()
        run.finish()
    except InputError as error:
        print(f"train: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
