"""The models that come with the source: six directions, and through English all others."""

import os
import unittest

import grpc

import harness

SIX = os.path.join(harness.SOURCE_DIR, "models", "en-de-fr-es")
SENTENCES = (
    ("fr", "en", "Je suis étudiant.", "I am a student."),
    ("de", "en", "Kannst du mir helfen, diesen Satz zu übersetzen?",
     "Can you help me translate this sentence?"),
    ("es", "en", "Me gustaría una taza de café.", "I'd like a cup of coffee."),
    ("en", "de", "Good morning! How are you?", "Guten Morgen! Wie geht es dir?"),
    ("en", "fr", "Good morning! How are you?", "Bonjour ! Comment vas-tu ?"),
    ("en", "es", "You are welcome.", "Eres bienvenido."),
    ("en", "fr", "I would like a cup of coffee.", "J'aimerais une tasse de café."),
)


class BuiltInModelsTest(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        # As ./run.sh serves them, but in float32, whose result is the same on every CPU.
        cls.server = harness.Server(*harness.FLOAT32, "--model", f"en-de-fr-es={SIX}",
                                    "--pivot", "en")
        cls.addClassCleanup(cls.server.stop)
        cls.addClassCleanup(cls.server.channel.close)

    def text_of(self, text, **fields):
        response = self.server.translate(text, **fields)
        return response.translations[0].hypotheses[0].text

    def test_translates_in_every_direction(self):
        for source, target, text, want in SENTENCES:
            with self.subTest(text, target=target):
                self.assertEqual(self.text_of(text, target_language=target), want)
                self.assertEqual(
                    self.text_of(text, source_language=source, target_language=target), want)

    def test_serves_the_directions_that_were_trained(self):
        models = self.server.models.ListModels(harness.pb.ListModelsRequest()).models
        pairs = {m.name: {(p.source, p.target) for p in m.language_pairs} for m in models}
        self.assertEqual(pairs["en-de-fr-es"],
                         {pair for other in ("de", "fr", "es") for pair in
                          (("en", other), (other, "en"))})

    def test_goes_through_english_from_french_to_german(self):
        self.assertEqual(
            self.text_of("Je suis étudiant.", source_language="fr", target_language="de"),
            self.text_of(self.text_of("Je suis étudiant.", target_language="en"),
                         source_language="en", target_language="de"))

    def test_refuses_a_direction_that_was_not_trained(self):
        with self.assertRaises(grpc.RpcError) as raised:
            self.text_of("Je suis étudiant.", model="en-de-fr-es", source_language="fr",
                         target_language="de")
        self.assertEqual(raised.exception.code(), grpc.StatusCode.INVALID_ARGUMENT)


if __name__ == "__main__":
    unittest.main()
