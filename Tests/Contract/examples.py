"""Compares the examples of openapi.yaml with their schemas: an invalid example would mislead."""

import sys

import jsonschema_rs
import yaml


def main(path):
    document = yaml.safe_load(open(path))
    count, wrong = 0, []

    def check(schema, example, place):
        nonlocal count
        count += 1
        # References lead to the document's components.
        validator = jsonschema_rs.Draft202012Validator({**schema, "components": document["components"]})
        wrong.extend(f"{place}: {error.message}" for error in validator.iter_errors(example))

    def walk(value, place):
        if isinstance(value, list):
            for index, item in enumerate(value):
                walk(item, f"{place}[{index}]")
        if not isinstance(value, dict):
            return
        # A media type or parameter has its schema beside its examples. Other schemas have their own examples.
        schema = value.get("schema", value)
        if "example" in value and not isinstance(value.get("properties"), dict):
            check(schema, value["example"], place)
        examples = value.get("examples")
        if isinstance(examples, dict):
            for name, example in examples.items():
                check(schema, example["value"], f"{place}.{name}")
        elif isinstance(examples, list):
            for example in examples:
                check(schema, example, place)
        for name, item in value.items():
            if name not in ("example", "examples"):
                walk(item, f"{place}/{name}")

    walk(document, "")
    for each in wrong:
        print(each)
    print(f"{count} examples, {len(wrong)} of them wrong")
    return 1 if wrong or not count else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
