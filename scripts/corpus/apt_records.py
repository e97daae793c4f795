"""Reads apt's records and joins packages with their long descriptions."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Package:
    """One binary package. `description` is the long text without the
    synopsis, lines and markers as apt has them; empty when there is none."""

    name: str
    source: str
    synopsis: str
    description: str


def parse_records(text, wanted):
    """Yields one dict a record, of the fields in `wanted` alone. Lines that
    continue a field are kept with their first blank, joined by newlines."""
    wanted = frozenset(wanted)
    record, lines = {}, None
    for line in text.split("\n"):
        if not line:
            if record:
                yield {field: "\n".join(parts) for field, parts in record.items()}
            record, lines = {}, None
        elif line[0] in " \t":
            if lines is not None:
                lines.append(line)
        else:
            field, colon, value = line.partition(":")
            lines = [value.strip()] if colon and field in wanted else None
            if lines is not None:
                record[field] = lines
    if record:
        yield {field: "\n".join(parts) for field, parts in record.items()}


def read_packages(package_records, description_records):
    """Every package once, sorted by name. The two texts are joined on
    Description-md5: the long description a version had when it was built."""
    long_texts = {}
    for record in parse_records(description_records, ("Description-md5", "Description-en")):
        if "Description-en" in record:
            long_texts.setdefault(record.get("Description-md5"), record["Description-en"])

    packages = {}
    for record in parse_records(package_records,
                                ("Package", "Source", "Description", "Description-md5")):
        name = record.get("Package")
        if not name or name in packages:
            continue
        text = long_texts.get(record.get("Description-md5")) or record.get("Description", "")
        synopsis, _, description = text.partition("\n")
        # "Source: name (version)" when the versions differ, absent when the
        # source package has the binary package's name.
        source = (record.get("Source") or name).split(" ")[0]
        packages[name] = Package(name, source, " ".join(synopsis.split()), description)
    return [packages[name] for name in sorted(packages)]
