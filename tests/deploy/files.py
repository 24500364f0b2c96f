"""Reads the files of deploy/ for the tests."""

import json
import os
import re

import yaml

SOURCE_DIR = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
DEPLOY = os.path.join(SOURCE_DIR, "deploy")
RULE_FILES = [os.path.join(DEPLOY, "prometheus", name) for name in ("recording.yml", "alerts.yml")]


def read_yaml(*path):
    """The only document of a YAML file under deploy/."""
    with open(os.path.join(DEPLOY, *path), encoding="utf-8") as file:
        return yaml.safe_load(file)


def dashboard():
    with open(os.path.join(DEPLOY, "grafana/dashboard.json"), encoding="utf-8") as file:
        return json.load(file)


def panels():
    """The panels of the dashboard that have queries."""
    return [panel for panel in dashboard()["panels"] if panel["type"] != "row"]


def dashboard_queries(interval="$__rate_interval"):
    """[(panel's title, PromQL)], with the variables set to \"all\"."""
    queries = []
    for panel in panels():
        for target in panel["targets"]:
            query = target["expr"].replace("$job", "dragoman").replace("$__rate_interval", interval)
            queries.append((panel["title"], re.sub(r"\$(instance|model)\b", ".+", query)))
    return queries


def rules():
    """The recording and alerting rules, in the order of their files."""
    return [rule for path in RULE_FILES for group in read_yaml(path)["groups"]
            for rule in group["rules"]]


def selectors(query):
    """[(metric, [(label, operator, value)])] of a PromQL expression."""
    found = []
    for name, matchers in re.findall(r"\b((?:dragoman|process)[\w:]*[_:]\w+|up)\b(?:\{([^}]*)\})?",
                                     re.sub(r"\b(by|on|group_right|group_left) *\([^)]*\)", "", query)):
        found.append((name, re.findall(r'(\w+) *(=~|!=|!~|=) *"([^"]*)"', matchers)))
    return found


def grouping_labels(query):
    """The labels that an expression groups or joins by."""
    return {label for group in re.findall(r"\b(?:by|on) *\(([^)]*)\)", query)
            for label in re.findall(r"\w+", group)}


def rule_object():
    """The rules as the object of the Prometheus operator that deploy/kubernetes/overlays/production has."""
    text = """# Made from deploy/prometheus: DRAGOMAN_WRITE_DOCS=1 ctest --preset release -R kubernetes_test.  kustomize writes the
# annotation, where the repository of the runbook is, into the links.
apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
metadata:
  name: dragoman
  labels:
    app.kubernetes.io/name: dragoman
  annotations:
    dragoman-repository: https://git.example.com/dragoman/blob/main
spec:
  groups:
"""
    for path in RULE_FILES:
        with open(path, encoding="utf-8") as file:
            groups = file.read().split("\ngroups:\n")[1]
        groups = groups.replace("runbook_url: docs/", "runbook_url: REPOSITORY/docs/")
        text += "".join("  " + line if line.strip() else line for line in groups.splitlines(keepends=True))
    return text
