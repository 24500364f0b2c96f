"""Runs every command in every page of documentation as a reader would paste it.

An indented block consists of commands if its first line begins with a program (PROGRAMS, or a file of the
tree that can be executed); otherwise it must be one of PICTURES: a drawing, a formula or a part of a file.
RULES says of each command whether it is run and has to succeed (RUN), starts a server for the rest of its
block (SERVE), or why it is not run here.  A command without a rule fails the test, and so does a rule or a
picture that no page needs any more.
"""

import concurrent.futures as futures
import glob
import lzma
import os
import re
import shutil
import subprocess
import tempfile
import time
import unittest

from certificates import Authority
from fake_hub import FakeHub, Repository
from harness import (BUILT_IN, CLIENT, MODEL, SERVER, SOURCE_DIR, Server, golden_inputs, listening,
                     write_adapter)

RUN, SERVE = "run", "serve"
HAS_BENCHES = os.path.exists(os.path.join(os.path.dirname(SERVER), "..", "tests", "bench", "dragoman-bench"))

PROGRAMS = r"""apt-get awk buildah cmake cpack ctest curl debootstrap docker dragoman dragoman-server env/bin/pip export
    for go grpcurl journalctl kill kubectl ln mkdir npm pip printf python3 source sudo sudoedit xzcat""".split()

# The first rule whose pattern is found in the command.
RULES = [
    (r"^(\./run\.sh|\./test\.sh)", "installs packages and builds everything; debian_test runs it on fresh trees"),
    (r"cpack|^cmake/install-packages\.sh package|^sudo apt install", "makes and installs the package; package_test"),
    (r"^(sudoedit|journalctl|sudo systemctl) ", "needs systemd and the installed package; package_test"),
    (r"^cmake |^cmake/install-packages\.sh arm64|^clients/generate\.sh", "builds in the tree of the running test"),
    (r"^(DRAGOMAN_\w+=\S+ )?ctest ", "is a part of the suite that is running, or takes minutes"),
    (r"^docker ", "needs a container engine; image_test"),
    (r"buildah|^export STORAGE_DRIVER|^(apt-get|debootstrap) ", "changes the machine; image_test builds the image"),
    (r"kubectl", "needs a cluster; kubernetes_test renders and checks the objects"),
    (r"^export DRAGOMAN_(KUBERNETES|COMPOSE)", "schemas that are not in the tree"),
    (r"load_curve\.py|file_bench\.py", "takes minutes, and wants no other load"),
    (r"(option_costs|document_bench|glossary_bench|literals|keystrokes|repair|many_models_bench|plan_bench|equal_bytes|peers)\.py",
     "takes minutes"),
    (r"^tools/quality", "needs held-out text, and takes minutes"),
    (r"sentences\.py", "needs the cases of another project"),
    (r"student_vs_marian\.py", "needs marian-decoder"),
    (r"nllb", "writes and loads a model of 2.5 GB"),
    (r"^tools/train|run/model|run/held-out|--target-language (deu|eng)", "needs a training run; train_server_test makes one"),
    (r"^(npm|pip|python3 -m venv|env/bin/pip)\b", "may need the network; node_test and python_test install the packages"),
    (r"^(go |GO111MODULE=)", "needs Go's packages; go_test builds the module"),
    (r"^(pdf2zh|babeldoc) ", "fetches a layout model and fonts"),
    (r"--plan ", "measures for seconds and serves nothing; lifecycle_test reads plans"),
    (r"--check-config", "serves nothing; lifecycle_test checks its reports"),
    (r"^source <|completion fish", "is for the reader's own shell; command_test completes in each"),
    (r"dragoman pull (argos|firefox):", "asks another service; pull_test has a copy of its index"),
    (r"\$B/(?!kernels_bench)", RUN if HAS_BENCHES else "is built on demand, as one of the target benches"),
    (r"^dragoman-server ", SERVE),
    (r"^export (PATH|ID)=|^sudo dragoman |^\$B/kernels_bench\b", RUN),
    (r"^(awk|curl|dragoman|grpcurl|kill|ln|mkdir|printf) |^for n in ", RUN),
    (r"^(PYTHONPATH=tools/train|tools/evaluate/evaluate\.py|tests/bench/\w+\.py) ", RUN),
]

# What a command prints, below it.
OUTPUT = r'^(\{"|event: |data: )'

# Indented blocks that are not commands, by their first line.
PICTURES = [
    r"Good morning! How are you\?  -> ",  # what run.sh prints
    r"proto/dragoman/v1/ +the public API|Dockerfile  +the image|server ─► engine|a client$",  # trees and drawings
    r"models/ende/model\.ende",  # files
    r"1 - avg_over_time|rate\(",  # formulas
    r'# who +token|# (name|bytes): |event: |\{"(code|contents|goldens|now|receipt)": ?|<doc>|"alignment_layer": |\{"files":',  # parts of files
]

# What is too long for a test, or has another name here.
CHANGES = [
    (r"--duration \d+", "--duration 0.5"),
    (r"--sweep \S+", "--sweep 50:100:2"),
    (r"--rate 300 ", "--rate 30 --seconds 1 "),
    (r"--server-cores 0,1 --client-cores 2,3", "--server-cores 0 --client-cores 0 --seconds 0.3"),
    (r"(apis\.py) --texts \d+ --clients \d+", r"\1 --texts 20 --clients 4 --client-cores 0"),
    (r"first_text_bench\.py --rounds 9", "first_text_bench.py --rounds 1"),
    (r"kernels_bench", "kernels_bench --benchmark_min_time=0.001"),
    (r"512x2048'", "512x2048/rows:8/warm'"),
    (r"shapes_bench --rounds \d+", "shapes_bench --rounds 1 --rows 8 --warm"),
    (r"markup_bench", "markup_bench --rounds 1"),
    (r"memory_bench", "memory_bench 1000"),
    (r"--size base", "--size tiny"),
    (r"--sentences 256", "--sentences 8"),
    (r"\], 2000, 500\)", "], 20, 5)"),
    (r"lines=100000", "lines=2"),
    (r"0\.0\.0\.0:50051", "127.0.0.1:0"),
    (r"0\.0\.0\.0:5000\b", "127.0.0.1:0"),
    (r"^sudo ", ""),
    (r"\bmodels/ende\b", "firefox/ende"),
    (r"--models models", "--models firefox"),
    (r"(?<![\w.])/(tmp|models|var/lib/dragoman)/", r"\1/"),
    (r"(127\.0\.0\.1|localhost):50051", "$DRAGOMAN_SERVER"),
    (r"(127\.0\.0\.1|localhost):9464", "$HTTP_SERVER"),
    (r"mt\.example:50051", "$TLS_SERVER"),
    (r"\$\(pidof dragoman-server\)", "$SERVER_PID"),
    (r"--server [AB] ", "--server $DRAGOMAN_SERVER "),
    (r"\bPAIRS\b", "test.tsv"),
    (r"\bFILE\b", "english.txt"),
]


def pages():
    """The Markdown files that git tracks; without git or its folder, those outside of build folders."""
    listed = shutil.which("git") and subprocess.run(
        ["git", "ls-files", "*.md"], cwd=SOURCE_DIR, capture_output=True, text=True, check=False)
    names = listed.stdout.split() if listed and listed.returncode == 0 else [
        os.path.relpath(path, SOURCE_DIR)
        for path in glob.glob(os.path.join(SOURCE_DIR, "**/*.md"), recursive=True)
        if "/build/" not in path and "node_modules" not in path]
    return [name for name in sorted(names) if not name.startswith("tests/golden/")]


def is_command(line):
    """Whether a line begins with a program, perhaps after variables that are set for it."""
    word = next(word for word in line.split(" ") if not re.match(r"[A-Z_][A-Z0-9_]*=", word) or word == line)
    in_tree = os.path.join(SOURCE_DIR, word)
    return (word in PROGRAMS or word.startswith("$B/") or re.match(r"\w+=\$\(", line) is not None
            or "/" in word and os.path.isfile(in_tree) and os.access(in_tree, os.X_OK))


def is_complete(command):
    """Whether the shell needs no further lines."""
    return subprocess.run(["bash", "-n", "-c", command], capture_output=True, check=False).returncode == 0


def blocks(page):
    """[(line number, lines)] of the indented blocks of a page; commands of several lines are joined."""
    with open(os.path.join(SOURCE_DIR, page), encoding="utf-8") as file:
        lines = file.read().split("\n")
    found, block, fenced = [], None, False
    for number, line in enumerate(lines, 1):
        if line.startswith("```"):
            fenced = not fenced
        if not fenced and line.startswith("    ") and (block or not lines[number - 2].strip()):
            block = block or (number, [])
            block[1].append(line[4:])
        elif block and not (not line.strip() and number < len(lines)
                            and lines[number].startswith("    ")):
            found.append(block)
            block = None
    return [(number, joined([line for line in text if line.strip()]))
            for number, text in found + ([block] if block else [])]


def joined(lines):
    """Joins the lines of a block of commands that end in a backslash or continue in the next line."""
    if not is_command(lines[0].strip()):
        return lines
    commands = []
    for line in re.sub(r"\\\n\s*", "", "\n".join(lines)).split("\n"):
        if commands and not re.match(OUTPUT, line) and not is_complete(commands[-1]):
            commands[-1] += "\n" + line
        else:
            commands.append(line)
    return commands


def rule_of(command):
    return next(((pattern, what) for pattern, what in RULES if re.search(pattern, command)), (None, None))


class DocumentsTest(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        cls.authority = Authority()
        cls.hub = FakeHub(cls.authority)
        cls.addClassCleanup(cls.hub.stop)
        cls.server = Server("--model", f"en-de-fr-es={BUILT_IN}")
        cls.addClassCleanup(cls.server.stop)
        cls.client = cls.authority.issue("client", "DNS:client")
        cert, key = cls.authority.issue("server", "IP:127.0.0.1")
        cls.tls = subprocess.Popen(
            [SERVER, "--model", f"en-de-fr-es={BUILT_IN}", "--grpc-address", "127.0.0.1:0",
             "--http-address", "127.0.0.1:0", "--tls-cert", cert, "--tls-key", key],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        cls.addClassCleanup(cls.end, cls.tls)
        cls.tls_address = cls.address_of(cls.tls)[0]
        files = {}
        for path in glob.glob(os.path.join(SOURCE_DIR, "tests/golden/models/marian-trained/*")):
            with open(path, "rb") as file:
                files[os.path.basename(path)] = file.read()
        cls.hub.repositories = {"Helsinki-NLP/opus-mt-en-fr": Repository(files)}

    @staticmethod
    def end(process):
        process.terminate()
        process.communicate(timeout=120)

    @classmethod
    def address_of(cls, process):
        for line in process.stdout:
            addresses = listening(line)
            if addresses:
                return addresses
        raise AssertionError(f"the server ended with {process.wait(timeout=60)}")

    def reader(self, directory):
        """The environment of a reader who has built the tree and follows a page in this directory."""
        for name in os.listdir(SOURCE_DIR):
            if name not in ("models", "build", ".git"):
                os.symlink(os.path.join(SOURCE_DIR, name), os.path.join(directory, name))
        os.mkdir(os.path.join(directory, "build"))
        os.symlink(os.path.dirname(os.path.dirname(SERVER)),
                   os.path.join(directory, "build/release"))
        os.mkdir(os.path.join(directory, "models"))
        os.symlink(BUILT_IN, os.path.join(directory, "models/en-de-fr-es"))
        for model in ("en-de", "en-de-2026-08", "en-de-next"):  # of the reader's own, in /models
            os.symlink(MODEL, os.path.join(directory, "models", model))
        write_adapter(os.path.join(directory, "models/medical-lora"), 8, "model.decoder.layers.1.fc2", 1024, 256)
        student = os.path.join(SOURCE_DIR, "tests/golden/marian/models/student-ssru")
        os.makedirs(os.path.join(directory, "firefox/ende"))
        for own, name in (("model.intgemm8.alphas.bin", "model.ende.intgemm.alphas.bin"),
                          ("vocab.spm", "vocab.deen.spm"), ("lex.bin", "lex.50.50.ende.s2t.bin")):
            shutil.copy(os.path.join(student, own), os.path.join(directory, "firefox/ende", name))
        shutil.copy(self.authority.ca, os.path.join(directory, "ca.pem"))
        for path, name in zip(self.client, ("me.pem", "me.key")):
            shutil.copy(path, os.path.join(directory, name))
        with open(os.path.join(directory, "token"), "w", encoding="utf-8") as file:
            file.write("a-token\n")
        os.mkdir(os.path.join(directory, "tmp"))
        os.mkdir(os.path.join(directory, "bin"))
        if not shutil.which("grpcurl"):
            os.symlink(os.path.join(SOURCE_DIR, "tests/e2e/grpcurl.py"), os.path.join(directory, "bin/grpcurl"))
        with open(os.path.join(directory, "lex.s2t"), "w", encoding="utf-8") as file:
            file.write("▁Haus ▁house 0.9\n")
        for shard in range(16):
            with open(os.path.join(directory, f"part-{shard}.out"), "w", encoding="utf-8") as file:
                file.write(f"Satz {shard}.\n")
        inputs = golden_inputs()[:20]
        with open(os.path.join(directory, "page.html"), "w", encoding="utf-8") as file:
            file.write("<p>The <b>cat</b> sleeps.</p>\n")
        with open(os.path.join(directory, "english.txt"), "w", encoding="utf-8") as file:
            file.writelines(i["text"] + "\n" for i in inputs)
        shutil.copy(os.path.join(directory, "english.txt"), os.path.join(directory, "corpus.txt"))
        os.mkdir(os.path.join(directory, "guide"))
        for name in ("report.txt", "guide/start.txt"):
            with open(os.path.join(directory, name), "w", encoding="utf-8") as file:
                file.write("The cat sleeps.\n\nGood morning.\n")
        with lzma.open(os.path.join(directory, "tatoeba.en-de.tsv.xz"), "wt", encoding="utf-8") as file:
            file.writelines(f'{i["text"]}\t{i["beam4"][0]["text"]}\n' for i in golden_inputs())
        with open(os.path.join(directory, "test.tsv"), "w", encoding="utf-8") as file:
            file.writelines(f'{i["text"]}\t{i["beam4"][0]["text"]}\n' for i in inputs)
        return {
            **os.environ, "HOME": directory, "HF_ENDPOINT": self.hub.url,
            "REQUESTS_CA_BUNDLE": self.authority.ca, "no_proxy": "*",
            "PATH": os.pathsep.join([os.path.join(directory, "bin"), os.path.dirname(CLIENT),
                                     os.path.dirname(SERVER), os.environ["PATH"]]),
            "B": os.path.join(os.path.dirname(os.path.dirname(SERVER)), "tests/bench"),
            "DRAGOMAN_SERVER": self.server.grpc_address, "HTTP_SERVER": self.server.http_address,
            "TLS_SERVER": self.tls_address}

    def serve(self, command, directory, environment):
        """Starts the server of a command, for the commands after it."""
        command = command.split("#")[0].rstrip(" &")
        for flag in ("--grpc-address", "--http-address"):
            if flag not in command:
                command += f" {flag} 127.0.0.1:0"
        process = subprocess.Popen(["bash", "-c", "exec " + command], cwd=directory, text=True,
                                   env=environment, stdout=subprocess.PIPE,
                                   stderr=subprocess.DEVNULL)
        environment["DRAGOMAN_SERVER"], environment["HTTP_SERVER"] = self.address_of(process)[:2]
        environment["SERVER_PID"] = str(process.pid)
        return process

    def run_one(self, command, directory, environment):
        """Runs a command; what it exports goes to the environment."""
        exports = command.startswith("export ")
        ended = subprocess.run(["bash", "-c", command + ("; env -0" if exports else "")], cwd=directory,
                               env=environment, stdin=subprocess.DEVNULL, capture_output=True,
                               text=True, timeout=120, check=False)
        self.assertEqual(ended.returncode, 0, f"{command}\n{ended.stdout}{ended.stderr}")
        if exports:
            environment.update(line.split("=", 1) for line in ended.stdout.split("\0") if "=" in line)

    def follow(self, commands, directory, environment):
        """Runs the commands of a block; returns the rule of each."""
        found, servers = [], []
        try:
            for command in commands:
                if found and re.match(OUTPUT, command):
                    continue
                pattern, what = rule_of(command)
                self.assertIsNotNone(what, f"no rule for: {command}")
                found.append((pattern, what, command))
                for before, after in CHANGES:
                    command = re.sub(before, after, command)
                begin = time.monotonic()
                if what == SERVE:
                    servers.append(self.serve(command, directory, environment))
                elif what == RUN:
                    self.run_one(command, directory, environment)
                self.times.append((time.monotonic() - begin, command))
        finally:
            for server in servers:
                self.end(server)
                self.assertEqual(server.returncode, 0)
        return found

    def follow_page(self, page):
        """Returns the rules and pictures that a page needs, its commands, and what went wrong in which line."""
        used, commands, failures = set(), [], []
        with tempfile.TemporaryDirectory() as directory:
            environment = self.reader(directory)
            for number, lines in blocks(page):
                try:
                    if not is_command(lines[0].strip()):
                        picture = next((p for p in PICTURES if re.match(p, lines[0].strip())), None)
                        self.assertIsNotNone(picture, f"neither commands nor a picture: {lines[0]}")
                        used.add(picture)
                        lines = lines[next((n for n, line in enumerate(lines) if is_command(line)), len(lines)):]
                    block = dict(environment)
                    for pattern, what, command in self.follow(lines, directory, block) if lines else []:
                        used.add(pattern)
                        commands.append((number, command, what))
                    environment["PATH"] = block["PATH"]
                except Exception as error:  # of this block; the others are followed nevertheless
                    failures.append((number, error))
        return used, commands, failures

    def setUp(self):
        self.times = []  # of each command: the seconds, and the command

    def test_every_command_of_every_page(self):
        used, runs, commands_seen, reasons = set(), 0, 0, []
        # Two readers at a time, because many commands wait.  The page of the benchmarks is the longest one.
        order = sorted(pages(), key=lambda page: not page.startswith("tests/bench/"))
        with futures.ThreadPoolExecutor(2) as pool:
            for page, (of_page, commands, failures) in zip(order, pool.map(self.follow_page, order)):
                used |= of_page
                run = sum(what in (RUN, SERVE) for _, _, what in commands)
                runs, commands_seen = runs + run, commands_seen + len(commands)
                if commands:
                    print(f"{page}: {run} of {len(commands)}")
                reasons.extend(f"{page}:{number}: {command[:60]!r} {what}" for number, command, what in commands
                               if what not in (RUN, SERVE))
                for number, error in failures:
                    with self.subTest(page=page, line=number):
                        raise error
        print("not run:", *reasons, sep="\n  ")
        print("slowest:", *(f"{seconds:.1f} s  {command[:90]}" for seconds, command in sorted(self.times)[:-16:-1]),
              sep="\n  ")
        print(f"{runs} of {commands_seen} commands were run")
        self.assertEqual({pattern for pattern, _ in RULES} | set(PICTURES), used, "rules that no page needs")

    def test_the_example_of_the_translator_is_one_that_is_compiled(self):
        with open(os.path.join(SOURCE_DIR, "engine/request/translator.h"), encoding="utf-8") as file:
            example = [line[len("//   "):] for line in file.read().split("\n") if line.startswith("//   ")]
        with open(os.path.join(SOURCE_DIR, "tests/request/translator_test.cc"), encoding="utf-8") as file:
            compiled = file.read()
        self.assertIn("".join(f"  {line}\n" for line in example), compiled)

    def test_the_python_of_the_first_call(self):
        for page in ("README.md", "docs/first_call.md"):
            with open(os.path.join(SOURCE_DIR, page), encoding="utf-8") as file:
                programs = re.findall(r"```python\n(.*?)```", file.read(), re.S)
            self.assertGreater(len(programs), 0)
            for program in programs:
                program = program.replace("localhost:9464", self.server.http_address)
                program = program.replace("127.0.0.1:50051", self.server.grpc_address)
                ended = subprocess.run(["/usr/bin/python3", "-c", program], capture_output=True, text=True, timeout=60, check=True,
                                       env={**os.environ, "PYTHONPATH": os.path.join(SOURCE_DIR, "clients/python")})
                self.assertIn("Guten Morgen.", ended.stdout)

    def test_every_link_and_path_is_there(self):
        """Links to files of the tree and their headings, and `paths/of/files` in the running text."""
        for page in pages():
            with open(os.path.join(SOURCE_DIR, page), encoding="utf-8") as file:
                text = file.read()
            for link in re.findall(r"\]\(([^)\s]+)\)", text):
                target, _, heading = link.partition("#")
                if re.match(r"\w+:", link):
                    continue
                path = os.path.normpath(os.path.join(os.path.dirname(page), target)) if target else page
                with self.subTest(page=page, link=link):
                    self.assertTrue(os.path.exists(os.path.join(SOURCE_DIR, path)))
                    if heading:
                        self.assertIn(heading, headings(path))
            for path in re.findall(r"`((?:engine|server|client|clients|tests|tools|proto)/[\w./-]+)`",
                                   text):
                with self.subTest(page=page, path=path):
                    self.assertTrue(os.path.exists(os.path.join(SOURCE_DIR, path)))


def headings(page):
    """The anchors that a page's headings have."""
    with open(os.path.join(SOURCE_DIR, page), encoding="utf-8") as file:
        found = re.findall(r"^#+ (.+)$", file.read(), re.M)
    return {re.sub(r"[^\w\- ]", "", title.lower()).strip().replace(" ", "-") for title in found}


if __name__ == "__main__":
    unittest.main()
