#!/usr/bin/python3
"""Runs the `dragoman pull` of an image over https, as user 65532 in the image's file system.

    image_pull.py ROOT      as root; changes ROOT

A hub whose certificate authority is not in the image's bundle must be refused with a message that says so;
a hub whose authority is there must work.
"""

import glob
import os
import shutil
import subprocess
import sys

TREE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(TREE, "tests/e2e"))

from certificates import Authority  # noqa: E402
from fake_hub import FakeHub, Repository  # noqa: E402

BUNDLE = "etc/ssl/certs/ca-certificates.crt"
NAME = "Helsinki-NLP/opus-mt-en-fr"


def pull(root, endpoint):
    return subprocess.run(
        [shutil.which("chroot"), "--userspec=65532:65532", "--groups=", root, "/usr/bin/dragoman", "pull", NAME,
         "--directory", "/pulled/model"],
        env={"HF_ENDPOINT": endpoint, "HOME": "/", "no_proxy": "*"},
        capture_output=True, text=True, timeout=120, check=False)


def main():
    root = sys.argv[1]
    assert open(os.path.join(root, BUNDLE), encoding="utf-8").read().count("BEGIN CERTIFICATE") > 50
    os.mkdir(os.path.join(root, "pulled"))
    os.chown(os.path.join(root, "pulled"), 65532, 65532)
    authority = Authority()
    hub = FakeHub(authority)
    files = {}
    for path in glob.glob(os.path.join(TREE, "tests/golden/models/marian-trained/*")):
        with open(path, "rb") as file:
            files[os.path.basename(path)] = file.read()
    hub.repositories = {NAME: Repository(files)}
    endpoint = hub.url.replace("localhost", "127.0.0.1")
    refused = pull(root, endpoint)
    print("unknown authority:", refused.stderr.strip())
    assert refused.returncode != 0 and "certificate" in refused.stderr.lower(), refused
    with open(os.path.join(root, BUNDLE), "a", encoding="utf-8") as bundle:
        bundle.write(open(authority.ca, encoding="utf-8").read())
    pulled = pull(root, endpoint)
    assert pulled.returncode == 0, pulled.stderr
    assert os.path.exists(os.path.join(root, "pulled/model/model.safetensors"))
    print("authority in the bundle:", pulled.stdout.strip())
    hub.stop()


if __name__ == "__main__":
    main()
