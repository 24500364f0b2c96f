#!/usr/bin/python3
"""Writes a model directory of any size with random weights, and sentences to translate.

    make_model.py --size base --directory /tmp/base           # Marian
    make_model.py --size nllb-600m --directory /tmp/nllb      # an NLLB: 2.5 GB
    make_model.py --size t5-base --directory /tmp/t5          # a T5 v1.1: 1 GB
    make_model.py --sentences 256 --tokens 28 > /tmp/28.txt

The speed of a model depends on its sizes and on the lengths of source and translation, not on the
values of its weights.  The translations are nonsense, so force their lengths (--min-length,
--max-length).  The weights are float32, uniform with the variance 1 / inputs; the same sizes give
the same bytes.  The tokenizer is that of a golden model (tests/golden/models); for Marian it is
padded to the size of the vocabulary with pieces that occur in no text.
"""

import argparse
import array
import json
import math
import os
import random
import shutil
import struct

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
GOLDENS = os.path.join(ROOT, "tests/golden/models")
TOKENIZER = os.path.join(GOLDENS, "marian-trained")

# d_model, feed-forward, encoder layers, decoder layers, heads, vocabulary
SIZES = {
    "base": (512, 2048, 6, 6, 8, 32000),
    "opus": (512, 2048, 6, 6, 8, 58101),
    "small": (256, 1536, 6, 2, 8, 32000),
    "tiny": (64, 128, 2, 2, 4, 4000),
}
# These numbers, and the golden model that lends its configuration and tokenizer.
FAMILIES = {
    "nllb-600m": ((1024, 4096, 12, 12, 16, 256206), "nllb-trained"),
    "t5-base": ((768, 2048, 12, 12, 12, 32128), "t5v11-trained"),
}
# Each is one piece of the vocabulary, together with the space before it.
WORDS = ("the old teacher a small house Anna red apple bridge expensive river sea mountain cold "
         "question doctor").split()


class Weights:
    """Fast random numbers: every tensor is a slice of one block of them."""

    def __init__(self, count=1 << 20):
        source = random.Random(1)
        self.block = array.array("f", (source.uniform(-1, 1) for _ in range(count)))
        self.source = source

    def uniform(self, count, deviation):
        """`count` numbers of this standard deviation, as bytes."""
        factor = deviation * math.sqrt(3)
        block = array.array("f", (factor * x for x in self.block[:min(count, len(self.block))]))
        parts = bytearray()
        while len(parts) < 4 * count:  # from another offset each time
            first = self.source.randrange(len(block))
            parts += block[first:].tobytes() + block[:first].tobytes()
        return bytes(parts[:4 * count])


def tensors(d_model, ffn, encoder_layers, decoder_layers, vocabulary):
    """Yields (name, shape, standard deviation or constant bytes) of every tensor."""
    def linear(name, outputs, inputs):
        yield f"{name}.weight", (outputs, inputs), 1 / math.sqrt(inputs)
        yield f"{name}.bias", (outputs,), 0.02

    def norm(name):
        yield f"{name}.weight", (d_model,), struct.pack("<f", 1) * d_model
        yield f"{name}.bias", (d_model,), bytes(4 * d_model)

    yield "model.shared.weight", (vocabulary, d_model), 1 / math.sqrt(d_model)
    yield "final_logits_bias", (1, vocabulary), bytes(4 * vocabulary)
    for side, layers in (("encoder", encoder_layers), ("decoder", decoder_layers)):
        for layer in range(layers):
            prefix = f"model.{side}.layers.{layer}"
            for attention in ("self_attn", "encoder_attn")[:1 + (side == "decoder")]:
                for part in ("q_proj", "k_proj", "v_proj", "out_proj"):
                    yield from linear(f"{prefix}.{attention}.{part}", d_model, d_model)
                yield from norm(f"{prefix}.{attention}_layer_norm")
            yield from linear(f"{prefix}.fc1", ffn, d_model)
            yield from linear(f"{prefix}.fc2", d_model, ffn)
            yield from norm(f"{prefix}.final_layer_norm")


def nllb_tensors(d_model, ffn, encoder_layers, decoder_layers, vocabulary):
    """As Marian's, but without an output bias and with a norm at the end of each stack."""
    for tensor in tensors(d_model, ffn, encoder_layers, decoder_layers, vocabulary):
        if tensor[0] != "final_logits_bias":
            yield tensor
    for side in ("encoder", "decoder"):
        yield f"model.{side}.layer_norm.weight", (d_model,), struct.pack("<f", 1) * d_model
        yield f"model.{side}.layer_norm.bias", (d_model,), bytes(4 * d_model)


def t5_tensors(d_model, ffn, encoder_layers, decoder_layers, vocabulary, heads):
    """Yields (name, shape, standard deviation or constant bytes) of every tensor of a T5 v1.1."""
    ones = struct.pack("<f", 1) * d_model
    yield "shared.weight", (vocabulary, d_model), 1 / math.sqrt(d_model)
    yield "lm_head.weight", (vocabulary, d_model), 1 / math.sqrt(d_model)
    for side, layers in (("encoder", encoder_layers), ("decoder", decoder_layers)):
        for layer in range(layers):
            block = f"{side}.block.{layer}.layer"
            attentions = ("SelfAttention", "EncDecAttention")[:1 + (side == "decoder")]
            for number, attention in enumerate(attentions):
                for part in "qkvo":
                    # Queries are not scaled, so their weights are.
                    spread = (0.1 if part == "q" else 1) / math.sqrt(d_model)
                    yield f"{block}.{number}.{attention}.{part}.weight", (d_model, d_model), spread
                yield f"{block}.{number}.layer_norm.weight", (d_model,), ones
            last = len(attentions)
            for part, shape in (("wi_0", (ffn, d_model)), ("wi_1", (ffn, d_model)),
                                ("wo", (d_model, ffn))):
                name = f"{block}.{last}.DenseReluDense.{part}.weight"
                yield name, shape, 1 / math.sqrt(shape[1])
            yield f"{block}.{last}.layer_norm.weight", (d_model,), ones
        name = f"{side}.block.0.layer.0.SelfAttention.relative_attention_bias.weight"
        yield name, (32, heads), 0.5
        yield f"{side}.final_layer_norm.weight", (d_model,), ones


def write_family(directory, size):
    (d_model, ffn, encoder_layers, decoder_layers, heads, vocabulary), golden = FAMILIES[size]
    source = os.path.join(GOLDENS, golden)
    os.makedirs(directory, exist_ok=True)
    for name in os.listdir(source):
        if name not in ("model.safetensors", "config.json"):
            shutil.copyfile(os.path.join(source, name), os.path.join(directory, name))
    with open(os.path.join(source, "config.json"), encoding="utf-8") as file:
        config = json.load(file)
    shape = (d_model, ffn, encoder_layers, decoder_layers, vocabulary)
    if size == "t5-base":
        config |= {"d_model": d_model, "d_ff": ffn, "d_kv": d_model // heads, "num_heads": heads,
                   "num_layers": encoder_layers, "num_decoder_layers": decoder_layers}
        all_tensors = list(t5_tensors(*shape, heads))
    else:
        config |= {"d_model": d_model, "encoder_ffn_dim": ffn, "decoder_ffn_dim": ffn,
                   "encoder_layers": encoder_layers, "decoder_layers": decoder_layers,
                   "encoder_attention_heads": heads, "decoder_attention_heads": heads}
        all_tensors = list(nllb_tensors(*shape))
    write_json(os.path.join(directory, "config.json"), config | {"vocab_size": vocabulary})
    write_safetensors(os.path.join(directory, "model.safetensors"), all_tensors)


def write_safetensors(path, all_tensors):
    header, end = {}, 0
    for name, shape, _ in all_tensors:
        begin, end = end, end + 4 * math.prod(shape)
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [begin, end]}
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    weights = Weights()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for _, shape, content in all_tensors:
            is_constant = isinstance(content, bytes)
            file.write(content if is_constant else weights.uniform(math.prod(shape), content))


def read_json(name):
    with open(os.path.join(TOKENIZER, name), encoding="utf-8") as file:
        return json.load(file)


def write_json(path, value):
    with open(path, "w", encoding="utf-8") as file:
        json.dump(value, file, ensure_ascii=False)


def write_model(directory, d_model, ffn, encoder_layers, decoder_layers, heads, vocabulary):
    os.makedirs(directory, exist_ok=True)
    for name in ("source.spm", "target.spm", "tokenizer_config.json"):
        shutil.copyfile(os.path.join(TOKENIZER, name), os.path.join(directory, name))
    pad = vocabulary - 1
    pieces = read_json("vocab.json")
    del pieces["<pad>"]  # the last id, here and there
    pieces |= {f"unused{i}": i for i in range(len(pieces), pad)} | {"<pad>": pad}
    write_json(os.path.join(directory, "vocab.json"), pieces)
    special = {"pad_token_id": pad, "decoder_start_token_id": pad, "bad_words_ids": [[pad]]}
    config = read_json("config.json") | special | {
        "d_model": d_model, "activation_function": "relu",
        "encoder_layers": encoder_layers, "decoder_layers": decoder_layers,
        "num_hidden_layers": encoder_layers, "encoder_ffn_dim": ffn, "decoder_ffn_dim": ffn,
        "encoder_attention_heads": heads, "decoder_attention_heads": heads,
        "vocab_size": vocabulary, "decoder_vocab_size": vocabulary}
    write_json(os.path.join(directory, "config.json"), config)
    write_json(os.path.join(directory, "generation_config.json"),
               read_json("generation_config.json") | special)
    write_safetensors(os.path.join(directory, "model.safetensors"),
                      list(tensors(d_model, ffn, encoder_layers, decoder_layers, vocabulary)))


def sentences(count, tokens):
    """`count` lines of exactly `tokens` source tokens, including eos."""
    source = random.Random(3)
    for _ in range(count):
        yield " ".join(source.choice(WORDS) for _ in range(tokens - 1))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--directory", help="write a model here")
    what.add_argument("--sentences", type=int, help="print so many sentences")
    parser.add_argument("--size", choices=[*SIZES, *FAMILIES], default="base", help="of the model")
    parser.add_argument("--tokens", type=int, default=28, help="of a sentence, with eos")
    flags = parser.parse_args()
    if flags.directory and flags.size in FAMILIES:
        write_family(flags.directory, flags.size)
    elif flags.directory:
        write_model(flags.directory, *SIZES[flags.size])
    else:
        for line in sentences(flags.sentences, flags.tokens):
            print(line)


if __name__ == "__main__":
    main()
