"""One model in every weight format of Hugging Face: the translations are the same, to the bit."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

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
