"""tools/evaluate over a running server."""

import json
import os
import subprocess
import tempfile
import unittest

import harness

EVALUATE = os.path.join(harness.SOURCE_DIR, "tools/evaluate/evaluate.py")


class EvaluateTest(harness.ServerTest):

    def test_the_golden_translations_are_found_and_score_100(self):
        inputs = harness.golden_inputs()[:40]
        with tempfile.NamedTemporaryFile("w", suffix=".tsv", encoding="utf-8") as pairs:
            pairs.writelines(f'{i["text"]}\t{i["beam4"][0]["text"]}\n' for i in inputs)
            pairs.flush()
            done = subprocess.run(
                [EVALUATE, "--pairs", pairs.name, "--client", harness.CLIENT, "--server",
                 self.server.grpc_address, "--beam-size", "4", "--output", "json"],
                capture_output=True, text=True, timeout=120, check=True)
        report = json.loads(done.stdout)
        self.assertEqual(report["sentences"], 40)
        self.assertAlmostEqual(report["bleu"], 100.0)
        self.assertAlmostEqual(report["chrf2"], 100.0)
        self.assertEqual(report["truncated"], 0)
        self.assertGreater(report["target_tokens_per_second"], 0)


if __name__ == "__main__":
    unittest.main()
