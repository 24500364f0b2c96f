"""CTranslate2 directories and Argos packages, converted from the golden models: in every version of the
format and with every type of weights, they translate as the Hugging Face directory does."""

import json
import os
import re
import subprocess
import tempfile
import unittest
import zipfile

import ctranslate2_models as ct2
from harness import CLIENT, SERVER, SOURCE_DIR, Server, pb

MODELS = os.path.join(SOURCE_DIR, "tests/golden/models")
EXPECTED = os.path.join(SOURCE_DIR, "tests/golden/expected")
MARIAN = os.path.join(MODELS, "marian-trained")
SPMS = [os.path.join(MARIAN, name) for name in ("source.spm", "target.spm")]

# CTranslate2 stops as soon as the beam is full; Hugging Face does not.  Greedy search is the same.
GREEDY = ("--beam-size", "1", "--max-length", "100")

# Families other than Marian: the golden model, its converter, its tokenizer, and request fields.
FAMILIES = {
    "nllb-trained": (ct2.m2m100, "sentencepiece.bpe.model", ("eng_Latn", "deu_Latn")),
    "m2m100-trained": (ct2.m2m100, "sentencepiece.bpe.model", ("en", "de")),
    "mbart50-trained": (ct2.mbart50, "sentencepiece.bpe.model", ("en_XX", "de_DE")),
    "t5v11-trained": (ct2.t5, "spiece.model", None),
}


def golden(name):
    """Returns texts of one line without numbers, which the server keeps, and Hugging Face's greedy tokens of each."""
    with open(os.path.join(EXPECTED, name, "golden.json"), encoding="utf-8") as file:
        data = json.load(file)
    prefix = data["meta"].get("prefix") or ""
    pairs = [(prefix + i["text"], o.get("vectorized", o["legacy"])[0]["ids"])
             for i, o in zip(data["inputs"], data["outputs"]["greedy"])]
    return [(text, ids) for text, ids in pairs if text.strip() and not re.search("[\\n0-9]", text)]


class CTranslate2Test(unittest.TestCase):

    def setUp(self):
        self.directory = self.enterContext(tempfile.TemporaryDirectory())

    def path(self, name):
        return os.path.join(self.directory, name)

    def serve(self, models, precision="float32"):
        """Returns {model: hypotheses} for `texts`, by each of the models."""
        arguments = [a for name, path in models.items() for a in ("--model", f"{name}={path}")]
        server = Server(*arguments, "--precision", precision)
        self.addCleanup(lambda: self.assertEqual(server.stop(), 0))

        def translate(name, texts, *options):
            ended = subprocess.run([CLIENT, "translate", "--server", server.grpc_address,
                                    "--model", name, "--output", "json", *GREEDY, *options],
                                   input="\n".join(texts) + "\n", capture_output=True, text=True,
                                   timeout=300)
            self.assertEqual(ended.returncode, 0, ended.stderr)
            return [json.loads(line)["hypotheses"][0] for line in ended.stdout.splitlines()]
        return server, translate

    def tokens(self, hypotheses):
        return [h["tokens"] for h in hypotheses]

    def test_every_version_and_type_of_a_marian_model(self):
        model, with_pad = ct2.marian(MARIAN), ct2.marian(MARIAN, loader_style=False)
        models = {"hf": MARIAN}
        for version in range(2, 7):
            models[f"v{version}"] = self.path(f"v{version}")
            ct2.write(model, models[f"v{version}"], "float32", version, SPMS)
        for kind in ("float16", "bfloat16", "int16", "int8"):
            models[kind] = self.path(kind)
            ct2.write(model, models[kind], kind, 6, SPMS)
        models["old-int8"], models["with-pad"] = self.path("old-int8"), self.path("with-pad")
        ct2.write(model, models["old-int8"], "int8", 3, SPMS)
        ct2.write(with_pad, models["with-pad"], "float32", 6, SPMS)
        texts = [text for text, _ in golden("marian-trained")]
        _, translate = self.serve(models)
        want = translate("hf", texts)
        for name in models:
            got = translate(name, texts)
            if name.startswith("v") or name in ("float16", "with-pad", "int16"):
                self.assertEqual(self.tokens(got), self.tokens(want), name)
                # But for the place of an emoji: other heads are asked for it.
                self.assertEqual(*([h["text"].replace("🙂 ", "") for h in hypotheses]
                                   for hypotheses in (got, want)), name)
            alike = sum(a["tokens"] == b["tokens"] for a, b in zip(got, want))
            self.assertGreaterEqual(alike, len(texts) - 2, name)

    def test_int8_weights_are_quantized_anew(self):
        models = {"float32": self.path("float32"), "int8": self.path("int8")}
        for kind, path in models.items():
            ct2.write(ct2.marian(MARIAN), path, kind, 6, SPMS)
        texts = [text for text, _ in golden("marian-trained")]
        _, translate = self.serve(models, "int8")
        pairs = zip(self.tokens(translate("int8", texts)), self.tokens(translate("float32", texts)))
        self.assertGreaterEqual(sum(a == b for a, b in pairs), len(texts) - 2)

    def test_the_other_families(self):
        for name, (convert, pieces, languages) in FAMILIES.items():
            source = os.path.join(MODELS, name)
            if not os.path.isdir(source):
                continue
            with self.subTest(name):
                ct2.write(convert(source), self.path(name), "float32", 6,
                          [os.path.join(source, pieces)])
                texts = [text for text, _ in golden(name)]
                _, translate = self.serve({"hf": source, "ct2": self.path(name)})
                options = ()
                if languages:
                    options = ("--source-language", languages[0], "--target-language",
                               languages[1])
                for got, want in zip(translate("ct2", texts, *options),
                                     translate("hf", texts, *options)):
                    # Hugging Face forces mBART to end at the maximum length.
                    if want["finish_reason"] == "eos" and len(want["tokens"]) < 90:
                        self.assertEqual(got["tokens"], want["tokens"])

    def test_without_a_tokenizer_words_and_characters_are_tokens(self):
        model = ct2.marian(MARIAN)
        model.source = model.target = [token.replace("▁", "▂") for token in model.source]
        ct2.write(model, self.path("bare"))
        server, translate = self.serve({"bare": self.path("bare")})
        response = server.translate("▂The ▂cat .", options={"beam_size": 1})
        want = translate("bare", ["▂The   ▂cat ."])[0]
        self.assertEqual(response.translations[0].hypotheses[0].text, want["text"])
        self.assertEqual(want["text"], " ".join(want["tokens"]))

    def argos(self, name, **metadata):
        """An unpacked Argos package."""
        path = self.path(name)
        os.makedirs(os.path.join(path, "stanza"))
        ct2.write(ct2.marian(MARIAN, loader_style=False), os.path.join(path, "model"), "int8")
        with open(os.path.join(path, "metadata.json"), "w", encoding="utf-8") as file:
            json.dump({"package_version": "1.0", "argos_version": "1.5", "from_code": "en",
                       "from_name": "English", "to_code": "de", "to_name": "German"} | metadata,
                      file)
        with open(SPMS[0], "rb") as source:
            with open(os.path.join(path, "sentencepiece.model"), "wb") as file:
                file.write(source.read())
        return path

    def pack(self, directory, compression):
        path = f"{directory}-{compression}.argosmodel"
        with zipfile.ZipFile(path, "w", compression) as package:
            for folder, _, files in os.walk(directory):
                for name in files:
                    full = os.path.join(folder, name)
                    package.write(full, os.path.relpath(full, os.path.dirname(directory)))
        return path

    def test_an_argos_package_is_served_packed_and_unpacked(self):
        directory = self.argos("translate-en_de")
        models = {"directory": directory, "deflated": self.pack(directory, zipfile.ZIP_DEFLATED),
                  "stored": self.pack(directory, zipfile.ZIP_STORED)}
        server, translate = self.serve(models)
        for model in server.models.ListModels(pb.ListModelsRequest()).models:
            self.assertEqual([(p.source, p.target) for p in model.language_pairs], [("en", "de")])
        texts = ["The cat sleeps.", "Anna buys the red apple today."]
        want = translate("directory", texts)
        for name in models:
            self.assertEqual(translate(name, texts, "--source-language", "en",
                                       "--target-language", "de"), want)

    def test_a_target_prefix_begins_every_translation_and_is_no_text(self):
        texts = ["The cat sleeps.", "Anna buys the red apple today."]
        plain = self.argos("plain")
        prefixed = self.argos("prefixed", target_prefix="▁ein")
        _, translate = self.serve({"plain": plain, "prefixed": prefixed})
        for answer in translate("prefixed", texts):
            self.assertEqual(answer["tokens"][0], "▁ein")
            self.assertNotIn("ein", answer["text"].split()[:1])
        self.assertNotEqual(translate("plain", texts)[0]["tokens"][0], "▁ein")
        unknown = self.argos("unknown", target_prefix=">>xyz<<")
        ended = subprocess.run([SERVER, "--model", f"m={unknown}"], capture_output=True, text=True,
                               timeout=120)
        self.assertEqual(ended.returncode, 1)
        self.assertIn('target_prefix is ">>xyz<<", want a token of the target vocabulary',
                      ended.stderr)

    def test_an_argos_package_writes_the_source_for_what_it_cannot_say(self):
        server, _ = self.serve({"argos": self.argos("argos"), "hf": MARIAN})

        def text(model, **options):
            answer = server.translate("The old 漢字 sees a small house.", model=model,
                                      target_prefixes=["Der alte 漢字"],
                                      options={"beam_size": 1} | options)
            return answer.translations[0].hypotheses[0].text

        for model, default in (("argos", True), ("hf", False)):
            replaced = text(model, replace_unknowns=True)
            plain = text(model, replace_unknowns=False)
            self.assertNotEqual(replaced, plain)
            self.assertEqual(text(model), replaced if default else plain)

    def test_what_is_no_package_is_refused(self):
        directory = self.argos("translate-en_de")
        package = self.pack(directory, zipfile.ZIP_DEFLATED)
        with open(package, "rb") as file:
            content = file.read()
        evil = self.path("evil.argosmodel")
        with zipfile.ZipFile(evil, "w") as file:
            file.writestr("../evil", "x")
        cut = self.path("cut.argosmodel")
        with open(cut, "wb") as file:
            file.write(content[:len(content) // 2])
        for path, message in ((evil, "want a path within the archive"), (cut, "cut off")):
            ended = subprocess.run([SERVER, "--model", f"m={path}"], capture_output=True,
                                   text=True, timeout=120)
            self.assertEqual(ended.returncode, 1)
            self.assertIn(message, ended.stderr)
        self.assertFalse(os.path.exists(self.path("../evil")))

    def check(self, path):
        return subprocess.run([SERVER, "--check", path], capture_output=True, text=True,
                              timeout=120)

    def test_check_says_what_a_model_is(self):
        path = self.path("ct2")
        ct2.write(ct2.marian(MARIAN), path, "int8", 6, SPMS)
        for directory, family, weights in ((MARIAN, "Marian", "model.safetensors"),
                                           (path, "CTranslate2", "model.bin"),
                                           (self.argos("argos"), "Argos", "model.bin")):
            ended = self.check(directory)
            self.assertEqual(ended.returncode, 0, ended.stdout)
            lines = dict(line.split(None, 1) for line in ended.stdout.splitlines()[1:-1])
            self.assertTrue(lines["family"].startswith(family), lines)
            self.assertTrue(lines["weights"].startswith(weights), lines)
            self.assertIn("2 + 2 layers, width 64", lines["network"])
            self.assertEqual(lines["missing"].strip(), "nothing")
            self.assertIn("tokens/s", lines["speed"])
            self.assertIn("can be served", ended.stdout)

    def test_check_says_what_is_missing(self):
        path = self.path("missing")
        model = ct2.marian(MARIAN)
        del model.variables["decoder/layer_1/ffn/linear_1/weight"]
        ct2.write(model, path, "float32", 6, SPMS)
        ended = self.check(path)
        self.assertEqual(ended.returncode, 1)
        self.assertIn("decoder/layer_1/ffn/linear_1/weight", ended.stdout)
        ended = self.check(self.path("nowhere"))
        self.assertEqual(ended.returncode, 1)
        self.assertIn("there is no such directory", ended.stdout)


if __name__ == "__main__":
    unittest.main()
