"""The `dragoman` command against the real server."""

import json
import math
import subprocess
import unittest

from harness import CLIENT, ServerTest, golden_inputs


class CommandTest(ServerTest):

    def run_client(self, command, *arguments, **options):
        return subprocess.run([CLIENT, command, "--server", self.server.grpc_address, *arguments],
                              capture_output=True, text=True, timeout=300, **options)

    def test_translates_standard_input_in_order(self):
        inputs = golden_inputs()
        ended = self.run_client("translate", "--no-split-sentences", input="".join(i["text"] + "\n" for i in inputs))
        self.assertEqual((ended.returncode, ended.stderr), (0, ""))
        self.assertEqual(ended.stdout.splitlines(), [i["beam4"][0]["text"] for i in inputs])

    def test_n_best_as_json(self):
        golden = golden_inputs()[0]
        ended = self.run_client("translate", "--output", "json", "--beam-size", "4",
                                "--no-split-sentences", "--num-hypotheses", "4", golden["text"])
        self.assertEqual((ended.returncode, ended.stderr), (0, ""))
        line = json.loads(ended.stdout)
        self.assertEqual(line["source"], golden["text"])
        self.assertEqual([h["token_ids"] for h in line["hypotheses"]],
                         [b["ids"][1:-1] for b in golden["beam4"]])
        for hypothesis, want in zip(line["hypotheses"], golden["beam4"]):
            self.assertEqual(hypothesis["text"], want["text"])
            self.assertAlmostEqual(hypothesis["score"], want["score"], delta=1e-4)
            self.assertEqual(hypothesis["finish_reason"], "eos")
        self.assertEqual(line["source_tokens"], len(golden["input_ids"]))
        self.assertEqual((line["truncated"], line["model"]), (False, "en-de"))

    def test_alignments_as_text_and_json(self):
        ended = self.run_client("translate", "--alignments", "The house is old.")
        self.assertEqual((ended.returncode, ended.stderr), (0, ""))
        lines = ended.stdout.splitlines()
        self.assertRegex("\n".join(lines[1:]), r"(?m)^  house -> Haus  [01]\.\d\d$")
        ended = self.run_client("translate", "--attention", "--output", "json",
                                "The house is old.")
        alignment = json.loads(ended.stdout)["hypotheses"][0]["alignment"]
        self.assertEqual(len(alignment["attention"][0]["probabilities"]),
                         len(alignment["source_tokens"]) * len(alignment["target_tokens"]))
        ended = self.run_client("score", "--alignments", "The house is old.", lines[0])
        self.assertEqual(ended.stdout.splitlines()[1:], lines[1:])

    def test_scores_what_it_translates_as_the_search_did(self):
        inputs = golden_inputs()[:20]
        pairs = "".join(f"{i['text']}\t{i['beam4'][0]['text']}\n" for i in inputs)
        ended = self.run_client("score", input=pairs)
        self.assertEqual((ended.returncode, ended.stderr), (0, ""))
        mean = [float(line) for line in ended.stdout.splitlines()]
        ended = self.run_client("score", "--output", "json", input=pairs)
        agreed = 0
        for line, score, golden in zip(ended.stdout.splitlines(), mean, inputs):
            scored, best = json.loads(line), golden["beam4"][0]
            self.assertAlmostEqual(sum(scored["token_scores"]) / len(scored["token_scores"]), score, delta=1e-4)
            self.assertAlmostEqual(scored["perplexity"], math.exp(-score), delta=1e-2 * scored["perplexity"])
            # A translation may have been generated as other pieces than those that its text is
            # tokenized into.
            if len(scored["token_scores"]) == len(best["ids"]) - 1 and abs(score - best["score"]) < 1e-3:
                agreed += 1
        self.assertGreater(agreed, 17)

    def test_tokenizes_as_the_model_does(self):
        inputs = golden_inputs()[:20]
        ended = self.run_client("tokenize", "--output", "json", input="".join(i["text"] + "\n" for i in inputs))
        self.assertEqual((ended.returncode, ended.stderr), (0, ""))
        tokenized = [json.loads(line) for line in ended.stdout.splitlines()]
        self.assertEqual([t["token_ids"] for t in tokenized], [i["input_ids"] for i in inputs])
        ended = self.run_client("tokenize", inputs[0]["text"])
        self.assertEqual(ended.stdout.split(), tokenized[0]["tokens"])

    def test_says_what_the_server_refused(self):
        ended = self.run_client("translate", "--beam-size", "99", "x")
        self.assertEqual((ended.returncode, ended.stdout), (2, ""))
        self.assertIn("INVALID_ARGUMENT", ended.stderr)
        self.assertIn("beam_size", ended.stderr)
        self.assertIn("99", ended.stderr)

    def test_models_and_health(self):
        model = json.loads(self.run_client("models", "--output", "json").stdout)
        self.assertEqual((model["name"], model["state"]), ("en-de", "ready"))
        ended = self.run_client("health")
        self.assertEqual((ended.returncode, ended.stdout), (0, "SERVING\n"))
        self.assertEqual(self.run_client("health", "nobody").returncode, 2)

    def test_load_counts_every_request(self):
        report = json.loads(self.run_client("load", "--requests", "40", "--concurrency", "4",
                                            "--output", "json").stdout)
        self.assertEqual(report["codes"], {"OK": 40})
        self.assertGreater(report["source_tokens"], 40)
        self.assertLessEqual(report["latency_seconds"]["p50"], report["latency_seconds"]["max"])


if __name__ == "__main__":
    unittest.main()
