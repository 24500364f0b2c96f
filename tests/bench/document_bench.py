#!/usr/bin/python3
"""Translates books by `dragoman translate-file`: words per second, memory of both sides, and kill -9.

    tests/bench/document_bench.py [--model DIR] [--runs speed,book,docx]

speed: a book of --megabytes as text and as DOCX, and the same paragraphs, one in a line, by `dragoman translate`, in
turns, --rounds times; prints the median words per second of each and their ratio.
book, docx: a text of --words words, and a DOCX of 30 MB with a third of these, are translated at once, and again with
two kills on the way: both must give the same bytes.  Prints the memory of both sides at each tenth of the way.

Needs the same as file_bench.py.
"""

import argparse
import os
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import zipfile

import own_server  # finds harness
from file_bench import LineCounter, digest, pin, resident
from harness import CLIENT, MODEL, golden_inputs

DOCX_BYTES = 30 << 20
TYPES = ('<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
         '<Default Extension="png" ContentType="image/png"/><Override PartName="/word/document.xml" ContentType='
         '"application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>')
BODY = ('<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body>',
        '</w:body></w:document>')


def paragraphs(words):
    """Paragraphs of one to six sentences of three to twelve words, nearly all of them different."""
    source = random.Random(29)
    vocabulary = sorted({word for given in golden_inputs() for word in given["text"].rstrip(".").split()})
    while words > 0:
        sentences = [source.choices(vocabulary, k=source.randint(3, 12)) for _ in range(source.randint(1, 6))]
        words -= sum(map(len, sentences))
        yield " ".join(" ".join(sentence).capitalize() + "." for sentence in sentences)


def write_text(path, words, between="\n\n"):
    with open(path, "w", encoding="utf-8") as file:
        for paragraph in paragraphs(words):
            file.write(paragraph + between)


def write_docx(path, words, size=0):
    """Every third word is bold; a picture of noise makes the file as large as `size`."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("[Content_Types].xml", TYPES)
        with archive.open("word/document.xml", "w") as file:
            file.write(BODY[0].encode())
            for paragraph in paragraphs(words):
                runs = []
                for number, word in enumerate(paragraph.split()):
                    bold = "<w:rPr><w:b/></w:rPr>" if number % 9 == 3 else ""
                    runs.append(f'<w:r>{bold}<w:t xml:space="preserve">{word} </w:t></w:r>')
                file.write(f"<w:p>{''.join(runs)}</w:p>\n".encode())
            file.write(BODY[1].encode())
        written = archive.fp.tell()
        if size > written:
            archive.writestr("word/media/noise.png", random.Random(1).randbytes(size - written), zipfile.ZIP_STORED)


def peak(pid):
    with open(f"/proc/{pid}/status", encoding="utf-8") as file:
        return next(int(line.split()[1]) / 1024 for line in file if line.startswith("VmHWM"))


class Bench:

    def __init__(self, flags, folder):
        self.flags, self.folder = flags, folder
        self.server = own_server.start_server(flags, "--model", f"m={flags.model}", "--workers", "2", "--log-level", "warn")

    def path(self, name):
        return os.path.join(self.folder, name)

    def command(self, *arguments):
        return pin([CLIENT, arguments[0], "--server", self.server.grpc_address, "--beam-size", "1",
                    *arguments[1:]], self.flags.client_cores)

    def seconds(self, *arguments):
        begin = time.monotonic()
        subprocess.run(self.command(*arguments), check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        return time.monotonic() - begin

    def speed(self):
        words = int(self.flags.megabytes * 1e6 / 6)
        write_text(self.path("lines.txt"), words, "\n")
        write_text(self.path("book.txt"), words)
        write_docx(self.path("book.docx"), words)
        lines = ("translate", "--split-sentences", "--input", self.path("lines.txt"))
        runs = {"dragoman translate": lines}
        for name in ("book.txt", "book.docx"):
            runs[f"translate-file {name}"] = ("translate-file", "-t", "de", "--overwrite", self.path(name),
                                              self.path("out." + name))
        taken = {name: [] for name in runs}
        for _ in range(self.flags.rounds):
            for name, arguments in runs.items():
                taken[name].append(self.seconds(*arguments))
        rates = {name: words / statistics.median(seconds) for name, seconds in taken.items()}
        for name, rate in rates.items():
            print(f"{name}: {rate:.0f} words/s, {rate / rates['dragoman translate']:.0%} of the lines' "
                  f"({', '.join(f'{s:.1f}' for s in taken[name])} s)", flush=True)

    def follow(self, source, output, passages, stops):
        """Translates the file with kills after so many passages; prints the memory on the way."""
        samples, stops, begin = [], list(stops), time.monotonic()
        journal = LineCounter(output + ".part")
        while True:
            client = subprocess.Popen(self.command("translate-file", "-t", "de", source, output),
                                      stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            highest = 0
            while client.poll() is None:
                time.sleep(0.05)  # between two looks at its memory
                try:
                    highest = max(highest, peak(client.pid))
                    done = journal.count()
                    if done >= passages * (len(samples) + 1) / 10:
                        samples.append((resident(self.server.process.pid), resident(client.pid)))
                except (OSError, StopIteration):
                    continue  # it has just ended
                if stops and done >= stops[0]:
                    stops.pop(0)
                    client.send_signal(signal.SIGKILL)
                    client.wait()
                    print(f"    killed after {done} passages", flush=True)
            if client.returncode == 0:
                break
            assert client.returncode == -signal.SIGKILL, client.returncode
        seconds = time.monotonic() - begin
        for side, of_side in zip(("server", "command"), zip(*samples)):
            print(f"    MB of the {side} at each tenth: " + " ".join(f"{mb:.0f}" for mb in of_side))
        print(f"    {seconds:.1f} s; at most {highest:.0f} MB of the command and "
              f"{peak(self.server.process.pid):.0f} MB of the server", flush=True)
        return digest(output)

    def memory(self, name, words, write):
        source = self.path(name)
        write(source)
        passages = sum(1 for _ in paragraphs(words))
        print(f"{name}: {os.path.getsize(source) / 1e6:.1f} MB, {words} words, {passages} passages", flush=True)
        whole = self.follow(source, self.path("whole." + name), passages, [])
        stopped = self.follow(source, self.path("stopped." + name), passages, [passages // 3, passages * 2 // 3])
        print("    the same bytes" if whole == stopped else "    OUTPUTS DIFFER", flush=True)
        return whole == stopped


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--model", default=MODEL)
    parser.add_argument("--runs", default="speed,book,docx", help="some of speed,book,docx")
    parser.add_argument("--megabytes", type=float, default=1)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--words", type=int, default=1_000_000)
    own_server.add_core_flags(parser)
    flags = parser.parse_args()
    same = True
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(flags, folder)
        runs = flags.runs.split(",")
        if "speed" in runs:
            bench.speed()
        if "book" in runs:
            same &= bench.memory("book.txt", flags.words, lambda path: write_text(path, flags.words))
        if "docx" in runs:
            words = flags.words // 3
            same &= bench.memory("book.docx", words, lambda path: write_docx(path, words, DOCX_BYTES))
        bench.server.channel.close()
        return bench.server.stop() or (0 if same else 1)


if __name__ == "__main__":
    sys.exit(main())
