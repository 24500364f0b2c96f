"""Makes certificates for tests, with openssl."""

import datetime
import os
import subprocess
import tempfile

_NEW_KEY = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes")


# `openssl ca` sets both ends of the validity in OpenSSL 3.0 and 3.5; `x509 -days -1` is refused by 3.5.
_CA_CONFIG = """
[ca]
default_ca = test
[test]
database = {directory}/index
new_certs_dir = {directory}
serial = {directory}/serial
default_md = sha256
policy = any
x509_extensions = names
unique_subject = no
[any]
commonName = supplied
[names]
authorityKeyIdentifier = keyid
subjectAltName = {subject_alternative_name}
"""


def _openssl(*arguments, **options):
    subprocess.run(["openssl", *arguments], check=True, capture_output=True, **options)


class Authority:
    """A certificate authority with its own directory, where the certificates that it signs are, too."""

    def __init__(self, name="test authority"):
        self.directory = tempfile.TemporaryDirectory()
        _openssl("req", "-x509", *_NEW_KEY, "-subj", f"/CN={name}", "-days", "2",
                 "-addext", "keyUsage=critical,keyCertSign,cRLSign",  # required by Python 3.13
                 "-keyout", self.path("ca.key"), "-out", self.path("ca.pem"))
        self.ca = self.path("ca.pem")
        with open(self.path("index"), "w", encoding="utf-8"):
            pass  # the database of `openssl ca`, empty

    def path(self, name):
        return os.path.join(self.directory.name, name)

    def issue(self, name, subject_alternative_name, days=1, new_key=_NEW_KEY):
        """Makes a certificate and a key; returns their paths.  If `days` is negative, it has expired."""
        key, request, cert, config = (
            self.path(f"{name}.{kind}") for kind in ("key", "csr", "pem", "cnf"))
        _openssl("req", *new_key, "-subj", f"/CN={name}", "-keyout", key, "-out", request)
        with open(config, "w", encoding="utf-8") as file:
            file.write(_CA_CONFIG.format(directory=self.directory.name,
                                         subject_alternative_name=subject_alternative_name))
        end = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(days=days)
        start = end - datetime.timedelta(days=10)
        _openssl("ca", "-batch", "-notext", "-create_serial", "-config", config, "-in", request,
                 "-cert", self.ca, "-keyfile", self.path("ca.key"), "-out", cert,
                 "-startdate", f"{start:%Y%m%d%H%M%SZ}", "-enddate", f"{end:%Y%m%d%H%M%SZ}")
        return cert, key


def read(path):
    with open(path, "rb") as file:
        return file.read()


def replace(path, content):
    """Replaces a file by another one atomically."""
    with open(path + ".new", "wb") as file:
        file.write(content)
    os.replace(path + ".new", path)
