//===- Testbench.h - what every testbench of an RTL block shares -*- C++ -*-===//
//
// Clock and reset, a seeded source of random decisions, bits of wide ports, descriptor
// fields, and main(). Per cycle: set inputs, settle() for the outputs that depend on them
// at once, look at both sides of each handshake, edge().
//
//===----------------------------------------------------------------------===//

#ifndef TILEWRIGHT_TEST_RTL_TESTBENCH_H
#define TILEWRIGHT_TEST_RTL_TESTBENCH_H

#include "Vtop.h"
#include "Vtop___024root.h"
#include "Vtop_tilewright_fault_pkg.h"
#include "isa_fields.h"
#include "parameters.h"
#include "verilated.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <gtest/gtest.h>
#include <random>
#include <string>
#include <vector>

/// Number of the planted fault that acts; 0 none.
inline int plantedFault = 0;

/// `width` (at most 64) bits of a port from bit `lsb`. All of Verilator's port types keep bit 0 in the lowest byte.
template <class Port> uint64_t bitsOf(const Port &port, unsigned lsb, unsigned width) {
  const auto *bytes = reinterpret_cast<const uint8_t *>(&port);
  unsigned __int128 window = 0;
  size_t first = lsb / 8, count = std::min<size_t>(16, sizeof(Port) - first);
  std::memcpy(&window, bytes + first, count);
  uint64_t value = uint64_t(window >> (lsb % 8));
  return width == 64 ? value : value & ((uint64_t(1) << width) - 1);
}
template <class Port> void setBits(Port &port, unsigned lsb, unsigned width, uint64_t value) {
  auto *bytes = reinterpret_cast<uint8_t *>(&port);
  for (unsigned i = 0; i < width; ++i) {
    unsigned bit = lsb + i;
    bytes[bit / 8] = uint8_t((bytes[bit / 8] & ~(1 << bit % 8)) | ((value >> i & 1) << bit % 8));
  }
}

/// 16 bytes, as memories and buses carry them.
struct Word {
  uint8_t bytes[16] = {};
  bool operator==(const Word &) const = default;
};
template <class Port> Word wordOf(const Port &port, unsigned index = 0) {
  Word word;
  std::memcpy(word.bytes, reinterpret_cast<const uint8_t *>(&port) + 16 * index, 16);
  return word;
}
template <class Port> void setWord(Port &port, unsigned index, const Word &word) {
  std::memcpy(reinterpret_cast<uint8_t *>(&port) + 16 * index, word.bytes, 16);
}
inline std::ostream &operator<<(std::ostream &stream, const Word &word) {
  char text[33];
  for (int i = 0; i < 16; ++i)
    std::snprintf(text + 2 * i, 3, "%02x", word.bytes[15 - i]);
  return stream << text;
}

/// A descriptor under construction: isa_fields.h has the positions of its fields.
struct Job {
  uint8_t bytes[128] = {};
  Job &set(isa::Field field, uint64_t value) {
    setBits(bytes, field.lsb, field.width, value);
    return *this;
  }
  uint64_t get(isa::Field field) const { return bitsOf(bytes, field.lsb, field.width); }
  template <class Port> void drive(Port &port) const { std::memcpy(&port, bytes, sizeof(bytes)); }
  bool operator==(const Job &) const = default;
};
template <class Port> Job jobOf(const Port &port) {
  Job job;
  std::memcpy(job.bytes, &port, sizeof(job.bytes));
  return job;
}

struct Random {
  std::mt19937 engine;
  explicit Random(unsigned seed) : engine(seed) {}
  uint32_t operator()() { return uint32_t(engine()); }
  /// 0 <= result < n.
  uint32_t below(uint32_t n) { return uint32_t(uint64_t(engine()) * n >> 32); }
  int range(int low, int high) { return low + int(below(uint32_t(high - low + 1))); }
  bool percent(uint32_t p) { return below(100) < p; }
  Word word() {
    Word result;
    for (uint8_t &byte : result.bytes)
      byte = uint8_t(engine());
    return result;
  }
  Job job() {
    Job result;
    for (uint8_t &byte : result.bytes)
      byte = uint8_t(engine());
    return result;
  }
};

/// A block under test: every test has a fresh model.
struct Testbench : testing::Test {
  Vtop top;
  Random random{1};
  int64_t cycle = 0;

  Testbench() { top.rootp->__PVT__tilewright_fault_pkg->fault = plantedFault; }
  /// Outputs follow the inputs as set.
  void settle() {
    top.eval();
    settled = true;
  }
  /// A clock edge. Registered outputs are new afterwards; combinational ones after the next settle().
  template <class Top = Vtop> void edge() {
    Top &model = top;
    if constexpr (requires { model.clk_i; }) {
      if (!settled)
        model.eval();
      model.clk_i = 1;
      model.eval();
      model.clk_i = 0;
    }
    settled = false;
    ++cycle;
  }
  template <class Top = Vtop> void reset() {
    Top &model = top;
    if constexpr (requires { model.rst_ni; })
      model.rst_ni = 0;
    for (int i = 0; i < 3; ++i)
      edge();
    if constexpr (requires { model.rst_ni; })
      model.rst_ni = 1;
  }

private:
  bool settled = false;
};

/// True for the words of the command line that are `--name=value`; stores the value.
inline bool flag(const char *argument, const char *name, int64_t &value) {
  std::string prefix = std::string("--") + name + "=";
  if (std::strncmp(argument, prefix.c_str(), prefix.size()) != 0)
    return false;
  value = std::stoll(argument + prefix.size());
  return true;
}

/// With a planted fault the first check that fails ends the run: it has been found.
struct StopAtFirstFailure : testing::EmptyTestEventListener {
  void OnTestPartResult(const testing::TestPartResult &result) override {
    if (!result.failed())
      return;
    std::printf("FAILED %s:%d: %s\n", result.file_name(), result.line_number(), result.message());
    std::fflush(stdout);
    std::_Exit(1);
  }
};

/// A testbench's main(). `ownFlag` gets the words of the command line that are neither GoogleTest's nor --fault.
inline int runTestbench(int argc, char **argv, void (*ownFlag)(const char *) = nullptr) {
  testing::InitGoogleTest(&argc, argv);
  for (int i = 1; i < argc; ++i) {
    int64_t value = 0;
    if (flag(argv[i], "fault", value))
      plantedFault = int(value);
    else if (ownFlag)
      ownFlag(argv[i]);
    else
      std::exit((std::fprintf(stderr, "unknown argument %s\n", argv[i]), 2));
  }
  if (plantedFault != 0)
    testing::UnitTest::GetInstance()->listeners().Append(new StopAtFirstFailure);
  return RUN_ALL_TESTS();
}

#ifndef TESTBENCH_OWN_MAIN
int main(int argc, char **argv) { return runTestbench(argc, argv); }
#endif

#endif
