"""What servers keep: several of them on one store, ends without warning, and what looks after a store without a server.

DRAGOMAN_STORE_WRITES is how many writes the servers must have acknowledged while they, the database and the network
between them fail.
"""

import collections
import concurrent.futures as futures
import contextlib
import http.client
import itertools
import json
import os
import random
import re
import signal
import sqlite3
import subprocess
import tempfile
import threading
import time
import types
import unittest

import grpc
from certificates import Authority
from harness import CLIENT, FLOAT32, SERVER, SOURCE_DIR, await_true, free_port, pb, pb_grpc, serve
from google.protobuf import json_format
from postgres import Postgres, Proxy

from google.cloud.translate.v3 import translation_service_pb2 as google_pb

WRITES = int(os.environ.get("DRAGOMAN_STORE_WRITES", "400"))
TEXT = "The house is old."
BOOK = 270  # sentences


def server_with(test, store, *flags):
    server = serve(test, *FLOAT32, "--store", store, *flags)
    server.glossaries = pb_grpc.GlossaryServiceStub(server.channel)
    server.memories = pb_grpc.MemoryServiceStub(server.channel)
    return server


def learn(server, memory, source, target, timeout=20):
    return server.memories.LearnSegments(
        pb.LearnSegmentsRequest(id=memory, segments=[pb.MemorySegment(source=source, target=target)]),
        timeout=timeout)


def text_of(server, **fields):
    return server.translate(TEXT, **fields).translations[0].hypotheses[0].text


def segments_of(server, memory):
    """All segments, by their sources."""
    found = {}
    while True:
        page = server.memories.GetMemorySegments(
            pb.GetMemorySegmentsRequest(id=memory, start=len(found)), timeout=60).segments
        if not page:
            return found
        found.update((segment.source, segment.target) for segment in page)


def sentences(server):
    return sum(server.metrics()["dragoman_sentences_total"].values())


class StoreTest(unittest.TestCase):
    wanted = None

    def setUp(self):
        self.root = self.enterContext(tempfile.TemporaryDirectory())
        self.file = f"sqlite:{self.root}/store.db"

    def query(self, sql):
        with contextlib.closing(sqlite3.connect(f"{self.root}/store.db", timeout=20)) as database:
            return database.execute(sql).fetchone()[0]

    def dragoman(self, *arguments, code=0):
        ended = subprocess.run([CLIENT, *arguments], capture_output=True, text=True, timeout=120)
        if code is not None:
            self.assertEqual(ended.returncode, code, ended.stderr)
        return ended.stdout + ended.stderr

    def test_the_parts_over_postgresql(self):
        database = Postgres(self)
        subprocess.run([os.environ["DRAGOMAN_SERVER_TEST"], "--gtest_filter=Stores/*/postgresql"],
                       check=True, cwd=SOURCE_DIR, env={**os.environ, "DRAGOMAN_TEST_STORE": database.url}, timeout=300)

    def test_what_one_server_learns_the_others_use(self):
        for store in (self.file, Postgres(self).url):
            with self.subTest(store):
                servers = [server_with(self, store) for _ in range(2)]
                memory = servers[0].memories.CreateMemory(pb.CreateMemoryRequest(), timeout=60).id
                for turn in range(20):
                    learn(servers[turn % 2], memory, TEXT, f"LEARNED {turn}")
                    self.assertEqual(text_of(servers[1 - turn % 2], memory_ids=[memory]), f"LEARNED {turn}")
                entries = [pb.GlossaryEntry(source="house", target="Heim")]
                glossary = pb.Glossary(dictionaries=[pb.GlossaryDictionary(entries=entries)])
                made = servers[0].glossaries.CreateGlossary(pb.CreateGlossaryRequest(glossary=glossary), timeout=60)
                options = pb.DecodingOptions(glossary_max_loss=100)
                self.assertIn("Heim", text_of(servers[1], glossary_ids=[made.id], options=options))
                # Of two that change the same version, the second is told.
                glossary.version = made.version
                replace = pb.ReplaceGlossaryRequest(id=made.id, glossary=glossary)
                self.assertEqual(servers[1].glossaries.ReplaceGlossary(replace, timeout=60).version, 2)
                with self.assertRaises(grpc.RpcError) as raised:
                    servers[0].glossaries.ReplaceGlossary(replace, timeout=60)
                self.assertEqual(raised.exception.code(), grpc.StatusCode.FAILED_PRECONDITION)

    def test_plain_translation_goes_on_without_the_store(self):
        database = Postgres(self)
        database.kill()
        server = server_with(self, database.url)
        usual = text_of(server)
        for call in (lambda: server.memories.CreateMemory(pb.CreateMemoryRequest(), timeout=60),
                     lambda: text_of(server, memory_ids=["any"])):
            with self.assertRaises(grpc.RpcError) as raised:
                call()
            self.assertEqual(raised.exception.code(), grpc.StatusCode.UNAVAILABLE)
        code, _, ready = server.http("/readyz")
        self.assertEqual(code, 200)
        self.assertIn("store: ", ready)
        self.assertEqual(server.metrics()["dragoman_store_up"][()], 0)
        database.start()
        await_true(lambda: "store: " not in server.http("/readyz")[2], "the store is reached")
        memory = server.memories.CreateMemory(pb.CreateMemoryRequest(), timeout=60).id
        learn(server, memory, TEXT, "STORED")
        self.assertEqual(text_of(server, memory_ids=[memory]), "STORED")
        self.assertEqual(text_of(server), usual)

    def test_postgresql_over_tls_with_a_password_file(self):
        authority, stranger = Authority(), Authority()
        database = Postgres(self)
        database.want_tls(authority, "a-secret")
        database.kill()
        database.start()
        passwords = os.path.join(self.root, "passwords")
        with open(passwords, "w", encoding="utf-8") as file:
            file.write(f"localhost:{database.port}:postgres:dragoman:a-secret\n")
        os.chmod(passwords, 0o600)
        url = (f"postgresql://dragoman@localhost:{database.port}/postgres?hostaddr=127.0.0.1&passfile={passwords}"
               "&sslmode=verify-full&sslrootcert=")
        server = server_with(self, url + authority.ca)
        memory = server.memories.CreateMemory(pb.CreateMemoryRequest(), timeout=60).id
        learn(server, memory, TEXT, "STORED")
        self.assertEqual(text_of(server, memory_ids=[memory]), "STORED")
        # Neither a certificate of another authority nor a connection without TLS is used.
        for wrong in (url + stranger.ca, url.replace("verify-full", "disable") + authority.ca):
            refused = server_with(self, wrong)
            with self.assertRaises(grpc.RpcError) as raised:
                refused.memories.CreateMemory(pb.CreateMemoryRequest(), timeout=60)
            self.assertEqual(raised.exception.code(), grpc.StatusCode.UNAVAILABLE)
            self.assertNotIn("a-secret", refused.log_text())

    def test_a_file_that_may_not_grow_refuses_what_is_stored_and_nothing_else(self):
        server = server_with(self, self.file)
        memory = server.memories.CreateMemory(pb.CreateMemoryRequest(), timeout=60).id
        learn(server, memory, TEXT, "STORED")

        def limit(size):
            # As the kernel does of any file that is too large, it sends SIGXFSZ.
            subprocess.run(["prlimit", "--pid", str(server.process.pid), f"--fsize={size}:"], check=True)

        limit(100_000)
        with self.assertRaises(grpc.RpcError) as raised:
            learn(server, memory, "More.", "x" * 15_000 + "y")
            for number in range(20):
                learn(server, memory, f"{number}", "x" * 15_000)
        self.assertEqual(raised.exception.code(), grpc.StatusCode.UNAVAILABLE)
        self.assertEqual(text_of(server, memory_ids=[memory]), "STORED")
        limit("unlimited")
        before = segments_of(server, memory)
        learn(server, memory, "Again.", "Wieder.")
        self.assertEqual(segments_of(server, memory), {**before, "Again.": "Wieder."})
        self.assertNotIn("store: ", server.http("/readyz")[2])

    def test_a_network_that_is_silent_delays_only_who_needs_the_store(self):
        database = Postgres(self)
        proxy = Proxy(self, database.port)
        server = server_with(self, database.url.replace(str(database.port), str(proxy.port)))
        memory = server.memories.CreateMemory(pb.CreateMemoryRequest(), timeout=60).id
        learn(server, memory, TEXT, "STORED")
        text_of(server)
        proxy.passes.clear()
        waiting = [server.memories.GetMemory.future(pb.GetMemoryRequest(id=memory), timeout=3) for _ in range(40)]
        for _ in range(20):
            start = time.monotonic()
            text_of(server)
            self.assertEqual(server.http("/healthz")[0], 200)
            self.assertLess(time.monotonic() - start, 2)
        for call in waiting:
            self.assertIn(call.exception(20).code(), (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED))
        proxy.passes.set()

        def is_used():
            try:
                return text_of(server, memory_ids=[memory]) == "STORED"
            except grpc.RpcError as error:
                self.assertEqual(error.code(), grpc.StatusCode.UNAVAILABLE)
                return False

        await_true(is_used, "the store is reached")
        await_true(lambda: "store: " not in server.http("/readyz")[2], "the store is no longer late")

    def test_who_waits_for_the_store_hears_at_once_that_it_is_late(self):
        server = server_with(self, self.file)
        memory = server.memories.CreateMemory(pb.CreateMemoryRequest(), timeout=60).id
        request = pb.LearnSegmentsRequest(id=memory, segments=[pb.MemorySegment(source="a", target="b")])
        with contextlib.closing(sqlite3.connect(f"{self.root}/store.db", isolation_level=None)) as database:
            database.execute("BEGIN IMMEDIATE")  # nobody else may write
            busy = [server.memories.LearnSegments.future(request, timeout=8) for _ in range(16)]  # for 8 threads
            time.sleep(0.5)
            start = time.monotonic()
            connection = http.client.HTTPConnection(server.http_address, timeout=60)
            connection.request("POST", f"/v1/memories/{memory}/segments",
                               '{"segments": [{"source": "c", "target": "d"}]}',
                               {"Content-Type": "application/json", "X-Request-Timeout": "0.3"})
            self.assertEqual(connection.getresponse().status, 504)
            self.assertLess(time.monotonic() - start, 3)
            connection.close()
            database.execute("ROLLBACK")
        self.assertEqual(max(each.result().version for each in busy), 17)
        self.assertEqual(segments_of(server, memory), {"a": "b"})

    def test_who_is_late_because_of_the_store_hears_so_at_every_door(self):
        database = Postgres(self)
        server = server_with(self, database.url)
        glossary = server.glossaries.CreateGlossary(pb.CreateGlossaryRequest(glossary=pb.Glossary(
            name="kept", dictionaries=[pb.GlossaryDictionary(source_language="en", target_language="de", entries=[
                pb.GlossaryEntry(source="house", targets=["Haus"])])])), timeout=60).id
        name = f"projects/p/locations/l/glossaries/{glossary}"
        request = pb.TranslateRequest(contents=[TEXT], source_language="en", target_language="de",
                                      glossary_ids=[glossary])
        of_file = pb.TranslateRequest(source_language="en", target_language="de", glossary_ids=[glossary])
        document = [pb.TranslateDocumentRequest(header=pb.DocumentHeader(file_name="a.txt", request=of_file)),
                    pb.TranslateDocumentRequest(chunk=TEXT.encode())]
        google = {method: server.channel.unary_unary(f"/google.cloud.translation.v3.TranslationService/{method}",
                                                     request_serializer=lambda message: message.SerializeToString())
                  for method in ("GetGlossary", "TranslateText")}
        rpcs = ((server.glossaries.GetGlossary, pb.GetGlossaryRequest(id=glossary)),
                (server.glossaries.DeleteGlossary, pb.DeleteGlossaryRequest(id=glossary)),
                (server.translation.Translate, request),
                (server.translation.TranslateStream, request),
                (server.translation.TranslateBulk, iter([pb.TranslateBulkRequest(id="1", request=request)])),
                (server.translation.TranslateDocument, iter(document)),
                (google["GetGlossary"], google_pb.GetGlossaryRequest(name=name)),
                (google["TranslateText"], google_pb.TranslateTextRequest(
                    contents=[TEXT], source_language_code="en", target_language_code="de",
                    glossary_config=google_pb.TranslateTextGlossaryConfig(glossary=name))))
        german = {"text": [TEXT], "source_lang": "EN", "target_lang": "DE", "glossary_id": glossary}
        paths = (("GET", f"/v1/glossaries/{glossary}", None), ("GET", f"/v3/{name}", None),
                 ("GET", f"/v3/glossaries/{glossary}", None), ("POST", "/v2/translate", german),
                 ("POST", "/v1/translate", json_format.MessageToDict(request)),
                 ("POST", "/v1/translate:stream", json_format.MessageToDict(request)))

        def call(rpc, given):
            with self.assertRaises(grpc.RpcError):
                list(rpc(given, timeout=0.5))

        def ask(method, path, body):
            connection = http.client.HTTPConnection(server.http_address, timeout=60)
            connection.request(method, path, body and json.dumps(body),
                               {"Content-Type": "application/json", "X-Request-Timeout": "0.5"})
            self.assertEqual(connection.getresponse().status, 504, path)
            connection.close()

        with database.lock("kept"), futures.ThreadPoolExecutor(4) as threads:
            for each in [*(threads.submit(call, *rpc) for rpc in rpcs), *(threads.submit(ask, *path) for path in paths)]:
                each.result()
        # Over gRPC a client that is late does not wait for the server's word.
        await_true(lambda: server.metrics()["dragoman_requests_in_flight"][()] == 0, "the calls have ended")
        ends = collections.Counter()
        for labels, number in server.metrics()["dragoman_requests_total"].items():
            ends[dict(labels)["code"]] += number
        late = ends.pop("DEADLINE_EXCEEDED")  # with items of the bulk call and the document
        self.assertGreaterEqual(late, len(rpcs) + len(paths))
        # The creation; and the bulk call, if the answer to its item overtakes its own deadline.
        self.assertEqual(set(+ends), {"OK"})
        self.assertLessEqual(ends["OK"], 2)

    def fail_while_writing(self, store, servers, fail):
        """Four writers learn; `fail` fails something again and again. All that was acknowledged is there, as a whole,
        and the versions of the acknowledgements grow."""
        memory = servers[0].memories.CreateMemory(pb.CreateMemoryRequest(), timeout=60).id
        acknowledged, lock, done = {}, threading.Lock(), threading.Event()

        def write(writer):
            number, version = 0, 0
            while not done.is_set():
                server = servers[(writer + number) % len(servers)]
                number += 1
                source = f"Writer {writer} sentence {number}."
                lesson = [pb.MemorySegment(source=f"{source} {part}", target=f"{number}") for part in "ab"]
                try:
                    answer = server.memories.LearnSegments(
                        pb.LearnSegmentsRequest(id=memory, segments=lesson), timeout=10)
                except grpc.RpcError:
                    time.sleep(0.01)
                    continue
                with lock:
                    acknowledged[source] = answer.version
                    if len(acknowledged) >= WRITES:
                        done.set()
                self.assertGreater(answer.version, version)
                version = answer.version

        writers = [threading.Thread(target=write, args=(writer,)) for writer in range(4)]
        for writer in writers:
            writer.start()
        try:
            while not done.wait(random.uniform(0.3, 1)):
                fail()
        finally:
            done.set()  # also when a failure has failed, or they would write for ever
            for writer in writers:
                writer.join()
        self.assertEqual(len(set(acknowledged.values())), len(acknowledged))
        server = server_with(self, store)
        found = segments_of(server, memory)
        for source in acknowledged:
            self.assertIn(f"{source} a", found)
        sources = {source[:-2] for source in found}
        self.assertEqual(set(found), {f"{source} {part}" for source in sources for part in "ab"})
        made = server.memories.GetMemory(pb.GetMemoryRequest(id=memory), timeout=60)
        self.assertEqual(made.segment_count, len(found))
        self.assertGreaterEqual(made.version, max(acknowledged.values()))
        print(f"{len(acknowledged)} writes acknowledged, {len(sources)} stored, version {made.version}")

    def test_nothing_acknowledged_is_lost_in_postgresql(self):
        database = Postgres(self)
        proxy = Proxy(self, database.port)
        url = database.url.replace(str(database.port), str(proxy.port))
        servers = [server_with(self, url) for _ in range(2)]

        def fail():
            kind = random.choice(("server", "database", "network"))
            if kind == "server":
                place = random.randrange(2)
                servers[place].kill()
                servers[place] = server_with(self, url)
            elif kind == "database":
                database.kill()
                database.start()
            else:
                proxy.passes.clear()
                time.sleep(0.5)
                proxy.passes.set()

        self.fail_while_writing(database.url, servers, fail)

    def test_nothing_acknowledged_is_lost_in_a_file(self):
        servers = [server_with(self, self.file) for _ in range(2)]

        def fail():
            place = random.randrange(2)
            servers[place].kill()
            servers[place] = server_with(self, self.file)

        self.fail_while_writing(self.file, servers, fail)

    def upload(self, server, path):
        """Uploads a file as DeepL's clients do; returns what names it."""
        ended = subprocess.run(["curl", "-s", f"http://{server.http_address}/v2/document", "-F", f"file=@{path}", "-F",
                                "source_lang=EN", "-F", "target_lang=DE"], capture_output=True, check=True, timeout=60)
        return json.loads(ended.stdout)

    def await_passages(self, server, before, query):
        """Waits until a server has stored some passages of a book, and not all of it.

        It stores them with its lease, every two seconds; those it sleeps, or the book would have to be long."""
        await_true(lambda: sentences(server) > before, "some passages are translated")
        server.process.send_signal(signal.SIGSTOP)
        time.sleep(3)  # and a second until it looks
        server.process.send_signal(signal.SIGCONT)
        end = time.monotonic() + 60
        while int(query("SELECT count(*) FROM document_passages")) == 0:  # without a pause: the book is short
            self.assertLess(time.monotonic(), end, "no passages are stored, or the book was too short")

    def ask(self, server, document, end=""):
        key = json.dumps({"document_key": document["document_key"]})
        with contextlib.closing(http.client.HTTPConnection(server.http_address, timeout=60)) as connection:
            connection.request("POST", f"/v2/document/{document['document_id']}{end}", key,
                               {"Content-Type": "application/json"})
            return connection.getresponse().read()

    def status(self, server, document):
        return json.loads(self.ask(server, document)).get("status")

    def book(self):
        path = os.path.join(self.root, "book.txt")
        # Without numbers, which a sentence may be searched again for.
        adjectives = "old", "new", "small", "big", "good", "bad", "young", "long", "white", "black"
        nouns = "teacher", "house", "cat", "dog", "book", "tree", "car", "man", "woman"
        with open(path, "w", encoding="utf-8") as file:
            for adjective, noun, other in itertools.product(adjectives, nouns, adjectives[:BOOK // 90]):
                file.write(f"The {adjective} {noun} is here, and the {other} cat is there.\n\n")
        return path

    def translated(self, server, path):
        """What a server that is not disturbed makes of the book."""
        StoreTest.wanted = StoreTest.wanted or subprocess.run(
            ["curl", "-s", f"http://{server.http_address}/v1/translate_file", "-F", f"file=@{path}", "-F",
             "source_language=en", "-F", "target_language=de"], capture_output=True, check=True, timeout=60).stdout
        return StoreTest.wanted

    def test_another_server_goes_on_with_a_document(self):
        path = self.book()
        database = Postgres(self)
        for store, query, end in ((self.file, self.query, "kill"), (database.url, database.query, "stop")):
            with self.subTest(store, end=end):
                one, two = (server_with(self, store, "--workers", "1") for _ in range(2))
                wanted = self.translated(one, path)
                before = sentences(one)
                document = self.upload(one, path)
                self.await_passages(one, before, query)
                getattr(one, end)()
                self.assertEqual(self.status(two, document), "translating")
                await_true(lambda: self.status(two, document) == "done", "the other server ends it")
                self.assertEqual(self.ask(two, document, "/result"), wanted)
                await_true(lambda: self.status(two, document) is None, "what was fetched is gone")
                # It has not begun again.
                self.assertLess(sentences(two), BOOK)
                self.assertEqual(two.stop(), 0)

    def balance(self, servers):
        """HAProxy as compose.yaml has it, in front of these servers; its addresses for gRPC and HTTP."""

        def lines(match):
            places = [server.grpc_address if match[1] == "50051" else server.http_address for server in servers]
            return "".join(f"  server {number} {place} {match[2]}{match[3]}\n".replace(
                "port 9464", "port " + servers[number].http_address.split(":")[1]) for number, place in enumerate(places))

        with open(os.path.join(SOURCE_DIR, "deploy/haproxy/compose.cfg"), encoding="utf-8") as file:
            config = re.sub(r"  server-template \w+ 3 \w+:(\d+) (.*) resolvers compose init-addr none(.*)\n", lines, file.read())
        addresses = []
        for port in ("50051", "9464"):
            addresses.append(f"127.0.0.1:{free_port()}")
            config = config.replace(f"bind :{port}", f"bind {addresses[-1]}")
        path = os.path.join(self.root, "haproxy.cfg")
        with open(path, "w", encoding="utf-8") as file:
            file.write(config)
        process = subprocess.Popen(["haproxy", "-db", "-f", path], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        await_true(lambda: self.status_code(f"http://{addresses[1]}/readyz") == "200", "HAProxy passes requests on")
        return addresses

    def status_code(self, url):
        return subprocess.run(["curl", "-s", "-o", "/dev/null", "-w", "%{http_code}", url], capture_output=True, text=True,
                              check=False, timeout=60).stdout

    def test_three_servers_behind_a_balancer_are_one(self):
        database = Postgres(self)
        servers = [server_with(self, database.url, "--workers", "1") for _ in range(3)]
        address, http_address = self.balance(servers)
        front = types.SimpleNamespace(http_address=http_address)

        def call(service, method, request):
            options = [("grpc.use_local_subchannel_pool", 1), ("grpc.enable_http_proxy", 0)]
            with grpc.insecure_channel(address, options) as channel:
                return getattr(getattr(pb_grpc, f"{service}ServiceStub")(channel), method)(request, timeout=60)

        memory = call("Memory", "CreateMemory", pb.CreateMemoryRequest()).id
        for turn in range(12):
            segment = pb.MemorySegment(source=TEXT, target=f"LEARNED {turn}")
            call("Memory", "LearnSegments", pb.LearnSegmentsRequest(id=memory, segments=[segment]))
            answer = call("Translation", "Translate", pb.TranslateRequest(contents=[TEXT], memory_ids=[memory]))
            self.assertEqual(answer.translations[0].hypotheses[0].text, f"LEARNED {turn}")
        for server in servers:
            self.assertGreater(sum(server.metrics()["dragoman_requests_total"].values()), 0)
        path = self.book()
        wanted = self.translated(front, path)
        before = {server: sentences(server) for server in servers}
        document = self.upload(front, path)
        await_true(lambda: any(sentences(server) > before[server] for server in servers), "a server has begun")
        server = max(servers, key=lambda server: sentences(server) - before[server])
        self.await_passages(server, before[server], database.query)
        server.kill()
        await_true(lambda: self.status(front, document) == "done", "another server ends it")
        self.assertEqual(self.ask(front, document, "/result"), wanted)

    def test_a_backup_is_restored_into_another_kind_of_store(self):
        server = server_with(self, self.file)
        memory = server.memories.CreateMemory(pb.CreateMemoryRequest(), timeout=60).id
        learn(server, memory, TEXT, "STORED")
        backup = os.path.join(self.root, "backup.db")
        self.assertIn("segments: 1 rows", self.dragoman("store", "backup", self.file, backup))
        self.assertIn("is there already", self.dragoman("store", "backup", self.file, backup, code=2))
        database = Postgres(self)
        self.assertIn("segments: 1 rows", self.dragoman("store", "restore", backup, database.url))
        self.assertIn("segments: 1 rows", self.dragoman("store", "check", database.url))
        self.assertIn("want an empty one", self.dragoman("store", "restore", backup, database.url, code=2))
        # A path that is mistyped is no empty store.
        nothing = os.path.join(self.root, "nothing.db")
        for command in (("check", f"sqlite:{nothing}"), ("backup", f"sqlite:{nothing}", f"{nothing}.backup"),
                        ("salvage", f"sqlite:{nothing}", f"{nothing}.mended"), ("restore", nothing, self.file)):
            self.assertIn("there is no such file", self.dragoman("store", *command, code=2))
        self.assertEqual([name for name in os.listdir(self.root) if name.startswith("nothing")], [])
        self.assertEqual(text_of(server_with(self, database.url), memory_ids=[memory]), "STORED")

    def test_a_damaged_file_is_refused_with_the_command_that_mends_it(self):
        server = server_with(self, self.file)
        memory = server.memories.CreateMemory(pb.CreateMemoryRequest(), timeout=60).id
        for start in range(0, 1000, 100):
            lesson = [pb.MemorySegment(source=f"Secret {i}.", target="Geheim.") for i in range(start, start + 100)]
            server.memories.LearnSegments(pb.LearnSegmentsRequest(id=memory, segments=lesson), timeout=60)
        self.assertEqual(server.stop(), 0)
        path = self.file.split(":")[1]
        with open(path, "r+b") as file:
            file.seek(os.path.getsize(path) // 2)
            file.write(b"\x55" * 2000)
        refused = subprocess.run([SERVER, *FLOAT32, "--store", self.file], capture_output=True, text=True, timeout=60)
        self.assertEqual(refused.returncode, 1)
        self.assertIn(f"{path} is damaged", refused.stderr)
        self.assertIn(f"dragoman store salvage {self.file} NEW-FILE", refused.stderr)
        self.assertNotIn("Secret", refused.stderr)
        mended = os.path.join(self.root, "mended.db")
        self.dragoman("store", "salvage", self.file, mended, code=None)
        server = server_with(self, f"sqlite:{mended}")
        self.assertGreater(len(segments_of(server, memory)), 500)

    def test_directories_of_older_servers_are_imported(self):
        glossaries, memories = (os.path.join(self.root, name) for name in ("glossaries", "memories"))
        os.mkdir(glossaries)
        os.mkdir(memories)
        for directory, name, text in (
                (glossaries, "g1.tsv", "# name: Houses\n# owner: alice\n# version: 3\n"
                                       "# languages: en de\nhouse\tHeim\n"),
                (glossaries, "bad.tsv", "\tHeim\n"),
                (memories, "m1.tsv", "# name: M\n# version: 1\n# languages: en de\nOne.\tEins.\n"
                                     "# learn: 1 2\nThe house is old.\tSTORED\n")):
            with open(os.path.join(directory, name), "w", encoding="utf-8") as file:
                file.write(text)
        imports = [SERVER, "--store", self.file, "--import-glossaries", glossaries, "--import-memories", memories]
        ended = subprocess.run(imports, capture_output=True, text=True, timeout=60)
        self.assertEqual(ended.returncode, 1)
        self.assertIn("glossary bad: NOT IMPORTED: line 1", ended.stdout)
        self.assertIn("glossary g1: 1 entries\ntranslation memory m1: 2 segments\n", ended.stdout)
        os.remove(os.path.join(glossaries, "bad.tsv"))
        ended = subprocess.run(imports, capture_output=True, text=True, timeout=60)
        self.assertEqual(ended.returncode, 0)
        self.assertIn("glossary g1: is in the store already", ended.stdout)
        server = server_with(self, self.file)
        self.assertEqual(text_of(server, memory_ids=["m1"]), "STORED")
        self.assertEqual(server.memories.GetMemory(pb.GetMemoryRequest(id="m1"), timeout=60).version, 2)


if __name__ == "__main__":
    unittest.main()
