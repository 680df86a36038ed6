"""Reads device programs: descriptors decoded with the one table that also makes the RTL package and the C++ encoder."""

import tomllib
from pathlib import Path

TABLE = Path(__file__).resolve().parents[3] / "backends" / "systolic" / "isa" / "descriptors.toml"


class Decoder:
    def __init__(self, table: Path = TABLE):
        self.table = tomllib.loads(table.read_text())
        self.bytes = self.table["bytes"]
        self.header = self._expand(self.table["header"])
        self.kinds = {
            code: (kind, self._expand(self.table["header"]) + self._expand(self.table[kind]["fields"]))
            for kind, code in self.table["enums"]["opcode"].items()
        }

    def _expand(self, fields: list[dict]) -> list[tuple[str, int, str]]:
        """(name, bits, type) of each field, groups spelled out."""
        expanded = []
        for field in fields:
            members = self.table["groups"][field["group"]] if "group" in field else [None]
            for member in members:
                name = f"{field['name']}_{member['name']}" if member else field["name"]
                source = member or field
                expanded.append((name, source["bits"], source.get("type", "uint")))
        return expanded

    def decode(self, program: bytes) -> list[dict]:
        """One dictionary per descriptor: "kind", and each field as an integer (floats as their bits)."""
        return [
            self._descriptor(int.from_bytes(program[at : at + self.bytes], "little"))
            for at in range(0, len(program), self.bytes)
        ]

    def _descriptor(self, word: int) -> dict:
        opcode_bits = self.header[0][1]
        kind, fields = self.kinds[word & ((1 << opcode_bits) - 1)]
        decoded, at = {"kind": kind}, 0
        for name, bits, type_name in fields:
            value = (word >> at) & ((1 << bits) - 1)
            if type_name == "int" and value >> (bits - 1):
                value -= 1 << bits
            decoded[name] = value
            at += bits
        return decoded
