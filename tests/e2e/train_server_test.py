"""tools/train from text to a served model: a toy model for two directions."""

import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

import grpc

import harness

sys.path.append(os.path.join(harness.SOURCE_DIR, "tests/tools"))

import toy_language

TRAIN = os.path.join(harness.SOURCE_DIR, "tools/train")
_HAS_TORCH = subprocess.run([sys.executable, "-c", "import torch, sentencepiece"],
                            capture_output=True).returncode == 0


@unittest.skipUnless(_HAS_TORCH, "tools/train needs python3-torch and python3-sentencepiece")
class TrainServerTest(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = folder.name
        cls.out = cls.run_tool(
            "train.py", *toy_language.write(cls.folder, way="-to-"),
            "--profile", "toy", "--threads", "1", "--device", "cpu", "--out", cls.folder)
        cls.server = harness.Server("--model", f"toy={cls.folder}/model", "--precision", "float32")
        cls.addClassCleanup(cls.server.stop)
        cls.addClassCleanup(cls.server.channel.close)

    @staticmethod
    def run_tool(name, *flags):
        done = subprocess.run([sys.executable, os.path.join(TRAIN, name), *flags],
                              capture_output=True, text=True, timeout=900)
        if done.returncode != 0:
            raise AssertionError(f"{name} ended with {done.returncode}:\n"
                                 f"{done.stdout}{done.stderr}")
        return done.stdout

    def text_of(self, *texts, **fields):
        response = self.server.translate(*texts, **fields)
        return [translation.hypotheses[0].text for translation in response.translations]

    def test_trains_to_a_fixed_loss(self):
        last = re.findall(r"validation loss (\S+)  BLEU eng-fra (\S+)  eng-deu (\S+)", self.out)[-1]
        loss, french, german = map(float, last)
        self.assertLess(loss, 0.2)
        self.assertGreater(french, 95)
        self.assertGreater(german, 95)

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
