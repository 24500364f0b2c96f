"""Converts Hugging Face models to CTranslate2 directories, in every version and type of numbers.

The names and rules are those of CTranslate2's converters, the code is not.  Supports only what the
models in tests/golden need.
"""

import json
import math
import os
import re
import shutil
import struct

import numpy as np

TYPES = {"float32": 0, "int8": 1, "int16": 2, "int32": 3, "float16": 4, "bfloat16": 5}
RELU, GELU_TANH, SWISH, GELU = range(4)
ACTIVATIONS = {"relu": RELU, "swish": SWISH, "silu": SWISH, "gelu": GELU, "gelu_new": GELU_TANH}


def read_safetensors(path):
    """Reads a safetensors file as {name: float32 array}, by the definition of the format."""
    with open(path, "rb") as file:
        header = json.loads(file.read(int.from_bytes(file.read(8), "little")))
        data = file.read()
    header.pop("__metadata__", None)
    dtypes = {"F32": np.float32, "F16": np.float16}
    return {name: np.frombuffer(data[slice(*entry["data_offsets"])], dtypes[entry["dtype"]])
            .reshape(entry["shape"]).astype(np.float32) for name, entry in header.items()}


def read_json(*path):
    with open(os.path.join(*path), encoding="utf-8") as file:
        return json.load(file)


class Model:
    """Variables by CTranslate2's names, vocabularies as lists, and the fields of config.json."""

    def __init__(self, variables, source, target, config):
        self.variables = variables
        self.source = source
        self.target = target
        self.config = {"bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>",
                       "decoder_start_token": "</s>", "add_source_bos": False,
                       "add_source_eos": False, "layer_norm_epsilon": None} | config


class Bart:
    """Models with Marian's, M2M100's or mBART's names of tensors."""

    def __init__(self, directory):
        self.config = read_json(directory, "config.json")
        self.tensors = read_safetensors(os.path.join(directory, "model.safetensors"))
        self.out = {}

    def linear(self, to, *names):
        for kind in ("weight", "bias"):
            self.out[f"{to}/{kind}"] = np.concatenate(
                [self.tensors[f"{name}.{kind}"] for name in names])

    def norm(self, to, name):
        self.out[f"{to}/gamma"] = self.tensors[f"{name}.weight"]
        self.out[f"{to}/beta"] = self.tensors[f"{name}.bias"]

    def attention(self, to, name, of_self):
        q, k, v, out = (f"{name}.{part}_proj" for part in ("q", "k", "v", "out"))
        groups = ((q, k, v), (out,)) if of_self else ((q,), (k, v), (out,))
        for i, group in enumerate(groups):
            self.linear(f"{to}/linear_{i}", *group)
        self.norm(f"{to}/layer_norm", f"{name}_layer_norm")

    def stack(self, stack, pre_norm, embedding_norm):
        config = self.config
        table = self.tensors.get(f"model.{stack}.embed_tokens.weight")
        if table is None:
            table = self.tensors["model.shared.weight"]
        embeddings = "embeddings_0" if stack == "encoder" else "embeddings"
        self.out[f"{stack}/{embeddings}/weight"] = table
        scale = math.sqrt(config["d_model"]) if config["scale_embedding"] else 1.0
        self.out |= {f"{stack}/scale_embeddings": np.float32(scale),
                     f"{stack}/num_heads": np.int16(config[f"{stack}_attention_heads"]),
                     f"{stack}/pre_norm": np.int8(pre_norm),
                     f"{stack}/activation": np.int8(ACTIVATIONS[config["activation_function"]])}
        if embedding_norm:
            self.norm(f"{stack}/layernorm_embedding", f"model.{stack}.layernorm_embedding")
        if pre_norm:
            self.norm(f"{stack}/layer_norm", f"model.{stack}.layer_norm")
        for i in range(config[f"{stack}_layers"]):
            to, name = f"{stack}/layer_{i}", f"model.{stack}.layers.{i}"
            self.attention(f"{to}/self_attention", f"{name}.self_attn", True)
            if stack == "decoder":
                self.attention(f"{to}/attention", f"{name}.encoder_attn", False)
            self.linear(f"{to}/ffn/linear_0", f"{name}.fc1")
            self.linear(f"{to}/ffn/linear_1", f"{name}.fc2")
            self.norm(f"{to}/ffn/layer_norm", f"{name}.final_layer_norm")
        return table

    def build(self, pre_norm, embedding_norm=False):
        self.stack("encoder", pre_norm, embedding_norm)
        table = self.stack("decoder", pre_norm, embedding_norm)
        self.out["decoder/projection/weight"] = table
        bias = self.tensors.get("final_logits_bias")
        if bias is not None and bias.any():
            self.out["decoder/projection/bias"] = bias.reshape(-1)
        return self.out


def sinusoids(first, last, width, to_the_end):
    """[sin | cos] of positions first to last - 1."""
    half = width // 2
    steps = half - 1 if to_the_end else half
    angles = np.outer(np.arange(first, last), 10000.0 ** (-np.arange(half) / steps))
    return np.concatenate([np.sin(angles), np.cos(angles)], axis=1).astype(np.float32)


def set_positions(variables, table):
    for stack in ("encoder", "decoder"):
        variables[f"{stack}/position_encodings/encodings"] = table


def marian(directory, loader_style=True):
    """A Marian model as one of CTranslate2's two converters writes it.

    The one for Hugging Face's files drops <pad> and starts the decoder with a zero embedding; the one for
    Marian's own files keeps all tokens and lets CTranslate2 add </s>."""
    bart = Bart(directory)
    variables = bart.build(pre_norm=False)
    config = bart.config
    set_positions(variables, sinusoids(0, config["max_position_embeddings"], config["d_model"],
                                       to_the_end=False))
    variables["decoder/start_from_zero_embedding"] = np.int8(1)
    tokens = sorted(read_json(directory, "vocab.json").items(), key=lambda item: item[1])
    tokens = [token for token, _ in tokens]
    if not loader_style:
        return Model(variables, tokens, tokens, {"add_source_eos": True})
    assert tokens[-1] == "<pad>"
    for name in ("encoder/embeddings_0/weight", "decoder/embeddings/weight",
                 "decoder/projection/weight", "decoder/projection/bias"):
        if name in variables:
            variables[name] = variables[name][:-1]
    return Model(variables, tokens[:-1], tokens[:-1], {})


def fairseq_tokens(directory, size):
    """The tokens of a SentencePiece model as fairseq numbers them, then the languages."""
    import sentencepiece
    pieces = sentencepiece.SentencePieceProcessor()
    pieces.Load(os.path.join(directory, "sentencepiece.bpe.model"))
    tokens = ["<s>", "<pad>", "</s>", "<unk>"]
    tokens += [pieces.IdToPiece(i) for i in range(3, pieces.GetPieceSize())]
    added = read_json(directory, "tokenizer_config.json")["added_tokens_decoder"]
    for token, entry in sorted(added.items(), key=lambda item: int(item[0])):
        if int(token) >= len(tokens):
            tokens.append(entry["content"])
    return tokens + [f"madeupword{i}" for i in range(size - len(tokens))]


# M2M100's languages, whose tokens follow the pieces in this order.
M2M100_LANGUAGES = (
    "af am ar ast az ba be bg bn br bs ca ceb cs cy da de el en es et fa ff fi fr fy ga gd gl gu ha "
    "he hi hr ht hu hy id ig ilo is it ja jv ka kk km kn ko lb lg ln lo lt lv mg mk ml mn mr ms my "
    "ne nl no ns oc or pa pl ps pt ro ru sd si sk sl so sq sr ss su sv sw ta th tl tn tr uk ur uz vi "
    "wo xh yi yo zh zu").split()


def m2m100(directory):
    """M2M100 and NLLB."""
    bart = Bart(directory)
    variables = bart.build(pre_norm=True)
    config = bart.config
    set_positions(variables, sinusoids(2, 2 + config["max_position_embeddings"],
                                       config["d_model"], to_the_end=True))
    if os.path.exists(os.path.join(directory, "vocab.json")):
        vocabulary = read_json(directory, "vocab.json")
        tokens = [token for token, _ in sorted(vocabulary.items(), key=lambda item: item[1])]
        tokens += [f"__{code}__" for code in M2M100_LANGUAGES]
        tokens += [f"madeupword{i}" for i in range(config["vocab_size"] - len(tokens))]
    else:
        tokens = fairseq_tokens(directory, config["vocab_size"])
    return Model(variables, tokens, tokens, {})


def mbart50(directory):
    bart = Bart(directory)
    variables = bart.build(pre_norm=True, embedding_norm=True)
    for stack in ("encoder", "decoder"):
        variables[f"{stack}/position_encodings/encodings"] = (
            bart.tensors[f"model.{stack}.embed_positions.weight"][2:])
    tokens = fairseq_tokens(directory, bart.config["vocab_size"])
    return Model(variables, tokens, tokens, {})


def t5(directory):
    """T5 v1.1: gated, with an output table of its own."""
    config = read_json(directory, "config.json")
    tensors = read_safetensors(os.path.join(directory, "model.safetensors"))
    out = {}

    def attention(to, name, norm, of_self):
        parts = ("q", "k", "v"), ("o",)
        for i, group in enumerate(parts if of_self else (("q",), ("k", "v"), ("o",))):
            out[f"{to}/linear_{i}/weight"] = np.concatenate(
                [tensors[f"{name}.{part}.weight"] for part in group])
        out[f"{to}/queries_scale"] = np.float32(1)
        out[f"{to}/layer_norm/gamma"] = tensors[f"{norm}.weight"]

    for stack, layers in (("encoder", config["num_layers"]),
                          ("decoder", config["num_decoder_layers"])):
        embeddings = "embeddings_0" if stack == "encoder" else "embeddings"
        out[f"{stack}/{embeddings}/weight"] = tensors["shared.weight"]
        out |= {f"{stack}/scale_embeddings": np.int8(0), f"{stack}/pre_norm": np.int8(1),
                f"{stack}/num_heads": np.int16(config["num_heads"]),
                f"{stack}/activation": np.int8(ACTIVATIONS[config["dense_act_fn"]]),
                f"{stack}/layer_norm/gamma": tensors[f"{stack}.final_layer_norm.weight"]}
        bias = tensors[f"{stack}.block.0.layer.0.SelfAttention.relative_attention_bias.weight"]
        for i in range(layers):
            to, name = f"{stack}/layer_{i}", f"{stack}.block.{i}.layer"
            attention(f"{to}/self_attention", f"{name}.0.SelfAttention", f"{name}.0.layer_norm",
                      True)
            out[f"{to}/self_attention/relative_attention_bias"] = bias
            out[f"{to}/self_attention/relative_attention_max_distance"] = np.int32(
                config["relative_attention_max_distance"])
            if stack == "decoder":
                attention(f"{to}/attention", f"{name}.1.EncDecAttention", f"{name}.1.layer_norm",
                          False)
            last = f"{name}.{1 if stack == 'encoder' else 2}"
            for ours, theirs in (("0", "wi_0"), ("0_noact", "wi_1"), ("1", "wo")):
                out[f"{to}/ffn/linear_{ours}/weight"] = (
                    tensors[f"{last}.DenseReluDense.{theirs}.weight"])
            out[f"{to}/ffn/layer_norm/gamma"] = tensors[f"{last}.layer_norm.weight"]
    out["decoder/projection/weight"] = tensors["lm_head.weight"]
    import sentencepiece
    pieces = sentencepiece.SentencePieceProcessor()
    pieces.Load(os.path.join(directory, "spiece.model"))
    tokens = [pieces.IdToPiece(i) for i in range(pieces.GetPieceSize())]
    tokens += [f"<extra_id_{i}>" for i in range(config["vocab_size"] - len(tokens))]
    return Model(out, tokens, tokens, {"bos_token": "<pad>", "decoder_start_token": "<pad>"})


def is_quantizable(name, array):
    return re.search("/(weight|kernel:0|w_embs:0)$", name) and array.ndim == 2


def quantize(name, array, kind):
    """Quantizes as CTranslate2 does; returns {name: array} with the scale."""
    if kind == "int8":
        most = np.abs(array).max(axis=1)
        scale = (127.0 / np.where(most == 0, 127.0, most)).astype(np.float32)
        return {name: np.rint(array * scale[:, None]).astype(np.int8), f"{name}_scale": scale}
    scale = np.float32(2 ** 10 / max(np.abs(array).max() / 31, 1e-9)).round()
    scale = np.float32(min(scale, 32767 / np.abs(array).max()))
    return {name: np.rint(array * scale).astype(np.int16), f"{name}_scale": scale}


def convert(name, array, kind):
    """Serializes a variable to {name: (type, bytes, shape)}."""
    arrays = {name: array}
    if kind.startswith("int8") or kind.startswith("int16"):
        if is_quantizable(name, array):
            arrays = quantize(name, array, kind)
        kind = "float32"
    out = {}
    for part, value in arrays.items():
        if value.dtype == np.float32 and value.ndim > 0 and not part.endswith("_scale"):
            if kind == "float16":
                value = value.astype(np.float16)
            elif kind == "bfloat16":
                bits = value.view(np.uint32)
                upper = ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype(np.uint16)
                out[part] = (TYPES["bfloat16"], upper.tobytes(), value.shape, 2)
                continue
        out[part] = (TYPES[str(value.dtype)], value.tobytes(), value.shape, value.dtype.itemsize)
    return out


def old_variables(model):
    """The variables that had the settings before there was a config.json."""
    config, out = model.config, {}
    for name in ("unk", "bos", "eos"):
        token = config[f"{name}_token"].encode()
        out[f"{name}_token"] = np.frombuffer(token, np.int8)
    start = config["decoder_start_token"]
    return out | {"with_source_bos": np.int8(config["add_source_bos"]),
                  "with_source_eos": np.int8(config["add_source_eos"]),
                  "with_target_bos": np.int8(start == config["bos_token"])}


def string(text):
    raw = text.encode() + b"\0"
    return struct.pack("<H", len(raw)) + raw


# Facts that stood at the root, for both stacks, before revision 5.
ROOT_FACTS = ("num_heads", "pre_norm", "activation", "embeddings_merge", "alignment_layer",
              "alignment_heads")

# How OpenNMT-tf, whose names revision 1 has, calls the parts of a name.
FIRST_WORDS = (("decoder/(.*)/self_attention/", r"decoder/\1/masked_multi_head/"),
               ("/self_attention/|/attention/", "/multi_head/"),
               ("/linear_0/", "/conv1d/"), ("/linear_", "/conv1d_"),
               ("embeddings/weight", "w_embs"), ("/projection/", "/dense/"),
               ("/layer_norm/", "/LayerNorm/"), ("/weight", "/kernel"))


def layout(variables, revision):
    """The variables as converters of a revision laid them out."""
    out = {}
    for name, array in variables.items():
        stack, _, rest = name.partition("/")
        if revision < 5 and rest in ROOT_FACTS:
            name = rest
        if revision < 4:
            name = name.replace("embeddings_0", "embeddings")
            if rest == "scale_embeddings":
                name, array = f"{stack}/embeddings/multiply_by_sqrt_depth", np.int8(array != 1)
        if revision < 3 and name == "num_heads":
            continue
        if revision == 1 and "/" in name:
            for new, old in FIRST_WORDS:
                name = re.sub(new, old, name)
            name = f"transformer/{name}:0"
        out[name] = array
    return out


def specification(variables, revision):
    """What the specification of a model is called."""
    big = variables.get("encoder/num_heads") == 16
    return "TransformerSpec" if revision > 2 else "TransformerBig" if big else "TransformerBase"


def write_model(path, version, variables, kind, revision=7):
    out, aliases, seen = [], [], {}
    name_of_spec = specification(variables, revision)
    for name, array in sorted(layout(variables, revision).items()):
        array = np.ascontiguousarray(array) if array.ndim else array
        key = (array.shape, str(array.dtype), array.tobytes())
        if version >= 3 and array.ndim == 2 and key in seen:
            aliases.append((name, seen[key]))
            continue
        seen[key] = name
        out += convert(name, array, kind).items()
    with open(path, "wb") as file:
        file.write(struct.pack("<I", version))
        if version > 1:
            file.write(string(name_of_spec) + struct.pack("<I", revision))
        file.write(struct.pack("<I", len(out)))
        for name, (number, raw, shape, size) in out:
            file.write(string(name) + struct.pack(f"<B{len(shape)}I", len(shape), *shape))
            if version >= 4:
                file.write(struct.pack("<BI", number, len(raw)))
            else:
                file.write(struct.pack("<BI", size, len(raw) // size))
            file.write(raw)
        if version >= 3:
            file.write(struct.pack("<I", len(aliases)))
            for alias, name in aliases:
                file.write(string(alias) + string(name))


def write_vocabulary(stem, tokens, version):
    if version >= 6:
        with open(stem + ".json", "w", encoding="utf-8") as file:
            json.dump(tokens, file)
    else:
        with open(stem + ".txt", "w", encoding="utf-8", newline="\n") as file:
            file.writelines(token + "\n" for token in tokens)


def write(model, directory, kind="float32", version=6, beside=(), revision=7):
    """Writes the directory and copies the files `beside` into it, such as source.spm."""
    os.makedirs(directory)
    variables = dict(model.variables)
    if version < 6:
        variables |= old_variables(model)
    else:
        with open(os.path.join(directory, "config.json"), "w", encoding="utf-8") as file:
            json.dump(model.config, file)
    write_model(os.path.join(directory, "model.bin"), version, variables, kind, revision)
    if model.source == model.target:
        write_vocabulary(os.path.join(directory, "shared_vocabulary"), model.source, version)
    else:
        write_vocabulary(os.path.join(directory, "source_vocabulary"), model.source, version)
        write_vocabulary(os.path.join(directory, "target_vocabulary"), model.target, version)
    for path in beside:
        shutil.copy(path, directory)
