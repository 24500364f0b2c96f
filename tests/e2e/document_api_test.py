"""Documents over gRPC and HTTP: bytes, callers and limits, with requests as clients send them."""

import base64
import http.client
import json
import os
import tempfile
import threading
import unittest
import uuid

from harness import BUILT_IN, ServerTest, await_true, golden_inputs, pb, serve

import grpc

INPUTS = [i["text"] for i in golden_inputs()[:40]]
TEXT = "\n\n".join(INPUTS) + "\n"
PAIR = {"source_language": "en", "target_language": "de"}


def form(file, name="letter.txt", file_field="file", **fields):
    """The body and the type of a form with a file, as libraries send it."""
    boundary = uuid.uuid4().hex
    parts = [f'--{boundary}\r\nContent-Disposition: form-data; name="{field}"\r\n\r\n{value}\r\n'
             for field, value in fields.items()]
    parts.append(f'--{boundary}\r\nContent-Disposition: form-data; name="{file_field}"; filename="{name}"\r\n'
                 "Content-Type: application/octet-stream\r\n\r\n")
    file = file if isinstance(file, bytes) else file.encode()
    body = "".join(parts).encode() + file + f"\r\n--{boundary}--\r\n".encode()
    return body, f"multipart/form-data; boundary={boundary}"


class DocumentApiTest(ServerTest):

    arguments = ("--model", f"en-de-fr-es={BUILT_IN}", "--max-characters", "1000")

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        texts = [cls.server.translate(text, **PAIR).translations[0].hypotheses[0].text for text in INPUTS]
        cls.wanted = "\n\n".join(texts) + "\n"

    def ask(self, method, path, body=None, headers=None, server=None):
        """The code, the headers and the body of a response."""
        connection = http.client.HTTPConnection((server or self.server).http_address, timeout=120)
        self.addCleanup(connection.close)
        try:
            connection.request(method, path, body, headers or {})
        except BrokenPipeError:
            pass  # it was refused before its body was read; the answer is there
        response = connection.getresponse()
        return response.status, response.headers, response.read()

    def upload(self, path, server=None, headers=None, **fields):
        body, content_type = form(fields.pop("file", TEXT), **fields)
        return self.ask("POST", path, body, {"Content-Type": content_type, **(headers or {})}, server)

    def test_grpc_sends_the_file_in_chunks(self):
        def messages():
            yield pb.TranslateDocumentRequest(header=pb.DocumentHeader(
                file_name="letter.txt", request=pb.TranslateRequest(**PAIR)))
            for at in range(0, len(TEXT), 100):
                yield pb.TranslateDocumentRequest(chunk=TEXT[at:at + 100].encode())

        answers = list(self.server.translation.TranslateDocument(messages(), timeout=120))
        self.assertEqual(b"".join(a.chunk for a in answers).decode(), self.wanted)
        self.assertEqual(answers[-1].report.file_name, "letter.de.txt")
        self.assertEqual(answers[-1].report.passages, len(INPUTS))
        self.assertEqual(answers[-1].report.model, "en-de-fr-es")
        progress = [a.progress for a in answers if a.HasField("progress")]
        self.assertEqual(progress[-1].passages_done, len(INPUTS))

    def test_http_answers_with_the_file(self):
        code, headers, body = self.upload("/v1/translate_file", **PAIR)
        self.assertEqual((code, body.decode()), (200, self.wanted))
        self.assertIn("letter.de.txt", headers["Content-Disposition"])
        code, _, body = self.upload("/v1/translate_file", request=json.dumps(
            {"sourceLanguage": "en", "targetLanguage": "de", "options": {"beamSize": 99}}))
        self.assertEqual(code, 400)
        self.assertIn("beam_size", json.loads(body)["message"])

    def test_a_passage_that_is_too_long_stays(self):
        code, _, body = self.upload("/v1/translate_file", file="Hello!\n\n" + "word " * 300, **PAIR)
        self.assertEqual((code, body.decode()), (200, "Hallo!\n\n" + "word " * 300))

    def test_a_subtitle_stays_in_the_encoding_that_the_form_names(self):
        file = "1\n00:00:01,000 --> 00:00:02,000\nGood morning. “Café”\n".encode("windows-1252")
        code, _, body = self.upload("/v1/translate_file", file=file, name="a.srt", **PAIR)
        self.assertEqual(code, 400)
        self.assertIn("a.srt: line 3: is not UTF-8: name its encoding", json.loads(body)["message"])
        code, _, body = self.upload("/v1/translate_file", file=file, name="a.srt", encoding="windows-1252", **PAIR)
        self.assertEqual(code, 200)
        self.assertIn("Guten Morgen. „", body.decode("windows-1252"))

    def test_a_word_without_end_stays_as_it_is(self):
        jars = ",".join(f"x{i}y{i}.jar" for i in range(90))  # as Tomcat's catalina.properties has them
        for name, file in (("a.properties", f"a=Good morning.\njars={jars}\n"),
                           ("a.json", json.dumps({"a": "Good morning.", "jars": jars})),
                           ("a.html", f"<p>Good morning.</p><p>{jars}</p>"),
                           ("a.md", f"Good morning.\n\n{jars}\n"),
                           ("a.srt", f"1\n00:00:01,000 --> 00:00:02,000\nGood morning.\n\n"
                                     f"2\n00:00:02,000 --> 00:00:03,000\n{jars}\n"),
                           ("a.txt", f"Good morning.\n\n{jars}\n")):
            with self.subTest(name):
                code, _, body = self.upload("/v1/translate_file", file=file, name=name, **PAIR, request=json.dumps(
                    {"sentenceSplitting": "SENTENCE_SPLITTING_NONE"}))
                self.assertEqual(code, 200, body)
                text = body.decode().replace("\n", "")
                self.assertIn(jars, text)
                self.assertIn("Guten Morgen", text)

    def test_http_tells_how_far_it_is(self):
        code, headers, body = self.upload("/v1/translate_file", headers={"Accept": "text/event-stream"}, **PAIR)
        self.assertEqual((code, headers["Content-Type"]), (200, "text/event-stream"))
        events = [event.split("\ndata: ") for event in body.decode().split("\n\n") if event]
        self.assertEqual(events[0][0], "event: progress")
        self.assertEqual(events[-1][0], "event: report")
        self.assertEqual(json.loads(events[-1][1])["report"]["fileName"], "letter.de.txt")

    def test_libretranslate(self):
        code, _, body = self.upload("/translate_file", source="en", target="de")
        self.assertEqual(code, 200, body)
        url = json.loads(body)["translatedFileUrl"]
        prefix = f"http://{self.server.http_address}"
        self.assertTrue(url.startswith(prefix), url)
        self.assertEqual(self.ask("GET", url[len(prefix):])[2].decode(), self.wanted)
        await_true(lambda: self.ask("GET", url[len(prefix):])[0] == 404,
                   "the file goes when its answer was written")
        settings = json.loads(self.ask("GET", "/frontend/settings")[2])
        self.assertTrue(settings["filesTranslation"])
        self.assertIn(".txt", settings["supportedFilesFormat"])

    def await_deepl(self, document, server=None, headers=None):
        """Asks as DeepL's libraries do until the document is done or has failed."""
        states = []

        def done():
            code, _, body = self.ask(
                "POST", f"/v2/document/{document['document_id']}",
                json.dumps({"document_key": document["document_key"]}),
                {"Content-Type": "application/json", **(headers or {})}, server)
            self.assertEqual(code, 200, body)
            states.append(json.loads(body))
            return states[-1]["status"] in ("done", "error")

        await_true(done, "the end of the document")
        return states[-1]

    def test_deepl(self):
        code, _, body = self.upload("/v2/document", source_lang="EN", target_lang="DE")
        self.assertEqual(code, 200, body)
        document = json.loads(body)
        status = self.await_deepl(document)
        self.assertEqual(status["status"], "done", status)
        self.assertEqual(status["billed_characters"], sum(map(len, INPUTS)))
        path = f"/v2/document/{document['document_id']}/result"
        key = json.dumps({"document_key": document["document_key"]})
        headers = {"Content-Type": "application/json"}
        self.assertEqual(self.ask("POST", path, key, headers)[2].decode(), self.wanted)
        await_true(lambda: self.ask("POST", path, key, headers)[0] == 404,
                   "the file goes when its answer was written")
        code, _, body = self.upload("/v2/document", target_lang="XX")
        self.assertEqual((code, json.loads(body)["message"]), (400, 'target_lang: "xx" is not supported'))

    def test_azure(self):
        code, headers, body = self.upload(
            "/translator/document:translate?sourceLanguage=en&targetLanguage=de&api-version=2024-05-01",
            file_field="document")
        self.assertEqual((code, body.decode()), (200, self.wanted))
        self.assertEqual(headers["Content-Type"], "text/plain")

    def google(self, text, server=None, headers=None):
        return self.ask("POST", "/v3/projects/any/locations/global:translateDocument", json.dumps({
            "documentInputConfig": {"content": base64.b64encode(text.encode()).decode(), "mimeType": "text/plain"},
            "sourceLanguageCode": "en", "targetLanguageCode": "de"}),
            {"Content-Type": "application/json", **(headers or {})}, server)

    def test_google(self):
        text = TEXT * 20  # some chunks
        code, _, body = self.google(text)
        self.assertEqual(code, 200, body)
        translation = json.loads(body)["documentTranslation"]
        self.assertEqual(base64.b64decode(translation["byteStreamOutputs"][0], validate=True).decode(),
                         self.wanted * 20)
        self.assertEqual(translation["mimeType"], "text/plain")

    def test_a_stop_ends_a_reader_that_has_much_to_do(self):
        server = serve(self, *self.arguments)
        # The older md4c goes through all columns for each row, which takes minutes here.
        cells = 200_000
        table = "|a" * cells + "\n" + "|-" * cells + "\n|" * cells
        body, content_type = form(table, name="table.md", **PAIR)
        connection = http.client.HTTPConnection(server.http_address, timeout=120)
        self.addCleanup(connection.close)
        connection.request("POST", "/v1/translate_file", body, {"Content-Type": content_type})
        await_true(lambda: server.metrics()["dragoman_requests_in_flight"].get((), 0) == 1, "the beginning of the call")
        self.assertEqual(server.stop(), 0)

    def test_a_client_that_goes_away_ends_its_document(self):
        body, content_type = form("\n\n".join(INPUTS * 50), **PAIR)
        connection = http.client.HTTPConnection(self.server.http_address, timeout=120)
        connection.request("POST", "/v1/translate_file", body,
                           {"Content-Type": content_type, "Accept": "text/event-stream"})
        connection.getresponse().readline()  # it has begun
        connection.sock.close() if connection.sock else None
        connection.close()
        await_true(lambda: self.server.metrics()["dragoman_requests_in_flight"][()] == 0,
                   "the end of the call")

    def test_a_document_belongs_to_its_caller(self):
        with tempfile.TemporaryDirectory() as folder:
            tokens = os.path.join(folder, "tokens")
            with open(tokens, "w", encoding="utf-8") as file:
                file.write("ann ann-secret-token\nbob bob-secret-token\n")
            server = serve(self, *self.arguments, "--auth-tokens", tokens)
            ann, bob = ({"Authorization": f"DeepL-Auth-Key {name}-secret-token"} for name in ("ann", "bob"))
            self.assertEqual(self.upload("/v2/document", server, target_lang="DE")[0], 403)
            self.assertEqual(self.upload("/v1/translate_file", server, **PAIR)[0], 401)
            self.assertEqual(self.upload("/translate_file", server, source="en", target="de")[0], 403)
            azure = "/translator/document:translate?targetLanguage=de&sourceLanguage=en&api-version=2024-05-01"
            for name, code, of_google in ((None, 401, 400), ("eve", 401, 400), ("ann", 200, 200)):
                key = f"{name}-secret-token"
                headers = {"Ocp-Apim-Subscription-Key": key} if name else {}
                self.assertEqual(self.upload(azure, server, headers, file_field="document")[0], code)
                self.assertEqual(self.google("\n", server, {"X-goog-api-key": key} if name else {})[0], of_google)
            document = json.loads(self.upload("/v2/document", server, ann, source_lang="EN", target_lang="DE")[2])
            self.assertEqual(self.await_deepl(document, server, ann)["status"], "done")
            path = f"/v2/document/{document['document_id']}/result"
            key = json.dumps({"document_key": document["document_key"]})
            json_type = {"Content-Type": "application/json"}
            for headers, code in (({}, 403), (bob, 404), (ann, 200)):
                self.assertEqual(self.ask("POST", path, key, {**json_type, **headers}, server)[0], code)
            code, _, body = self.upload("/translate_file", server, source="en", target="de",
                                        api_key="ann-secret-token")
            self.assertEqual(code, 200, body)
            path = json.loads(body)["translatedFileUrl"].partition(server.http_address)[2]
            bearer = {"Authorization": "Bearer bob-secret-token"}
            self.assertEqual(self.ask("GET", path, headers=bearer, server=server)[0], 404)
            self.assertEqual(self.ask("GET", path, server=server)[2].decode(), self.wanted)
            # Its words are those of its caller.
            calls = server.metrics()["dragoman_principal_requests_total"]
            self.assertTrue(any(dict(labels).get("principal") == "ann" for labels in calls), calls)

    def test_limits(self):
        server = serve(self, *self.arguments, "--max-document-bytes", "10KiB", "--max-documents", "1")
        code, _, body = self.upload("/v1/translate_file", server, file="\n" * 11_000, **PAIR)
        self.assertEqual(code, 413, body)
        code, _, body = self.upload("/v1/translate_file", server, file="\n" * (2 << 20), **PAIR)
        self.assertEqual(code, 413, body)
        # One that is being received keeps the only place.
        held = threading.Event()

        def messages():
            yield pb.TranslateDocumentRequest(header=pb.DocumentHeader(
                file_name="letter.txt", request=pb.TranslateRequest(**PAIR)))
            held.wait(60)

        call = server.translation.TranslateDocument(messages(), timeout=120)
        try:
            await_true(lambda: server.metrics()["dragoman_requests_in_flight"].get((), 0) == 1, "it begins")
            await_true(lambda: self.upload("/v1/translate_file", server, file="\n", **PAIR)[0] == 429,
                       "a refusal")
        finally:
            held.set()
        self.assertEqual(list(call)[-1].report.passages, 0)
        await_true(lambda: self.upload("/v1/translate_file", server, file="\n", **PAIR)[0] == 200,
                   "a free place")
        none = serve(self, *self.arguments, "--max-documents", "0")
        self.assertEqual(self.upload("/v1/translate_file", none, file="\n", **PAIR)[0], 501)
        self.assertFalse(json.loads(self.ask("GET", "/frontend/settings", server=none)[2])["filesTranslation"])
        error = self.assert_fails(grpc.StatusCode.UNIMPLEMENTED, lambda: list(
            none.translation.TranslateDocument(iter([pb.TranslateDocumentRequest(
                header=pb.DocumentHeader(file_name="a.txt"))]), timeout=120)))
        self.assertIn("no files", error.details())


if __name__ == "__main__":
    unittest.main()
