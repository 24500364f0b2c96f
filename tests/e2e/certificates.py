"""Makes certificates for tests, with openssl."""

import base64
import datetime
import os
import subprocess
import tempfile
import time

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


# Tags of texts in a certificate, and of the kinds of subject alternative names.
UTF8, T61, UNIVERSAL, BMP = 0x0C, 0x14, 0x1C, 0x1E
EMAIL, DNS, DIRECTORY, URI, IP = 0x81, 0x82, 0xA4, 0x86, 0x87


def _der(tag, *parts):
    body = b"".join(parts)
    size = len(body).to_bytes((len(body).bit_length() + 7) // 8, "big")
    return bytes([tag]) + (size or b"\0" if len(body) < 128 else bytes([0x80 + len(size)]) + size) + body


def _sequence(*parts):
    return _der(0x30, *parts)


def _distinguished(tag, common_name):
    return _sequence(_der(0x31, _sequence(b"\x06\x03\x55\x04\x03", _der(tag, common_name))))


_ECDSA = _sequence(b"\x06\x08\x2a\x86\x48\xce\x3d\x04\x03\x02")
_SUBJECT_ALTERNATIVE_NAME = b"\x06\x03\x55\x1d\x11"


def _openssl(*arguments, **options):
    subprocess.run(["openssl", *arguments], check=True, capture_output=True, **options)


class Authority:
    """A certificate authority with its own directory, where the certificates that it signs are, too."""

    def __init__(self, name="test authority"):
        self.name = name
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

    def issue_encoded(self, file, common_name, names=()):
        """Makes a certificate and a key, as issue does, of any encoding: a common name is (tag, bytes) or None, and so
        are the subject alternative names."""
        key, public, body, signature, cert = (
            self.path(f"{file}.{kind}") for kind in ("key", "pub", "tbs", "sig", "pem"))
        _openssl("genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", key)
        _openssl("pkey", "-in", key, "-pubout", "-outform", "DER", "-out", public)
        now = datetime.datetime.now(datetime.timezone.utc)
        days = [_der(0x17, f"{now + datetime.timedelta(days=d):%y%m%d%H%M%SZ}".encode()) for d in (-1, 1)]
        extension = _sequence(_SUBJECT_ALTERNATIVE_NAME,
                              _der(0x04, _sequence(*[_der(tag, name) for tag, name in names])))
        signed = _sequence(
            _der(0xA0, b"\x02\x01\x02"), _der(0x02, time.time_ns().to_bytes(8, "big")), _ECDSA,
            _distinguished(UTF8, self.name.encode()), _sequence(*days),
            _distinguished(*common_name) if common_name else _sequence(), read(public),
            *([_der(0xA3, _sequence(extension))] if names else []))
        replace(body, signed)
        _openssl("dgst", "-sha256", "-sign", self.path("ca.key"), "-out", signature, body)
        whole = base64.encodebytes(_sequence(signed, _ECDSA, _der(0x03, b"\0", read(signature))))
        replace(cert, b"-----BEGIN CERTIFICATE-----\n" + whole + b"-----END CERTIFICATE-----\n")
        return cert, key


def read(path):
    with open(path, "rb") as file:
        return file.read()


def replace(path, content):
    """Replaces a file by another one atomically."""
    with open(path + ".new", "wb") as file:
        file.write(content)
    os.replace(path + ".new", path)
