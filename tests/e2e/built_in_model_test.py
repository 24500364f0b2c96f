"""The model that comes with the source: six directions, and through English all others."""

import itertools
import os
import re
import unittest

import grpc

import harness

# The pairs of the languages' names; the pairs that go through English are not among them.
SIX = [pair for other in ("de", "fr", "es") for pair in (("en", other), (other, "en"))]

# Sentences in four languages: the first of each language is a source, and any is a right translation.
EVERYDAY = [
    {"en": ["Good morning! How are you?"],
     "de": ["Guten Morgen! Wie geht es dir?", "Guten Morgen! Wie geht es Ihnen?"],
     "fr": ["Bonjour ! Comment vas-tu ?", "Bonjour ! Comment allez-vous ?"],
     "es": ["¡Buenos días! ¿Cómo estás?", "¡Buenos días! ¿Cómo está?"]},
    {"en": ["You are welcome.", "You're welcome."],
     "de": ["Gern geschehen."], "fr": ["De rien.", "Je vous en prie."], "es": ["De nada."]},
    {"en": ["Thank you!", "Thanks!"], "de": ["Danke!"], "fr": ["Merci !"], "es": ["¡Gracias!"]},
    {"en": ["Happy New Year!"], "de": ["Ein frohes neues Jahr!", "Frohes neues Jahr!"],
     "fr": ["Bonne année !"], "es": ["¡Feliz Año Nuevo!", "¡Feliz año nuevo!"]},
    {"en": ["Congratulations!"], "de": ["Herzlichen Glückwunsch!"], "fr": ["Félicitations !"],
     "es": ["¡Felicidades!", "¡Enhorabuena!"]},
    {"en": ["Where is the nearest train station?"], "de": ["Wo ist der nächste Bahnhof?"],
     "fr": ["Où est la gare la plus proche ?"],
     "es": ["¿Dónde está la estación de tren más cercana?", "¿Dónde está la estación más cercana?"]},
    {"en": ["I would like a cup of coffee, please.", "I'd like a cup of coffee, please."],
     "de": ["Ich hätte gern eine Tasse Kaffee, bitte.", "Ich möchte bitte eine Tasse Kaffee."],
     "fr": ["Je voudrais une tasse de café, s'il vous plaît.",
            "J'aimerais une tasse de café, s'il vous plaît."],
     "es": ["Quisiera una taza de café, por favor.", "Me gustaría una taza de café, por favor."]},
    {"en": ["I would like a cup of coffee.", "I'd like a cup of coffee."],
     "de": ["Ich hätte gern eine Tasse Kaffee.", "Ich möchte eine Tasse Kaffee."],
     "fr": ["Je voudrais une tasse de café.", "J'aimerais une tasse de café."],
     "es": ["Quisiera una taza de café.", "Me gustaría una taza de café."]},
    {"en": ["I am a student.", "I'm a student."], "de": ["Ich bin Student.", "Ich bin Studentin."],
     "fr": ["Je suis étudiant.", "Je suis étudiante."], "es": ["Soy estudiante."]},
    {"en": ["Can you help me translate this sentence?", "Can you help me to translate this sentence?"],
     "de": ["Kannst du mir helfen, diesen Satz zu übersetzen?"],
     "fr": ["Peux-tu m'aider à traduire cette phrase ?", "Pouvez-vous m'aider à traduire cette phrase ?"],
     "es": ["¿Puedes ayudarme a traducir esta frase?", "¿Me puedes ayudar a traducir esta frase?"]},
]

# (source, target, sentence): the translations that are right.
RIGHT = {
    **{(source, target, each[source][0]): set(each[target]) for each in EVERYDAY for source, target in SIX},
    ("en", "de", "The weather is nice today."): {"Das Wetter ist heute schön."},
    ("de", "en", "Kannst du mir helfen diesen Satz zu uebersetzen ?"): {"Can you help me translate this sentence?"},
    ("de", "en", "Gute Besserung!"): {"Get well soon!"},
    ("fr", "en", "je suis étudiant"): {"I am a student.", "I'm a student.", "I am a student"},
    ("fr", "en", "merci"): {"thank you", "thanks"},
    ("fr", "en", "Merci."): {"Thank you.", "Thanks."},
    ("es", "en", "De nada"): {"You are welcome", "You are welcome."},
}

# Equally right for a line of the phrasebook: the same said to several people.
AS_GOOD = {("fr", "Can you help me?"): "Peux-tu m'aider ?"}


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


def unmarked(text):
    """A phrase without its final mark, and without the Spanish mark that goes with it."""
    return re.sub(r"[¡¿]([^¡¿!?]*)$", r"\1", re.sub(r"\s*[.!?]$", "", text))


def phrasebook(other):
    """[(English, translation)]"""
    path = os.path.join(harness.SOURCE_DIR, f"tools/train/phrasebook/en-{other}.tsv")
    with open(path, encoding="utf-8") as file:
        return [tuple(line.rstrip("\n").split("\t")) for line in file]


class BuiltInModelTest(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        # As ./run.sh serves it: in the precision that this CPU runs fastest.
        cls.server = harness.Server("--model", f"en-de-fr-es={harness.BUILT_IN}", "--pivot", "en")
        cls.addClassCleanup(cls.server.stop)
        cls.addClassCleanup(cls.server.channel.close)

    def text_of(self, text, **fields):
        response = self.server.translate(text, **fields)
        return response.translations[0].hypotheses[0].text

    def test_translates_rightly(self):
        for (source, target, text), right in RIGHT.items():
            for fields in ({}, {"source_language": source}):
                with self.subTest(text, target=target, **fields):
                    self.assertIn(self.text_of(text, target_language=target, **fields), right)

    def test_knows_the_phrasebook_with_and_without_final_marks(self):
        for (source, target), changed in itertools.product(SIX, (str, unmarked)):
            other = target if source == "en" else source
            pairs = [pair if source == "en" else pair[::-1] for pair in phrasebook(other)]
            right = {}
            for text, translation in pairs:
                good = {translation, AS_GOOD.get((target, text), translation)}
                right.setdefault(changed(text), set()).update(map(changed, good))
            texts = [changed(text) for text, _ in pairs]
            answer = self.server.translate(*texts, target_language=target)
            wrong = {text: t.hypotheses[0].text for text, t in zip(texts, answer.translations)
                     if changed(t.hypotheses[0].text) not in right[text]}
            self.assertEqual(len(texts), 101)
            self.assertLessEqual(len(wrong), 4, f"{source} to {target}: {wrong}")

    def test_brackets_within_a_sentence_stay(self):
        kept = lost = 0
        for what, inside, target in itertools.product(
                ("cat", "house", "man"), ("the old one", "see page 5", "1980", "Hund"), ("de", "fr", "es")):
            text = f"The {what} ({inside}) is in the garden."
            said = self.text_of(text, target_language=target)
            if re.fullmatch(r"[^()]*\([^()]*\w[^()]*\)[^()]*", said):
                kept += 1
            else:
                lost += 1
        self.assertGreaterEqual(kept, 9 * lost)

    def test_a_request_without_languages_goes_from_english_to_german(self):
        for text in ("The weather is nice today.", "Good morning! How are you?"):
            self.assertEqual(self.text_of(text), self.text_of(text, source_language="en", target_language="de"))
            self.assertIn(self.text_of(text), RIGHT["en", "de", text])

    def test_run_sh_and_the_page_show_sentences_that_are_right(self):
        examples = quoted(shown("server/page/translate.js", r"const EXAMPLES = \[([^\]]*)\]"))
        self.assertGreater(len(examples), 0)
        self.assertLess({*sentences_of_run_sh(), *itertools.product(("de", "fr", "es"), examples)},
                        {(target, text) for _, target, text in RIGHT})
        # What run.sh and the README tell the reader to type.
        for path in ("run.sh", "README.md"):
            self.assertIn(("en", "de", shown(path, r'dragoman translate \\?"([^"\\]*)')), RIGHT)

    def test_the_readme_shows_what_run_sh_prints(self):
        self.assertEqual(shown("README.md", r"and prints:\n\n(.*?)\n\n").split("\n"),
                         [f"      {text}  ->  {self.text_of(text, target_language=target)}"
                          for target, text in sentences_of_run_sh()])

    def test_serves_the_directions_that_were_trained(self):
        model, = self.server.models.ListModels(harness.pb.ListModelsRequest()).models
        self.assertEqual({(p.source, p.target) for p in model.language_pairs}, set(SIX))

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
