"""Servers with the layout of the indexes of models that are not on the Hub.

Argos Translate: a JSON list of packages by languages, each with links to a zip.
Firefox (Mozilla's Remote Settings): GET / names the address of attachments, and the collection of
translations-models has a record for each file of each version.
"""

import contextlib
import hashlib
import http.server
import json
import threading


class FakeIndex:
    """Answers GET with the contents of `pages` by path, and counts what was asked for.

    A number stands for so many bytes from the one that is asked for, without their size.
    """

    def __init__(self):
        self.pages = {}
        self.asked = []
        index = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):  # the name that http.server calls
                index.asked.append(self.path)
                body = index.pages.get(self.path)
                if isinstance(body, int):
                    self.unannounced(body)
                    return
                self.send_response(200 if body is not None else 404)
                self.send_header("Content-Length", str(len(body or b"")))
                self.end_headers()
                self.wfile.write(body or b"")

            def unannounced(self, size):
                begin = int(self.headers.get("Range", "bytes=0-")[len("bytes="):-1])
                self.send_response(206 if begin > 0 else 200)
                if begin > 0:
                    self.send_header("Content-Range", f"bytes {begin}-{begin + size - 1}/*")
                self.send_header("Connection", "close")
                self.end_headers()
                with contextlib.suppress(ConnectionError):
                    self.wfile.write(bytes(size))

            def log_message(self, *arguments):
                pass

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def stop(self):
        self._server.shutdown()
        self._server.server_close()

    def argos(self, packages):
        """`packages`: (source, target, version, contents or None).  Returns the index's address."""
        entries = [{"package_version": "1.0", "from_code": "en", "to_code": "en", "type": "sbd",
                    "links": ["http://127.0.0.1:1/splitter"], "code": "sbd"}]
        for source, target, version, contents in packages:
            name = f"translate-{source}_{target}-{version.replace('.', '_')}.argosmodel"
            entries.append({"package_version": version, "argos_version": "1.9.0",
                            "from_code": source, "from_name": source, "to_code": target,
                            "to_name": target, "code": f"translate-{source}_{target}",
                            "links": ["ipfs://Qm", f"{self.url}/v1/{name}"]})
            if contents is not None:
                self.pages[f"/v1/{name}"] = contents
        self.pages["/index.json"] = json.dumps(entries).encode()
        return f"{self.url}/index.json"

    def firefox(self, records):
        """`records`: (source, target, version, kind, name, contents).  Returns the root's address."""
        data = []
        for number, (source, target, version, kind, name, contents) in enumerate(records):
            location = f"main-workspace/translations-models/{number}.bin"
            data.append({"name": name, "fromLang": source, "toLang": target, "version": version,
                         "fileType": kind, "schema": 1, "filter_expression": "", "id": str(number),
                         "attachment": {"hash": hashlib.sha256(contents).hexdigest(),
                                        "size": len(contents), "filename": name,
                                        "location": location,
                                        "mimetype": "application/octet-stream"}})
            self.pages[f"/attachments/{location}"] = contents
        base = {"capabilities": {"attachments": {"base_url": f"{self.url}/attachments/"}}}
        self.pages["/v1/"] = json.dumps(base).encode()
        self.pages["/v1/buckets/main/collections/translations-models/records"] = json.dumps(
            {"data": data}).encode()
        return f"{self.url}/v1"
