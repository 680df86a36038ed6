//===- GoldenExecutor.cpp - the functional executor -----------------------===//

#include "backends/systolic/isa/Descriptor.h"
#include "backends/systolic/isa/ProgramVerifier.h"
#include "sim/Executor.h"
#include "sim/golden/GoldenMachine.h"
#include <chrono>

namespace tilewright::sim {

namespace avx2 {
extern const Kernels table;
}
namespace generic {
extern const Kernels table;
}

const Kernels &kernels() {
#ifdef __x86_64__
  static const bool fast = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  return fast ? avx2::table : generic::table;
#else
  return generic::table;
#endif
}

namespace {

class GoldenExecutor final : public Executor {
public:
  const char *name() const override { return "golden"; }

  RunResult run(const ArrayConfig &config, std::span<uint8_t> memory, uint64_t programAddress,
                const RunOptions &options) override {
    if (programAddress % 16 || programAddress > memory.size())
      throw Error("program address " + std::to_string(programAddress) + " is not a multiple of 16 inside the memory");
    std::vector<isa::Descriptor> program = isa::decodeProgram(memory.subspan(programAddress));
    isa::verifyProgram(program, config, memory.size());
    RunResult result;
    GoldenMachine machine(config, memory, options, result);
    auto lastReport = std::chrono::steady_clock::now();
    for (uint32_t i = 0; i < program.size(); ++i) {
      uint32_t layer = uint32_t(isa::header(program[i]).layer);
      isa::Opcode kind = isa::opcode(program[i]);
      try {
        machine.run(program[i], i);
      } catch (const Error &error) {
        throw Error("descriptor " + std::to_string(i) + " (" + isa::name(kind) + ", layer " + std::to_string(layer) +
                    "): " + error.what());
      }
      if (kind != isa::Opcode::Sync)
        result.jobs.push_back({uint32_t(kind), layer, i, 0, 0, 0, 0, {}});
      auto now = std::chrono::steady_clock::now();
      if (options.progress && now - lastReport > std::chrono::milliseconds(100)) {
        lastReport = now;
        if (!options.progress({0, i, layer}))
          throw Error("interrupted");
      }
    }
    result.dramBytes[TilewrightDramFetch] = program.size() * isa::descriptorBytes;
    return result;
  }
};

} // namespace

std::unique_ptr<Executor> makeGoldenExecutor() { return std::make_unique<GoldenExecutor>(); }

} // namespace tilewright::sim
