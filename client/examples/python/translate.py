"""Translates each TEXT: translate.py HOST:PORT TEXT...

The stubs are made once, from the root of the tree, into a directory of PYTHONPATH:

    protoc -I proto --python_out=DIR --grpc_out=DIR --plugin=protoc-gen-grpc=$(which grpc_python_plugin) \
        proto/dragoman/v1/translation.proto
"""

import os
import pathlib
import sys

import grpc

from dragoman.v1 import translation_pb2, translation_pb2_grpc

SERVICE_CONFIG = pathlib.Path(__file__).parents[3] / "deploy" / "service_config.json"


def connect(server):
    options = [("grpc.service_config", SERVICE_CONFIG.read_text())]
    ca = os.environ.get("DRAGOMAN_TLS_CA")
    if not ca:
        return grpc.insecure_channel(server, options)
    credentials = grpc.ssl_channel_credentials(pathlib.Path(ca).read_bytes())
    return grpc.secure_channel(server, credentials, options)


def main(server, *texts):
    token = os.environ.get("DRAGOMAN_TOKEN")
    metadata = [("authorization", f"Bearer {token}")] if token else None
    with connect(server) as channel:
        stub = translation_pb2_grpc.TranslationServiceStub(channel)
        request = translation_pb2.TranslateRequest(contents=texts)
        try:
            response = stub.Translate(request, timeout=30, metadata=metadata)
        except grpc.RpcError as error:
            sys.exit(f"{error.code().name}: {error.details()}")
    for translation in response.translations:
        print(translation.hypotheses[0].text)


if __name__ == "__main__":
    main(*sys.argv[1:])
