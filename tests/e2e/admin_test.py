"""AdminService of the real process: its socket, and the end of the server."""

import os
import tempfile
import unittest

import grpc

from harness import FLOAT32, MODEL, Server, pb, run_server
from dragoman.v1 import admin_pb2, admin_pb2_grpc  # on the path that the harness sets


class AdminTest(unittest.TestCase):

    def test_an_operator_lists_models_at_the_socket_and_drains_the_server(self):
        with tempfile.TemporaryDirectory() as directory:
            path = os.path.join(directory, "admin.sock")
            server = Server(*FLOAT32, "--workers", "1", "--admin-address", f"unix:{path}")
            self.addCleanup(server.stop)
            self.assertEqual(os.stat(path).st_mode & 0o777, 0o600)
            with grpc.insecure_channel(f"unix:{path}") as channel:
                admin = admin_pb2_grpc.AdminServiceStub(channel)
                models = admin.ListModels(pb.ListModelsRequest(), timeout=60).models
                self.assertEqual(len(models), 1)
                admin.Drain(admin_pb2.DrainRequest(), timeout=60)
            self.assertEqual(server.process.wait(timeout=60), 0)
            self.assertFalse(os.path.exists(path))
            log = server.log_text()
            self.assertIn("admin: drain principal=owner", log)
            self.assertIn("drained", log)

    def test_an_address_that_others_can_reach_needs_tokens(self):
        ended = run_server("--model", f"en-de={MODEL}", "--admin-address", "127.0.0.1:0")
        self.assertEqual((ended.returncode, ended.stdout), (1, ""))
        self.assertIn("no auth-tokens say who may administer", ended.stderr)


if __name__ == "__main__":
    unittest.main()
