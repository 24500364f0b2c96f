"""Writes expected/toy-trained/interleaved.json: models/toy-trained read with sinusoids in the paper's order.

    python3 tests/golden/make_interleaved.py      # needs PyTorch

The model was trained with the other order, so it translates nothing; but what it computes is well defined.  For each
line the file has the tokens of the source and the target, and the log-probability of each target token, by tools/train.
"""

import json
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "tools", "train"))

import numpy as np
import torch

import export
import search
from model import ModelSize, Transformer

EXPECTED = os.path.join(HERE, "expected", "toy-trained")
MODEL = os.path.join(HERE, "models", "toy-trained")


@torch.no_grad()
def main():
    with open(os.path.join(MODEL, "config.json"), encoding="utf-8") as file:
        config = json.load(file)
    size = ModelSize(config["vocab_size"], config["d_model"], config["encoder_ffn_dim"],
                     config["encoder_attention_heads"], config["encoder_layers"], config["decoder_layers"],
                     interleaved=True)
    model = Transformer(size)
    tensors = export.read_safetensors(os.path.join(MODEL, "model.safetensors"))
    model.load_state_dict({name[len("model."):]: torch.from_numpy(tensor.astype(np.float32))
                           for name, tensor in tensors.items() if name.startswith("model.")})
    model.eval()
    with open(os.path.join(EXPECTED, "golden.json"), encoding="utf-8") as file:
        golden = json.load(file)
    lines = []
    for each in golden["fra"][:20]:
        source, target = each["source"], each["greedy"]
        chosen = search.log_probabilities(model, source, target).double().tolist()
        lines.append({"source": source, "target": target, "log_probabilities": [round(x, 6) for x in chosen]})
    with open(os.path.join(EXPECTED, "interleaved.json"), "w", encoding="utf-8") as file:
        file.write('{"lines": [\n' + ",\n".join(map(json.dumps, lines)) + "\n]}\n")


if __name__ == "__main__":
    main()
