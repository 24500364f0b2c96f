"""Writes ctranslate2/, a CTranslate2 directory with a Transformer of one layer and width 4, and
similar files for the corpus of tests/fuzz.

    python3 tests/golden/formats/make_ctranslate2.py
"""

import os
import shutil
import sys

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
sys.path.insert(0, os.path.join(ROOT, "tests", "e2e"))

import ctranslate2_models

TOKENS = ["<s>", "</s>", "<unk>", "The", "cat", "."]
WIDTH, INNER = 4, 6


def variables(random):
    out = {}

    def linear(name, outputs, inputs):
        out[f"{name}/weight"] = random.normal(size=(outputs, inputs)).astype(np.float32)
        out[f"{name}/bias"] = random.normal(size=outputs).astype(np.float32)

    def norm(name):
        out[f"{name}/gamma"] = np.ones(WIDTH, np.float32)
        out[f"{name}/beta"] = np.zeros(WIDTH, np.float32)

    for stack, embeddings in (("encoder", "embeddings_0"), ("decoder", "embeddings")):
        out[f"{stack}/{embeddings}/weight"] = (
            random.normal(size=(len(TOKENS), WIDTH)).astype(np.float32))
        out |= {f"{stack}/num_heads": np.int16(2), f"{stack}/pre_norm": np.int8(1),
                f"{stack}/activation": np.int8(0)}
        norm(f"{stack}/layer_norm")
        layer = f"{stack}/layer_0"
        linear(f"{layer}/self_attention/linear_0", 3 * WIDTH, WIDTH)
        linear(f"{layer}/self_attention/linear_1", WIDTH, WIDTH)
        norm(f"{layer}/self_attention/layer_norm")
        if stack == "decoder":
            for i, outputs in enumerate((WIDTH, 2 * WIDTH, WIDTH)):
                linear(f"{layer}/attention/linear_{i}", outputs, WIDTH)
            norm(f"{layer}/attention/layer_norm")
        linear(f"{layer}/ffn/linear_0", INNER, WIDTH)
        linear(f"{layer}/ffn/linear_1", WIDTH, INNER)
        norm(f"{layer}/ffn/layer_norm")
    out["decoder/projection/weight"] = out["decoder/embeddings/weight"]
    return out


def main():
    model = ctranslate2_models.Model(variables(np.random.default_rng(1)), TOKENS, TOKENS,
                                     {"decoder_start_token": "<s>"})
    directory = os.path.join(HERE, "ctranslate2")
    shutil.rmtree(directory, ignore_errors=True)
    ctranslate2_models.write(model, directory, "int8")
    corpus = os.path.join(ROOT, "tests", "fuzz", "corpus", "ctranslate2")
    os.makedirs(corpus, exist_ok=True)
    for version, kind in ((2, "float32"), (3, "int16"), (4, "float16"), (5, "bfloat16"),
                          (6, "int8")):
        extra = {} if version == 6 else ctranslate2_models.old_variables(model)
        ctranslate2_models.write_model(os.path.join(corpus, f"v{version}-{kind}"), version,
                                       model.variables | extra, kind)


if __name__ == "__main__":
    main()
