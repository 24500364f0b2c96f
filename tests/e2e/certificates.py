"""Certificates for tests, made by openssl."""

import os
import subprocess
import tempfile

_NEW_KEY = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes")


def _openssl(*arguments, **options):
    subprocess.run(["openssl", *arguments], check=True, capture_output=True, **options)


class Authority:
    """An authority in a directory of its own; what it signs lies beside it."""

    def __init__(self, name="test authority"):
        self.directory = tempfile.TemporaryDirectory()
        _openssl("req", "-x509", *_NEW_KEY, "-subj", f"/CN={name}", "-days", "2",
                 "-keyout", self.path("ca.key"), "-out", self.path("ca.pem"))
        self.ca = self.path("ca.pem")

    def path(self, name):
        return os.path.join(self.directory.name, name)

    def issue(self, name, subject_alternative_name, days=1, new_key=_NEW_KEY):
        """The paths of a certificate and of its key.  It has expired if `days` is negative."""
        key, request, cert = (self.path(f"{name}.{kind}") for kind in ("key", "csr", "pem"))
        _openssl("req", *new_key, "-subj", f"/CN={name}", "-keyout", key, "-out", request)
        _openssl("x509", "-req", "-in", request, "-CA", self.ca, "-CAkey", self.path("ca.key"),
                 "-CAcreateserial", "-days", str(days), "-extfile", "/dev/stdin", "-out", cert,
                 input=f"subjectAltName={subject_alternative_name}".encode())
        return cert, key


def read(path):
    with open(path, "rb") as file:
        return file.read()


def replace(path, content):
    """Puts a file in the place of another at one stroke."""
    with open(path + ".new", "wb") as file:
        file.write(content)
    os.replace(path + ".new", path)
