"""Receipts, and `dragoman verify`, which checks them on another server."""

import json
import os
import subprocess
import tempfile
import unittest
import urllib.request

from harness import BUILT_IN, CLIENT, FLOAT32, MODEL, ServerTest, golden_inputs, serve

INT8 = ("--model", f"en-de={MODEL}", "--precision", "int8")


class ReceiptTest(ServerTest):

    arguments = INT8

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.paths = [os.path.join(folder.name, name) for name in ("request.json", "answer.json")]
        self.request = {"contents": [i["text"] for i in golden_inputs()[:12]],
                        "options": {"beamSize": 4, "numHypotheses": 2},
                        "output": {"receipt": True}}
        self.answer = self.ask(self.server, self.request)

    @staticmethod
    def ask(server, request):
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        call = urllib.request.Request(f"http://{server.http_address}/v1/translate",
                                      json.dumps(request).encode(),
                                      {"Content-Type": "application/json"})
        with opener.open(call, timeout=300) as response:
            return json.load(response)

    def verify(self, server=None):
        """Verifies the request and the answer: the exit code, and what is printed."""
        for path, content in zip(self.paths, (self.request, self.answer)):
            with open(path, "w", encoding="utf-8") as file:
                json.dump(content, file)
        address = (server or self.server).grpc_address
        ended = subprocess.run([CLIENT, "verify", "--server", address, *self.paths],
                               capture_output=True, text=True, timeout=300, check=False)
        return ended.returncode, ended.stdout + ended.stderr

    def test_an_answer_has_a_receipt_only_if_one_is_wanted(self):
        self.assertRegex(self.answer["receipt"]["digest"], "^[0-9a-f]{64}$")
        self.request["output"] = {}
        self.assertNotIn("receipt", self.ask(self.server, self.request))

    def test_another_server_gives_the_same_answer(self):
        other = serve(self, *INT8, "--threads-per-worker", "2", "--workers", "1")
        self.assertEqual(self.verify(other), (0, f"equal: {self.answer['receipt']['digest']}\n"))

    def test_what_makes_no_difference_is_not_in_it(self):
        self.request["priority"] = "PRIORITY_BATCH"
        self.request["previousSources"] = self.request["contents"]
        self.request["previousTranslations"] = [
            t["hypotheses"][0]["text"] for t in self.answer["translations"]]
        self.assertEqual(self.verify()[0], 0)

    def test_a_changed_answer_is_noticed(self):
        self.answer["translations"][3]["hypotheses"][0]["text"] += "!"
        code, said = self.verify()
        self.assertEqual(code, 1)
        self.assertIn("was changed: its receipt is that of another answer", said)

    def test_a_changed_request_is_noticed(self):
        self.request["contents"][5] = "A house."
        code, said = self.verify()
        self.assertEqual(code, 1)
        self.assertIn("request: was", said)
        self.assertIn("contents[5], hypothesis 1 from character ", said)
        self.assertNotIn("contents[4]", said)

    def test_another_arithmetic_or_model_is_named(self):
        code, said = self.verify(serve(self, *FLOAT32))
        self.assertEqual(code, 1)
        self.assertRegex(said, r'isa: was "int8/[a-z-]+-\d+", is "float32/')
        self.assertIn(", score: was ", said)
        self.request.update(sourceLanguage="en", targetLanguage="de")
        code, said = self.verify(serve(self, "--model", f"built-in={BUILT_IN}"))
        self.assertEqual(code, 1)
        self.assertIn("model_version: was ", said)

    def test_files_that_are_wrong(self):
        del self.answer["receipt"]
        code, said = self.verify()
        self.assertEqual(code, 1)
        self.assertIn("answer.json has no receipt", said)
        self.answer = ["no message"]
        code, said = self.verify()
        self.assertEqual(code, 1)
        self.assertIn("answer.json: ", said)


if __name__ == "__main__":
    unittest.main()
