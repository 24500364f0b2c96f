"""A LoRA adapter beside a model: --model NAME=DIR,lora=DIR."""

import os
import shutil
import tempfile
import unittest

import harness

TEXT = "The old teacher sees a small house."
MODEL = os.path.join(harness.SOURCE_DIR, "tests/golden/models/marian-trained")
MODULE = "model.decoder.layers.1.fc2"


class LoraTest(unittest.TestCase):

    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)

    def serve(self, *models):
        server = harness.Server(*harness.FLOAT32, *(f"--model={model}" for model in models))
        self.addCleanup(server.stop)
        self.addCleanup(server.channel.close)
        return server

    def test_an_adapter_changes_the_model_that_it_is_added_to(self):
        none, strong = (os.path.join(self.folder, name) for name in ("none", "strong"))
        harness.write_adapter(none, 0, MODULE, 128, 64)
        harness.write_adapter(strong, 40, MODULE, 128, 64)
        server = self.serve(f"plain={MODEL}", f"none={MODEL},lora={none}", f"strong={MODEL},lora={strong}")
        answers = {name: server.translate(TEXT, model=name) for name in ("plain", "none", "strong")}
        texts = {name: answer.translations[0].hypotheses[0].text for name, answer in answers.items()}
        self.assertEqual(texts["none"], texts["plain"])
        self.assertNotEqual(texts["strong"], texts["plain"])
        self.assertEqual(len({answer.model_version for answer in answers.values()}), 3)

    def test_an_adapter_of_another_model_stops_the_start_by_name(self):
        other = os.path.join(self.folder, "other")
        harness.write_adapter(other, 8, "model.decoder.layers.7.fc2", 128, 64)
        ended = harness.run_server(f"--model=one={MODEL},lora={other}")
        self.assertEqual(ended.returncode, 1)
        self.assertIn("changes model.decoder.layers.7.fc2.weight, but the model has no such matrix", ended.stderr)
