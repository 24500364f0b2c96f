"""Starting from a trained model of the same shape, which may know other languages.

What a Transformer learns from one pair of languages helps it with the next: how to look at the
source, how to go on with a sentence (Zoph et al., 2016, "Transfer Learning for Low-Resource Neural
Machine Translation").  All layers are taken as they are.  An embedding is taken for each piece that
both vocabularies have; the others stay random, at the scale of the ones that were taken.
"""

import dataclasses

import torch

from export import load
from model import Transformer
from text import InputError
from vocabulary import Vocabulary


@torch.no_grad()
def warm_start(model: Transformer, vocabulary: Vocabulary, directory: str) -> int:
    """Gives `model` the weights of the exported one in `directory`.  Returns how many pieces both
    vocabularies have."""
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
