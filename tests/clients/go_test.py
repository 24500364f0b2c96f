"""The Go module of clients/go against a real server, and imported by another program.

With Debian's Go packages it is built as Debian does, without modules; otherwise as a module, if its
dependencies can be downloaded.
"""

import os
import shutil
import subprocess
import tempfile
import unittest

from certificates import Authority
from harness import FLOAT32, SOURCE_DIR, Server

PACKAGE = os.path.join(SOURCE_DIR, "clients", "go")
DEBIAN = "/usr/share/gocode"
DEBIAN_GRPC = os.path.join(DEBIAN, "src/google.golang.org/grpc/health")
# golang-github-golang-protobuf-1-3-dev has this; it cannot handle code that is generated today.
OLD_PROTOBUF = os.path.join(DEBIAN, "src/github.com/golang/protobuf/proto/table_unmarshal.go")
TOKEN = "client-test-token-0123456789"
PROGRAM = """package main

import (
	"fmt"

	dragoman "dragoman.internal/go"
	"dragoman.internal/go/dragomanv1"
)

func main() {
	client, err := dragoman.Dial("127.0.0.1:1", dragoman.Options{})
	fmt.Println(client.Close(), err, len((&dragomanv1.TranslateRequest{Contents: []string{"x"}}).Contents))
}
"""


class GoClientTest(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        cls.directory = tempfile.TemporaryDirectory()
        if os.path.isdir(DEBIAN_GRPC) and not os.path.exists(OLD_PROTOBUF):
            root = os.path.join(cls.directory.name, "gopath")
            cls.module = os.path.join(root, "src", "dragoman.internal", "go")
            cls.program = os.path.join(root, "src", "program")
            cls.environment = {"GO111MODULE": "off", "GOPATH": f"{root}:{DEBIAN}"}
        else:
            cls.module = os.path.join(cls.directory.name, "module")
            cls.program = os.path.join(cls.directory.name, "program")
            cls.environment = {"GOFLAGS": "-mod=mod"}
        shutil.copytree(PACKAGE, cls.module)
        os.makedirs(cls.program)
        with open(os.path.join(cls.program, "main.go"), "w", encoding="utf-8") as file:
            file.write(PROGRAM)
        if "GOFLAGS" in cls.environment:
            had = cls.go("mod", "download")
            if had.returncode != 0:
                raise AssertionError("go cannot get the modules: " + had.stderr)

    @classmethod
    def tearDownClass(cls):
        cls.directory.cleanup()

    @classmethod
    def go(cls, *arguments, cwd=None, timeout=500, **environment):
        return subprocess.run(["go", *arguments], cwd=cwd or cls.module, capture_output=True, text=True,
                              timeout=timeout, env={**os.environ, **cls.environment, **environment})

    def check(self, *arguments, **options):
        ended = self.go(*arguments, **options)
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
            said = self.check("test", "-count=1", "-v", ".", DRAGOMAN_SERVER=server.grpc_address,
                              DRAGOMAN_TLS_CA=authority.ca, DRAGOMAN_TOKEN=TOKEN)
        finally:
            code = server.stop()
        self.assertEqual(code, 0)
        self.assertIn("--- PASS: TestTranslates", said)

    def test_a_program_imports_it(self):
        if "GOFLAGS" in self.environment:
            self.check("mod", "init", "program", cwd=self.program)
            self.check("mod", "edit", "-require=dragoman.internal/go@v0.1.0",
                       f"-replace=dragoman.internal/go={self.module}", cwd=self.program)
            self.check("mod", "tidy", cwd=self.program)
        self.assertEqual(self.check("run", ".", cwd=self.program), "<nil> <nil> 1\n")

    def test_it_is_formatted_and_vetted(self):
        sources = [name for name in os.listdir(self.module) if name.endswith(".go")]
        listed = subprocess.run(["gofmt", "-l", *sources], cwd=self.module, capture_output=True, text=True)
        self.assertEqual(listed.stdout, "")
        self.check("vet", ".")


if __name__ == "__main__":
    unittest.main()
