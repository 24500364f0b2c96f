"""The calls of programs that speak another translation API, byte for byte as they build them, over plain sockets.

CALLS is the table: the program, the file of its repository that builds the call, the bytes, and the fields of the
answer that the program reads.  docs/programs.md lists the same programs and files.
"""

import json
import os
import socket
import tempfile
import unittest
from typing import NamedTuple
from urllib.parse import quote, urlencode

from harness import SOURCE_DIR, Server, ServerTest, pb

MODEL = ("--model", "en-de-fr-es=" + os.path.join(SOURCE_DIR, "models", "en-de-fr-es"), "--precision", "float32")
KEY = "the.key-of_the~replay"
WRONG = KEY[::-1]

FORM = "application/x-www-form-urlencoded"
JSON = "application/json"

TEXT = "Where is the nearest train station?"
OTHER = "The man sees the house."
HTML = '<p>Where is the <a href="https://example.org/?a=1&amp;b=2">nearest train station</a>?</p>'
NOTRANSLATE = 'The man sees <span translate="no">0</span> in the house.'
XML = 'The man sees <b>the old house</b> &amp; a cat.'
WEBLATE = 'The man sees <x id="13"></x> in the house.'
I18N = "hello, <i18n>%{name}</i18n>, the man sees the house."
CALIBRE_PLACE = "The man sees <m id=0 /> in the house."
PRINTF = "The man sees %1$s in the house."
# What must come back as it was.
KEPT = ('href="https://example.org/?a=1&amp;b=2"', '<span translate="no">0</span>', '<x id="13"></x>',
        "<i18n>%{name}</i18n>", "<m id=0 />", "%1$s")


class Wanted(NamedTuple):
    """The translation of a text by gRPC."""

    text: str
    target: str = "de"
    fields: dict = {}


def in_html(text):
    return Wanted(text, fields={"markup": pb.MARKUP_HTML})


def in_xml(text, *ignored):
    return Wanted(text, fields={"markup": pb.MARKUP_XML,
                                "markup_options": pb.MarkupOptions(ignore_tags=ignored)})


class Call(NamedTuple):
    program: str
    source: str  # repository and file
    method: str
    path: str
    headers: dict
    body: bytes
    reads: dict  # what the program reads: its place in the answer, and the value that it must find
    public: bool = False  # whether it succeeds without a key
    signs: bool = True  # whether the program can send a key


def js(value):
    """JSON as JavaScript and Ruby write it."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()


def py(value):
    """JSON as Python's requests writes it."""
    return json.dumps(value).encode()


def form(*pairs):
    return urlencode(pairs).encode()


def query(*pairs):
    """A query as JavaScript's encodeURIComponent writes it."""
    return "&".join(f"{name}={quote(value, safe='')}" for name, value in pairs)


def multipart(**fields):
    """A form as curl writes it."""
    parts = [f'--XY\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'
             for name, value in fields.items()]
    return ("".join(parts) + "--XY--\r\n").encode()


DEEPL_KEY = {"Authorization": f"DeepL-Auth-Key {KEY}"}
AZURE_KEY = {"Ocp-Apim-Subscription-Key": KEY}
BEARER = {"Authorization": f"Bearer {KEY}"}
AS_JSON = {"Content-Type": JSON}
AS_FORM = {"Content-Type": FORM}

GOOGLE_TEXT = ("data", "translations", 0, "translatedText")
DEEPL_TEXT = ("translations", 0, "text")
AZURE_TEXT = (0, "translations", 0, "text")

MASTODON = "mastodon/mastodon app/lib/translation_service/"
DISCOURSE = "discourse/discourse-translator app/services/discourse_translator/provider/"
WAGTAIL = "wagtail/wagtail-localize wagtail_localize/machine_translators/"
WEBLATE_FILES = "WeblateOrg/weblate weblate/machinery/"
I18N_TASKS = "glebm/i18n-tasks lib/i18n/tasks/translators/deepl_translator.rb"
GOOGLE_NODE = "googleapis/google-cloud-node packages/google-cloud-translate/src/v2/index.ts"
GOOGLE_PYTHON = "googleapis/google-cloud-python packages/google-cloud-translate/google/cloud/translate_v2/client.py"
NEXTCLOUD_LIBRE = "v1r0x/integration_libretranslate lib/LibretranslateProvider.php"
NEXTCLOUD_DEEPL = "nextcloud/integration_deepl lib/Service/DeeplService.php"
MOODLE = "andrewhancox/moodle-filter_translations classes/translationproviders/"
LOCO = "loco/wp-loco src/api/DeepL.php"
DRUPAL = "christophegalli/tmgmt_google src/Plugin/tmgmt/Translator/GoogleTranslator.php"
MISSKEY = "misskey-dev/misskey packages/backend/src/server/api/endpoints/notes/translate.ts"
ROCKET = "RocketChat/Rocket.Chat apps/meteor/app/autotranslate/server/"
CALIBRE = "bookfere/Ebook-Translator-Calibre-Plugin engines/"
KISS = "fishjar/kiss-translator custom-api_v2.md"
MTRANSERVER = "xxnuo/MTranServer src/controllers/plugins/"
OMEGAT = "omegat-org/omegat machinetranslators/"
SUBTITLE_EDIT = "SubtitleEdit/subtitleedit src/libse/AutoTranslate/"
AUTOTRANSLATE = "leolabs/json-autotranslate src/services/"

CALLS = (
    Call("Mastodon", MASTODON + "libre_translate.rb", "POST", "/translate", AS_JSON,
         js({"q": [HTML, TEXT], "source": "en", "target": "de", "format": "html", "api_key": KEY}),
         {("translatedText", 0): in_html(HTML), ("translatedText", 1): in_html(TEXT)}),
    Call("Mastodon", MASTODON + "libre_translate.rb", "POST", "/translate", AS_JSON,
         js({"q": [HTML], "source": "auto", "target": "de", "format": "html", "api_key": KEY}),
         {("translatedText", 0): in_html(HTML), ("detectedLanguage", 0, "language"): "en"}),
    Call("Mastodon", MASTODON + "libre_translate.rb", "GET", "/languages", AS_JSON, b"",
         {(0, "code"): "de", (1, "code"): "en", (1, "targets", 0): "de"}, public=True),
    Call("Mastodon", MASTODON + "deepl.rb", "POST", "/v2/translate", {**AS_FORM, **DEEPL_KEY},
         form(("text", HTML), ("text", TEXT), ("source_lang", "EN"), ("target_lang", "de"),
              ("tag_handling", "html")),
         {DEEPL_TEXT: in_html(HTML), ("translations", 1, "text"): in_html(TEXT),
          ("translations", 0, "detected_source_language"): "EN"}),
    Call("Mastodon", MASTODON + "deepl.rb", "GET", "/v2/languages?type=source", DEEPL_KEY, b"",
         {(0, "language"): "DE", (1, "language"): "EN"}),
    Call("Discourse", DISCOURSE + "libre_translate.rb", "POST", "/translate", AS_FORM,
         form(("q", HTML), ("source", "en"), ("target", "de"), ("format", "html"), ("api_key", KEY)),
         {("translatedText",): in_html(HTML)}),
    Call("Discourse", DISCOURSE + "libre_translate.rb", "POST", "/detect", AS_FORM,
         form(("q", TEXT), ("api_key", KEY)), {(0, "language"): "en"}),
    Call("Discourse", DISCOURSE + "libre_translate.rb", "GET", "/languages", {}, b"",
         {(0, "code"): "de", (1, "code"): "en"}, public=True),
    Call("Discourse", DISCOURSE + "microsoft.rb", "POST",
         "/translator/text/v3.0/translate?api-version=3.0&from=en&to=de&textType=html",
         {**AS_JSON, **AZURE_KEY}, js([{"Text": HTML}]), {AZURE_TEXT: in_html(HTML)}),
    Call("Discourse", DISCOURSE + "microsoft.rb", "POST",
         "/translator/text/v3.0/detect?api-version=3.0", {**AS_JSON, **AZURE_KEY},
         js([{"Text": TEXT}]), {(0, "language"): "en"}),
    Call("Wagtail", WAGTAIL + "deepl.py", "POST", "/v2/translate", AS_FORM,
         form(("auth_key", KEY), ("text", XML), ("text", TEXT), ("tag_handling", "xml"),
              ("source_lang", "EN"), ("target_lang", "DE")),
         {DEEPL_TEXT: in_xml(XML), ("translations", 1, "text"): in_xml(TEXT)}),
    Call("Wagtail", WAGTAIL + "libretranslate.py", "POST", "/translate", AS_JSON,
         py({"q": [XML, TEXT], "source": "en", "target": "de", "api_key": KEY, "format": "html"}),
         {("translatedText", 0): in_html(XML), ("translatedText", 1): in_html(TEXT)}),
    Call("Weblate", WEBLATE_FILES + "deepl.py", "POST", "/v2/translate", {**AS_JSON, **DEEPL_KEY},
         py({"text": [WEBLATE, TEXT], "source_lang": "EN", "target_lang": "DE",
             "formality": "default", "tag_handling": "xml", "ignore_tags": ["x"]}),
         {DEEPL_TEXT: in_xml(WEBLATE, "x"), ("translations", 1, "text"): in_xml(TEXT, "x")}),
    Call("Weblate", WEBLATE_FILES + "deepl.py", "GET", "/v2/languages?type=target", DEEPL_KEY, b"",
         {(0, "language"): "DE", (0, "supports_formality"): False}),
    Call("Weblate", WEBLATE_FILES + "deepl.py", "GET", "/v2/glossary-language-pairs", DEEPL_KEY, b"",
         {("supported_languages", 0, "source_lang"): "de"}),
    Call("Weblate", WEBLATE_FILES + "libretranslate.py", "POST", "/translate", AS_JSON,
         py({"api_key": KEY, "q": [TEXT, OTHER], "source": "en", "target": "de"}),
         {("translatedText", 0): Wanted(TEXT), ("translatedText", 1): Wanted(OTHER)}),
    Call("Weblate", WEBLATE_FILES + "google.py", "GET",
         "/language/translate/v2/?" + urlencode({"key": KEY, "q": TEXT, "source": "en", "target": "de",
                                                 "format": "text"}), {}, b"",
         {GOOGLE_TEXT: Wanted(TEXT)}),
    Call("Weblate", WEBLATE_FILES + "google.py", "GET", f"/language/translate/v2/languages?key={KEY}", {}, b"",
         {("data", "languages", 0, "language"): "de"}),
    Call("Weblate", WEBLATE_FILES + "microsoft.py", "POST", f"/sts/v1.0/issueToken?Subscription-Key={KEY}", {}, b"",
         {(): KEY}),
    Call("Weblate", WEBLATE_FILES + "microsoft.py", "POST",
         "/translate?api-version=3.0&from=en&to=de&category=general", {**AS_JSON, **BEARER},
         py([{"Text": TEXT}]), {AZURE_TEXT: Wanted(TEXT)}),
    Call("Weblate", WEBLATE_FILES + "microsoft.py", "GET", "/languages?api-version=3.0", BEARER, b"",
         {("translation", "de", "name"): "German"}, public=True),
    Call("i18n-tasks", I18N_TASKS, "POST", "/v2/translate", {**DEEPL_KEY, **AS_JSON},
         js({"text": [I18N, TEXT], "source_lang": "EN", "target_lang": "DE", "ignore_tags": ["i18n"],
             "preserve_formatting": True, "tag_handling": "xml", "html_escape": True}),
         {DEEPL_TEXT: in_xml(I18N, "i18n"), ("translations", 1, "text"): in_xml(TEXT, "i18n")}),
    Call("Google's client for Node.js", GOOGLE_NODE, "POST", f"/language/translate/v2?key={KEY}", AS_JSON,
         js({"q": [HTML], "format": "html", "target": "de"}), {GOOGLE_TEXT: in_html(HTML)}),
    Call("Google's client for Node.js", GOOGLE_NODE, "POST", f"/language/translate/v2/detect?key={KEY}", AS_JSON,
         js({"q": [TEXT]}), {("data", "detections", 0, 0, "language"): "en"}),
    Call("Google's client for Node.js", GOOGLE_NODE, "GET",
         f"/language/translate/v2/languages?target=en&key={KEY}", {}, b"",
         {("data", "languages", 0, "name"): "German"}),
    Call("Google's client for Python", GOOGLE_PYTHON, "POST", "/language/translate/v2?prettyPrint=false",
         {**AS_JSON, **BEARER},
         py({"target": "de", "q": [HTML], "cid": [], "format": None, "source": None, "model": None}),
         {GOOGLE_TEXT: in_html(HTML), ("data", "translations", 0, "detectedSourceLanguage"): "en"}),
    Call("Nextcloud (LibreTranslate)", NEXTCLOUD_LIBRE, "GET", "/frontend/settings", AS_FORM, b"",
         {("charLimit",): 131072}, public=True),
    Call("Nextcloud (LibreTranslate)", NEXTCLOUD_LIBRE, "GET", "/languages", AS_FORM, b"",
         {(0, "code"): "de", (0, "name"): "German"}, public=True),
    Call("Nextcloud (LibreTranslate)", NEXTCLOUD_LIBRE, "POST",
         "/detect?" + urlencode({"q": TEXT, "api_key": KEY}), AS_FORM, b"", {(0, "language"): "en"}),
    Call("Nextcloud (LibreTranslate)", NEXTCLOUD_LIBRE, "POST", "/translate",
         {"Content-Type": "multipart/form-data; boundary=XY"},
         multipart(q=TEXT, format="html", source="en", target="de", api_key=KEY),
         {("translatedText",): in_html(TEXT)}),
    Call("Nextcloud (DeepL)", NEXTCLOUD_DEEPL, "POST", "/v2/languages", {**AS_FORM, **DEEPL_KEY},
         b"type=target", {(0, "language"): "DE", (0, "name"): "German", (0, "supports_formality"): False}),
    Call("Nextcloud (DeepL)", NEXTCLOUD_DEEPL, "POST", "/v2/translate", {**AS_FORM, **DEEPL_KEY},
         form(("target_lang", "de"), ("source_lang", "en"), ("formality", "prefer_more"), ("text", TEXT)),
         {DEEPL_TEXT: Wanted(TEXT), ("translations", 0, "detected_source_language"): "EN"}),
    Call("Moodle, filter_translations", MOODLE + "googletranslate.php", "POST",
         "/language/translate/v2?" + query(("target", "de"), ("key", KEY), ("q", HTML)), AS_FORM, b"",
         {GOOGLE_TEXT: in_html(HTML)}),
    Call("Moodle, filter_translations", MOODLE + "deepltranslate.php", "POST", "/v2/translate",
         {**DEEPL_KEY, **AS_JSON}, js({"text": [TEXT], "target_lang": "de"}), {DEEPL_TEXT: Wanted(TEXT)}),
    Call("WordPress, Loco Translate", LOCO, "POST", "/v2/translate", {**AS_FORM, **DEEPL_KEY},
         form(("source_lang", "EN"), ("target_lang", "DE"), ("formality", "prefer_less"),
              ("model", "prefer_quality_optimized"), ("preserve_formatting", "1"), ("context", ""),
              ("text", PRINTF), ("text", TEXT)),
         {DEEPL_TEXT: Wanted(PRINTF), ("translations", 1, "text"): Wanted(TEXT)}),
    Call("WordPress, Loco Translate", LOCO, "GET", "/v2/usage", DEEPL_KEY, b"",
         {("character_limit",): 1_000_000_000_000}),
    Call("Drupal, TMGMT Google", DRUPAL, "GET",
         "/language/translate/v2/?" + query(("source", "en"), ("target", "de"), ("q", HTML), ("q", TEXT),
                                            ("key", KEY)), {}, b"",
         {GOOGLE_TEXT: in_html(HTML), ("data", "translations", 1, "translatedText"): in_html(TEXT)}),
    Call("Drupal, TMGMT Google", DRUPAL, "GET", f"/language/translate/v2/languages?key={KEY}", {}, b"",
         {("data", "languages", 0, "language"): "de"}),
    Call("Misskey", MISSKEY, "POST", "/v2/translate", {**AS_FORM, "Accept": "application/json, */*"},
         form(("auth_key", KEY), ("text", TEXT), ("target_lang", "de")),
         {DEEPL_TEXT: Wanted(TEXT), ("translations", 0, "detected_source_language"): "EN"}),
    Call("Rocket.Chat", ROCKET + "deeplTranslate.ts", "POST",
         "/v2/translate?" + query(("target_lang", "de"), ("text", TEXT), ("text", OTHER)), DEEPL_KEY, b"",
         {DEEPL_TEXT: Wanted(TEXT), ("translations", 1, "text"): Wanted(OTHER)}),
    Call("Rocket.Chat", ROCKET + "deeplTranslate.ts", "GET",
         "/v2/translate?" + query(("auth_key", KEY), ("target_lang", "de"), ("text", TEXT)), {}, b"",
         {DEEPL_TEXT: Wanted(TEXT)}),
    Call("Rocket.Chat", ROCKET + "libreTranslate.ts", "POST", "/translate", AS_JSON,
         js({"q": [TEXT, ""], "source": "auto", "target": "de", "format": "text", "api_key": KEY}),
         {("translatedText", 0): Wanted(TEXT), ("translatedText", 1): ""}),
    Call("Rocket.Chat", ROCKET + "msTranslate.ts", "POST", "/translate?api-version=3.0&to=de&to=fr",
         {**AZURE_KEY, "Content-Type": "application/json; charset=UTF-8"}, js([{"Text": TEXT}, {"Text": OTHER}]),
         {AZURE_TEXT: Wanted(TEXT), (0, "translations", 1, "to"): "fr",
          (1, "translations", 1, "text"): Wanted(OTHER, "fr")}),
    Call("Rocket.Chat", ROCKET + "googleTranslate.ts", "GET",
         "/language/translate/v2?" + query(("q", TEXT), ("q", OTHER), ("key", KEY), ("target", "de"),
                                           ("format", "text")), {}, b"",
         {GOOGLE_TEXT: Wanted(TEXT), ("data", "translations", 1, "translatedText"): Wanted(OTHER)}),
    Call("Calibre, Ebook Translator", CALIBRE + "deepl.py", "POST", "/v2/translate", {**AS_FORM, **DEEPL_KEY},
         form(("text", CALIBRE_PLACE), ("target_lang", "DE"), ("source_lang", "EN")),
         {DEEPL_TEXT: Wanted(CALIBRE_PLACE)}),
    Call("Calibre, Ebook Translator", CALIBRE + "deepl.py", "GET", "/v2/usage", DEEPL_KEY, b"",
         {("character_limit",): 1_000_000_000_000}),
    Call("Calibre, Ebook Translator", CALIBRE + "microsoft.py", "POST",
         "/translate?to=de&api-version=3.0&includeSentenceLength=True&from=en", {**AS_JSON, **BEARER},
         py([{"text": TEXT}]), {AZURE_TEXT: Wanted(TEXT)}),
    Call("OmegaT", OMEGAT + "deepl/src/main/java/org/omegat/machinetranslators/deepl/DeepLTranslate.java", "GET",
         "/v1/translate?" + urlencode({"auth_key": KEY, "preserve_formatting": "1", "source_lang": "EN",
                                       "split_sentences": "0", "tag_handling": "xml", "target_lang": "DE",
                                       "text": XML}), {}, b"",
         {DEEPL_TEXT: Wanted(XML, fields={"markup": pb.MARKUP_XML,
                                          "sentence_splitting": pb.SENTENCE_SPLITTING_NONE})}),
    Call("OmegaT", OMEGAT + "google/src/main/java/org/omegat/machinetranslators/google/Google2Translate.java", "POST",
         "/language/translate/v2", {**AS_FORM, "X-HTTP-Method-Override": "GET"},
         form(("format", "html"), ("key", KEY), ("q", XML), ("source", "en"), ("target", "de")),
         {GOOGLE_TEXT: in_html(XML)}),
    Call("Subtitle Edit", SUBTITLE_EDIT + "NoLanguageLeftBehindServe.cs", "POST", "/translate", AS_JSON,
         f'{{"source":["{TEXT}", "{OTHER}"], "src_lang": "eng_Latn", "tgt_lang": "deu_Latn"}}'.encode(),
         {("translation", 0): Wanted(TEXT), ("translation", 1): Wanted(OTHER)}, signs=False),
    Call("Subtitle Edit", SUBTITLE_EDIT + "NoLanguageLeftBehindApi.cs", "POST", "/translator",
         {"Content-Type": "application/json; charset=utf-8"},
         f'{{ "text": "{TEXT}",  "source": "eng_Latn", "target": "deu_Latn" }}'.encode(),
         {("result",): Wanted(TEXT)}, signs=False),
    Call("Subtitle Edit", SUBTITLE_EDIT + "LibreTranslate.cs", "POST", "/translate", AS_JSON,
         f'{{"q": "{TEXT}", "source": "en", "target": "de"}}'.encode(),
         {("translatedText",): Wanted(TEXT)}, signs=False),
    Call("Subtitle Edit", SUBTITLE_EDIT + "DeepLXTranslate.cs", "POST", "/v2/translate", AS_FORM,
         form(("text", TEXT), ("target_lang", "de"), ("source_lang", "en")), {DEEPL_TEXT: Wanted(TEXT)}, signs=False),
    Call("json-autotranslate", AUTOTRANSLATE + "deepl.ts", "GET",
         f"/v2/languages?auth_key={KEY}&type=target", {}, b"",
         {(0, "language"): "DE", (0, "supports_formality"): False}),
    Call("json-autotranslate", AUTOTRANSLATE + "deepl.ts", "POST", "/v2/translate", {**DEEPL_KEY, **AS_JSON},
         js({"text": [NOTRANSLATE], "source_lang": "EN", "target_lang": "DE", "tag_handling": "html"}),
         {DEEPL_TEXT: in_html(NOTRANSLATE)}),
    Call("json-autotranslate", AUTOTRANSLATE + "azure-translator.ts", "GET", "/languages?api-version=3.0", {}, b"",
         {("translation", "de", "dir"): "ltr"}, public=True),
    Call("json-autotranslate", AUTOTRANSLATE + "azure-translator.ts", "POST",
         "/translate?api-version=3.0&from=en&to=de&textType=html",
         {**AZURE_KEY, "Content-Type": "application/json; charset=UTF-8"}, js([{"Text": NOTRANSLATE}]),
         {AZURE_TEXT: in_html(NOTRANSLATE)}),
    Call("KISS Translator", KISS, "POST", "/kiss", {**AS_JSON, **BEARER},
         js({"texts": [TEXT, OTHER], "from": "auto", "to": "de"}),
         {("translations", 0, "text"): Wanted(TEXT), ("translations", 1, "text"): Wanted(OTHER),
          ("translations", 0, "src"): "en"}),
    Call("HCFY", MTRANSERVER + "hcfy.controller.ts", "POST", f"/hcfy?token={KEY}", AS_JSON,
         js({"name": "any", "text": TEXT, "destination": ["\u5fb7\u8bed", "\u82f1\u8bed"], "source": ""}),
         {("result", 0): Wanted(TEXT), ("from",): "\u82f1\u8bed", ("to",): "\u5fb7\u8bed"}),
    Call("Extensions that ask Google's pages", KISS, "GET",
         "/translate_a/single?" + query(("client", "gtx"), ("dj", "1"), ("dt", "t"), ("ie", "UTF-8"), ("q", TEXT),
                                        ("sl", "en"), ("tl", "de"), ("key", KEY)), {}, b"",
         {("sentences", 0, "trans"): Wanted(TEXT), ("src",): "en"}),
    Call("Immersive Translate", "xxnuo/MTranServer src/handlers/imme.ts", "POST", f"/imme?token={KEY}", AS_JSON,
         js({"source_lang": "auto", "target_lang": "de", "text_list": [TEXT, OTHER]}),
         {("translations", 0, "text"): Wanted(TEXT), ("translations", 1, "text"): Wanted(OTHER),
          ("translations", 0, "detected_source_lang"): "en"}),
    Call("Programs for DeepLX", "OwO-Network/DeepLX service/service.go", "POST", f"/translate?token={KEY}", AS_JSON,
         js({"text": TEXT, "source_lang": "EN", "target_lang": "DE"}),
         {("code",): 200, ("data",): Wanted(TEXT), ("alternatives",): []}),
)


def send(server, call):
    """The code and the answer: JSON, or a text."""
    host, port = server.http_address.rsplit(":", 1)
    head = [f"{call.method} {call.path} HTTP/1.1", f"Host: {server.http_address}", "Connection: close"]
    head += [f"{name}: {value}" for name, value in call.headers.items()]
    if call.method == "POST" or call.body:
        head.append(f"Content-Length: {len(call.body)}")
    with socket.create_connection((host, int(port)), timeout=120) as connection:
        connection.sendall("\r\n".join(head).encode() + b"\r\n\r\n" + call.body)
        answer = b"".join(iter(lambda: connection.recv(65536), b""))
    head, _, body = answer.partition(b"\r\n\r\n")
    code = int(head.split()[1])
    return code, json.loads(body) if JSON.encode() in head else body.decode()


def with_key(call, key):
    def put(text):
        return text.replace(KEY, key)

    return call._replace(path=put(call.path), body=call.body.replace(KEY.encode(), key.encode()),
                         headers={name: put(value) for name, value in call.headers.items()})


class Replay:

    def check(self, call):
        code, answer = send(self.server, call)
        self.assertEqual(code, 200, answer)
        for place, wanted in call.reads.items():
            found = answer
            for step in place:
                found = found[step]
            if isinstance(wanted, Wanted):
                wanted = self.translation(wanted)
            self.assertEqual(found, wanted, (place, answer))

    def translation(self, wanted):
        fields = {"sentence_splitting": pb.SENTENCE_SPLITTING_SENTENCES, **wanted.fields}
        request = pb.TranslateRequest(contents=[wanted.text], source_language="en", target_language=wanted.target,
                                      **fields)
        response = self.server.translation.Translate(request, metadata=self.metadata, timeout=120)
        return response.translations[0].hypotheses[0].text


class ReplayTest(Replay, ServerTest):

    arguments = MODEL
    metadata = ()

    def test_every_program_finds_what_it_reads(self):
        for call in CALLS:
            with self.subTest(call.program, source=call.source, path=call.path):
                self.check(call)

    def test_tags_and_placeholders_come_back(self):
        for call in CALLS:
            for place, wanted in call.reads.items():
                if not isinstance(wanted, Wanted):
                    continue
                found = send(self.server, call)[1]
                for step in place:
                    found = found[step]
                for kept in KEPT:
                    self.assertEqual(found.count(kept), wanted.text.count(kept), (call.program, kept, found))

    def test_the_page_lists_the_same_files(self):
        with open(os.path.join(SOURCE_DIR, "docs", "programs.md"), encoding="utf-8") as page:
            rows = [line for line in page if line.startswith("| ")]
        for program, source in {(call.program, call.source) for call in CALLS}:
            repository, path = source.split(" ")
            self.assertTrue(any(program in row and repository in row and path in row for row in rows),
                            f"docs/programs.md does not list {program}: {source}")


class ReplayWithTokensTest(Replay, ServerTest):

    metadata = (("authorization", f"Bearer {KEY}"),)

    @classmethod
    def setUpClass(cls):
        cls.directory = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.directory.cleanup)
        tokens = os.path.join(cls.directory.name, "tokens")
        with open(tokens, "w", encoding="utf-8") as file:
            file.write(f"replay {KEY}\n")
        os.chmod(tokens, 0o600)
        cls.arguments = MODEL + ("--auth-tokens", tokens)
        super().setUpClass()

    def test_the_key_is_read_where_the_program_puts_it(self):
        for call in CALLS:
            if call.signs:
                with self.subTest(call.program, source=call.source, path=call.path):
                    self.check(call)

    def test_without_it_only_lists_are_answered(self):
        for call in CALLS:
            with self.subTest(call.program, source=call.source, path=call.path):
                code, answer = send(self.server, with_key(call, WRONG))
                if call.public:
                    self.assertEqual(code, 200, answer)
                else:
                    self.assertIn(code, (401, 403) if "API key not valid" not in json.dumps(answer) else (400,))
                    self.assertIn("token of this server", json.dumps(answer))

    def test_a_refusal_names_the_place_of_the_key(self):
        for path, body, code, place in (
                ("/translate", {"q": "a", "source": "en", "target": "de"}, 403, "api_key"),
                ("/translate", {"text": "a", "target_lang": "de"}, 401, "token"),
                ("/v2/translate", {"text": "a", "target_lang": "de"}, 403, "DeepL-Auth-Key"),
                ("/language/translate/v2", {"q": "a", "target": "de"}, 400, "X-goog-api-key"),
                ("/v3/projects/p:translateText", {"contents": "a"}, 400, "X-goog-api-key"),
                ("/translate?api-version=3.0&to=de", [{"Text": "a"}], 401, "Ocp-Apim-Subscription-Key")):
            found, answer = send(self.server, Call("", "", "POST", path, AS_JSON, js(body), {}))
            self.assertEqual(found, code, answer)
            self.assertIn(place, json.dumps(answer))

    def test_google_takes_the_key_in_a_header(self):
        for path, body in (("/language/translate/v2", {"q": TEXT, "target": "de", "format": "text"}),
                           ("/v3/projects/p:translateText",
                            {"contents": [TEXT], "targetLanguageCode": "de", "mimeType": "text/plain"})):
            headers = {**AS_JSON, "X-goog-api-key": KEY}
            code, answer = send(self.server, Call("", "", "POST", path, headers, js(body), {}))
            self.assertEqual(code, 200, answer)

    def test_settings_say_that_a_key_is_required(self):
        code, answer = send(self.server, Call("", "", "GET", "/frontend/settings", {}, b"", {}))
        self.assertEqual((code, answer["keyRequired"], answer["apiKeys"]), (200, True, True))


if __name__ == "__main__":
    unittest.main()
