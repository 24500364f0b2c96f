"""The rules, checked by promtool, and a real Prometheus that scrapes a server under load."""

import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import urllib.error
import urllib.parse
import urllib.request

import grpc
import yaml

import files
from certificates import Authority, read
from harness import CLIENT, MODEL, Server, free_port, pb

HERE = os.path.dirname(os.path.abspath(__file__))


class PromtoolTest(unittest.TestCase):

    def promtool(self, *arguments):
        ended = subprocess.run(["promtool", *arguments], cwd=HERE, text=True, capture_output=True)
        self.assertEqual(ended.returncode, 0, ended.stdout + ended.stderr)
        return ended.stdout

    def test_check_config_and_rules(self):
        self.promtool("check", "config", os.path.join(files.DEPLOY, "prometheus/prometheus.yml"))
        self.promtool("check", "rules", *files.RULE_FILES)

    def test_the_rules_do_what_they_say(self):
        self.promtool("test", "rules", "rules_test.yml")

    def test_every_rule_is_tested(self):
        with open(os.path.join(HERE, "rules_test.yml"), encoding="utf-8") as file:
            tests = yaml.safe_load(file)["tests"]
        fired = {case["alertname"] for test in tests for case in test.get("alert_rule_test", [])
                 if case["exp_alerts"]}
        asked = " ".join(case["expr"] for test in tests for case in test.get("promql_expr_test", []))
        for rule in files.rules():
            if "alert" in rule:
                self.assertIn(rule["alert"], fired)
            else:
                self.assertIn(rule["record"], asked)


class RunbookTest(unittest.TestCase):

    def test_every_alert_has_a_page_and_every_page_an_alert(self):
        with open(os.path.join(files.SOURCE_DIR, "docs/runbook.md"), encoding="utf-8") as file:
            headings = re.findall(r"^## (\w+)$", file.read(), re.M)
        alerts = {rule["alert"]: rule for rule in files.rules() if "alert" in rule}
        self.assertEqual(sorted(headings), sorted(alerts))
        for name, rule in alerts.items():
            self.assertEqual(rule["annotations"]["runbook_url"],
                             f"docs/runbook.md#{name.lower()}")


class Prometheus:
    """A Prometheus that scrapes one server each second and evaluates the rules of deploy/."""

    def __init__(self, target):
        self.directory = tempfile.TemporaryDirectory()
        config = files.read_yaml("prometheus/prometheus.yml")
        config["global"] = {"scrape_interval": "1s", "evaluation_interval": "1s"}
        config["rule_files"] = files.RULE_FILES
        config["scrape_configs"] = [{"job_name": config["scrape_configs"][0]["job_name"],
                                     "static_configs": [{"targets": [target]}]}]
        path = os.path.join(self.directory.name, "prometheus.yml")
        with open(path, "w", encoding="utf-8") as file:
            yaml.safe_dump(config, file)
        address = f"127.0.0.1:{free_port()}"
        self.url = f"http://{address}"
        self.opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with open(os.path.join(self.directory.name, "log"), "w", encoding="utf-8") as log:
            self.process = subprocess.Popen(
                ["prometheus", f"--config.file={path}", f"--web.listen-address={address}",
                 f"--storage.tsdb.path={self.directory.name}/data"],
                stdout=log, stderr=subprocess.STDOUT)

    def await_ready(self, timeout=300):
        deadline = time.monotonic() + timeout
        while True:
            try:
                with self.opener.open(f"{self.url}/-/ready", timeout=120):
                    return
            except urllib.error.URLError:  # not listening yet, or 503
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.1)  # the interval at which it looks

    def stop(self):
        self.process.terminate()
        self.process.wait(timeout=120)
        self.directory.cleanup()

    def get(self, path, **parameters):
        url = f"{self.url}/api/v1/{path}?{urllib.parse.urlencode(parameters)}"
        try:
            with self.opener.open(url, timeout=120) as response:
                return json.load(response)["data"]
        except urllib.error.HTTPError as error:
            raise AssertionError(f"{parameters}: {error.read().decode()}") from error

    def query(self, promql):
        """{labels as text: value} of an instant query."""
        result = self.get("query", query=promql)["result"]
        return {json.dumps(sample["metric"], sort_keys=True): float(sample["value"][1])
                for sample in result}

    def await_value(self, promql, wanted, timeout=300):
        """Waits until some sample of the query is `wanted`."""
        deadline = time.monotonic() + timeout
        last = None
        while time.monotonic() < deadline:
            last = self.query(promql)
            if any(wanted(value) for value in last.values()):
                return
            time.sleep(0.2)  # the interval at which it looks; Prometheus has a new value each second
        raise AssertionError(f"{promql} is still {last}")


class ScrapeTest(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        cls.authority = Authority()
        cert, key = cls.authority.issue("server", "IP:127.0.0.1")
        cls.server = Server("--model", f"en-de={MODEL}", "--workers", "2", "--tls-cert", cert,
                            "--tls-key", key,
                            credentials=grpc.ssl_channel_credentials(read(cls.authority.ca)))
        cls.prometheus = Prometheus(cls.server.http_address)
        cls.load = subprocess.Popen(
            [CLIENT, "load", "--server", cls.server.grpc_address, "--tls-ca", cls.authority.ca,
             "--rate", "50", "--beam-size", "4", "--duration", "3600"],
            stdout=subprocess.PIPE, text=True)
        cls.stopping = threading.Event()
        cls.mischief = threading.Thread(target=cls.make_mistakes)
        cls.mischief.start()
        try:
            cls.prometheus.await_ready()
            # Two scrapes with work between them, evaluated by the rules.
            cls.prometheus.await_value("dragoman:target_tokens:rate5m", lambda v: v > 0)
            cls.prometheus.await_value("sum(rate(dragoman_invalid_total[10s]))", lambda v: v > 0)
            cls.prometheus.await_value("dragoman:request_duration_seconds:p99_5m", lambda v: v > 0)
        except Exception:
            cls.tearDownClass()
            raise

    @classmethod
    def make_mistakes(cls):
        """Sends a few invalid calls and a few that are cancelled."""
        while not cls.stopping.wait(0.3):
            for call in (lambda: cls.server.translate(),
                         lambda: cls.server.translate("Where is the station?", timeout=0.002)):
                try:
                    call()
                except grpc.RpcError:
                    pass
            list(cls.server.translation.TranslateStream(
                pb.TranslateRequest(contents=["Where is the station?"])))

    @classmethod
    def tearDownClass(cls):
        cls.stopping.set()
        cls.mischief.join()
        cls.load.terminate()
        cls.load.communicate()
        cls.prometheus.stop()
        cls.server.channel.close()
        code = cls.server.stop()
        if code != 0:
            raise AssertionError(f"the server ended with exit code {code}")

    def values_of(self, promql):
        samples = self.prometheus.query(promql)
        self.assertTrue(samples, f"no data: {promql}")
        return list(samples.values())

    def test_every_query_of_the_dashboard_returns_data(self):
        for title, query in files.dashboard_queries(interval="10s"):
            with self.subTest(panel=title, query=query):
                values = self.values_of(query)
                self.assertFalse([v for v in values if v != v], f"not a number: {query}")
                shown = ", ".join(f"{value:.4g}" for value in values[:6])
                print(f"{title}: {shown}    {query}", file=sys.stderr)

    def test_what_is_under_load_is_not_zero(self):
        for query in ('sum(rate(dragoman_requests_total{code="OK"}[10s]))',
                      'sum(rate(dragoman_engine_busy_seconds_total[10s]))',
                      'max_over_time(dragoman_requests_in_flight[10s])',
                      'histogram_quantile(0.9, sum by (le) (rate(dragoman_batch_rows_bucket[10s])))',
                      'dragoman:memory:ratio'):
            with self.subTest(query=query):
                # A gauge may be zero whenever it is scraped.
                self.prometheus.await_value(query, lambda value: value > 0, timeout=60)

    def test_every_rule_is_evaluated_over_data(self):
        evaluated = {rule["name"]: rule for group in self.prometheus.get("rules")["groups"]
                     for rule in group["rules"]}
        for rule in files.rules():
            name = rule.get("record") or rule["alert"]
            with self.subTest(rule=name):
                self.assertEqual(evaluated[name]["health"], "ok", evaluated[name])
                if "record" in rule:
                    self.values_of(name)
                for metric, _ in files.selectors(rule["expr"]):
                    self.values_of(metric)

    def test_no_alert_fires(self):
        self.assertEqual(self.prometheus.query('ALERTS{alertstate="firing"}'), {})


if __name__ == "__main__":
    unittest.main()
