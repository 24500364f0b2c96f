"""The objects that kustomize builds from deploy/kubernetes, and whether they agree with the server.

The optional part needs kubectl 1.21 or kustomize.  DRAGOMAN_KUBERNETES_SCHEMA names the swagger.json (see
validate_kubernetes.py) that every object is checked against, and DRAGOMAN_KUBERNETES_CRDS CRD files, separated by
colons.
"""

import functools
import glob
import json
import os
import re
import shutil
import subprocess
import tempfile
import unittest

import grpc
import yaml

import files
from certificates import Authority, read
from harness import MODEL, Server
from suite import optional

OVERLAYS = os.path.join(files.DEPLOY, "kubernetes/overlays")
CONFIGS = glob.glob(os.path.join(files.DEPLOY, "kubernetes/**/server.txtpb"), recursive=True)
KUSTOMIZE = ["kustomize", "build"] if shutil.which("kustomize") else ["kubectl", "kustomize"]


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


def of_each_overlay(test):
    """Runs a test for every overlay with the pod of its Deployment."""
    @functools.wraps(test)
    def run(self):
        for name, pod in self.deployments.items():
            with self.subTest(overlay=name):
                test(self, name, pod, *pod["containers"])
    return run


class AlertsTest(unittest.TestCase):

    def test_the_rules_are_those_of_prometheus(self):
        path = os.path.join(OVERLAYS, "production/alerts.yaml")
        if os.environ.get("DRAGOMAN_WRITE_DOCS"):
            with open(path, "w", encoding="utf-8") as file:
                file.write(files.rule_object())
        with open(path, encoding="utf-8") as file:
            self.assertEqual(file.read(), files.rule_object())


@optional
class OverlaysTest(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        cls.overlays = {name: render(name) for name in sorted(os.listdir(OVERLAYS))}
        cls.deployments = {name: only(objects, "Deployment")["spec"]["template"]["spec"]
                           for name, objects in cls.overlays.items()}

    def config(self, name):
        return only(self.overlays[name], "ConfigMap")["data"]["server.txtpb"]

    def test_all_overlays_render(self):
        self.assertEqual(list(self.overlays), ["dev", "model-image", "model-volume", "production",
                                               "production-tls"])
        for name in ("model-image", "model-volume", "production", "production-tls"):
            self.assertEqual(sorted(thing["kind"] for thing in self.overlays[name]), [
                "ConfigMap", "Deployment", "HorizontalPodAutoscaler", "Namespace", *["NetworkPolicy"] * 3,
                "PodDisruptionBudget", "PrometheusRule", "Service", "Service", "ServiceAccount",
                "ServiceMonitor"])

    def test_alerts_link_to_where_the_annotation_says(self):
        rule = only(self.overlays["production"], "PrometheusRule")
        repository = rule["metadata"]["annotations"]["dragoman-repository"]
        links = [alert["annotations"]["runbook_url"] for group in rule["spec"]["groups"]
                 for alert in group["rules"] if "alert" in alert]
        self.assertGreater(len(links), 10)
        for link in links:
            self.assertRegex(link, f"^{re.escape(repository)}/docs/runbook.md#")

    def test_pods_may_call_what_their_components_need(self):
        ports = {port["port"] for thing in self.overlays["production"] if thing["kind"] == "NetworkPolicy"
                 for egress in thing["spec"].get("egress", []) for port in egress["ports"]}
        self.assertEqual(ports, {53, 5432})

    def test_every_component_composes_with_production(self):
        """All components at once: each adds its part, and none undoes another's."""
        components = os.path.join(files.DEPLOY, "kubernetes/components")
        chosen = set(os.listdir(components)) - {"model-volume"}  # an alternative to model-image
        with tempfile.TemporaryDirectory() as overlay:
            def beside(path):
                return os.path.relpath(path, os.path.realpath(overlay))
            with open(os.path.join(overlay, "kustomization.yaml"), "w", encoding="utf-8") as file:
                yaml.safe_dump({"kind": "Kustomization",
                                "resources": [beside(os.path.join(OVERLAYS, "production"))],
                                "components": [beside(os.path.join(components, name))
                                               for name in sorted(chosen)]}, file)
            objects = render(overlay)
        self.assertEqual({thing["metadata"]["namespace"] for thing in objects
                          if thing["kind"] != "Namespace"}, {"dragoman"})
        pod = only(objects, "Deployment")["spec"]["template"]["spec"]
        self.assertEqual({volume["name"] for volume in pod["volumes"]}, {"config", "models", "store", "tls", "tmp"})
        self.assertEqual(sorted(pod["nodeSelector"]), [
            "feature.node.kubernetes.io/cpu-cpuid.AVX512VNNI", "kubernetes.io/arch"])
        self.assertEqual(pod["nodeSelector"]["kubernetes.io/arch"], "arm64")
        self.assertEqual(pod["initContainers"][0]["image"], "registry.example.com/model-en-fr:1")

    @of_each_overlay
    def test_the_server_has_time_to_drain(self, name, pod, container):
        drain, = re.findall(r"drain_timeout \{ seconds: (\d+) \}", self.config(name))
        pause = container["lifecycle"]["preStop"]["sleep"]["seconds"]
        self.assertGreaterEqual(pod["terminationGracePeriodSeconds"], pause + int(drain) + 5)

    @of_each_overlay
    def test_probes_ask_for_what_the_server_answers(self, name, pod, container):
        with open(os.path.join(files.SOURCE_DIR, "proto/dragoman/v1/translation.proto"),
                  encoding="utf-8") as file:
            services = [f"dragoman.v1.{service}"
                        for service in re.findall(r"^service (\w+)", file.read(), re.M)]
        grpc_port, = re.findall(r'grpc_address: ".*:(\d+)"', self.config(name))
        http_port, = re.findall(r'http_address: ".*:(\d+)"', self.config(name))
        metrics_port, = re.findall(r'metrics_address: ".*:(\d+)"', self.config(name))
        ports = {port["name"]: port["containerPort"] for port in container["ports"]}
        self.assertEqual(ports, {"grpc": int(grpc_port), "http": int(http_port),
                                 "metrics": int(metrics_port)})
        probes = {name: container[name] for name in ("startupProbe", "readinessProbe",
                                                     "livenessProbe")}
        start = probes["startupProbe"]  # of a model of 3 GB, at 10 MB a second
        self.assertGreaterEqual(start["periodSeconds"] * start["failureThreshold"], 300)
        if "--tls-cert" in container["args"]:  # Kubernetes' gRPC probes do not support TLS
            self.assertFalse([probe for probe in probes.values() if "grpc" in probe])
            self.assertEqual([probe["httpGet"] for probe in probes.values()],
                             [{"path": path, "port": "http"}
                              for path in ("/readyz", "/readyz", "/healthz")])
            return
        self.assertEqual({probe["grpc"]["port"] for probe in probes.values()}, {int(grpc_port)})
        for name in ("startupProbe", "readinessProbe"):
            self.assertIn(probes[name]["grpc"]["service"], services)
        # All other services are NOT_SERVING during a drain; that must not kill the server.
        self.assertEqual(probes["livenessProbe"]["grpc"]["service"], "liveness")

    @of_each_overlay
    def test_cpu_and_memory_are_guaranteed(self, name, pod, container):
        for each in [container, *pod.get("initContainers", [])]:
            resources = each["resources"]
            self.assertEqual(resources["requests"], resources["limits"])
            self.assertRegex(resources["limits"]["cpu"], r"^\d+$")  # whole cores

    @of_each_overlay
    def test_the_pod_may_do_nothing_but_serve(self, name, pod, container):
        self.assertFalse(pod["automountServiceAccountToken"])
        self.assertTrue(pod["securityContext"]["runAsNonRoot"])
        self.assertEqual(pod["securityContext"]["runAsUser"], 65532)
        self.assertEqual(pod["securityContext"]["seccompProfile"], {"type": "RuntimeDefault"})
        for each in [container, *pod.get("initContainers", [])]:
            self.assertEqual(each["securityContext"], {
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
        # The operator copies it to the label `job`, which the rules select.
        self.assertEqual(service["metadata"]["name"], "dragoman")
        self.assertIn(monitor["endpoints"][0]["port"],
                      [port["name"] for port in service["spec"]["ports"]])

    def test_clients_reach_the_api_and_only_monitoring_the_metrics(self):
        for name, objects in self.overlays.items():
            with self.subTest(overlay=name):
                clients, monitoring = only(objects, "NetworkPolicy")["spec"]["ingress"]
                self.assertEqual([port["port"] for port in clients["ports"]], ["grpc", "http"])
                self.assertEqual([port["port"] for port in monitoring["ports"]], ["metrics"])
                self.assertEqual(monitoring["from"], [{"namespaceSelector": {
                    "matchLabels": {"kubernetes.io/metadata.name": "monitoring"}}}])
        monitor = only(self.overlays["production"], "ServiceMonitor")["spec"]
        self.assertEqual(monitor["endpoints"][0]["port"], "metrics")

    def test_ingress_and_gateway_lead_to_ports_of_the_service(self):
        service, = [thing for thing in self.overlays["production"] if thing["kind"] == "Service"
                    and thing["spec"].get("clusterIP") != "None"]
        ports = {port["name"]: port["port"] for port in service["spec"]["ports"]}
        ingress = files.read_yaml("kubernetes/components/ingress/ingress.yaml")["spec"]
        backend = ingress["rules"][0]["http"]["paths"][0]["backend"]["service"]
        self.assertEqual(backend, {"name": service["metadata"]["name"], "port": {"name": "http"}})
        self.assertEqual(ingress["tls"][0]["hosts"], [ingress["rules"][0]["host"]])
        path = os.path.join(files.DEPLOY, "kubernetes/components/gateway/routes.yaml")
        with open(path, encoding="utf-8") as file:
            routes = {route["kind"]: route["spec"] for route in yaml.safe_load_all(file)}
        for kind, port in (("HTTPRoute", "http"), ("GRPCRoute", "grpc")):
            backend, = routes[kind]["rules"][0]["backendRefs"]
            self.assertEqual(backend, {"name": service["metadata"]["name"], "port": ports[port]})

    def test_the_autoscaler_asks_for_metrics_that_the_adapter_makes(self):
        made = {rule["name"]["as"]
                for rule in files.read_yaml("prometheus/adapter.yaml")["rules"]["custom"]}
        asked = {metric["pods"]["metric"]["name"]
                 for metric in only(self.overlays["production"],
                                    "HorizontalPodAutoscaler")["spec"]["metrics"]
                 if metric["type"] == "Pods"}
        # By default only interactive requests add pods; batch work may wait.
        self.assertEqual(asked, {"dragoman_engine_interactive_ratio",
                                 "dragoman_interactive_queue_age_seconds"})
        self.assertEqual(made - asked, {"dragoman_batch_queue_age_seconds"})

    def test_batch_work_adds_no_pods(self):
        metrics = only(self.overlays["production"], "HorizontalPodAutoscaler")["spec"]["metrics"]
        self.assertEqual({metric["type"] for metric in metrics}, {"Pods"})  # not CPU
        rules = {rule["name"]["as"]: rule["metricsQuery"]
                 for rule in files.read_yaml("prometheus/adapter.yaml")["rules"]["custom"]}
        for metric in metrics:
            self.assertIn("interactive", rules[metric["pods"]["metric"]["name"]])

    def test_the_certificate_is_mounted_where_the_server_reads_it(self):
        pod = self.deployments["production-tls"]
        container, = pod["containers"]
        mount, = [m for m in container["volumeMounts"] if m["name"] == "tls"]
        volume, = [v for v in pod["volumes"] if v["name"] == "tls"]
        self.assertEqual(container["args"][2:],
                         ["--tls-cert", mount["mountPath"] + "/tls.crt",  # the names of a secret of type kubernetes.io/tls
                          "--tls-key", mount["mountPath"] + "/tls.key"])
        # The file belongs to root; only the server's group may read it.
        self.assertEqual(volume["secret"]["defaultMode"], 0o440)
        self.assertEqual(pod["securityContext"]["fsGroup"], pod["securityContext"]["runAsUser"])
        for service in self.overlays["production-tls"]:
            if service["kind"] == "Service":
                self.assertEqual(service["spec"]["ports"][0]["appProtocol"], "https")

    @of_each_overlay
    def test_models_come_from_what_is_mounted(self, name, pod, container):
        mounts = [mount["mountPath"] for mount in container["volumeMounts"]]
        for directory in re.findall(r'directory: "([^"]*)"', self.config(name)):
            built_in = directory == "/models/en-de-fr-es"
            self.assertTrue(built_in or any(directory.startswith(m + "/") for m in mounts),
                            directory)
            # A mount over /models would hide the built-in one.
            self.assertNotIn("/models", mounts)

    def test_the_corpus_job_goes_through_a_balancer_to_the_servers(self):
        objects = render("../jobs/corpus")
        self.assertEqual(sorted(thing["kind"] for thing in objects),
                         ["ConfigMap", "Deployment", "Job", "Service"])
        production = self.overlays["production"]
        namespace = only(production, "Deployment")["metadata"]["namespace"]
        self.assertEqual({thing["metadata"]["namespace"] for thing in objects}, {namespace})
        pod = only(objects, "Job")["spec"]["template"]
        container, = pod["spec"]["containers"]
        service, balancer = only(objects, "Service"), only(objects, "Deployment")
        # The job calls the balancer, which calls the headless service, and the policy allows that.
        port = service["spec"]["ports"][0]["port"]
        self.assertIn(f"--server={service['metadata']['name']}:{port}", container["args"])
        labels = balancer["spec"]["template"]["metadata"]["labels"]
        self.assertEqual(service["spec"]["selector"], labels)
        config = only(objects, "ConfigMap")["data"]["haproxy.cfg"]
        headless, = [thing for thing in production if thing["kind"] == "Service"
                     and thing["spec"].get("clusterIP") == "None"]
        self.assertIn(f'"{headless["metadata"]["name"]}.${{POD_NAMESPACE}}.svc.cluster.local:'
                      f'{headless["spec"]["ports"][0]["port"]}"', config)
        self.assertIn({"podSelector": {}},
                      only(production, "NetworkPolicy")["spec"]["ingress"][0]["from"])
        # The server's selectors must not match its pods.
        server = only(production, "Deployment")["spec"]["selector"]["matchLabels"]
        for others in (labels, pod["metadata"]["labels"]):
            self.assertFalse(server.items() <= others.items())
        # It runs an existing image and command, without any other privileges.
        self.assertEqual(container["image"],
                         only(production, "Deployment")["spec"]["template"]["spec"]["containers"][0]["image"])
        for spec in (pod["spec"], balancer["spec"]["template"]["spec"]):
            self.assertFalse(spec["automountServiceAccountToken"])
            self.assertTrue(spec["securityContext"]["runAsNonRoot"])
            self.assertTrue(spec["containers"][0]["securityContext"]["readOnlyRootFilesystem"])

    def test_every_object_against_the_schema(self):
        import validate_kubernetes  # needs python3-jsonschema
        crds = os.environ.get("DRAGOMAN_KUBERNETES_CRDS", "")
        schemas = validate_kubernetes.load(os.environ["DRAGOMAN_KUBERNETES_SCHEMA"], [path for path in crds.split(":") if path])
        for name, objects in [*self.overlays.items(), ("corpus", render("../jobs/corpus"))]:
            for thing in objects:
                with self.subTest(overlay=name, kind=thing["kind"]):
                    self.assertEqual(schemas.errors(thing), [])


class ConfigTest(unittest.TestCase):

    def test_haproxy_takes_the_balancer_of_the_corpus_job(self):
        path = os.path.join(files.DEPLOY, "kubernetes/jobs/corpus/haproxy.cfg")
        ended = subprocess.run(["haproxy", "-c", "-f", path], capture_output=True, text=True,
                               env=dict(os.environ, POD_NAMESPACE="dragoman"))
        self.assertEqual(ended.returncode, 0, ended.stderr)

    def test_a_server_starts_with_the_flags_of_the_tls_component(self):
        """Starts with the files of a secret of type kubernetes.io/tls, and its probes succeed."""
        authority = Authority()
        cert, key = authority.issue("server", "IP:127.0.0.1")
        patches = files.read_yaml("kubernetes/components/tls/kustomization.yaml")["patches"]
        args = [step["value"] for patch in patches for step in yaml.safe_load(patch.get("patch", "[]"))
                if step["path"].endswith("/args/-")]
        self.assertEqual(len(args), 4)
        secret = {"/etc/dragoman-tls/tls.crt": cert, "/etc/dragoman-tls/tls.key": key}
        server = Server("--model", f"en-de={MODEL}", *[secret.get(arg, arg) for arg in args],
                        credentials=grpc.ssl_channel_credentials(read(authority.ca)))
        self.assertEqual(server.http("/readyz")[0], 200)
        self.assertTrue(server.translate("Good morning.").translations[0].hypotheses[0].text)
        server.channel.close()
        self.assertEqual(server.stop(), 0)

    def test_every_config_serves_what_the_image_serves(self):
        with open(os.path.join(files.SOURCE_DIR, "Dockerfile"), encoding="utf-8") as file:
            command = re.search(r"^CMD (\[.*?\])", file.read(), re.M | re.S)[1].replace("\\\n", "")
        flags = json.loads(command)
        models = {tuple(value.split("=")) for flag, value in zip(flags, flags[1:]) if flag == "--model"}
        pivot = flags[flags.index("--pivot") + 1]
        for path in CONFIGS:
            with self.subTest(path=path), open(path, encoding="utf-8") as file:
                text = file.read()
                self.assertLessEqual(models, set(re.findall(r'name: "(.*?)" directory: "(.*?)"', text)))
                self.assertIn(f'\npivot: "{pivot}"\n', text)

    def test_a_server_starts_with_every_config(self):
        self.assertEqual(len(CONFIGS), 3)
        for path in CONFIGS:
            with self.subTest(path=path), tempfile.NamedTemporaryFile("w") as config:
                with open(path, encoding="utf-8") as file:
                    text = file.read()
                # Only the models are in another place than in a pod.
                config.write(re.sub(r'directory: "[^"]*"', f'directory: "{MODEL}"', text))
                config.flush()
                server = Server("--config", config.name, "--metrics-address", "127.0.0.1:0")
                server.channel.close()
                self.assertEqual(server.stop(), 0)


if __name__ == "__main__":
    unittest.main()
