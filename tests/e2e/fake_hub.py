"""A server that behaves like the Hugging Face Hub, and a second one for its large files.

What a client that downloads sees of the Hub:
  - GET /api/models/OWNER/NAME/revision/REVISION?blobs=true lists the files of a commit.
  - GET /OWNER/NAME/resolve/COMMIT/FILE returns a small file directly.  For a file in Git LFS, it
    redirects to a signed URL on another host, with X-Linked-Etag and X-Linked-Size.
  - That host supports ranges and refuses requests with an Authorization header.
  - A repository that is private or missing gives 401 without a token, and 404 with one.
"""

import hashlib
import http.server
import json
import ssl
import threading
import urllib.parse


class Repository:
    """Files by name; those in `large` are in Git LFS."""

    def __init__(self, files, large=(), token=None, gated=False):
        self.files = dict(files)
        self.large = set(large)
        self.token = token
        self.gated = gated

    @property
    def commit(self):
        content = json.dumps({n: hashlib.sha1(c).hexdigest() for n, c in self.files.items()})
        return hashlib.sha1(content.encode()).hexdigest()

    def listing(self):
        siblings = []
        for name, content in sorted(self.files.items()):
            entry = {"rfilename": name, "size": len(content),
                     "blobId": hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()}
            if name in self.large:
                entry["blobId"] = "0" * 40  # the id of the pointer file, which clients cannot use
                entry["lfs"] = {"sha256": hashlib.sha256(content).hexdigest(),
                                "size": len(content), "pointerSize": 134}
            siblings.append(entry)
        return {"id": "x", "sha": self.commit, "siblings": siblings}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):  # the name that http.server calls
        with self.server.hub.lock:
            self.server.hub.requests.append((self.server.role, self.path, dict(self.headers)))
        path = urllib.parse.unquote(urllib.parse.urlsplit(self.path).path)
        failure = self.server.hub.next_failure(self.server.role, path)
        if isinstance(failure, int):
            self.answer(failure, b"", {})
        elif self.server.role == "cdn":
            self.large_file(path, failure)
        elif path.startswith("/api/models/"):
            self.listing(path)
        else:
            self.resolve(path, failure)

    def answer(self, status, body, headers, cut=None):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if cut is None:
            self.wfile.write(body)
        else:  # the connection breaks
            self.wfile.write(body[:cut])
            self.wfile.flush()
            self.close_connection = True

    def repository(self, name):
        """Returns the repository if the client may see it; otherwise sends the error."""
        repository = self.server.hub.repositories.get(name)
        token = self.headers.get("Authorization", "").removeprefix("Bearer ")
        if repository is None or repository.token not in (None, token):
            error = {"X-Error-Code": "RepoNotFound"}
            self.answer(404 if token and repository is None else 401, b"{}", error)
            return None
        return repository

    def listing(self, path):
        name, _, revision = path.removeprefix("/api/models/").partition("/revision/")
        repository = self.repository(name)
        if repository is None:
            return
        if revision not in ("main", "v1", repository.commit):
            self.answer(404, b"{}", {"X-Error-Code": "RevisionNotFound"})
            return
        self.answer(200, json.dumps(repository.listing()).encode(), {})

    def resolve(self, path, failure):
        name, _, rest = path[1:].partition("/resolve/")
        commit, _, file = rest.partition("/")
        repository = self.repository(name)
        if repository is None:
            return
        if repository.gated:
            self.answer(403, b"{}", {"X-Error-Code": "GatedRepo"})
        elif commit != repository.commit or file not in repository.files:
            self.answer(404, b"{}", {"X-Error-Code": "EntryNotFound"})
        elif file in repository.large:
            content = repository.files[file]
            self.answer(302, b"", {
                "Location": f"{self.server.hub.cdn_url}/{name}/{file}?signature=x",
                "X-Repo-Commit": commit, "X-Linked-Size": str(len(content)),
                "X-Linked-Etag": f'"{hashlib.sha256(content).hexdigest()}"'})
        else:
            self.ranged(repository.files[file], failure)

    def large_file(self, path, failure):
        if "Authorization" in self.headers:
            self.answer(400, b"one way to sign in is enough", {})
            return
        name, _, file = path[1:].rpartition("/")
        self.ranged(self.server.hub.repositories[name].files[file], failure)

    def ranged(self, content, failure):
        if failure == "corrupt":
            content = b"#" * len(content)
        cut = failure[1] if isinstance(failure, tuple) else None
        etag = {"ETag": f'"{hashlib.md5(content).hexdigest()}"', "Accept-Ranges": "bytes"}
        wanted = self.headers.get("Range")
        if wanted is None or failure == "no ranges":
            self.answer(200, content, etag, cut)
            return
        begin = int(wanted.removeprefix("bytes=").removesuffix("-"))
        if begin >= len(content):
            self.answer(416, b"", {"Content-Range": f"bytes */{len(content)}"})
            return
        etag["Content-Range"] = f"bytes {begin}-{len(content) - 1}/{len(content)}"
        self.answer(206, content[begin:], etag, cut)

    def log_message(self, *arguments):
        pass


class FakeHub:
    """Both servers, over TLS, with certificates from an Authority (certificates.py)."""

    def __init__(self, authority):
        self.repositories = {}
        self.requests = []  # (role, path, headers) of each
        self.lock = threading.Lock()
        self._failures = {}
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*authority.issue("hub", "DNS:localhost,IP:127.0.0.1"))
        self._servers = []
        urls = []
        for role, host in (("hub", "localhost"), ("cdn", "127.0.0.1")):
            server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
            server.socket = context.wrap_socket(server.socket, server_side=True)
            server.hub, server.role, server.daemon_threads = self, role, True
            threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
            self._servers.append(server)
            urls.append(f"https://{host}:{server.server_port}")
        self.url, self.cdn_url = urls

    def fail(self, role, end_of_path, *failures):
        """Sets the results of the next requests for a path: a status, ("cut", bytes), "corrupt",
        "no ranges", or None for a correct response."""
        self._failures[(role, end_of_path)] = list(failures)

    def next_failure(self, role, path):
        with self.lock:
            for (of, end), failures in self._failures.items():
                if of == role and path.endswith(end) and failures:
                    return failures.pop(0)
        return None

    def asked_for(self, role="hub"):
        """The names of the requested files, in order."""
        return [urllib.parse.urlsplit(path).path.rsplit("/", 1)[-1]
                for of, path, _ in self.requests if of == role and "/api/" not in path]

    def stop(self):
        for server in self._servers:
            server.shutdown()
            server.server_close()
