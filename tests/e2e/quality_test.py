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

    def test_the_other_direction_finds_what_was_left_out(self):
        plain = {"quality_features": True}
        checked = {**plain, "reverse_check": True, "source_language": "en"}
        short = "Das Haus ist sehr alt."
        self.assertFalse(self.score(SOUND, **plain).HasField("reverse_log_prob"))
        self.assertGreater(self.score(SOUND, **checked).reverse_log_prob, self.score(short, **checked).reverse_log_prob)
        self.assertGreater(self.score(SOUND, **checked).score, self.score(short, **checked).score)
        names = [[each.name for each in self.score(SOUND, **fields).features] for fields in (plain, checked)]
        self.assertIn("reverse_min_margin", set(names[1]) - set(names[0]))

    def test_translations_are_checked_in_reverse_sentence_by_sentence(self):
        output = pb.OutputOptions(quality=True, sentence_spans=True, reverse_check=True)
        fields = {"source_language": "en", "target_language": "de", "output": output}
        translation = self.server.translate(TEXT + " It is old.", **fields).translations[0]
        whole = translation.hypotheses[0].quality
        self.assertEqual(whole.score, min(each.quality.score for each in translation.sentences))
        source, target = (text.encode() for text in (TEXT + " It is old.", translation.hypotheses[0].text))
        for sentence in translation.sentences:
            pair = pb.ScorePair(source=target[sentence.target_begin:sentence.target_end],
                                target=source[sentence.source_begin:sentence.source_end])
            back = self.server.translation.Score(pb.ScoreRequest(pairs=[pair], source_language="de",
                                                                 target_language="en")).scores[0]
            self.assertAlmostEqual(sentence.quality.reverse_log_prob, back.score, delta=1e-4)
        body = self.post("/v1/translate", {"contents": [TEXT], "source_language": "en", "target_language": "de",
                                           "output": {"quality": True, "reverseCheck": True}})
        self.assertLess(body["translations"][0]["hypotheses"][0]["quality"]["reverseLogProb"], 0)
        output.quality = False  # the bound alone asks for it, too
        self.assertTrue(self.server.translate(TEXT, min_quality=1.0, **fields).translations[0].low_quality)

    def test_a_check_in_reverse_that_is_impossible_is_refused(self):
        def refusal(call, **fields):
            with self.assertRaises(grpc.RpcError) as raised:
                call(**{"source_language": "en", "target_language": "de", **fields})
            self.assertIn("reverse_check", raised.exception.details())
            return raised.exception.code()

        def translate(**fields):
            return self.server.translate(TEXT, **fields)

        both = pb.OutputOptions(quality=True, reverse_check=True)
        invalid = grpc.StatusCode.INVALID_ARGUMENT
        self.assertEqual(refusal(translate, output=pb.OutputOptions(reverse_check=True)), invalid)
        self.assertEqual(refusal(translate, output=both, source_language="auto"), invalid)
        self.assertEqual(refusal(translate, output=both, markup=pb.MARKUP_HTML), invalid)
        self.assertEqual(refusal(lambda **fields: list(self.server.translation.TranslateStream(pb.TranslateRequest(
            contents=[TEXT], **fields))), output=both), invalid)
        self.assertEqual(refusal(translate, output=both, source_language="de", target_language="fr"),
                         grpc.StatusCode.FAILED_PRECONDITION)  # from fr to de, there is no single model

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
