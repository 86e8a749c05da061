"""The document and its schema: docs and structs agree, and output matches the schema."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import msgspec

from replays.review.report import as_json
from replays.review.schema import Review, ReviewIndex
from tests.replays.review.made import of_first_round

DOCS = Path(__file__).parents[3] / "docs"
SCHEMA = DOCS / "review-schema.json"


def json_schema() -> str:
    """Both documents as JSON Schema."""
    references, definitions = msgspec.json.schema_components(
        (Review, ReviewIndex), ref_template="#/$defs/{name}"
    )
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Suzaku's reviews",
        "anyOf": list(references),
        "$defs": definitions,
    }
    return msgspec.json.format(msgspec.json.encode(schema), indent=2).decode() + "\n"


def test_the_docs_hold_the_schema_of_the_structs() -> None:
    assert SCHEMA.read_text() == json_schema(), "run python -m tests.replays.review.test_schema"


def test_a_review_matches_its_schema() -> None:
    document = json.loads(as_json(of_first_round(1)))
    validator = jsonschema.Draft202012Validator(json.loads(json_schema()))
    validator.validate(document)
    del document["rounds"][0]["events"]
    assert not validator.is_valid(document)


def test_each_note_is_explained() -> None:
    text = (DOCS / "review.md").read_text()
    schema = json.loads(json_schema())
    for key in schema["$defs"]["Note"]["properties"]["key"]["enum"]:
        assert f"| `{key}` |" in text


if __name__ == "__main__":
    SCHEMA.write_text(json_schema())
