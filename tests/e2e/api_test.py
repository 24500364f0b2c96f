"""The API as a client in another language sees it."""

import unittest

import grpc

from harness import FLOAT32, ServerTest, await_true, details_of, golden_inputs, pb

from google.protobuf import descriptor_pb2
from grpc.health.v1 import health_pb2, health_pb2_grpc
from grpc.reflection.v1 import reflection_pb2 as reflection_v1
from grpc.reflection.v1 import reflection_pb2_grpc as reflection_v1_grpc
from grpc.reflection.v1alpha import reflection_pb2, reflection_pb2_grpc

# Hugging Face does not split texts into sentences.
WHOLE = {"sentence_splitting": pb.SENTENCE_SPLITTING_NONE}
# For 128 texts, a minute of two cores.
LONG = pb.DecodingOptions(beam_size=16, min_length=400, max_length=500)


class TranslateTest(ServerTest):

    def test_says_what_hugging_face_says(self):
        inputs = golden_inputs()[:20]
        response = self.server.translate(*(i["text"] for i in inputs), **WHOLE)
        self.assertEqual([t.hypotheses[0].text for t in response.translations],
                         [i["beam4"][0]["text"] for i in inputs])
        self.assertEqual([t.source_tokens for t in response.translations],
                         [len(i["input_ids"]) for i in inputs])
        self.assertEqual(response.model, "en-de")
        self.assertNotEqual(response.model_version, "")
        self.assertGreater(response.timing.total.ToNanoseconds(), 0)

    def test_greedy_search(self):
        inputs = golden_inputs()[:20]
        response = self.server.translate(*(i["text"] for i in inputs), **WHOLE,
                                         options=pb.DecodingOptions(beam_size=1))
        self.assertEqual([t.hypotheses[0].text for t in response.translations],
                         [i["greedy"]["text"] for i in inputs])

    def test_n_best_with_tokens_and_scores(self):
        golden = golden_inputs()[0]
        response = self.server.translate(
            golden["text"], **WHOLE, options=pb.DecodingOptions(beam_size=4, num_hypotheses=4),
            output=pb.OutputOptions(tokens=True, token_scores=True))
        hypotheses = response.translations[0].hypotheses
        self.assertEqual(len(hypotheses), 4)
        for hypothesis, want in zip(hypotheses, golden["beam4"]):
            self.assertEqual(hypothesis.text, want["text"])
            self.assertAlmostEqual(hypothesis.score, want["score"], delta=1e-4)
            self.assertEqual(list(hypothesis.token_ids), want["ids"][1:-1])
            self.assertEqual(len(hypothesis.tokens), len(hypothesis.token_ids))
            self.assertEqual(hypothesis.finish_reason, pb.FINISH_REASON_EOS)

    def test_an_empty_text_is_an_empty_text(self):
        response = self.server.translate("", "Good morning.", "")
        texts = [t.hypotheses[0].text for t in response.translations]
        self.assertEqual([texts[0], texts[2]], ["", ""])
        self.assertNotEqual(texts[1], "")

    def test_max_length_is_reported(self):
        response = self.server.translate("She has lived in Boston for three years.",
                                         options=pb.DecodingOptions(max_length=3))
        self.assertEqual(response.translations[0].hypotheses[0].finish_reason,
                         pb.FINISH_REASON_MAX_LENGTH)

    def test_sentences_are_split_and_put_together(self):
        response = self.server.translate(
            "Good morning.  How are you?",
            output=pb.OutputOptions(sentence_spans=True))
        translation = response.translations[0]
        self.assertEqual([(s.source_begin, s.source_end) for s in translation.sentences],
                         [(0, 13), (15, 27)])
        first, second = (self.server.translate(text).translations[0].hypotheses[0].text
                         for text in ("Good morning.", "How are you?"))
        self.assertEqual(translation.hypotheses[0].text, f"{first}  {second}")
        whole, = self.server.translate("Good morning.  How are you?",
                                       sentence_splitting=pb.SENTENCE_SPLITTING_NONE,
                                       output=pb.OutputOptions(sentence_spans=True)).translations
        self.assertEqual([(s.source_begin, s.source_end) for s in whole.sentences], [(0, 27)])


class ErrorTest(ServerTest):

    def assert_invalid(self, field, *texts, **fields):
        error = self.assert_fails(grpc.StatusCode.INVALID_ARGUMENT,
                                  lambda: self.server.translate(*texts, **fields))
        violations = details_of(error)["BadRequest"].field_violations
        self.assertEqual([v.field for v in violations], [field], error.details())
        self.assertNotEqual(violations[0].description, "")

    def test_bad_requests_name_their_field(self):
        self.assert_invalid("contents")
        self.assert_invalid("contents", *["a"] * 129)
        self.assert_invalid("contents[1]", "fine", "a" * 131072)
        self.assert_invalid("contents[1]", "fine", "word " * 600, truncation=pb.TRUNCATION_REJECT)
        self.assert_invalid("target_language", "a", target_language="fr")
        for name, value in (("beam_size", 0), ("beam_size", 17), ("max_length", 0),
                            ("min_length", -1), ("length_penalty", 11), ("max_length_ratio", -1),
                            ("no_repeat_ngram_size", -1), ("repetition_penalty", 0)):
            self.assert_invalid(f"options.{name}", "a", options=pb.DecodingOptions(**{name: value}))
        self.assert_invalid("options.num_hypotheses", "a",
                            options=pb.DecodingOptions(beam_size=2, num_hypotheses=3))

    def test_a_long_text_is_cut_if_asked_and_marked(self):
        response = self.server.translate("word " * 600, truncation=pb.TRUNCATION_TRUNCATE,
                                         options=pb.DecodingOptions(beam_size=1, max_length=5))
        self.assertTrue(response.translations[0].truncated)

    def test_a_long_text_is_divided_by_default_and_marked(self):
        response = self.server.translate("word, " * 600, options=pb.DecodingOptions(
            beam_size=1, max_length=5), output=pb.OutputOptions(sentence_spans=True))
        translation = response.translations[0]
        self.assertTrue(translation.divided)
        self.assertFalse(translation.truncated)
        self.assertGreater(len(translation.sentences), 1)
        self.assertTrue(all(span.part for span in translation.sentences))

    def test_invalid_utf8(self):
        text = "a" * 7  # replaced below by bytes that are not UTF-8
        translation, models = "TranslationService", "ModelService"
        for service, method, field, request in (
                (translation, "Translate", "contents[1]", pb.TranslateRequest(contents=["fine", text])),
                (translation, "Translate", "options.glossary[1].target", pb.TranslateRequest(
                    contents=["fine"], options=pb.DecodingOptions(glossary=[
                        pb.GlossaryEntry(source="a", target="c"),
                        pb.GlossaryEntry(source="b", target=text)]))),
                (translation, "Score", "pairs[1].target", pb.ScoreRequest(pairs=[
                    pb.ScorePair(source="b", target="c"),
                    pb.ScorePair(source="b", target=text)])),
                (translation, "Score", "model", pb.ScoreRequest(model=text)),
                (translation, "Tokenize", "contents[0]", pb.TokenizeRequest(contents=[text])),
                (models, "GetModel", "name", pb.GetModelRequest(name=text))):
            call = self.server.channel.unary_unary(f"/dragoman.v1.{service}/{method}")
            message = request.SerializeToString().replace(text.encode(), b"\xff" * len(text))
            error = self.assert_fails(grpc.StatusCode.INVALID_ARGUMENT,
                                      lambda: call(message, timeout=120))
            violations = details_of(error)["BadRequest"].field_violations
            self.assertEqual(violations[0].field, field)

    def test_a_message_that_is_none(self):
        for service, method in (("TranslationService", "Translate"), ("TranslationService", "Score"),
                                ("TranslationService", "Tokenize"), ("ModelService", "ListModels"),
                                ("ModelService", "GetModel")):
            call = self.server.channel.unary_unary(f"/dragoman.v1.{service}/{method}")
            error = self.assert_fails(grpc.StatusCode.INVALID_ARGUMENT,
                                      lambda: call(b"\x0a\xff\xff", timeout=120))
            self.assertIn(f"{method}Request", error.details())

    def test_unknown_model(self):
        error = self.assert_fails(grpc.StatusCode.NOT_FOUND,
                                  lambda: self.server.translate("a", model="xx-yy"))
        self.assertIn("xx-yy", error.details())
        self.assertEqual(details_of(error)["ResourceInfo"].resource_name, "xx-yy")
        self.assert_fails(grpc.StatusCode.NOT_FOUND, lambda: self.server.models.GetModel(
            pb.GetModelRequest(name="xx-yy"), timeout=120))

    def test_a_translation_that_repeats_itself_is_ended_and_counted(self):
        def finished(reason):
            return self.server.metrics()["dragoman_finish_total"].get((("reason", reason),), 0)

        for beam_size in (1, 4):
            before = finished("repetition")
            options = pb.DecodingOptions(beam_size=beam_size)
            guarded = self.server.translate("GOOD MORNING", options=options).translations[0].hypotheses[0]
            self.assertEqual(guarded.finish_reason, pb.FINISH_REASON_REPETITION)
            self.assertEqual(finished("repetition"), before + 1)
            options.repetition_guard = False
            free = self.server.translate("GOOD MORNING", options=options).translations[0].hypotheses[0]
            self.assertNotEqual(free.finish_reason, pb.FINISH_REASON_REPETITION)
            self.assertGreater(len(free.text), len(guarded.text) + 20)

    def test_a_glossary_says_whole_words(self):
        # After "Heim" the model would like to go on: "Heimer", "Heimert", "Heimklopft".
        options = [pb.DecodingOptions(beam_size=beam_size, glossary=[
            pb.GlossaryEntry(source="Tom", target="Heim")]) for beam_size in (1, 2, 4)]
        for option in options:
            response = self.server.translate("Tom is a writer.", "Tom attacked Mary.",
                                             "Tom said that it might be true.", options=option)
            for translation in response.translations:
                self.assertRegex(translation.hypotheses[0].text, r"\bHeim\b")

    def test_alignments_of_a_whole_text_and_of_its_score(self):
        text = "The house is old. \n  The water is cold."
        response = self.server.translate(
            text, output=pb.OutputOptions(alignments=True, attention=True),
            sentence_splitting=pb.SENTENCE_SPLITTING_SENTENCES)
        best = response.translations[0].hypotheses[0]
        aligned = best.aligned_text
        source, target = text.encode(), best.text.encode()
        words = [(source[w.source_begin:w.source_end].decode(),
                  target[w.target_begin:w.target_end].decode()) for w in aligned.words]
        self.assertIn(("house", "Haus"), words)
        self.assertIn(("water", "Wasser"), words)
        self.assertEqual(len(aligned.attention), 2)
        for block in aligned.attention:
            rows = block.target_end - block.target_begin
            self.assertAlmostEqual(sum(block.probabilities), rows, delta=1e-3)
        self.assertEqual(aligned.attention[1].target_end, len(aligned.target_tokens))

        single = self.server.translate(
            "The house is old.", output=pb.OutputOptions(alignments=True)).translations[0]
        scored = self.server.translation.Score(pb.ScoreRequest(
            pairs=[pb.ScorePair(source="The house is old.", target=single.hypotheses[0].text)],
            alignments=True), timeout=120).scores[0]
        self.assertEqual(list(scored.alignment), list(single.hypotheses[0].alignment))
        self.assertEqual(scored.aligned_text, single.hypotheses[0].aligned_text)

    def test_a_deadline_ends_the_call(self):
        self.assert_fails(grpc.StatusCode.DEADLINE_EXCEEDED,
                          lambda: self.server.translate(*["Hello"] * 128, options=LONG, timeout=0.02))

    def test_a_cancelled_call_leaves_nothing_behind(self):
        call = self.server.translation.Translate.future(
            pb.TranslateRequest(contents=["Hello"] * 128, options=LONG))
        await_true(lambda: self.server.metrics()["dragoman_requests_in_flight"][()] > 0, "it runs")
        call.cancel()

        def idle():
            metrics = self.server.metrics()
            return not any(metrics[name][()] for name in
                           ("dragoman_requests_in_flight", "dragoman_kv_cache_bytes"))
        await_true(idle, "nothing is left")


class OverloadTest(ServerTest):

    arguments = (*FLOAT32, "--workers", "1",
                 "--max-waiting-requests", "1", "--max-batch-rows", "16")

    def test_more_than_can_wait_is_refused_with_a_time_to_return(self):
        translate = self.server.translation.Translate
        request = pb.TranslateRequest(contents=["Hello"] * 128)
        # Its other texts wait while a few are translated, which takes seconds on the fastest machine.
        long = translate.future(pb.TranslateRequest(contents=["Hello"] * 128, options=LONG))

        def waiting():
            return self.server.metrics()["dragoman_queue_requests"][(("priority", "interactive"),)]
        await_true(lambda: waiting() == 1, "its texts wait")
        refused = [translate.future(request) for _ in range(8)]
        self.assertEqual({call.code() for call in refused}, {grpc.StatusCode.RESOURCE_EXHAUSTED})
        for call in refused:
            self.assertGreater(details_of(call)["RetryInfo"].retry_delay.ToNanoseconds(), 0)
            self.assertGreater(int(dict(call.trailing_metadata())["grpc-retry-pushback-ms"]), 0)
        long.cancel()
        await_true(lambda: waiting() == 0, "nothing waits")
        self.assertEqual(len(translate(request, timeout=120).translations), 128)


class ServicesTest(ServerTest):

    def test_models(self):
        models = self.server.models.ListModels(pb.ListModelsRequest(), timeout=120).models
        self.assertEqual([m.name for m in models], ["en-de"])
        model = models[0]
        self.assertEqual(model, self.server.models.GetModel(pb.GetModelRequest(), timeout=120))
        self.assertEqual([(p.source, p.target) for p in model.language_pairs], [("en", "de")])
        self.assertEqual(model.architecture, "MarianMTModel")
        self.assertEqual(model.precision, "float32")
        self.assertTrue(model.is_default)
        self.assertEqual(model.state, pb.Model.STATE_READY)

    def test_health(self):
        health = health_pb2_grpc.HealthStub(self.server.channel)
        for service in ("", "dragoman.v1.TranslationService", "dragoman.v1.ModelService"):
            response = health.Check(health_pb2.HealthCheckRequest(service=service), timeout=120)
            self.assertEqual(response.status, health_pb2.HealthCheckResponse.SERVING, service)
        self.assert_fails(grpc.StatusCode.NOT_FOUND, lambda: health.Check(
            health_pb2.HealthCheckRequest(service="nobody"), timeout=120))

    def test_reflection(self):
        services = []
        for messages, stubs in ((reflection_pb2, reflection_pb2_grpc), (reflection_v1, reflection_v1_grpc)):
            reflection = stubs.ServerReflectionStub(self.server.channel)
            requests = [messages.ServerReflectionRequest(list_services=""),
                        messages.ServerReflectionRequest(
                            file_containing_symbol="dragoman.v1.TranslationService")]
            listed, described = reflection.ServerReflectionInfo(iter(requests), timeout=120)
            services.append({s.name for s in listed.list_services_response.service})
            files = [descriptor_pb2.FileDescriptorProto.FromString(f)
                     for f in described.file_descriptor_response.file_descriptor_proto]
            methods = {m.name for f in files for s in f.service for m in s.method}
            self.assertIn("Translate", methods)
        self.assertEqual(services[0], services[1])  # gRPC's own list, and ours
        self.assertLessEqual({"dragoman.v1.TranslationService", "grpc.health.v1.Health",
                              "grpc.reflection.v1.ServerReflection"}, services[1])

    def test_reflection_of_what_is_not_there(self):
        reflection = reflection_v1_grpc.ServerReflectionStub(self.server.channel)
        requests = [reflection_v1.ServerReflectionRequest(file_containing_symbol="no.Such"),
                    reflection_v1.ServerReflectionRequest(),
                    reflection_v1.ServerReflectionRequest(file_by_filename="dragoman/v1/translation.proto")]
        answers = list(reflection.ServerReflectionInfo(iter(requests), timeout=120))
        self.assertEqual([answer.error_response.error_code for answer in answers], [5, 3, 0])
        self.assertGreater(len(answers[2].file_descriptor_response.file_descriptor_proto), 1)


if __name__ == "__main__":
    unittest.main()
