"""How good a translation is, as callers see it: judged, marked and refused; and texts that were edited."""

import json
import os
import subprocess
import unittest
import urllib.error
import urllib.request

import grpc

import harness
from harness import pb

SOUND = "Das Haus ist sehr alt und klein."
TEXT = "The house is very old and small."


class QualityTest(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        cls.server = harness.Server("--model", f"six={harness.BUILT_IN}", "--precision", "int8", "--pivot", "en")
        cls.addClassCleanup(cls.server.stop)
        cls.addClassCleanup(cls.server.channel.close)

    def score(self, target, **fields):
        request = pb.ScoreRequest(pairs=[pb.ScorePair(source=TEXT, target=target)], target_language="de",
                                  quality=True, **fields)
        return self.server.translation.Score(request).scores[0].quality

    def post(self, path, body):
        request = urllib.request.Request(f"http://{self.server.http_address}{path}", json.dumps(body).encode(),
                                         {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)

    def command(self, *arguments):
        return subprocess.run([harness.CLIENT, *arguments, "--server", self.server.grpc_address],
                              capture_output=True, text=True, timeout=60, check=False)

    def test_a_fault_lowers_the_score_of_a_given_translation(self):
        sound = self.score(SOUND).score
        self.assertGreater(sound, 0.5)
        for faulty in ("Das Haus ist sehr alt.", "Der Hund ist sehr alt und klein.", TEXT,
                       "Das Haus ist nicht sehr alt und klein."):
            self.assertLess(self.score(faulty).score, sound, faulty)
        doubtful = self.score("Das Pferd ist sehr alt und klein.").doubtful
        self.assertIn((4, 9), [(word.begin, word.end) for word in doubtful])
        self.assertFalse(self.score(SOUND).features)
        features = {each.name: each for each in self.score(SOUND, quality_features=True).features}
        self.assertIn("min_margin", features)

    def test_translations_are_judged_over_every_transport(self):
        output = pb.OutputOptions(quality=True, sentence_spans=True)
        translation = self.server.translate(TEXT + " It is old.", target_language="de", output=output).translations[0]
        whole = translation.hypotheses[0].quality
        self.assertEqual(whole.score, min(each.quality.score for each in translation.sentences))
        self.assertGreater(whole.score, 0)
        body = self.post("/v1/translate", {"contents": [TEXT + " It is old."], "target_language": "de",
                                           "output": {"quality": True}})
        self.assertAlmostEqual(body["translations"][0]["hypotheses"][0]["quality"]["score"], whole.score, delta=1e-6)
        done = self.command("translate", "--target-language", "de", "--output", "json", TEXT + " It is old.")
        self.assertEqual(done.returncode, 0, done.stderr)
        told = json.loads(done.stdout)["hypotheses"][0]["quality"]
        self.assertAlmostEqual(told["score"], whole.score, delta=1e-5)
        self.assertIsInstance(told["doubtful"], list)

    def test_a_route_is_as_good_as_its_worse_step(self):
        response = self.server.translate("Das Haus ist alt.", source_language="de", target_language="fr",
                                         output=pb.OutputOptions(quality=True))
        self.assertEqual(response.model, "six+six")
        self.assertTrue(0 < response.translations[0].hypotheses[0].quality.score < 1)

    def test_who_does_not_ask_is_told_nothing(self):
        translation = self.server.translate(TEXT, target_language="de").translations[0]
        self.assertFalse(translation.hypotheses[0].HasField("quality"))
        self.assertFalse(translation.low_quality)

    def test_a_low_quality_is_marked_or_refused(self):
        fields = {"target_language": "de", "min_quality": 1.0}
        self.assertTrue(self.server.translate(TEXT, **fields).translations[0].low_quality)
        self.assertFalse(self.server.translate(TEXT, target_language="de", min_quality=0.0).translations[0].low_quality)
        with self.assertRaises(grpc.RpcError) as raised:
            self.server.translate("", TEXT, low_quality=pb.LOW_QUALITY_REFUSE, **fields)
        self.assertEqual(raised.exception.code(), grpc.StatusCode.FAILED_PRECONDITION)
        self.assertIn("contents[1]: the quality", raised.exception.details())
        with self.assertRaises(urllib.error.HTTPError) as refused:
            self.post("/v1/translate", {"contents": [TEXT], "targetLanguage": "de", "minQuality": 1.0,
                                        "lowQuality": "LOW_QUALITY_REFUSE"})
        self.assertEqual(refused.exception.code, 400)
        refused.exception.close()
        done = self.command("translate", "--target-language", "de", "--min-quality", "1", TEXT)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("the quality of the translation", done.stderr)
        with self.assertRaises(grpc.RpcError) as raised:
            self.server.translate(TEXT, target_language="de", min_quality=1.5)
        self.assertIn("min_quality", raised.exception.details())

    def test_an_edited_text_is_translated_as_from_scratch_in_fewer_steps(self):
        greedy = {"target_language": "de", "options": pb.DecodingOptions(beam_size=1)}
        scratch = self.server.translate(TEXT, **greedy)
        edited = self.server.translate(TEXT, previous_sources=["The house is old and small."],
                                       previous_translations=["Das Haus ist alt und klein."], **greedy)
        self.assertEqual(edited.translations[0].hypotheses[0].text, scratch.translations[0].hypotheses[0].text)
        if edited.timing.reused_sentences == 0:  # unless the cache has it
            self.assertGreater(edited.timing.kept_tokens, 0)
            self.assertEqual(edited.timing.decoder_steps + edited.timing.kept_tokens, scratch.timing.decoder_steps)


if __name__ == "__main__":
    unittest.main()
