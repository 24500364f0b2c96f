#!/usr/bin/python3
"""Compares the cost of the APIs: the same texts over gRPC, JSON, server-sent events and LibreTranslate.

    tests/bench/apis.py [--texts 1000] [--clients 48] [--model DIR] [--server-cores 0] [--client-cores 1-3]

Starts a server on one core, which three client processes keep busy.  Sends each text as a request of its
own over each API, compares the translations byte for byte, and prints requests per second and the server's
CPU seconds per request.  Then it does the same with empty texts, which do not reach the engine: that is the
cost of the API alone.  Needs the environment of the tests in tests/e2e (ctest --preset release -R
compat_test -V -N shows it).
"""

import argparse
import http.client
import json
import multiprocessing
import os
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))
import grpc  # noqa: E402
from harness import MODEL, Server, golden_inputs, pb, pb_grpc  # noqa: E402

JSON = {"Content-Type": "application/json"}
SENTENCES = "SENTENCE_SPLITTING_SENTENCES"
PROCESSES = 3


def over_grpc(addresses):
    stub = pb_grpc.TranslationServiceStub(grpc.insecure_channel(
        addresses[0], [("grpc.enable_http_proxy", 0), ("grpc.use_local_subchannel_pool", 1)]))

    def translate(text):
        response = stub.Translate(pb.TranslateRequest(
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
    def connect(addresses):
        connection = http.client.HTTPConnection(addresses[1])
        connection.connect()
        return lambda text: read(post(connection, path, body(text)))
    return connect


def read_events(answer):
    """The text of the stream: its stable parts, concatenated."""
    text = ""
    for event in answer.decode().split("\n\n"):
        name, _, data = event.partition("\n")
        if name == "event: stable_text":
            text += json.loads(data[len("data: "):])["stableText"]
    return text


APIS = {
    "gRPC": over_grpc,
    "JSON": over_http("/v1/translate", lambda t: {"contents": [t], "sentenceSplitting": SENTENCES},
                      lambda a: json.loads(a)["translations"][0]["hypotheses"][0].get("text", "")),
    "events": over_http("/v1/translate:stream",
                        lambda t: {"contents": [t], "sentenceSplitting": SENTENCES}, read_events),
    "LibreTranslate": over_http("/translate", lambda t: {"q": t, "source": "en", "target": "de"},
                                lambda a: json.loads(a)["translatedText"]),
}


def send(api, addresses, texts, clients):
    """Translates texts with this many clients in one process; returns the translations."""
    results = [None] * len(texts)
    calls = [APIS[api](addresses) for _ in range(clients)]

    def work(first):
        for i in range(first, len(texts), clients):
            results[i] = calls[first](texts[i])

    threads = [threading.Thread(target=work, args=(first,)) for first in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


def run(pool, server, api, texts, clients):
    """Returns (translations, requests per second, CPU seconds of the server per request)."""
    def cpu():
        return server.metrics()["process_cpu_seconds_total"][()]

    addresses = server.grpc_address, server.http_address
    parts = [texts[first::PROCESSES] for first in range(PROCESSES)]
    cpu_before, begin = cpu(), time.monotonic()
    answers = pool.starmap(send, [(api, addresses, part, clients // PROCESSES) for part in parts])
    seconds = time.monotonic() - begin
    results = [None] * len(texts)
    for first, part in enumerate(answers):
        results[first::PROCESSES] = part
    return results, len(texts) / seconds, (cpu() - cpu_before) / len(texts)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--texts", type=int, default=1000)
    parser.add_argument("--clients", type=int, default=48)
    parser.add_argument("--model", default=MODEL)
    parser.add_argument("--server-cores", default="0")
    parser.add_argument("--client-cores", default="1-3")
    arguments = parser.parse_args()
    inputs = [given["text"] for given in golden_inputs()]
    texts = [f"{inputs[i % len(inputs)]} {inputs[(7 * i + i // len(inputs)) % len(inputs)]}"
             for i in range(arguments.texts)]
    server = Server("--model", f"en-de={arguments.model}", "--workers", "1", "--log-level", "warn")
    for cores, process in ((arguments.server_cores, server.process.pid),
                           (arguments.client_cores, os.getpid())):
        subprocess.run(["taskset", "-a", "-c", "-p", cores, str(process)], check=True,
                       capture_output=True)
    print(f"{'texts':10} {'API':15} {'requests/s':>10} {'of gRPC':>8} {'CPU ms/request':>15}")
    with multiprocessing.get_context("spawn").Pool(PROCESSES) as pool:
        for kind, sent in (("sentences", texts), ("empty", [""] * len(texts))):
            wanted = most = None
            for api in APIS:
                run(pool, server, api, sent[:100], arguments.clients)  # warm
                results, rate, cpu = run(pool, server, api, sent, arguments.clients)
                wanted, most = wanted or results, most or rate
                same = "" if results == wanted else "   ANOTHER TRANSLATION"
                print(f"{kind:10} {api:15} {rate:10.0f} {rate / most:8.1%} {cpu * 1000:15.3f}{same}",
                      flush=True)
    return server.stop()


if __name__ == "__main__":
    sys.exit(main())
