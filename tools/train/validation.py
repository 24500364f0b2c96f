"""Evaluates a model on the validation pairs during training."""

import math
import os
import sys
from collections.abc import Sequence

import torch

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "evaluate"))

import metrics  # tools/evaluate

from batches import Corpus, Direction
from model import Transformer
from model_card import Quality
from search import greedy
from text import Pair
from trainer import smoothed_loss
from vocabulary import Vocabulary

_AT_ONCE = 64  # sentences per batch of greedy search


def translate(model: Transformer, vocabulary: Vocabulary, texts: Sequence[str],
              target_language: str) -> list[str]:
    """Greedy translations, in the order of the texts."""
    sources = [vocabulary.encode_source(text, target_language) for text in texts]
    order = sorted(range(len(texts)), key=lambda i: len(sources[i]))
    translations = [""] * len(texts)
    for first in range(0, len(order), _AT_ONCE):
        chosen = order[first:first + _AT_ONCE]
        rows = [sources[i] for i in chosen]
        for i, ids in zip(chosen, greedy(model, rows, max_tokens=2 * len(rows[-1]) + 8)):
            translations[i] = vocabulary.decode(ids)
    return translations


@torch.no_grad()
def loss_of(model: Transformer, corpus: Corpus, batch_tokens: int) -> float:
    """Nats per target token, without label smoothing."""
    total = tokens = 0
    for examples in corpus.batches(batch_tokens, seed=0):
        batch = corpus.collate(examples).to(model.shared.weight.device)
        loss = smoothed_loss(model(batch.source, batch.decoder_input), batch.target, 0.0)
        total += loss.item() * batch.target_tokens
        tokens += batch.target_tokens
    return total / tokens if tokens else math.nan


def quality(model: Transformer, vocabulary: Vocabulary, direction: Direction,
            pairs: Sequence[Pair]) -> Quality:
    """BLEU, chrF2 and the greedy translations themselves; pairs are (source, reference)."""
    sources, references = zip(*pairs)
    translations = translate(model, vocabulary, sources, direction[1])
    return Quality(
        pairs=list(pairs), translations=translations,
        bleu=metrics.bleu(translations, [[reference] for reference in references]).score,
        chrf=metrics.chrf(translations, references))
