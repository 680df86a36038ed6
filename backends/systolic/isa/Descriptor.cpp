//===- Descriptor.cpp - encode, decode, disassemble -----------------------===//

#include "backends/systolic/isa/Descriptor.h"
#include <bit>
#include <cstring>
#include <sstream>

namespace tilewright::isa {
namespace {

uint64_t readBits(std::span<const uint8_t, descriptorBytes> bytes, unsigned lsb, unsigned width) {
  uint64_t value = 0;
  for (unsigned bit = 0; bit < width; ++bit)
    value |= uint64_t(bytes[(lsb + bit) / 8] >> ((lsb + bit) % 8) & 1) << bit;
  return value;
}

void writeBits(std::span<uint8_t, descriptorBytes> bytes, unsigned lsb, unsigned width, uint64_t value) {
  for (unsigned bit = 0; bit < width; ++bit)
    if (value >> bit & 1)
      bytes[(lsb + bit) / 8] |= uint8_t(1 << (lsb + bit) % 8);
}

[[noreturn]] void doesNotFit(Opcode opcode, const Header &header, const FieldInfo &field, int64_t value, int64_t lowest,
                             int64_t highest) {
  std::ostringstream message;
  message << name(opcode) << " descriptor of layer " << header.layer << ": " << field.name << " = " << value
          << " does not fit its field of " << field.width << " bits (" << lowest << " to " << highest << ")";
  throw Error(message.str());
}

template <typename D, typename Value> uint64_t toBits(const D &descriptor, const FieldInfo &field, const Value &value) {
  if constexpr (std::is_same_v<Value, float>) {
    return std::bit_cast<uint32_t>(value);
  } else if constexpr (std::is_same_v<Value, int64_t>) {
    bool isSigned = field.type == FieldType::Int;
    int64_t lowest = isSigned ? -(int64_t(1) << (field.width - 1)) : 0;
    int64_t highest = (int64_t(1) << (field.width - isSigned)) - 1;
    if (value < lowest || value > highest)
      doesNotFit(D::opcode, descriptor, field, value, lowest, highest);
    return uint64_t(value);
  } else {
    return uint64_t(value); // bool or enumeration
  }
}

template <typename Value> void fromBits(const char *kind, const FieldInfo &field, uint64_t bits, Value &value) {
  if constexpr (std::is_same_v<Value, float>) {
    value = std::bit_cast<float>(uint32_t(bits));
  } else if constexpr (std::is_same_v<Value, int64_t>) {
    bool negative = field.type == FieldType::Int && (bits >> (field.width - 1) & 1);
    value = int64_t(bits) - (negative ? int64_t(1) << field.width : 0);
  } else {
    if (field.enumeration) {
      bool known = false;
      for (const auto &[text, number] : field.enumeration->values)
        known |= uint64_t(number) == bits;
      if (!known)
        throw Error(std::string(kind) + " descriptor: " + field.name + " = " + std::to_string(bits) +
                    " is no value of " + field.enumeration->name);
    }
    value = Value(bits);
  }
}

template <typename D> Descriptor decodeAs(std::span<const uint8_t, descriptorBytes> bytes) {
  D descriptor;
  unsigned end = 0;
  visitFields(descriptor, [&](const FieldInfo &field, auto &value) {
    fromBits(name(D::opcode), field, readBits(bytes, field.lsb, field.width), value);
    end = field.lsb + field.width;
  });
  for (unsigned bit = end; bit < descriptorBytes * 8; ++bit)
    if (readBits(bytes, bit, 1))
      throw Error(std::string(name(D::opcode)) + " descriptor: bit " + std::to_string(bit) +
                  " is set, the last field ends at bit " + std::to_string(end - 1));
  return descriptor;
}

} // namespace

const char *name(Opcode opcode) {
  for (const EnumInfo &info : enumInfos)
    if (std::strcmp(info.name, "opcode") == 0)
      for (const auto &[text, number] : info.values)
        if (number == int(opcode))
          return text;
  return "unknown";
}

void encode(const Descriptor &descriptor, std::span<uint8_t, descriptorBytes> bytes) {
  std::memset(bytes.data(), 0, descriptorBytes);
  bytes[0] = uint8_t(opcode(descriptor));
  std::visit(
      [&](const auto &d) {
        visitFields(d, [&](const FieldInfo &field, const auto &value) {
          writeBits(bytes, field.lsb, field.width, toBits(d, field, value));
        });
      },
      descriptor);
}

std::vector<uint8_t> encode(std::span<const Descriptor> program) {
  std::vector<uint8_t> bytes(program.size() * descriptorBytes);
  for (size_t i = 0; i < program.size(); ++i)
    encode(program[i], std::span<uint8_t, descriptorBytes>(bytes.data() + i * descriptorBytes, descriptorBytes));
  return bytes;
}

Descriptor decode(std::span<const uint8_t, descriptorBytes> bytes) {
  switch (Opcode(bytes[0])) {
  case Opcode::Load:
    return decodeAs<Load>(bytes);
  case Opcode::Weights:
    return decodeAs<Weights>(bytes);
  case Opcode::Execute:
    return decodeAs<Execute>(bytes);
  case Opcode::Vector:
    return decodeAs<Vector>(bytes);
  case Opcode::Store:
    return decodeAs<Store>(bytes);
  case Opcode::Sync:
    return decodeAs<Sync>(bytes);
  }
  throw Error("descriptor: opcode " + std::to_string(bytes[0]) + " does not exist");
}

std::vector<Descriptor> decodeProgram(std::span<const uint8_t> bytes) {
  std::vector<Descriptor> program;
  for (size_t at = 0; at + descriptorBytes <= bytes.size(); at += descriptorBytes) {
    try {
      program.push_back(decode(bytes.subspan(at).first<descriptorBytes>()));
    } catch (const Error &error) {
      throw Error("descriptor " + std::to_string(program.size()) + ": " + error.what());
    }
    const Sync *sync = std::get_if<Sync>(&program.back());
    if (sync && sync->end)
      return program;
  }
  throw Error("the program has no sync descriptor with `end`: " + std::to_string(program.size()) +
              " descriptors up to the end of memory");
}

std::string disassemble(const Descriptor &descriptor) {
  std::ostringstream text;
  text << name(opcode(descriptor));
  std::visit(
      [&](const auto &d) {
        visitFields(d, [&](const FieldInfo &field, const auto &value) {
          using Value = std::decay_t<decltype(value)>;
          if (field.enumeration) {
            for (const auto &[valueName, number] : field.enumeration->values)
              if (number == int(value))
                text << ' ' << field.name << '=' << valueName;
          } else if constexpr (std::is_same_v<Value, bool>) {
            if (value)
              text << ' ' << field.name;
          } else if (value != Value(0)) {
            text << ' ' << field.name << '=';
            if constexpr (std::is_same_v<Value, float>)
              text << std::hexfloat << value << std::defaultfloat;
            else if (std::strstr(field.name, "address"))
              text << "0x" << std::hex << int64_t(value) << std::dec;
            else
              text << int64_t(value);
          }
        });
      },
      descriptor);
  return text.str();
}

std::string disassemble(std::span<const Descriptor> program) {
  std::ostringstream text;
  for (size_t i = 0; i < program.size(); ++i)
    text << i << ": " << disassemble(program[i]) << '\n';
  return text.str();
}

} // namespace tilewright::isa
