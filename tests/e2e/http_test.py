"""/metrics, /healthz and /readyz, as Prometheus and probes read them."""

import subprocess
import unittest

from harness import FLOAT32, ServerTest, pb, run_server, serve

import grpc


class HttpTest(ServerTest):

    def test_health_and_readiness(self):
        self.assertEqual(self.server.http("/healthz")[0], 200)
        self.assertEqual(self.server.http("/readyz")[0], 200)
        self.assertEqual(self.server.http("/nothing")[0], 404)

    def test_series_stand_at_zero_from_the_start(self):
        metrics = self.server.metrics()
        for name in ("dragoman_requests_in_flight", "dragoman_kv_cache_bytes"):
            self.assertEqual(metrics[name], {(): 0.0}, name)
        for name in ("dragoman_queue_requests", "dragoman_queue_tokens",
                     "dragoman_queue_oldest_age_seconds"):
            self.assertEqual(metrics[name], {(("priority", "interactive"),): 0.0,
                                             (("priority", "batch"),): 0.0}, name)
        for name in ("dragoman_requests_total", "dragoman_rejected_total",
                     "dragoman_invalid_total", "dragoman_cancelled_total",
                     "dragoman_finish_total", "dragoman_sentences_total"):
            self.assertIn(name, metrics)
        self.assertGreater(metrics["dragoman_kv_cache_capacity_bytes"][()], 0)
        self.assertEqual(list(metrics["dragoman_build_info"].values()), [1.0])
        self.assertEqual(list(metrics["dragoman_model_info"].values()), [1.0])

    def test_counts_what_happened(self):
        def value(metrics, name, **labels):
            return metrics[name][tuple(sorted(labels.items()))]

        self.server.translate("Hello")  # now the series of the model are there
        before = self.server.metrics()
        self.server.translate("Good morning.", "Where is the station?")
        self.assert_fails(grpc.StatusCode.INVALID_ARGUMENT, lambda: self.server.translate())
        after = self.server.metrics()

        def grown(name, **labels):
            return value(after, name, **labels) - value(before, name, **labels)

        call = {"method": "Translate", "model": "en-de"}
        self.assertEqual(grown("dragoman_requests_total", code="OK", **call), 1)
        self.assertEqual(grown("dragoman_request_duration_seconds_count", **call), 2)
        self.assertEqual(grown("dragoman_invalid_total", reason="contents"), 1)
        self.assertEqual(grown("dragoman_sentences_total"), 2)
        self.assertEqual(grown("dragoman_finish_total", reason="eos"), 2)
        self.assertEqual(grown("dragoman_source_characters_total"), 34)
        self.assertGreater(grown("dragoman_source_tokens_total"), 5)
        self.assertGreater(grown("dragoman_target_tokens_total"), 5)
        for stage in ("tokenize", "queue", "encode", "decode", "detokenize"):
            self.assertEqual(grown("dragoman_stage_duration_seconds_count", stage=stage,
                                   model="en-de"), 1)

    def test_no_label_holds_a_text(self):
        self.server.translate("A secret that nobody may read.")
        self.assertNotIn("secret", self.server.http("/metrics")[2])
        self.assertNotIn("secret", self.server.log_text())

    def test_promtool_finds_nothing_wrong(self):
        self.server.translate("Good morning.")
        check = subprocess.run(["promtool", "check", "metrics"], text=True, capture_output=True,
                               input=self.server.http("/metrics")[2])
        self.assertEqual((check.returncode, check.stdout, check.stderr), (0, "", ""))


class MetricsAddressTest(unittest.TestCase):

    def test_metrics_have_a_port_of_their_own(self):
        server = serve(self, *FLOAT32, "--metrics-address", "127.0.0.1:0")
        self.assertEqual([server.http(path)[0] for path in ("/metrics", "/healthz", "/readyz")],
                         [404, 200, 200])
        server.translate("Good morning.")
        server.http_address = server.metrics_address
        self.assertEqual([server.http(path)[0] for path in ("/healthz", "/readyz", "/v1/models", "/")],
                         [200, 200, 404, 404])
        metrics = server.metrics()
        self.assertEqual(metrics["dragoman_sentences_total"][()], 1)
        responses = {tuple(labels[key] for key in ("api", "path", "code")): value for labels, value in
                     ((dict(labels), value)
                      for labels, value in metrics["dragoman_http_responses_total"].items())}
        self.assertEqual(responses[("", "", "4xx")], 3)
        self.assertEqual(responses[("probes", "/readyz", "2xx")], 2)
        self.assertEqual(responses[("libretranslate", "/translate", "2xx")], 0)
        self.assertEqual(responses[("dragoman", "/v1/translate", "2xx")], 0)
        self.assertEqual(server.stop(), 0)

    def test_an_address_that_is_taken_ends_the_server(self):
        server = serve(self, *FLOAT32)
        ended = run_server(*FLOAT32, "--grpc-address", "127.0.0.1:0", "--http-address", "127.0.0.1:0",
                           "--metrics-address", server.http_address)
        self.assertEqual(ended.returncode, 1)
        self.assertIn(server.http_address, ended.stderr)


if __name__ == "__main__":
    unittest.main()
