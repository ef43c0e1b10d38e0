#!/usr/bin/env python3
"""Says what is wrong with a component constructor: nothing, when OCM takes it and all its files are there.

  component.py CONSTRUCTOR

A constructor becomes a component descriptor by putting its files into a repository, where an `input` becomes an `access` to a local blob. So
much is done here; what comes out must be valid by the descriptor's schema, which comes with OCM's Python bindings.
"""

import hashlib
import importlib.util
import os
import sys

import jsonschema
import yaml

# Source: https://ocm.software, schema of the component constructor.
INPUT_TYPES = {"binary", "dir", "file", "ociImage", "utf8", "wget", "helmChart"}
ARTIFACT_TYPES = {"blob", "directoryTree", "ociImage", "executable", "helmChart"}


def descriptor_of(component, folder):
    """The component descriptor, with the blobs that `ocm add componentversions` would store."""
    resources = []
    for resource in component["resources"]:
        source = resource["input"]
        with open(os.path.join(folder, source["path"]), "rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        kept = {key: value for key, value in resource.items() if key != "input"}
        access = {"type": "localBlob", "localReference": f"sha256:{digest}", "mediaType": source["mediaType"]}
        resources.append({"version": component["version"], **kept, "access": access})
    named = {key: component[key] for key in ("name", "version", "labels") if key in component}
    return {
        "meta": {"schemaVersion": "v2"},
        "component": {
            **named,
            "provider": component["provider"]["name"],
            "repositoryContexts": [],
            "sources": [],
            "componentReferences": [],
            "resources": resources,
        },
    }


def schema():
    package = os.path.dirname(importlib.util.find_spec("ocm").origin)
    with open(os.path.join(package, "ocm-component-descriptor-schema.yaml"), encoding="utf-8") as file:
        return yaml.safe_load(file)


def faults(path):
    with open(path, encoding="utf-8") as file:
        constructor = yaml.safe_load(file)
    if set(constructor) != {"components"}:
        yield f"it has {sorted(constructor)}, and not components alone"
    for component in constructor["components"]:
        for resource in component["resources"]:
            if resource["type"] not in ARTIFACT_TYPES or resource["input"]["type"] not in INPUT_TYPES:
                yield f"{resource['name']} has a type that there is not"
        names = [resource["name"] for resource in component["resources"]]
        for name in {name for name in names if names.count(name) > 1}:
            yield f"{name} is there twice"
        listed = {os.path.normpath(resource["input"]["path"]) for resource in component["resources"]}
        beside = set(os.listdir(os.path.dirname(path))) - {os.path.basename(path), "SHA256SUMS"}
        for file in sorted(beside - listed):
            yield f"{file} belongs to no resource"
        for error in jsonschema.Draft7Validator(schema()).iter_errors(descriptor_of(component, os.path.dirname(path))):
            yield f"{'/'.join(map(str, error.absolute_path))}: {error.message}"


found = list(faults(os.path.abspath(sys.argv[1])))
print("\n".join(found), end="\n" if found else "")
sys.exit(1 if found else 0)
