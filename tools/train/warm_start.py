"""Initializes a model from a trained one of the same shape, which may have other languages.

What a Transformer learns from one pair of languages, such as how to attend to the source, helps it
with the next (Zoph et al., 2016, "Transfer Learning for Low-Resource Neural Machine Translation").
All layers are copied.  Embeddings are copied for the pieces that both vocabularies have; the others
stay random, at the scale of the copied ones.
"""

import dataclasses

import torch

from export import load
from model import Transformer
from text import InputError
from vocabulary import Vocabulary


@torch.no_grad()
def warm_start(model: Transformer, vocabulary: Vocabulary, directory: str) -> int:
    """Copies the weights of the exported model in `directory` to `model`.  Returns the number of
    pieces that both vocabularies have."""
    trained, known = load(directory)
    same_vocabulary = dataclasses.replace(trained.size, vocabulary=model.size.vocabulary)
    if same_vocabulary != model.size:
        raise InputError(f"--warm-start {directory}: that model is {trained.size}, "
                         f"want the flags' {model.size}")
    ids = {piece: i for i, piece in enumerate(known.pieces)}
    rows = [(i, ids[piece]) for i, piece in enumerate(vocabulary.pieces) if piece in ids]
    ours, theirs = map(list, zip(*rows))
    embeddings = model.shared.weight.detach().clone()
    embeddings *= trained.shared.weight.std() / embeddings.std()
    embeddings[ours] = trained.shared.weight[theirs]
    model.load_state_dict(trained.state_dict() | {"shared.weight": embeddings})
    return len(rows)
