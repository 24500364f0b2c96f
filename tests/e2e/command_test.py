"""The `dragoman` command against the real server."""

import json
import math
import os
import pty
import subprocess
import sys
import tempfile
import unittest

import together
from certificates import Authority
from harness import CLIENT, FLOAT32, SERVER, ServerTest, free_port, golden_inputs, serve
from suite import optional

load_tests = together.load_tests

# In both ways of agreeing on a version of the protocol.
FASTMCP = "fastmcp==4.2.3"
FASTMCP_CALLS = """
import asyncio, json, sys
from fastmcp import Client
from fastmcp.client.transports import StdioTransport

async def main():
    seen = []
    for mode in ("auto", "legacy"):
        async with Client(StdioTransport(sys.argv[1], ["mcp", "--server", sys.argv[2]]), mode=mode) as client:
            seen.append([tool.name for tool in await client.list_tools()])
            translated = await client.call_tool("translate", {"text": "Good morning."})
            seen += [translated.content[0].text, translated.structured_content["model"]]
            refused = await client.call_tool("translate", {"text": 7}, raise_on_error=False)
            languages = await client.call_tool("languages", {})
            seen += [refused.is_error, languages.structured_content["models"][0]["model"]]
    print(json.dumps(seen))

asyncio.run(main())
"""


class CommandTest(ServerTest):

    def run_client(self, command, *arguments, **options):
        return subprocess.run([CLIENT, command, "--server", self.server.grpc_address, *arguments],
                              capture_output=True, text=True, timeout=300, **options)

    def test_translates_standard_input_in_order(self):
        inputs = golden_inputs()
        ended = self.run_client("translate", "--no-split-sentences", input="".join(i["text"] + "\n" for i in inputs))
        self.assertEqual((ended.returncode, ended.stderr), (0, ""))
        self.assertEqual(ended.stdout.splitlines(), [i["beam4"][0]["text"] for i in inputs])

    def test_n_best_as_json(self):
        golden = golden_inputs()[0]
        ended = self.run_client("translate", "--output", "json", "--beam-size", "4",
                                "--no-split-sentences", "--num-hypotheses", "4", golden["text"])
        self.assertEqual((ended.returncode, ended.stderr), (0, ""))
        line = json.loads(ended.stdout)
        self.assertEqual(line["source"], golden["text"])
        self.assertEqual([h["token_ids"] for h in line["hypotheses"]],
                         [b["ids"][1:-1] for b in golden["beam4"]])
        for hypothesis, want in zip(line["hypotheses"], golden["beam4"]):
            self.assertEqual(hypothesis["text"], want["text"])
            self.assertAlmostEqual(hypothesis["score"], want["score"], delta=1e-4)
            self.assertEqual(hypothesis["finish_reason"], "eos")
        self.assertEqual(line["source_tokens"], len(golden["input_ids"]))
        self.assertEqual((line["truncated"], line["model"]), (False, "en-de"))

    def test_alignments_as_text_and_json(self):
        ended = self.run_client("translate", "--alignments", "The house is old.")
        self.assertEqual((ended.returncode, ended.stderr), (0, ""))
        lines = ended.stdout.splitlines()
        self.assertRegex("\n".join(lines[1:]), r"(?m)^  house -> Haus  [01]\.\d\d$")
        ended = self.run_client("translate", "--attention", "--output", "json",
                                "The house is old.")
        alignment = json.loads(ended.stdout)["hypotheses"][0]["alignment"]
        self.assertEqual(len(alignment["attention"][0]["probabilities"]),
                         len(alignment["source_tokens"]) * len(alignment["target_tokens"]))
        ended = self.run_client("score", "--alignments", "The house is old.", lines[0])
        self.assertEqual(ended.stdout.splitlines()[1:], lines[1:])

    def test_scores_what_it_translates_as_the_search_did(self):
        inputs = golden_inputs()[:20]
        pairs = "".join(f"{i['text']}\t{i['beam4'][0]['text']}\n" for i in inputs)
        ended = self.run_client("score", input=pairs)
        self.assertEqual((ended.returncode, ended.stderr), (0, ""))
        mean = [float(line) for line in ended.stdout.splitlines()]
        ended = self.run_client("score", "--output", "json", input=pairs)
        agreed = 0
        for line, score, golden in zip(ended.stdout.splitlines(), mean, inputs):
            scored, best = json.loads(line), golden["beam4"][0]
            self.assertAlmostEqual(sum(scored["token_scores"]) / len(scored["token_scores"]), score, delta=1e-4)
            self.assertAlmostEqual(scored["perplexity"], math.exp(-score), delta=1e-2 * scored["perplexity"])
            # A translation may have been generated as other pieces than those that its text is
            # tokenized into.
            if len(scored["token_scores"]) == len(best["ids"]) - 1 and abs(score - best["score"]) < 1e-3:
                agreed += 1
        self.assertGreater(agreed, 17)

    def test_tokenizes_as_the_model_does(self):
        inputs = golden_inputs()[:20]
        ended = self.run_client("tokenize", "--output", "json", input="".join(i["text"] + "\n" for i in inputs))
        self.assertEqual((ended.returncode, ended.stderr), (0, ""))
        tokenized = [json.loads(line) for line in ended.stdout.splitlines()]
        self.assertEqual([t["token_ids"] for t in tokenized], [i["input_ids"] for i in inputs])
        ended = self.run_client("tokenize", inputs[0]["text"])
        self.assertEqual(ended.stdout.split(), tokenized[0]["tokens"])

    def test_says_what_the_server_refused(self):
        ended = self.run_client("translate", "--beam-size", "99", "x")
        self.assertEqual((ended.returncode, ended.stdout), (2, ""))
        self.assertIn("INVALID_ARGUMENT", ended.stderr)
        self.assertIn("beam_size", ended.stderr)
        self.assertIn("99", ended.stderr)

    def test_models_and_health(self):
        model = json.loads(self.run_client("models", "--output", "json").stdout)
        self.assertEqual((model["name"], model["state"]), ("en-de", "ready"))
        ended = self.run_client("health")
        self.assertEqual((ended.returncode, ended.stdout), (0, "SERVING\n"))
        self.assertEqual(self.run_client("health", "nobody").returncode, 2)

    def test_load_counts_every_request(self):
        report = json.loads(self.run_client("load", "--requests", "40", "--concurrency", "4",
                                            "--output", "json").stdout)
        self.assertEqual(report["codes"], {"OK": 40})
        self.assertGreater(report["source_tokens"], 40)
        self.assertLessEqual(report["latency_seconds"]["p50"], report["latency_seconds"]["max"])


    def test_a_person_at_a_terminal_is_told_what_it_waits_for(self):
        primary, secondary = pty.openpty()
        self.addCleanup(os.close, primary)
        for command in ("translate", "tokenize", "score"):
            process = subprocess.Popen([CLIENT, command, "--server", self.server.grpc_address],
                                       stdin=secondary, stdout=subprocess.PIPE, stderr=secondary)
            told = b""
            while b"Ctrl-D" not in told:
                told += os.read(primary, 1024)
            os.write(primary, b"\x04")
            self.assertEqual(process.communicate(timeout=60)[0], b"")
            self.assertEqual(process.returncode, 0)
            self.assertIn(b"reading a text per line", told)
        os.close(secondary)

    def test_the_lines_of_an_argument_survive(self):
        ended = self.run_client("translate", "Good morning.\nThe house is old.")
        self.assertEqual(len(ended.stdout.splitlines()), 2, ended)

    def test_detects_the_language_of_a_text(self):
        ended = self.run_client("detect", "La maison est bleue et le chat dort.", "1234")
        first, second = ended.stdout.splitlines()
        self.assertRegex(first, r"^fr 0\.\d\d|fr 1\.00")
        self.assertEqual(second, "und")
        line = json.loads(self.run_client("detect", "-o", "json", input="Wo ist der Bahnhof?\n").stdout)
        self.assertEqual((line["text"], line["languages"][0]["language"]), ("Wo ist der Bahnhof?", "de"))

    def test_lists_languages(self):
        self.assertEqual(self.run_client("languages").stdout, "en: de\n")

    def test_tools_for_a_language_model(self):
        calls = ({"name": "translate", "arguments": {"text": "Good morning."}},
                 {"name": "translate", "arguments": {"text": "Good morning.", "target_language": "fi"}},
                 {"name": "detect", "arguments": {"text": "Wo ist der Bahnhof?"}},
                 {"name": "languages"})
        ended = self.run_client("mcp", input="".join(
            json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}) + "\n" for call in calls))
        self.assertEqual((ended.returncode, ended.stderr), (0, ""))
        results = [json.loads(line)["result"] for line in ended.stdout.splitlines()]
        self.assertEqual([result["isError"] for result in results], [False, True, False, False])
        texts = [result["content"][0]["text"] for result in results]
        self.assertEqual(texts[0], "Guten Morgen!")
        self.assertRegex(texts[1], r'^INVALID_ARGUMENT: .*"fi"')
        self.assertRegex(texts[2], r"^de [01]\.\d\d")
        self.assertEqual(json.loads(texts[3]), results[3]["structuredContent"])

    @optional
    def test_the_client_fastmcp(self):
        environment = self.enterContext(tempfile.TemporaryDirectory())
        python = os.path.join(environment, "bin/python")
        subprocess.run([sys.executable, "-m", "venv", environment], check=True, timeout=300)
        subprocess.run([python, "-m", "pip", "install", "--quiet", FASTMCP], check=True, timeout=300)
        ended = subprocess.run([python, "-c", FASTMCP_CALLS, CLIENT, self.server.grpc_address],
                               capture_output=True, text=True, timeout=300)
        self.assertEqual(ended.returncode, 0, ended.stderr)
        self.assertEqual(json.loads(ended.stdout),
                         [["translate", "detect", "languages"], "Guten Morgen!", "en-de", True, "en-de"] * 2)


class CauseTest(unittest.TestCase):
    """A name that stands for several addresses hides nothing: the cause is the same as at 127.0.0.1."""

    def causes(self, port, *arguments):
        """What the command says of a port, without the address."""
        # Both look for the cause for a while.
        processes = {host: subprocess.Popen([CLIENT, "translate", "--server", f"{host}:{port}", *arguments, "x"],
                                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
                     for host in ("localhost", "127.0.0.1")}
        said = set()
        for host, process in processes.items():
            error = process.communicate(timeout=120)[1]
            self.assertEqual(process.returncode, 3, error)
            said.add(error.replace(f"{host}:{port}", "SERVER"))
        self.assertEqual(len(said), 1, said)
        return said.pop()

    def test_the_port_of_http(self):
        server = serve(self, *FLOAT32)
        self.assertIn("does not speak gRPC", self.causes(server.http_address.rsplit(":", 1)[1]))

    def test_a_server_with_tls(self):
        authority = Authority()
        cert, key = authority.issue("server", "DNS:localhost,IP:127.0.0.1")
        server = serve(self, *FLOAT32, "--tls-cert", cert, "--tls-key", key)
        port = server.grpc_address.rsplit(":", 1)[1]
        self.assertIn("wants TLS", self.causes(port))
        stranger = Authority("stranger")
        self.assertIn("not from a trusted authority", self.causes(port, "--tls-ca", stranger.ca))

    def test_a_server_without_tls(self):
        server = serve(self, *FLOAT32)
        self.assertIn("it does not speak TLS",
                      self.causes(server.grpc_address.rsplit(":", 1)[1], "--tls"))

    def test_nothing_listens(self):
        self.assertIn("nothing listens there", self.causes(free_port()))


class CompletionTest(ServerTest):
    """What each shell proposes; the scripts are those that the command prints."""

    COMPLETE = {
        "bash": 'source <("$CLIENT" completion bash); COMP_LINE="$*" COMP_WORDS=("$@") '
                'COMP_CWORD=$(($# - 1)); compopt() { :; }; _dragoman "$1"; printf "%s\\n" "${COMPREPLY[@]}"',
        # As zsh's own bashcompinit calls it.
        "zsh": 'source <("$CLIENT" completion zsh); emulate sh; setopt kshglob noshglob braceexpand; '
               'COMP_LINE="$*" COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)); '
               '_dragoman "$1"; printf "%s\\n" "${COMPREPLY[@]}"',
        "fish": 'source ("$CLIENT" completion fish | psub); complete -C "$argv"',
    }

    def setUp(self):
        # The names as in the PATH of an installation.
        self.bin = self.enterContext(tempfile.TemporaryDirectory())
        os.symlink(CLIENT, os.path.join(self.bin, "dragoman"))
        os.symlink(SERVER, os.path.join(self.bin, "dragoman-server"))

    def complete(self, shell, *words):
        environment = dict(os.environ, PATH=f"{self.bin}:{os.environ['PATH']}", CLIENT=CLIENT,
                           DRAGOMAN_SERVER=self.server.grpc_address, HOME=self.bin)
        flags = {"zsh": ["-f"], "fish": ["--no-config"]}.get(shell, [])
        script = self.COMPLETE[shell]
        arguments = [" ".join(words)] if shell == "fish" else ["shell", *words]
        ended = subprocess.run([shell, *flags, "-c", script, *arguments], env=environment,
                               capture_output=True, text=True, timeout=60)
        # zsh itself takes those that begin with the word.
        return sorted(word for word in ended.stdout.split() if word.startswith(words[-1].lstrip("=")))

    def check(self, shell):
        for words, want in ((("dragoman", "tr"), ["translate", "translate-file"]),
                            (("dragoman", "completion", ""), ["bash", "fish", "zsh"]),
                            (("dragoman", "translate", "--num-h"), ["--num-hypotheses"]),
                            (("dragoman", "translate-file", "--report", ""), ["json", "text"]),
                            (("dragoman", "translate", "--early-stopping", ""),
                             ["full", "heuristic", "never"]),
                            (("dragoman", "translate", "--model", ""), ["en-de"]),
                            (("dragoman", "translate", "-m", "en"), ["en-de"]),
                            (("dragoman", "models", "e"), ["en-de"]),
                            (("dragoman", "translate", "-s", ""), ["en"]),
                            (("dragoman", "translate", "--target-language", ""), ["de"]),
                            (("dragoman-server", "--kv-cache-b"), ["--kv-cache-bytes"]),
                            (("dragoman-server", "--log-format", ""), ["json", "text"]),
                            (("dragoman-server", "--model", ""), [])):
            with self.subTest(words=words):
                self.assertEqual(self.complete(shell, *words), want)

    def test_bash(self):
        self.check("bash")

    def test_zsh(self):
        self.check("zsh")

    def test_fish(self):
        self.check("fish")

    def test_an_equals_sign(self):
        # As bash splits `dragoman-server --log-format=js`.
        self.assertEqual(self.complete("bash", "dragoman-server", "--log-format", "=", "js"), ["json"])
        self.assertEqual(self.complete("bash", "dragoman-server", "--log-format", "="), ["json", "text"])


if __name__ == "__main__":
    unittest.main()
