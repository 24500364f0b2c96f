"""Writes torch.bin and torch_old.bin: a small dictionary of tensors in both formats of torch.save.

    python3 tests/golden/formats/make_torch_files.py

It has everything that occurs in models: a table with two names, a column-major matrix, a view of a
part of a storage, 16-bit numbers, integers that are not weights, and a tensor without elements.
"""

import collections
import os

import torch

HERE = os.path.dirname(os.path.abspath(__file__))


def tensors():
    table = torch.arange(6, dtype=torch.float32).reshape(3, 2) / 4
    whole = torch.arange(12, dtype=torch.float32)
    return collections.OrderedDict([
        ("shared.weight", table),
        ("lm_head.weight", table),
        ("by_columns.weight", torch.arange(6, dtype=torch.float32).reshape(2, 3).t()),
        ("part.bias", whole[4:8]),
        ("half.weight", torch.tensor([[1.0, -2.5], [0.0, 65504.0]]).half()),
        ("bfloat.weight", torch.tensor([[1.0, -2.5]]).bfloat16()),
        ("parameter.weight", torch.nn.Parameter(torch.tensor([7.0, 8.0]))),
        ("position_ids", torch.arange(4).reshape(1, 4)),
        ("nothing", torch.empty(0, 3)),
    ])


def main():
    torch.save(tensors(), os.path.join(HERE, "torch.bin"))
    torch.save(tensors(), os.path.join(HERE, "torch_old.bin"), _use_new_zipfile_serialization=False)


if __name__ == "__main__":
    main()
