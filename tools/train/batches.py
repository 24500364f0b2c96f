"""Token ids of all training pairs, and batches of about the same number of tokens.

Section 5.1 of "Attention Is All You Need": sentence pairs of about the same length share a batch.
"""

import dataclasses
import math
import random
from collections.abc import Iterable, Sequence

import numpy as np
import torch

import contractions
import noise
from text import Pair
from vocabulary import EOS, Vocabulary

_MOST_VARIANTS = 8  # spoiled sources of one pair

Direction = tuple[str, str]  # ("eng", "deu"): English to German


@dataclasses.dataclass
class Batch:
    """A batch of sentence pairs; short ones are padded with <pad>."""

    source: torch.Tensor  # [pairs, source tokens]
    decoder_input: torch.Tensor  # [pairs, target tokens]: the decoder start, then the target without eos
    target: torch.Tensor  # [pairs, target tokens]: the target, then eos
    target_tokens: int  # without padding

    def to(self, device: torch.device) -> "Batch":
        return Batch(self.source.to(device), self.decoder_input.to(device),
                     self.target.to(device), self.target_tokens)


def pad_rows(rows: Sequence[Sequence[int]], pad: int) -> torch.Tensor:
    """[rows, longest row]"""
    padded = np.full((len(rows), max(map(len, rows))), pad, dtype=np.int64)
    for i, row in enumerate(rows):
        padded[i, :len(row)] = row
    return torch.from_numpy(padded)


class Corpus:
    """Every pair in every direction, as ids.  A text used in two directions is stored once.

    With `write_out_contractions`, English is a target without contractions, and a source as it is.
    A share of `noise` of the sources occurs a second time, spoiled, with the same target.
    """

    def __init__(self, vocabulary: Vocabulary, max_tokens: int,
                 write_out_contractions: bool = False, noise: float = 0.0):
        self._vocabulary = vocabulary
        self._max_tokens = max_tokens  # per side, including tag and eos
        self._write_out_contractions = write_out_contractions
        self._noise = noise
        self._texts: list[np.ndarray] = []
        self._examples: list[tuple[int, int, str]] = []  # source text, target text, language
        self._shares: list[float] = []  # per example: how often it occurs in an epoch
        self.dropped = 0  # number of pairs that are longer

    def add(self, pairs: Sequence[Pair], languages: Direction,
            directions: Iterable[Direction], share: float = 1.0) -> None:
        """Adds pairs in `languages`, in those directions that are trained.  Each epoch samples a
        `share` of them, or has each of them `share` times."""
        directions = [d for d in directions if set(d) == set(languages)]
        sides = [self._vocabulary.encode([pair[side] for pair in pairs]) for side in (0, 1)]
        rewritten = self._rewritten_targets(pairs, languages)
        spoiled = self._spoiled_sources(pairs, {languages.index(d[0]) for d in directions}, share)
        for i, ids in enumerate(zip(*sides)):
            if max(map(len, ids)) + 2 > self._max_tokens:
                self.dropped += 1
                continue
            first = len(self._texts)
            self._texts += [np.array(side, dtype=np.int32) for side in ids]
            for source, target in directions:
                side, place = languages.index(source), first + languages.index(target)
                if other := rewritten.get((i, target)):
                    place = self._add_text(other)
                self._examples.append((first + side, place, target))
                self._shares.append(share)
                noisy = spoiled.get((i, side), ())
                self._examples += [(self._add_text(other), place, target) for other in noisy]
                self._shares += [share * self._noise / len(noisy) for _ in noisy]

    def _add_text(self, ids: list[int]) -> int:
        self._texts.append(np.array(ids, dtype=np.int32))
        return len(self._texts) - 1

    def _rewritten_targets(self, pairs: Sequence[Pair],
                           languages: Direction) -> dict[tuple[int, str], list[int]]:
        """The ids of the targets that are not the text of the pair: (pair, language) -> ids."""
        changed = {}
        for side, language in enumerate(languages):
            if self._write_out_contractions and language in contractions.ENGLISH:
                for i, pair in enumerate(pairs):
                    text = contractions.write_out(pair[side])
                    if text != pair[side]:
                        changed[i, language] = text
        return dict(zip(changed, self._vocabulary.encode(list(changed.values()))))

    def _spoiled_sources(self, pairs: Sequence[Pair], sides: Iterable[int],
                         share: float) -> dict[tuple[int, int], list[list[int]]]:
        """The ids of spoiled sources: (pair, side) -> one, or several of a pair seen often."""
        if not self._noise:
            return {}
        keys, texts = [], []
        for side in sides:
            for i, pair in enumerate(pairs):
                source = random.Random(pair[side])
                variants = {noise.spoil(pair[side], source)
                            for _ in range(min(math.ceil(share), _MOST_VARIANTS))} - {pair[side]}
                keys += [(i, side)] * len(variants)
                texts += sorted(variants)
        spoiled: dict[tuple[int, int], list[list[int]]] = {}
        for key, ids in zip(keys, self._vocabulary.encode(texts)):
            if len(ids) + 2 <= self._max_tokens:
                spoiled.setdefault(key, []).append(ids)
        return spoiled

    def __len__(self) -> int:
        return len(self._examples)

    def epoch_size(self) -> float:
        """The mean number of examples in an epoch."""
        return sum(self._shares)

    def example(self, i: int) -> tuple[list[int], list[int]]:
        """The source with its tag and eos, and the target with eos."""
        source, target, language = self._examples[i]
        tag = [self._vocabulary.tags[language]] if self._vocabulary.tags else []
        return (tag + self._texts[source].tolist() + [EOS], self._texts[target].tolist() + [EOS])

    def _lengths(self) -> np.ndarray:
        """[examples]: the number of tokens of the longer side."""
        tag = 1 if self._vocabulary.tags else 0
        return np.array([max(tag + len(self._texts[s]), len(self._texts[t])) + 1
                         for s, t, _ in self._examples])

    def batches(self, budget: int, seed: int) -> list[list[int]]:
        """The batches of an epoch, with every example once, or with the probability of its share.
        The padded source and the padded target of a batch have at most `budget` tokens each; only
        a single example may be longer.  The seed determines which examples are sampled, which
        share a batch, and the order of the batches.

        An example with a share above 1 comes on top, each time in another batch of examples that
        are as long or longer.  Among those of its own length alone, its copies would meet in the
        few batches that have this length, and forty in one batch teach little more than one."""
        generator = np.random.default_rng(seed)
        lengths, shares = self._lengths(), np.array(self._shares)
        order = generator.permutation(np.flatnonzero(shares <= 1))
        order = order[generator.random(len(order)) < shares[order]]
        order = order[np.argsort(lengths[order], kind="stable")]
        batches, first = [], 0
        for i in range(1, len(order) + 1):
            if i == len(order) or (i - first + 1) * lengths[order[i]] > budget:
                batches.append(order[first:i].tolist())
                first = i
        longest = [lengths[batch[-1]] for batch in batches]
        for example in np.flatnonzero(shares > 1):
            first = min(np.searchsorted(longest, lengths[example]), len(batches) - 1)
            times = int(shares[example] + generator.random())
            for i in generator.permutation(np.arange(first, len(batches)))[:times]:
                batches[i].append(int(example))
        generator.shuffle(batches)
        return batches

    def collate(self, examples: Iterable[int]) -> Batch:
        pad = self._vocabulary.pad
        sources, targets = zip(*map(self.example, examples))
        return Batch(source=pad_rows(sources, pad),
                     decoder_input=pad_rows([[pad] + target[:-1] for target in targets], pad),
                     target=pad_rows(targets, pad),
                     target_tokens=sum(map(len, targets)))
