"""`dragoman pull` against a server that behaves like the Hugging Face Hub."""

import json
import os
import random
import signal
import subprocess
import tempfile
import time
import unittest

from certificates import Authority
from fake_hub import FakeHub, Repository
from harness import CLIENT, SOURCE_DIR, Server

NAME = "Helsinki-NLP/opus-mt-en-de"
LARGE = "model.safetensors"


def noise(size, seed=1):
    return random.Random(seed).randbytes(size)


class PullTest(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        cls.authority = Authority("hub authority")
        cls.hub = FakeHub(cls.authority)

    @classmethod
    def tearDownClass(cls):
        cls.hub.stop()

    def setUp(self):
        self.directory = self.enterContext(tempfile.TemporaryDirectory())
        self.hub.requests.clear()
        self.hub._failures.clear()
        self.files = {"config.json": b'{"model_type": "marian"}', "vocab.json": b"{}",
                      "source.spm": noise(1000), "target.spm": noise(2000),
                      "README.md": b"# A model", "tf_model.h5": b"tensors of TensorFlow",
                      "pytorch_model.bin": noise(300_000, 2), LARGE: noise(3_000_000, 3)}
        self.hub.repositories = {NAME: Repository(self.files, {LARGE, "source.spm"})}

    def path(self, *names):
        return os.path.join(self.directory, "models", "opus-mt-en-de", *names)

    def environment(self, **variables):
        environment = {"PATH": os.environ["PATH"], "HOME": self.directory,
                       "HF_ENDPOINT": self.hub.url, "REQUESTS_CA_BUNDLE": self.authority.ca}
        if "LD_LIBRARY_PATH" in os.environ:
            environment["LD_LIBRARY_PATH"] = os.environ["LD_LIBRARY_PATH"]
        return environment | variables

    def pull(self, *arguments, repository=NAME, **variables):
        return subprocess.run([CLIENT, "pull", repository, *arguments], cwd=self.directory,
                              env=self.environment(**variables), capture_output=True, text=True,
                              timeout=120)

    def assert_pulled(self, ended, names=("config.json", "vocab.json", "source.spm", "target.spm",
                                          LARGE), directory=None):
        self.assertEqual(ended.returncode, 0, ended.stderr)
        directory = directory or self.path()
        self.assertEqual(set(os.listdir(directory)), {*names, "pull.json"})
        for name in names:
            with open(os.path.join(directory, name), "rb") as file:
                self.assertEqual(file.read(), self.files[name], name)
        self.assertFalse(os.path.exists(directory + ".partial"))

    def assert_nothing_there(self):
        self.assertFalse(os.path.exists(self.path()))

    def test_fetches_just_what_is_needed_and_says_how_to_serve_it(self):
        ended = self.pull()
        self.assert_pulled(ended)
        self.assertEqual(ended.stdout,
                         "dragoman-server --model en-de=models/opus-mt-en-de\n")
        self.assertIn(self.hub.repositories[NAME].commit, ended.stderr)
        with open(self.path("pull.json"), encoding="utf-8") as file:
            record = json.load(file)
        self.assertEqual((record["repository"], record["commit"]),
                         (NAME, self.hub.repositories[NAME].commit))

    def test_every_file_is_of_the_commit_that_the_revision_stood_for(self):
        self.assert_pulled(self.pull("--revision", "v1"))
        paths = [path for role, path, _ in self.hub.requests if role == "hub"]
        self.assertIn("/revision/v1?", paths[0])
        for path in paths[1:]:
            self.assertIn(f"/resolve/{self.hub.repositories[NAME].commit}/", path)

    def test_the_token_goes_to_the_hub_and_nowhere_else(self):
        self.hub.repositories[NAME].token = "hf_secret"
        self.assert_pulled(self.pull(HF_TOKEN=" hf_secret\n"))
        for role, _, headers in self.hub.requests:
            self.assertEqual("Authorization" in headers, role == "hub")

    def test_the_token_of_a_login_is_found(self):
        self.hub.repositories[NAME].token = "hf_login"
        os.makedirs(os.path.join(self.directory, "hf"))
        with open(os.path.join(self.directory, "hf", "token"), "w", encoding="utf-8") as file:
            file.write("hf_login\n")
        self.assert_pulled(self.pull(HF_HOME=os.path.join(self.directory, "hf")))

    def test_a_broken_connection_is_taken_up_where_it_broke(self):
        self.hub.fail("cdn", LARGE, ("cut", 1_000_000), ("cut", 500_000))
        self.assert_pulled(self.pull())
        ranges = [headers.get("Range") for role, path, headers in self.hub.requests
                  if role == "cdn" and LARGE in path]
        self.assertEqual(ranges, [None, "bytes=1000000-", "bytes=1500000-"])

    def test_a_server_without_ranges_is_asked_for_all(self):
        self.hub.fail("cdn", LARGE, ("cut", 1_000_000), "no ranges")
        self.assert_pulled(self.pull())

    def test_a_pull_that_was_killed_goes_on(self):
        self.hub.fail("cdn", LARGE, ("cut", 1_000_000), *[503] * 10)
        process = subprocess.Popen([CLIENT, "pull", NAME], cwd=self.directory,
                                   env=self.environment(), stderr=subprocess.DEVNULL)
        while not any(headers.get("Range") for _, _, headers in self.hub.requests):
            self.assertIsNone(process.poll())
            time.sleep(0.02)
        process.send_signal(signal.SIGKILL)
        process.wait()
        self.assert_nothing_there()
        self.hub.fail("cdn", LARGE)
        self.hub.requests.clear()
        self.assert_pulled(self.pull())
        self.assertEqual(self.hub.asked_for(), [LARGE])  # the others were there already
        self.assertEqual(self.hub.requests[-1][2]["Range"], "bytes=1000000-")

    def test_busy_servers_are_asked_again(self):
        self.hub.fail("hub", "/revision/main", 503, 429)
        self.hub.fail("cdn", LARGE, 500)
        self.assert_pulled(self.pull())

    def test_content_with_a_wrong_digest_never_looks_complete(self):
        self.hub.fail("cdn", LARGE, *["corrupt"] * 9)
        ended = self.pull()
        self.assertEqual(ended.returncode, 2)
        self.assertIn(f"{LARGE}: its content does not match the Hub's digest", ended.stderr)
        self.assert_nothing_there()
        self.assertNotIn(LARGE, os.listdir(self.path() + ".partial"))

    def test_a_small_file_is_checked_too(self):
        self.hub.fail("hub", "config.json", "corrupt")  # once: the second try is right
        self.assert_pulled(self.pull())
        self.assertEqual(self.hub.asked_for().count("config.json"), 2)

    def test_what_the_hub_refuses_is_said(self):
        cases = ((dict(repository="no/such"), "no/such: there is none, or it is private"),
                 (dict(repository="no/such", HF_TOKEN="t"), "the Hub does not have it"))
        for arguments, message in cases:
            ended = self.pull(**arguments)
            self.assertEqual((ended.returncode, ended.stdout), (2, ""))
            self.assertIn(message, ended.stderr)
        ended = self.pull("--revision", "no")
        self.assertIn("there is no such revision", ended.stderr)
        self.hub.repositories[NAME].gated = True
        ended = self.pull()
        self.assertEqual(ended.returncode, 2)
        self.assertIn("accept its licence", ended.stderr)
        self.assert_nothing_there()

    def test_a_wrong_name_is_a_wrong_command_line(self):
        for name in ("a/b/c", "../x", "", "a b", "https://elsewhere/a/b"):
            self.assertEqual(self.pull(repository=name).returncode, 1, name)
        self.assertEqual(self.hub.requests, [])
        self.assert_pulled(self.pull(repository=f"{self.hub.url}/{NAME}"))

    def test_nobody_there_is_unreachable(self):
        ended = self.pull(HF_ENDPOINT="https://127.0.0.1:1")
        self.assertEqual(ended.returncode, 3)

    def test_an_authority_that_is_not_trusted_is_refused(self):
        other = Authority("another")
        ended = self.pull(REQUESTS_CA_BUNDLE=other.ca)
        self.assertEqual(ended.returncode, 2)
        self.assertEqual(self.hub.requests, [])

    def test_shards_are_those_that_the_index_names(self):
        shard = "model-0000{}-of-00002.safetensors"
        index = {"weight_map": {"a": shard.format(1), "b": shard.format(2), "c": shard.format(1)}}
        self.files = {"config.json": b"{}", "spiece.model": noise(10), shard.format(1): noise(70),
                      shard.format(2): noise(80), shard.format(3): noise(90),
                      "model.safetensors.index.json": json.dumps(index).encode(),
                      "flax_model.msgpack": b"x", "onnx/model.onnx": b"x"}
        self.hub.repositories[NAME] = Repository(self.files, {shard.format(1), shard.format(2)})
        self.assert_pulled(self.pull(), {*self.files} - {shard.format(3), "flax_model.msgpack",
                                                         "onnx/model.onnx"})

    def test_a_bin_is_taken_where_there_are_no_safetensors(self):
        del self.files[LARGE]
        self.hub.repositories[NAME] = Repository(self.files)
        self.assert_pulled(self.pull(), ("config.json", "vocab.json", "source.spm", "target.spm",
                                         "pytorch_model.bin"))

    def test_a_ctranslate2_model_comes_with_its_vocabularies(self):
        self.files = {"config.json": b"{}", "model.bin": noise(100), "README.md": b"x",
                      "shared_vocabulary.json": b"[]", "sentencepiece.model": noise(10)}
        self.hub.repositories[NAME] = Repository(self.files, {"model.bin"})
        self.assert_pulled(self.pull(), {*self.files} - {"README.md"})

    def test_what_cannot_be_served_is_not_fetched(self):
        for names, message in ((("adapter_config.json", "adapter_model.safetensors"), "adapter"),
                               (("config.json", "tf_model.h5"), "TensorFlow"),
                               (("config.json",), "no weights")):
            self.hub.repositories[NAME] = Repository({name: b"{}" for name in names})
            ended = self.pull()
            self.assertEqual(ended.returncode, 2)
            self.assertIn(message, ended.stderr)
            self.assertEqual(self.hub.asked_for(), [])
            self.assert_nothing_there()

    def test_a_new_commit_takes_the_place_of_the_old_one(self):
        self.assert_pulled(self.pull())
        self.hub.requests.clear()
        self.assert_pulled(self.pull())
        self.assertEqual(self.hub.asked_for(), [])  # nothing has changed
        self.files["config.json"] = b'{"model_type": "marian", "new": true}'
        self.hub.repositories[NAME] = Repository(self.files, {LARGE, "source.spm"})
        self.assert_pulled(self.pull())
        self.assertEqual(self.hub.asked_for(), ["config.json"])

    def test_another_directory_is_not_touched(self):
        directory = os.path.join(self.directory, "mine")
        os.mkdir(directory)
        self.assert_pulled(self.pull("--directory", "mine/"), directory=directory)
        with open(os.path.join(directory, "notes.txt"), "w", encoding="utf-8") as file:
            file.write("keep me")
        ended = self.pull("--directory", "mine")
        self.assertEqual(ended.returncode, 2)
        self.assertIn("mine already exists with other content", ended.stderr)
        self.assertTrue(os.path.exists(os.path.join(directory, "notes.txt")))

    def test_what_was_pulled_is_served(self):
        model = os.path.join(SOURCE_DIR, "tests/golden/models/marian-trained")
        files = {}
        for name in os.listdir(model):
            with open(os.path.join(model, name), "rb") as file:
                files[name] = file.read()
        self.hub.repositories[NAME] = Repository(files, {LARGE})
        ended = self.pull()
        self.assertEqual(ended.returncode, 0, ended.stderr)
        arguments = ended.stdout.split()[1:]
        arguments[1] = arguments[1].replace("=", "=" + self.directory + "/")
        server = Server(*arguments)
        try:
            self.assertEqual(len(server.translate("a b").translations), 1)
        finally:
            self.assertEqual(server.stop(), 0)


if __name__ == "__main__":
    unittest.main()
