"""Attention by layer and head, and the candidates of each step, as callers see them."""

import itertools
import json
import os
import unittest
import urllib.request

import grpc
from google.protobuf import json_format

import harness
from harness import pb

RECURRENT = os.path.join(harness.SOURCE_DIR, "tests/golden/marian/models/nematus-ln")
VECTOR = os.path.join(harness.SOURCE_DIR, "tests/golden/marian/models/student-ssru")
TEXT = "The house is old. The cat sleeps."
CROSS, ENCODER, DECODER = pb.ATTENTION_KIND_CROSS, pb.ATTENTION_KIND_ENCODER, pb.ATTENTION_KIND_DECODER


def heads(kind, layer, *chosen):
    return pb.AttentionHeads(kind=kind, layer=layer, heads=chosen)


def output(*asked, **fields):
    return pb.OutputOptions(tokens=True, token_scores=True, alignments=True, attention=True,
                            attention_heads=asked, **fields)


def rows_of(block):
    width = block.source_end - block.source_begin
    return [block.probabilities[i:i + width] for i in range(0, len(block.probabilities), width)]


class InsightTest(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        cls.server = harness.Server(
            *harness.FLOAT32, "--model", f"six={harness.BUILT_IN}", "--model", f"rnn={RECURRENT}",
            "--model", f"ssru={VECTOR}", "--pivot", "en", "--cache-bytes", "1MiB")
        cls.addClassCleanup(cls.server.stop)
        cls.addClassCleanup(cls.server.channel.close)

    def best(self, text=TEXT, **fields):
        return self.server.translate(text, **fields).translations[0].hypotheses[0]

    def assert_refused(self, field, message, *, code=grpc.StatusCode.INVALID_ARGUMENT, **fields):
        with self.assertRaises(grpc.RpcError) as raised:
            self.server.translate(fields.pop("text", TEXT), **fields)
        self.assertEqual(raised.exception.code(), code)
        self.assertIn(message, raised.exception.details())
        self.assertIn(field, raised.exception.details())

    def test_the_heads_of_a_layer_have_its_attention_as_their_mean(self):
        aligned = self.best(output=output(heads(CROSS, -1))).aligned_text
        self.assertEqual([(h.layer, h.head) for h in aligned.heads],
                         2 * [(1, head) for head in range(4)])
        for sentence, whole in enumerate(aligned.attention):
            mine = aligned.heads[4 * sentence:][:4]
            for head in mine:
                self.assertEqual((head.source_begin, head.source_end, head.query_begin, head.query_end),
                                 (whole.source_begin, whole.source_end, whole.target_begin, whole.target_end))
                for row in rows_of(head):
                    self.assertAlmostEqual(sum(row), 1, delta=1e-4)
            for i, probability in enumerate(whole.probabilities):
                self.assertAlmostEqual(sum(h.probabilities[i] for h in mine) / 4, probability, delta=1e-5)

    def test_the_heads_of_the_encoder_look_at_the_source_and_come_once(self):
        response = self.server.translate(
            TEXT, output=output(heads(ENCODER, 0, 3, 1), heads(ENCODER, 3, 0)),
            options=pb.DecodingOptions(beam_size=4, num_hypotheses=2))
        best, other = response.translations[0].hypotheses
        self.assertEqual([(h.kind, h.layer, h.head) for h in best.aligned_text.heads],
                         2 * [(ENCODER, 0, 3), (ENCODER, 0, 1), (ENCODER, 3, 0)])
        self.assertEqual(len(other.aligned_text.heads), 0)
        for block in best.aligned_text.heads:
            self.assertEqual((block.query_begin, block.query_end), (block.source_begin, block.source_end))
            self.assertEqual(len(rows_of(block)), block.query_end - block.query_begin)
            for row in rows_of(block):
                self.assertAlmostEqual(sum(row), 1, delta=1e-4)
        self.assertEqual(best.aligned_text.heads[3].source_begin, best.aligned_text.heads[0].source_end)

    def test_the_heads_of_the_decoder_look_back(self):
        for sentences, hidden, prefix in ((2, False, []), (1, False, ["Das"]), (1, True, ["Das"])):
            hypothesis = self.best(target_prefixes=prefix, output=output(
                heads(DECODER, 1, 2), heads(CROSS, 0, 1), heads(DECODER, 0), hide_prefix=hidden))
            blocks = [head for head in hypothesis.aligned_text.heads if head.kind == DECODER]
            self.assertEqual([(h.layer, h.head) for h in blocks], sentences * [(1, 2), *((0, head) for head in range(4))])
            self.assertEqual(blocks[-1].query_end, len(hypothesis.tokens))
            for block in blocks:
                self.assertEqual((block.source_begin, block.source_end), (block.query_begin, block.query_end))
                for i, row in enumerate(rows_of(block)):
                    self.assertAlmostEqual(sum(row[:i + 1]), 1, delta=1e-4)
                    self.assertEqual(row[i + 1:], [0] * (len(row) - i - 1))

    def test_candidates_of_each_step(self):
        hypothesis = self.best(output=output(candidates=5), options=pb.DecodingOptions(beam_size=1))
        self.assertEqual([step.end for step in hypothesis.steps].count(True), 2)
        steps = [step for step in hypothesis.steps if not step.end]
        self.assertEqual(len(steps), len(hypothesis.tokens))
        for step, token, token_id, score in zip(steps, hypothesis.tokens, hypothesis.token_ids,
                                                hypothesis.token_scores):
            self.assertEqual(len(step.candidates), 5)
            first = step.candidates[0]
            self.assertEqual((first.token, first.token_id, first.log_prob), (token, token_id, score))
            scores = [candidate.log_prob for candidate in step.candidates]
            self.assertEqual(scores, sorted(scores, reverse=True))

    def test_nothing_else_of_the_answer_changes(self):
        for beam in (1, 4):
            options = pb.DecodingOptions(beam_size=beam, num_hypotheses=min(beam, 2))
            plain = self.server.translate(TEXT, options=options, output=output())
            asked = self.server.translate(
                TEXT, options=options, output=output(heads(CROSS, 0), heads(ENCODER, 0), heads(DECODER, 1), candidates=3))
            for hypothesis in asked.translations[0].hypotheses:
                self.assertGreater(len(hypothesis.aligned_text.heads), 0)
                hypothesis.aligned_text.ClearField("heads")
                self.assertGreater(len(hypothesis.steps), 0)
                hypothesis.ClearField("steps")
            self.assertEqual(asked.translations[0], plain.translations[0])

    def test_a_repeated_request_is_answered_alike_from_the_cache(self):
        asked = output(heads(CROSS, 0), heads(ENCODER, 2), candidates=2)
        first = self.server.translate("The dog is young.", output=asked)
        again = self.server.translate("The dog is young.", output=asked)
        self.assertEqual((first.timing.reused_sentences, again.timing.reused_sentences), (0, 1))
        self.assertEqual(again.translations[0], first.translations[0])

    def test_a_hidden_prefix_has_no_rows(self):
        for hidden in (False, True):
            hypothesis = self.best("The house is old.", target_prefixes=["Das"],
                                   output=output(heads(CROSS, 0, 0), candidates=1, hide_prefix=hidden))
            block, = hypothesis.aligned_text.heads
            self.assertEqual(block.query_end, len(hypothesis.tokens))
            self.assertEqual(len(rows_of(block)), len(hypothesis.tokens))
            self.assertEqual(len(hypothesis.steps), len(hypothesis.tokens) + 1)

    def test_a_stream_and_http_give_the_same(self):
        request = pb.TranslateRequest(
            contents=[TEXT], output=output(heads(CROSS, 1, 2), heads(ENCODER, 0), candidates=2))
        whole = self.server.translation.Translate(request).translations[0]
        streamed, = [event.translation for event in self.server.translation.TranslateStream(request)
                     if event.HasField("translation")]
        self.assertEqual(streamed, whole)
        body = json_format.MessageToJson(request).encode()
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(urllib.request.Request(
                f"http://{self.server.http_address}/v1/translate", body,
                {"Content-Type": "application/json"})) as response:
            parsed = json_format.ParseDict(json.load(response), pb.TranslateResponse())
        self.assertEqual(parsed.translations[0], whole)

    def test_what_does_not_exist_is_refused_by_its_field(self):
        for asked, field, message in (
                (heads(CROSS, 2), "output.attention_heads[0].layer", "is 2; the model en-de has 2 layers"),
                (heads(CROSS, -3), "output.attention_heads[0].layer", "is -3"),
                (heads(ENCODER, 4), "output.attention_heads[0].layer", "has 4 layers"),
                (heads(ENCODER, 0, 1, 4), "output.attention_heads[0].heads[1]", "is 4; the model en-de has 4 heads"),
                (heads(7, 0), "output.attention_heads", "7 is not a value of AttentionKind")):
            self.assert_refused(field, message, output=output(asked))
        self.assert_refused("output.attention_heads", "output.alignments",
                            output=pb.OutputOptions(attention_heads=[heads(CROSS, 0)]))
        for candidates in (-1, 6):
            self.assert_refused("output.candidates", f"is {candidates}, want 0 to 5",
                                output=output(candidates=candidates))

    def test_models_say_how_many_heads_they_have(self):
        for name, counts in (("en-de", (4, 4, 2, 4, 2, 4)), ("ssru", None), ("rnn", (0,) * 6)):
            model = self.server.models.GetModel(pb.GetModelRequest(name=name))
            self.assertEqual((model.encoder_layers, model.encoder_heads, model.cross_layers,
                              model.cross_heads, model.decoder_layers, model.decoder_heads),
                             counts or (model.encoder_layers, model.encoder_heads, model.cross_layers,
                                        model.cross_heads, 0, 0))

    def test_a_network_without_heads_has_candidates_only(self):
        self.assert_refused("output.attention_heads[0].layer", "the model rnn has no layers", model="rnn",
                            output=output(heads(CROSS, 0)))
        self.assertGreater(len(self.best(model="rnn", output=output(candidates=2)).steps), 1)

    def test_a_decoder_that_keeps_a_vector(self):
        aligned = self.best("the dog sees a tree", model="ssru", output=output(heads(CROSS, -1), candidates=2))
        self.assertGreater(len(aligned.aligned_text.heads), 0)
        self.assertGreaterEqual(len(aligned.steps), len(aligned.tokens))

    def test_through_a_third_language(self):
        fields = {"text": "Das Haus ist alt.", "source_language": "de", "target_language": "fr"}
        self.assert_refused("output.attention_heads", "goes through \"en\"", **fields,
                            output=output(heads(CROSS, 0)))
        text = fields.pop("text")
        hypothesis = self.best(text, **fields, output=output(candidates=2))
        self.assertEqual(len(hypothesis.steps), len(hypothesis.tokens) + 1)

    def test_an_answer_that_would_be_too_large_is_refused(self):
        text = " ".join(itertools.islice(itertools.cycle(["house", "and"]), 301)) + "."
        self.assert_refused("output.attention_heads", "may need more than", text=text,
                            output=output(*[heads(ENCODER, layer) for layer in range(4)]))
        self.best(text, output=output(heads(ENCODER, 0, 0)))


if __name__ == "__main__":
    unittest.main()
