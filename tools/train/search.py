"""Greedy search and teacher-forced log-probabilities, with which the server is compared."""

from collections.abc import Sequence

import torch

from batches import pad_rows
from model import Transformer
from vocabulary import EOS


@torch.no_grad()
def greedy(model: Transformer, sources: Sequence[Sequence[int]],
           max_tokens: int) -> list[list[int]]:
    """The ids of each translation, without eos; at most `max_tokens` of them."""
    device, pad = model.shared.weight.device, model.size.pad
    memory, allowed = model.encode(pad_rows(sources, pad).to(device))
    tokens = torch.full((len(sources), 1), pad, device=device)
    ended = torch.zeros(len(sources), dtype=torch.bool, device=device)
    while tokens.shape[1] <= max_tokens and not ended.all():
        best = model.logits(model.decode(tokens, memory, allowed)[:, -1]).argmax(dim=1)
        tokens = torch.cat([tokens, best.masked_fill(ended, EOS)[:, None]], dim=1)
        ended |= best == EOS
    rows = tokens[:, 1:].tolist()
    return [row[:row.index(EOS)] if EOS in row else row for row in rows]


@torch.no_grad()
def log_probabilities(model: Transformer, source: Sequence[int],
                      target: Sequence[int]) -> torch.Tensor:
    """[len(target)]: log-probability of each target token, given the source and the tokens before."""
    device = model.shared.weight.device
    decoder_input = torch.tensor([[model.size.pad, *target[:-1]]], device=device)
    logits = model(torch.tensor([list(source)], device=device), decoder_input)
    chosen = torch.tensor(list(target), device=device)[:, None]
    return torch.log_softmax(logits[0], dim=1).gather(1, chosen)[:, 0].cpu()
