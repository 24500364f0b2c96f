"""TLS, mutual TLS, bearer tokens and trace ids: who gets in, and which error codes the others get."""

import http.client
import json
import os
import signal
import subprocess
import tempfile
import time
import unittest

import grpc

import together
from certificates import Authority, read, replace
from harness import (CLIENT, FLOAT32, MODEL, Server, await_true, details_of, hold_call, pb, pb_grpc,
                     run_server)
from grpc.health.v1 import health_pb2, health_pb2_grpc  # on the path that the harness sets

load_tests = together.load_tests

SHOP, BLOG = "shop-token-0123456789", "blog-token-0123456789"
ONE_WORKER = (*FLOAT32, "--workers", "1")
OPTIONS = [("grpc.use_local_subchannel_pool", 1), ("grpc.enable_http_proxy", 0),
           ("grpc.enable_retries", 0)]


def bearer(token):
    return [("authorization", f"Bearer {token}")]


def translate(channel, metadata=None, timeout=120):
    request = pb.TranslateRequest(contents=["Good morning."])
    return pb_grpc.TranslationServiceStub(channel).Translate(request, metadata=metadata,
                                                             timeout=timeout)


def code_of(call):
    try:
        call()
    except grpc.RpcError as error:
        return error.code()
    return grpc.StatusCode.OK


def failures(server, what):
    """Returns how often changed files could not be read."""
    return server.metrics()["dragoman_reload_failures_total"][(("what", what),)]


# Of the table in deploy/SECURITY.md.
OPEN = {"/languages", "/translator/text/v3.0/languages", "/frontend/settings", "/health", "/download_file/*", "/spec",
        "/v2", "/v2/health/live", "/v2/health/ready"}
# Of docs/rights.md: these need a token, and no right.
OF_ANY_TOKEN = {"/sts/v1.0/issueToken", "/v2/document/*", "/v2/document/*/result"}
# These say what there is not.
NOTHING = {"/v2/**", "/v2/models", "/v2/health/**", "/v2/logging", "/v2/repository/**", "/v2/trace/**",
           "/v2/systemsharedmemory/**", "/v2/cudasharedmemory/**", "/v3/projects/**", "/v3/style_rules",
           "/v3/style_rules/**", "/v3/translation_memories/jobs/*/file"}


class SecurityTest(unittest.TestCase):

    def start(self, *arguments):
        server = Server(*ONE_WORKER, *arguments)
        self.addCleanup(lambda: self.assertEqual(server.stop(), 0))
        return server

    def command(self, server, *arguments, **environment):
        return subprocess.run([CLIENT, *arguments, "--server", server.grpc_address,
                               "--deadline", "10"], capture_output=True, text=True, timeout=60,
                              env={**os.environ, **environment})


class TlsTest(SecurityTest):

    @classmethod
    def setUpClass(cls):
        cls.authority = Authority()
        cls.stranger = Authority("another authority")
        cls.cert, cls.key = cls.authority.issue("server", "DNS:localhost,IP:127.0.0.1")

    def translates(self, server, ca, pair=(None, None), token=None):
        """Makes a call that trusts `ca`, with a certificate and a token; returns the code."""
        cert, key = (read(path) if path else None for path in pair)
        credentials = grpc.ssl_channel_credentials(read(ca), key, cert)
        with grpc.secure_channel(server.grpc_address, credentials, OPTIONS) as channel:
            return code_of(lambda: translate(channel, bearer(token) if token else None))

    def test_tls_serves_who_knows_the_authority_and_nobody_else(self):
        server = self.start("--tls-cert", self.cert, "--tls-key", self.key)
        self.assertEqual(self.translates(server, self.authority.ca), grpc.StatusCode.OK)
        self.assertEqual(self.translates(server, self.stranger.ca), grpc.StatusCode.UNAVAILABLE)
        with server.new_channel() as plain:
            self.assertEqual(code_of(lambda: translate(plain)), grpc.StatusCode.UNAVAILABLE)
        ended = self.command(server, "translate", "--tls-ca", self.authority.ca, "Good morning.")
        self.assertEqual((ended.returncode, ended.stdout, ended.stderr), (0, "Guten Morgen!\n", ""))
        ended = self.command(server, "health", DRAGOMAN_TLS_CA=self.authority.ca)
        self.assertEqual((ended.returncode, ended.stdout), (0, "SERVING\n"))
        for wrong in (("--tls-ca", self.stranger.ca),
                      ("--tls-ca", self.authority.ca, "--tls-server-name", "other.test"), ()):
            self.assertEqual(self.command(server, "health", *wrong).returncode, 3, wrong)

    def test_mutual_tls_serves_who_shows_a_certificate_that_is_valid(self):
        server = self.start("--tls-cert", self.cert, "--tls-key", self.key,
                            "--tls-client-ca", self.authority.ca)
        shop = self.authority.issue("shop", "DNS:shop.test")
        ca = self.authority.ca
        self.assertEqual(self.translates(server, ca, shop), grpc.StatusCode.OK)
        server.await_log(" principal=shop.test ")
        for bad in ((None, None), self.authority.issue("late", "DNS:late.test", days=-1),
                    self.stranger.issue("thief", "DNS:shop.test")):
            self.assertEqual(self.translates(server, ca, bad), grpc.StatusCode.UNAVAILABLE, bad)
        ended = self.command(server, "translate", "--tls-ca", ca, "--tls-cert", shop[0],
                             "--tls-key", shop[1], "Good morning.")
        self.assertEqual((ended.returncode, ended.stdout), (0, "Guten Morgen!\n"))

    def test_other_authorities_of_clients_need_no_restart(self):
        authorities = self.authority.path("clients.pem")
        replace(authorities, read(self.authority.ca))
        server = self.start("--tls-cert", self.cert, "--tls-key", self.key,
                            "--tls-client-ca", authorities)
        shop = self.authority.issue("shop", "DNS:shop.test")
        blog = self.stranger.issue("blog", "DNS:blog.test")
        ca = self.authority.ca
        self.assertEqual(self.translates(server, ca, shop), grpc.StatusCode.OK)
        replace(authorities, b"nobody")
        await_true(lambda: failures(server, "certificates") > 0, "it was tried")
        self.assertEqual(self.translates(server, ca, shop), grpc.StatusCode.OK)
        replace(authorities, read(self.stranger.ca))
        await_true(lambda: self.translates(server, ca, blog) == grpc.StatusCode.OK,
                   "the new authority is trusted")
        self.assertEqual(self.translates(server, ca, shop), grpc.StatusCode.UNAVAILABLE)

    def test_older_versions_than_1_2_are_refused(self):
        server = self.start("--tls-cert", self.cert, "--tls-key", self.key)
        for version, served in (("-tls1_1", False), ("-tls1_2", True), ("-tls1_3", True)):
            ended = subprocess.run(
                ["openssl", "s_client", version, "-cipher", "DEFAULT@SECLEVEL=0", "-alpn", "h2",
                 "-connect", server.grpc_address], input=b"", capture_output=True, timeout=60)
            self.assertEqual(b"ALPN protocol: h2" in ended.stdout, served, version)

    def test_expired_and_renewed_certificates_need_no_restart(self):
        old = self.authority.issue("old", "IP:127.0.0.1", days=-1)
        with tempfile.TemporaryDirectory() as directory:
            cert, key = os.path.join(directory, "tls.crt"), os.path.join(directory, "tls.key")
            replace(cert, read(old[0]))
            replace(key, read(old[1]))
            server = self.start("--tls-cert", cert, "--tls-key", key)
            self.assertEqual(self.translates(server, self.authority.ca),
                             grpc.StatusCode.UNAVAILABLE)
            replace(key, read(self.key))
            replace(cert, read(self.cert))
            await_true(lambda: self.translates(server, self.authority.ca) == grpc.StatusCode.OK,
                       "the new certificate is served")

    def test_broken_certificates_change_nothing_but_a_counter(self):
        other = self.authority.issue("another", "IP:127.0.0.1", days=2)
        with tempfile.TemporaryDirectory() as directory:
            cert, key = os.path.join(directory, "tls.crt"), os.path.join(directory, "tls.key")
            replace(cert, read(self.cert))
            replace(key, read(self.key))
            server = self.start("--tls-cert", cert, "--tls-key", key)
            served = self.not_after(server)
            self.assertAlmostEqual(served, time.time() + 86400, delta=600)
            for path, broken in ((cert, b"no certificate"), (key, read(other[1])), (cert, b"")):
                before = failures(server, "certificates")
                replace(path, broken)
                server.process.send_signal(signal.SIGHUP)  # it looks at once
                await_true(lambda: failures(server, "certificates") > before, "it was tried")
                self.assertEqual(self.translates(server, self.authority.ca), grpc.StatusCode.OK)
                reloads = server.log_text().count("certificates reloaded")
                replace(cert, read(self.cert))
                replace(key, read(self.key))
                server.process.send_signal(signal.SIGHUP)
                server.await_log("certificates reloaded", times=reloads + 1)  # it is well again
            server.await_log("certificates not reloaded")
            self.assertEqual(self.not_after(server), served)
            replace(cert, read(other[0]))
            replace(key, read(other[1]))
            await_true(lambda: self.not_after(server) > served + 80000, "the other one is served")
            self.assertEqual(self.translates(server, self.authority.ca), grpc.StatusCode.OK)

    def not_after(self, server):
        return server.metrics()["dragoman_certificate_not_after_timestamp_seconds"][()]

    def test_a_secret_that_kubernetes_swaps_is_one_change(self):
        """A volume's files are links through ..data, which is renamed over the old one."""
        other = self.authority.issue("swapped", "IP:127.0.0.1", days=2)
        with tempfile.TemporaryDirectory() as directory:
            for name, pair, token in (("old", (self.cert, self.key), SHOP), ("new", other, BLOG)):
                os.mkdir(os.path.join(directory, name))
                for file, content in (("tls.crt", read(pair[0])), ("tls.key", read(pair[1])),
                                      ("tokens", f"shop {token}\n".encode())):
                    replace(os.path.join(directory, name, file), content)
            os.symlink("old", os.path.join(directory, "..data"))
            for file in ("tls.crt", "tls.key", "tokens"):
                os.symlink(f"..data/{file}", os.path.join(directory, file))
            server = self.start("--tls-cert", os.path.join(directory, "tls.crt"),
                                "--tls-key", os.path.join(directory, "tls.key"),
                                "--auth-tokens", os.path.join(directory, "tokens"))
            ca, served = self.authority.ca, self.not_after(server)
            self.assertEqual(self.translates(server, ca, token=SHOP), grpc.StatusCode.OK)
            os.symlink("new", os.path.join(directory, "..data_tmp"))
            os.rename(os.path.join(directory, "..data_tmp"), os.path.join(directory, "..data"))
            await_true(lambda: self.not_after(server) > served, "the new certificate is served")
            await_true(lambda: self.translates(server, ca, token=BLOG) == grpc.StatusCode.OK,
                       "the new token is valid")
            self.assertEqual(self.translates(server, ca, token=SHOP),
                             grpc.StatusCode.UNAUTHENTICATED)
            self.assertEqual(failures(server, "certificates") + failures(server, "tokens"), 0)

    def test_files_that_cannot_be_used_end_the_server_and_the_command(self):
        other = self.authority.issue("other", "DNS:other.test")
        weak = self.authority.issue("weak", "DNS:weak.test", new_key=("-newkey", "rsa:1024", "-nodes"))
        for want, flags in (("/no/such/cert", ("--tls-cert", "/no/such/cert", "--tls-key", self.key)),
                            ("is not that of", ("--tls-cert", self.cert, "--tls-key", other[1])),
                            ("no private key", ("--tls-cert", self.cert, "--tls-key", self.cert)),
                            ("no certificate", ("--tls-cert", self.key, "--tls-key", self.key)),
                            ("key too small", ("--tls-cert", weak[0], "--tls-key", weak[1])),
                            ("without tls-key", ("--tls-cert", self.cert)),
                            ("no certificate", ("--tls-cert", self.cert, "--tls-key", self.key,
                                                "--tls-client-ca", self.key))):
            ended = run_server("--model", f"en-de={MODEL}", *flags)
            self.assertEqual((ended.returncode, ended.stdout), (1, ""), flags)
            self.assertIn(want, ended.stderr)
        for want, flags in (("/no/such/ca", ("--tls-ca", "/no/such/ca")),
                            ("no certificate", ("--tls-ca", self.key)),
                            ("go together", ("--tls-cert", self.cert)),
                            ("/no/such/token", ("--token-file", "/no/such/token"))):
            ended = subprocess.run([CLIENT, "health", *flags], capture_output=True, text=True)
            self.assertEqual(ended.returncode, 1, flags)
            self.assertIn(want, ended.stderr)


class TokenTest(SecurityTest):

    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.tokens = os.path.join(directory.name, "tokens")
        self.write(f"# who and what\nshop {SHOP}\n")

    def write(self, text):
        replace(self.tokens, text.encode())

    def reflects(self, server, version):
        """The code of a question to server reflection without a token."""
        reflect = server.channel.stream_stream(
            f"/grpc.reflection.{version}.ServerReflection/ServerReflectionInfo")
        return code_of(lambda: list(reflect(iter([b"\x3a\x01*"]), timeout=120)))

    def test_debug_services_tell_the_methods_to_everybody(self):
        server = self.start("--auth-tokens", self.tokens, "--debug-services", "true")
        for version in ("v1", "v1alpha"):
            self.assertEqual(self.reflects(server, version), grpc.StatusCode.OK)

    def test_a_token_opens_all_and_without_one_only_health_answers(self):
        server = self.start("--auth-tokens", self.tokens)
        closed = {
            "Translate": lambda **options: translate(server.channel, **options),
            "ListModels": lambda **options: server.models.ListModels(pb.ListModelsRequest(),
                                                                     **options),
            "GetModel": lambda **options: server.models.GetModel(pb.GetModelRequest(), **options),
        }
        for name, call in closed.items():
            for metadata in (None, bearer("x" * len(SHOP)), bearer(SHOP[:-1]), bearer(SHOP + "x"),
                             bearer(""), [("authorization", f"Basic {SHOP}")]):
                self.assertEqual(code_of(lambda: call(metadata=metadata)),
                                 grpc.StatusCode.UNAUTHENTICATED, (name, metadata))
            self.assertEqual(code_of(lambda: call(metadata=bearer(SHOP))), grpc.StatusCode.OK)
        score = server.translation.Score
        self.assertEqual(code_of(lambda: score(pb.ScoreRequest())), grpc.StatusCode.UNAUTHENTICATED)
        health = health_pb2_grpc.HealthStub(server.channel)
        self.assertEqual(health.Check(health_pb2.HealthCheckRequest()).status,
                         health_pb2.HealthCheckResponse.SERVING)
        for version in ("v1", "v1alpha"):
            self.assertEqual(self.reflects(server, version), grpc.StatusCode.UNIMPLEMENTED)

        self.assertEqual(self.command(server, "translate", "x").returncode, 2)
        ended = self.command(server, "translate", "Good morning.", DRAGOMAN_TOKEN=SHOP)
        self.assertEqual((ended.returncode, ended.stdout), (0, "Guten Morgen!\n"))
        self.assertIn("warning", ended.stderr)

        server.await_log("tokens without TLS")
        server.await_log(" principal=shop ")
        metrics = server.http("/metrics")[2]
        for secret in (SHOP, "x" * len(SHOP)):
            self.assertNotIn(secret, server.log_text() + metrics)
        self.assertIn('dragoman_rejected_total{reason="unauthenticated"} 20', metrics)

    def test_every_path_of_every_api_needs_a_right_or_is_open_in_the_table(self):
        self.write(f"shop {SHOP} methods=none\n")
        server = self.start("--auth-tokens", self.tokens)
        file = ("multipart/form-data; boundary=B", "--B\r\nContent-Disposition: form-data; name=\"file\"; "
                "filename=\"a.txt\"\r\n\r\nHi.\r\n--B\r\nContent-Disposition: form-data; name=\"document\"; "
                "filename=\"a.txt\"\r\n\r\nHi.\r\n--B--\r\n")

        def ask(verb, path, token):
            for content_type, body in (("application/json", "{}"), file):
                connection = http.client.HTTPConnection(server.http_address, timeout=60)
                connection.request(verb, path, body if verb[0] == "P" else None, {
                    "Content-Type": content_type, **({"Authorization": f"Bearer {token}"} if token else {})})
                code = connection.getresponse().status
                connection.close()
                if code != 415:
                    break
            return code

        routes = {(labels["api"], labels["path"]) for labels in
                  map(dict, server.metrics()["dragoman_http_responses_total"])} - {("", "")}
        unjudged = set()  # paths where nobody looks at the caller
        for api, path in sorted(routes):
            if api in ("probes", "page") or path == "/openapi.json":
                continue
            query = "?api-version=3.0&to=de" if api == "azure" else ""
            at = path.replace("**", "x").replace("*", "x") + query
            codes = {token: {ask(verb, at, token) for verb in ("GET", "POST", "PUT", "PATCH", "DELETE")}
                     for token in (None, SHOP)}
            if codes[SHOP] - {403, 405}:  # of any verb that there is
                unjudged.add(path)
            if path not in OPEN:
                self.assertGreaterEqual(min(codes[None]), 400, (api, path))
            if path not in OPEN | OF_ANY_TOKEN:
                self.assertGreaterEqual(min(codes[SHOP]), 400, (api, path))
        self.assertEqual(unjudged, OPEN | OF_ANY_TOKEN | NOTHING)

    def test_a_new_file_is_read_and_a_broken_one_is_not(self):
        server = self.start("--auth-tokens", self.tokens)

        def code(token):
            return code_of(lambda: translate(server.channel, bearer(token)))

        self.write(f"shop {BLOG}\n")
        await_true(lambda: code(BLOG) == grpc.StatusCode.OK, "the new token is valid")
        self.assertEqual(code(SHOP), grpc.StatusCode.UNAUTHENTICATED)
        self.write(f"shop {SHOP}\nshort {SHOP[:8]}\n")
        await_true(lambda: failures(server, "tokens") > 1, "the broken file is tried again")
        self.assertIn("line 2", server.await_log("tokens not reloaded"))
        self.assertEqual(server.log_text().count("tokens not reloaded"), 1)
        self.assertNotIn(SHOP[:8], server.log_text())
        self.assertEqual(code(BLOG), grpc.StatusCode.OK)
        self.assertEqual(code(SHOP), grpc.StatusCode.UNAUTHENTICATED)
        self.write(f"\ufeffshop {SHOP}\r\n\r\n")  # as an editor on Windows saves it
        server.await_log("line 1")  # a byte order mark is no principal
        self.write(f"shop {SHOP}\r\n\r\n")
        await_true(lambda: code(SHOP) == grpc.StatusCode.OK, "its line ends are")

    def test_a_principal_has_its_limit_and_takes_nothing_from_others(self):
        self.write(f"shop {SHOP}\nblog {BLOG}\n")
        server = self.start("--auth-tokens", self.tokens, "--max-requests-per-principal", "1")
        pending = hold_call(self, server, metadata=bearer(SHOP))
        with self.assertRaises(grpc.RpcError) as caught:
            translate(server.channel, bearer(SHOP))
        self.assertEqual(caught.exception.code(), grpc.StatusCode.RESOURCE_EXHAUSTED)
        self.assertGreater(details_of(caught.exception)["RetryInfo"].retry_delay.ToNanoseconds(), 0)
        self.assertEqual(code_of(lambda: translate(server.channel, bearer(BLOG), timeout=60)),
                         grpc.StatusCode.OK)
        pending.cancel()
        await_true(lambda: code_of(lambda: translate(server.channel, bearer(SHOP)))
                   == grpc.StatusCode.OK, "the place is free again")
        self.assertEqual(
            server.metrics()["dragoman_rejected_total"][(("reason", "queue_full"),)], 0)

    def test_a_principal_has_its_quota_and_takes_nothing_from_others(self):
        # The first call puts shop in debt for minutes.
        self.write(f"shop {SHOP} quota=1 burst=1\nblog {BLOG}\n")
        server = self.start("--auth-tokens", self.tokens)
        self.assertEqual(code_of(lambda: translate(server.channel, bearer(SHOP))),
                         grpc.StatusCode.OK)  # on credit
        with self.assertRaises(grpc.RpcError) as caught:
            translate(server.channel, bearer(SHOP))
        self.assertEqual(caught.exception.code(), grpc.StatusCode.RESOURCE_EXHAUSTED)
        self.assertIn("quota", caught.exception.details())
        self.assertGreater(details_of(caught.exception)["RetryInfo"].retry_delay.seconds, 0)
        self.assertEqual(code_of(lambda: translate(server.channel, bearer(BLOG))),
                         grpc.StatusCode.OK)
        self.assertEqual(server.metrics()["dragoman_rejected_total"][(("reason", "quota"),)], 1)
        self.assertIn("1 rows of work (about 1 words with a beam of 4)", caught.exception.details())
        line = server.await_log("RESOURCE_EXHAUSTED")
        self.assertRegex(line, "code=RESOURCE_EXHAUSTED reason=quota limit=quota_per_minute "
                               r"peer=ipv4:127\.0\.0\.1:\d+ .*principal=shop")

    def test_the_log_names_addresses_only_of_calls_that_failed_and_only_if_it_may(self):
        self.write(f"shop {SHOP}\n")
        for flags, said in ((), 1), (("--log-peers", "false"), 0):
            server = self.start("--auth-tokens", self.tokens, *flags)
            self.assertEqual(code_of(lambda: translate(server.channel, bearer("wrong" * 4))),
                             grpc.StatusCode.UNAUTHENTICATED)
            self.assertEqual(code_of(lambda: translate(server.channel, bearer(SHOP))),
                             grpc.StatusCode.OK)
            log = server.await_log("code=OK")
            self.assertEqual(log.count("reason=unauthenticated"), 1)
            self.assertEqual(log.count("peer="), said)

    def test_scoring_counts_against_the_quota(self):
        self.write(f"shop {SHOP} quota=1 burst=1\n")
        server = self.start("--auth-tokens", self.tokens)
        stub = pb_grpc.TranslationServiceStub(server.channel)
        pair = pb.ScorePair(source="The cat is old.", target="Die Katze ist alt.")

        def score():
            return stub.Score(pb.ScoreRequest(pairs=[pair] * 4), metadata=bearer(SHOP))

        self.assertEqual(code_of(score), grpc.StatusCode.OK)  # on credit
        self.assertEqual(code_of(score), grpc.StatusCode.RESOURCE_EXHAUSTED)

    def test_a_file_that_cannot_be_used_ends_the_server(self):
        for want, text in (("no token", "# nobody\n"), ("line 1", "shop\n"),
                           ("line 2", f"a {SHOP}\nb {SHOP}\n")):
            self.write(text)
            ended = run_server("--model", f"en-de={MODEL}", "--auth-tokens", self.tokens)
            self.assertEqual((ended.returncode, ended.stdout), (1, ""))
            self.assertIn(want, ended.stderr)
            self.assertNotIn(SHOP, ended.stderr)


class TraceTest(SecurityTest):

    def test_trace_and_request_ids_are_in_the_log_and_in_the_answer(self):
        server = self.start("--log-format", "json")
        trace, span = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
        stub = server.translation.Translate

        def request_id(metadata):
            _, call = stub.with_call(pb.TranslateRequest(contents=["Hello"]), metadata=metadata)
            return dict(call.trailing_metadata())["x-request-id"]

        mine = request_id([("traceparent", f"00-{trace}-{span}-01"), ("x-request-id", "order-17")])
        self.assertEqual(mine, "order-17")
        theirs = request_id([("traceparent", f"00-{trace}-{'0' * 16}-01"),
                             ("x-request-id", "not an id")])
        self.assertRegex(theirs, "^[0-9a-f]{32}$")
        with self.assertRaises(grpc.RpcError) as caught:
            stub(pb.TranslateRequest(), metadata=[("x-request-id", "order-18")])
        self.assertEqual(dict(caught.exception.trailing_metadata())["x-request-id"], "order-18")
        log = server.await_log('"request_id":"order-18"')
        logged = {line["request_id"]: line for line in map(json.loads, log.split("\n")[:-1])
                  if line["event"] == "request"}
        self.assertEqual((logged["order-17"]["trace_id"], logged["order-17"]["span_id"]),
                         (trace, span))
        self.assertNotIn("trace_id", logged[theirs])
        self.assertEqual(logged["order-18"]["code"], "INVALID_ARGUMENT")


if __name__ == "__main__":
    unittest.main()
