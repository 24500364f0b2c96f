"""Checks Kubernetes objects against the OpenAPI schema of a release:

    kubectl kustomize deploy/kubernetes/overlays/production |
        python3 validate_kubernetes.py swagger.json [CRD.yaml ...]

swagger.json is api/openapi-spec/swagger.json of github.com/kubernetes/kubernetes at the release's tag;
a CRD file defines objects that are not Kubernetes' own (such as the Prometheus operator's
example/prometheus-operator-crd/monitoring.coreos.com_servicemonitors.yaml). Unknown fields are errors,
as they are to `kubectl apply --validate=strict`.
"""

import json
import sys

import jsonschema
import yaml


def _close(schema):
    """Makes fields that a schema does not name errors."""
    if isinstance(schema, dict):
        if schema.get("x-kubernetes-int-or-string") or schema.get("format") == "int-or-string":
            return {"type": ["integer", "string"]}
        closed = {key: _close(value) for key, value in schema.items()}
        if isinstance(schema.get("properties"), dict):
            closed.setdefault("additionalProperties", False)
        return closed
    return [_close(item) for item in schema] if isinstance(schema, list) else schema


class Schemas:
    """The schema of each kind, by (apiVersion, kind)."""

    def __init__(self, swagger, crds=()):
        self.definitions = _close(swagger["definitions"])
        # Quantities are strings in the schema, but YAML may have plain numbers.
        quantity = "io.k8s.apimachinery.pkg.api.resource.Quantity"
        self.definitions[quantity] = {"type": ["string", "integer", "number"]}
        self.by_kind = {}
        for name, definition in self.definitions.items():
            for kind in definition.get("x-kubernetes-group-version-kind", []):
                version = "/".join(filter(None, (kind["group"], kind["version"])))
                self.by_kind[version, kind["kind"]] = {"$ref": f"#/definitions/{name}"}
        for crd in crds:
            for version in crd["spec"]["versions"]:
                schema = _close(version["schema"]["openAPIV3Schema"])
                meta = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"
                schema["properties"]["metadata"] = {"$ref": f"#/definitions/{meta}"}
                key = f"{crd['spec']['group']}/{version['name']}", crd["spec"]["names"]["kind"]
                self.by_kind[key] = schema

    def errors(self, thing):
        """Returns the errors of an object, one line each."""
        kind = thing["apiVersion"], thing["kind"]
        if kind not in self.by_kind:
            return [f"no schema of {kind[0]} {kind[1]}"]
        schema = {**self.by_kind[kind], "definitions": self.definitions}
        if "$ref" in schema:
            schema = {"allOf": [{"$ref": schema["$ref"]}], "definitions": self.definitions}
        validator = jsonschema.Draft4Validator(schema)
        return [f"{'.'.join(map(str, error.absolute_path))}: {error.message}"
                for error in validator.iter_errors(thing)]


def load(swagger_path, crd_paths=()):
    with open(swagger_path, encoding="utf-8") as file:
        swagger = json.load(file)
    crds = []
    for path in crd_paths:
        with open(path, encoding="utf-8") as file:
            crds += yaml.safe_load_all(file)
    return Schemas(swagger, crds)


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    schemas = load(sys.argv[1], sys.argv[2:])
    failed = False
    for thing in yaml.safe_load_all(sys.stdin):
        errors = schemas.errors(thing)
        failed |= bool(errors)
        print(f"{thing['kind']} {thing['metadata']['name']}: {'valid' if not errors else ''}")
        for error in errors:
            print(f"  {error}")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
