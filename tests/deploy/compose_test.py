"""deploy/compose.yaml agrees with the files that it mounts and with the image.

The optional test checks the file against the compose-spec.json (schema/ of github.com/compose-spec/compose-spec) that
DRAGOMAN_COMPOSE_SCHEMA names.
"""

import json
import os
import re
import unittest

import files
from harness import MODEL, run_server
from suite import optional


class ComposeTest(unittest.TestCase):

    def setUp(self):
        self.services = files.read_yaml("compose.yaml")["services"]

    @optional
    def test_it_is_a_compose_file(self):
        import jsonschema  # python3-jsonschema
        with open(os.environ["DRAGOMAN_COMPOSE_SCHEMA"], encoding="utf-8") as file:
            jsonschema.Draft7Validator(json.load(file)).validate(files.read_yaml("compose.yaml"))

    def test_everything_mounted_exists(self):
        volumes = files.read_yaml("compose.yaml")["volumes"]
        for service in self.services.values():
            for volume in service.get("volumes", []):
                source = volume.split(":")[0]
                if source.startswith("."):
                    self.assertTrue(os.path.exists(os.path.join(files.DEPLOY, source)), source)
                else:
                    self.assertIn(source, volumes)

    def test_nothing_listens_beyond_this_machine(self):
        for service in self.services.values():
            for port in service.get("ports", []):
                self.assertTrue(port.startswith("127.0.0.1:"), port)

    def test_the_server_runs_as_in_production(self):
        server = self.services["dragoman"]
        self.assertTrue(server["read_only"])
        self.assertEqual(server["user"], "65532:65532")
        self.assertEqual(server["cap_drop"], ["ALL"])

    def test_prometheus_finds_the_server_and_its_rules(self):
        config = files.read_yaml("prometheus/prometheus.yml")
        self.assertEqual(sorted(config["rule_files"]),
                         sorted(os.path.basename(path) for path in files.RULE_FILES))
        scrape, = config["scrape_configs"]
        discovery, = scrape["dns_sd_configs"]
        self.assertEqual(scrape["job_name"], "dragoman")
        self.assertIn(discovery["names"][0], self.services)
        # On its own port, which is not published.
        metrics = self.services["dragoman"]["environment"]["DRAGOMAN_METRICS_ADDRESS"]
        self.assertEqual(metrics, f"0.0.0.0:{discovery['port']}")
        self.assertNotIn(str(discovery["port"]), " ".join(self.services["balancer"]["ports"]))

    def test_clients_of_this_machine_reach_grpc_and_http(self):
        self.assertEqual(self.services["balancer"]["ports"],
                         ["127.0.0.1:50051:50051", "127.0.0.1:9464:9464"])

    def test_the_server_takes_its_environment(self):
        variables = self.services["dragoman"]["environment"]
        ended = run_server("--model", f"en-de={MODEL}", "--check-config", env={**os.environ, **variables})
        self.assertEqual(ended.returncode, 0, ended)

    def test_grafana_is_provisioned(self):
        source, = files.read_yaml("grafana/provisioning/datasources/prometheus.yaml")["datasources"]
        self.assertEqual(source["url"], "http://prometheus:9090")
        interval = files.read_yaml("prometheus/prometheus.yml")["global"]["scrape_interval"]
        self.assertEqual(source["jsonData"]["timeInterval"], interval)
        provider, = files.read_yaml("grafana/provisioning/dashboards/dragoman.yaml")["providers"]
        mounted = [volume.split(":")[1] for volume in self.services["grafana"]["volumes"]]
        self.assertIn(os.path.join(provider["options"]["path"], "dashboard.json"), mounted)

    def test_one_version_everywhere(self):
        def read(path):
            with open(os.path.join(files.SOURCE_DIR, path), encoding="utf-8") as file:
                return file.read()

        version, = re.findall(r"project\(dragoman VERSION (\S+)", read("CMakeLists.txt"))
        self.assertIn(f"ARG VERSION={version}\n", read("Dockerfile"))
        self.assertEqual(self.services["dragoman"]["image"], f"dragoman:{version}")
        for path in ("base", "overlays/production"):
            images = files.read_yaml("kubernetes", path, "kustomization.yaml")["images"]
            self.assertEqual([i["newTag"] for i in images if i["name"] == "dragoman"], [version])


if __name__ == "__main__":
    unittest.main()
