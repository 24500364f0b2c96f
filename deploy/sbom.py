#!/usr/bin/python3
"""Writes what the image is made of (a software bill of materials, CycloneDX 1.5) into its root, where scanners find it:

    deploy/sbom.py ROOT       writes ROOT/usr/share/doc/dragoman/sbom.cdx.json

Its components are the two programs, the Debian packages of the shared libraries (ROOT/var/lib/dpkg/status.d), the
Debian packages whose headers and static libraries became a part of the programs (the section "build" of
cmake/debian-packages.txt, and what they bring along), data of others in the source, and the models.  The same root
gives the same bytes; with SOURCE_DATE_EPOCH they contain a time.
"""

import datetime
import glob
import hashlib
import json
import os
import re
import subprocess
import sys
import urllib.parse

SOURCE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FILE = "usr/share/doc/dragoman/sbom.cdx.json"

# What the source tree has from elsewhere: the file, its name, the licence, where it is from.
PARTS = (
    ("engine/base/html_entities.inc", "html-named-character-references", "CC-BY-4.0",
     "https://html.spec.whatwg.org/multipage/named-characters.html"),
)
MODEL_LICENSE = "CC-BY-4.0"  # models/en-de-fr-es/README.md


def parse_status(text):
    """The fields of one package of dpkg's status, without continued lines."""
    return dict(re.findall(r"^([A-Za-z-]+): (.*)$", text, re.MULTILINE))


def distribution():
    with open("/etc/os-release", encoding="utf-8") as file:
        fields = dict(re.findall(r'^(\w+)="?([^"\n]*)"?$', file.read(), re.MULTILINE))
    return f'{fields["ID"]}-{fields.get("VERSION_ID", "unstable")}'


def package_url(status):
    """https://github.com/package-url/purl-spec: scanners look up the package, and its source, by it."""
    source = re.match(r"(\S+)(?: \((.*)\))?$", status.get("Source", status["Package"]))
    upstream = source[1] + (f"@{source[2]}" if source[2] else "")
    def quoted(text):
        return urllib.parse.quote(text, safe="")
    qualifiers = {"arch": status["Architecture"], "distro": distribution(), "upstream": upstream}
    pairs = "&".join(f"{key}={quoted(value)}" for key, value in qualifiers.items())
    return f'pkg:deb/debian/{quoted(status["Package"])}@{quoted(status["Version"])}?{pairs}'


def package(status, linked):
    url = package_url(status)
    return {"type": "library", "bom-ref": url, "name": status["Package"], "version": status["Version"], "purl": url,
            "properties": [{"name": "dragoman:linked", "value": linked}]}


def installed(names):
    """dpkg's status of those of the packages that this machine has."""
    asked = subprocess.run(["dpkg-query", "--status", *sorted(names)], capture_output=True, text=True, check=False)
    found = [parse_status(text) for text in asked.stdout.split("\n\n") if text]
    return [status for status in found if status.get("Status", "").endswith(" installed")]


def built_in():
    """The packages whose code the compiler put into the programs."""
    with open(os.path.join(SOURCE, "cmake/debian-packages.txt"), encoding="utf-8") as file:
        names = set(re.findall(r"^build (\S+-dev)$", file.read(), re.MULTILINE))
    for status in installed(names):  # some of which only depend on the one with the headers
        depends = re.findall(r"(?:^|, )([a-z0-9.+-]+)", status.get("Depends", ""))
        names.update(name for name in depends if name.endswith("-dev"))
    return sorted(installed(names), key=lambda status: status["Package"])


def file_component(kind, root, path, name, version, license_id=None, origin=None):
    with open(os.path.join(root, path), "rb") as file:
        digest = hashlib.sha256(file.read()).hexdigest()
    component = {"type": kind, "bom-ref": f"file:/{path}", "name": name, "version": version,
                 "hashes": [{"alg": "SHA-256", "content": digest}]}
    if license_id:
        component["licenses"] = [{"license": {"id": license_id}}]
    if origin:
        component["externalReferences"] = [{"type": "website", "url": origin}]
    return component


def components(root, version):
    for program in ("dragoman-server", "dragoman"):
        yield file_component("application", root, f"usr/bin/{program}", program, version, "Apache-2.0")
    for path in sorted(glob.glob(os.path.join(root, "var/lib/dpkg/status.d/*"))):
        with open(path, encoding="utf-8") as file:
            yield package(parse_status(file.read()), "shared")
    for status in built_in():
        yield package(status, "built in")
    for path, name, license_id, origin in PARTS:
        yield file_component("data", SOURCE, path, name, version, license_id, origin)
    for path in sorted(glob.glob(os.path.join(root, "models/*/model.safetensors"))):
        path = os.path.relpath(path, root)
        yield file_component("machine-learning-model", root, path, path.split("/")[1], version, MODEL_LICENSE)


def bill(root):
    with open(os.path.join(SOURCE, "CMakeLists.txt"), encoding="utf-8") as file:
        version = re.search(r"project\(dragoman VERSION (\S+)", file.read())[1]
    made_of = list(components(root, version))
    metadata = {"component": {"type": "container", "bom-ref": "dragoman", "name": "dragoman", "version": version,
                              "licenses": [{"license": {"id": "Apache-2.0"}}]}}
    if epoch := os.environ.get("SOURCE_DATE_EPOCH"):
        time = datetime.datetime.fromtimestamp(int(epoch), datetime.timezone.utc)
        metadata["timestamp"] = time.strftime("%Y-%m-%dT%H:%M:%SZ")
    return {"$schema": "http://cyclonedx.org/schema/bom-1.5.schema.json", "bomFormat": "CycloneDX",
            "specVersion": "1.5", "version": 1, "metadata": metadata, "components": made_of,
            "dependencies": [{"ref": "dragoman", "dependsOn": [component["bom-ref"] for component in made_of]}]}


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    path = os.path.join(sys.argv[1], FILE)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        json.dump(bill(sys.argv[1]), file, indent=1)
        file.write("\n")


if __name__ == "__main__":
    main()
