"""What the image, compose, Kubernetes and systemd allow is enough for all that the server does.

The server runs with those restrictions: a root that is read-only, a /tmp of the size that Kubernetes gives it, the
directories that the systemd unit gives it, no capabilities.  It translates a large file, keeps a glossary where the
package's configuration has it, listens where docs/admin.md says, and sends traces to a collector.
"""

import http.client
import http.server
import json
import os
import re
import subprocess
import tempfile
import threading
import unittest

import files
from harness import BUILT_IN, SERVER, await_true, listening

# In a mount namespace of its own: everything is read-only but $TMP, in the place of /tmp (where this tree may be), the
# directories of the unit and what the kernel has.
ENCLOSE = """set -e
mount --make-rprivate /
mount -t tmpfs -o size=$SIZE tmpfs "$TMP"
mount -t tmpfs tmpfs /run
mount -t tmpfs tmpfs /var/lib
for directory in $DIRECTORIES; do
  mkdir -p "$directory" "$TMP$directory"
  mount --bind "$TMP$directory" "$directory"
done
for closed in /run /var/lib /; do
  mount -o remount,bind,ro $closed || mount -o bind,ro $closed $closed
  if touch $closed/written-by-a-test 2>/dev/null; then exit 1; fi
done
exec setpriv --inh-caps=-all --bounding-set=-all --no-new-privs "$@"
"""


def read(path):
    with open(os.path.join(files.SOURCE_DIR, path), encoding="utf-8") as file:
        return file.read()


class Collector(http.server.BaseHTTPRequestHandler):
    """Takes spans."""
    spans = 0

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        Collector.spans += sum(len(scope["spans"]) for resource in body["resourceSpans"]
                               for scope in resource["scopeSpans"])
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, *args):
        pass


class RestrictedTest(unittest.TestCase):

    def tmp_size(self):
        """Of /tmp in the pod."""
        pod = files.read_yaml("kubernetes/base/deployment.yaml")["spec"]["template"]["spec"]
        size, = [volume["emptyDir"]["sizeLimit"] for volume in pod["volumes"] if volume["name"] == "tmp"]
        self.assertTrue(pod["containers"][0]["securityContext"]["readOnlyRootFilesystem"])
        self.assertEqual(pod["containers"][0]["securityContext"]["capabilities"], {"drop": ["ALL"]})
        number, = re.fullmatch(r"(\d+)Mi", size).groups()
        return f"{number}m"

    def directories(self):
        """That systemd makes for the server."""
        unit = dict(re.findall(r"^(\w+)=(.*)$", read("deploy/package/dragoman.service.in"), re.MULTILINE))
        self.assertEqual((unit["ProtectSystem"], unit["PrivateTmp"]), ("strict", "yes"))
        return [f"{root}/{unit[name]}" for root, name in (("/var/lib", "StateDirectory"), ("/run", "RuntimeDirectory"))]

    def start(self, *arguments):
        tmp = self.enterContext(tempfile.TemporaryDirectory(dir=os.path.dirname(SERVER)))
        store, = re.findall(r'^store: "(.*)"$', read("deploy/package/server.txtpb.in"), re.MULTILINE)
        admin, *_ = re.findall(r"--admin-address (unix:\S+)", read("docs/admin.md"))
        namespaces = ["unshare", "--user", "--map-root-user", "--mount"]
        process = subprocess.Popen(
            [*namespaces, "bash", "-c", ENCLOSE, "enclosed", SERVER, "--model", f"en-de-fr-es={BUILT_IN}",
             "--grpc-address", "127.0.0.1:0", "--http-address", "127.0.0.1:0",
             "--store", store, "--admin-address", admin.rstrip(",`"), *arguments],
            env={**os.environ, "DIRECTORIES": " ".join(self.directories()), "TMP": tmp, "TMPDIR": tmp,
                 "SIZE": self.tmp_size()},
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(lambda: (process.terminate(), process.communicate(timeout=60)))
        for line in process.stdout:
            if addresses := listening(line):
                return addresses[1]
        self.fail(process.communicate()[1])

    def call(self, address, method, path, body, content_type="application/json", **headers):
        connection = http.client.HTTPConnection(address, timeout=300)
        connection.request(method, path, body, {"Content-Type": content_type, **headers})
        answer = connection.getresponse()
        read = answer.read()
        connection.close()
        return answer.status, read

    def test_a_large_file_a_glossary_and_traces(self):
        collector = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Collector)
        self.addCleanup(collector.server_close)
        self.addCleanup(collector.shutdown)
        threading.Thread(target=collector.serve_forever, daemon=True).start()
        address = self.start("--otlp-endpoint", f"http://127.0.0.1:{collector.server_port}", "--otlp-one-in", "1")
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
        await_true(lambda: Collector.spans >= 3, "spans have reached the collector")


if __name__ == "__main__":
    unittest.main()
