"""The JSON API and the compatibility APIs, with requests as their clients send them.

The optional tests are of the clients that npm has, in plain text and over TLS; DRAGOMAN_NPM_CLIENTS may name a directory
in which they are installed.
"""

import functools
import http.client
import json
import os
import subprocess
import tempfile
import unittest
import urllib.parse

from certificates import Authority
from harness import FLOAT32, Server, ServerTest, pb
from suite import optional

NPM_CLIENTS = ("deepl-node", "@google-cloud/translate", "translate", "@azure-rest/ai-translation-text@1",
               "@apidevtools/swagger-parser")
TEXTS = ["Good morning.", "Where is the nearest train station?", "I would like a cup of coffee."]


class CompatTest(ServerTest):

    arguments = FLOAT32

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.wanted = [t.hypotheses[0].text for t in cls.server.translate(
            *TEXTS, sentence_splitting=pb.SENTENCE_SPLITTING_SENTENCES).translations]
        cls.house = cls.server.translate("The old house is small.").translations[0].hypotheses[0].text

    def ask(self, method, path, body=None, headers=None):
        """Returns the code and the JSON of a response; sends a dict as JSON, a string as a form."""
        headers = dict(headers or {})
        if isinstance(body, dict):
            body, headers["Content-Type"] = json.dumps(body), "application/json"
        elif body is not None:
            headers["Content-Type"] = "application/x-www-form-urlencoded"
        connection = http.client.HTTPConnection(self.server.http_address, timeout=60)
        connection.request(method, path, body, headers)
        response = connection.getresponse()
        answer = json.loads(response.read())
        connection.close()
        return response.status, answer

    def test_json_gives_the_bytes_of_grpc(self):
        code, answer = self.ask("POST", "/v1/translate", {
            "contents": TEXTS, "sentenceSplitting": "SENTENCE_SPLITTING_SENTENCES"})
        self.assertEqual(code, 200)
        self.assertEqual([t["hypotheses"][0]["text"] for t in answer["translations"]], self.wanted)

    def test_what_is_not_utf8_is_named(self):
        code, answer = self.ask("POST", "/translate", "q=%FF&source=en&target=de")
        self.assertEqual((code, answer["error"]), (400, "q: is not valid UTF-8"))
        code, answer = self.ask("GET", "/v1/models/%FF")
        self.assertEqual((code, answer["message"]), (400, "the path is not valid UTF-8"))

    def test_libretranslate(self):
        code, answer = self.ask("POST", "/translate",
                                {"q": TEXTS, "source": "en", "target": "de", "format": "text"})
        self.assertEqual((code, answer), (200, {"translatedText": self.wanted}))
        form = urllib.parse.urlencode({"q": TEXTS[0], "source": "auto", "target": "de"})
        code, answer = self.ask("POST", "/translate", form)
        self.assertEqual((code, answer["translatedText"]), (200, self.wanted[0]))
        self.assertEqual(answer["detectedLanguage"]["language"], "en")
        code, answer = self.ask("POST", "/translate", {"q": "a", "source": "en", "target": "fr"})
        self.assertEqual((code, list(answer)), (400, ["error"]))

    def test_deepl(self):
        form = urllib.parse.urlencode({"text": TEXTS, "target_lang": "DE"}, doseq=True)
        code, answer = self.ask("POST", "/v2/translate", form,
                                {"Authorization": "DeepL-Auth-Key some-key"})
        self.assertEqual(code, 200)
        self.assertEqual([t["text"] for t in answer["translations"]], self.wanted)
        self.assertEqual(answer["translations"][0]["detected_source_language"], "EN")
        code, answer = self.ask("POST", "/v2/translate",
                                {"text": ["a"], "target_lang": "DE", "glossary_id": "x"})
        self.assertEqual(code, 404)
        self.assertIn("glossary", answer["message"])

    def test_google(self):
        code, answer = self.ask("POST", "/language/translate/v2?key=some-key",
                                {"q": TEXTS, "source": "en", "target": "de", "format": "text"})
        self.assertEqual(code, 200)
        self.assertEqual([t["translatedText"] for t in answer["data"]["translations"]],
                         self.wanted)
        code, answer = self.ask("POST", "/language/translate/v2", {"q": "a"})
        self.assertEqual((code, answer["error"]["status"]), (400, "INVALID_ARGUMENT"))

    @optional
    def test_the_clients_of_npm(self):
        self.drive_the_clients("http")

    @optional
    def test_the_clients_of_npm_over_tls(self):
        authority = Authority()
        cert, key = authority.issue("server", "IP:127.0.0.1,DNS:localhost")
        self.drive_the_clients("https", "--tls-cert", cert, "--tls-key", key, NODE_EXTRA_CA_CERTS=authority.ca)

    @classmethod
    @functools.cache
    def npm_clients(cls):
        """The directory with the clients."""
        if given := os.environ.get("DRAGOMAN_NPM_CLIENTS"):
            return given
        cls.addClassCleanup((directory := tempfile.TemporaryDirectory()).cleanup)
        subprocess.run(["npm", "install", "--prefix", directory.name, "--no-audit", "--no-fund", "--ignore-scripts",
                        *NPM_CLIENTS], check=True, timeout=300)
        return directory.name

    def drive_the_clients(self, scheme, *flags, **environment):
        glossaries = tempfile.TemporaryDirectory()
        self.addCleanup(glossaries.cleanup)
        server = Server(*self.arguments, *flags, "--store", f"sqlite:{glossaries.name}/store.db")
        self.addCleanup(server.stop)
        base = f"{scheme}://{server.http_address}"
        script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "npm_clients.mjs")
        run = subprocess.run(["node", script, self.npm_clients(), base],
                             capture_output=True, text=True, timeout=300,
                             env={**os.environ, **environment})
        self.assertEqual(run.returncode, 0, run.stderr)
        seen = json.loads(run.stdout)
        self.assertEqual(seen["libretranslate"]["text"], self.wanted[0])
        self.assertIn("fr", seen["libretranslate"]["error"])
        self.assertEqual(seen["deepl"]["text"], self.wanted[0])
        self.assertEqual(seen["deepl"]["many"][0], self.wanted[0])
        self.assertEqual((seen["deepl"]["detected"], seen["deepl"]["sources"]), ("en", ["en"]))
        self.assertEqual(seen["deepl"]["html"], f"<b>{self.wanted[0]}</b>")
        self.assertEqual(seen["deeplGlossaries"], {
            "pairs": [{"sourceLang": "en", "targetLang": "de"}], "listed": ["Houses", "More"], "count": 2,
            "entries": {"house": "Haus", "London": "London"}, "text": self.house, "several": self.house,
            "renamed": "Other", "replaced": 2, "severalEntries": {"house": "Haus", "cat": "Katze"}, "left": 0,
            "gone": seen["deeplGlossaries"]["gone"]})
        self.assertIn("glossary", seen["deeplGlossaries"]["gone"])
        self.assertEqual(seen["google"]["text"], self.wanted[0])
        self.assertEqual(seen["google"]["many"][0], self.wanted[0])
        self.assertEqual(seen["google"]["detected"], "de")
        self.assertEqual(seen["google"]["html"], f"<b>{self.wanted[0]}</b>")
        self.assertEqual(seen["googleV3"], {"html": f"<b>{self.wanted[0]}</b>", "detected": "en"})
        self.assertEqual(seen["azure"], {"html": f"<b>{self.wanted[0]}</b>", "detected": "en",
                                         "lengths": [len(TEXTS[0])], "refusal": 400036})
        self.assertIn("/v1/translate", seen["openapi"])


if __name__ == "__main__":
    unittest.main()
