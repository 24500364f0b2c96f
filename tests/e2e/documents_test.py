"""Every command in every page of documentation is run, as a reader would paste it.

A command is an indented line that begins with a program.  RULES says of each what is done with it: it is
run and has to succeed (RUN), it starts a server for the rest of its block (SERVE), or why it is not run
here.  A command that no rule knows fails the test, and so does an indented block that is neither commands
nor one of PICTURES.
"""

import glob
import os
import re
import shutil
import subprocess
import tempfile
import unittest

from certificates import Authority
from fake_hub import FakeHub, Repository
from harness import CLIENT, MODEL, SERVER, SOURCE_DIR, Server, golden_inputs, listening

RUN, SERVE = "run", "serve"

# The first rule whose pattern is found in the command.
RULES = [
    (r"^(\./run\.sh|\./test\.sh)", "debian_test runs it on fresh trees"),
    (r"^(sudo\w* |cpack |pip |npm |apt-get |journalctl |debootstrap |cmake .*cpack)",
     "needs another machine or the network; package tests of their own"),
    (r"^(docker |buildah |base=|export STORAGE_DRIVER)", "needs a container engine; image_test"),
    (r"kubectl|^for [fn] in|^awk ", "needs a cluster; kubernetes_test renders the overlays"),
    (r"^(cmake|ctest|cmake/install-packages\.sh) |^DRAGOMAN_\w+=\S+ ctest|^clients/generate\.sh",
     "builds or tests everything anew"),
    (r"^export DRAGOMAN_(KUBERNETES|COMPOSE)", "schemas that are not in the tree"),
    (r"^(ln -sfn|kill -HUP) ", "would tell every server of this machine; reload_test"),
    (r"(load_curve|doors|file_bench|first_text_bench|option_costs)\.py|\$B/batching-bench", "wants a quiet machine for minutes"),
    (r"^grpcurl ", "not in Debian; api_test asks through reflection"),
    (r"^protoc .*--go_out", "needs Go's plugins; the package's own test"),
    (r"^perf |^(\S+=\S+ )?\$B/kernels_bench|make_model\.py --size base", "takes minutes"),
    (r"\$B/dragoman-bench --model /tmp/base", "needs the model above"),
    (r"student_vs_marian\.py|make_student\.py .* --words", "needs marian-decoder"),
    (r"^tools/train|^PYTHONPATH=tools/train|mine=run/model|held-out|--target-language deu",
     "wants a training run; train_server_test makes one"),
    (r"lex\.s2t", "wants a lexical table; shortlist_test has one"),
    (r"--server [AB] ", "compares two servers; evaluate_server_test"),
    (r"^(go |GO111MODULE=|mkdir -p gopath|python3 -m venv|env/bin/pip)",
     "needs Go or the network; the packages' own tests"),
    (r"^awk .*corpus\.txt|part-\$n\.out", "wants a corpus"),
    (r"^ln -sfn /models|^kill -HUP", "wants a server of /models"),
    (r"^export PATH=", "done for all commands"),
    (r'^(\{"|event: |data: )', "what the command above it prints"),
    (r"^dragoman-server ", SERVE),
    (r"^(dragoman|curl|tools/evaluate/evaluate\.py|tests/bench/make_model\.py|clients/\S+) ", RUN),
]

# Indented blocks that are no commands, by their beginning.
PICTURES = [
    r"\S+/\S* +\S", r"Dockerfile ", r"(server|client) ─►", r"Good morning! +Guten",  # trees, output
    r"r = p B", r"1 - avg_over_time", r"rate\(",  # formulas, PromQL
    r"# who ", r"(print|client|response|for|await|async|import|const|from)\b",  # files, programs
    r'patches:|\s*\{"|"alignment_layer"|a client$',
]

# What is too long, or elsewhere here.
CHANGES = [
    (r"--duration \d+", "--duration 1"),
    (r"--sweep \S+", "--sweep 50:100:2"),
    (r"0\.0\.0\.0:50051", "127.0.0.1:0"),
    (r"=/models/", "=models/"),
    (r"en-de-next", "en-de"),
    (r"(127\.0\.0\.1|localhost):50051", "$DRAGOMAN_SERVER"),
    (r"(127\.0\.0\.1|localhost):9464", "$HTTP_SERVER"),
    (r"mt\.example:50051", "$TLS_SERVER"),
    (r"> /tmp/", "> "),
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


def blocks(page):
    """[(line number, commands)] of the indented blocks of a page, lines that go on joined."""
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
    return [(number, re.sub(r"\\\n\s*", "", "\n".join(text)).split("\n"))
            for number, text in found + ([block] if block else [])]


def rule_of(command):
    return next((what for pattern, what in RULES if re.search(pattern, command)), None)


class DocumentsTest(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        cls.authority = Authority()
        cls.hub = FakeHub(cls.authority)
        cls.addClassCleanup(cls.hub.stop)
        cls.server = Server("--model", f"en-de={MODEL}")
        cls.addClassCleanup(cls.server.stop)
        cert, key = cls.authority.issue("server", "IP:127.0.0.1")
        cls.tls = subprocess.Popen(
            [SERVER, "--model", f"en-de={MODEL}", "--grpc-address", "127.0.0.1:0",
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

    def reader(self):
        """The directory and the environment of somebody who has built the tree and follows a page."""
        directory = self.enterContext(tempfile.TemporaryDirectory())
        for name in os.listdir(SOURCE_DIR):
            if name not in ("models", "build", ".git"):
                os.symlink(os.path.join(SOURCE_DIR, name), os.path.join(directory, name))
        os.mkdir(os.path.join(directory, "build"))
        os.symlink(os.path.dirname(os.path.dirname(SERVER)),
                   os.path.join(directory, "build/release"))
        os.mkdir(os.path.join(directory, "models"))
        os.symlink(MODEL, os.path.join(directory, "models/en-de"))
        shutil.copy(self.authority.ca, os.path.join(directory, "ca.pem"))
        cert, key = self.authority.issue("client", "DNS:client")
        shutil.copy(cert, os.path.join(directory, "me.pem"))
        shutil.copy(key, os.path.join(directory, "me.key"))
        with open(os.path.join(directory, "token"), "w", encoding="utf-8") as file:
            file.write("a-token\n")
        inputs = golden_inputs()[:20]
        with open(os.path.join(directory, "english.txt"), "w", encoding="utf-8") as file:
            file.writelines(i["text"] + "\n" for i in inputs)
        with open(os.path.join(directory, "test.tsv"), "w", encoding="utf-8") as file:
            file.writelines(f'{i["text"]}\t{i["beam4"][0]["text"]}\n' for i in inputs)
        return directory, {
            **os.environ, "HOME": directory, "HF_ENDPOINT": self.hub.url,
            "REQUESTS_CA_BUNDLE": self.authority.ca, "no_proxy": "*",
            "PATH": os.pathsep.join([os.path.dirname(CLIENT), os.path.dirname(SERVER),
                                     os.environ["PATH"]]),
            "B": os.path.join(os.path.dirname(os.path.dirname(SERVER)), "tests/bench"),
            "DRAGOMAN_SERVER": self.server.grpc_address, "HTTP_SERVER": self.server.http_address,
            "TLS_SERVER": self.tls_address}

    def serve(self, command, directory, environment):
        """Starts the server of a command; the commands after it speak to it."""
        command = command.split("#")[0].rstrip(" &")
        for flag in ("--grpc-address", "--http-address"):
            if flag not in command:
                command += f" {flag} 127.0.0.1:0"
        process = subprocess.Popen(["bash", "-c", "exec " + command], cwd=directory, text=True,
                                   env=environment, stdout=subprocess.PIPE,
                                   stderr=subprocess.DEVNULL)
        self.addCleanup(self.end, process)
        environment["DRAGOMAN_SERVER"], environment["HTTP_SERVER"] = self.address_of(process)

    def follow(self, commands, directory, environment):
        environment = dict(environment)
        done = 0
        for command in commands:
            what = rule_of(command)
            self.assertIsNotNone(what, f"no rule for: {command}")
            if what not in (RUN, SERVE):
                continue
            done += 1
            for pattern, change in CHANGES:
                command = re.sub(pattern, change, command)
            if what == SERVE:
                self.serve(command, directory, environment)
                continue
            ended = subprocess.run(["bash", "-c", command], cwd=directory, env=environment,
                                   stdin=subprocess.DEVNULL, capture_output=True, text=True,
                                   timeout=120, check=False)
            self.assertEqual(ended.returncode, 0, f"{command}\n{ended.stdout}{ended.stderr}")
        return done

    def test_every_command_of_every_page(self):
        seen = run = 0
        for page in pages():
            directory, environment = self.reader()
            for number, lines in blocks(page):
                lines = [line for line in lines if line.strip()]
                with self.subTest(page=page, line=number):
                    if any(re.match(picture, lines[0].strip()) for picture in PICTURES):
                        continue
                    seen += len(lines)
                    run += self.follow(lines, directory, environment)
        print(f"{run} of {seen} commands were run")
        self.assertGreater(run, 25)

    def test_the_example_of_the_translator_is_one_that_is_compiled(self):
        with open(os.path.join(SOURCE_DIR, "engine/translator.h"), encoding="utf-8") as file:
            example = [line[len("//   "):] for line in file.read().split("\n") if line.startswith("//   ")]
        with open(os.path.join(SOURCE_DIR, "tests/translator_test.cc"), encoding="utf-8") as file:
            compiled = file.read()
        self.assertIn("".join(f"  {line}\n" for line in example), compiled)

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
