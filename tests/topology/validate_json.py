#!/usr/bin/env python3
# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""Checks JSON files against a schema: validate_json.py SCHEMA FILE... Exit status 77: no python3-jsonschema."""

import json
import sys
from pathlib import Path

try:
    import jsonschema
except ImportError:
    sys.exit(77)


def validator_of(schema: dict, schemas: list[dict]) -> jsonschema.Draft202012Validator:
    """A "$ref" to the schema beside it is looked up here, never fetched."""
    try:
        from referencing import Registry, Resource
    except ImportError:  # jsonschema before 4.18, as in Debian 12
        store = {document["$id"]: document for document in schemas}
        resolver = jsonschema.RefResolver(schema["$id"], schema, store=store)
        return jsonschema.Draft202012Validator(schema, resolver=resolver)
    resources = [(document["$id"], Resource.from_contents(document)) for document in schemas]
    return jsonschema.Draft202012Validator(schema, registry=Registry().with_resources(resources))


def main(schema_file: str, files: list[str]) -> int:
    schema = json.loads(Path(schema_file).read_text())
    schemas = [json.loads(path.read_text()) for path in Path(schema_file).parent.glob("*.json")]
    validator = validator_of(schema, schemas)
    failures = 0
    for file in files:
        for error in validator.iter_errors(json.loads(Path(file).read_text())):
            print(f"{file}: {error.json_path}: {error.message}")
            failures += 1
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
