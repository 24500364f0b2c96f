"""The npm package of clients/node against a real server, over TLS and with a token."""

import os
import re
import shutil
import subprocess
import tempfile
import unittest

from certificates import Authority
from harness import FLOAT32, SOURCE_DIR, Server

PACKAGE = os.path.join(SOURCE_DIR, "clients", "node")
TOKEN = "client-test-token-0123456789"


class NodeClientTest(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        cls.directory = tempfile.TemporaryDirectory()
        cls.package = os.path.join(cls.directory.name, "package")
        shutil.copytree(PACKAGE, cls.package, ignore=shutil.ignore_patterns("node_modules"))
        installed = cls.command("npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts")
        if installed.returncode != 0:
            raise AssertionError("npm cannot get the packages: " + installed.stderr)

    @classmethod
    def tearDownClass(cls):
        cls.directory.cleanup()

    @classmethod
    def command(cls, *command, **environment):
        return subprocess.run(command, cwd=cls.package, capture_output=True, text=True, timeout=120,
                              env={**os.environ, "no_proxy": "127.0.0.1", **environment})

    def check(self, *command, **environment):
        ended = self.command(*command, **environment)
        self.assertEqual(ended.returncode, 0, ended.stdout + ended.stderr)
        return ended.stdout

    def test_its_own_tests_pass(self):
        authority = Authority()
        cert, key = authority.issue("server", "IP:127.0.0.1")
        tokens = authority.path("tokens")
        with open(tokens, "w", encoding="utf-8") as file:
            file.write(f"tester {TOKEN}\n")
        server = Server(*FLOAT32, "--workers", "1", "--tls-cert", cert, "--tls-key", key, "--auth-tokens", tokens)
        try:
            said = self.check("node", "--test", "test/", DRAGOMAN_SERVER=server.grpc_address,
                              DRAGOMAN_TLS_CA=authority.ca, DRAGOMAN_TOKEN=TOKEN)
        finally:
            code = server.stop()
        self.assertEqual(code, 0)
        self.assertRegex(said, re.compile(r"# pass [1-9]"))

    def test_types(self):
        self.check("node_modules/.bin/tsc", "--project", "test/tsconfig.json")
        fresh = self.check("node", "generate-types.js")
        with open(os.path.join(PACKAGE, "types.d.ts"), encoding="utf-8") as file:
            self.assertEqual(file.read(), fresh, "run clients/generate.sh")

    def test_the_packed_package_is_enough(self):
        packed = self.check("npm", "pack", "--silent").split()[-1]
        user = os.path.join(self.package, "user", "node_modules", "dragoman-client")
        os.makedirs(user)
        self.check("tar", "--extract", "--file", packed, "--strip-components", "1", "--directory", user)
        said = self.check("node", "-e", "const {Client} = require('dragoman-client'); new Client().close(); console.log('ok')",
                          NODE_PATH=os.path.dirname(user))
        self.assertEqual(said, "ok\n")


if __name__ == "__main__":
    unittest.main()
