"""Who may include whom, and behind which door each foreign library stays.

The rules are DIRECTORIES and DOORS below; a breach fails the test and names file and line.
"""

import os
import re
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BOXES = ("engine", "server", "client")
PROTO = r"(dragoman/v1|google/rpc|grpc/health/v1)/\w+(\.grpc)?\.pb\.h"
BELOW_TRANSLATOR = r"engine/(decode|model|math|text|options|base)/"

# The files of a box (the first pattern that fits) may include these, and nothing else of the project.
DIRECTORIES = (
    (r"engine/base/", r"engine/base/"),
    (r"engine/options/", r"engine/(options|base)/"),
    (r"engine/math/", r"engine/(math|base)/"),
    (r"engine/text/", r"engine/(text|base)/"),
    (r"engine/model/", r"engine/(model|math|text|options|base)/"),
    (r"engine/decode/", BELOW_TRANSLATOR),
    (r"engine/", rf"{BELOW_TRANSLATOR}|engine/\w+\.h"),
    # The server sees the engine through its front door, and its life through the observer.
    (r"server/", rf"server/|engine/(translator|route|servable)\.h|{BELOW_TRANSLATOR}|{PROTO}"),
    (r"client/", rf"client/|engine/(options|base)/|{PROTO}"),
)

# Foreign headers, and the only files that may include them.
DOORS = (
    (r"oneapi/dnnl|dnnl", r"engine/math/onednn_matmul\."),
    (r"hwy/", r"engine/math/"),
    (r"sentencepiece", r"engine/text/piece_model\."),
    (r"prometheus/", r"server/metric(s|_series)\."),
    (r"cld2/", r"server/language_detector\."),
    (r"boost/", r"server/http/(connection|port|stream|tls_context)\."),
    # A call is the same whatever transport it came by: only the doors and what starts them know gRPC.
    (r"grpc|dragoman/v1/\w+\.grpc", r"client/|server/(grpc_(door|port)|\w+_service|raw_message|stream_calls|server|tls|logging)\."),
    (r"google/protobuf|google/rpc|dragoman/v1", r"server/|client/"),
    (r"spdlog/", r"server/logging\."),
    (r"minizip/", r"engine/base/zip_archive\."),
    (r"yaml-cpp/", r"engine/base/yaml\."),
    (r"curl/", r"client/http_client\."),
    (r"openssl/", r"engine/base/pem_files\.|client/file_digest\.|server/http/tls_context\."),
    (r"CLI/", r"server/command_line\.|client/(\w*commands?|usage)\."),
    (r"nlohmann/", r"engine/base/json\.|server/logging\.|client/json\."),
)

# A family of models is known to its adapter alone.
FAMILIES = re.compile(r"marian|opus.?mt|m2m.?100|nllb|mbart|\bm?t5\b|madlad|opennmt|fairseq|argos", re.I)
ADAPTERS = re.compile(r"engine/model/(families|formats)/")
# A network is known to its own files, and to who configures it.
NETWORKS = re.compile(r"\bs?sru\b|\bgru\b|gated_?cell|average_?attention|recurrent(?!_)", re.I)
OWN_FILES = re.compile(r"engine/model/(families/|formats/|ssru|average_attention|gated_cell|recurrent)")
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.S)

INCLUDE = re.compile(r'\s*#\s*include\s*([<"])([^>"]+)[>"]')
OURS = re.compile(rf"({'|'.join(BOXES)}|tests)/|{PROTO}")


def includes():
    """(path, line number, quote, header) of every #include in the boxes."""
    for box in BOXES:
        for directory, _, names in os.walk(os.path.join(ROOT, box)):
            for name in sorted(names):
                if not name.endswith((".h", ".cc")):
                    continue
                full = os.path.join(directory, name)
                path = os.path.relpath(full, ROOT)
                with open(full, encoding="utf-8") as file:
                    for number, line in enumerate(file, 1):
                        match = INCLUDE.match(line)
                        if match:
                            yield path, number, *match.groups()


def breaches(found):
    """What is wrong with these includes, a line each."""
    for path, number, quote, header in found:
        if quote == '"' and OURS.match(header):
            allowed = next(a for box, a in DIRECTORIES if re.match(box, path))
            if not re.match(allowed, header):
                yield f"{path}:{number}: may not include {header}"
        for foreign, door in DOORS:
            if re.match(foreign, header) and not re.match(door, path):
                yield f"{path}:{number}: {header} belongs behind {door}"


def sources():
    """(path, text) of every file in the boxes."""
    for box in BOXES:
        for directory, _, names in os.walk(os.path.join(ROOT, box)):
            for name in sorted(names):
                if name.endswith((".h", ".cc")):
                    full = os.path.join(directory, name)
                    with open(full, encoding="utf-8") as file:
                        yield os.path.relpath(full, ROOT), file.read()


def strangers(files):
    """The code outside of the adapters that names a family, comments aside."""
    for path, text in files:
        if not ADAPTERS.match(path):
            for match in FAMILIES.finditer(COMMENT.sub("", text)):
                yield f"{path}: names {match.group()}"


def networks(files):
    """The code outside of the networks' own files that names one of them, comments aside."""
    for path, text in files:
        if not OWN_FILES.match(path):
            for match in NETWORKS.finditer(COMMENT.sub("", text)):
                yield f"{path}: names {match.group()}"


class LayeringTest(unittest.TestCase):

    def test_only_its_own_files_name_a_network(self):
        self.assertEqual(list(networks(sources())), [])
        for code in ('if (spec.history == "ssru") {', "GatedCell cell;", "#include \"engine/model/recurrent.h\""):
            self.assertNotEqual(list(networks([("engine/decode/job.cc", code)])), [], code)

    def test_only_adapters_name_a_family(self):
        self.assertEqual(list(strangers(sources())), [])

    def test_finds_who_names_a_family(self):
        for code in ('if (type == "marian") {', "MBartConfig config;", "bool is_t5 = true; T5 x;"):
            self.assertNotEqual(list(strangers([("engine/model/model.cc", code)])), [], code)
        for path, code in (("engine/model/families/t5.cc", '"t5"'),
                           ("engine/decode/logits.h", "// as in Marian")):
            self.assertEqual(list(strangers([(path, code)])), [])

    def test_nobody_includes_what_is_above(self):
        found = list(includes())
        self.assertGreater(len(found), 100)
        self.assertEqual(list(breaches(found)), [])

    def test_finds_breaches(self):
        for path, quote, header in (("engine/base/status.cc", '"', "engine/math/matrix.h"),
                                    ("engine/text/tokenizer.cc", '"', "engine/model/model.h"),
                                    ("engine/model/model.cc", '"', "engine/decode/job.h"),
                                    ("engine/decode/job.cc", '"', "engine/translator.h"),
                                    ("engine/translator.cc", '"', "server/metrics.h"),
                                    ("client/main.cc", '"', "engine/translator.h"),
                                    ("engine/options/options.h", '"', "engine/model/config.h"),
                                    ("client/main.cc", '"', "server/config.h"),
                                    ("engine/decode/job.h", "<", "grpcpp/grpcpp.h"),
                                    ("engine/model/linear.cc", "<", "oneapi/dnnl/dnnl.hpp"),
                                    ("engine/translator.cc", '"', "dragoman/v1/translation.pb.h"),
                                    ("server/call.h", "<", "grpcpp/grpcpp.h"),
                                    ("server/server.cc", "<", "prometheus/counter.h")):
            self.assertNotEqual(list(breaches([(path, 1, quote, header)])), [], (path, header))


if __name__ == "__main__":
    unittest.main()
