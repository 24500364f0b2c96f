"""The server with a model of tools/train, a toy for two directions: a stored one, and one that is trained now."""

import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

import grpc

import harness
from suite import optional

sys.path.append(os.path.join(harness.SOURCE_DIR, "tests/tools"))

import toy_language

TRAIN = os.path.join(harness.SOURCE_DIR, "tools/train")
GOLDEN = os.path.join(harness.SOURCE_DIR, "tests/golden")
FILES = {"README.md", "config.json", "generation_config.json", "model.safetensors", "source.spm", "target.spm",
         "tokenizer_config.json", "vocab.json"}


class ServesTheModel:
    """What is true of every model that tools/train makes of the toy language."""

    @classmethod
    def serve(cls, model):
        cls.model = model
        cls.server = harness.Server("--model", f"toy={model}", "--precision", "float32")
        cls.addClassCleanup(cls.server.stop)
        cls.addClassCleanup(cls.server.channel.close)

    def text_of(self, *texts, **fields):
        response = self.server.translate(*texts, **fields)
        return [translation.hypotheses[0].text for translation in response.translations]

    def test_the_directory_has_these_files(self):
        self.assertEqual(set(os.listdir(self.model)), FILES)

    def test_the_target_language_decides(self):
        for language, want in (("fra", "trois un quatre"), ("deu", "vier eins drei")):
            self.assertEqual(self.text_of("three one four", target_language=language), [want])
            self.assertEqual(self.text_of(f">>{language}<< three one four"), [want])

    def test_says_what_it_serves(self):
        pairs = self.server.models.ListModels(harness.pb.ListModelsRequest()).models[0]
        self.assertEqual([(pair.source, pair.target) for pair in pairs.language_pairs],
                         [("en", "fr"), ("en", "de")])

    def test_refuses_a_direction_that_was_not_trained(self):
        with self.assertRaises(grpc.RpcError) as raised:
            self.text_of("trois un", source_language="fra", target_language="deu")
        self.assertEqual(raised.exception.code(), grpc.StatusCode.INVALID_ARGUMENT)
        self.assertIn("not served", raised.exception.details())


class StoredModelTest(ServesTheModel, unittest.TestCase):
    """tests/golden/models/toy-trained; make_toy_trained.py made it, and what PyTorch says."""

    @classmethod
    def setUpClass(cls):
        cls.serve(os.path.join(GOLDEN, "models/toy-trained"))

    def hypotheses(self, lines, language, beam_size):
        """The server's hypotheses of each line."""
        response = self.server.translate(
            *[line["text"] for line in lines], target_language=language,
            options={"beam_size": beam_size, "num_hypotheses": beam_size}, output={"tokens": True})
        self.assertEqual([translation.source_tokens for translation in response.translations],
                         [len(line["source"]) for line in lines])
        return [translation.hypotheses for translation in response.translations]

    def test_the_server_says_what_pytorch_says(self):
        with open(os.path.join(GOLDEN, "expected/toy-trained/golden.json"), encoding="utf-8") as file:
            golden = json.load(file)
        for language in ("fra", "deu"):
            lines = golden[language]
            self.assertEqual(len(lines), 40)
            tokens = self.server.translation.Tokenize(harness.pb.TokenizeRequest(
                contents=[line["text"] for line in lines], target_language=language), timeout=60)
            self.assertEqual([list(text.token_ids) for text in tokens.texts], [line["source"] for line in lines])
            for line, (greedy,) in zip(lines, self.hypotheses(lines, language, 1), strict=True):
                self.assertEqual([*greedy.token_ids, 0], line["greedy"], line["text"])
            for line, found in zip(lines, self.hypotheses(lines, language, 4), strict=True):
                self.assertEqual([[*hypothesis.token_ids, 0] for hypothesis in found],
                                 [hypothesis["ids"] for hypothesis in line["hypotheses"]], line["text"])
                for ours, theirs in zip(found, line["hypotheses"], strict=True):
                    self.assertAlmostEqual(ours.score * len(theirs["ids"]), theirs["log_probability"], delta=1e-3)


@optional
class TrainedModelTest(ServesTheModel, unittest.TestCase):
    """From text to a served model; needs python3-torch and python3-sentencepiece."""

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = folder.name
        cls.out = cls.run_tool(
            "train.py", *toy_language.write(cls.folder, way="-to-"),
            "--profile", "toy", "--threads", "1", "--device", "cpu", "--out", cls.folder)
        cls.serve(f"{cls.folder}/model")

    @staticmethod
    def run_tool(name, *flags):
        done = subprocess.run([sys.executable, os.path.join(TRAIN, name), *flags],
                              capture_output=True, text=True, timeout=900)
        if done.returncode != 0:
            raise AssertionError(f"{name} ended with {done.returncode}:\n"
                                 f"{done.stdout}{done.stderr}")
        return done.stdout

    def test_trains_to_a_fixed_loss(self):
        last = re.findall(r"validation loss (\S+)  BLEU eng-fra (\S+)  eng-deu (\S+)", self.out)[-1]
        loss, french, german = map(float, last)
        self.assertLess(loss, 0.2)
        self.assertGreater(french, 95)
        self.assertGreater(german, 95)

    def test_the_server_says_what_pytorch_says(self):
        for language in ("fra", "deu"):
            report = json.loads(self.run_tool(
                "compare.py", "--directory", f"{self.folder}/model", "--pairs",
                f"{self.folder}/held-out/test.eng-{language}.tsv", "--target-language", language,
                "--server", self.server.grpc_address, "--client", harness.CLIENT))
            self.assertEqual(report["sentences"], 40)
            self.assertEqual(report["same_source_tokens"], 40)
            self.assertEqual(report["same_greedy_tokens"], 40)
            self.assertEqual(report["scored_hypotheses"], 160)
            self.assertLess(report["log_probability_difference_max"], 1e-3)


if __name__ == "__main__":
    unittest.main()
