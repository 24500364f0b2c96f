"""The examples of client/examples against a real server, over TLS and with a token."""

import os
import shutil
import subprocess
import sys
import tempfile
import unittest

from certificates import Authority
from harness import FLOAT32, SOURCE_DIR, Server
from suite import optional

EXAMPLES = os.path.join(SOURCE_DIR, "client", "examples")
TOKEN = "example-token-0123456789"


class ExamplesTest(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        cls.authority = Authority()
        cert, key = cls.authority.issue("server", "IP:127.0.0.1")
        tokens = cls.authority.path("tokens")
        with open(tokens, "w", encoding="utf-8") as file:
            file.write(f"example {TOKEN}\n")
        cls.server = Server(*FLOAT32, "--workers", "1", "--tls-cert", cert, "--tls-key", key,
                            "--auth-tokens", tokens)

    @classmethod
    def tearDownClass(cls):
        code = cls.server.stop()
        if code != 0:
            raise AssertionError(f"the server ended with exit code {code}")

    def check(self, *command, **environment):
        def run(token):
            return subprocess.run(
                [*command, self.server.grpc_address, "Good morning.", "Hello"],
                capture_output=True, text=True, timeout=60,
                env={**os.environ, "DRAGOMAN_TLS_CA": self.authority.ca, "DRAGOMAN_TOKEN": token,
                     "no_proxy": "127.0.0.1", **environment})

        ended = run(TOKEN)
        self.assertEqual((ended.returncode, ended.stdout.splitlines()),
                         (0, ["Guten Morgen!", "Hallo!"]), ended.stderr)
        ended = run("wrong")
        self.assertEqual((ended.returncode, ended.stdout), (1, ""))
        self.assertIn("UNAUTHENTICATED", ended.stderr)

    def test_cpp(self):
        self.check(os.environ["DRAGOMAN_EXAMPLE_BINARY"])

    def test_python(self):
        self.check(sys.executable, os.path.join(EXAMPLES, "python", "translate.py"),
                   PYTHONPATH=os.environ["DRAGOMAN_STUBS"])

    @optional
    def test_node(self):
        with tempfile.TemporaryDirectory() as directory:
            for name in ("package.json", "package-lock.json"):
                shutil.copy(os.path.join(EXAMPLES, "node", name), directory)
            subprocess.run(["npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts"], cwd=directory, timeout=300,
                           check=True)
            self.check("node", os.path.join(EXAMPLES, "node", "translate.js"),
                       NODE_PATH=os.path.join(directory, "node_modules"))


if __name__ == "__main__":
    unittest.main()
