#!/usr/bin/python3
"""What the doors cost: the same texts over gRPC, JSON, server-sent events and LibreTranslate.

    tests/bench/doors.py [--texts 1000] [--clients 32] [--model DIR]

Starts a server, sends each text as a request of its own over each door, compares the translations
byte for byte, and prints requests a second and CPU seconds of the server for each.  Then the same with
empty texts, which need no engine: the cost of the door alone.  Needs the environment of the tests in
tests/e2e (ctest --preset release -R compat_test -V -N shows it).
"""

import argparse
import http.client
import json
import os
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))
from harness import MODEL, Server, golden_inputs, pb  # noqa: E402

JSON = {"Content-Type": "application/json"}
SENTENCES = "SENTENCE_SPLITTING_SENTENCES"


def over_grpc(server):
    def translate(text):
        response = server.translation.Translate(pb.TranslateRequest(
            contents=[text], sentence_splitting=pb.SENTENCE_SPLITTING_SENTENCES))
        return response.translations[0].hypotheses[0].text
    return translate


def post(connection, path, body):
    connection.request("POST", path, json.dumps(body), JSON)
    response = connection.getresponse()
    answer = response.read()
    assert response.status == 200, answer
    return answer


def over_http(path, body, read):
    def door(server):
        connection = http.client.HTTPConnection(server.http_address)
        connection.connect()
        return lambda text: read(post(connection, path, body(text)))
    return door


def read_events(answer):
    """The text of the stream: its stable parts, end to end."""
    text = ""
    for event in answer.decode().split("\n\n"):
        name, _, data = event.partition("\n")
        if name == "event: stable_text":
            text += json.loads(data[len("data: "):])["stableText"]
    return text


DOORS = {
    "gRPC": over_grpc,
    "JSON": over_http("/v1/translate", lambda t: {"contents": [t], "sentenceSplitting": SENTENCES},
                      lambda a: json.loads(a)["translations"][0]["hypotheses"][0].get("text", "")),
    "events": over_http("/v1/translate:stream",
                        lambda t: {"contents": [t], "sentenceSplitting": SENTENCES}, read_events),
    "LibreTranslate": over_http("/translate", lambda t: {"q": t, "source": "en", "target": "de"},
                                lambda a: json.loads(a)["translatedText"]),
}


def run(server, door, texts, clients):
    """(translations, requests a second, CPU seconds of the server a request)."""
    results = [None] * len(texts)
    calls = [DOORS[door](server) for _ in range(clients)]

    def work(first):
        for i in range(first, len(texts), clients):
            results[i] = calls[first](texts[i])

    def cpu():
        return server.metrics()["process_cpu_seconds_total"][()]

    cpu_before, begin = cpu(), time.monotonic()
    threads = [threading.Thread(target=work, args=(first,)) for first in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    seconds = time.monotonic() - begin
    return results, len(texts) / seconds, (cpu() - cpu_before) / len(texts)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--texts", type=int, default=1000)
    parser.add_argument("--clients", type=int, default=32)
    parser.add_argument("--model", default=MODEL)
    arguments = parser.parse_args()
    inputs = [given["text"] for given in golden_inputs()]
    texts = [f"{inputs[i % len(inputs)]} {inputs[(7 * i + i // len(inputs)) % len(inputs)]}"
             for i in range(arguments.texts)]
    server = Server("--model", f"en-de={arguments.model}")
    print(f"{'texts':10} {'door':15} {'requests/s':>10} {'CPU ms/request':>15}")
    for kind, sent in (("sentences", texts), ("empty", [""] * len(texts))):
        wanted = None
        for door in DOORS:
            run(server, door, sent[:100], arguments.clients)  # warm
            results, rate, cpu = run(server, door, sent, arguments.clients)
            wanted = wanted or results
            same = "" if results == wanted else "   ANOTHER TRANSLATION"
            print(f"{kind:10} {door:15} {rate:10.0f} {cpu * 1000:15.3f}{same}", flush=True)
    return server.stop()


if __name__ == "__main__":
    sys.exit(main())
