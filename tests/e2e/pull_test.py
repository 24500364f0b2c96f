"""`dragoman pull` against servers that behave like the Hugging Face Hub and like other indexes."""

import json
import os
import random
import shutil
import signal
import subprocess
import tempfile
import unittest

import ctranslate2_models as ct2
from certificates import Authority
from fake_hub import FakeHub, Repository
from fake_index import FakeIndex
from harness import CLIENT, SOURCE_DIR, Server, await_true, pb

NAME = "Helsinki-NLP/opus-mt-en-de"
LARGE = "model.safetensors"

# Commands that ask where nobody listens.  They ask again for a quarter of a minute, beside the other tests.
UNREACHABLE = {"hub": ("--no-check", NAME), "index": ("argos:en-de", "--index", "http://127.0.0.1:1/x")}
unreachable = {}


def setUpModule():
    authority, directory = Authority(), tempfile.TemporaryDirectory()
    unittest.addModuleCleanup(directory.cleanup)
    environment = {name: os.environ[name] for name in ("PATH", "LD_LIBRARY_PATH") if name in os.environ}
    environment |= {"HOME": directory.name, "HF_ENDPOINT": "https://127.0.0.1:1", "REQUESTS_CA_BUNDLE": authority.ca}
    for name, arguments in UNREACHABLE.items():
        process = unreachable[name] = subprocess.Popen(
            [CLIENT, "pull", *arguments], cwd=directory.name, env=environment, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        unittest.addModuleCleanup(process.wait)
        unittest.addModuleCleanup(process.kill)
    unittest.addModuleCleanup(authority.directory.cleanup)


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

    def pull(self, *arguments, repository=NAME, check=False, client=CLIENT, **variables):
        """Most files here are noise, which the server would refuse, so it is not asked."""
        if not check:
            arguments = ("--no-check", *arguments)
        return subprocess.run([client, "pull", repository, *arguments], cwd=self.directory,
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

    def content(self):
        """The files of the model, with their contents."""
        found = {}
        for name in os.listdir(self.path()):
            with open(self.path(name), "rb") as file:
                found[name] = file.read()
        return found

    def change_every_file(self):
        """Puts a new version on the Hub."""
        self.files = {name: content + b" " for name, content in self.files.items()}
        self.hub.repositories[NAME] = Repository(self.files, {LARGE, "source.spm"})

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
        process = subprocess.Popen([CLIENT, "pull", "--no-check", NAME], cwd=self.directory,
                                   env=self.environment(), stderr=subprocess.DEVNULL)
        await_true(lambda: any(headers.get("Range") for _, _, headers in self.hub.requests),
                   "it goes on after the cut")
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
        self.assertNotIn(LARGE, os.listdir(self.path() + ".partial/opus-mt-en-de"))

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
        again = self.pull()
        self.assert_pulled(again)
        self.assertEqual(self.hub.asked_for(), [])  # nothing has changed
        self.assertIn("models/opus-mt-en-de: already here, 5 files, 3.0 MB", again.stderr)
        self.files["config.json"] = b'{"model_type": "marian", "new": true}'
        self.hub.repositories[NAME] = Repository(self.files, {LARGE, "source.spm"})
        self.assert_pulled(self.pull())
        self.assertEqual(self.hub.asked_for(), ["config.json"])

    def test_an_old_version_stays_until_all_of_the_new_one_is_right(self):
        self.assert_pulled(self.pull())
        old = self.content()
        self.change_every_file()
        for name in ("config.json", LARGE):  # the first one, and the last one
            self.hub.fail("hub", name, *["corrupt"] * 2)
            self.hub.fail("cdn", name, *["corrupt"] * 2)
            ended = self.pull()
            self.assertEqual(ended.returncode, 2)
            self.assertIn(f"{name}: its content does not match", ended.stderr)
            self.assertEqual(self.content(), old)
            self.hub._failures.clear()
        self.assert_pulled(self.pull())

    def test_an_old_version_or_the_new_one_is_there_whenever_a_pull_is_killed(self):
        self.assert_pulled(self.pull())
        old = self.content()
        self.change_every_file()
        for name in ("config.json", "source.spm", "target.spm", "vocab.json", LARGE):  # in this order
            self.hub.requests.clear()
            self.hub.fail("hub", name, *[503] * 10)
            process = subprocess.Popen([CLIENT, "pull", "--no-check", NAME], cwd=self.directory,
                                       env=self.environment(), stderr=subprocess.DEVNULL)
            await_true(lambda: name in self.hub.asked_for(), f"it asks for {name}")
            process.kill()
            process.wait()
            self.assertEqual(self.content(), old, name)
            self.hub._failures.clear()
        # A server beside the command that kills it when it is asked.
        programs = os.path.join(self.directory, "programs")
        os.mkdir(programs)
        client = shutil.copy(CLIENT, programs)
        server = os.path.join(programs, "dragoman-server")
        with open(server, "w", encoding="utf-8") as file:
            file.write('#!/bin/sh\n[ -n "$2" ] && [ -z "$BOTH" ] || kill -9 $PPID\n')
        os.chmod(server, 0o755)
        for variables in ({"BOTH": "yes"}, {}):
            ended = self.pull(check=True, client=client, **variables)
            self.assertEqual(ended.returncode, -signal.SIGKILL, ended.stderr)
            self.assertEqual(self.content(), old, variables)
        self.assert_pulled(self.pull())
        # Killed when the new one is in its place, and the old one is not yet removed.
        left = self.path() + ".partial/opus-mt-en-de"
        os.makedirs(left)
        for name, content in old.items():
            with open(os.path.join(left, name), "wb") as file:
                file.write(content)
        self.assert_pulled(self.pull())

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

    def test_sizes_have_the_unit_that_fits(self):
        ended = self.pull()
        self.assertNotIn("already here", ended.stderr)
        for line in ("config.json 24 bytes", "source.spm 1.0 kB", f"{LARGE} 3.0 MB"):
            self.assertIn(line + "\n", ended.stderr)

    def real_model(self):
        """The files of a model that can be served."""
        model = os.path.join(SOURCE_DIR, "tests/golden/models/marian-trained")
        files = {}
        for name in os.listdir(model):
            with open(os.path.join(model, name), "rb") as file:
                files[name] = file.read()
        return files

    def test_what_the_server_does_not_support_is_refused_before_its_weights(self):
        files = self.real_model() | {"config.json": b'{"model_type": "whisper"}'}
        self.hub.repositories[NAME] = Repository(files, {LARGE})
        ended = self.pull(check=True)
        self.assertEqual((ended.returncode, ended.stdout), (2, ""))
        self.assertIn("cannot be served", ended.stderr)
        self.assertIn("whisper", ended.stderr)
        self.assertEqual(self.hub.asked_for()[0], "config.json")
        self.assertNotIn(LARGE, self.hub.asked_for())
        self.assert_nothing_there()

    def test_the_server_reports_on_what_was_pulled(self):
        files = self.real_model()
        self.hub.repositories[NAME] = Repository(files, {LARGE})
        ended = self.pull(check=True)
        self.assertEqual(ended.returncode, 0, ended.stderr)
        self.assertIn("\ncan be served: ", ended.stderr)
        self.assertRegex(ended.stderr, r"(?m)^languages +en-de en-fr$")
        self.assertNotIn(".partial", ended.stderr)
        # Weights that are not those of the configuration.
        good = self.content()
        self.hub.repositories[NAME] = Repository(files | {LARGE: files[LARGE][:1000]}, {LARGE})
        ended = self.pull(check=True)
        self.assertEqual((ended.returncode, ended.stdout), (2, ""))
        self.assertIn("cannot be served", ended.stderr)
        self.assertEqual(self.content(), good)

    def test_what_was_pulled_is_served(self):
        self.hub.repositories[NAME] = Repository(self.real_model(), {LARGE})
        ended = self.pull(check=True)
        self.assertEqual(ended.returncode, 0, ended.stderr)
        arguments = ended.stdout.split()[1:]
        arguments[1] = arguments[1].replace("=", "=" + self.directory + "/")
        server = Server(*arguments)
        try:
            self.assertEqual(len(server.translate("a b").translations), 1)
        finally:
            self.assertEqual(server.stop(), 0)


class IndexTest(unittest.TestCase):
    """Models that are found by their languages, in a copy of an index's layout."""

    def setUp(self):
        self.directory = self.enterContext(tempfile.TemporaryDirectory())
        self.index = FakeIndex()
        self.addCleanup(self.index.stop)

    def pull(self, model, *arguments, **variables):
        self.index.asked.clear()
        environment = {name: os.environ[name] for name in ("PATH", "LD_LIBRARY_PATH")
                       if name in os.environ}
        return subprocess.run([CLIENT, "pull", model, *arguments], cwd=self.directory,
                              env=environment | {"HOME": self.directory} | variables,
                              capture_output=True, text=True, timeout=120)

    def serve(self, ended):
        self.assertEqual(ended.returncode, 0, ended.stderr)
        arguments = ended.stdout.split()[1:]
        arguments[1] = arguments[1].replace("=", "=" + self.directory + "/")
        server = Server(*arguments)
        self.addCleanup(server.stop)
        return server.models.GetModel(pb.GetModelRequest(), timeout=120)

    def package(self):
        """A package of Argos with a sentence splitter, which the server does not need."""
        marian = os.path.join(SOURCE_DIR, "tests/golden/models/marian-trained")
        root = os.path.join(self.directory, "translate-en_de-1_10")
        os.makedirs(os.path.join(root, "stanza"))
        ct2.write(ct2.marian(marian, loader_style=False), os.path.join(root, "model"), "int8")
        shutil.copy(os.path.join(marian, "source.spm"), os.path.join(root, "sentencepiece.model"))
        with open(os.path.join(root, "metadata.json"), "w", encoding="utf-8") as file:
            json.dump({"from_code": "en", "to_code": "de", "package_version": "1.10"}, file)
        with open(os.path.join(root, "stanza", "large.pt"), "wb") as file:
            file.write(noise(1000))
        packed = shutil.make_archive(root, "zip", self.directory, os.path.basename(root))
        shutil.rmtree(root)
        with open(packed, "rb") as file:
            contents = file.read()
        os.remove(packed)
        return contents

    def test_the_newest_package_of_argos_for_a_pair(self):
        url = self.index.argos([("en", "fr", "1.0", b"x"), ("en", "de", "1.9", b"old"),
                                ("en", "de", "1.10", self.package()), ("de", "en", "2.0", b"x")])
        ended = self.pull("argos:en-de", DRAGOMAN_ARGOS_INDEX=url)
        self.assertEqual(self.index.asked, ["/index.json", "/v1/translate-en_de-1_10.argosmodel"])
        self.assertEqual(sorted(os.listdir(os.path.join(self.directory, "models/argos-en-de"))),
                         ["metadata.json", "model", "pull.json", "sentencepiece.model"])
        self.assertEqual(ended.stdout, "dragoman-server --model en-de=models/argos-en-de\n")
        self.assertIn("argos:en-de at 1.10", ended.stderr)
        self.assertIn("\ncan be served: ", ended.stderr)
        model = self.serve(ended)
        self.assertEqual([(p.source, p.target) for p in model.language_pairs], [("en", "de")])
        again = self.pull("argos:en-de", "--index", url)
        self.assertEqual(again.returncode, 0, again.stderr)
        self.assertEqual(self.index.asked, ["/index.json"])
        self.assertIn("already here", again.stderr)

    def test_the_newest_release_of_firefox_for_a_pair(self):
        student = os.path.join(SOURCE_DIR, "tests/golden/marian/models/student-ssru")

        def read(name):
            with open(os.path.join(student, name), "rb") as file:
                return file.read()

        files = (("model", "model.deen.intgemm.alphas.bin", read("model.intgemm8.alphas.bin")),
                 ("vocab", "vocab.deen.spm", read("vocab.spm")),
                 ("lex", "lex.50.50.deen.s2t.bin", read("lex.bin")),
                 ("qualityModel", "qualityModel.deen.bin", b"not for us"))
        old = tuple((kind, name, b"old") for kind, name, _ in files)
        url = self.index.firefox(
            [("de", "en", "1.9", *file) for file in old] +
            [("de", "en", "1.10", *file) for file in files] +
            [("de", "en", "2.0a1", *file) for file in old] +  # a preview
            [("en", "de", "3.0", *file) for file in old] + [("fr", "en", "1.0", *old[0])])
        ended = self.pull("firefox:de-en", DRAGOMAN_FIREFOX_INDEX=url + "/")
        self.assertEqual(ended.stdout, "dragoman-server --model de-en=models/firefox-de-en\n",
                         ended.stderr)
        self.assertEqual(len([path for path in self.index.asked if "attachments" in path]), 3)
        model = self.serve(ended)
        self.assertEqual([(p.source, p.target) for p in model.language_pairs], [("de", "en")])
        again = self.pull("firefox:de-en", "--index", url)
        self.assertIn("already here, 3 files", again.stderr)
        # A file that is not what the index says is not taken.
        self.index.pages["/attachments/main-workspace/translations-models/4.bin"] = b"#" * len(files[0][2])
        ended = self.pull("firefox:de-en", "--index", url, "--directory", "other")
        self.assertEqual((ended.returncode, ended.stdout), (2, ""))
        self.assertIn("does not match", ended.stderr)

    def test_what_a_killed_pull_left_is_removed(self):
        url = self.index.argos([("en", "de", "1.10", self.package())])
        self.assertEqual(self.pull("argos:en-de", "--index", url, "--no-check").returncode, 0)
        left = os.path.join(self.directory, "models/argos-en-de.partial")
        os.makedirs(os.path.join(left, "argos-en-de/model"))
        again = self.pull("argos:en-de", "--index", url, "--no-check")
        self.assertEqual(again.returncode, 0, again.stderr)
        self.assertIn("already here", again.stderr)
        self.assertFalse(os.path.exists(left))

    def test_a_file_of_an_unknown_size_has_an_end(self):
        url = self.index.argos([("en", "de", "1.10", b"")])
        self.index.pages["/v1/translate-en_de-1_10.argosmodel"] = 1 << 20  # bytes
        ended = self.pull("argos:en-de", "--index", url, "--no-check", "--max-unannounced", "1000000")
        self.assertEqual((ended.returncode, ended.stdout), (2, ""))
        self.assertIn("is longer than 1000000 bytes", ended.stderr)
        directory = os.path.join(self.directory, "models/argos-en-de.partial/argos-en-de")
        self.assertFalse(os.path.exists(os.path.join(directory, "package.argosmodel.1.10.part")))

    def test_a_script_need_not_be_named(self):
        url = self.index.firefox([("zh-Hans", "en", "1.0", "model", "model.zhen.bin", b"x"),
                                  ("zh-Hans", "en", "1.0", "vocab", "vocab.zhen.spm", b"y")])
        ended = self.pull("firefox:zh-en", "--index", url, "--no-check")
        self.assertEqual(ended.stdout, "dragoman-server --model zh-en=models/firefox-zh-en\n",
                         ended.stderr)

    def test_a_pair_that_is_not_there(self):
        packages = [("en", "de", "1.0", None), ("de", "en", "1.0", None), ("en", "fr", "1.0", None)]
        for model, url in (("argos:de-fi", self.index.argos(packages)),
                           ("firefox:de-fi", self.index.firefox(
                               [(*pair[:3], "model", "m", b"x") for pair in packages]))):
            ended = self.pull(model, "--index", url)
            self.assertEqual((ended.returncode, ended.stdout), (2, ""))
            self.assertIn("has no model de-fi; it has de-en, en-de", ended.stderr)

    def test_what_is_no_index(self):
        self.index.pages["/index.json"] = b"<html>"
        ended = self.pull("argos:en-de", "--index", self.index.url + "/index.json")
        self.assertEqual(ended.returncode, 2)
        self.assertIn("is not JSON", ended.stderr)
        ended = self.pull("argos:en-de", "--index", self.index.url + "/gone.json")
        self.assertEqual(ended.returncode, 2)


class UnreachableTest(unittest.TestCase):
    """The last class, so that the commands have ended, or will soon."""

    def test_nobody_there_is_unreachable(self):
        for name, process in unreachable.items():
            self.assertEqual(process.wait(timeout=120), 3, name)


if __name__ == "__main__":
    unittest.main()
