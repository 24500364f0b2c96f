"""What kustomize makes of deploy/kubernetes, and that it agrees with the server.

DRAGOMAN_KUBERNETES_SCHEMA names a swagger.json (see validate_kubernetes.py) to check every object
against; DRAGOMAN_KUBERNETES_CRDS the CRD files, separated by colons.
"""

import os
import re
import shutil
import subprocess
import unittest

import yaml

import files

OVERLAYS = os.path.join(files.DEPLOY, "kubernetes/overlays")
SCHEMA = os.environ.get("DRAGOMAN_KUBERNETES_SCHEMA")
KUSTOMIZE = (["kubectl", "kustomize"] if shutil.which("kubectl") else
             ["kustomize", "build"] if shutil.which("kustomize") else None)


def render(overlay):
    """The objects of an overlay."""
    ended = subprocess.run([*KUSTOMIZE, os.path.join(OVERLAYS, overlay)], text=True,
                           capture_output=True)
    if ended.returncode != 0:
        raise AssertionError(f"{overlay}: {ended.stderr}")
    return list(yaml.safe_load_all(ended.stdout))


def only(objects, kind):
    found, = [thing for thing in objects if thing["kind"] == kind]
    return found


@unittest.skipUnless(KUSTOMIZE, "neither kubectl nor kustomize is installed")
class OverlaysTest(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        cls.overlays = {name: render(name) for name in sorted(os.listdir(OVERLAYS))}
        cls.deployments = {name: only(objects, "Deployment")["spec"]["template"]["spec"]
                           for name, objects in cls.overlays.items()}

    def each_server(self):
        for name, pod in self.deployments.items():
            container, = pod["containers"]
            with self.subTest(overlay=name):
                yield name, pod, container

    def config(self, name):
        return only(self.overlays[name], "ConfigMap")["data"]["server.txtpb"]

    def test_all_overlays_render(self):
        self.assertEqual(list(self.overlays), ["dev", "model-image", "model-volume", "production"])
        kinds = [thing["kind"] for thing in self.overlays["production"]]
        self.assertEqual(sorted(kinds), [
            "ConfigMap", "Deployment", "HorizontalPodAutoscaler", "Namespace", "NetworkPolicy",
            "PodDisruptionBudget", "Service", "Service", "ServiceAccount", "ServiceMonitor"])

    def test_the_server_has_time_to_drain(self):
        for name, pod, container in self.each_server():
            drain, = re.findall(r"drain_timeout \{ seconds: (\d+) \}", self.config(name))
            pause = container["lifecycle"]["preStop"]["sleep"]["seconds"]
            self.assertGreaterEqual(pod["terminationGracePeriodSeconds"], pause + int(drain) + 5)

    def test_probes_ask_for_what_the_server_answers(self):
        with open(os.path.join(files.SOURCE_DIR, "proto/dragoman/v1/translation.proto"),
                  encoding="utf-8") as file:
            services = [f"dragoman.v1.{name}" for name in re.findall(r"^service (\w+)", file.read(), re.M)]
        for name, _, container in self.each_server():
            grpc_port, = re.findall(r'grpc_address: ".*:(\d+)"', self.config(name))
            http_port, = re.findall(r'http_address: ".*:(\d+)"', self.config(name))
            ports = {port["name"]: port["containerPort"] for port in container["ports"]}
            self.assertEqual(ports, {"grpc": int(grpc_port), "http": int(http_port)})
            for probe in ("startupProbe", "readinessProbe"):
                self.assertEqual(container[probe]["grpc"]["port"], int(grpc_port))
                self.assertIn(container[probe]["grpc"]["service"], services)
            # gRPC health says NOT_SERVING while the server drains; that must not kill it.
            self.assertEqual(container["livenessProbe"]["httpGet"],
                             {"path": "/healthz", "port": "http"})

    def test_cpu_and_memory_are_guaranteed(self):
        for _, pod, _ in self.each_server():
            for container in pod["containers"] + pod.get("initContainers", []):
                resources = container["resources"]
                self.assertEqual(resources["requests"], resources["limits"])
                self.assertRegex(resources["limits"]["cpu"], r"^\d+$")  # whole cores

    def test_the_pod_may_do_nothing_but_serve(self):
        for _, pod, _ in self.each_server():
            self.assertFalse(pod["automountServiceAccountToken"])
            self.assertTrue(pod["securityContext"]["runAsNonRoot"])
            self.assertEqual(pod["securityContext"]["runAsUser"], 65532)
            self.assertEqual(pod["securityContext"]["seccompProfile"], {"type": "RuntimeDefault"})
            for container in pod["containers"] + pod.get("initContainers", []):
                self.assertEqual(container["securityContext"], {
                    "allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True,
                    "capabilities": {"drop": ["ALL"]}})

    def test_every_selector_finds_the_pods(self):
        for name, objects in self.overlays.items():
            labels = only(objects, "Deployment")["spec"]["template"]["metadata"]["labels"]
            for thing in objects:
                spec = thing.get("spec", {})
                selector = {"Service": lambda s: s["selector"],
                            "PodDisruptionBudget": lambda s: s["selector"]["matchLabels"],
                            "NetworkPolicy": lambda s: s["podSelector"]["matchLabels"],
                            }.get(thing["kind"])
                if selector:
                    with self.subTest(overlay=name, kind=thing["kind"]):
                        self.assertTrue(selector(spec))
                        self.assertLessEqual(selector(spec).items(), labels.items())

    def test_the_monitor_finds_one_service(self):
        objects = self.overlays["production"]
        monitor = only(objects, "ServiceMonitor")["spec"]
        wanted = monitor["selector"]["matchLabels"].items()
        service, = [thing for thing in objects if thing["kind"] == "Service"
                    and wanted <= thing["metadata"]["labels"].items()]
        # The operator makes it the label `job`, by which the rules know the servers.
        self.assertEqual(service["metadata"]["name"], "dragoman")
        self.assertIn(monitor["endpoints"][0]["port"],
                      [port["name"] for port in service["spec"]["ports"]])

    def test_the_autoscaler_asks_for_metrics_that_the_adapter_makes(self):
        made = {rule["name"]["as"]
                for rule in files.read_yaml("prometheus/adapter.yaml")["rules"]["custom"]}
        asked = {metric["pods"]["metric"]["name"]
                 for metric in only(self.overlays["production"],
                                    "HorizontalPodAutoscaler")["spec"]["metrics"]
                 if metric["type"] == "Pods"}
        self.assertEqual(asked, made)

    def test_models_come_from_what_is_mounted(self):
        for name, _, container in self.each_server():
            mounts = [mount["mountPath"] for mount in container["volumeMounts"]]
            for directory in re.findall(r'directory: "([^"]*)"', self.config(name)):
                embedded = directory == "/models/en-de"
                self.assertTrue(embedded or any(directory.startswith(m + "/") for m in mounts),
                                directory)
                # A mount over /models would hide the embedded one.
                self.assertNotIn("/models", mounts)

    @unittest.skipUnless(SCHEMA, "DRAGOMAN_KUBERNETES_SCHEMA is not set")
    def test_every_object_against_the_schema(self):
        import validate_kubernetes  # wants python3-jsonschema
        crds = os.environ.get("DRAGOMAN_KUBERNETES_CRDS", "")
        schemas = validate_kubernetes.load(SCHEMA, [path for path in crds.split(":") if path])
        for name, objects in self.overlays.items():
            for thing in objects:
                with self.subTest(overlay=name, kind=thing["kind"]):
                    self.assertEqual(schemas.errors(thing), [])


if __name__ == "__main__":
    unittest.main()
