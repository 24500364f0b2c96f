"""A server that keeps things of principals in a file, and has some in a directory: glossaries or translation memories."""

import os
import subprocess
import tempfile
import threading
import unittest

import grpc
from harness import CLIENT, FLOAT32, pb_grpc, serve


class KeptThingsTest(unittest.TestCase):
    FLAG = None  # of the directory of files

    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.root = directory.name
        self.directory = os.path.join(self.root, "things")
        os.mkdir(self.directory)

    def serve(self):
        server = serve(self, *FLOAT32, "--store", f"sqlite:{self.root}/store.db", self.FLAG, self.directory)
        server.glossaries = pb_grpc.GlossaryServiceStub(server.channel)
        server.memories = pb_grpc.MemoryServiceStub(server.channel)
        return server

    def write(self, name, text):
        path = os.path.join(self.root, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def dragoman(self, server, *arguments):
        """What the command prints."""
        ended = subprocess.run([CLIENT, *arguments, "--server", server.grpc_address], capture_output=True, text=True,
                               timeout=120)
        self.assertEqual(ended.returncode, 0, ended.stderr)
        return ended.stdout

    def kill_during(self, server, change):
        """Calls `change` again and again, and kills the server after the first time."""
        enough = threading.Event()

        def work():
            try:
                while True:
                    change()
                    enough.set()
            except grpc.RpcError:
                pass

        worker = threading.Thread(target=work)
        worker.start()
        self.assertTrue(enough.wait(120))
        server.kill()
        worker.join(120)
