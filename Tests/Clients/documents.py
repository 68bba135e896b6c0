"""Compares Clients/JavaScript with its limits, with openapi.yaml and with docs/clients.md."""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
CLIENT = ROOT / "Clients" / "JavaScript"
LIMITS = {"pawl.js": 16 << 10, "element.js": 6 << 10}


def schema(text, name):
    """The lines of a schema of the document."""
    return re.search(rf"^    {name}:\n(.*?)(?=^    \S|\Z)", text, re.MULTILINE | re.DOTALL)[1]


def properties(text, name):
    """The names of the properties of a schema."""
    body = re.search(r"^      properties:\n(.*?)(?=^      \S|\Z)", schema(text, name), re.MULTILINE | re.DOTALL)[1]
    return set(re.findall(r"^        (\w+):", body, re.MULTILINE))


def members(text, name):
    """The names of the members of an interface."""
    return set(re.findall(r"^\t(?:readonly )?(\w+)\??:", re.search(rf"^export interface {name}\b[^\n]*\n(.*?)^}}", text, re.MULTILINE | re.DOTALL)[1], re.MULTILINE))


def main():
    faults = []
    for name, limit in LIMITS.items():
        text = (CLIENT / name).read_bytes()
        print(f"{len(text):7,} of {limit:>7,}  bytes of {name}")
        if len(text) > limit:
            faults.append(f"{name} has {len(text)} bytes")
        if max(map(len, text.split(b"\n"))) > 180:
            faults.append(f"{name} has lines that cannot be read")
        if re.search(rb"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function", text):
            faults.append(f"{name} makes markup or code from text")
    document, types = (ROOT / "openapi.yaml").read_text(), (CLIENT / "pawl.d.ts").read_text()
    for name in ("Download", "DownloadRequest", "SearchItem", "SearchResponse", "Failure"):
        # `raw` is there only on request.
        difference = (properties(document, name) - {"raw"}) ^ members(types, name)
        if difference:
            faults.append(f"{name} differs in pawl.d.ts and openapi.yaml: {', '.join(sorted(difference))}")
    page, element = (ROOT / "docs" / "clients.md").read_text(), (CLIENT / "element.js").read_text()
    used = set(re.findall(r"var\((--pawl-\w+)", element)) | set(re.findall(r'make\("\w+", "(\w+)"', element))
    table = page[page.index("### The element"):]
    told = set(re.findall(r"^\| `([\w-]+)` \|", table, re.MULTILINE))
    if used != told:
        faults.append(f"docs/clients.md and element.js differ in parts and properties: {', '.join(sorted(used ^ told))}")
    if faults:
        sys.exit("\n".join(faults))


if __name__ == "__main__":
    main()
