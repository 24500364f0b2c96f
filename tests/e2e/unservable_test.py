"""Models and settings that could not serve any request: the server says so at startup and exits."""

import array
import json
import math
import os
import shutil
import struct
import tempfile
import unittest

from harness import MODEL, SOURCE_DIR, run_server

SMALL = os.path.join(SOURCE_DIR, "tests/golden/models/marian-trained")


class Directory:
    """A copy of the small model, to be damaged."""

    def __init__(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.path = self.temporary.name
        for name in os.listdir(SMALL):
            shutil.copy(os.path.join(SMALL, name), self.path)

    def change_json(self, file, **fields):
        path = os.path.join(self.path, file)
        with open(path, encoding="utf-8") as old:
            content = json.load(old)
        content.update(fields)
        with open(path, "w", encoding="utf-8") as new:
            json.dump(content, new)

    def change_tensors(self, change):
        """Rewrites the checkpoint after change({name: (shape, float32 array)})."""
        path = os.path.join(self.path, "model.safetensors")
        with open(path, "rb") as old:
            size, = struct.unpack("<Q", old.read(8))
            header = json.loads(old.read(size))
            data = old.read()
        header.pop("__metadata__", None)
        assert all(entry["dtype"] == "F32" for entry in header.values())
        tensors = {name: (entry["shape"], array.array("f", data[slice(*entry["data_offsets"])]))
                   for name, entry in header.items()}
        change(tensors)
        header, data = {}, b""
        for name, (shape, values) in tensors.items():
            end = len(data) + 4 * len(values)
            header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [len(data), end]}
            data += values.tobytes()
        text = json.dumps(header).encode()
        with open(path, "wb") as new:
            new.write(struct.pack("<Q", len(text)) + text + data)


class UnservableTest(unittest.TestCase):

    def setUp(self):
        self.model = Directory()
        self.addCleanup(self.model.temporary.cleanup)

    def assert_refused(self, *wants, arguments=(), model=None):
        ended = run_server("--grpc-address", "127.0.0.1:0", "--http-address", "127.0.0.1:0",
                           "--model", f"en-de={model or self.model.path}", *arguments)
        self.assertEqual(ended.returncode, 1, ended)
        self.assertNotIn("listening", ended.stdout)
        for want in wants:
            self.assertIn(want, ended.stderr)

    def test_a_number_that_is_not_finite_in_any_kind_of_tensor(self):
        for tensor, value, word in (
                ("model.encoder.layers.0.fc1.bias", math.nan, "NaN"),
                ("model.decoder.layers.0.final_layer_norm.weight", math.inf, "infinite"),
                ("model.decoder.layers.0.self_attn.q_proj.weight", math.nan, "NaN"),
                ("model.shared.weight", -math.inf, "infinite"),
                ("final_logits_bias", math.nan, "NaN")):
            for precision in ("int8", "float32"):
                with self.subTest(tensor=tensor, precision=precision):
                    model = Directory()
                    self.addCleanup(model.temporary.cleanup)

                    def spoil(tensors):
                        tensors[tensor][1][3] = value

                    model.change_tensors(spoil)
                    self.assert_refused(f"{tensor}[", word, "model.safetensors",
                                        arguments=("--precision", precision), model=model.path)

    def test_defaults_that_no_request_could_set(self):
        for file, field, value in (("generation_config.json", "length_penalty", 50),
                                   ("generation_config.json", "min_length", 1_000_000),
                                   ("generation_config.json", "no_repeat_ngram_size", 100_000),
                                   ("generation_config.json", "repetition_penalty", 1000)):
            with self.subTest(field=field):
                model = Directory()
                self.addCleanup(model.temporary.cleanup)
                model.change_json(file, **{field: value})
                self.assert_refused(f"{file}: {field} is ", model=model.path)

    def test_fewer_layers_than_the_file_has(self):
        self.model.change_json("config.json", decoder_layers=1)
        self.assert_refused("model.decoder.layers.1.", "model.safetensors")

    def test_a_tensor_without_a_use(self):
        self.model.change_tensors(
            lambda tensors: tensors.update({"pooler.bias": ([2], array.array("f", [1, 2]))}))
        self.assert_refused("pooler.bias in model.safetensors has no place in the network")

    def test_memory_that_the_longest_sentence_does_not_fit(self):
        for size in ("1KiB", "1MiB"):
            self.assert_refused("kv-cache-bytes is ", "en-de", model=MODEL,
                                arguments=("--kv-cache-bytes", size))


if __name__ == "__main__":
    unittest.main()
