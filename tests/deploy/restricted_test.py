"""What a pod of Kubernetes allows, and what the systemd unit allows, is enough for all that the server does there.

The server runs with those restrictions, as far as they can be had without either: a root that is read-only but for the
volumes, or the unit's directories; the user; no capabilities.  In the pod also the limit of memory, and a network in
which nothing can be reached but a collector of traces: its ports are sockets from outside.  It translates a large file
and keeps a glossary.
"""

import fcntl
import http.client
import http.server
import json
import os
import re
import socket
import struct
import subprocess
import sys
import tempfile
import unittest

import files
from harness import BUILT_IN, SERVER, await_true, listening

# Everything is read-only but the directories of $WRITABLE, each with its size (0: any), and what the kernel has.  $TMP
# is in the place of /tmp, where this tree may be.
ENCLOSE = """set -e
mount --make-rprivate /
mount -t tmpfs tmpfs /run
mount -t tmpfs tmpfs /var/lib
for each in $WRITABLE; do
  mkdir -p "${each%=*}"
  mount -t tmpfs -o "size=${each#*=}" tmpfs "${each%=*}"
done
for closed in /run /var/lib /; do
  mount -o remount,bind,ro $closed || mount -o bind,ro $closed $closed
  if touch $closed/written-by-a-test 2>/dev/null; then exit 1; fi
done
if [ -n "$MEMORY" ]; then
  mount -t tmpfs tmpfs /sys/fs/cgroup
  echo $MEMORY > /sys/fs/cgroup/memory.max
fi
if [ -n "$COLLECTOR" ]; then
  [ -z "$(tail -n +2 /proc/net/route)" ]  # no route
  setpriv --pdeathsig KILL "$PYTHON" "$COLLECTOR" collect 5>&$PIPE &
  export LISTEN_PID=$$
  exec 3<&$GRPC 4<&$HTTP
fi
umask 0077
exec unshare --user --map-user=$ID --map-group=$ID setpriv --inh-caps=-all --bounding-set=-all --no-new-privs "$@"
"""


def read(path):
    with open(os.path.join(files.SOURCE_DIR, path), encoding="utf-8") as file:
        return file.read()


class Collector(http.server.BaseHTTPRequestHandler):
    """Takes spans, and writes a byte for each to a pipe."""

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        os.write(self.server.pipe, b"." * sum(len(scope["spans"]) for resource in body["resourceSpans"]
                                              for scope in resource["scopeSpans"]))
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, *args):
        pass


def collect(pipe):
    """In a network of its own, whose loopback is down."""
    with socket.socket() as any_socket:
        up = struct.pack("16sH14x", b"lo", 1)
        fcntl.ioctl(any_socket, 0x8914, up)  # SIOCSIFFLAGS
    with http.server.HTTPServer(("127.0.0.1", 4318), Collector) as server:
        server.pipe = pipe
        server.serve_forever()


class RestrictedTest(unittest.TestCase):

    def start(self, writable, user, *arguments, namespaces=(), pass_fds=(), **environment):
        tmp = self.enterContext(tempfile.TemporaryDirectory(dir=os.path.dirname(SERVER)))
        mounts = {directory.replace("/tmp", tmp): size for directory, size in writable.items()}
        process = subprocess.Popen(
            ["unshare", "--user", "--map-root-user", "--mount", *namespaces, "bash", "-c", ENCLOSE, "enclosed", SERVER,
             "--model", f"en-de-fr-es={BUILT_IN}", *arguments],
            env={**os.environ, "WRITABLE": " ".join(f"{key}={size}" for key, size in mounts.items()), "TMPDIR": tmp,
                 "ID": str(user), "MEMORY": "", "COLLECTOR": "", **environment},
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, pass_fds=pass_fds)
        self.addCleanup(lambda: (process.terminate(), process.communicate(timeout=60)))
        return process

    def call(self, address, method, path, body=None, content_type="application/json"):
        connection = http.client.HTTPConnection(address, timeout=60)
        connection.request(method, path, body, {"Content-Type": content_type})
        answer = connection.getresponse()
        read = answer.read()
        connection.close()
        return answer.status, read

    def translate_a_large_file_with_a_glossary(self, address):
        # 5 MB, most of which is not translated, so that it takes moments.
        document = "text,rest\r\nGood morning.,x\r\n" + "".join(
            f"{number},{'x' * 100}\r\n" for number in range(48_000))
        self.assertGreater(len(document), 5_000_000)
        form = ("--B\r\nContent-Disposition: form-data; name=\"target_language\"\r\n\r\nde\r\n"
                "--B\r\nContent-Disposition: form-data; name=\"column\"\r\n\r\ntext\r\n"
                "--B\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.csv\"\r\n\r\n"
                f"{document}\r\n--B--\r\n")
        status, answer = self.call(address, "POST", "/v1/translate_file", form, "multipart/form-data; boundary=B")
        self.assertEqual(status, 200, answer[:300])
        self.assertIn(b"Guten Morgen.", answer[:100])
        self.assertEqual(len(answer), len(document.encode()) + len("Guten Morgen.") - len("Good morning."))
        glossary = {"name": "terms", "dictionaries": [{"sourceLanguage": "en", "targetLanguage": "de", "entries": [
            {"source": "cat", "targets": ["Kater"]}]}]}
        status, answer = self.call(address, "POST", "/v1/glossaries", json.dumps(glossary))
        self.assertEqual(status, 200, answer)
        kept = json.loads(answer)
        self.assertFalse(kept.get("temporary", False))
        status, answer = self.call(address, "POST", "/v1/translate", json.dumps(
            {"contents": ["The cat is old."], "targetLanguage": "de", "glossaryIds": [kept["id"]]}))
        self.assertIn("Kater", json.loads(answer)["translations"][0]["hypotheses"][0]["text"])

    def status_of(self, process):
        with open(f"/proc/{process.pid}/status", encoding="utf-8") as file:
            return dict(line.rstrip("\n").split(":\t", 1) for line in file)

    def check_rights(self, process):
        status = self.status_of(process)
        self.assertEqual((int(status["CapPrm"], 16), int(status["CapEff"], 16), status["NoNewPrivs"]), (0, 0, "1"))

    def test_in_a_pod(self):
        pod = files.read_yaml("kubernetes/base/deployment.yaml")["spec"]["template"]["spec"]
        container, = pod["containers"]
        self.assertEqual(container["securityContext"], {
            "allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True, "capabilities": {"drop": ["ALL"]}})
        policy = files.read_yaml("kubernetes/base/network-policy.yaml")["spec"]
        self.assertEqual((policy["egress"], "Egress" in policy["policyTypes"]), ([], True))
        endpoint, = [each["value"] for each in files.read_yaml("kubernetes/components/traces/deployment.yaml")["spec"][
            "template"]["spec"]["containers"][0]["env"] if each["name"] == "DRAGOMAN_OTLP_ENDPOINT"]
        sizes = {volume["name"]: volume["emptyDir"]["sizeLimit"] for volume in pod["volumes"] if "emptyDir" in volume}
        volumes = {mount["mountPath"]: sizes[mount["name"]].removesuffix("i") for mount in container["volumeMounts"]
                   if mount["name"] in sizes}
        limit, = re.fullmatch(r"(\d+)Gi", container["resources"]["limits"]["memory"]).groups()
        memory = int(limit) << 30
        store, = re.findall(r"^ENV DRAGOMAN_STORE=(.*)$", read("Dockerfile"), re.MULTILINE)
        spans, pipe = os.pipe()
        self.addCleanup(os.close, spans)
        ports = [socket.create_server(("127.0.0.1", 0)) for _ in range(2)]
        handed = {name: fcntl.fcntl(fd, fcntl.F_DUPFD, 100) for name, fd in (
            ("GRPC", ports[0].fileno()), ("HTTP", ports[1].fileno()), ("PIPE", pipe))}
        process = self.start(volumes, pod["securityContext"]["runAsUser"],
                             "--otlp-endpoint", re.sub("//.*:", "//127.0.0.1:", endpoint), "--otlp-one-in", "1",
                             namespaces=["--net"], pass_fds=handed.values(), MEMORY=str(memory), COLLECTOR=__file__,
                             PYTHON=sys.executable, DRAGOMAN_STORE=store, LISTEN_FDS="2", LISTEN_FDNAMES="grpc:http",
                             **{name: str(fd) for name, fd in handed.items()})
        address = "{}:{}".format(*ports[1].getsockname())
        for fd in (*handed.values(), pipe, ports[0].detach(), ports[1].detach()):
            os.close(fd)
        await_true(lambda: self.call(address, "GET", "/readyz")[0] == 200, "it is ready")
        self.translate_a_large_file_with_a_glossary(address)
        self.assertIn(f"dragoman_memory_limit_bytes {memory}".encode(), self.call(address, "GET", "/metrics")[1])
        status = self.status_of(process)
        self.assertLess(int(status["VmHWM"].split()[0]) << 10, memory)
        self.check_rights(process)
        self.assertGreaterEqual(len(os.read(spans, 3)), 3)

    def test_as_a_unit_of_systemd(self):
        unit = dict(re.findall(r"^(\w+)=(.*)$", read("deploy/package/dragoman.service.in"), re.MULTILINE))
        self.assertEqual((unit["ProtectSystem"], unit["PrivateTmp"], unit["NoNewPrivileges"], unit["UMask"],
                          unit["CapabilityBoundingSet"]), ("strict", "yes", "yes", "0077", ""))
        state, run = f"/var/lib/{unit['StateDirectory']}", f"/run/{unit['RuntimeDirectory']}"
        store, = re.findall(r'^store: "(.*)"$', read("deploy/package/server.txtpb.in"), re.MULTILINE)
        admin, *_ = re.findall(r"--admin-address (unix:[^\s`,]+)", read("docs/admin.md"))
        self.assertTrue(store.startswith(f"sqlite:{state}/") and admin.startswith(f"unix:{run}/"), (store, admin))
        process = self.start({"/tmp": 0, state: 0, run: 0}, 999, "--store", store, "--admin-address", admin,
                             "--grpc-address", "127.0.0.1:0", "--http-address", "127.0.0.1:0")
        addresses = next(filter(None, map(listening, process.stdout)), None)
        self.assertIsNotNone(addresses, process.poll())
        self.translate_a_large_file_with_a_glossary(addresses[1])
        self.check_rights(process)


if __name__ == "__main__":
    collect(5) if sys.argv[1:] == ["collect"] else unittest.main()
