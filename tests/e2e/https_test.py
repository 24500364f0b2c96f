"""TLS, client certificates, bearer tokens and their reload on the HTTP port: who gets in through which API, and which
errors the others get."""

import http.client
import json
import os
import socket
import ssl
import subprocess
import tempfile
import unittest

import grpc

import together
from certificates import BMP, DIRECTORY, DNS, IP, T61, UNIVERSAL, URI, UTF8, Authority, read, replace
from harness import await_true
from security_test import BLOG, OPTIONS, SHOP, SecurityTest, code_of, failures, translate

load_tests = together.load_tests

JSON = {"Content-Type": "application/json"}
BODY = {"contents": ["Good morning."]}
GERMAN = "Guten Morgen!"


def trust(ca, pair=None):
    """The TLS context of a client: the authority, and optionally a client certificate."""
    context = ssl.create_default_context(cafile=ca)
    if pair is not None:
        context.load_cert_chain(*pair)
    return context


class Client:
    """One connection, over TLS unless `context` is None."""

    def __init__(self, server, context=None):
        kind = http.client.HTTPConnection if context is None else http.client.HTTPSConnection
        options = {} if context is None else {"context": context}
        self.connection = kind(server.http_address, timeout=120, **options)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.connection.close()

    def ask(self, method, path, body=None, headers=()):
        """The code, headers and body of an answer."""
        data = None if body is None else body if isinstance(body, str) else json.dumps(body)
        self.connection.request(method, path, data, {**JSON, **dict(headers)})
        response = self.connection.getresponse()
        return response.status, response.headers, response.read().decode()

    def translate(self, **headers):
        return self.ask("POST", "/v1/translate", BODY, headers)

    def certificate(self):
        """Returns when the server's certificate expires."""
        self.connection.connect()
        return ssl.cert_time_to_seconds(self.connection.sock.getpeercert()["notAfter"])


def bearer(token):
    return {"Authorization": f"Bearer {token}"}


def texts(answer):
    return [t["hypotheses"][0]["text"] for t in json.loads(answer[2])["translations"]]


class HttpsTest(SecurityTest):

    @classmethod
    def setUpClass(cls):
        cls.authority = Authority()
        cls.stranger = Authority("another authority")
        cls.cert, cls.key = cls.authority.issue("server", "DNS:localhost,IP:127.0.0.1")

    def serve(self, *arguments, cert=None, key=None):
        return self.start("--tls-cert", cert or self.cert, "--tls-key", key or self.key, *arguments)

    def refused(self, server, context):
        """Whether a client gets no response: TLS 1.3 only fails after the handshake."""
        try:
            with Client(server, context) as client:
                client.translate()
        except (ssl.SSLError, ConnectionError, http.client.RemoteDisconnected):
            return True
        return False

    def test_tls_serves_who_knows_the_authority_and_nobody_else(self):
        server = self.serve()
        with Client(server, trust(self.authority.ca)) as client:
            for _ in range(2):  # the connection stays open
                answer = client.translate()
                self.assertEqual((answer[0], texts(answer)), (200, [GERMAN]))
            self.assertEqual(client.ask("POST", "/translate", "q=Good+morning.&source=en&target=de", {
                "Content-Type": "application/x-www-form-urlencoded"})[0], 200)
        self.assertTrue(self.refused(server, trust(self.stranger.ca)))
        wrong_name = trust(self.authority.ca)
        with socket.create_connection(server.http_address.split(":")) as plain:
            with self.assertRaises(ssl.SSLCertVerificationError):
                wrong_name.wrap_socket(plain, server_hostname="other.test")

    def test_events_stream_over_tls(self):
        server = self.serve()
        with Client(server, trust(self.authority.ca)) as client:
            code, headers, body = client.ask("POST", "/v1/translate:stream", BODY)
            self.assertEqual((code, headers["Content-Type"]), (200, "text/event-stream"))
            told = [json.loads(event.split("\ndata: ")[1])["stableText"]
                    for event in body.split("\n\n") if event.startswith("event: stable_text")]
            self.assertEqual("".join(told), GERMAN)
            self.assertIn("event: summary", body)

    def test_in_plain_text_only_probes_and_metrics_are_answered(self):
        server = self.serve("--compat", "libretranslate,deepl,google")
        with Client(server) as plain:
            for path in ("/healthz", "/readyz", "/metrics"):
                self.assertEqual(plain.ask("GET", path)[0], 200, path)
            for path in ("/", "/status", "/api", "/v1/models", "/openapi.json", "/languages", "/v2/usage",
                         "/translate", "/v1/translate"):
                self.assertEqual(plain.ask("GET", path)[0], 426, path)
            for path in ("/v1/translate", "/v1/translate:stream", "/translate", "/v2/translate",
                         "/language/translate/v2"):
                code, headers, body = plain.ask("POST", path, BODY)
                self.assertEqual((code, headers["Upgrade"]), (426, "TLS/1.2, HTTP/1.1"), path)
                self.assertNotIn("Guten", body)

    def test_mutual_tls_serves_who_shows_a_certificate_that_is_valid(self):
        server = self.serve("--tls-client-ca", self.authority.ca)
        shop = self.authority.issue("shop", "DNS:shop.test")
        with Client(server, trust(self.authority.ca, shop)) as client:
            self.assertEqual(texts(client.translate()), [GERMAN])
        server.await_log(" principal=shop.test ")
        for bad in (None, self.authority.issue("late", "DNS:late.test", days=-1),
                    self.stranger.issue("thief", "DNS:shop.test")):
            self.assertTrue(self.refused(server, trust(self.authority.ca, bad)), bad)
        with Client(server) as plain:
            self.assertEqual(plain.ask("GET", "/healthz")[0], 200)
            self.assertEqual(plain.translate()[0], 426)

    def test_sessions_of_mutual_tls_are_resumed(self):
        """As with browsers and connection pools, a second connection resumes the session without a certificate."""
        server = self.serve("--tls-client-ca", self.authority.ca)
        cert, key = self.authority.issue("shop", "DNS:shop.test")
        session = self.authority.path("session.pem")
        request = (f"POST /v1/translate HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
                   f"Connection: close\r\nContent-Length: {len(json.dumps(BODY))}\r\n\r\n"
                   f"{json.dumps(BODY)}").encode()
        for version in ("-tls1_2", "-tls1_3"):
            for reuse in (("-sess_out", session), ("-sess_in", session)):
                ended = subprocess.run(
                    ["openssl", "s_client", version, "-quiet", "-ign_eof", "-connect",
                     server.http_address, "-CAfile", self.authority.ca, "-cert", cert, "-key", key,
                     *reuse], input=request, capture_output=True, timeout=60)
                self.assertIn(b"200 OK", ended.stdout, (version, reuse, ended.stderr))
                self.assertIn(GERMAN.encode(), ended.stdout)
        shop = " principal=shop.test "
        self.assertEqual(server.await_log(shop, times=4).count(shop), 4)

    def test_older_versions_than_1_2_are_refused(self):
        server = self.serve()
        for version, served in (("-tls1_1", False), ("-tls1_2", True), ("-tls1_3", True)):
            ended = subprocess.run(
                ["openssl", "s_client", version, "-cipher", "DEFAULT@SECLEVEL=0", "-alpn",
                 "h2,http/1.1", "-connect", server.http_address], input=b"", capture_output=True,
                timeout=60)
            self.assertEqual(b"ALPN protocol: http/1.1" in ended.stdout, served, version)

    def test_a_new_certificate_is_for_new_connections(self):
        other = self.authority.issue("renewed", "IP:127.0.0.1", days=2)
        with tempfile.TemporaryDirectory() as directory:
            cert, key = os.path.join(directory, "tls.crt"), os.path.join(directory, "tls.key")
            replace(cert, read(self.cert))
            replace(key, read(self.key))
            server = self.serve(cert=cert, key=key)
            context = trust(self.authority.ca)

            def shown():
                with Client(server, context) as client:
                    return client.certificate()

            with Client(server, context) as old:
                served = old.certificate()
                before = failures(server, "certificates")
                replace(cert, b"no certificate")
                await_true(lambda: failures(server, "certificates") > before, "it was tried")
                self.assertEqual(shown(), served)
                replace(key, read(other[1]))
                replace(cert, read(other[0]))
                await_true(lambda: shown() > served + 80_000, "the new one is shown")
                self.assertEqual(texts(old.translate()), [GERMAN])

    def test_other_authorities_of_clients_need_no_restart(self):
        authorities = self.authority.path("clients.pem")
        replace(authorities, read(self.authority.ca))
        server = self.serve("--tls-client-ca", authorities)
        shop = trust(self.authority.ca, self.authority.issue("shop", "DNS:shop.test"))
        blog = trust(self.authority.ca, self.stranger.issue("blog", "DNS:blog.test"))
        self.assertFalse(self.refused(server, shop))
        self.assertTrue(self.refused(server, blog))
        replace(authorities, read(self.stranger.ca))
        await_true(lambda: not self.refused(server, blog), "the new authority is trusted")
        self.assertTrue(self.refused(server, shop))


class CertificateNameTest(SecurityTest):
    """A certificate names the same caller over both transports, or nobody may use it."""

    SHOP = (UTF8, b"shop")
    # The common name and the subject alternative names, and the caller; None: it is refused.
    NAMES = {
        "utf8": ((UTF8, "Müller".encode()), (), "Müller"),
        "bmp": ((BMP, "Müller".encode("utf-16-be")), (), "Müller"),
        "universal": ((UNIVERSAL, "Müller".encode("utf-32-be")), (), "Müller"),
        "t61": ((T61, "Müller".encode("latin-1")), (), "Müller"),
        "none": (None, (), ""),
        "empty": ((UTF8, b""), (), ""),
        "ip": (SHOP, [(IP, bytes([10, 1, 2, 3]))], "10.1.2.3"),
        "ip_first": (SHOP, [(DIRECTORY, b"\x30\0"), (IP, bytes(15) + b"\1"), (DNS, b"a.test")], "::1"),
        "uri": (None, [(URI, b"spiffe://a/shop")], "spiffe://a/shop"),
        "empty_host": (SHOP, [(DNS, b"")], "shop"),
        "space": ((UTF8, b"shop "), (), None),
        "wide_space": ((BMP, "\u3000shop".encode("utf-16-be")), (), None),
        "control": ((UTF8, b"sh\x01op"), (), None),
        "host_with_space": (SHOP, [(DNS, b" a.test")], None),
        "host_in_latin1": (SHOP, [(DNS, b"\xfc.test")], None),
        "ip_of_three": (SHOP, [(IP, b"abc")], None),
    }

    def principal(self, server, request_id):
        field = f'"request_id":"{request_id}"'
        line = next(line for line in server.await_log(field).splitlines() if field in line)
        return json.loads(line).get("principal", "")

    def test_a_caller_is_the_same_over_both_transports(self):
        authority = Authority()
        cert, key = authority.issue("server", "DNS:localhost,IP:127.0.0.1")
        server = self.start("--tls-cert", cert, "--tls-key", key, "--tls-client-ca", authority.ca, "--log-format",
                            "json", "--otlp-endpoint", "http://127.0.0.1:1", "--otlp-one-in", "1")
        for label, (common_name, names, wanted) in self.NAMES.items():
            pair = authority.issue_encoded(label, common_name, names)
            credentials = grpc.ssl_channel_credentials(read(authority.ca), read(pair[1]), read(pair[0]))
            over_grpc = grpc.StatusCode.UNAVAILABLE
            if label != "ip_of_three":  # gRPC 1.51 ends the process in the handshake (deploy/SECURITY.md)
                with grpc.secure_channel(server.grpc_address, credentials, OPTIONS) as channel:
                    over_grpc = code_of(lambda: translate(channel, [("x-request-id", f"grpc-{label}")]))
            with Client(server, trust(authority.ca, pair)) as client:
                over_http = client.translate(**{"x-request-id": f"http-{label}"})[0]
            if wanted is None:
                self.assertEqual(over_http, 401, label)
                # gRPC itself refuses some of them in the handshake.
                self.assertIn(over_grpc, (grpc.StatusCode.UNAUTHENTICATED, grpc.StatusCode.UNAVAILABLE), label)
                continue
            self.assertEqual((over_grpc, over_http), (grpc.StatusCode.OK, 200), label)
            for transport in ("grpc", "http"):
                self.assertEqual(self.principal(server, f"{transport}-{label}"), wanted, (transport, label))


class HttpTokenTest(SecurityTest):

    ALL = ("--compat", "libretranslate,deepl,google")

    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.tokens = os.path.join(directory.name, "tokens")
        replace(self.tokens, f"shop {SHOP}\n".encode())

    def test_every_api_wants_the_token_and_says_so_in_its_own_words(self):
        server = self.start("--auth-tokens", self.tokens, *self.ALL)
        deepl = {"text": ["Good morning."], "target_lang": "DE"}
        libre = {"q": "Good morning.", "source": "en", "target": "de"}
        google = {"q": "Good morning.", "target": "de"}
        pair = {"pairs": [{"source": "Good morning.", "target": GERMAN}]}
        calls = (  # method, path, body, code without a token, the token as this API shows it
            ("POST", "/v1/translate", BODY, 401, bearer),
            ("POST", "/v1/translate:stream", BODY, 401, bearer),
            ("POST", "/v1/score", pair, 401, bearer),
            ("POST", "/v1/tokenize", BODY, 401, bearer),
            ("GET", "/v1/models", None, 401, bearer),
            ("GET", "/v1/models/en-de", None, 401, bearer),
            ("POST", "/translate", libre, 403, bearer),
            ("POST", "/v2/translate", deepl, 403,
             lambda token: {"Authorization": f"DeepL-Auth-Key {token}"}),
            ("POST", "/language/translate/v2", google, 400, bearer))
        with Client(server) as client:
            for method, path, body, refusal, show in calls:
                for headers in ({}, show("x" * len(SHOP)), show(SHOP[:-1]), show(SHOP + "x"), show(""),
                                {"Authorization": f"Basic {SHOP}"}):
                    code, answer, said = client.ask(method, path, body, headers)
                    self.assertEqual(code, refusal, (path, headers, said))
                    self.assertIn("WWW-Authenticate" if code == 401 else "Content-Type", answer)
                    self.assertNotIn(SHOP, said)
                    self.assertTrue(json.loads(said), path)
                code, _, said = client.ask(method, path, body, show(SHOP))
                self.assertEqual(code, 200, (path, said))
        server.await_log(" principal=shop ")
        self.assertNotIn(SHOP, server.log_text())

    def test_what_the_older_apis_send_besides_a_header(self):
        server = self.start("--auth-tokens", self.tokens, *self.ALL)
        form = {"Content-Type": "application/x-www-form-urlencoded"}
        with Client(server) as client:
            for path, body in (
                    ("/translate", f"q=Good+morning.&source=en&target=de&api_key={SHOP}"),
                    ("/v2/translate", f"text=Good+morning.&target_lang=DE&auth_key={SHOP}"),
                    (f"/language/translate/v2?key={SHOP}", "q=Good+morning.&target=de")):
                code, _, said = client.ask("POST", path, body, form)
                self.assertEqual(code, 200, (path, said))
                self.assertIn(GERMAN, said)
                code, _, said = client.ask("POST", path.replace(SHOP, BLOG), body.replace(SHOP, BLOG),
                                           form)
                self.assertIn(code, (400,) if "API key not valid" in said else (401, 403), (path, said))
        self.assertNotIn(SHOP, server.log_text())

    def test_probes_metrics_and_the_pages_files_are_open(self):
        server = self.start("--auth-tokens", self.tokens)
        for path in ("/healthz", "/readyz", "/metrics", "/metrics/history", "/", "/status", "/api",
                     "/openapi.json"):
            self.assertEqual(server.http(path)[0], 200, path)

    def test_new_tokens_are_for_the_next_request_of_an_open_connection(self):
        server = self.start("--auth-tokens", self.tokens)
        with Client(server) as client:
            self.assertEqual(client.translate(**bearer(SHOP))[0], 200)
            before = failures(server, "tokens")
            replace(self.tokens, b"nobody\n")
            await_true(lambda: failures(server, "tokens") > before, "it was tried")
            self.assertEqual(client.translate(**bearer(SHOP))[0], 200)
            replace(self.tokens, f"blog {BLOG}\n".encode())
            await_true(lambda: client.translate(**bearer(BLOG))[0] == 200, "the new token is valid")
            self.assertEqual(client.translate(**bearer(SHOP))[0], 401)

    def test_a_quota_is_one_for_all_apis(self):
        replace(self.tokens, f"shop {SHOP} quota=1 burst=1\n".encode())  # one call puts it in debt for minutes
        server = self.start("--auth-tokens", self.tokens)
        with Client(server) as client:
            self.assertEqual(client.translate(**bearer(SHOP))[0], 200)  # on credit
            code, headers, said = client.translate(**bearer(SHOP))
            self.assertEqual(code, 429, said)
            self.assertGreater(int(headers["Retry-After"]), 0)
            self.assertIn("quota", json.loads(said)["message"])
            code, headers, said = client.ask("POST", "/translate", {
                "q": "Good morning.", "source": "en", "target": "de", "api_key": SHOP})
            self.assertEqual(code, 429, said)
            self.assertIn("error", json.loads(said))
            code, _, said = client.ask("GET", "/v2/usage", None, {"Authorization": f"DeepL-Auth-Key {SHOP}"})
            usage = json.loads(said)
            self.assertEqual((code, usage["character_count"], usage["character_limit"]), (200, 1, 1))


if __name__ == "__main__":
    unittest.main()
