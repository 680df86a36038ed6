//===- Descriptor.h - descriptors of the array as C++ values ----*- C++ -*-===//
//
// Structures, enumerations and the field table are generated from
// descriptors.toml; what they mean is in docs/accelerator.md. No MLIR here: the
// simulators and the runtime use this library too.
//
//===----------------------------------------------------------------------===//

#ifndef TILEWRIGHT_BACKENDS_SYSTOLIC_ISA_DESCRIPTOR_H
#define TILEWRIGHT_BACKENDS_SYSTOLIC_ISA_DESCRIPTOR_H

#include "common/Error.h"
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace tilewright::isa {

struct EnumInfo {
  const char *name;
  std::vector<std::pair<const char *, int>> values;
};

enum class FieldType { Uint, Int, Bool, Float, Enum };

struct FieldInfo {
  const char *name; ///< full name in snake case, e.g. in_ring_rows
  unsigned lsb, width;
  FieldType type;
  const EnumInfo *enumeration; ///< null unless type is Enum
  const char *doc;
};

/// Integer fields are int64_t whatever their width: encode() sees a value that does not fit instead of a truncated one.
#include "backends/systolic/isa/Descriptors.h.inc"

/// The fields that all kinds share.
inline const Header &header(const Descriptor &descriptor) {
  return std::visit([](const auto &d) -> const Header & { return d; }, descriptor);
}
inline Header &header(Descriptor &descriptor) {
  return std::visit([](auto &d) -> Header & { return d; }, descriptor);
}
inline Opcode opcode(const Descriptor &descriptor) {
  return std::visit([](const auto &d) { return std::decay_t<decltype(d)>::opcode; }, descriptor);
}

/// "load", "execute", ...
const char *name(Opcode opcode);

/// Writes the descriptor's 128 bytes. Throws Error naming the field, its value and its range if a value does not fit.
void encode(const Descriptor &descriptor, std::span<uint8_t, descriptorBytes> bytes);
std::vector<uint8_t> encode(std::span<const Descriptor> program);

/// The inverse. Throws Error on an unknown opcode, an enumeration value that does not exist, and bits set beyond the
/// last field.
Descriptor decode(std::span<const uint8_t, descriptorBytes> bytes);
/// A program: descriptors up to and including the first sync with `end`. Throws Error if there is none in `bytes`.
std::vector<Descriptor> decodeProgram(std::span<const uint8_t> bytes);

/// One line: the kind, enumerations, and every other field that is not zero, as name=value.
std::string disassemble(const Descriptor &descriptor);
/// One line for each descriptor, numbered.
std::string disassemble(std::span<const Descriptor> program);

} // namespace tilewright::isa

#endif
