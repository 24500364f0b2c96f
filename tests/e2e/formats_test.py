"""One model in every weight format of Hugging Face: the translations are the same, to the bit."""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import numpy

from harness import CLIENT, SERVER, SOURCE_DIR, Server, pb
from suite import optional

sys.path.append(os.path.join(SOURCE_DIR, "tests/golden/formats"))

import torch_saved

MODEL = torch_saved.MODEL
SENTENCES = os.path.join(SOURCE_DIR, "tests/golden/expected/marian-trained/golden.json")


def write_safetensors(path, tensors):
    header, data = {}, b""
    for name, (shape, raw) in tensors.items():
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    header = json.dumps(header).encode()
    with open(path, "wb") as file:
        file.write(len(header).to_bytes(8, "little") + header + data)


def write_shards(directory, tensors, suffix, write):
    """Writes two shards and their index, with the names that transformers gives them.

    `write` writes the names of a shard, and is told which shard it is.
    """
    stem, end = ("model", "safetensors") if suffix == "safetensors" else ("pytorch_model", "bin")
    names = list(tensors)
    weight_map = {}
    for shard, part in enumerate((names[::2], names[1::2]), 1):
        file = f"{stem}-{shard:05}-of-00002.{end}"
        write(os.path.join(directory, file), {name: tensors[name] for name in part}, shard)
        weight_map.update({name: file for name in part})
    with open(os.path.join(directory, f"{stem}.{end}.index.json"), "w", encoding="utf-8") as file:
        json.dump({"metadata": {"total_size": 0}, "weight_map": weight_map}, file)


def write_bin(directory, tensors, name, saved):
    """Writes what torch.save makes of the tensors, in one file or in shards; `saved` is a function of torch_saved."""
    def write(path, name):
        with open(path, "wb") as file:
            file.write(saved(name, tensors))
    if name.endswith("-shards"):
        stem = name.removesuffix("-shards")
        write_shards(directory, tensors, "bin", lambda path, _, shard: write(path, f"{stem}-{shard}"))
    else:
        write(os.path.join(directory, "pytorch_model.bin"), name)


BINS = ("bin", "bin-old", "bin-shards", "bin-old-shards", "bin-columns")
FORMATS = {
    "safetensors": lambda to, t, _: write_safetensors(os.path.join(to, "model.safetensors"), t),
    "safetensors-shards": lambda to, t, _: write_shards(
        to, t, "safetensors", lambda path, part, _: write_safetensors(path, part)),
} | {name: lambda to, t, saved, name=name: write_bin(to, t, name, saved) for name in BINS}


class FormatsTest(unittest.TestCase):

    def setUp(self):
        self.directory = self.enterContext(tempfile.TemporaryDirectory())
        with open(SENTENCES, encoding="utf-8") as file:
            self.texts = [i["text"] for i in json.load(file)["inputs"] if i["text"].strip()]

    def model(self, name):
        """A directory with all files of the model except its weights."""
        path = os.path.join(self.directory, name)
        shutil.copytree(MODEL, path, ignore=shutil.ignore_patterns("*.safetensors"))
        return path

    def test_all_formats_answer_alike(self):
        self.check_formats(torch_saved.saved)

    @optional
    def test_all_formats_that_pytorch_writes_now_answer_alike(self):
        self.check_formats(torch_saved.save_now)

    def check_formats(self, saved):
        tensors = torch_saved.read_safetensors(os.path.join(MODEL, "model.safetensors"))
        arguments = []
        for name, write in FORMATS.items():
            path = self.model(name)
            write(path, tensors, saved)
            arguments += ["--model", f"{name}={path}"]
        for precision in ("float32", "int8"):
            server = Server(*arguments, "--precision", precision)
            try:
                answers = {name: self.translate(server, name) for name in FORMATS}
                self.assert_versions(server)
            finally:
                self.assertEqual(server.stop(), 0)
            for name, answer in answers.items():
                self.assertEqual(answer, answers["safetensors"], (name, precision))

    def assert_versions(self, server):
        """The version identifies the served tensors, not the file format; but a column-major tensor
        has other bytes."""
        models = server.models.ListModels(pb.ListModelsRequest()).models
        versions = {model.name: model.version for model in models}
        versions.pop("bin-columns")
        self.assertEqual(len(set(versions.values())), 1, versions)

    def translate(self, server, model):
        """The JSON that the client prints, without the name of the model."""
        ended = subprocess.run([CLIENT, "translate", "--server", server.grpc_address, "--model",
                                model, "--output", "json"], input="\n".join(self.texts) + "\n",
                               capture_output=True, text=True, timeout=300, check=True)
        lines = [json.loads(line) for line in ended.stdout.splitlines()]
        self.assertEqual(len(lines), len(self.texts))
        return [(line["source"], line["hypotheses"]) for line in lines]

    def write_opus(self, path):
        """The model as OPUS-MT's archives have it: Marian's own file, pieces by two models beside the vocabulary."""
        tensors = {name: numpy.frombuffer(raw, numpy.float32).reshape(shape) for name, (shape, raw) in
                   torch_saved.read_safetensors(os.path.join(MODEL, "model.safetensors")).items()}
        with open(os.path.join(MODEL, "vocab.json"), encoding="utf-8") as file:
            vocabulary = json.load(file)
        size = vocabulary.pop("<pad>")  # the last one, which transformers adds
        marian = {"Wemb": tensors["model.shared.weight"][:size],
                  "decoder_ff_logit_out_b": tensors["final_logits_bias"][:, :size]}
        for side in "encoder", "decoder":
            for layer in 0, 1:
                own, its = f"model.{side}.layers.{layer}", f"{side}_l{layer + 1}"

                def linear(name, to, letter, own=own, its=its):
                    marian[f"{its}_{to}_W{letter}"] = tensors[f"{own}.{name}.weight"].T
                    marian[f"{its}_{to}_b{letter}"] = tensors[f"{own}.{name}.bias"][None]

                def norm(name, to, own=own, its=its):
                    marian[f"{its}_{to}_ln_scale"] = tensors[f"{own}.{name}.weight"][None]
                    marian[f"{its}_{to}_ln_bias"] = tensors[f"{own}.{name}.bias"][None]
                for attention, to in (("self_attn", "self"), ("encoder_attn", "context"))[:1 + (side == "decoder")]:
                    for letter in "qkv":
                        linear(f"{attention}.{letter}_proj", to, letter)
                    linear(f"{attention}.out_proj", to, "o")
                    norm(f"{attention}_layer_norm", f"{to}_Wo")
                linear("fc1", "ffn", "1")
                linear("fc2", "ffn", "2")
                norm("final_layer_norm", "ffn_ffn")
        options = f"""type: transformer
version: v1.9.0
dim-emb: 64
dim-vocabs: [{size}, {size}]
enc-depth: 2
dec-depth: 2
transformer-heads: 4
transformer-dim-ffn: 128
transformer-ffn-depth: 2
transformer-ffn-activation: swish
transformer-preprocess: ""
transformer-postprocess: dan
transformer-postprocess-emb: d
tied-embeddings-all: true
"""
        marian["special:model.yml"] = numpy.frombuffer(options.encode() + b"\0", numpy.int8)
        os.mkdir(path)
        numpy.savez(os.path.join(path, "opus.model.npz"), **{
            name: numpy.ascontiguousarray(value) for name, value in marian.items()})
        with open(os.path.join(path, "opus.vocab.yml"), "w", encoding="utf-8") as file:
            file.writelines(f"{json.dumps(piece)}: {number}\n" for piece, number in vocabulary.items())
        with open(os.path.join(path, "decoder.yml"), "w", encoding="utf-8") as file:
            file.write("relative-paths: true\nmodels: [opus.model.npz]\nvocabs: [opus.vocab.yml, opus.vocab.yml]\n"
                       "beam-size: 6\nnormalize: 1\nmini-batch: 1\n")
        for name in "source.spm", "target.spm":
            shutil.copy(os.path.join(MODEL, name), path)

    def test_an_archive_of_opus_mt_answers_as_its_conversion(self):
        path = os.path.join(self.directory, "opus")
        self.write_opus(path)
        server = Server("--model", f"opus={path}", "--model", f"converted={MODEL}", "--precision", "float32")
        self.addCleanup(lambda: self.assertEqual(server.stop(), 0))
        options = pb.DecodingOptions(beam_size=1, max_length=60, repetition_guard=False, disable_unk=True)
        # transformers takes </s> and the like in a text for its special tokens.
        texts = [text for text in self.texts if not re.search("</?[a-z]+>|[0-9]", text)]
        ids, answers = {}, {}
        for model in "opus", "converted":
            tokenized = server.translation.Tokenize(pb.TokenizeRequest(contents=texts, model=model)).texts
            ids[model] = [list(text.token_ids) for text in tokenized]
            answers[model] = [server.translate(
                text, model=model, options=options, sentence_splitting=pb.SENTENCE_SPLITTING_NONE
            ).translations[0].hypotheses[0].text for text in texts]
        self.assertTrue(any(text.startswith(">>") for text in texts))
        self.assertEqual(ids["opus"], ids["converted"])
        # Marian's norms add another epsilon, which decides between tokens that are about as likely.
        alike = sum(a == b for a, b in zip(answers["opus"], answers["converted"]))
        self.assertGreater(alike, 0.8 * len(texts))

    def test_a_file_that_was_not_fetched_says_so(self):
        path = self.model("pointer")
        with open(os.path.join(path, "pytorch_model.bin"), "w", encoding="utf-8") as file:
            file.write("version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n")
        ended = subprocess.run([SERVER, "--model", f"m={path}"], capture_output=True, text=True,
                               timeout=120)
        self.assertNotEqual(ended.returncode, 0)
        self.assertIn("pytorch_model.bin is a Git LFS pointer", ended.stderr)


if __name__ == "__main__":
    unittest.main()
