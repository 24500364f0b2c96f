"""The models that come with the source: six directions, and through English all others."""

import itertools
import os
import re
import unittest

import grpc

import harness

SIX = os.path.join(harness.SOURCE_DIR, "models", "en-de-fr-es")

# (source, target, sentence): the translations that are right.
RIGHT = {
    ("en", "de", "Good morning! How are you?"): {
        "Guten Morgen! Wie geht es dir?", "Guten Morgen! Wie geht es Ihnen?"},
    ("en", "fr", "Good morning! How are you?"): {
        "Bonjour ! Comment vas-tu ?", "Bonjour ! Comment allez-vous ?"},
    ("en", "es", "Good morning! How are you?"): {
        "¡Buenos días! ¿Cómo estás?", "¡Buenos días! ¿Cómo está?"},
    ("en", "de", "Where is the nearest train station?"): {"Wo ist der nächste Bahnhof?"},
    ("en", "fr", "Where is the nearest train station?"): {"Où est la gare la plus proche ?"},
    ("en", "es", "Where is the nearest train station?"): {
        "¿Dónde está la estación de tren más cercana?", "¿Dónde está la estación más cercana?"},
    ("en", "de", "I would like a cup of coffee."): {
        "Ich hätte gern eine Tasse Kaffee.", "Ich möchte eine Tasse Kaffee."},
    ("en", "fr", "I would like a cup of coffee."): {
        "J'aimerais une tasse de café.", "Je voudrais une tasse de café."},
    ("en", "es", "I would like a cup of coffee."): {
        "Me gustaría una taza de café.", "Quisiera una taza de café."},
    ("en", "de", "I would like a cup of coffee, please."): {"Ich hätte gern eine Tasse Kaffee, bitte."},
    ("en", "fr", "I would like a cup of coffee, please."): {
        "Je voudrais une tasse de café, s'il vous plaît."},
    ("en", "es", "I would like a cup of coffee, please."): {"Quisiera una taza de café, por favor."},
    ("en", "de", "You are welcome."): {"Gern geschehen."},
    ("en", "fr", "You are welcome."): {"De rien.", "Je vous en prie."},
    ("en", "es", "You are welcome."): {"De nada."},
    ("en", "de", "Thank you!"): {"Danke!"},
    ("en", "fr", "Thank you!"): {"Merci !"},
    ("en", "es", "Thank you!"): {"¡Gracias!"},
    ("en", "de", "Congratulations!"): {"Herzlichen Glückwunsch!"},
    ("en", "fr", "Congratulations!"): {"Félicitations !"},
    ("en", "es", "Congratulations!"): {"¡Felicidades!"},
    ("en", "fr", "Happy New Year!"): {"Bonne année !"},
    ("en", "es", "Happy New Year!"): {"¡Feliz Año Nuevo!"},
    ("fr", "en", "Je suis étudiant."): {"I am a student.", "I'm a student."},
    ("fr", "en", "je suis étudiant"): {"I am a student.", "I'm a student."},
    ("fr", "en", "merci"): {"thank you", "thanks"},
    ("fr", "en", "Merci."): {"Thank you.", "Thanks."},
    ("es", "en", "De nada"): {"You are welcome", "You are welcome."},
    ("de", "en", "Kannst du mir helfen, diesen Satz zu übersetzen?"): {
        "Can you help me translate this sentence?", "Can you help me to translate this sentence?"},
    ("es", "en", "Me gustaría una taza de café."): {
        "I would like a cup of coffee.", "I'd like a cup of coffee."},
}


def shown(path, pattern):
    """What the first match of a pattern in a file of the source captures."""
    with open(os.path.join(harness.SOURCE_DIR, path), encoding="utf-8") as file:
        return re.search(pattern, file.read(), re.DOTALL)[1]


def quoted(text):
    return [a or b for a, b in re.findall(r'"([^"]+)"|\'([^\']+)\'', text)]


def sentences_of_run_sh():
    """[(target, sentence)]"""
    return list(zip(shown("run.sh", r"\ntargets=\(([^)]*)\)").split(),
                    quoted(shown("run.sh", r"\nsentences=\(\n([^)]*)\n\)")), strict=True))


class BuiltInModelsTest(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        # As ./run.sh serves them: in the precision that this CPU runs fastest.
        cls.server = harness.Server("--model", f"en-de={harness.MODEL}", "--model", f"en-de-fr-es={SIX}",
                                    "--pivot", "en")
        cls.addClassCleanup(cls.server.stop)
        cls.addClassCleanup(cls.server.channel.close)

    def text_of(self, text, **fields):
        response = self.server.translate(text, **fields)
        return response.translations[0].hypotheses[0].text

    def test_translates_rightly(self):
        for (source, target, text), right in RIGHT.items():
            # From English into German, the other built-in model comes first, which knows fewer phrases.
            chosen = [] if target == "de" else [{}, {"source_language": source}]
            for fields in (*chosen, {"model": "en-de-fr-es"}):
                with self.subTest(text, target=target, **fields):
                    self.assertIn(self.text_of(text, target_language=target, **fields), right)

    def test_knows_the_phrasebook(self):
        for other, target in itertools.product(("de", "fr", "es"), ("", "en")):
            target = target or other
            with open(os.path.join(harness.SOURCE_DIR, f"tools/train/phrasebook/en-{other}.tsv"),
                      encoding="utf-8") as file:
                pairs = [line.rstrip("\n").split("\t")[::-1 if target == "en" else 1] for line in file]
            right = {}
            for source, translation in pairs:
                right.setdefault(source, set()).add(translation)
            sources = [source for source, _ in pairs[:50]]
            answer = self.server.translate(*sources, target_language=target, model="en-de-fr-es")
            known = [t.hypotheses[0].text in right[source]
                     for source, t in zip(sources, answer.translations)]
            self.assertGreaterEqual(sum(known), 45, f"{other} to {target}")

    def test_run_sh_and_the_page_show_sentences_that_are_right(self):
        examples = quoted(shown("server/page/translate.js", r"const EXAMPLES = \[([^\]]*)\]"))
        self.assertGreater(len(examples), 0)
        self.assertLess({*sentences_of_run_sh(), *itertools.product(("de", "fr", "es"), examples)},
                        {(target, text) for _, target, text in RIGHT})

    def test_the_readme_shows_what_run_sh_prints(self):
        self.assertEqual(shown("README.md", r"and prints:\n\n(.*?)\n\n").split("\n"),
                         [f"      {text}  ->  {self.text_of(text, target_language=target)}"
                          for target, text in sentences_of_run_sh()])

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
