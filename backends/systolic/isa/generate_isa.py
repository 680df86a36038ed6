#!/usr/bin/env python3
"""Makes everything that knows the bits of a descriptor from the one table, descriptors.toml.

    generate_isa.py TABLE --cpp Descriptors.h.inc     structures, enumerations, field table (Descriptor.h includes it)
    generate_isa.py TABLE --sv tilewright_isa_pkg.sv  positions, widths and enumeration values for the RTL
    generate_isa.py TABLE --markdown descriptors.md   the reference
    generate_isa.py TABLE --digest                    prints a number that tells this table from others
    generate_isa.py TABLE --check descriptors.md      exit 1 if that file is not what --markdown would write

Python 3.11's standard library only: it runs during the build.
"""

import argparse
import hashlib
import re
import sys
import tomllib
from dataclasses import dataclass, field
from pathlib import Path


@dataclass
class Field:
    name: str  # full name, snake case: in_ring_rows
    lsb: int
    width: int
    type: str
    doc: str
    member: str  # C++ expression below the structure: in.ringRows


@dataclass
class Kind:
    name: str
    doc: str
    fields: list[Field]  # header included
    members: list[dict] = field(default_factory=list)  # as in the table, groups unresolved

    @property
    def bits(self) -> int:
        return self.fields[-1].lsb + self.fields[-1].width


def camel(name: str, upper: bool = False) -> str:
    """out_row_start -> outRowStart"""
    text = re.sub(r"_([a-z0-9])", lambda m: m.group(1).upper(), name)
    return text[0].upper() + text[1:] if upper else text


class Table:
    def __init__(self, path: Path):
        text = path.read_text()
        data = tomllib.loads(text)
        #: Tells one table from another, as a number in C++.
        self.digest = f"0x{hashlib.sha256(text.encode()).hexdigest()[:16]}ull"
        self.bytes: int = data["bytes"]
        self.queue_depth: int = data["queue_depth"]
        self.enums: dict[str, dict[str, int]] = data["enums"]
        self.groups: dict[str, list[dict]] = data["groups"]
        self.header: list[dict] = data["header"]
        self.kinds: list[Kind] = []
        for name in self.enums["opcode"]:
            kind = Kind(name, data[name]["doc"], [], data[name]["fields"])
            lsb = 0
            for entry, prefix, path_ in self._flatten(kind):
                known = ("uint", "int", "bool", "float", *self.enums)
                if "bits" not in entry or entry.get("type", "uint") not in known:
                    sys.exit(f"{path}: field {prefix}{entry['name']} of {name}: needs `bits` and a known type")
                kind.fields.append(
                    Field(
                        prefix + entry["name"],
                        lsb,
                        entry["bits"],
                        entry.get("type", "uint"),
                        entry["doc"],
                        path_ + camel(entry["name"]),
                    )
                )
                lsb += entry["bits"]
            if lsb > self.bytes * 8:
                sys.exit(f"{path}: {name} needs {lsb} bits, a descriptor has {self.bytes * 8}")
            names = [f.name for f in kind.fields]
            if len(set(names)) != len(names):
                sys.exit(f"{path}: {name} has two fields of one name")
            self.kinds.append(kind)

    def _flatten(self, kind: Kind):
        for entry in self.header:
            yield entry, "", ""
        for entry in kind.members:
            if "group" in entry:
                for member in self.groups[entry["group"]]:
                    yield member, entry["name"] + "_", camel(entry["name"]) + "."
            else:
                yield entry, "", ""

    # C++ ----------

    def _cpp_member(self, entry: dict) -> str:
        if "group" in entry:
            return f"  {camel(entry['group'], True)} {camel(entry['name'])};"
        kind = entry.get("type", "uint")
        declared = {"uint": "int64_t", "int": "int64_t", "bool": "bool", "float": "float"}.get(kind)
        if declared is None:
            first = next(iter(self.enums[kind]))
            return f"  {camel(kind, True)} {camel(entry['name'])} = {camel(kind, True)}::{camel(first, True)};"
        value = {"bool": "false", "float": "0.0f"}.get(kind, "0")
        return f"  {declared} {camel(entry['name'])} = {value};"

    def cpp(self) -> str:
        out = [
            "// Made from descriptors.toml by generate_isa.py; included by Descriptor.h.\n",
            "/// Of the table that this was made from; a simulator knows its own.",
            f"inline constexpr uint64_t tableDigest = {self.digest};",
            f"inline constexpr unsigned descriptorBytes = {self.bytes};",
            "/// Descriptors that each queue holds beside its running job.",
            f"inline constexpr unsigned queueDepth = {self.queue_depth};\n",
        ]
        for name, values in self.enums.items():
            out.append(f"enum class {camel(name, True)} : uint8_t {{")
            out += [f"  {camel(value, True)} = {number}," for value, number in values.items()]
            out.append("};")
        out.append("\ninline const EnumInfo enumInfos[] = {")
        for name, values in self.enums.items():
            entries = ", ".join(f'{{"{value}", {number}}}' for value, number in values.items())
            out.append(f'    {{"{name}", {{{entries}}}}},')
        out.append("};")
        indices = {name: i for i, name in enumerate(self.enums)}
        for name, members in self.groups.items():
            out.append(f"\nstruct {camel(name, True)} {{")
            for entry in members:
                out += [f"  /// {entry['doc']}", self._cpp_member(entry)]
            out.append(f"  bool operator==(const {camel(name, True)} &) const = default;\n}};")
        out.append("\n/// Fields of every descriptor but its opcode.\nstruct Header {")
        for entry in self.header[1:]:
            out += [f"  /// {entry['doc']}", self._cpp_member(entry)]
        out.append("  bool operator==(const Header &) const = default;\n};")
        for kind in self.kinds:
            out.append(f"\n/// {kind.doc}\nstruct {camel(kind.name, True)} : Header {{")
            out.append(f"  static constexpr Opcode opcode = Opcode::{camel(kind.name, True)};")
            for entry in kind.members:
                doc = entry.get("doc") or f"see {camel(entry['group'], True)}"
                out += [f"  /// {doc}", self._cpp_member(entry)]
            out.append(f"  bool operator==(const {camel(kind.name, True)} &) const = default;\n}};")
            out.append(f"\ninline const FieldInfo {camel(kind.name)}Fields[] = {{")
            for f in kind.fields[1:]:
                kind_of = {"uint": "Uint", "int": "Int", "bool": "Bool", "float": "Float"}.get(f.type, "Enum")
                enum = f"&enumInfos[{indices[f.type]}]" if kind_of == "Enum" else "nullptr"
                out.append(f'    {{"{f.name}", {f.lsb}, {f.width}, FieldType::{kind_of}, {enum}, "{f.doc}"}},')
            out.append("};")
            out.append("/// Calls visitor(FieldInfo, member) for every field but the opcode, in the table's order.")
            out.append("template <typename D, typename Visitor>")
            out.append(f"  requires std::is_same_v<std::remove_const_t<D>, {camel(kind.name, True)}>")
            out.append("void visitFields(D &descriptor, Visitor &&visitor) {")
            for i, f in enumerate(kind.fields[1:]):
                out.append(f"  visitor({camel(kind.name)}Fields[{i}], descriptor.{f.member});")
            out.append("}")
        kinds = ", ".join(camel(k.name, True) for k in self.kinds)
        out.append(f"\nusing Descriptor = std::variant<{kinds}>;")
        return "\n".join(out) + "\n"

    # SystemVerilog ----------

    def sv(self) -> str:
        out = [
            "// Made from descriptors.toml by generate_isa.py: where each field of a descriptor lies.",
            "// A field of kind execute: desc[ExecuteInBaseLsb +: ExecuteInBaseWidth].",
            "package tilewright_isa_pkg;",
            f"  localparam int unsigned DescriptorBytes = {self.bytes};",
            f"  localparam int unsigned DescriptorBits = {self.bytes * 8};",
            "  // Descriptors that each queue holds beside its running job.",
            f"  localparam int unsigned QueueDepth = {self.queue_depth};",
        ]
        for name, values in self.enums.items():
            width = next((f.width for k in self.kinds for f in k.fields if f.type == name), 8)
            out.append(f"\n  // {name}")
            for value, number in values.items():
                constant = camel(name, True) + camel(value, True)
                out.append(f"  localparam logic [{width - 1}:0] {constant} = {width}'d{number};")

        def position(prefix: str, f: Field):
            out.append(f"  localparam int unsigned {prefix}{camel(f.name, True)}Lsb = {f.lsb};")
            out.append(f"  localparam int unsigned {prefix}{camel(f.name, True)}Width = {f.width};")

        out.append("\n  // every kind")
        for f in self.kinds[0].fields[: len(self.header)]:
            position("Header", f)
        for kind in self.kinds:
            out.append(f"\n  // {kind.name}: {kind.doc}")
            for f in kind.fields[len(self.header) :]:
                position(camel(kind.name, True), f)
        for name, members in self.groups.items():
            # Groups are laid out alike wherever they occur, so one decoder serves all: positions within the group.
            out.append(f"\n  // group {name}, relative to its first field")
            lsb = 0
            for entry in members:
                position(camel(name, True), Field(entry["name"], lsb, entry["bits"], "", "", ""))
                lsb += entry["bits"]
            out.append(f"  localparam int unsigned {camel(name, True)}Bits = {lsb};")
            for kind in self.kinds:
                for entry in kind.members:
                    if entry.get("group") == name:
                        first = next(f for f in kind.fields if f.name == f"{entry['name']}_{members[0]['name']}")
                        prefix = camel(kind.name, True) + camel(entry["name"], True)
                        out.append(f"  localparam int unsigned {prefix}Lsb = {first.lsb};")
        out.append("endpackage")
        return "\n".join(out) + "\n"

    # Markdown ----------

    def markdown(self) -> str:
        origin = (
            "Made from `backends/systolic/isa/descriptors.toml` by `generate_isa.py`; do not edit. What the fields "
            "mean together is in [accelerator.md](accelerator.md)."
        )
        layout = (
            f"A descriptor is {self.bytes} bytes, little-endian; bit 0 is the lowest bit of byte 0. Bits beyond the "
            "last field are zero."
        )
        out = [
            "# Descriptor reference",
            "",
            origin,
            "",
            layout,
            "",
            "## Enumerations",
            "",
            "| name | values |",
            "|---|---|",
        ]
        for name, values in self.enums.items():
            out.append(f"| `{name}` | " + ", ".join(f"{number} `{value}`" for value, number in values.items()) + " |")

        def rows(fields: list[Field]):
            out.extend(["| bits | field | type | meaning |", "|---|---|---|---|"])
            for f in fields:
                kind = "bool" if f.type == "bool" else f"`{f.type}`" if f.type in self.enums else f"{f.type}{f.width}"
                bits = f"{f.lsb + f.width - 1}:{f.lsb}" if f.width > 1 else str(f.lsb)
                out.append(f"| {bits} | `{f.name}` | {kind} | {f.doc} |")

        out += ["", "## Every kind", ""]
        rows(self.kinds[0].fields[: len(self.header)])
        for kind in self.kinds:
            doc = kind.doc[0].upper() + kind.doc[1:]
            out += ["", f"## {kind.name}", "", f"{doc}. {kind.bits} of {self.bytes * 8} bits.", ""]
            rows(kind.fields[len(self.header) :])
        return "\n".join(out) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("table", type=Path)
    for kind in ("cpp", "sv", "markdown", "check"):
        parser.add_argument(f"--{kind}", type=Path)
    parser.add_argument("--digest", action="store_true")
    arguments = parser.parse_args()
    table = Table(arguments.table)
    if arguments.digest:
        print(table.digest)
    for kind in ("cpp", "sv", "markdown"):
        if path := getattr(arguments, kind):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(getattr(table, kind)())
    if arguments.check and arguments.check.read_text() != table.markdown():
        print(
            f"{arguments.check} is out of date: run generate_isa.py {arguments.table} --markdown {arguments.check}",
            file=sys.stderr,
        )
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
