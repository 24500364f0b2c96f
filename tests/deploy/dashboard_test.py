"""Every series that the dashboard, the rules and the adapter query is one that the server exports."""

import re
import unittest

import files
from certificates import Authority, read
from harness import FLOAT32, ServerTest, pb, pb_grpc

import grpc

# Labels that Prometheus adds to each series when it scrapes.
SCRAPE_LABELS = {"job", "instance"}


class ExportedSeriesTest(ServerTest):

    @classmethod
    def setUpClass(cls):
        cls.authority = Authority()
        cert, key = cls.authority.issue("server", "IP:127.0.0.1")
        cls.arguments = (*FLOAT32, "--tls-cert", cert, "--tls-key", key)
        super().setUpClass()
        cls.call()
        cls.exported = cls.server.metrics()
        cls.recorded = {rule["record"] for rule in files.rules() if "record" in rule}

    @classmethod
    def call(cls):
        """The series of a model begin with its first call."""
        credentials = grpc.ssl_channel_credentials(read(cls.authority.ca))
        request = pb.TranslateRequest(contents=["Good morning."])
        with grpc.secure_channel(cls.server.grpc_address, credentials) as channel:
            stub = pb_grpc.TranslationServiceStub(channel)
            stub.Translate(request, timeout=60)
            list(stub.TranslateStream(request, timeout=60))

    def assert_exported(self, query):
        known_labels = set(SCRAPE_LABELS)
        selectors = files.selectors(query)
        self.assertTrue(selectors, query)
        for metric, matchers in selectors:
            if metric == "up" or metric in self.recorded:
                known_labels.update(["model", "method", "code"])
                continue
            self.assertIn(metric, self.exported, query)
            series = [dict(labels) for labels in self.exported[metric]]
            known_labels.update(label for labels in series for label in labels)
            for label, operator, value in matchers:
                if label not in SCRAPE_LABELS:
                    self.assert_matches(series, label, operator, value, query)
        self.assertLessEqual(files.grouping_labels(query), known_labels, query)

    def assert_matches(self, series, label, operator, value, query):
        """Checks that each alternative of the matcher is the value of some series."""
        values = {labels[label] for labels in series if label in labels}
        self.assertTrue(values, f"no label {label}: {query}")
        if operator in ("=", "=~"):
            for alternative in value.split("|") if operator == "=~" else [re.escape(value)]:
                self.assertTrue(any(re.fullmatch(alternative, v) for v in values),
                                f"no {label} is {alternative}, there are {sorted(values)}: {query}")

    def test_every_query_of_the_dashboard(self):
        queries = files.dashboard_queries()
        self.assertGreater(len(queries), 30)
        for title, query in queries:
            with self.subTest(panel=title, query=query):
                self.assertNotIn("$", query.replace("$__rate_interval", ""))
                self.assert_exported(query)

    def test_no_panels_of_the_dashboard_overlap_or_share_an_id(self):
        panels = files.dashboard()["panels"]
        self.assertEqual(len({panel["id"] for panel in panels}), len(panels))
        taken = {}
        for panel in panels:
            place = panel["gridPos"]
            for x in range(place["x"], place["x"] + place["w"]):
                for y in range(place["y"], place["y"] + place["h"]):
                    self.assertEqual(taken.setdefault((x, y), panel["id"]), panel["id"], panel["title"])

    def test_every_variable_of_the_dashboard(self):
        for variable in files.dashboard()["templating"]["list"]:
            if variable["type"] == "query":
                query, label = re.fullmatch(r"label_values\((.*), (\w+)\)",
                                            variable["query"]["query"]).groups()
                with self.subTest(variable=variable["name"]):
                    self.assert_exported(f"sum by ({label}) ({query})")

    def test_every_rule(self):
        for rule in files.rules():
            with self.subTest(rule=rule.get("record") or rule["alert"]):
                self.assert_exported(rule["expr"])

    def test_every_custom_metric_of_the_autoscaler(self):
        for rule in files.read_yaml("prometheus/adapter.yaml")["rules"]["custom"]:
            with self.subTest(rule=rule["name"]["as"]):
                # namespace and pod come from Kubernetes' service discovery.
                series = re.sub(r"\{.*\}", "", rule["seriesQuery"])
                self.assertIn(series, self.exported)
                self.assertIn(series + "{<<.LabelMatchers>>", rule["metricsQuery"])

    def test_what_an_operator_asks_is_shown_and_explained(self):
        shown = " ".join(query for _, query in files.dashboard_queries())
        for metric in ("requests_total", "request_duration_seconds", "stage_duration_seconds",
                       "target_tokens_total", "batch_rows", "queue_requests", "kv_cache_bytes",
                       "cancelled_total", "rejected_total", "engine_busy_seconds_total",
                       "reload_failures_total", "certificate_not_after_timestamp_seconds", "model_stale",
                       "config_stale", "model_loads_total", "model_version_info",
                       "cache_lookups_total", "cache_bytes", "memory_matches_total", "glossary_terms_total", "time_to_first_text_seconds",
                       "http_responses_total", "http_connections", "http_connections_limit",
                       "http_connections_accepted_total", "http_connections_refused_total"):
            self.assertIn(f"dragoman_{metric}", shown)
        self.assertEqual(len({panel["id"] for panel in files.panels()}), len(files.panels()))
        for panel in files.panels():
            self.assertTrue(panel["description"], panel["title"])
            self.assertEqual(panel["datasource"]["uid"], "${datasource}")

    def test_alerts_watch_http(self):
        watched = " ".join(rule["expr"] for rule in files.rules() if "alert" in rule)
        for metric in ("http_responses_total", "http_connections_refused_total"):
            self.assertIn(f"dragoman_{metric}", watched)


if __name__ == "__main__":
    unittest.main()
