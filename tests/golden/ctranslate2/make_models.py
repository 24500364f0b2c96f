"""Writes models/, tiny CTranslate2 directories with random weights in the layouts of the past, and
expected.json, how CTranslate2's own translator (4.8.1) translates with them.

    python3 tests/golden/ctranslate2/make_models.py --translator PATH-OF-ct2-translator
    python3 tests/golden/ctranslate2/make_models.py --translator ... --every --out DIR
"""

import argparse
import itertools
import json
import os
import shutil
import subprocess
import sys

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "e2e"))

import ctranslate2_models as ct2

TOKENS = ["<s>", "</s>", "<unk>", "<go>", "<end>", *"abcdefghijklm"]
WIDTH, INNER, LAYERS = 16, 12, 2
MAX_LENGTH = 12
LINES = 40


def variables(seed, heads=8, pre_norm=True, activation=0, embedding_norm=False):
    """A Transformer whose tokens depend on every weight and fact: no weight is small."""
    random = np.random.default_rng(seed)
    out = {}

    def linear(name, outputs, inputs):
        out[f"{name}/weight"] = random.normal(scale=1.3 / inputs ** 0.5, size=(outputs, inputs))
        out[f"{name}/bias"] = random.normal(scale=0.3, size=outputs)

    def norm(name):
        out[f"{name}/gamma"] = random.normal(1, 0.3, size=WIDTH)
        out[f"{name}/beta"] = random.normal(scale=0.3, size=WIDTH)

    for stack, embeddings in (("encoder", "embeddings_0"), ("decoder", "embeddings")):
        out[f"{stack}/{embeddings}/weight"] = random.normal(scale=0.4, size=(len(TOKENS), WIDTH))
        out |= {f"{stack}/num_heads": np.int8(heads), f"{stack}/pre_norm": np.int8(pre_norm),
                f"{stack}/activation": np.int8(activation)}
        if pre_norm:
            norm(f"{stack}/layer_norm")
        if embedding_norm:
            norm(f"{stack}/layernorm_embedding")
        for i in range(LAYERS):
            layer = f"{stack}/layer_{i}"
            linear(f"{layer}/self_attention/linear_0", 3 * WIDTH, WIDTH)
            linear(f"{layer}/self_attention/linear_1", WIDTH, WIDTH)
            norm(f"{layer}/self_attention/layer_norm")
            if stack == "decoder":
                for j, outputs in enumerate((WIDTH, 2 * WIDTH, WIDTH)):
                    linear(f"{layer}/attention/linear_{j}", outputs, WIDTH)
                norm(f"{layer}/attention/layer_norm")
            linear(f"{layer}/ffn/linear_0", INNER, WIDTH)
            linear(f"{layer}/ffn/linear_1", WIDTH, INNER)
            norm(f"{layer}/ffn/layer_norm")
    linear("decoder/projection", len(TOKENS), WIDTH)
    return {name: array if array.ndim == 0 else array.astype(np.float32)
            for name, array in out.items()}


class Written:
    """A model to write: the version of the format, the revision of the specification, the type of the
    weights; facts of the network, and its tokens."""

    def __init__(self, version, revision, kind="float32", facts=None, more=None, config=None):
        self.version, self.revision, self.kind = version, revision, kind
        self.facts, self.more, self.config = facts or {}, more or {}, config or {}

    def write(self, directory, seed):
        model = ct2.Model(variables(seed, **self.facts) | self.more, TOKENS, TOKENS,
                          {"decoder_start_token": "<s>"} | self.config)
        ct2.write(model, directory, self.kind, self.version, (), self.revision)


ALIGNMENT = {"decoder/alignment_layer": np.int16(1), "decoder/alignment_heads": np.int16(1)}
SMALL = {
    "v1": Written(1, 1, "int16"),
    "v2-r1": Written(2, 1, "float32", more={"encoder/scale_embeddings": np.float32(1),
                                            "decoder/scale_embeddings": np.float32(1)}),
    "v2-r2-big": Written(2, 2, "int16", {"heads": 16}),
    "v3-r3-four-heads": Written(3, 3, "int8", {"heads": 4}),
    "v4-r3-post-norm-gelu": Written(4, 3, "int8", {"heads": 2, "pre_norm": False, "activation": 1},
                                    ALIGNMENT),
    "v4-r4-post-norm-swish": Written(
        4, 4, "float16", {"heads": 4, "pre_norm": False, "activation": 2, "embedding_norm": True},
        ALIGNMENT | {"encoder/embeddings_merge": np.int8(1),
                     "encoder/scale_embeddings": np.int8(0),
                     "decoder/scale_embeddings": np.int8(0)}),
    "v5-r5-post-norm": Written(5, 5, "int16", {"heads": 4, "pre_norm": False}, ALIGNMENT),
    "v6-r6-gelu-sigmoid": Written(6, 6, "int8", {"heads": 4, "activation": 4}),
    # Tokens that the vocabulary lacks.
    "v6-r7-lost-tokens": Written(
        6, 7, "int8", {"heads": 4, "activation": 3},
        config={"bos_token": ">>deu<<", "decoder_start_token": ">>deu<<", "add_source_bos": True}),
    "v5-r4-own-tokens": Written(
        5, 4, "int8", {"heads": 4, "pre_norm": False},
        config={"bos_token": "<go>", "decoder_start_token": "<go>", "eos_token": "<end>",
                "add_source_bos": True, "add_source_eos": True}),
}


def every():
    """All versions with all revisions, norms and activations."""
    models = {}
    for version, revision, pre_norm, activation in itertools.product(
            range(1, 7), range(1, 8), (True, False), range(5)):
        if version == 1 and revision > 1:
            continue
        kinds = ("float32", "int8", "int16") + (("float16", "bfloat16") if version > 3 else ())
        kind = kinds[(version + revision + activation) % len(kinds)]
        heads = 4 if revision > 2 else 8
        name = f"v{version}-r{revision}-{'pre' if pre_norm else 'post'}-{activation}-{kind}"
        models[name] = Written(version, revision, kind,
                               {"heads": heads, "pre_norm": pre_norm, "activation": activation})
    return models


def lines(count):
    random = np.random.default_rng(5)
    words = TOKENS[5:] + ["?"]  # the last is unknown
    return [" ".join(random.choice(words, random.integers(1, 13))) for _ in range(count)]


def translate(translator, directory, inputs):
    ended = subprocess.run(
        [translator, "--model", directory, "--compute_type", "float32", "--beam_size", "1",
         "--max_decoding_length", str(MAX_LENGTH),
         "--min_decoding_length", "0", "--length_penalty", "0", "--with_score"], input="\n".join(inputs) + "\n",
        capture_output=True, text=True, check=True)
    answers = []
    for line in ended.stdout.split("\n")[:-1]:
        score, _, tokens = line.partition(" ||| ")
        answers.append({"score": float(score), "tokens": tokens.split()})
    return answers


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--translator", required=True)
    parser.add_argument("--every", action="store_true")
    parser.add_argument("--out", default=HERE)
    options = parser.parse_args()
    inputs = lines(100 if options.every else LINES)
    expected = {"max_length": MAX_LENGTH, "inputs": inputs, "outputs": {}}
    shutil.rmtree(os.path.join(options.out, "models"), ignore_errors=True)
    for seed, (name, model) in enumerate((every() if options.every else SMALL).items()):
        directory = os.path.join(options.out, "models", name)
        model.write(directory, seed)
        expected["outputs"][name] = translate(options.translator, directory, inputs)
    with open(os.path.join(options.out, "expected.json"), "w", encoding="utf-8") as file:
        json.dump(expected, file)


if __name__ == "__main__":
    main()
