"""A text that is in the target language already comes back as it is, at every door.

The doors are the calls of the programs (replay_test), each asked for English from English, and DOORS.
"""

import base64
import json
import os
import re
import subprocess
import tempfile
import unittest
import urllib.error
import urllib.request

from document_api_test import form
from harness import BUILT_IN, CLIENT, ServerTest, await_true, pb
from replay_test import AS_JSON, CALLS, Wanted, js, send

MODEL = ("--model", f"m={BUILT_IN}")
TEXT = "Where is the  nearest station,\tat 12:30?"  # with what no translation would keep
LONG = "The weather is very nice today, and the children play in the garden behind the old house."
RUSSIAN = "Сегодня очень хорошая погода, и дети играют в саду за старым домом."


def posted(server, path, body):
    """The answer, or the code and the text of an error."""
    request = urllib.request.Request(f"http://{server.http_address}{path}", js(body), AS_JSON)
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)
    except urllib.error.HTTPError as error:
        return f"{error.code} {error.read().decode()}"


def pair(source, target):
    return {"source_language": source, "target_language": target}


def stream(server, text, source, target):
    messages = server.translation.TranslateStream(pb.TranslateRequest(contents=[text], **pair(source, target)))
    return [m.translation.hypotheses[0].text for m in messages if m.HasField("translation")][0]


def bulk(server, text, source, target):
    asked = pb.TranslateBulkRequest(id="a", request=pb.TranslateRequest(contents=[text], **pair(source, target)))
    return [m.response.translations[0].hypotheses[0].text for m in server.translation.TranslateBulk(iter([asked]))][0]


def document(server, text, source, target):
    asked = [pb.TranslateDocumentRequest(header=pb.DocumentHeader(
        file_name="a.txt", request=pb.TranslateRequest(**pair(source, target)))),
             pb.TranslateDocumentRequest(chunk=text.encode())]
    return b"".join(m.chunk for m in server.translation.TranslateDocument(iter(asked))).decode()


def google_document(server, text, source, target):
    answer = posted(server, "/v3/projects/p/locations/global:translateDocument", {
        "documentInputConfig": {"content": base64.b64encode(text.encode()).decode(), "mimeType": "text/plain"},
        "sourceLanguageCode": "" if source == "auto" else source, "targetLanguageCode": target})
    return base64.b64decode(answer["documentTranslation"]["byteStreamOutputs"][0]).decode()


def sent_form(server, text, path, **fields):
    body, kind = form(text, name="a.txt", **fields)
    request = urllib.request.Request(f"http://{server.http_address}{path}", body, {"Content-Type": kind})
    with urllib.request.urlopen(request, timeout=60) as answer:
        return answer.read().decode()


def uploaded(path, **more):
    def ask(server, text, source, target):
        names = dict(source_language=source, target_language=target)
        return sent_form(server, text, path.format(source, target), **more, **(names if "?" not in path else {}))
    return ask


def deepl_document(server, text, source, target):
    languages = {"target_lang": target.upper(), **({} if source == "auto" else {"source_lang": source.upper()})}
    made = json.loads(sent_form(server, text, "/v2/document", **languages))
    path, key = f"/v2/document/{made['document_id']}", {"document_key": made["document_key"]}
    await_true(lambda: posted(server, path, key)["status"] in ("done", "error"), "the end of the document")
    request = urllib.request.Request(f"http://{server.http_address}{path}/result", js(key), AS_JSON)
    with urllib.request.urlopen(request, timeout=60) as answer:
        return answer.read().decode()


def libretranslate_document(server, text, source, target):
    made = json.loads(sent_form(server, text, "/translate_file", source=source, target=target))
    with urllib.request.urlopen(made["translatedFileUrl"], timeout=60) as answer:
        return answer.read().decode()


def command(server, text, source, target):
    return subprocess.run([CLIENT, "translate", "--server", server.grpc_address, "-s", source, "-t", target, text],
                          capture_output=True, text=True, timeout=60, check=True).stdout.removesuffix("\n")


def file_command(server, text, source, target):
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "a.txt")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        subprocess.run([CLIENT, "translate-file", "--server", server.grpc_address, "-s", source, "-t", target, path],
                       capture_output=True, timeout=60, check=True)
        with open(os.path.join(directory, f"a.{target}.txt"), encoding="utf-8") as file:
            return file.read()


def tool(server, text, source, target):
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call",
            "params": {"name": "translate", "arguments": {"text": text, **pair(source, target)}}}
    ended = subprocess.run([CLIENT, "mcp", "--server", server.grpc_address], input=json.dumps(call) + "\n",
                           capture_output=True, text=True, timeout=60, check=True)
    return json.loads(ended.stdout)["result"]["content"][0]["text"]


def tensor(name, value):
    return {"name": name, "datatype": "BYTES", "shape": [1], "data": [value]}


# The text that comes back for a text, a source and a target.
DOORS = {
    "gRPC": lambda server, text, source, target:
        server.translate(text, **pair(source, target)).translations[0].hypotheses[0].text,
    "gRPC, stream": stream,
    "gRPC, bulk": bulk,
    "gRPC, document": document,
    "JSON": lambda server, text, source, target:
        posted(server, "/v1/translate", {"contents": [text], **pair(source, target)})
        ["translations"][0]["hypotheses"][0]["text"],
    "Google 3": lambda server, text, source, target:
        posted(server, "/v3/projects/p:translateText", {
            "contents": [text], "mimeType": "text/plain", "targetLanguageCode": target,
            "sourceLanguageCode": "" if source == "auto" else source})["translations"][0]["translatedText"],
    "Google 3, document": google_document,
    "JSON, document": uploaded("/v1/translate_file"),
    "Azure, document": uploaded("/translator/document:translate?sourceLanguage={}&targetLanguage={}"
                                "&api-version=2024-05-01", file_field="document"),
    "DeepL, document": deepl_document,
    "LibreTranslate, document": libretranslate_document,
    "OpenAI": lambda server, text, source, target:
        posted(server, "/v1/chat/completions", {
            "model": f"m:{target}" if source == "auto" else f"m:{source}-{target}",
            "messages": [{"role": "user", "content": text}]})["choices"][0]["message"]["content"],
    "Open Inference": lambda server, text, source, target:
        posted(server, "/v2/models/m/infer", {"inputs": [
            tensor("text", text), tensor("source_language", source), tensor("target_language", target)]})
        ["outputs"][0]["data"][0],
    "command": command,
    "command, document": file_command,
    "MCP": tool,
}

# What is asked for the translation of several texts from whatever they are in.
BATCHES = {
    "/v1/translate": lambda texts: {"contents": texts, **pair("auto", "de")},
    "/translate": lambda texts: {"q": texts, "source": "auto", "target": "de"},
    "/v2/translate": lambda texts: {"text": texts, "target_lang": "DE"},
    "/language/translate/v2": lambda texts: {"q": texts, "target": "de"},
    "/v3/projects/p:translateText": lambda texts: {"contents": texts, "targetLanguageCode": "de"},
    "/translate?api-version=3.0&to=de": lambda texts: [{"Text": text} for text in texts],
    "/imme": lambda texts: {"text_list": texts, "source_lang": "auto", "target_lang": "de"},
    "/kiss": lambda texts: {"texts": texts, "from": "auto", "to": "de"},
    "/v2/models/m/infer": lambda texts: {"inputs": [
        {"name": "text", "datatype": "BYTES", "shape": [len(texts)], "data": texts},
        tensor("source_language", "auto"), tensor("target_language", "de")]},
}

# What says in a call that German is wanted: "target": "de", target_lang=DE, to=de, a field of a form.
WANTS_GERMAN = re.compile(rb'(?i)((?:target|target_lang|tgt_lang|\bto|\btl)(?:" ?: ?"|=|"\r\n\r\n))de(u_Latn)?\b')


def into(call, language):
    """The call with another language in the place of German."""
    def put(text):
        return WANTS_GERMAN.sub(lambda m: m[1] + (b"eng_Latn" if m[2] else language.encode()), text)
    return call._replace(path=put(call.path.encode()).decode(), body=put(call.body))


class SameLanguageTest(ServerTest):

    arguments = MODEL

    def test_at_the_doors_of_programs(self):
        asked = 0
        for call in CALLS:
            for language in ("en", "en-GB"):
                english = into(call, language)
                if english == call:
                    continue
                asked += 1
                with self.subTest(call.program, source=call.source, path=english.path):
                    code, answer = send(self.server, english)
                    self.assertEqual(code, 200, answer)
                    for place, wanted in call.reads.items():
                        if not isinstance(wanted, Wanted) or wanted.target != "de":
                            continue
                        found = answer
                        for step in place:
                            found = found[step]
                        self.assertEqual(found, wanted.text, (place, answer))
        texts = [call for call in CALLS if any(isinstance(wanted, Wanted) for wanted in call.reads.values())]
        self.assertEqual(asked, 2 * len(texts) - 2)  # HCFY has its own rule

    def test_at_the_others(self):
        for door, ask in DOORS.items():
            for text, source, target in ((TEXT, "en", "en"), (TEXT, "EN", "en"), (TEXT, "en-US", "en-GB"),
                                         (LONG, "auto", "en"), (LONG, "auto", "en-GB"), (RUSSIAN, "ru", "ru")):
                with self.subTest(door, source=source, target=target):
                    self.assertEqual(ask(self.server, text, source, target), text)

    def test_one_foreign_text_among_several_is_named(self):
        for path, body in BATCHES.items():
            with self.subTest(path):
                answer = posted(self.server, path, body([LONG, LONG, RUSSIAN]))
                self.assertRegex(str(answer), r'^4\d\d .*the text with index 2 is in \\?\\?"ru')
                self.assertNotIsInstance(posted(self.server, path, body([LONG, LONG])), str)


class SameLanguagePivotTest(SameLanguageTest):
    """The same where every pair is served, through English."""

    arguments = MODEL + ("--pivot", "en")


if __name__ == "__main__":
    unittest.main()
