"""The JSON API and the compatibility APIs, with requests as their clients send them.

The optional tests are of the clients that npm has, by method and over TLS, and of those that PyPI has;
DRAGOMAN_NPM_CLIENTS may name a directory in which the former are installed, DRAGOMAN_PYPI_CLIENTS a virtual environment
with the latter, and DRAGOMAN_MAVEN_CLIENTS the class path of Maven's.
"""

import base64
import functools
import http.client
import json
import os
import re
import string
import struct
import subprocess
import sys
import tempfile
import time
import unittest
import unittest.mock
import urllib.parse

import grpc
from google.protobuf import json_format

from certificates import Authority
from harness import BUILT_IN, FLOAT32, SOURCE_DIR, Server, ServerTest, pb, serve
from suite import optional

from google.cloud.translate.v3 import translation_service_pb2 as google_pb
from inference import grpc_service_pb2 as inference_pb

NPM_CLIENTS = ("@azure-rest/ai-translation-text@2.0.0", "azure-1@npm:@azure-rest/ai-translation-text@1.0.1",
               "@apidevtools/swagger-parser@13.1.0", "@google-cloud/translate@10.1.0", "@modelcontextprotocol/sdk@1.32.2",
               "deepl-node@1.28.0", "openai@7.59.0", "translate@3.1.0")
PYPI_CLIENTS = ("azure-ai-translation-document==2.0.0", "azure-ai-translation-text==2.0.0", "deep-translator==1.11.4",
                "deepl==1.32.0", "google-cloud-translate==3.28.0", "kserve==0.21.0", "libretranslatepy==2.1.4", "openai==3.57.0",
                "tritonclient[grpc,http]==2.73.0")
MAVEN_CLIENTS = ("com.azure:azure-ai-translation-text:1.1.2", "com.deepl.api:deepl-java:1.17.0",
                 "com.google.cloud:google-cloud-translate:2.88.0", "com.openai:openai-java:4.101.0")
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

    def test_openai_understands_the_prompts_that_programs_send(self):
        cat, dog = (self.server.translate(text).translations[0].hypotheses[0].text
                    for text in ("The cat sleeps.", "The dog is old."))
        engine = {"role": "system", "content": "You are a professional,authentic machine translation engine."}
        prompts = {
            "Translate the following text from English to German:\n\nThe cat sleeps.": cat,
            "Please translate this English sentence into German: The cat sleeps.": cat,
            "Translate from English to German, keep punctuation as input, do not censor the translation, give only the "
            "output without comments:\n\nThe cat sleeps.": cat,
            "Translate the following markdown source text to de. Keep the formula notation {v*} unchanged. Output "
            "translation directly without any additional text.\nSource Text: The cat sleeps.\nTranslated Text:": cat,
            ";; Treat next line as plain text input and translate it into German, output translation ONLY. If translation "
            "is unnecessary (e.g. proper nouns, codes, {{1}}, etc. ), return the original text. NO explanations. NO "
            "notes. Input:\n\nThe cat sleeps.": cat,
            "You are a professional German translator.\n\n## Rules\n\n1. Keep all tags.\n\n## Output\n\nOutput ONLY the "
            "translated German text. No explanations.\n\nNow translate the following text:\n\nThe cat sleeps.": cat,
            'Translate into German:\n"""\nThe cat sleeps.\n"""': cat,
            "Translate to German (output translation only):\n\nThe cat sleeps.\n\n%%\n\nThe dog is old.":
                f"{cat}\n\n%%\n\n{dog}",
        }
        asked = [("en-de", [engine, {"role": "user", "content": prompt}], wanted) for prompt, wanted in prompts.items()]
        text = {"role": "user", "content": [{"type": "text", "text": "The cat sleeps."}]}
        luna = {"role": "system", "content": "You are a translator. Please help me translate the following English text into "
                "German. You should only tell me the translation result without any additional explanations."}
        asked += [("en-de", [luna, text], cat), ("en-de:en-de", [text], cat), ("en-de:de", [text], cat), (":de", [text], cat)]
        for model, messages, wanted in asked:
            with self.subTest(messages=messages):
                body = {"model": model, "messages": messages, "temperature": 0}
                code, answer = self.ask("POST", "/v1/chat/completions", body)
                self.assertEqual(code, 200, answer)
                choice = answer["choices"][0]
                self.assertEqual((choice["message"]["content"], choice["finish_reason"]), (wanted, "stop"))
                self.assertEqual(answer["usage"]["total_tokens"],
                                 answer["usage"]["prompt_tokens"] + answer["usage"]["completion_tokens"])
                events = self.events("/v1/chat/completions", {**body, "stream": True})
                self.assertEqual(events.pop(), "[DONE]")
                chunks = [json.loads(event)["choices"][0] for event in events]
                self.assertEqual("".join(chunk["delta"].get("content", "") for chunk in chunks), wanted)
                self.assertEqual(chunks[0]["delta"]["role"], "assistant")
                self.assertEqual([chunk["finish_reason"] for chunk in chunks], [None] * (len(chunks) - 1) + ["stop"])

    def events(self, path, body):
        connection = http.client.HTTPConnection(self.server.http_address, timeout=60)
        connection.request("POST", path, json.dumps(body), {"Content-Type": "application/json"})
        response = connection.getresponse()
        self.assertEqual(response.headers["Content-Type"], "text/event-stream")
        text = response.read().decode()
        connection.close()
        return [event.removeprefix("data: ") for event in text.split("\n\n") if event]

    def test_openai_refuses_what_is_no_translation(self):
        user = {"role": "user", "content": "What is the capital of France?"}
        for model, messages, code, part in (
                ("en-de", [user], 400, "asks for no translation"), ("en-de", [], 400, "have no text"),
                ("gpt-4o:en-de", [user], 404, "no model is named"), ("en-de:en-fr", [user], 400, "is not served"),
                ("en-de:english", [user], 400, "is not of the form NAME:en-de"),
                ("en-de", [{"role": "tool", "content": "x"}], 400, "role")):
            for stream in (False, True):
                status, answer = self.ask("POST", "/v1/chat/completions",
                                          {"model": model, "messages": messages, "stream": stream})
                self.assertEqual((status, answer["error"]["type"]), (code, "invalid_request_error"))
                self.assertIn(part, answer["error"]["message"])
        code, answer = self.ask("GET", "/v1/models")
        self.assertEqual((code, [model["id"] for model in answer["data"]]), (200, ["en-de"]))
        self.assertEqual(answer["models"][0]["name"], "en-de")

    def test_what_a_prompt_or_a_list_of_languages_costs_is_bounded(self):
        begin = time.monotonic()
        for model, prompt in ((":" + 10**6 * "-", "x"), (":" + 30 * "en-", "x"), ("", f"translate to {10**6 * '*'}a:\nx"),
                              ("", 15000 * "translate the following markdown source text to de. source text: ")):
            code, _ = self.ask("POST", "/v1/chat/completions",
                               {"model": model, "messages": [{"role": "user", "content": prompt}]})
            self.assertEqual(code, 400)
        languages = [{"language": f"de-{a}{b}"} for a in "ABCDEFGHIJ" for b in string.ascii_uppercase]
        for inputs in ([{"text": "a", "language": "en", "targets": languages[at:at + 120]} for at in (0, 120)],
                       40 * [{"text": "a " * 2000, "targets": 120 * [{"language": "de"}]}]):
            code, _ = self.ask("POST", "/translate?api-version=2026-06-06", {"inputs": inputs})
            self.assertEqual(code, 400)
        self.assertLess(time.monotonic() - begin, 10)

    def test_azure_of_2026_has_languages_and_options_of_each_text(self):
        house = {"text": "The old house is small.", "language": "en", "targets": [{"language": "de"}]}
        code, answer = self.ask("POST", "/translate?api-version=2026-06-06", {"inputs": [
            house, {**house, "text": TEXTS[0], "language": None}, {**house, "textType": "Html",
                                                                   "text": "<b>The old house is small.</b>"}]})
        self.assertEqual(code, 200)
        of_house, of_text, of_html = answer["value"]
        self.assertEqual(of_house, {"translations": [{"text": self.house, "language": "de"}]})
        self.assertEqual((of_text["translations"][0]["text"], of_text["detectedLanguage"]["language"]),
                         (self.wanted[0], "en"))
        self.assertEqual(of_html["translations"][0]["text"], f"<b>{self.house}</b>")
        for changed, wanted in (({"targets": []}, 400036), ({"targets": [{"language": "de", "tone": "formal"}]}, 400000),
                                ({"text": None}, 400005), ({"textType": "xml"}, 400071)):
            code, answer = self.ask("POST", "/translate?api-version=2026-06-06", {"inputs": [{**house, **changed}]})
            self.assertEqual((code, answer["error"]["code"]), (400, wanted))
        code, answer = self.ask("POST", "/translate?api-version=2027-01-01", {"inputs": [house]})
        self.assertEqual((code, answer["error"]["code"]), (400, 400021))

    def test_a_slash_at_the_end_is_the_same_path(self):
        form = urllib.parse.urlencode({"text": TEXTS[0], "target_lang": "DE"})
        self.assertEqual(self.ask("POST", "/v2/translate/", form), self.ask("POST", "/v2/translate", form))
        self.assertEqual(self.ask("GET", "/languages/")[0], 200)

    def test_languages_of_clients_menus(self):
        server = Server(*FLOAT32, "--model", f"six={BUILT_IN}", "--pivot", "en")
        self.addCleanup(server.stop)
        self.addCleanup(server.channel.close)
        with unittest.mock.patch.object(self, "server", server):
            targets = {each["code"]: each["targets"] for each in self.ask("GET", "/languages")[1]}
            self.assertEqual(targets["de"], ["en", "es", "fr"])  # two of them through English
            codes = [each["language"] for each in self.ask("GET", "/v2/languages?type=target")[1]]
            self.assertEqual(codes, ["DE", "EN-GB", "EN-US", "ES", "FR"])
            pairs = self.ask("GET", "/v2/glossary-language-pairs")[1]["supported_languages"]
            self.assertIn({"source_lang": "de", "target_lang": "fr"}, pairs)

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

    def call(self, file, service, method, request, metadata=(), server=None, timeout=60):
        """The answer of another API over gRPC, as JSON; or the code and the message of an error."""
        rpc = file.DESCRIPTOR.services_by_name[service].methods_by_name[method]
        message, answer = (getattr(file, kind.name) for kind in (rpc.input_type, rpc.output_type))
        call = (server or self.server).channel.unary_unary(
            f"/{rpc.containing_service.full_name}/{method}", request_serializer=message.SerializeToString,
            response_deserializer=answer.FromString)
        try:
            return json_format.MessageToDict(call(json_format.ParseDict(request, message()), timeout=timeout,
                                                  metadata=metadata))
        except grpc.RpcError as error:
            return error.code().name, error.details()

    def call_google(self, method, request, **options):
        return self.call(google_pb, "TranslationService", method, request, **options)

    def as_message(self, method, rest):
        """What Google's message says of an answer over REST."""
        rpc = google_pb.DESCRIPTOR.services_by_name["TranslationService"].methods_by_name[method]
        return json_format.MessageToDict(json_format.ParseDict(rest, getattr(google_pb, rpc.output_type.name)()))

    def test_google_over_grpc_answers_as_over_rest(self):
        german = {"targetLanguageCode": "de"}
        file = {"content": base64.b64encode(TEXTS[0].encode()).decode(), "mimeType": "text/plain"}
        calls = (
            ("TranslateText", ":translateText", [
                {"contents": TEXTS, "sourceLanguageCode": "en", "mimeType": "text/plain", **german},
                {"contents": [f"<b>{TEXTS[0]}</b>"], "model": "any", **german},
                {"contents": TEXTS}, {"contents": TEXTS, "targetLanguageCode": "xx"}, german,
                {"contents": TEXTS, "mimeType": "text/rtf", **german},
                {"contents": TEXTS, "glossaryConfig": {"glossary": "x"}, **german},
                {"contents": TEXTS, "transliterationConfig": {}, **german}]),
            ("DetectLanguage", ":detectLanguage", [{"content": "Wo ist der Bahnhof?"}, {}]),
            ("TranslateDocument", ":translateDocument", [
                {"documentInputConfig": file, **german},
                {"documentInputConfig": {**file, "content": ""}, "sourceLanguageCode": "en", **german},
                {"documentInputConfig": file}, german, {"documentInputConfig": {"mimeType": "text/plain"}, **german},
                {"documentInputConfig": {"content": file["content"]}, **german},
                {"documentInputConfig": {**file, "mimeType": "application/pdf"}, **german},
                {"documentInputConfig": {"gcsSource": {}, "mimeType": "text/plain"}, **german},
                {"documentInputConfig": file, "documentOutputConfig": {"gcsDestination": {}}, **german},
                {"documentInputConfig": file, "customizedAttribution": "x", **german},
                {"documentInputConfig": file, "targetLanguageCode": "xx"}]))
        right = 0
        for method, path, requests in calls:
            for request in requests:
                with self.subTest(method=method, request=request):
                    code, rest = self.ask("POST", "/v3/projects/any/locations/global" + path, request)
                    if code == 200:
                        right += 1
                        self.assertEqual(self.call_google(method, request), self.as_message(method, rest))
                    else:
                        self.assertEqual(self.call_google(method, request),
                                         (rest["error"]["status"], rest["error"]["message"]))
        self.assertEqual(right, 6)
        _, rest = self.ask("GET", "/v3/projects/any/supportedLanguages?displayLanguageCode=en")
        listed = self.call_google("GetSupportedLanguages", {"displayLanguageCode": "en"})
        self.assertEqual(listed, self.as_message("GetSupportedLanguages", rest))
        self.assertEqual(listed["languages"][0]["displayName"], "German")

    GLOSSARY_CALLS = {  # the verb, what follows the name, and the field of the body
        "CreateGlossary": ("POST", "/glossaries", "glossary"), "ListGlossaries": ("GET", "/glossaries", None),
        "GetGlossary": ("GET", "", None), "DeleteGlossary": ("DELETE", "", None),
        "CreateGlossaryEntry": ("POST", "/glossaryEntries", "glossaryEntry"),
        "ListGlossaryEntries": ("GET", "/glossaryEntries", None), "GetGlossaryEntry": ("GET", "", None),
        "UpdateGlossaryEntry": ("PATCH", "", "glossaryEntry"), "DeleteGlossaryEntry": ("DELETE", "", None)}

    def call_glossary(self, method, request, over_grpc):
        """What a call came to over either transport: a message, or the name and the text of an error."""
        if over_grpc:
            return self.call_google(method, request)
        verb, suffix, field = self.GLOSSARY_CALLS[method]
        name = request.get("parent") or request.get("name") or request[field]["name"]
        query = urllib.parse.urlencode({key: value for key, value in request.items() if key.startswith("page")})
        code, rest = self.ask(verb, f"/v3/{name}{suffix}?{query}", request[field] if field else None)
        return self.as_message(method, rest) if code == 200 else (rest["error"]["status"], rest["error"]["message"])

    def test_glossaries_of_google(self):
        location = "projects/any/locations/global"
        for over_grpc in (False, True):
            call = functools.partial(self.call_glossary, over_grpc=over_grpc)
            name, pair = f"{location}/glossaries/houses", {"sourceLanguageCode": "en", "targetLanguageCode": "de"}

            def entry(source, target):
                return {"termsPair": {"sourceTerm": {"languageCode": "en", "text": source},
                                      "targetTerm": {"languageCode": "de", "text": target}}}
            request = {"parent": location, "glossary": {"name": name, "languagePair": pair}}
            made = call("CreateGlossary", request)
            self.assertTrue(made["done"])
            self.assertEqual(made["metadata"]["state"], "SUCCEEDED")
            self.assertEqual((made["response"]["name"], made["response"]["languagePair"]), (name, pair))
            self.assertEqual(call("CreateGlossary", request)[0], "ALREADY_EXISTS")
            for change, message in (({"inputConfig": {}}, "inputConfig: is not supported"),
                                    ({"languageCodesSet": {}}, "languageCodesSet: is not supported"),
                                    ({"displayName": "x"}, "displayName: is not supported"),
                                    ({"name": "houses"}, "name: is not of the form"), ({"name": name + "/x"}, "plain name"),
                                    ({}, "languagePair.sourceLanguageCode: is missing")):
                status, text = call("CreateGlossary", {"parent": location, "glossary": {"name": name + "2", **change}})
                self.assertEqual(status, "INVALID_ARGUMENT")
                self.assertIn(message, text)
            added = call("CreateGlossaryEntry", {"parent": name, "glossaryEntry": entry("house", "Hütte")})
            self.assertEqual(added["termsPair"], entry("house", "Hütte")["termsPair"])
            self.assertTrue(added["name"].startswith(name + "/glossaryEntries/"))
            call("CreateGlossaryEntry", {"parent": name, "glossaryEntry": entry("cat", "Kater")})
            for change, code in ((entry("house", "x"), "ALREADY_EXISTS"), (entry("", "x"), "INVALID_ARGUMENT"),
                                 ({"termsSet": {}}, "INVALID_ARGUMENT"),
                                 ({**entry("a", "b"), "description": "x"}, "INVALID_ARGUMENT"),
                                 ({"termsPair": {"sourceTerm": {"languageCode": "fr", "text": "a"},
                                                 "targetTerm": {"languageCode": "de", "text": "b"}}}, "INVALID_ARGUMENT")):
                self.assertEqual(call("CreateGlossaryEntry", {"parent": name, "glossaryEntry": change})[0], code)
            self.assertEqual(call("GetGlossary", {"name": name})["entryCount"], 2)
            self.assertIn(name, [each["name"] for each in call("ListGlossaries", {"parent": location})["glossaries"]])
            page = call("ListGlossaryEntries", {"parent": name, "pageSize": 1})
            self.assertEqual(page["glossaryEntries"], [added])
            page = call("ListGlossaryEntries", {"parent": name, "pageToken": page["nextPageToken"]})
            self.assertEqual([each["termsPair"] for each in page["glossaryEntries"]], [entry("cat", "Kater")["termsPair"]])
            self.assertNotIn("nextPageToken", page)

            house = {"contents": ["The old house is small."], "mimeType": "text/plain", "sourceLanguageCode": "en",
                     "targetLanguageCode": "de", "glossaryConfig": {"glossary": name}}

            def translate(method, request):
                if over_grpc:
                    return self.call_google(method, request)
                return self.ask("POST", f"/v3/{location}:{method[0].lower()}{method[1:]}", request)[1]
            [translation] = translate("TranslateText", house)["glossaryTranslations"]
            self.assertIn("Hütte", translation["translatedText"])
            self.assertEqual(translation["glossaryConfig"], {"glossary": name})
            file = {"content": base64.b64encode(house["contents"][0].encode()).decode(), "mimeType": "text/plain"}
            answer = translate("TranslateDocument", {"documentInputConfig": file, "targetLanguageCode": "de",
                                                     "glossaryConfig": {"glossary": name}})
            [output] = answer["glossaryDocumentTranslation"]["byteStreamOutputs"]
            self.assertIn("Hütte", base64.b64decode(output).decode())
            self.assertEqual(answer["glossaryConfig"], {"glossary": name})
            for option in ("ignoreCase", "contextualTranslationEnabled"):
                answer = translate("TranslateText", {**house, "glossaryConfig": {"glossary": name, option: True}})
                self.assertIn(f"glossaryConfig.{option}: is not supported", str(answer))

            changed = call("UpdateGlossaryEntry", {"glossaryEntry": {**added, **entry("house", "Bude")}})
            self.assertEqual(call("GetGlossaryEntry", {"name": added["name"]}), changed)
            self.assertIn("Bude", translate("TranslateText", house)["translations"][0]["translatedText"])
            self.assertEqual(call("DeleteGlossaryEntry", {"name": added["name"]}), {})
            for method in ("GetGlossaryEntry", "DeleteGlossaryEntry"):
                for gone in (added["name"], name + "/glossaryEntries/x"):
                    self.assertEqual(call(method, {"name": gone})[0], "NOT_FOUND")
            self.assertEqual(call("UpdateGlossaryEntry", {"glossaryEntry": added})[0], "NOT_FOUND")
            self.assertTrue(call("DeleteGlossary", {"name": name})["done"])
            self.assertEqual(call("GetGlossary", {"name": name})[0], "NOT_FOUND")

    def test_glossaries_of_one_store_are_google_s_and_deepl_s(self):
        created = self.ask("POST", "/v2/glossaries", {"name": "Old houses", "source_lang": "en", "target_lang": "de",
                                                      "entries": "house\tHaus"})[1]["glossary_id"]
        name = f"projects/any/locations/global/glossaries/{created}"
        self.assertEqual(self.call_google("GetGlossary", {"name": name})["entryCount"], 1)
        self.assertIn(name, [each["name"] for each in self.call_google(
            "ListGlossaries", {"parent": "projects/any/locations/global"})["glossaries"]])
        self.ask("DELETE", f"/v3/{name}")
        self.assertEqual(self.ask("GET", f"/v3/{name}")[0], 404)

    def test_a_file_of_google_over_grpc_is_bounded_and_given_up(self):
        def translate(text, **options):
            file = {"content": base64.b64encode(text.encode()).decode(), "mimeType": "text/plain"}
            return self.call_google("TranslateDocument", {"documentInputConfig": file, "targetLanguageCode": "de"},
                                    **options)
        self.assertEqual(translate("x" * (1 << 20))[0], "RESOURCE_EXHAUSTED")
        many = "".join(f"The cat number {i} is old.\n" for i in range(30000))
        self.assertEqual(translate(many, timeout=0.5)[0], "DEADLINE_EXCEEDED")
        ended = re.compile("method=TranslateDocument api=google code=(CANCELLED|DEADLINE_EXCEEDED)")
        end = time.monotonic() + 10
        while not ended.search(self.server.log_text()) and time.monotonic() < end:
            time.sleep(0.05)
        self.assertRegex(self.server.log_text(), ended)
        self.assertEqual(translate(TEXTS[0])["documentTranslation"]["mimeType"], "text/plain")

    def test_google_over_grpc_takes_its_key(self):
        with tempfile.NamedTemporaryFile("w", suffix=".tokens") as tokens:
            tokens.write("shop shop-token-0123456789\n")
            tokens.flush()
            server = Server(*FLOAT32, "--auth-tokens", tokens.name)
            self.addCleanup(server.stop)
            request = {"contents": TEXTS, "targetLanguageCode": "de"}
            for key, code in (("shop-token-0123456789", None), ("wrong", "UNAUTHENTICATED")):
                for metadata in ((("x-goog-api-key", key),), (("authorization", f"Bearer {key}"),)):
                    answer = self.call_google("TranslateText", request, metadata=metadata, server=server)
                    if code is None:
                        self.assertEqual([each["translatedText"] for each in answer["translations"]], self.wanted)
                    else:
                        self.assertEqual(answer[0], code)
                        self.assertIn("X-goog-api-key", answer[1])
            self.assertIn("api=google", server.log_text())

    def infer(self, path, inputs, binary=None, headers=None, **more):
        """The code and the answer of the inference API: what comes after its JSON, if anything does, is bytes."""
        text = json.dumps({"inputs": inputs, **more}).encode()
        if binary is not None:
            headers = {"Inference-Header-Content-Length": str(len(text)), **(headers or {})}
        connection = http.client.HTTPConnection(self.server.http_address, timeout=60)
        connection.request("POST", path, text + (binary or b""), headers or {"Content-Type": "application/json"})
        response = connection.getresponse()
        body = response.read()
        connection.close()
        length = int(response.headers.get("Inference-Header-Content-Length", len(body)))
        return response.status, json.loads(body[:length]), body[length:]

    def call_inference(self, method, request, **options):
        return self.call(inference_pb, "GRPCInferenceService", method, request, **options)

    def test_open_inference_translates_tensors_of_texts(self):
        elements = b"".join(struct.pack("<I", len(text.encode())) + text.encode() for text in TEXTS)
        wanted = b"".join(struct.pack("<I", len(text.encode())) + text.encode() for text in self.wanted)
        text = {"name": "text", "datatype": "BYTES", "shape": [3, 1]}
        languages = [{"name": name, "datatype": "BYTES", "shape": [1], "data": [value]}
                     for name, value in (("source_language", "en"), ("target_language", "de"))]
        output = {"name": "translation", "datatype": "BYTES", "shape": [3, 1]}
        answer = {"model_name": "en-de", "model_version": "stable", "id": "7"}
        named = {"name": "translation", "parameters": {"binary_data": True}}
        for path in ("/v2/models/en-de/infer", "/v2/models/en-de/versions/stable/infer"):
            for data in (TEXTS, [[each] for each in TEXTS]):
                self.assertEqual(self.infer(path, [{**text, "data": data}, *languages], id="7"),
                                 (200, {**answer, "outputs": [{**output, "data": self.wanted}]}, b""))
        binary = {**text, "parameters": {"binary_data_size": len(elements)}}
        of_bytes = {**answer, "outputs": [{**output, "parameters": {"binary_data_size": len(wanted)}}]}
        for more in ({"parameters": {"binary_data_output": True}}, {"outputs": [named]}):
            self.assertEqual(self.infer("/v2/models/en-de/infer", [binary, *languages[1:]], elements, id="7", **more),
                             (200, of_bytes, wanted))

        def base64s(*values):
            return [base64.b64encode(value).decode() for value in values]
        request = {"modelName": "en-de", "id": "7"}
        answer = {"modelName": "en-de", "modelVersion": "stable", "id": "7"}
        output["shape"] = ["3", "1"]
        self.assertEqual(
            self.call_inference("ModelInfer", {**request, "inputs": [text], "rawInputContents": base64s(elements)}),
            {**answer, "outputs": [output], "rawOutputContents": base64s(wanted)})
        contents = {"bytesContents": base64s(*(each.encode() for each in TEXTS))}
        self.assertEqual(
            self.call_inference("ModelInfer", {**request, "inputs": [{**text, "contents": contents}]}),
            {**answer, "outputs": [{**output, "contents": {
                "bytesContents": base64s(*(each.encode() for each in self.wanted))}}]})

    def test_open_inference_refuses_by_name(self):
        text = {"name": "text", "datatype": "BYTES", "shape": [1], "data": ["a"]}
        for inputs, message in (([], "text: is empty"), ([{**text, "datatype": "FP32"}], "text: is not of the datatype"),
                                ([{**text, "shape": [2]}], "text: has another shape"),
                                ([{**text, "shape": [-1, -1]}], "text: has another shape"),
                                ([{**text, "shape": 2 * [2**62] + [0]}], "text: has another shape"),
                                ([{**text, "data": [1]}], "no texts"), ([{**text, "shape": ["1"]}], "no integers"),
                                ([{**text, "name": "image"}], "\"image\" is none"), ([text, text], "text: is there twice"),
                                ([text, {**text, "name": "target_language", "data": ["xx"]}], "target_language: "),
                                ([text, {**text, "name": "target_language", "shape": [2], "data": ["de", "fr"]}],
                                 "several languages"), (["x"], "no texts"),
                                ([{**text, "parameters": {"binary_data_size": 9}}], "beyond the end")):
            with self.subTest(inputs=inputs):
                code, answer, _ = self.infer("/v2/models/en-de/infer", inputs)
                self.assertEqual(code, 400)
                self.assertIn(message, answer["error"])
        size = {"parameters": {"binary_data_size": 5}}
        for binary, message in ((b"\1\0\0\0\xff", "UTF-8"), (b"\2\0\0\0a", "ends within"), (b"\1\0\0\0", "beyond")):
            code, answer, _ = self.infer("/v2/models/en-de/infer", [{**text, **size}], binary)
            self.assertEqual(code, 400)
            self.assertIn(message, answer["error"])
        for length in ("99999", "x", "-1"):
            code, answer, _ = self.infer("/v2/models/en-de/infer", [text],
                                         headers={"Inference-Header-Content-Length": length})
            self.assertEqual((code, answer["error"].split(":")[0]), (400, "Inference-Header-Content-Length"))
        self.assertEqual(self.infer("/v2/models/en-de/infer", [text], outputs=[{"name": "x"}])[0], 400)
        self.assertEqual(self.infer("/v2/models/gone/infer", [text])[0], 404)
        tensor = {"name": "text", "datatype": "BYTES", "shape": [1], "contents": {"bytesContents": ["/w=="]}}
        for request, code in (({"inputs": [tensor]}, "INVALID_ARGUMENT"), ({"modelName": "gone"}, "NOT_FOUND"),
                              ({"inputs": [tensor], "rawInputContents": ["AAAAAA==", "AA=="]}, "INVALID_ARGUMENT"),
                              ({"inputs": [tensor], "rawInputContents": ["AAA="]}, "INVALID_ARGUMENT"),
                              ({"modelName": "gone", "inputs": [tensor], "rawInputContents": ["AAAAAA=="]}, "NOT_FOUND"),
                              ({"inputs": [tensor], "outputs": [{"name": "x"}], "rawInputContents": ["AAAAAA=="]},
                               "INVALID_ARGUMENT")):
            self.assertEqual(self.call_inference("ModelInfer", request)[0], code, request)

    def test_open_inference_tells_health_and_metadata_alike(self):
        model = {"name": "en-de"}
        for path, method, request in (("/v2/health/live", "ServerLive", {}), ("/v2/health/ready", "ServerReady", {}),
                                      ("/v2", "ServerMetadata", {}), ("/v2/models/en-de", "ModelMetadata", model),
                                      ("/v2/models/en-de/ready", "ModelReady", model),
                                      ("/v2/models/en-de/versions/stable/ready", "ModelReady", model)):
            code, rest = self.ask("GET", path)
            self.assertEqual(code, 200, path)
            if method == "ModelReady":
                self.assertEqual(rest.pop("name"), "en-de")
            for tensor in rest.get("inputs", []) + rest.get("outputs", []):
                tensor["shape"] = [str(size) for size in tensor["shape"]]
            self.assertEqual(self.call_inference(method, request), rest)
        for path, method, request in (("/v2/models/gone", "ModelMetadata", {"name": "gone"}),
                                      ("/v2/models/en-de/versions/3/ready", "ModelReady", {**model, "version": "3"})):
            code, rest = self.ask("GET", path)
            self.assertEqual((code, ("NOT_FOUND", rest["error"])), (404, self.call_inference(method, request)))
        self.assertEqual(self.ask("GET", "/v2/languages")[0], 200)  # is still DeepL's
        for method, path in (("GET", "/v2/models/en-de/config"), ("POST", "/v2/models/en-de/generate"),
                             ("POST", "/v2/repository/index"), ("POST", "/v2/repository/models/en-de/load"),
                             ("GET", "/v2/health/x"), ("GET", "/v2/systemsharedmemory/status"), ("POST", "/v2/logging")):
            code, rest = self.ask(method, path)
            self.assertIn((code, list(rest)), ((404, ["error"]), (405, ["error"])), path)

    def test_an_api_that_is_not_enabled_has_no_service(self):
        server = Server(*FLOAT32, "--compat", "none")
        self.addCleanup(server.stop)
        self.assertEqual(self.call_google("DetectLanguage", {"content": "a"}, server=server)[0], "UNIMPLEMENTED")
        self.assertEqual(self.call_inference("ServerLive", {}, server=server)[0], "UNIMPLEMENTED")

    @classmethod
    @functools.cache
    def pypi_clients(cls):
        """The Python that has the clients."""
        directory = os.environ.get("DRAGOMAN_PYPI_CLIENTS")
        if directory is None:
            cls.addClassCleanup((temporary := tempfile.TemporaryDirectory()).cleanup)
            directory = temporary.name
            subprocess.run([sys.executable, "-m", "venv", directory], check=True, timeout=60)
            for packages in (PYPI_CLIENTS, ("--no-deps", "--target", f"{directory}/azure-1",
                                            "azure-ai-translation-text==1.0.1")):
                subprocess.run([f"{directory}/bin/pip", "install", "--quiet", *packages], check=True, timeout=300)
        return f"{directory}/bin/python"

    def call_all_methods(self, first, last, *command):
        """Compares what a run prints with the page's sections from one title to another; None: to its end."""
        store = tempfile.TemporaryDirectory()
        self.addCleanup(store.cleanup)
        server = serve(self, *self.arguments, "--store", f"sqlite:{store.name}/store.db")
        places = {"GRPC": server.grpc_address, "HTTP": server.http_address}
        environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
        run = subprocess.run([places.get(word, word) for word in command], capture_output=True, text=True, timeout=200,
                             env=environment, cwd=os.path.join(SOURCE_DIR, "tests/e2e"))
        self.assertEqual(run.returncode, 0, run.stderr)
        with open(os.path.join(SOURCE_DIR, "docs/compatible_apis.md"), encoding="utf-8") as file:
            page = file.read()
        end = page.index(f"\n## {last}\n") if last else len(page)
        self.maxDiff = None
        self.assertEqual(page[page.index(f"\n## {first}\n"):end], run.stdout)

    @optional
    def test_what_the_clients_of_pypi_get_is_what_the_page_says(self):
        self.call_all_methods("DeepL", "DeepL, Node.js", self.pypi_clients(), "client_methods.py", "GRPC", "HTTP")

    @optional
    def test_what_the_clients_of_npm_get_is_what_the_page_says(self):
        self.call_all_methods("DeepL, Node.js", "DeepL, Java", "node", "client_methods.mjs", self.npm_clients(), "GRPC", "HTTP",
                              os.environ["DRAGOMAN_CLIENT_BINARY"])

    @optional
    def test_what_the_clients_of_maven_get_is_what_the_page_says(self):
        self.call_all_methods("DeepL, Java", None, "java", "-cp", self.maven_clients(), "ClientMethods.java", "GRPC", "HTTP")

    @optional
    def test_the_clients_of_npm_over_tls(self):
        authority = Authority()
        cert, key = authority.issue("server", "IP:127.0.0.1,DNS:localhost")
        self.drive_the_clients("--tls-cert", cert, "--tls-key", key, NODE_EXTRA_CA_CERTS=authority.ca)

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

    def maven_clients(self):
        """The class path."""
        if given := os.environ.get("DRAGOMAN_MAVEN_CLIENTS"):
            return given
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        clients = ["<dependency><groupId>{}</groupId><artifactId>{}</artifactId><version>{}</version></dependency>".format(
            *each.split(":")) for each in MAVEN_CLIENTS]
        with open(f"{directory.name}/pom.xml", "w", encoding="utf-8") as file:
            file.write("<project><modelVersion>4.0.0</modelVersion><groupId>a</groupId><artifactId>a</artifactId>"
                       f"<version>1</version><dependencies>{''.join(clients)}</dependencies></project>")
        subprocess.run(["mvn", "-q", "-B", f"-Dmaven.repo.local={directory.name}/repository", "-Dmdep.outputFile=path",
                        "dependency:build-classpath"], cwd=directory.name, check=True, timeout=300)
        with open(f"{directory.name}/path", encoding="utf-8") as file:
            return file.read()

    def drive_the_clients(self, *flags, **environment):
        glossaries = tempfile.TemporaryDirectory()
        self.addCleanup(glossaries.cleanup)
        server = Server(*self.arguments, *flags, "--store", f"sqlite:{glossaries.name}/store.db")
        self.addCleanup(server.stop)
        script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "npm_clients.mjs")
        run = subprocess.run(["node", script, self.npm_clients(), f"https://{server.http_address}"],
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
        html = f"<b>{self.wanted[0]}</b>"
        self.assertEqual(seen["googleV3"], {"html": html, "detected": "en"})
        self.assertEqual(seen["azure"], {"html": f"<b>{self.wanted[0]}</b>", "detected": "en",
                                         "lengths": [len(TEXTS[0])], "refusal": 400036})
        self.assertIn("/v1/translate", seen["openapi"])


if __name__ == "__main__":
    unittest.main()
