"""Checks the layering: which directories include which, and that each third-party library is included in one place.

A directory of the engine or the server is called a layer here.  The rules are DIRECTORIES and LIBRARIES below; an error
names the file and the line.
"""

import collections
import os
import re
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BOXES = ("engine", "crypto", "web", "documents", "store", "server", "client")
PROTO = r"(dragoman/v1|google/(rpc|cloud/translate/v3)|grpc/health/v1|inference)/\w+(\.grpc)?\.pb\.h"

# The layers of the engine and the server, lowest first, and the layers that each may include besides itself.
# The link lines of engine/*/CMakeLists.txt must agree.
ENGINE = {
    "base": (),
    "options": ("base",),
    "math": ("base",),
    "text": ("base",),
    "spec": ("math", "options", "base"),
    "formats": ("math", "options", "base"),
    "families": ("formats", "spec", "math", "text", "options", "base"),
    "model": ("families", "formats", "spec", "math", "text", "options", "base"),
    "search": ("math", "text", "options", "base"),
    "decode": ("search", "model", "families", "formats", "spec", "math", "text", "options", "base"),
    "request": ("decode", "search", "model", "families", "formats", "spec", "math", "text", "options", "base"),
}
SERVER = {
    "base": (),
    "observe": ("base",),
    "page": (),
    "net": ("observe", "base"),
    "auth": ("observe", "base"),
    "config": ("compat/names", "auth", "observe", "base"),
    "models": ("config", "observe", "base"),
    "store": ("base",),
    "glossaries": ("store", "base"),
    "memories": ("store", "base"),
    "api": ("models", "config", "auth", "glossaries", "memories", "store", "observe", "base"),
    "grpc": ("api", "config", "net", "auth", "observe", "base"),
    "http": ("api", "net", "auth", "observe", "base", "page"),
    "compat": ("http", "api", "glossaries", "store", "base"),
}


def layer(box, name, layers, others=""):
    """The rule of one layer: it may include itself and these layers."""
    below = "|".join(f"{r}\\." if "/" in r else f"{r}/" for r in (name, *layers))
    return rf"{box}/{name}/", rf"{box}/({below}){others}"


# The headers of the engine that the server may include: its public interface, and headers for configuration,
# observation and reports.
SERVER_SEES = (r"engine/request/(running_request|translator|route|servable|memory|still_wanted|terms)\.h|engine/base/|"
               r"engine/text/(language_detector|language_tag|languages|letter_case|normal_form|splitter|text_span)\.h|"
               r"engine/decode/(worker_pool|observer|quota)\.h|engine/model/(model|model_report|machine_report)\.h")

# The files of a box (the first pattern that matches) may include these files of the project, and no others.
DIRECTORIES = (
    *(layer("engine", name, layers) for name, layers in ENGINE.items()),
    (r"crypto/", r"crypto/|engine/base/"),
    (r"web/", r"web/|engine/base/"),
    (r"documents/part_loop\.", rf"documents/|engine/base/|{PROTO}"),
    (r"documents/", r"documents/|engine/base/"),
    (r"store/", r"store/|engine/base/"),
    *(layer("server", name, layers, rf"|crypto/|store/database\.|documents/(document|part_loop|tmx)\.|{SERVER_SEES}|{PROTO}")
      for name, layers in SERVER.items()),
    (r"server/", rf"server/|crypto/|web/|store/|documents/document\.|{SERVER_SEES}|{PROTO}"),
    (r"client/", rf"client/|crypto/|web/|store/|documents/(csv_rows|document|part_loop|tmx)\.|engine/(options|base)/|{PROTO}"),
)

# Third-party headers, and the only files that may include them.
LIBRARIES = (
    (r"oneapi/dnnl|dnnl", r"engine/math/onednn_matmul\."),
    (r"hwy/", r"engine/math/"),
    (r"sentencepiece", r"engine/text/piece_model\."),
    (r"expat", r"engine/base/xml_events\."),
    (r"prometheus/", r"server/observe/metric(s|_families|_samples|_series)\."),
    (r"cld2/", r"engine/text/language_detector\."),
    (r"unicode/", r"server/base/language_names\."),
    (r"boost/", r"server/http/(connection|port|request_head|response_head|stream|tls_context)\."),
    # A call does not depend on its transport: only the transports and the code that starts them include
    # gRPC.
    (r"grpc|dragoman/v1/\w+\.grpc", r"client/|server/(grpc/|server\.|auth/tls\.|observe/logging\.)"),
    (r"google/protobuf|google/rpc|dragoman/v1", r"server/|client/|documents/part_loop\."),
    (r"spdlog/", r"server/observe/logging\."),
    (r"re2/", r"(documents/subtitle_units|engine/text/literals|server/compat/openai)\."),
    (r"utf8proc", r"engine/text/normal(_form|izer)\."),
    (r"minizip/", r"engine/base/zip_(archive|writer)\."),
    (r"yaml-cpp/", r"engine/base/yaml\.|documents/yaml_reader\."),
    (r"rapidjson/", r"(documents/json_events|engine/text/tokenizer_json)\."),
    (r"sqlite3", r"store/sqlite\."),
    (r"libpq", r"store/postgres\."),
    (r"md4c", r"documents/markdown_reader\."),
    (r"curl/", r"web/http_client\."),
    (r"zlib\.h", r"server/http/gzip\."),
    (r"openssl/", r"crypto/(pem_files|certificate_name)\.|client/file_digest\.|server/http/tls_context\."),
    (r"CLI/", r"server/config/(command_line|flags)\.|client/(\w*commands?|flags|usage)\."),
    (r"nlohmann/", r"engine/base/json\.|client/json\."),
)

# Only the adapter of a family of models may name it, and the index in which its packages are found.
FAMILIES = re.compile(r"marian|opus.?mt|m2m.?100|nllb|mbart|\bm?t5\b|madlad|opennmt|fairseq|argos", re.I)
ADAPTERS = re.compile(r"engine/(families|formats)/|client/model_index\.cc")
# Only the files of a network and the code that configures it may name it.
NETWORKS = re.compile(r"\bs?sru\b|\bgru\b|gated_?cell|average_?attention|recurrent(?!_)", re.I)
OWN_FILES = re.compile(r"engine/(families/|formats/|spec/recurrent|model/(ssru|average_attention|gated_cell|recurrent))")
# Their last bits differ between C libraries, and so would translations; engine/base/elementary.h has the same ones.
# Estimates of time never reach a translation.
LIBM = re.compile(r"\bstd::(exp2?|expm1|log(2|10|1p)?|pow|sin|cos|tan|a?(sin|cos|tan)h|asin|acos|atan2?|erfc?)\(")
ESTIMATES = re.compile(r"engine/decode/work_(text|times)\.")
# nlohmann's own way to write JSON throws on bytes that are not UTF-8; WriteJson is the one that does not.
THROWING_JSON = re.compile(r"(\.|->)dump\(|<<\s*(\w+::)*[Jj]son\b")
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.S)

# Headers that take long to compile, and how many .cc files may read each, directly or through headers of ours.  A new
# file that does not need one had better not get one from a header; a file that does raises the number here.
COSTLY = {
    r"grpc(pp)?/|dragoman/v1/\w+\.grpc\.pb\.h|\w+/.*\.grpc\.pb\.h": 18,
    r"google/protobuf/|.*\.pb\.h": 119,
    r"boost/": 5,
    r"CLI/": 21,
}

# A name that a header declares for others, and any declaration of a name, also within a class.
DECLARED = re.compile(r"^(?:(?:class|struct|enum|enum class) (\w+)(?: final)?(?: :|\s*\{)|"
                      r"(?!using|return|friend)[\w:<>,&* ]*?\b([A-Z]\w+)\()", re.M)
DECLARED_ANYWHERE = re.compile(r"\b(?:enum class|enum|class|struct|using|typename) (\w+)\b(?!;)|^.*?\b([A-Z]\w+)[(;]", re.M)
OWN = re.compile(r"\b(?:enum class|enum|class|struct|using|typename) (\w+)")
FORWARD = re.compile(r"\b(?:class|struct) (\w+);")
STRING = re.compile(r'"(?:\\.|[^"\\\n])*"')

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
    """Returns the errors in these includes, one line each."""
    for path, number, quote, header in found:
        if quote == '"' and OURS.match(header):
            allowed = next(a for box, a in DIRECTORIES if re.match(box, path))
            if not re.match(allowed, header):
                yield f"{path}:{number}: may not include {header}"
        for foreign, place in LIBRARIES:
            if re.match(foreign, header) and not re.match(place, path):
                yield f"{path}:{number}: {header} may only be included by {place}"


def links(text):
    """Returns {library: the libraries of the project that it links} of a CMakeLists.txt."""
    found = {}
    for name, rest in re.findall(r"dragoman_library\(dragoman_(\w+)([^)]*)\)", text):
        found[name] = set(re.findall(r"\bdragoman_(\w+)", rest.partition("LINKS")[2]))
    for name, rest in re.findall(r"target_link_libraries\(dragoman_(\w+) INTERFACE([^)]*)\)", text):
        found[name] = set(re.findall(r"\bdragoman_(\w+)", rest))
    return found


def reached(name, linked):
    """Everything that a library links, directly or indirectly."""
    found, queue = set(), [name]
    while queue:
        for other in linked.get(queue.pop(), ()):
            if other not in found:
                found.add(other)
                queue.append(other)
    return found


def sources():
    """(path, text) of every file in the boxes."""
    for box in BOXES:
        for directory, _, names in os.walk(os.path.join(ROOT, box)):
            for name in sorted(names):
                if name.endswith((".h", ".cc")):
                    full = os.path.join(directory, name)
                    with open(full, encoding="utf-8") as file:
                        yield os.path.relpath(full, ROOT), file.read()


def readers(header, found):
    """The .cc files among these includes that read a header that matches, directly or through headers of ours."""
    including, queue, read = {}, set(), set()
    for path, _, _, name in found:
        including.setdefault(name, set()).add(path)
        if re.match(header, name):
            queue.add(path)
    while queue:
        path = queue.pop()
        read.add(path)
        queue |= including.get(path, set()) - read
    return {path for path in read if path.endswith(".cc")}


def calls(page):
    """(caller, called) of every line of a page's tree of files; the caller of its root is None."""
    above = []
    for indent, path in re.findall(r"^    ( *)((?:(?:server|engine)/\w+|documents)/\w+\.(?:cc|h))  ", page, re.MULTILINE):
        del above[len(indent) // 2:]
        yield above[-1] if above else None, path
        above.append(path)


def strangers(files):
    """Code outside of the adapters that names a family; comments may."""
    for path, text in files:
        if not ADAPTERS.match(path):
            for match in FAMILIES.finditer(COMMENT.sub("", text)):
                yield f"{path}: names {match.group()}"


def networks(files):
    """Code outside of the networks' own files that names one of them; comments may."""
    for path, text in files:
        if not OWN_FILES.match(path):
            for match in NETWORKS.finditer(COMMENT.sub("", text)):
                yield f"{path}: names {match.group()}"


def inexact(files):
    """Code of the engine that calls a function whose last bit depends on the C library."""
    for path, text in files:
        if path.startswith("engine/") and not ESTIMATES.match(path):
            for match in LIBM.finditer(COMMENT.sub("", text)):
                yield f"{path}: calls {match.group()}"


def throwing(files):
    """Code that writes JSON in a way that may throw."""
    for path, text in files:
        if path != "engine/base/json.h":
            for match in THROWING_JSON.finditer(COMMENT.sub("", text)):
                yield f"{path}: calls {match.group()}, want WriteJson"


def unread(files, found):
    """Code that uses a name of a header of ours which it does not read, and so depends on its neighbours in a build that
    compiles several files as one (TOGETHER).  Names that several headers declare are left out."""
    code = {path: STRING.sub("", COMMENT.sub("", text)) for path, text in files}
    headers, anywhere, reads, declared = {}, {}, {}, collections.Counter()
    for path, text in code.items():
        if path.endswith(".h"):
            headers |= {match[1] or match[2]: path for match in DECLARED.finditer(text)}
            anywhere[path] = {match[1] or match[2] for match in DECLARED_ANYWHERE.finditer(text)}
            declared.update(anywhere[path])
            anywhere[path].update(FORWARD.findall(text))
    for path, _, _, header in found:
        reads.setdefault(path, []).append(header)
    for path, text in code.items():
        read, queue = {path}, [path]
        while queue:
            new = [header for header in reads.get(queue.pop(), ()) if header in code and header not in read]
            read.update(new)
            queue += new
        known = {match[1] or match[2] for match in DECLARED.finditer(text)} | set(OWN.findall(text))
        known.update(*(anywhere[header] for header in read if header in anywhere))
        for name in set(re.findall(r"(?<![\w.>:])[A-Z]\w+\b", text)) - known:
            if name in headers and headers[name] not in read and declared[name] == 1:
                if re.match(next(allowed for box, allowed in DIRECTORIES if re.match(box, path)), headers[name]):
                    yield f"{path}: uses {name} without {headers[name]}"


class LayeringTest(unittest.TestCase):

    def test_files_read_the_headers_whose_names_they_use(self):
        self.assertEqual(list(unread(sources(), includes())), [])
        files = [("store/a.h", "struct Part {\n};\nint Count(Part part);\n"), ("store/b.h", '#include "store/a.h"'),
                 ("store/c.cc", "Part part;"), ("store/d.cc", "Part part; int n = Count(part);"), ("store/e.cc", "int n = Count(p)")]
        found = [("store/b.h", 1, '"', "store/a.h"), ("store/d.cc", 1, '"', "store/b.h")]
        self.assertEqual(list(unread(files, found)),
                         ["store/c.cc: uses Part without store/a.h", "store/e.cc: uses Count without store/a.h"])

    def test_json_is_written_in_one_place(self):
        self.assertEqual(list(throwing(sources())), [])
        for code in ("return body.dump();", "out << json->dump(2);", "out << json;", "out << nlohmann::json(value);"):
            self.assertNotEqual(list(throwing([("server/observe/otlp.cc", code)])), [], code)

    def test_the_engine_computes_the_same_with_every_c_library(self):
        self.assertEqual(list(inexact(sources())), [])
        for code in ("sum += std::exp(x);", "return std::log10(x);", "std::tanh(x)"):
            self.assertNotEqual(list(inexact([("engine/search/logits.cc", code)])), [], code)

    def test_only_its_own_files_name_a_network(self):
        self.assertEqual(list(networks(sources())), [])
        for code in ('if (spec.history == "ssru") {', "GatedCell cell;", "#include \"engine/model/recurrent.h\""):
            self.assertNotEqual(list(networks([("engine/decode/job.cc", code)])), [], code)

    def test_only_adapters_name_a_family(self):
        self.assertEqual(list(strangers(sources())), [])

    def test_finds_who_names_a_family(self):
        for code in ('if (type == "marian") {', "MBartConfig config;", "bool is_t5 = true; T5 x;"):
            self.assertNotEqual(list(strangers([("engine/model/model.cc", code)])), [], code)
        for path, code in (("engine/families/t5.cc", '"t5"'),
                           ("engine/search/logits.h", "// as in Marian")):
            self.assertEqual(list(strangers([(path, code)])), [])

    def test_nobody_includes_what_is_above(self):
        found = list(includes())
        self.assertGreater(len(found), 100)
        self.assertEqual(list(breaches(found)), [])

    def test_the_page_lists_the_files_that_a_request_crosses(self):
        self.assertEqual(list(calls("    engine/a/a.cc    x\n      engine/b/b.h   y\n      engine/c/c.cc  z\n")),
                         [(None, "engine/a/a.cc"), ("engine/a/a.cc", "engine/b/b.h"), ("engine/a/a.cc", "engine/c/c.cc")])
        with open(os.path.join(ROOT, "docs/architecture.md"), encoding="utf-8") as file:
            found = list(calls(file.read()))
        self.assertGreater(len(found), 15)
        self.assertEqual([path for caller, path in found if caller is None],
                         ["server/grpc/method_service.cc", "server/grpc/stream_calls.cc", "server/http/document_api.cc"])
        edges = {(os.path.splitext(path)[0], os.path.splitext(header)[0]) for path, _, _, header in includes()}
        for caller, path in found:
            self.assertTrue(os.path.exists(os.path.join(ROOT, path)), path)
            if caller is not None:
                edge = (os.path.splitext(caller)[0], os.path.splitext(path)[0])
                self.assertTrue(edge in edges, f"{caller} does not include {path}")

    def test_costly_headers_are_read_by_few_files(self):
        found = list(includes())
        for header, most in COSTLY.items():
            read = readers(header, found)
            self.assertLessEqual(len(read), most, f"{header} is read by {sorted(read)}")
            self.assertGreater(len(read), most * 3 // 4, f"only {len(read)} files read {header}: lower the number")
        self.assertEqual(readers("CLI/", [("a.h", 1, "<", "CLI/CLI.hpp"), ("b.h", 1, '"', "a.h"),
                                          ("b.cc", 1, '"', "b.h"), ("c.cc", 1, '"', "c.h")]), {"b.cc"})

    def test_link_lines_say_what_the_rules_say(self):
        linked = {}
        for name in ENGINE:
            with open(os.path.join(ROOT, "engine", name, "CMakeLists.txt"), encoding="utf-8") as file:
                linked |= links(file.read())
        for name, layers in ENGINE.items():
            self.assertEqual(reached(name, linked), set(layers), name)

    def test_the_engine_links_no_openssl(self):
        for directory, _, names in os.walk(os.path.join(ROOT, "engine")):
            if "CMakeLists.txt" in names:
                with open(os.path.join(directory, "CMakeLists.txt"), encoding="utf-8") as file:
                    self.assertNotRegex(file.read(), "(?i)openssl|dragoman_crypto", directory)

    def test_rooms_lie_one_above_the_other(self):
        for layers in (ENGINE, SERVER):
            names = list(layers)
            for name, below in layers.items():
                for other in below:
                    if "/" not in other and other != "page":
                        self.assertLess(names.index(other), names.index(name), (name, other))

    def test_finds_breaches(self):
        for path, quote, header in (("engine/base/status.cc", '"', "engine/math/matrix.h"),
                                    ("engine/text/tokenizer.cc", '"', "engine/model/model.h"),
                                    ("engine/model/model.cc", '"', "engine/decode/job.h"),
                                    ("engine/decode/job.cc", '"', "engine/request/translator.h"),
                                    ("engine/request/translator.cc", '"', "server/observe/metrics.h"),
                                    ("client/main.cc", '"', "engine/request/translator.h"),
                                    ("engine/options/options.h", '"', "engine/spec/config.h"),
                                    ("client/main.cc", '"', "server/config/config.h"),
                                    ("engine/decode/job.h", "<", "grpcpp/grpcpp.h"),
                                    ("engine/model/linear.cc", "<", "oneapi/dnnl/dnnl.hpp"),
                                    ("engine/request/translator.cc", '"', "dragoman/v1/translation.pb.h"),
                                    ("server/api/call.h", "<", "grpcpp/grpcpp.h"),
                                    ("server/auth/principals.cc", '"', "server/api/call.h"),
                                    ("server/observe/metrics.h", '"', "server/net/listener.h"),
                                    ("server/http/api_context.cc", '"', "server/grpc/grpc_caller.h"),
                                    ("server/api/call.h", '"', "engine/decode/job.h"),
                                    ("engine/search/beam.cc", '"', "engine/model/model.h"),
                                    ("server/server.cc", "<", "prometheus/counter.h")):
            self.assertNotEqual(list(breaches([(path, 1, quote, header)])), [], (path, header))


if __name__ == "__main__":
    unittest.main()
