"""Calls a server with the clients that PyPI has, as their documentation says, and prints what they got as JSON.

    pypi_clients.py GRPC_ADDRESS HTTP_ADDRESS TEXT...
"""

import json
import sys

import grpc
import numpy
import tritonclient.grpc
import tritonclient.http
from google.api_core import exceptions
from google.cloud import translate_v3
from google.cloud.translate_v3.services.translation_service import transports
from tritonclient.utils import InferenceServerException

PARENT = "projects/any/locations/global"


def call_google(grpc_address, texts):
    transport = transports.TranslationServiceGrpcTransport(channel=grpc.insecure_channel(grpc_address))
    client = translate_v3.TranslationServiceClient(transport=transport)
    plain = client.translate_text(parent=PARENT, contents=texts, target_language_code="de", mime_type="text/plain")
    html = client.translate_text(parent=PARENT, contents=[f"<b>{texts[0]}</b>"], target_language_code="de",
                                 source_language_code="en")
    found = client.detect_language(parent=PARENT, content="Wo ist der Bahnhof?", mime_type="text/plain")
    file = {"content": texts[0].encode(), "mime_type": "text/plain"}
    document = client.translate_document(request={
        "parent": PARENT, "target_language_code": "de", "document_input_config": file})
    try:
        client.translate_text(parent=PARENT, contents=texts, target_language_code="xx")
        refused = ""
    except exceptions.GoogleAPICallError as error:
        refused = type(error).__name__
    return {
        "texts": [each.translated_text for each in plain.translations],
        "detected": plain.translations[0].detected_language_code,
        "html": html.translations[0].translated_text,
        "language": found.languages[0].language_code,
        "languages": [each.language_code for each in client.get_supported_languages(parent=PARENT).languages],
        "document": document.document_translation.byte_stream_outputs[0].decode(),
        "refused": refused,
    }


def call_triton(client, package, texts):
    """With the texts and the translations as bytes (as by default) or, over HTTP, as JSON."""
    def tensor(name, values, **binary):
        array = numpy.array([value.encode() for value in values], dtype=numpy.object_)
        given = package.InferInput(name, array.shape, "BYTES")
        given.set_data_from_numpy(array, **binary)
        return given
    ways = [{"binary_data": False}, {}] if package is tritonclient.http else [{}, {}]
    answers = [client.infer("en-de", [tensor("text", texts, **way), tensor("target_language", ["de"], **way)],
                            outputs=outputs)
               for way in ways for outputs in (None, [package.InferRequestedOutput("translation", **way)])]
    metadata = client.get_model_metadata("en-de", **({"as_json": True} if package is tritonclient.grpc else {}))
    try:
        client.infer("gone", [tensor("text", texts)])
        refused = False
    except InferenceServerException:
        refused = True
    server = client.get_server_metadata()
    return {
        "health": [client.is_server_live(), client.is_server_ready(), client.is_model_ready("en-de")],
        "server": server["name"] if isinstance(server, dict) else server.name,
        "inputs": [each["name"] for each in metadata["inputs"]],
        "texts": [[each.decode() if isinstance(each, bytes) else each for each in answer.as_numpy("translation").tolist()]
                  for answer in answers],
        "refused": refused,
    }


def main(grpc_address, http_address, *texts):
    over_grpc = tritonclient.grpc.InferenceServerClient(grpc_address)
    over_http = tritonclient.http.InferenceServerClient(http_address)
    print(json.dumps({
        "google": call_google(grpc_address, list(texts)),
        "triton grpc": call_triton(over_grpc, tritonclient.grpc, texts),
        "triton http": call_triton(over_http, tritonclient.http, texts),
    }))


if __name__ == "__main__":
    main(*sys.argv[1:])
