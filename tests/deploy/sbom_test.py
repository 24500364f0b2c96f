"""The bill of materials of an image's root names all that is in it.

The optional test checks it against CycloneDX's schema: DRAGOMAN_CYCLONEDX_SCHEMA names bom-1.5.schema.json (of
CycloneDX/specification, schema; the others lie beside it).
"""

import hashlib
import json
import os
import re
import subprocess
import tempfile
import unittest

from suite import optional

TREE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

STATUS = """Package: libgrpc++1.51
Status: install ok installed
Architecture: amd64
Multi-Arch: same
Source: grpc ({version})
Version: {version}+b1
Description: high performance general RPC framework
 This package: is a continued line
"""


class SbomTest(unittest.TestCase):

    def setUp(self):
        self.root = self.enterContext(tempfile.TemporaryDirectory())
        self.write("usr/bin/dragoman-server", "server")
        self.write("usr/bin/dragoman", "client")
        self.write("models/en-de/model.safetensors", "weights")
        self.write("var/lib/dpkg/status.d/libgrpc++1.51", STATUS.format(version="1:1.51.1-3"))

    def write(self, path, text):
        path = os.path.join(self.root, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)

    def bill(self, **environment):
        subprocess.run([os.path.join(TREE, "deploy/sbom.py"), self.root], check=True, timeout=300,
                       env={**os.environ, **environment})
        with open(os.path.join(self.root, "usr/share/doc/dragoman/sbom.cdx.json"), encoding="utf-8") as file:
            return json.load(file)

    def component(self, bill, name):
        found, = [component for component in bill["components"] if component["name"] == name]
        return found

    def test_names_programs_libraries_data_and_models(self):
        bill = self.bill()
        self.assertEqual((bill["bomFormat"], bill["specVersion"]), ("CycloneDX", "1.5"))
        server = self.component(bill, "dragoman-server")
        self.assertEqual(server["hashes"][0]["content"], hashlib.sha256(b"server").hexdigest())
        self.assertRegex(server["version"], r"^\d+\.\d+\.\d+$")
        self.assertEqual(self.component(bill, "en-de")["type"], "machine-learning-model")
        entities = self.component(bill, "html-named-character-references")
        self.assertEqual(entities["licenses"], [{"license": {"id": "CC-BY-4.0"}}])

    def test_a_library_has_the_url_that_scanners_look_up(self):
        library = self.component(self.bill(), "libgrpc++1.51")
        self.assertEqual(library["version"], "1:1.51.1-3+b1")
        self.assertRegex(library["purl"], r"^pkg:deb/debian/libgrpc%2B%2B1\.51@1%3A1\.51\.1-3%2Bb1\?arch=amd64"
                                          r"&distro=\w+-\w+&upstream=grpc%401%3A1\.51\.1-3$")

    def test_names_the_packages_that_are_built_in(self):
        bill = self.bill()
        built_in = {component["name"] for component in bill["components"]
                    if {"name": "dragoman:linked", "value": "built in"} in component.get("properties", [])}
        self.assertLessEqual({"libprotobuf-dev", "libboost-dev", "libhwy-dev", "libcli11-dev"}, built_in)
        # Its headers are in a package that it depends on.
        self.assertTrue(any(re.fullmatch(r"libboost1\.\d+-dev", name) for name in built_in), built_in)

    def test_references_are_unique_and_complete(self):
        bill = self.bill()
        references = [component["bom-ref"] for component in bill["components"]]
        self.assertEqual(len(references), len(set(references)))
        self.assertEqual(bill["dependencies"], [{"ref": "dragoman", "dependsOn": references}])

    def test_only_a_given_time_is_in_it(self):
        self.assertEqual(self.bill(SOURCE_DATE_EPOCH=""), self.bill(SOURCE_DATE_EPOCH=""))
        self.assertNotIn("timestamp", self.bill(SOURCE_DATE_EPOCH="")["metadata"])
        self.assertEqual(self.bill(SOURCE_DATE_EPOCH="86400")["metadata"]["timestamp"], "1970-01-02T00:00:00Z")

    @optional
    def test_is_valid(self):
        schema = os.environ["DRAGOMAN_CYCLONEDX_SCHEMA"]
        import jsonschema  # pylint: disable=import-outside-toplevel

        def read(name):
            with open(os.path.join(os.path.dirname(schema), os.path.basename(name)), encoding="utf-8") as file:
                return json.load(file)

        resolver = jsonschema.RefResolver(base_uri="http://cyclonedx.org/schema/", referrer=read(schema),
                                          handlers={"http": read})
        jsonschema.Draft7Validator(read(schema), resolver=resolver).validate(self.bill())


if __name__ == "__main__":
    unittest.main()
