#!/usr/bin/env python3
"""Writes two small tokenizer.json files, and what the tokenizers library makes of 2,000 changed ones.

    pip install tokenizers==0.23.1 sentencepiece protobuf
    ./make_cases.py

cases.json: `texts`; for each file its `ids` of the texts; and `cases`, each with the `file`, a
`patch` (RFC 6902) and what the library does with the patched file: "refused", "same" ids, or other
`ids`.  A text that the library cannot encode has null.
"""

import base64
import copy
import json
import os
import random
import tempfile

import sentencepiece
import tokenizers
from sentencepiece import sentencepiece_model_pb2

HERE = os.path.dirname(os.path.abspath(__file__))
TEXTS = [
    "The cat sleeps.",
    "  two  spaces and a tab\tat the end ",
    "ﬁve ① cafe\u0301 a\u0302\u0301 \u1112\u1161\u11ab\r\nx",
    "unknown: Ω漢字Ω <unk> and <mask> </s>",
    "deu_Latn  <extra_id_0>  cats▁sleep▁",
    "cats\u2028the\u0085cat\u00a0\u3000s \u200b",
    " ",
    "\u200b",
]
# Written for this purpose.
LINES = [
    "The cat sleeps on the mat.", "Two cats sleep.", "The dog sees the cat and the cats.",
    "At five the cafe closes.", "A tab at the end.", "Spaces and tabs.", "She sees five dogs.",
]
RULES = ["FB01\t66 69", "2460\t31", "65 301\tE9", "61 302\tE2", "9\t20", "A\t20",
         "D\t20", "A0\t20", "3000\t20", "200B\t"]


def train(kind, folder):
    rules, lines = os.path.join(folder, "rules.tsv"), os.path.join(folder, "lines.txt")
    with open(rules, "w", encoding="utf-8") as file:
        file.write("\n".join(RULES) + "\n")
    with open(lines, "w", encoding="utf-8") as file:
        file.write("\n".join(LINES * 4) + "\n")
    prefix = os.path.join(folder, kind)
    sentencepiece.SentencePieceTrainer.train(
        input=lines, model_prefix=prefix, model_type=kind, vocab_size=60, pad_id=0, eos_id=1,
        unk_id=2, bos_id=-1, normalization_rule_tsv=rules, hard_vocab_limit=False,
        minloglevel=2)
    model = sentencepiece_model_pb2.ModelProto()
    with open(prefix + ".model", "rb") as file:
        model.ParseFromString(file.read())
    return model


def added(content, id, **flags):
    token = dict(id=id, content=content, single_word=False, lstrip=False, rstrip=False,
                 normalized=False, special=True)
    return {**token, **flags}


def template(before, after, ids):
    def token(name):
        return {"SpecialToken": {"id": name, "type_id": 0}}
    return {
        "type": "TemplateProcessing",
        "single": [*map(token, before), {"Sequence": {"id": "A", "type_id": 0}}, *map(token, after)],
        "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 0}}],
        "special_tokens": {name: {"id": name, "ids": [ids[name]], "tokens": [name]}
                           for name in before + after},
    }


def metaspace():
    return {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": True}


def unigram(folder):
    model = train("unigram", folder)
    pieces = [[piece.piece, piece.score] for piece in model.pieces]
    charsmap = base64.b64encode(model.normalizer_spec.precompiled_charsmap).decode()
    size = len(pieces)
    return {
        "version": "1.0", "truncation": None, "padding": None,
        "added_tokens": [added("<pad>", 0), added("</s>", 1), added("<unk>", 2),
                         added("<extra_id_0>", size, lstrip=True, rstrip=True)],
        "normalizer": {"type": "Precompiled", "precompiled_charsmap": charsmap},
        "pre_tokenizer": {"type": "Sequence",
                          "pretokenizers": [{"type": "WhitespaceSplit"}, metaspace()]},
        "post_processor": template([], ["</s>"], {"</s>": 1}),
        "decoder": metaspace(),
        "model": {"type": "Unigram", "unk_id": 2, "vocab": pieces, "byte_fallback": False},
    }


def bpe(folder):
    model = train("bpe", folder)
    vocab = {piece.piece: id for id, piece in enumerate(model.pieces)}
    merges = []
    for piece in model.pieces:
        splits = [(piece.piece[:i], piece.piece[i:]) for i in range(1, len(piece.piece))]
        splits = [pair for pair in splits if pair[0] in vocab and pair[1] in vocab]
        merges += sorted(splits, key=lambda pair: (vocab[pair[0]], vocab[pair[1]]))
    charsmap = base64.b64encode(model.normalizer_spec.precompiled_charsmap).decode()
    size = len(vocab)
    return {
        "version": "1.0", "truncation": None, "padding": None,
        "added_tokens": [added("<pad>", 0), added("</s>", 1), added("<unk>", 2),
                         added("deu_Latn", size), added("<mask>", size + 1, lstrip=True)],
        "normalizer": {"type": "Sequence", "normalizers": [
            {"type": "Precompiled", "precompiled_charsmap": charsmap},
            {"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": " "},
            {"type": "Strip", "strip_left": False, "strip_right": False}]},
        "pre_tokenizer": metaspace(),
        "post_processor": template(["deu_Latn"], ["</s>"], {"deu_Latn": size, "</s>": 1}),
        "decoder": metaspace(),
        "model": {"type": "BPE", "dropout": None, "unk_token": "<unk>",
                  "continuing_subword_prefix": None, "end_of_word_suffix": None, "fuse_unk": True,
                  "byte_fallback": False, "ignore_merges": False, "vocab": vocab,
                  "merges": [list(pair) for pair in merges]},
    }


def encode(file):
    """The ids of the texts, or "refused"."""
    try:
        tokenizer = tokenizers.Tokenizer.from_str(json.dumps(file))
    except BaseException:  # pyo3's PanicException is none of Exception
        return "refused"
    ids = []
    for text in TEXTS:
        try:
            ids.append(tokenizer.encode(text).ids)
        except BaseException:
            ids.append(None)
    return ids


VALUES = [None, True, False, 0, 1, 2, 7, -1, 0.5, -3.25, 10**12, "", " ", "▁", "x", "the", "<unk>",
          "always", "first", "never", {}, [], ["a"], {"type": "Lowercase"}, {"type": "NFKC"},
          {"type": "Strip", "strip_left": True, "strip_right": True}, {"type": "ByteLevel"},
          {"type": "WhitespaceSplit"}, {"type": "Replace", "pattern": {"String": "s"}, "content": "z"},
          "BPE", "Unigram", "WordPiece", "Metaspace", "Fuse", "ByteFallback", "TemplateProcessing"]


def places(json_value, path=()):
    """All paths; the long lists count as three entries."""
    yield path
    items = (list(json_value.items()) if isinstance(json_value, dict) else
             list(enumerate(json_value)) if isinstance(json_value, list) else [])
    if len(items) > 30:
        items = random.sample(items, 3)
    for key, value in items:
        yield from places(value, path + (key,))


def pointer(path):
    return "".join("/" + str(key).replace("~", "~0").replace("/", "~1") for key in path)


def at(json_value, path):
    for key in path:
        json_value = json_value[key]
    return json_value


def change(file):
    """A changed copy and its patch."""
    path = random.choice([path for path in places(file) if path])
    changed = copy.deepcopy(file)
    parent, key = at(changed, path[:-1]), path[-1]
    kind = random.choice(["remove", "replace", "replace", "replace", "add"])
    if kind == "remove":
        del parent[key]
        return changed, [{"op": "remove", "path": pointer(path)}]
    if kind == "add" and isinstance(parent, list):
        value = copy.deepcopy(random.choice(parent))
        parent.insert(key, value)
        return changed, [{"op": "add", "path": pointer(path), "value": value}]
    value = random.choice(VALUES)
    old = parent[key]
    if isinstance(old, bool):
        value = not old
    elif isinstance(old, (int, float)) and random.random() < 0.5:
        value = random.choice([old + 1, old - 1, -old, 2 * old])
    elif isinstance(old, str) and random.random() < 0.3:
        value = old[:-1] + random.choice(["", "x", "s"])
    parent[key] = value
    return changed, [{"op": "replace", "path": pointer(path), "value": value}]


def main():
    random.seed(2026)
    with tempfile.TemporaryDirectory() as folder:
        files = {"unigram": unigram(folder), "bpe": bpe(folder)}
    for name, file in files.items():
        with open(os.path.join(HERE, name + ".json"), "w", encoding="utf-8") as out:
            json.dump(file, out, ensure_ascii=False)
    ids = {name: encode(file) for name, file in files.items()}
    cases = []
    while len(cases) < 2000:
        name = random.choice(list(files))
        changed, patch = change(files[name])
        if random.random() < 0.3:  # two changes
            changed, second = change(changed)
            patch += second
        found = encode(changed)
        cases.append({"file": name, "patch": patch,
                      "ids": "same" if found == ids[name] else found})
    with open(os.path.join(HERE, "cases.json"), "w", encoding="utf-8") as out:
        out.write('{"texts": %s,\n "ids": %s,\n "cases": [\n' %
                  (json.dumps(TEXTS), json.dumps(ids)))
        out.write(",\n".join(json.dumps(case, separators=(",", ":")) for case in cases))
        out.write("\n]}\n")


main()
