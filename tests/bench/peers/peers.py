#!/usr/bin/env python3
"""Compares Dragoman with CTranslate2, Bergamot and LibreTranslate: the same weights and texts, in turns, in one table.

    tests/bench/peers/peers.py [--only small base student server] [--rounds 3]

Installs the others from PyPI in environments below --work: requirements.txt, and Bergamot, whose last wheel is for
Python 3.10.  What cannot be installed is left out, with the reason.

- small, base: CTranslate2's wheel in int8 on one core, target tokens per CPU second without loading; both read one
  float32 directory.  small is tests/golden/models/en-de, with English sentences and translations that end by themselves;
  base is make_model.py's, with 28 source and 30 target tokens.
- student: the same with Bergamot and make_student.py, 25 source and 25 target tokens.
- server: LibreTranslate.  Both have one Argos package (small in int8, beam 4) and the first half of the cores, the
  clients the others.  Each request is another sentence for /translate, over a connection that stays open.
  LibreTranslate would download a splitter of sentences; here it has one that leaves a text whole.

In flight are sentences for dragoman-bench; the size of a batch for Bergamot and for CTranslate2, which sorts all texts by
length first; the connections for servers.
"""

import argparse
import concurrent.futures as futures
import http.client
import json
import os
import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path

REQUIREMENTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "requirements.txt")
BENCH = os.path.dirname(os.path.dirname(REQUIREMENTS))
ROOT = os.path.dirname(os.path.dirname(BENCH))
GOLDEN = os.path.join(ROOT, "tests/golden/models/en-de")
BERGAMOT = "0.4.5"
IN_FLIGHT, SECONDS = (1, 8, 64), 4  # of a server's round
LENGTH = 25  # of the student's sentences and translations, with eos
CORES = sorted(os.sched_getaffinity(0))
SERVER_CORES, CLIENT_CORES = CORES[:max(len(CORES) // 2, 1)], CORES[len(CORES) // 2:]
ON_ONE_CORE, ON_SERVER_CORES = (["taskset", "-c", ",".join(map(str, cores))] for cores in (CORES[:1], SERVER_CORES))


def convert(work):
    """Writes CTranslate2's directories, an Argos package and the student's vocabulary.  Like the next four functions it
    runs in an environment of the others, as peers.py NAME JSON."""
    sys.path[:0] = [BENCH, os.path.join(ROOT, "tests/e2e")]
    import ctranslate2_models as ct2
    import make_student
    from sentencepiece import sentencepiece_model_pb2
    package = f"{work}/argos/en_de"
    for path, source, kind in ((f"{work}/small", GOLDEN, "float32"), (f"{work}/base", f"{work}/base-hf", "float32"),
                               (f"{package}/model", GOLDEN, "int8")):
        shutil.rmtree(path, ignore_errors=True)
        model = ct2.marian(source)
        model.config["add_source_eos"] = True
        ct2.write(model, path, kind, beside=[] if kind == "int8" else [f"{source}/source.spm", f"{source}/target.spm"])
    shutil.copy(f"{GOLDEN}/source.spm", f"{package}/sentencepiece.model")
    Path(package, "metadata.json").write_text(json.dumps({
        "from_code": "en", "from_name": "English", "to_code": "de", "to_name": "German"}), "utf-8")
    vocabulary = sentencepiece_model_pb2.ModelProto()
    vocabulary.trainer_spec.eos_id, vocabulary.trainer_spec.unk_id, vocabulary.trainer_spec.bos_id = 0, 1, -1
    vocabulary.normalizer_spec.name = "identity"
    vocabulary.pieces.add(piece="</s>", type=3)  # control
    vocabulary.pieces.add(piece="<unk>", type=2)  # unknown
    for word in range(2, make_student.VOCABULARY):
        vocabulary.pieces.add(piece=f"▁{make_student.name(word)}", score=0)
    Path(work, "vocab.spm").write_bytes(vocabulary.SerializeToString())


def timed(translate, encode, batch, tokens):
    """Prints tokens and CPU seconds of the second call: the first one allocates."""
    texts = [encode(line.strip()) for line in sys.stdin]
    translate(texts[:batch])
    begin = time.process_time()
    found = translate(texts)
    print(json.dumps({"cpu_seconds": time.process_time() - begin, "target_tokens": sum(map(tokens, found))}))


def ctranslate2(model, batch, beam, length):
    import ctranslate2 as library
    import sentencepiece
    pieces = sentencepiece.SentencePieceProcessor(model_file=f"{model}/source.spm")
    translator = library.Translator(model, compute_type="int8", inter_threads=1, intra_threads=1)
    options = {"min_decoding_length": length, "max_decoding_length": length} if length else {}
    timed(lambda texts: translator.translate_batch(texts, max_batch_size=batch, beam_size=beam, **options),
          pieces.encode_as_pieces, batch, lambda one: len(one.hypotheses[0]) + (length == 0))  # and eos


def bergamot(model, batch, beam, length):
    # Not the package, which asks two sites for their models when it is imported.
    sys.path.insert(0, f"{sys.prefix}/lib/python3.10/site-packages/bergamot")
    import _bergamot as library
    service = library.Service(library.ServiceConfig(numWorkers=1))
    translator = service.modelFromConfig(json.dumps({
        "models": [f"{model}/model.intgemm8.bin"], "vocabs": [f"{model}/../vocab.spm"] * 2, "cpu-threads": 0,
        "shortlist": [f"{model}/lex.bin", False], "beam-size": beam, "normalize": 1.0, "word-penalty": 0,
        "max-length-break": length, "max-length-factor": 1.0, "mini-batch-words": batch * length, "workspace": 128,
        "skip-cost": True, "gemm-precision": "int8shiftAlphaAll", "alignment": "soft", "ssplit-mode": "paragraph"}))
    options = library.ResponseOptions(qualityScores=False, sentenceMappings=False)
    timed(lambda texts: service.translate(translator, library.VectorString(texts), options), str, batch,
          lambda one: len(one.target.text.split()))


def libretranslate(port):
    from argostranslate import sbd
    from libretranslate import init
    from libretranslate.main import main as serve
    init.check_and_install_models = lambda **_: None  # the package is there, and it wants two
    sbd.MiniSBDSentencizer.split_sentences = lambda self, text: [text]
    sys.argv[1:] = ["--host", "127.0.0.1", "--port", str(port), "--load-only", "en,de", "--disable-web-ui"]
    serve()


def install(flags, name, interpreter, *packages):
    """The interpreter of an environment with these packages; None, and the reason printed, if there cannot be one."""
    python = f"{flags.work}/{name}/bin/python"
    script = f'"$0" -m venv "{flags.work}/{name}" && "{python}" -m pip install --quiet "$@"'
    done = subprocess.run(["bash", "-c", script, interpreter, *packages], stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode == 0:
        return python
    return print(f"left out, {name}: {done.stderr.strip().splitlines()[-1]}", file=sys.stderr)


def side(python, function, **arguments):
    return [python, os.path.abspath(__file__), function.__name__, json.dumps(arguments)]


def libraries(flags, title, python, peer, model, lines_of, beam, length=0):
    """A row with the medians of the rounds, ours/theirs: their ratio."""
    cells = []
    for in_flight in IN_FLIGHT:
        text, pairs = "".join(line + "\n" for line in lines_of(in_flight)), []
        ours = [f"{flags.build}/tests/bench/dragoman-bench", "--model", model, "--input", "/dev/stdin", "--precision",
                "int8", "--in-flight", str(in_flight), "--beam-size", str(beam),
                *(("--min-length", str(length - 1), "--max-length", str(length)) if length else ())]
        theirs = side(python, peer, model=model, batch=in_flight, beam=beam, length=length)
        for _ in range(flags.rounds):
            found = [json.loads(subprocess.check_output(ON_ONE_CORE + words, input=text, text=True,
                                                        stderr=subprocess.DEVNULL)) for words in (ours, theirs)]
            pairs.append([one["target_tokens"] / one["cpu_seconds"] for one in found])
        here, there = map(statistics.median, zip(*pairs))
        cells.append(f"{here:,.0f}/{there:,.0f}: {here / there:.1f}")
        print(f"{title}, beam {beam}, {in_flight}: tokens {[one['target_tokens'] for one in found]}, rounds",
              *(f"{a:.0f}/{b:.0f}" for a, b in pairs), file=sys.stderr)
    print(f"| {title}, beam {beam}", *cells, sep=" | ", end=" |\n", flush=True)


def post(connection, text):
    body = json.dumps({"q": text, "source": "en", "target": "de"})
    connection.request("POST", "/translate", body, {"Content-Type": "application/json"})
    answer = connection.getresponse()
    if answer.status != 200:
        raise http.client.HTTPException(answer.read())  # as while it loads
    return json.load(answer)["translatedText"]


def load(port, texts, connections):
    """Sends texts over so many connections; returns requests a second, and the p50 and p99 of their milliseconds."""
    latencies, source, first = [], iter(texts * 100), time.monotonic()

    def work(_):
        connection = http.client.HTTPConnection("127.0.0.1", port)
        while (begin := time.monotonic()) < first + SECONDS:
            post(connection, next(source))
            latencies.append(time.monotonic() - begin)

    with futures.ThreadPoolExecutor(connections) as pool:
        list(pool.map(work, range(connections)))
    return (len(latencies) / (time.monotonic() - first),
            *(1e3 * sorted(latencies)[len(latencies) * percent // 100] for percent in (50, 99)))


def start(port, words, **environment):
    """Starts a server and waits until it translates."""
    process = subprocess.Popen(ON_SERVER_CORES + words, env=os.environ | environment, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
    for _ in range(600):
        try:
            post(http.client.HTTPConnection("127.0.0.1", port), "Good morning.")
            return process
        except (OSError, http.client.HTTPException):
            time.sleep(0.1)
    process.kill()
    raise SystemExit(f"does not answer: {' '.join(words)}")


def servers(flags, python, version, texts):
    package, ports = f"{flags.work}/argos", {"Dragoman": 59464, f"LibreTranslate {version}": 59465}
    ours, theirs = ports.values()
    started = [start(ours, [f"{flags.build}/server/dragoman-server", "--model", f"en-de={package}/en_de", "--log-level",
                            "warn", "--grpc-address", "127.0.0.1:0", "--http-address", f"127.0.0.1:{ours}"]),
               start(theirs, side(python, libretranslate, port=theirs), HOME=flags.work, ARGOS_PACKAGES_DIR=package,
                     ARGOS_INTRA_THREADS=str(len(SERVER_CORES)))]
    os.sched_setaffinity(0, CLIENT_CORES)
    answers = [[post(http.client.HTTPConnection("127.0.0.1", port), text).rstrip(".!?").lower()
                for text in texts[:100]] for port in ports.values()]
    print(f"{sum(map(str.__eq__, *answers))} of the servers' first 100 translations are the same", file=sys.stderr)
    cells = {name: [] for name in ports}
    for connections in IN_FLIGHT:
        rounds = [[load(port, texts, connections) for port in ports.values()] for _ in range(flags.rounds)]
        for column, of_one in zip(cells.values(), zip(*rounds)):
            column.append("{:,.0f}; {:,.1f}, {:,.1f} ms".format(*map(statistics.median, zip(*of_one))))
    for process in started:
        process.terminate()
        process.wait()
    for name, column in cells.items():
        print(f"| {name}: requests a second; p50, p99", *column, sep=" | ", end=" |\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", default="/tmp/peers")
    parser.add_argument("--build", default=os.path.join(ROOT, "build/release"))
    parser.add_argument("--only", nargs="*", default=["small", "base", "student", "server"])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--python310", default="python3.10", help="for Bergamot")
    flags = parser.parse_args()
    sys.path.insert(0, BENCH)
    import equal_bytes
    import make_model
    import make_student
    python = install(flags, "peers", sys.executable, "-r", REQUIREMENTS) or sys.exit(1)
    old = install(flags, "bergamot", flags.python310, f"bergamot=={BERGAMOT}")
    make_model.write_model(f"{flags.work}/base-hf", *make_model.SIZES["base"])
    student = f"{flags.work}/student"
    subprocess.run([make_student.__file__, student, "--words", str(LENGTH - 1)], check=True)
    subprocess.run(side(python, convert, work=flags.work), check=True)
    versions = dict(line.split("==") for line in Path(REQUIREMENTS).read_text("utf-8").splitlines())
    words = Path(student, "input.txt").read_text("utf-8").splitlines()[:256]
    texts = [text for text in equal_bytes.texts() if len(text) < 200]
    print("| in flight | 1 | 8 | 64 |\n|---|---|---|---|")
    for name, lines_of, length in (("small", lambda _: texts[:512], 0),
                                   ("base", lambda in_flight: make_model.sentences(max(in_flight, 32), 28), 30)):
        for beam in (1, 4) if name in flags.only else ():
            libraries(flags, f"{name}: Dragoman/CTranslate2 {versions['ctranslate2']}", python, ctranslate2,
                      f"{flags.work}/{name}", lines_of, beam, length)
    if "student" in flags.only and old:
        libraries(flags, f"student: Dragoman/Bergamot {BERGAMOT}", old, bergamot, student, lambda _: words, 1, LENGTH)
    if "server" in flags.only:
        servers(flags, python, versions["libretranslate"], texts)


if __name__ == "__main__":
    if len(sys.argv) == 3 and sys.argv[1] in ("convert", "ctranslate2", "bergamot", "libretranslate"):
        globals()[sys.argv[1]](**json.loads(sys.argv[2]))
    else:
        main()
