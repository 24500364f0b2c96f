"""Directories of Firefox's and Bergamot's models, as users keep them, need no flags of their own."""

import gzip
import os
import shutil
import tempfile
import unittest

from harness import SOURCE_DIR, Server, pb, run_server

STUDENT = os.path.join(SOURCE_DIR, "tests/golden/marian/models/student-ssru")


class ModelsDirectoryTest(unittest.TestCase):

    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.root = temporary.name

    def add(self, directory, **files):
        """A directory with the files of the student, each under another name."""
        path = os.path.join(self.root, directory)
        os.makedirs(path)
        for own, name in {"model": "model.intgemm8.alphas.bin", "vocab": "vocab.spm", "lex": "lex.bin"}.items():
            for target in files.get(own, ()):
                shutil.copy(os.path.join(STUDENT, name), os.path.join(path, target))
        return path

    def add_pair(self, directory, pair):
        return self.add(directory, model=[f"model.{pair}.intgemm.alphas.bin"], vocab=[f"vocab.{pair}.spm"],
                        lex=[f"lex.50.50.{pair}.s2t.bin"])

    def serve(self, *arguments):
        server = Server(*arguments, "--workers", "1")
        self.addCleanup(server.stop)
        return server

    def refusal(self, *arguments):
        done = run_server(*arguments)
        self.assertNotEqual(done.returncode, 0)
        return done.stderr

    def test_one_model_without_flags(self):
        path = self.add("anything", model=["model.ende.intgemm8.bin"], vocab=["srcvocab.ende.spm", "trgvocab.ende.spm"],
                        lex=["lex.ende.s2t.bin"])
        server = self.serve("--model", "en-de=" + path)
        model = server.models.GetModel(pb.GetModelRequest(), timeout=120)
        self.assertEqual((list(model.source_languages), list(model.target_languages)), (["en"], ["de"]))
        self.assertNotEqual(server.translate("the house is old").translations[0].hypotheses[0].text, "")

    def test_a_directory_of_models_and_a_way_through_english(self):
        self.add_pair("ende", "ende")
        self.add_pair("fren", "fren")
        self.add_pair("en_zh", "enzh")
        self.add_pair(".cache", "enru")  # hidden
        for name in ("README.md", "records.json"):
            with open(os.path.join(self.root, name), "w", encoding="utf-8") as file:
                file.write("no model")
        with open(os.path.join(self.root, "ende", "metadata.json"), "w", encoding="utf-8") as file:
            file.write('{"name": "ende", "version": 1}')
        server = self.serve("--models", self.root)
        listed = server.models.ListModels(pb.ListModelsRequest(), timeout=120).models
        self.assertEqual([model.name for model in listed], ["en-zh", "en-de", "fr-en"])
        direct = server.translate("the house", source_language="en", target_language="de")
        self.assertEqual(direct.model, "en-de")
        through = server.translate("the house", source_language="fr", target_language="de")
        self.assertEqual(through.model, "fr-en+en-de")
        # The pivot uses the same network twice: it translates its own translation.
        first = server.translate("the house", source_language="fr", target_language="en")
        second = server.translate(first.translations[0].hypotheses[0].text, source_language="en", target_language="de")
        self.assertEqual(through.translations[0].hypotheses[0].text, second.translations[0].hypotheses[0].text)

    def test_a_glossary_goes_through_english_and_is_found_in_the_source(self):
        self.add_pair("ende", "ende")
        self.add_pair("fren", "fren")
        server = self.serve("--models", self.root)
        # A phrase with a translation of its own, and one that is not to be translated.
        for target, wanted in (("Auto", "Auto"), ("", "house")):
            options = pb.DecodingOptions(beam_size=4, glossary=[pb.GlossaryEntry(source="house", target=target)])
            through = server.translate("the house is old", options=options, source_language="fr", target_language="de")
            self.assertRegex(through.translations[0].hypotheses[0].text, rf"\b{wanted}\b")
        # A text without the phrase is not changed, whatever the intermediate text contains.
        options = pb.DecodingOptions(beam_size=4, glossary=[pb.GlossaryEntry(source="car", target="Auto")])
        plain = server.translate("the house is old", source_language="fr", target_language="de",
                                 options=pb.DecodingOptions(beam_size=4))
        kept = server.translate("the house is old", source_language="fr", target_language="de", options=options)
        self.assertEqual(kept.translations[0].hypotheses[0].text, plain.translations[0].hypotheses[0].text)

    def test_what_cannot_be_served_is_named(self):
        empty = os.path.join(self.root, "empty")
        os.makedirs(os.path.join(empty, "ende"))
        self.assertIn("ende", self.refusal("--models", empty))
        self.assertIn("gone", self.refusal("--models", os.path.join(self.root, "gone")))
        two = self.add("two", model=["model.ende.intgemm.alphas.bin", "model.deen.intgemm.alphas.bin"],
                       vocab=["vocab.ende.spm"])
        self.assertIn("model.deen.intgemm.alphas.bin", self.refusal("--model", "m=" + two))
        bare = self.add("bare", model=["model.ende.intgemm.alphas.bin"])
        self.assertIn("vocabulary", self.refusal("--model", "m=" + bare))
        packed = self.add("packed", vocab=["vocab.ende.spm"])
        with open(os.path.join(STUDENT, "model.intgemm8.alphas.bin"), "rb") as file:
            content = gzip.compress(file.read(), 1)
        with open(os.path.join(packed, "model.ende.intgemm.alphas.bin.gz"), "wb") as file:
            file.write(content)
        self.assertIn("gunzip", self.refusal("--model", "m=" + packed))

    def test_a_bad_directory_is_reported_and_the_rest_serve(self):
        self.add_pair("ende", "ende")
        self.add("deen", vocab=["vocab.deen.spm"])
        os.mkdir(os.path.join(self.root, "lost+found"))
        server = self.serve("--models", self.root)
        log = server.await_log("model not loaded", times=2)
        self.assertRegex(log, "model not loaded model=de-en reason=broken error=.*deen")
        self.assertRegex(log, "model not loaded model=lost_found reason=broken")
        listed = {model.name: model for model in server.models.ListModels(pb.ListModelsRequest(), timeout=120).models}
        self.assertTrue(listed["en-de"].is_default)
        self.assertEqual([(v.label, v.state, v.failure) for v in listed["de-en"].versions],
                         [("stable", pb.Model.STATE_FAILED, "broken")])
        self.assertNotEqual(server.translate("the house").translations[0].hypotheses[0].text, "")
        self.assertEqual(server.metrics()["dragoman_model_stale"][(("model", "de-en"),)], 1)
        # A model that is named on the command line must load.
        self.assertIn("deen", self.refusal("--models", self.root, "--model", "mine=" + os.path.join(self.root, "deen")))

    def test_two_directories_of_one_pair_both_serve(self):
        self.add_pair("ende", "ende")
        self.add_pair("en-de", "ende")
        server = self.serve("--models", self.root)
        self.assertEqual({model.name for model in server.models.ListModels(pb.ListModelsRequest()).models},
                         {"en-de", "en-de_2"})


if __name__ == "__main__":
    unittest.main()
