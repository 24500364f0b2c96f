"""Exports a trained model as a Hugging Face Marian directory for transformers and dragoman-server.

config.json, generation_config.json, tokenizer_config.json, vocab.json, source.spm, target.spm and
model.safetensors in float16.  model_card.py writes README.md, the card.
"""

import json
import os
import shutil
import struct

import numpy as np
import torch

from batches import Direction
from model import ModelSize, Transformer
from text import InputError
from vocabulary import EOS, Vocabulary

_MAX_POSITIONS = 512
_DTYPES = {"F16": np.float16, "F32": np.float32}


def write_safetensors(path: str, tensors: dict[str, np.ndarray]) -> None:
    """Writes the format of huggingface.co/docs/safetensors: header length, header, bytes."""
    names = {np.dtype(dtype): name for name, dtype in _DTYPES.items()}
    header, end = {"__metadata__": {"format": "pt"}}, 0
    for name, tensor in tensors.items():
        begin, end = end, end + tensor.nbytes
        header[name] = {"dtype": names[tensor.dtype], "shape": tensor.shape,
                        "data_offsets": [begin, end]}
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for tensor in tensors.values():
            file.write(np.ascontiguousarray(tensor).tobytes())


def read_safetensors(path: str) -> dict[str, np.ndarray]:
    with open(path, "rb") as file:
        header = json.loads(file.read(struct.unpack("<Q", file.read(8))[0]))
        data = file.read()
    tensors = {}
    for name, entry in header.items():
        if name != "__metadata__":
            begin, end = entry["data_offsets"]
            tensors[name] = np.frombuffer(
                data[begin:end], dtype=_DTYPES[entry["dtype"]]).reshape(entry["shape"])
    return tensors


def _config(size: ModelSize, dropout: float) -> dict:
    return {
        "architectures": ["MarianMTModel"],
        "model_type": "marian",
        "is_encoder_decoder": True,
        "torch_dtype": "float16",
        "vocab_size": size.vocabulary,
        "decoder_vocab_size": size.vocabulary,
        "d_model": size.width,
        "encoder_layers": size.encoder_layers,
        "decoder_layers": size.decoder_layers,
        "num_hidden_layers": size.encoder_layers,
        "encoder_attention_heads": size.heads,
        "decoder_attention_heads": size.heads,
        "encoder_ffn_dim": size.feed_forward,
        "decoder_ffn_dim": size.feed_forward,
        "activation_function": "relu",
        "max_position_embeddings": _MAX_POSITIONS,
        "scale_embedding": True,
        "static_position_embeddings": True,
        "share_encoder_decoder_embeddings": True,
        "tie_word_embeddings": True,
        "normalize_before": False,
        "normalize_embedding": False,
        "add_final_layer_norm": False,
        "dropout": dropout,
        "attention_dropout": 0.0,
        "activation_dropout": 0.0,
        "init_std": size.width ** -0.5,
        "use_cache": True,
        # For dragoman-server; transformers has only the halves, and would translate wrongly.
        **({"sinusoids": "interleaved"} if size.interleaved else {}),
    } | _generation(size)


def _generation(size: ModelSize) -> dict:
    """<pad> is never generated, and its probability, which is not trained, is left out of the sum."""
    return {
        "bad_words_ids": [[size.pad]],
        "bos_token_id": EOS,
        "decoder_start_token_id": size.pad,
        "eos_token_id": EOS,
        "forced_eos_token_id": EOS,
        "max_length": _MAX_POSITIONS,
        "num_beams": 4,
        "pad_token_id": size.pad,
        "renormalize_logits": True,
    }


def _tokenizer_config(directions: list[Direction]) -> dict:
    """language_pairs is for dragoman-server; transformers ignores it."""
    sources, targets = ("+".join(sorted({d[side] for d in directions})) for side in (0, 1))
    return {
        "tokenizer_class": "MarianTokenizer",
        "source_lang": sources,
        "target_lang": targets,
        **({"language_pairs": directions} if len(directions) > 1 else {}),
        "model_max_length": _MAX_POSITIONS,
        "separate_vocabs": False,
        "unk_token": "<unk>",
        "eos_token": "</s>",
        "pad_token": "<pad>",
        "clean_up_tokenization_spaces": False,
    }


def _write_json(path: str, value: dict) -> None:
    with open(path, "w", encoding="utf-8") as file:
        json.dump(value, file, ensure_ascii=False, indent=1)
        file.write("\n")


def export(directory: str, size: ModelSize, weights: dict[str, torch.Tensor], dropout: float,
           vocabulary: Vocabulary, directions: list[Direction]) -> None:
    """`weights` are a Transformer's, by name; `directions` are the ones it was trained on."""
    os.makedirs(directory, exist_ok=True)
    tensors = {}
    for name, weight in weights.items():
        tensor = weight.detach().float().cpu().numpy().astype(np.float16)
        if not np.isfinite(tensor).all():
            raise InputError(f"{name} has a value that float16 cannot hold")
        tensors["model." + name] = tensor
    tensors["final_logits_bias"] = np.zeros((1, size.vocabulary), dtype=np.float16)
    write_safetensors(os.path.join(directory, "model.safetensors"), tensors)
    _write_json(os.path.join(directory, "config.json"), _config(size, dropout))
    _write_json(os.path.join(directory, "generation_config.json"), _generation(size))
    _write_json(os.path.join(directory, "tokenizer_config.json"), _tokenizer_config(directions))
    _write_json(os.path.join(directory, "vocab.json"),
                {piece: i for i, piece in enumerate(vocabulary.pieces)})
    for name in ("source.spm", "target.spm"):
        shutil.copyfile(vocabulary.path, os.path.join(directory, name))


def load(directory: str) -> tuple[Transformer, Vocabulary]:
    """Loads what `export` wrote: the model, in float32 and eval mode, and its vocabulary."""
    try:
        with open(os.path.join(directory, "config.json"), encoding="utf-8") as file:
            config = json.load(file)
        with open(os.path.join(directory, "vocab.json"), encoding="utf-8") as file:
            ids = json.load(file)
        tensors = read_safetensors(os.path.join(directory, "model.safetensors"))
    except OSError as error:
        raise InputError(f"cannot read the model: {error}") from error
    size = ModelSize(vocabulary=config["vocab_size"], width=config["d_model"],
                     feed_forward=config["encoder_ffn_dim"],
                     heads=config["encoder_attention_heads"],
                     encoder_layers=config["encoder_layers"],
                     decoder_layers=config["decoder_layers"],
                     interleaved=config.get("sinusoids") == "interleaved")
    vocabulary = Vocabulary(os.path.join(directory, "source.spm"),
                            [piece[2:-2] for piece in ids if piece.startswith(">>")])
    if vocabulary.pieces != list(ids) or list(ids.values()) != list(range(len(ids))):
        raise InputError(f"{directory}/vocab.json is not in the order that export writes")
    model = Transformer(size)
    model.load_state_dict({name[len("model."):]: torch.from_numpy(tensor.astype(np.float32))
                           for name, tensor in tensors.items() if name.startswith("model.")})
    return model.eval(), vocabulary
