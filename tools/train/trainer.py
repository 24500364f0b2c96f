"""The training loop: section 5 of "Attention Is All You Need".

A Trainer can stop after any step and resume later: its checkpoint has the weights, their average,
the optimizer, the position in the data and the states of the random generators.  On a CPU with the
same number of threads, a run that was stopped gives the same bits as one that was not; on a GPU,
which adds numbers in no fixed order, it gives nearly the same.
"""

import contextlib
import dataclasses
import os
import pickle
from collections.abc import Iterator

import torch
import torch.nn.functional as F
from torch import Tensor

from batches import Batch, Corpus
from model import Transformer
from text import InputError


@dataclasses.dataclass(frozen=True)
class TrainingSettings:
    batch_tokens: int
    warmup: int
    peak_learning_rate: float
    dropout: float = 0.1
    label_smoothing: float = 0.1
    average_decay: float = 0.999
    clip_norm: float = 1.0
    seed: int = 1
    bfloat16: bool = True


def peak_learning_rate(width: int, warmup: int) -> float:
    """The learning rate of equation 3 at the last step of the warm-up."""
    return (width * warmup) ** -0.5


def learning_rate(step: int, peak: float, warmup: int) -> float:
    """Equation 3 relative to its peak; the first step is 1."""
    return peak * min((warmup / step) ** 0.5, step / warmup)


def smoothed_loss(logits: Tensor, target: Tensor, smoothing: float) -> Tensor:
    """Mean cross entropy of the target tokens in nats, with label smoothing: `smoothing` is spread
    evenly over all V - 1 tokens, the rest goes to the target (section 5.4).

    logits [B, T, V - 1]; target [B, T], where V - 1 is <pad>, which is ignored."""
    return F.cross_entropy(logits.flatten(0, 1), target.flatten(), ignore_index=logits.shape[2],
                           label_smoothing=smoothing)


class WeightAverage:
    """The exponential moving average of a model's weights: a cheaper relative of the averaged
    checkpoints of section 6.1.  It forgets its first steps faster."""

    def __init__(self, model: Transformer, decay: float):
        self._model = model
        self._decay = decay
        self.weights = {name: weight.detach().clone() for name, weight in model.named_parameters()}

    @torch.no_grad()
    def update(self, step: int) -> None:
        decay = min(self._decay, (1 + step) / (10 + step))
        for name, weight in self._model.named_parameters():
            self.weights[name].lerp_(weight, 1 - decay)

    @contextlib.contextmanager
    def in_place(self) -> Iterator[Transformer]:
        """A context in which the model has the averaged weights, for evaluation."""
        trained = {name: w.detach().clone() for name, w in self._model.named_parameters()}
        self._model.load_state_dict(self.weights)
        self._model.eval()
        try:
            yield self._model
        finally:
            self._model.load_state_dict(trained)
            self._model.train()


@dataclasses.dataclass
class Progress:
    """The progress of a run."""

    step: int = 0
    epoch: int = 0
    batch: int = 0  # the next batch of the epoch
    seconds: float = 0.0  # of training, over all runs


class Trainer:
    def __init__(self, model: Transformer, corpus: Corpus, settings: TrainingSettings,
                 device: torch.device):
        self.model = model.to(device).train()
        self.average = WeightAverage(self.model, settings.average_decay)
        self.progress = Progress()
        self._corpus = corpus
        self.settings = settings
        self._device = device
        self._optimizer = torch.optim.Adam(  # section 5.3
            self.model.parameters(), lr=0.0, betas=(0.9, 0.98), eps=1e-9)
        self.cool_down = range(0)  # steps in which the learning rate falls to zero
        self.time_left = lambda: 1.0  # or the part of a cool-down in minutes that is left
        self._batches: list = []
        self._epoch_of_batches = -1

    def learning_rate_at(self, step: int) -> float:
        settings = self.settings
        rate = learning_rate(step, settings.peak_learning_rate, settings.warmup)
        if step in self.cool_down:
            rate *= (self.cool_down.stop - step) / len(self.cool_down)
        return rate * max(0.0, self.time_left())

    def _next_batch(self) -> Batch:
        progress = self.progress
        if self._epoch_of_batches != progress.epoch:
            self._batches = self._corpus.batches(self.settings.batch_tokens,
                                                 self.settings.seed + progress.epoch)
            self._epoch_of_batches = progress.epoch
        batch = self._corpus.collate(self._batches[progress.batch])
        progress.batch += 1
        if progress.batch == len(self._batches):
            progress.epoch, progress.batch = progress.epoch + 1, 0
        return batch

    def step(self) -> tuple[Tensor, int]:
        """Trains on one batch; returns its loss and its number of target tokens."""
        batch = self._next_batch().to(self._device)
        for group in self._optimizer.param_groups:
            group["lr"] = self.learning_rate_at(self.progress.step + 1)
        with torch.autocast(self._device.type, dtype=torch.bfloat16,
                            enabled=self.settings.bfloat16):
            logits = self.model(batch.source, batch.decoder_input)
        loss = smoothed_loss(logits, batch.target, self.settings.label_smoothing)
        self._optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.settings.clip_norm)
        self._optimizer.step()
        self.progress.step += 1
        self.average.update(self.progress.step)
        return loss.detach(), batch.target_tokens

    def _data(self) -> dict:
        """What tells one corpus from another."""
        return {"pairs": len(self._corpus), "epoch_size": self._corpus.epoch_size()}

    def save(self, path: str) -> None:
        """Writes a checkpoint; after a crash the previous one is still there."""
        state = {
            "settings": dataclasses.asdict(self.settings),
            "size": dataclasses.asdict(self.model.size),
            "data": self._data(),
            "progress": dataclasses.asdict(self.progress),
            "model": self.model.state_dict(),
            "average": self.average.weights,
            "optimizer": self._optimizer.state_dict(),
            "random": torch.get_rng_state(),
            "random_gpu": torch.cuda.get_rng_state_all() if torch.cuda.is_available() else [],
        }
        torch.save(state, path + ".new")
        os.replace(path + ".new", path)

    def load(self, path: str) -> None:
        """Resumes from a checkpoint of the same model and batches; rates and the like may differ,
        and with other text a new epoch begins.
        It is a pickle: only load files that you wrote yourself."""
        try:
            state = torch.load(path, map_location="cpu", weights_only=False)
        except (OSError, RuntimeError, pickle.UnpicklingError, EOFError) as error:
            raise InputError(f"cannot read {path}: {error}") from error
        batches = {name: getattr(self.settings, name) for name in ("batch_tokens", "seed")}
        for name, ours in (("size", dataclasses.asdict(self.model.size)), ("settings", batches)):
            for field, value in ours.items():
                if state[name][field] != value:
                    raise InputError(f"{path} was trained with {field} {state[name][field]}, "
                                     f"want {value}: resume with the flags of its start")
        self.progress = Progress(**state["progress"])
        if state["data"] != self._data():  # other files, shares or noise
            self.progress.epoch, self.progress.batch = self.progress.epoch + 1, 0
        self.model.load_state_dict(state["model"])
        self._optimizer.load_state_dict(state["optimizer"])
        for name, weight in self.average.weights.items():
            weight.copy_(state["average"][name])
        torch.set_rng_state(state["random"])
        if torch.cuda.is_available() and state["random_gpu"]:
            torch.cuda.set_rng_state_all(state["random_gpu"])
