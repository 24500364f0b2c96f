"""Calls a server with the clients that PyPI has, as their documentation says, and prints what they got as JSON.

    pypi_clients.py GRPC_ADDRESS HTTP_ADDRESS TEXT...
"""

import json
import sys

import grpc
from google.api_core import exceptions
from google.cloud import translate_v3
from google.cloud.translate_v3.services.translation_service import transports

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


def main(grpc_address, http_address, *texts):
    print(json.dumps({"google": call_google(grpc_address, list(texts))}))


if __name__ == "__main__":
    main(*sys.argv[1:])
