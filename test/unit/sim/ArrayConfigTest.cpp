//===- ArrayConfigTest.cpp - configurations and their refusals ------------===//

#include "config/ArrayConfig.h"
#include "common/Error.h"
#include <gtest/gtest.h>
#include <sstream>

using namespace tilewright;

namespace {

/// The default configuration's text with one line replaced (or, if `key` is not in it, added at the end).
std::string messageWith(const std::string &key, const std::string &value) {
  std::string text = ArrayConfig().toToml(), line;
  std::istringstream lines(text);
  std::string changed;
  bool found = false;
  while (std::getline(lines, line)) {
    if (line.starts_with(key + " = ")) {
      line = value.empty() ? "" : key + " = " + value;
      found = true;
    }
    changed += line + "\n";
  }
  if (!found)
    changed += key + " = " + value + "\n";
  try {
    ArrayConfig::parse(changed, "my.toml");
  } catch (const Error &error) {
    return error.what();
  }
  return "accepted";
}

TEST(ArrayConfig, ReadsEveryKnownConfiguration) {
  ASSERT_GE(ArrayConfig::known().size(), 5u);
  for (const std::string &name : ArrayConfig::known()) {
    ArrayConfig config = ArrayConfig::load(name);
    EXPECT_EQ(config.name, name);
    EXPECT_EQ(ArrayConfig::parse(config.toToml(), name + ".toml"), config);
  }
  ArrayConfig config = ArrayConfig::load(ArrayConfig::defaultName);
  EXPECT_EQ(config.macsPerCycle(), 256);
  EXPECT_EQ(config.ringWords(), 2560);
  EXPECT_EQ(config.headerWords(), 3);
  EXPECT_DOUBLE_EQ(config.effectiveDramBytesPerCycle(), 14.4);
}

TEST(ArrayConfig, RefusesWhatCannotWork) {
  EXPECT_EQ(messageWith("pixels", "0"), "my.toml: array.pixels: 0 is not in the range 1 to 64");
  EXPECT_EQ(messageWith("pixels", "-4"), "my.toml: array.pixels: -4 is not in the range 1 to 64");
  EXPECT_EQ(messageWith("channels", "24"), "my.toml: array.channels: 24 is neither 8 nor a multiple of 16");
  EXPECT_EQ(messageWith("channels", "12"), "my.toml: array.channels: 12 is neither 8 nor a multiple of 16");
  EXPECT_EQ(messageWith("reduction", "3"), "my.toml: array.reduction: 3 is not one of 1, 2, 4, 8, 16");
  EXPECT_EQ(
      messageWith("scratchpad_bytes", "64"),
      "my.toml: memory.scratchpad_bytes: 64 is smaller than one tile: input and output of one brick of 4 pixels x 16 "
      "channels need 192");
  EXPECT_EQ(messageWith("scratchpad_bytes", "8200"),
            "my.toml: memory.scratchpad_bytes: 8200 is not a multiple of 64 (4 banks of 16-byte words)");
  EXPECT_EQ(messageWith("weight_ring_bytes", "256"),
            "my.toml: memory.weight_ring_bytes: 256 is smaller than a block's header and two steps, 320 bytes");
  EXPECT_EQ(
      messageWith("weight_ring_bytes", "1000"),
      "my.toml: memory.weight_ring_bytes: 1000 is not a multiple of the ring word, 64 bytes (channels x reduction)");
  EXPECT_EQ(messageWith("table_slots", "9"), "my.toml: memory.table_slots: 9 is not in the range 1 to 4");
  EXPECT_EQ(messageWith("bus_bytes", "8"), "my.toml: dram.bus_bytes: 8 is not one of 16, 32");
  EXPECT_EQ(messageWith("bytes_per_cycle", "17"),
            "my.toml: dram.bytes_per_cycle: 17 is not in the range 1 to 16, the bus width (dram.bus_bytes)");
  EXPECT_EQ(messageWith("bytes_per_cycle", "0"),
            "my.toml: dram.bytes_per_cycle: 0 is not in the range 1 to 16, the bus width (dram.bus_bytes)");
  EXPECT_EQ(messageWith("refuse_every", "1"), "my.toml: dram.refuse_every: 1 is not in the range 2 to 1000000");
  EXPECT_EQ(messageWith("refuse_every", "0"), "accepted");
  EXPECT_EQ(messageWith("latency_cycles", "0"), "my.toml: dram.latency_cycles: 0 is not in the range 1 to 100000");
  EXPECT_EQ(messageWith("nominal_mhz", "nan"), "my.toml: clock.nominal_mhz: must be above 0 and at most 100000");
}

TEST(ArrayConfig, RefusesWhatItDoesNotKnow) {
  EXPECT_TRUE(
      messageWith("voltage", "1").starts_with("my.toml: clock.voltage: unknown key; there are array.channels, "));
  EXPECT_EQ(messageWith("pixels", ""), "my.toml: array.pixels: is missing");
  EXPECT_EQ(messageWith("pixels", "\"4\""), "my.toml: array.pixels: is not an integer");
  EXPECT_EQ(messageWith("pixels", "4.5"), "my.toml: array.pixels: is not an integer");
  EXPECT_TRUE(messageWith("pixels", "4 4").starts_with("my.toml:2: not TOML: "));
  EXPECT_THROW(ArrayConfig::parse("pixels = 4", "my.toml"), Error);
  try {
    ArrayConfig::load("5x5x5");
    FAIL();
  } catch (const Error &error) {
    EXPECT_TRUE(
        std::string(error.what()).starts_with("array configuration '5x5x5' does not exist; there are 16x16x1, "));
  }
  EXPECT_THROW(ArrayConfig::load("/nowhere/a.toml"), Error);
}

} // namespace
