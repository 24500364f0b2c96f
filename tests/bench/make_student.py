#!/usr/bin/env python3
"""Writes a student of Firefox's size with random weights: 6 + 2 layers, width 256, feed-forward 1536, an SSRU
decoder, 32,000 words, intgemm8, a shortlist, and sentences for it.

    make_student.py DIR [--words 24]    model.intgemm8.bin, vocab.yml, lex.bin, decoder.yml and input.txt in DIR

Its translations are nonsense and never end by themselves: the maximum length ends them. With --words, all sentences have
that many words, and a translation has as many tokens as its source with eos. (Lengths must be equal because Marian ends
all sentences of a batch at the limit of the longest.)
"""

import argparse
import os
import random
import struct

VOCABULARY, WIDTH, INNER, HEADS, ENCODER, DECODER = 32000, 256, 1536, 8, 6, 2
NEVER = -1e4  # the logit of the end of a sentence
ALPHA = 30.0  # activations up to 127 / 30 are exact enough
FLOAT32, BYTES, INTGEMM8 = 0x404, 0x101, 0x4101
OPTIONS = f"""type: transformer
dim-emb: {WIDTH}
enc-depth: {ENCODER}
dec-depth: {DECODER}
transformer-heads: {HEADS}
transformer-dim-ffn: {INNER}
transformer-ffn-depth: 2
transformer-ffn-activation: relu
transformer-decoder-autoreg: rnn
dec-cell: ssru
transformer-preprocess: ""
transformer-postprocess: dan
transformer-postprocess-emb: d
transformer-postprocess-top: ""
tied-embeddings-all: true
dim-vocabs: [{VOCABULARY}, {VOCABULARY}]
version: v1.9.56
"""


def small(rows, cols):
    """Random weights of about 1 / sqrt(rows) in intgemm's format: bytes, then the factor by which they were scaled."""
    data = os.urandom(rows * cols).replace(b"\x80", b"\x81")
    return INTGEMM8, (rows, cols), data + struct.pack("<f", 73.0 * rows ** 0.5)


def constant(cols, value):
    return FLOAT32, (1, cols), struct.pack("<f", value) * cols


def tensors():
    yield "Wemb", small(VOCABULARY, WIDTH)
    yield "decoder_ff_logit_out_b", (FLOAT32, (1, VOCABULARY), struct.pack("<f", NEVER) + bytes(4 * (VOCABULARY - 1)))
    # The factors that scale activations with Marian's gemm-precision int8shiftAlphaAll.  That of
    # Wemb is a byte and its multiplier, because Marian's converter chooses the type by name.
    yield "Wemb_QuantMultA", (INTGEMM8, (1, 1), struct.pack("<bf", 127, 127.0 / ALPHA))
    yield "none_QuantMultA", constant(1, ALPHA)

    def linear(prefix, suffix, rows, cols):
        yield f"{prefix}_W{suffix}", small(rows, cols)
        yield f"{prefix}_W{suffix}_QuantMultA", constant(1, ALPHA)
        yield f"{prefix}_b{suffix}", constant(cols, 0.0)

    def norm(prefix):
        yield f"{prefix}_ln_scale", constant(WIDTH, 1.0)
        yield f"{prefix}_ln_bias", constant(WIDTH, 0.0)

    def attention(prefix):
        for part in "qkvo":
            yield from linear(prefix, part, WIDTH, WIDTH)
        yield from norm(f"{prefix}_Wo")

    def feed_forward(prefix):
        yield from linear(prefix, "1", WIDTH, INNER)
        yield from linear(prefix, "2", INNER, WIDTH)
        yield from norm(f"{prefix}_ffn")

    for layer in range(1, ENCODER + 1):
        yield from attention(f"encoder_l{layer}_self")
        yield from feed_forward(f"encoder_l{layer}_ffn")
    for layer in range(1, DECODER + 1):
        yield f"decoder_l{layer}_rnn_W", small(WIDTH, WIDTH)
        yield f"decoder_l{layer}_rnn_W_QuantMultA", constant(1, ALPHA)
        yield from linear(f"decoder_l{layer}_rnn", "f", WIDTH, WIDTH)
        yield from norm(f"decoder_l{layer}_rnn_ffn")
        yield from attention(f"decoder_l{layer}_context")
        yield from feed_forward(f"decoder_l{layer}_ffn")
    options = OPTIONS.encode() + b"\0"
    yield "special:model.yml", (BYTES, (len(options),), options)


def write_model(path):
    header, names, shapes, data = b"", b"", b"", []
    for name, (kind, shape, content) in tensors():
        content += bytes(-len(content) % 256)
        header += struct.pack("<4Q", len(name) + 1, kind, len(shape), len(content))
        names += name.encode() + b"\0"
        shapes += struct.pack(f"<{len(shape)}i", *shape)
        data.append(content)
    begin = struct.pack("<2Q", 1, len(data)) + header + names + shapes
    padding = -(len(begin) + 8) % 256
    with open(path, "wb") as file:
        file.write(begin + struct.pack("<Q", padding) + bytes(padding) + b"".join(data))


def name(word):
    """Of letters alone, because the engine copies what looks like a code."""
    return "w" + str(word).translate(str.maketrans("0123456789", "abcdefghij"))


def write_shortlist(path, randomly):
    """Writes a shortlist as Firefox has them: the first 50 words, and 50 more for each source word."""
    lists = [sorted(randomly.sample(range(VOCABULARY), 50)) for _ in range(VOCABULARY)]
    offsets = [50 * word for word in range(VOCABULARY + 1)]
    ids = [word for words in lists for word in words]
    body = struct.pack(f"<4Q{len(offsets)}Q{len(ids)}I", 50, 50, len(offsets), len(ids), *offsets, *ids)
    checksum, most = 0, (1 << 64) - 1
    for (word,) in struct.iter_unpack("<Q", body[: len(body) // 8 * 8]):
        checksum ^= (word + 0x9E3779B9 + (checksum << 6 & most) + (checksum >> 2)) & most
    with open(path, "wb") as file:
        file.write(struct.pack("<2Q", 0xF11A48D5013417F5, checksum) + body)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory")
    parser.add_argument("--words", type=int, help="of every sentence; without it 8 to 40")
    arguments = parser.parse_args()
    directory = arguments.directory
    os.makedirs(directory, exist_ok=True)
    randomly = random.Random(1)
    write_model(os.path.join(directory, "model.intgemm8.bin"))
    write_shortlist(os.path.join(directory, "lex.bin"), randomly)
    with open(os.path.join(directory, "vocab.yml"), "w", encoding="utf-8") as file:
        file.write("</s>: 0\n<unk>: 1\n" + "".join(f"{name(word)}: {word}\n" for word in range(2, VOCABULARY)))
    with open(os.path.join(directory, "decoder.yml"), "w", encoding="utf-8") as file:
        file.write("relative-paths: true\nmodels: [model.intgemm8.bin]\nvocabs: [vocab.yml, vocab.yml]\n"
                   "shortlist: [lex.bin, 0]\nbeam-size: 1\nnormalize: 1\nmax-length-factor: 2\n")
    with open(os.path.join(directory, "input.txt"), "w", encoding="utf-8") as file:
        for _ in range(512):
            words = randomly.choices(range(2, VOCABULARY), k=arguments.words or randomly.randint(8, 40))
            file.write(" ".join(map(name, words)) + "\n")


if __name__ == "__main__":
    main()
