//===- DescriptorTest.cpp - bits of a descriptor ---------------------------===//

#include "backends/systolic/isa/Descriptor.h"
#include <bit>
#include <gtest/gtest.h>
#include <random>

using namespace tilewright;
using namespace tilewright::isa;

namespace {

/// Fills every field with random bits that its type allows.
template <typename D> D randomDescriptor(std::mt19937_64 &random) {
  D descriptor;
  visitFields(descriptor, [&](const FieldInfo &field, auto &value) {
    using Value = std::decay_t<decltype(value)>;
    uint64_t bits = random() & ((uint64_t(1) << field.width) - 1);
    if constexpr (std::is_same_v<Value, float>)
      value = float(int32_t(bits)) * 0.37f;
    else if constexpr (std::is_same_v<Value, int64_t>)
      value = field.type == FieldType::Int ? int64_t(bits) - (int64_t(1) << (field.width - 1)) : int64_t(bits);
    else if (field.enumeration)
      value = Value(field.enumeration->values[bits % field.enumeration->values.size()].second);
    else
      value = Value(bits & 1);
  });
  return descriptor;
}

template <typename D> void expectRoundTrip(std::mt19937_64 &random) {
  for (int i = 0; i < 200; ++i) {
    D descriptor = randomDescriptor<D>(random);
    std::vector<uint8_t> bytes = encode(std::vector<Descriptor>{descriptor});
    Descriptor back = decode(std::span<const uint8_t>(bytes).first<descriptorBytes>());
    ASSERT_TRUE(std::holds_alternative<D>(back));
    EXPECT_EQ(std::get<D>(back), descriptor) << disassemble(descriptor);
  }
}

std::string errorOf(const Descriptor &descriptor) {
  try {
    encode(std::vector<Descriptor>{descriptor});
  } catch (const Error &error) {
    return error.what();
  }
  return "";
}

TEST(Descriptor, RoundTripsEveryKind) {
  std::mt19937_64 random(1);
  expectRoundTrip<Load>(random);
  expectRoundTrip<Weights>(random);
  expectRoundTrip<Execute>(random);
  expectRoundTrip<Vector>(random);
  expectRoundTrip<Store>(random);
  expectRoundTrip<Sync>(random);
}

TEST(Descriptor, LaysFieldsFromBitZeroUpward) {
  Load load;
  load.layer = 0x1234;
  load.waitLoad = 0x89abcdef;
  load.mode = LoadMode::Planar;
  load.flipSign = true;
  load.dramRowStride = -2;
  std::vector<uint8_t> bytes = encode(std::vector<Descriptor>{load});
  EXPECT_EQ(bytes[0], 1);
  EXPECT_EQ(bytes[1], 0x34);
  EXPECT_EQ(bytes[2], 0x12);
  EXPECT_EQ(bytes[3], 0xef);
  EXPECT_EQ(bytes[6], 0x89);
  // The header is 184 bits: mode in bits 184 and 185, flip_sign in 186, dram_address in 187 to 234, row stride from
  // 235.
  EXPECT_EQ(bytes[23], 0x06);
  EXPECT_EQ(bytes[29], 0xf0); // -2 << 3
  EXPECT_EQ(bytes[33], 0x07);
}

TEST(Descriptor, FieldsDoNotOverlap) {
  std::mt19937_64 random(2);
  auto check = [&](auto descriptor) {
    unsigned end = 8; // opcode
    visitFields(descriptor, [&](const FieldInfo &field, auto &) {
      EXPECT_EQ(field.lsb, end) << field.name;
      end = field.lsb + field.width;
    });
    EXPECT_LE(end, descriptorBytes * 8);
  };
  check(Load());
  check(Weights());
  check(Execute());
  check(Vector());
  check(Store());
  check(Sync());
}

TEST(Descriptor, NamesTheFieldThatDoesNotFit) {
  Execute execute;
  execute.layer = 7;
  execute.outChannels = 65536;
  EXPECT_EQ(errorOf(execute),
            "execute descriptor of layer 7: out_channels = 65536 does not fit its field of 16 bits (0 to 65535)");
  execute.outChannels = 65535;
  EXPECT_EQ(errorOf(execute), "");
  execute.window.padTop = -32769;
  EXPECT_EQ(
      errorOf(execute),
      "execute descriptor of layer 7: window_pad_top = -32769 does not fit its field of 16 bits (-32768 to 32767)");
  execute.window.padTop = -32768;
  execute.in.base = -1;
  EXPECT_EQ(errorOf(execute),
            "execute descriptor of layer 7: in_base = -1 does not fit its field of 24 bits (0 to 16777215)");
}

TEST(Descriptor, RefusesBitsThatMeanNothing) {
  std::vector<uint8_t> bytes(descriptorBytes);
  auto message = [&] {
    try {
      decode(std::span<const uint8_t>(bytes).first<descriptorBytes>());
    } catch (const Error &error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(message(), "descriptor: opcode 0 does not exist");
  bytes[0] = 6;
  EXPECT_EQ(message(), "");
  bytes[127] = 0x80;
  EXPECT_EQ(message(), "sync descriptor: bit 1023 is set, the last field ends at bit 184");
  bytes[127] = 0;
  bytes[0] = 4; // vector: op, 2 bits from 184, has no value 3
  bytes[23] = 3;
  EXPECT_EQ(message(), "vector descriptor: op = 3 is no value of vector_op");
}

TEST(Descriptor, Disassembles) {
  Execute execute;
  execute.layer = 3;
  execute.waitLoad = 2;
  execute.mode = ExecuteMode::Depthwise;
  execute.accInit = true;
  execute.in.ringRows = 9;
  execute.window.padTop = -1;
  EXPECT_EQ(disassemble(execute),
            "execute layer=3 wait_load=2 mode=depthwise acc_init release=keep in_ring_rows=9 window_pad_top=-1");
}

TEST(Descriptor, ProgramEndsAtTheSyncThatEndsIt) {
  Sync end;
  end.end = true;
  std::vector<uint8_t> bytes = encode(std::vector<Descriptor>{Load(), Sync(), end});
  bytes.resize(bytes.size() + 1000, 0xff);
  EXPECT_EQ(decodeProgram(bytes).size(), 3u);
  bytes.resize(2 * descriptorBytes);
  EXPECT_THROW(decodeProgram(bytes), Error);
}

} // namespace
