"""Calls every method of the clients that PyPI has for other translation APIs, and prints what came as Markdown.

    client_methods.py GRPC_ADDRESS HTTP_ADDRESS

The server has the model en-de, English to German, and a store.  A method works if its value is what the server's own API
says, or has the form that the client documents; it is refused if the client's error has the server's words; it is not
there if the server knows no such path or call.  A public method that is not called here is an error.

The older version of Azure's client is in the folder azure-1 of the virtual environment.
"""

import asyncio
import functools
import importlib
import importlib.metadata
import inspect
import io
import json
import os
import queue
import re
import sys
import tempfile
import unittest.mock
import urllib.request

import deep_translator
import deepl
import grpc
import libretranslatepy
import numpy
import openai
import requests
import tritonclient.grpc
import tritonclient.http
from azure.ai.translation.document import DocumentTranslationClient, SingleDocumentTranslationClient
from azure.core.credentials import AzureKeyCredential
from google.auth.credentials import AnonymousCredentials
from google.protobuf import descriptor_pool
from google.cloud import translate_v2, translate_v3
from google.cloud.translate_v3.services.translation_service import transports
from tritonclient.utils import InferenceServerException

# It has messages of the same names as tritonclient.
with unittest.mock.patch.object(descriptor_pool, "Default", functools.cache(descriptor_pool.DescriptorPool)):
    import kserve

MODEL = "en-de"
TEXTS = ["The old house is small.", "Good morning."]
NOT_THERE = {404, 405, 501, "404", "405", "StatusCode.UNIMPLEMENTED"}
# What calls no server (ends, settings, names of resources), or is called by a row of another name.
LOCAL = re.compile(r"close|set_app_info|send_request|\w+_path|from_service_account_\w+|get_mtls_\w+|get_supported_languages|"
                   r"is_language_supported|(un)?register_plugin|plugin|generate_request_body|parse_response_body|"
                   r"stop_stream|async_stream_infer|explain|with_(raw|streaming)_response|messages")

LOOP = asyncio.new_event_loop()
rows = {}    # section: {method: {column: what came}}
called = {}  # type of a client: names of its methods


def words(error):
    """What the server said, in one line."""
    if isinstance(error, urllib.error.HTTPError):
        return json.loads(error.read())["error"]
    said = getattr(error, "message", None)
    said = (said if isinstance(said, str) else str(error)).split("\n")[0]
    return re.sub(r"^[A-Z]+ http\S+: ", "", said)  # Google's client begins with the request


def outcome(call, good):
    """What a call came to; and its value."""
    try:
        value = call()
        if inspect.isawaitable(value):
            value = LOOP.run_until_complete(value)
        if not good(value):
            return f"**wrong**: {repr(value)[:60]} ...", value
        return "works", value
    except Exception as error:  # of any client
        code = next((value for name in ("http_status_code", "status_code", "code")
                     if isinstance(value := getattr(error, name, None), int)), None)
        if code is None and hasattr(error, "status"):
            code = error.status()
        if code in NOT_THERE:
            return "not there", None
        return f"{'refused' if code else '**fails**'}: {words(error)}", None


def caller(section, column, client):
    """Returns a function that calls a method of the client, and notes what came in the section's table."""
    def call(method, *arguments, row=None, good=lambda value: True, **options):
        called.setdefault(type(client), set()).add(method)
        came, value = outcome(lambda: getattr(client, method)(*arguments, **options), good)
        rows.setdefault(section, {}).setdefault(row or method, {})[column] = came
        return value
    return call


def not_called():
    """The public methods of the clients that no row has."""
    return [f"{client.__name__}.{name}" for client, methods in called.items()
            for name, _ in inspect.getmembers(client, inspect.isroutine)
            if not name.startswith("_") and name not in methods and not LOCAL.fullmatch(name)]


def version(package):
    return importlib.metadata.version(package)


def call_deepl(address, german):
    deepl.http_client.max_network_retries = 0
    call = caller("DeepL", f"deepl {version('deepl')}", deepl.DeepLClient("any", server_url=address))
    pair, houses, csv = {"source_lang": "EN", "target_lang": "DE"}, {"house": "Haus"}, "cat,Katze\n"

    def text(result):
        return result.text == german[0]
    call("translate_text", TEXTS, target_lang="DE", model_type="quality_optimized",
         good=lambda results: [(each.text, each.detected_source_lang, each.model_type_used) for each in results] ==
         [(each, "EN", "quality_optimized") for each in german])
    for option, value in (("formality", "more"), ("style_rule", "any"), ("custom_instructions", ["Be brief."])):
        call("translate_text", TEXTS[0], target_lang="DE", row=f"translate_text, {option}", **{option: value})
    call("get_source_languages", good=lambda languages: [each.code for each in languages] == ["EN"])
    call("get_target_languages", good=lambda languages: [each.code for each in languages] == ["DE"])
    call("get_usage", good=lambda usage: usage.character.count > 0)

    call("get_glossary_languages", good=lambda pairs: [(each.source_lang, each.target_lang) for each in pairs] ==
         [("en", "de")])
    glossary = call("create_glossary", "Houses", "EN", "DE", houses, good=lambda made: made.entry_count == 1)
    other = call("create_glossary_from_csv", "Cats", "EN", "DE", csv, good=lambda made: made.ready)
    call("translate_text_with_glossary", TEXTS[0], glossary, good=text)
    call("get_glossary", glossary.glossary_id, good=lambda found: found.name == "Houses")
    call("list_glossaries", good=lambda found: {each.name for each in found} == {"Houses", "Cats"})
    call("get_glossary_entries", other, good=lambda entries: entries == {"cat": "Katze"})
    call("delete_glossary", glossary)
    call("delete_glossary", other)

    dictionary = deepl.api_data.MultilingualGlossaryDictionaryEntries("EN", "DE", houses)
    glossary = call("create_multilingual_glossary", "Houses", [dictionary], good=lambda made: made.name == "Houses")
    other = call("create_multilingual_glossary_from_csv", "Cats", "EN", "DE", csv, good=lambda made: made.name == "Cats")
    call("translate_text", TEXTS[0], glossary=glossary, row="translate_text, glossary", good=text, **pair)
    call("update_multilingual_glossary_name", other, "Animals", good=lambda changed: changed.name == "Animals")
    call("update_multilingual_glossary_dictionary", other, dictionary,
         good=lambda changed: changed.dictionaries[0].entry_count == 2)
    call("update_multilingual_glossary_dictionary_from_csv", other, "EN", "DE", "dog,Hund\n",
         good=lambda changed: changed.dictionaries[0].entry_count == 3)
    call("replace_multilingual_glossary_dictionary", other, dictionary, good=lambda changed: changed.entry_count == 1)
    call("replace_multilingual_glossary_dictionary_from_csv", other, "EN", "DE", csv,
         good=lambda changed: changed.entry_count == 1)
    call("get_multilingual_glossary", other.glossary_id, good=lambda found: found.name == "Animals")
    call("list_multilingual_glossaries", good=lambda found: {each.name for each in found} == {"Houses", "Animals"})
    call("get_multilingual_glossary_entries", other, "EN", "DE",
         good=lambda found: found.dictionaries[0].entries == "cat\tKatze")  # the client leaves it as text
    call("delete_multilingual_glossary_dictionary", other, **pair)
    call("delete_multilingual_glossary", glossary)
    call("delete_multilingual_glossary", other)

    with tempfile.TemporaryDirectory() as directory:
        paths = [os.path.join(directory, name) for name in ("in.txt", "out.txt", "in.tmx", "out.tmx")]
        with open(paths[0], "w", encoding="utf-8") as file:
            file.write(TEXTS[0])
        memory = ('<tmx version="1.4"><header srclang="en"/><body><tu><tuv xml:lang="en"><seg>The cat sleeps.</seg></tuv>'
                  '<tuv xml:lang="de"><seg>Die Katze ruht.</seg></tuv></tu></body></tmx>')
        with open(paths[2], "w", encoding="utf-8") as file:
            file.write(memory)

        def holds(path, wanted):
            with open(path, encoding="utf-8") as written:
                return wanted in written.read()
        call("translate_document_from_filepath", *paths[:2], target_lang="DE",
             good=lambda status: status.done and holds(paths[1], german[0]))
        with open(paths[0], "rb") as file:
            output = io.BytesIO()
            call("translate_document", file, output, target_lang="DE",
                 good=lambda status: output.getvalue().decode() == german[0])
        handle = call("translate_document_upload", TEXTS[0], target_lang="DE", filename="in.txt")
        call("translate_document_get_status", handle, good=lambda status: status.ok)
        call("translate_document_wait_until_done", handle, good=lambda status: status.done)
        call("translate_document_download", handle, good=lambda response: response.text == german[0])

        def done(job):
            return job.ok
        made = call("create_translation_memory_import", "in.tmx", len(memory.encode()), display_name="Cats")
        call("upload_translation_memory_file", made, memory.encode())
        call("get_translation_memory_job", made.job_id)
        call("wait_until_translation_memory_job_done", made.job_id, 30, good=done)
        job = call("import_translation_memory_from_filepath", paths[2], display_name="More", timeout_s=30, good=done)
        found = call("get_translation_memory", job.result.translation_memory_id,
                     good=lambda found: (found.name, found.source_language, found.segment_count) == ("More", "en", 1))
        call("list_translation_memories", good=lambda listed: {each.name for each in listed} == {"Cats", "More"})
        call("list_translation_memory_segments", found, filter_text="katze",
             good=lambda page: [each.source_text for each in page.segments] == ["The cat sleeps."])
        call("translate_text", "The cat sleeps.", translation_memory=found, row="translate_text, translation_memory",
             good=lambda result: result.text == "Die Katze ruht.", **pair)
        export = call("create_translation_memory_export", found)
        job = deepl.DeepLClient("any", server_url=address).wait_until_translation_memory_job_done(export.job_id, 30)
        call("download_translation_memory_export", job, good=lambda response: "<tu" in response.text)
        call("export_translation_memory_to_filepath", found, paths[3], timeout_s=30,
             good=lambda job: job.ok and holds(paths[3], "Die Katze ruht."))
        call("delete_translation_memory", found)

    call("rephrase_text", TEXTS[0])
    call("correct_text", TEXTS[0])
    call("get_all_style_rules")
    call("create_style_rule", "Brief", "de")
    for method, *arguments in (
            ("get_style_rule",), ("update_style_rule_name", "Short"), ("update_style_rule_configured_rules", {}),
            ("create_style_rule_custom_instruction", "Brief", "Be brief."), ("get_style_rule_custom_instruction", "any"),
            ("update_style_rule_custom_instruction", "any", "Brief", "Be brief."),
            ("delete_style_rule_custom_instruction", "any"), ("delete_style_rule",)):
        call(method, "any", *arguments)


def call_google_v2(address, german):
    client = translate_v2.Client(credentials=AnonymousCredentials(), _http=requests.Session(),
                                 client_options={"api_endpoint": address})
    call = caller("Google v2", f"google-cloud-translate {version('google-cloud-translate')}", client)
    call("translate", TEXTS, target_language="de", format_="text",
         good=lambda results: [(each["translatedText"], each["detectedSourceLanguage"]) for each in results] ==
         [(each, "en") for each in german])
    call("detect_language", "Wo ist der Bahnhof?", good=lambda found: found["language"] == "de")
    call("get_languages", good=lambda languages: [each["language"] for each in languages] == ["de", "en"])


def call_google_v3(column, transport, german):
    call = caller("Google v3", column, translate_v3.TranslationServiceClient(transport=transport))
    parent = "projects/any/locations/global"
    glossary, dataset, adaptive, model, operation = (f"{parent}/{kind}/any" for kind in (
        "glossaries", "datasets", "adaptiveMtDatasets", "models", "operations"))
    file = f"{adaptive}/adaptiveMtFiles/any"
    source, target = {"gcs_source": {"input_uri": "gs://any"}}, {"gcs_destination": {"output_uri_prefix": "gs://any"}}
    texts = {"parent": parent, "contents": TEXTS, "mime_type": "text/plain", "target_language_code": "de"}
    document = {"content": TEXTS[0].encode(), "mime_type": "text/plain"}
    call("translate_text", texts, good=lambda answer: [
        (each.translated_text, each.detected_language_code) for each in answer.translations] ==
        [(each, "en") for each in german])
    call("translate_text", {**texts, "contents": [f"<b>{TEXTS[0]}</b>"], "mime_type": "text/html"},
         row="translate_text, text/html", good=lambda answer: answer.translations[0].translated_text == f"<b>{german[0]}</b>")
    call("detect_language", {"parent": parent, "content": "Wo ist der Bahnhof?"},
         good=lambda answer: answer.languages[0].language_code == "de")
    call("get_supported_languages", {"parent": parent},
         good=lambda answer: [each.language_code for each in answer.languages] == ["de", "en"])
    call("translate_document", {"parent": parent, "target_language_code": "de", "document_input_config": document},
         good=lambda answer: answer.document_translation.byte_stream_outputs[0].decode() == german[0])

    pair = {"source_language_code": "en", "target_language_code": "de"}
    with_file = {"name": glossary, "language_pair": pair, "input_config": source}
    call("create_glossary", {"parent": parent, "glossary": with_file}, row="create_glossary, input_config")
    call("create_glossary", {"parent": parent, "glossary": {"name": glossary, "language_pair": pair}},
         good=lambda operation: operation.result().name == glossary)

    def terms(*texts):
        return {"terms_pair": {key: {"language_code": language, "text": text} for key, language, text in
                               zip(("source_term", "target_term"), ("en", "de"), texts)}}
    entry = call("create_glossary_entry", {"parent": glossary, "glossary_entry": terms("house", "Hütte")},
                 good=lambda made: made.terms_pair.target_term.text == "Hütte").name
    call("list_glossaries", {"parent": parent}, good=lambda pages: [each.name for each in pages] == [glossary])
    call("get_glossary", {"name": glossary}, good=lambda found: found.entry_count == 1)
    call("list_glossary_entries", {"parent": glossary}, good=lambda pages: [each.name for each in pages] == [entry])
    call("get_glossary_entry", {"name": entry}, good=lambda found: found.terms_pair.source_term.text == "house")
    config = {"glossary_config": {"glossary": glossary}}
    call("translate_text", {**texts, **config}, row="translate_text, glossary_config",
         good=lambda answer: "Hütte" in answer.glossary_translations[0].translated_text)
    call("translate_document", {"parent": parent, "target_language_code": "de", "document_input_config": document, **config},
         row="translate_document, glossary_config", good=lambda answer:
         "Hütte" in answer.glossary_document_translation.byte_stream_outputs[0].decode())
    call("update_glossary_entry", {"glossary_entry": {"name": entry, **terms("house", "Bude")}},
         good=lambda changed: changed.terms_pair.target_term.text == "Bude")
    call("delete_glossary_entry", {"name": entry})
    call("update_glossary", {"glossary": {"name": glossary, "display_name": "Houses"}})
    call("delete_glossary", {"name": glossary}, good=lambda operation: operation.result().name == glossary)

    several = {"parent": parent, "source_language_code": "en", "target_language_codes": ["de"], "input_configs": [source],
               "output_config": target}
    for method, request in (
            ("romanize_text", {"parent": parent, "contents": TEXTS}), ("batch_translate_text", several),
            ("batch_translate_document", several), ("create_dataset", {"parent": parent, "dataset": {}}), ("get_dataset", {"name": dataset}),
            ("list_datasets", {"parent": parent}), ("delete_dataset", {"name": dataset}),
            ("create_adaptive_mt_dataset", {"parent": parent, "adaptive_mt_dataset": {}}),
            ("delete_adaptive_mt_dataset", {"name": adaptive}), ("get_adaptive_mt_dataset", {"name": adaptive}),
            ("list_adaptive_mt_datasets", {"parent": parent}),
            ("adaptive_mt_translate", {"parent": parent, "dataset": adaptive, "content": TEXTS}),
            ("get_adaptive_mt_file", {"name": file}), ("delete_adaptive_mt_file", {"name": file}),
            ("import_adaptive_mt_file", {"parent": adaptive}), ("list_adaptive_mt_files", {"parent": adaptive}),
            ("list_adaptive_mt_sentences", {"parent": file}), ("import_data", {"dataset": dataset, "input_config": {}}),
            ("export_data", {"dataset": dataset, "output_config": {}}), ("list_examples", {"parent": dataset}),
            ("create_model", {"parent": parent, "model": {}}), ("list_models", {"parent": parent}),
            ("get_model", {"name": model}), ("delete_model", {"name": model}), ("list_operations", {"name": parent}),
            ("get_operation", {"name": operation}), ("delete_operation", {"name": operation}),
            ("cancel_operation", {"name": operation}), ("wait_operation", {"name": operation}),
            ("get_location", {"name": parent}), ("list_locations", {"name": "projects/any"})):
        call(method, request)


def call_azure_text(address, german):
    text = importlib.import_module("azure.ai.translation.text")
    call = caller("Azure text", f"azure-ai-translation-text {text.__version__}", text.TextTranslationClient(
        endpoint=address, credential=AzureKeyCredential("any"), retry_total=0))
    call("translate", TEXTS, to_language=["de"], good=lambda items: [
        (each.translations[0].text, each.detected_language.language) for each in items] == [(each, "en") for each in german])
    call("get_supported_languages", good=lambda found: set(found.translation) == {"de", "en"})
    call("transliterate", ["Доброе утро"], language="ru", from_script="Cyrl", to_script="Latn")
    if text.__version__.startswith("1."):
        call("translate", TEXTS, to_language=["de"], to_script="Latn", row="translate, to_script")
        call("translate", TEXTS, to_language=["de"], profanity_action="Deleted", row="translate, profanity_action")
        call("find_sentence_boundaries", [" ".join(TEXTS)], good=lambda items: sum(items[0].sent_len) == len(" ".join(TEXTS)))
        call("lookup_dictionary_entries", ["house"], from_language="en", to_language="de")
        call("lookup_dictionary_examples", [text.models.DictionaryExampleTextItem(text="house", translation="Haus")],
             from_language="en", to_language="de")


def call_azure_documents(address, german):
    column = f"azure-ai-translation-document {version('azure-ai-translation-document')}"
    key = AzureKeyCredential("any")
    one = caller("Azure documents", column, SingleDocumentTranslationClient(address, key, retry_total=0))
    one("translate", {"document": ("in.txt", TEXTS[0].encode(), "text/plain")}, target_language="de",
        good=lambda file: file.decode() == german[0])
    call = caller("Azure documents", column, DocumentTranslationClient(address, key, retry_total=0))
    call("begin_translation", "https://any/in", "https://any/out", "de")
    for method in ("get_translation_status", "cancel_translation"):
        call(method, "any")
    call("get_document_status", "any", "any")
    call("get_supported_document_formats")
    call("get_supported_glossary_formats")
    call("list_translation_statuses", good=lambda pages: not list(pages))
    call("list_document_statuses", "any", good=lambda pages: not list(pages))


def call_libretranslate(address, german):
    call = caller("LibreTranslate", f"libretranslatepy {version('libretranslatepy')}",
                  libretranslatepy.LibreTranslateAPI(address))
    call("translate", TEXTS[0], "en", "de", good=lambda text: text == german[0])
    call("detect", TEXTS[0], good=lambda found: found[0]["language"] == "en")
    call("languages", good=lambda languages: {each["code"] for each in languages} == {"de", "en"})

    call = caller("LibreTranslate", f"deep-translator {version('deep-translator')}", deep_translator.LibreTranslator(
        source="en", target="de", api_key="any", custom_url=f"{address}/"))
    call("translate", TEXTS[0], good=lambda text: text == german[0])
    call("translate_batch", TEXTS, good=lambda texts: texts == german)
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
        file.write(TEXTS[0])
        file.flush()
        call("translate_file", file.name, good=lambda text: text == german[0])


def call_openai(address, german):
    client = openai.OpenAI(base_url=f"{address}/v1", api_key="any", max_retries=0)
    text = {"model": f"{MODEL}:{MODEL}", "messages": [{"role": "user", "content": TEXTS[0]}]}
    column = f"openai {version('openai')}"

    def call(path, method, *arguments, **options):
        resource = functools.reduce(getattr, path.split("."), client)
        return caller("OpenAI", column, resource)(method, *arguments, row=f"{path}.{method}", **options)
    call("chat.completions", "create", **text, good=lambda answer: answer.choices[0].message.content == german[0])
    caller("OpenAI", column, client.chat.completions)(
        "create", **text, stream=True, row="chat.completions.create, stream", good=lambda chunks: "".join(
            each.choices[0].delta.content or "" for each in chunks if each.choices) == german[0])
    call("chat.completions", "parse", **text, good=lambda answer: answer.choices[0].message.content == german[0])

    def streamed(manager):
        with manager as stream:
            stream.until_done()
            return stream.get_final_completion().choices[0].message.content == german[0]
    call("chat.completions", "stream", **text, good=streamed)
    for method in ("retrieve", "delete"):
        call("chat.completions", method, "any")
    call("chat.completions", "update", "any", metadata={})
    call("chat.completions", "list")
    call("models", "list", good=lambda page: [each.id for each in page.data] == [MODEL])
    call("models", "retrieve", MODEL, good=lambda model: model.id == MODEL)
    call("models", "delete", MODEL)
    call("completions", "create", model=MODEL, prompt=TEXTS[0])
    call("responses", "create", model=MODEL, input=TEXTS[0])
    del called[type(client.responses)]  # the others want what it answers
    call("embeddings", "create", model=MODEL, input=TEXTS[0])
    call("moderations", "create", input=TEXTS[0])
    call("audio.translations", "create", model=MODEL, file=("a.wav", b"any"))


def call_triton(column, package, address, german):
    client = package.InferenceServerClient(address)
    call = caller("Open Inference Protocol", column, client)

    def tensors(**form):
        for name, values in (("text", TEXTS), ("target_language", ["de"])):
            array = numpy.array([value.encode() for value in values], dtype=numpy.object_)
            given = package.InferInput(name, array.shape, "BYTES")
            given.set_data_from_numpy(array, **form)
            yield given

    def read(answer):
        return [each if isinstance(each, str) else each.decode() for each in answer.as_numpy("translation")] == german

    def named(answer):
        return (answer["name"] if isinstance(answer, dict) else answer.name) in ("dragoman", MODEL)
    inputs = list(tensors())
    for method in ("is_server_live", "is_server_ready"):
        call(method, good=lambda answer: answer)
    call("is_model_ready", MODEL, good=lambda answer: answer)
    call("get_server_metadata", good=named)
    call("get_model_metadata", MODEL, good=named)
    call("infer", MODEL, inputs, good=read)
    if package is tritonclient.http:
        call("infer", MODEL, list(tensors(binary_data=False)), row="infer, as JSON", good=read,
             outputs=[package.InferRequestedOutput("translation", binary_data=False)])
        call("async_infer", MODEL, inputs, good=lambda request: read(request.get_result()))
    else:
        came = queue.SimpleQueue()

        def arrived(_):
            answer, error = came.get(timeout=30)
            if error is not None:
                raise error
            return read(answer)

        def streamed(_):
            try:
                client.async_stream_infer(MODEL, inputs)
            except InferenceServerException:
                pass  # says only that the callback has the error
            return arrived(_)

        def put(result, error):
            came.put((result, error))
        call("async_infer", MODEL, inputs, put, good=arrived)
        call("start_stream", put, row="start_stream, async_stream_infer", good=streamed)
        client.stop_stream()
    for method, *arguments in (
            ("get_model_config", MODEL), ("get_model_repository_index",), ("load_model", MODEL), ("unload_model", MODEL),
            ("get_inference_statistics",), ("update_trace_settings",), ("get_trace_settings",), ("update_log_settings", {}),
            ("get_log_settings",), ("get_system_shared_memory_status",), ("register_system_shared_memory", "a", "/a", 1),
            ("unregister_system_shared_memory",), ("get_cuda_shared_memory_status",),
            ("register_cuda_shared_memory", "a", b"YQ==", 0, 1), ("unregister_cuda_shared_memory",)):
        call(method, *arguments)


def call_kserve(grpc_address, address, german):
    def inputs():
        for name, values in (("text", TEXTS), ("target_language", ["de"])):
            given = kserve.InferInput(name, [len(values)], "BYTES")
            given.set_data_from_numpy(numpy.array([value.encode() for value in values], dtype=numpy.object_))
            yield given

    def read(answer):
        return [each if isinstance(each, str) else each.decode() for each in answer.outputs[0].as_numpy()] == german
    request = kserve.InferRequest(MODEL, list(inputs()))

    async def grpc_client():  # its channel belongs to the loop
        return kserve.InferenceGRPCClient(grpc_address)
    rest = kserve.InferenceRESTClient(kserve.RESTConfig(protocol="v2"))
    for transport, client, server, model in (("REST", rest, [address], [MODEL]),
                                             ("gRPC", LOOP.run_until_complete(grpc_client()), [], [])):
        call = caller("Open Inference Protocol, KServe", f"kserve {version('kserve')}, {transport}", client)
        for method in ("is_server_live", "is_server_ready"):
            call(method, *server, good=lambda answer: answer)
        call("is_model_ready", *server, MODEL, good=lambda answer: answer)
        call("infer", *server, request, *model, good=read)
        LOOP.run_until_complete(client.close())


def call_all(grpc_address, http_address):
    address = f"http://{http_address}"
    body = json.dumps({"contents": TEXTS, "sentenceSplitting": "SENTENCE_SPLITTING_SENTENCES"}).encode()
    with urllib.request.urlopen(urllib.request.Request(
            f"{address}/v1/translate", body, {"Content-Type": "application/json"})) as answer:
        german = [each["hypotheses"][0]["text"] for each in json.load(answer)["translations"]]
    call_deepl(address, german)
    call_google_v2(address, german)
    google = f"google-cloud-translate {version('google-cloud-translate')}"
    call_google_v3(f"{google}, gRPC", transports.TranslationServiceGrpcTransport(
        channel=grpc.insecure_channel(grpc_address)), german)
    call_google_v3(f"{google}, REST", transports.TranslationServiceRestTransport(
        host=http_address, url_scheme="http", credentials=AnonymousCredentials()), german)
    call_azure_text(address, german)
    for name in [name for name in sys.modules if name.startswith("azure.ai.translation.text")]:
        del sys.modules[name]
    sys.path.insert(0, os.path.join(sys.prefix, "azure-1"))
    call_azure_text(address, german)
    call_azure_documents(address, german)
    call_libretranslate(address, german)
    call_openai(address, german)
    triton = f"tritonclient {version('tritonclient')}"
    call_triton(f"{triton}, HTTP", tritonclient.http, http_address, german)
    call_triton(f"{triton}, gRPC", tritonclient.grpc, grpc_address, german)
    call_kserve(grpc_address, address, german)


def tables():
    for section, methods in rows.items():
        columns = list(dict.fromkeys(column for cells in methods.values() for column in cells))
        yield f"\n## {section}\n\n| method | {' | '.join(columns)} |\n|{'---|' * (len(columns) + 1)}"
        for method, cells in methods.items():
            yield f"| `{method}` | {' | '.join(cells.get(column, 'no such method').replace('|', '&#124;') for column in columns)} |"


if __name__ == "__main__":
    call_all(*sys.argv[1:])
    print("\n".join(tables()))
    if left := not_called():
        sys.exit(f"not called: {', '.join(left)}")
