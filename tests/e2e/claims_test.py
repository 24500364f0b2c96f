"""What the pages name exists: flags, variables, fields, metrics, paths, codes, tests and pages.

A page claims a flag (`--max-texts`), a variable (DRAGOMAN_MAX_TEXTS), a metric (dragoman_requests_total), a path of HTTP
(`/v1/models`), a code (UNAVAILABLE), a test (ctest -R NAME) or a file of the tree. Each has to be in what it is a claim
about: the programs' --help, the metrics' table and source, a running server, the list of codes, the tests.
"""

import os
import re
import subprocess
import unittest
import urllib.error
import urllib.request

from docs_test import is_command, blocks, pages
from harness import BUILT_IN, CLIENT, SERVER, SOURCE_DIR, Server

FLAG = r"(?<![\w<-])--[a-z][a-z0-9]*(?:-[a-z0-9]+)*"

# Flags of other programs, and examples of literals.
FOREIGN = set("""--read-only --tmpfs --build-arg --volume --all --dry-run --level --load-only --api-keys --req-limit --char-limit
    --batch-limit --threads --metrics --ssl --url-prefix --update-models --openai-base-url --openai-model""".split())
# Names of other projects (transformers, oneDNN, CMake, CTranslate2, DeepL's client, Debian, Kubernetes, systemd), a mnemonic, a unit.
FOREIGN_NAMES = set("""cross_attentions ONEDNN_VERBOSE DCMAKE_CXX_FLAGS decode_alternatives zero_first_timestep server_url http_proxy
    subPath LimitNOFILE _Open kWh GRPC_DEFAULT_SSL_ROOTS_FILE_PATH api_endpoint""".split())
# Paths that are a beginning of others, or are those of a collector of traces.
NO_PATHS = {"/v1", "/translator/text/v3.0", "/v1/traces"}
CODES = set("""OK CANCELLED UNKNOWN INVALID_ARGUMENT DEADLINE_EXCEEDED NOT_FOUND ALREADY_EXISTS PERMISSION_DENIED
    RESOURCE_EXHAUSTED FAILED_PRECONDITION ABORTED OUT_OF_RANGE UNIMPLEMENTED INTERNAL UNAVAILABLE DATA_LOSS
    UNAUTHENTICATED""".split())


def read(path):
    with open(os.path.join(SOURCE_DIR, path), encoding="utf-8") as file:
        return file.read()


def printed(*command):
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout


def sources(*suffixes, root=""):
    """The text of all files below a folder with these suffixes, but for this one and what is built or fetched."""
    found = []
    for folder, folders, names in os.walk(os.path.join(SOURCE_DIR, root)):
        folders[:] = [name for name in folders if name not in ("build", ".git", "node_modules", "golden")]
        found += [read(os.path.join(folder, name)) for name in names
                  if name.endswith(suffixes) and name != os.path.basename(__file__)]
    return "\n".join(found)


def flags_of(*command):
    return set(re.findall(FLAG, printed(*command, "--help")))


def flags_of_command():
    """{subcommand: its flags}, of `dragoman` and each subcommand, with those of subcommands of its own."""
    found = {"": flags_of(CLIENT)}
    for name in re.findall(r"^  ([a-z-]+)  ", printed(CLIENT, "--help").partition("Subcommands:")[2], re.M):
        text = printed(CLIENT, name, "--help")
        found[name] = set(re.findall(FLAG, text)) | {"--help", "--version"}
        for inner in re.findall(r"^  ([a-z]+)[, ].*  ", text.partition("Subcommands:")[2], re.M):
            found[name] |= flags_of(CLIENT, name, inner)
    return found


class ClaimsTest(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        cls.pages = {page: read(page) for page in pages()
                     if page.startswith(("docs/", "deploy/", "README", "CHANGELOG", "clients/"))}
        cls.server = Server("--model", f"en-de-fr-es={BUILT_IN}")
        cls.addClassCleanup(cls.server.stop)
        cls.server_flags = flags_of(SERVER)
        cls.command_flags = flags_of_command()
        cls.code = sources(".cc", ".h", ".proto", ".py", ".sh", ".txt", ".yml", ".yaml", ".js", ".mjs", ".java", ".cmake", ".go", ".json")

    def check(self, pattern, is_true, texts=None):
        """Every match of the pattern in the texts (default: the pages) is true."""
        claims = {(page, claim) for page, text in (texts or self.pages).items() for claim in re.findall(pattern, text)}
        self.assertGreater(len(claims), 3, "the pattern finds no claims any more")
        self.assertEqual([claim for claim in sorted(claims) if not is_true(claim[1])], [])

    def test_flags_in_the_text(self):
        scripts = set(re.findall(FLAG, "\n".join(sources(".py", ".sh", root=root) for root in ("tools", "tests/bench", "clients"))))
        known = self.server_flags.union(FOREIGN, scripts, *self.command_flags.values())
        protos = {name: read(f"proto/dragoman/v1/{name}.proto") for name in ("translation", "config", "admin")}
        self.check(FLAG, known.__contains__, 
                   {page: "\n".join(re.findall(r"`(?:--|dragoman)[^`\n]*`", text)) for page, text in self.pages.items()})
        self.check(FLAG, known.__contains__, protos)

    def test_flags_in_commands(self):
        seen = 0
        for page in self.pages:
            for number, lines in blocks(page):
                for line in lines if is_command(lines[0].strip()) else []:
                    for command in re.findall(r"\b(?<![./-])dragoman(?:-server)? +[a-z-][^|>#$()]*", line.partition(" #")[0]):
                        program, name = command.split()[:2]
                        known = self.server_flags if program == "dragoman-server" else self.command_flags.get(name, self.command_flags[""])
                        seen += 1
                        with self.subTest(page=page, line=number, command=command):
                            self.assertLessEqual(set(re.findall(FLAG, command)), known)
        self.assertGreater(seen, 50)

    def test_variables(self):
        def is_true(name):
            flag = "--" + name.removeprefix("DRAGOMAN_").lower().replace("_", "-")
            return flag in self.server_flags or name in self.code

        self.check(r"\bDRAGOMAN_[A-Z][A-Z_]*[A-Z]\b", is_true)

    def test_names(self):
        """Fields, enums and functions in backquotes, which JSON may have in camel case."""
        words = set(re.findall(r"\w+", self.code))

        def is_true(name):
            snake = re.sub(r"(?<=[a-z])([A-Z])", lambda upper: "_" + upper[1].lower(), name)
            return name in FOREIGN_NAMES or bool({name, snake, f"dragoman_{name}"} & words) or name.startswith("DRAGOMAN_")

        self.check(r"\b(\w*[a-z][A-Z]\w*|\w+_\w+)\b", is_true, {
            page: "\n".join(re.findall(r"`[^`\n]+`", text)) for page, text in self.pages.items()
            if page not in ("docs/programs.md", "docs/metrics.md")})

    def test_metrics(self):
        observed = sources(".cc", ".h")
        rules = "\n".join(read(f"deploy/prometheus/{name}") for name in ("recording.yml", "alerts.yml", "adapter.yaml"))
        exported = {re.sub(r"_(bucket|sum|count)$", "", name) for name in re.findall(
            r"^# TYPE (\w+)", urllib.request.urlopen(f"http://{self.server.http_address}/metrics").read().decode(), re.M)}
        named = set(re.findall(r'"((?:dragoman|grpc)_[a-z_]+)', observed)) | exported

        def is_true(name):
            return re.sub(r"_(bucket|sum|count)$", "", name) in named or f"{name}" in rules

        self.check(r"(?<![\w./-])dragoman_[a-z][a-z_]*[a-z]\b(?!\.\w)", is_true)
        self.check(r"\bdragoman:[a-z_]+:[a-z0-9_]+", rules.__contains__)
        documented = read("docs/metrics.md")
        rows = {name for row in re.findall(r"^\| (`[^|]*`) \|", documented, re.M) for name in re.findall(r"`([a-z_]+)`", row)}
        self.assertEqual({row for row in rows if not {row, f"dragoman_{row}"} & named}, set())
        own = {name.removeprefix("dragoman_") for name in exported if name.startswith(("dragoman_", "grpc_"))}
        self.assertEqual(own - rows, set(), "metrics that docs/metrics.md does not name")

    def test_alerts(self):
        alerts = re.findall(r"alert: (\w+)", read("deploy/prometheus/alerts.yml"))
        self.assertEqual(set(alerts) - set(re.findall(r"\bDragoman\w+", self.pages["deploy/README.md"])), set())
        self.check(r"\bDragoman[A-Z][A-Za-z]+\b", alerts.__contains__,
                   {page: text for page, text in self.pages.items() if not page.startswith("clients/")})

    def test_paths_of_http(self):
        def is_there(claim):
            method, path = claim
            if path in NO_PATHS or path.endswith("..."):
                return True
            path = re.sub(r"\b(NAME|ID|P|L|IDS)\b", "x", path)
            request = urllib.request.Request(f"http://{self.server.http_address}{path}", method=method.strip() or "GET",
                                             data=b"" if method.strip() in ("POST", "PUT") else None)
            try:
                with urllib.request.urlopen(request, timeout=20):
                    return True
            except urllib.error.HTTPError as error:
                return b"there is nothing at this path" not in error.read() and not (method.strip() and error.code == 405)

        self.check(r"`(GET |POST |PUT |DELETE )?(/(?:v[123]|metrics|healthz|readyz|status|api|translate|detect|languages|frontend"
                   r"|imme|sts|translator|health|openapi\.json|download_file)\b[\w:/.?=&-]*)`", is_there)

    def test_codes(self):
        self.check(r"(?<![\w`$.-])[A-Z]{2,}(?:_[A-Z]+)+(?![\w.])", lambda name: name in CODES or name in self.code)
        listed = set(re.findall(r"^\| (\d+) \| ([A-Z_]+) \|", read("docs/errors.md"), re.M))
        self.assertEqual({code for _, code in listed} - CODES, set())
        # What errors.cc makes of a code is what the page says.
        source = re.search(r"int HttpCodeOf\(.*?\n}\n", read("server/base/errors.cc"), re.S)[0]
        found = re.findall(r"(?:StatusCode::k|absl::Is)(\w+)(?:, |\(status\).* return )(\d{3})", source)
        mapped = {(number, re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).upper()) for name, number in found}
        known = {code for _, code in listed}
        self.assertEqual({(number, code) for number, code in mapped if code in known}, listed - {("500", "INTERNAL")})

    def test_tests(self):
        """Each name that is given to ctest -R is one of a test."""
        tests = " ".join(re.findall(r"(?:test|unittest)\((?:NAME )?(\w+)", sources("CMakeLists.txt", ".cmake")))
        self.check(r"ctest [^\n`]*-R '?\^?([\w|]+)", lambda names: all(name in tests for name in names.split("|")),
                   {page: read(page) for page in pages()})

    def test_the_index_has_every_page(self):
        index = set(re.findall(r"\]\(([\w./]+)\)", read("docs/README.md"))) | {"README.md"}
        self.assertEqual({page.removeprefix("docs/") for page in self.pages if page.startswith("docs/")} - index, set())


if __name__ == "__main__":
    unittest.main()
