"""One model in every weight format of Hugging Face: the translations are the same, to the bit."""

import json
import os
import shutil
import subprocess
import tempfile
import unittest

import torch

from harness import CLIENT, SERVER, SOURCE_DIR, Server, pb

MODEL = os.path.join(SOURCE_DIR, "tests/golden/models/marian-trained")
SENTENCES = os.path.join(SOURCE_DIR, "tests/golden/expected/marian-trained/golden.json")
DTYPES = {"F32": torch.float32}


def read_safetensors(path):
    """Reads a safetensors file as {name: tensor}, by the definition of the format."""
    with open(path, "rb") as file:
        header = json.loads(file.read(int.from_bytes(file.read(8), "little")))
        data = file.read()
    header.pop("__metadata__", None)
    return {
        name: torch.frombuffer(bytearray(data[slice(*entry["data_offsets"])]),
                               dtype=DTYPES[entry["dtype"]]).reshape(entry["shape"])
        for name, entry in header.items()
    }


def write_safetensors(path, tensors):
    header, data = {}, b""
    for name, tensor in tensors.items():
        raw = tensor.contiguous().numpy().tobytes()
        header[name] = {"dtype": "F32", "shape": list(tensor.shape),
                        "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    header = json.dumps(header).encode()
    with open(path, "wb") as file:
        file.write(len(header).to_bytes(8, "little") + header + data)


def write_shards(directory, tensors, suffix, write):
    """Writes two shards and their index, with the names that transformers gives them."""
    stem, end = ("model", "safetensors") if suffix == "safetensors" else ("pytorch_model", "bin")
    names = list(tensors)
    weight_map = {}
    for shard, part in enumerate((names[::2], names[1::2]), 1):
        file = f"{stem}-{shard:05}-of-00002.{end}"
        write(os.path.join(directory, file), {name: tensors[name] for name in part})
        weight_map.update({name: file for name in part})
    with open(os.path.join(directory, f"{stem}.{end}.index.json"), "w", encoding="utf-8") as file:
        json.dump({"metadata": {"total_size": 0}, "weight_map": weight_map}, file)


def save(path, tensors):
    torch.save(tensors, path)


def save_old(path, tensors):
    torch.save(tensors, path, _use_new_zipfile_serialization=False)


def with_aliases(tensors):
    """Adds the tied table under all of its names, as transformers does in a .bin."""
    table = tensors["model.shared.weight"]
    return tensors | {"lm_head.weight": table, "model.encoder.embed_tokens.weight": table,
                      "model.decoder.embed_tokens.weight": table}


FORMATS = {
    "safetensors": lambda to, t: write_safetensors(os.path.join(to, "model.safetensors"), t),
    "safetensors-shards": lambda to, t: write_shards(to, t, "safetensors", write_safetensors),
    "bin": lambda to, t: save(os.path.join(to, "pytorch_model.bin"), with_aliases(t)),
    "bin-old": lambda to, t: save_old(os.path.join(to, "pytorch_model.bin"), t),
    "bin-shards": lambda to, t: write_shards(to, t, "bin", save),
    "bin-old-shards": lambda to, t: write_shards(to, t, "bin", save_old),
    "bin-columns": lambda to, t: save(
        os.path.join(to, "pytorch_model.bin"),
        {n: v.t().contiguous().t() if v.dim() == 2 else v for n, v in t.items()}),
}


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
        tensors = read_safetensors(os.path.join(MODEL, "model.safetensors"))
        arguments = []
        for name, write in FORMATS.items():
            path = self.model(name)
            write(path, tensors)
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
