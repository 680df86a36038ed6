//===- accelerator.cpp - the whole core: errors and what comes after ---------===//
//
// Programs that fail (an unknown opcode, an address outside the memory, a wait that never
// holds and is stopped by the host) while loads, weights and stores are under way. Each ends
// with its error when no transfer is outstanding; the program after it, started without a
// reset, copies a map correctly; bursts stay whole on the bus.
//
//===----------------------------------------------------------------------===//

// VARIANT BusBytes=16
// VARIANT BusBytes=32
// FAULT ends_at_once in descriptor_fetch: (!failed || @(settle == 3'd7 && bus_idle_i)@) => 1'b1
// FAULT stop_ignored in control_registers: stop_o <= @wdata_i[1]@; => 1'b0
// FAULT error_stays in descriptor_fetch: if (@start_i && !busy_o@) begin => start_i && !busy_o && !failed

#include "Testbench.h"
#include "sim/DramModel.h"

namespace {

constexpr uint64_t memoryBytes = 1 << 20, source = 0x40000, target = 0x80000, programs = 0x1000;

struct Accelerator : Testbench {
  std::vector<uint8_t> memory = std::vector<uint8_t>(memoryBytes);
  tilewright::sim::DramModel dram{memory.data(), memoryBytes, {PARAMETER_BusBytes, PARAMETER_BusBytes, 10, 100}};
  int64_t reads = 0, writes = 0; // bursts under way

  void clock() {
    top.clk_i = 0;
    top.eval();
    tilewright::sim::AxiMaster master;
    master.arValid = top.m_arvalid_o;
    master.arAddress = top.m_araddr_o;
    master.arLen = top.m_arlen_o;
    master.arId = top.m_arid_o;
    master.rReady = top.m_rready_o;
    master.awValid = top.m_awvalid_o;
    master.awAddress = top.m_awaddr_o;
    master.awLen = top.m_awlen_o;
    master.wValid = top.m_wvalid_o;
    master.wLast = top.m_wlast_o;
    master.wStrobe = top.m_wstrb_o;
    master.bReady = top.m_bready_o;
    if (master.wValid)
      std::memcpy(master.wData, &top.m_wdata_o, PARAMETER_BusBytes);
    reads += top.m_arvalid_o && top.m_arready_i;
    reads -= top.m_rvalid_i && top.m_rready_o && top.m_rlast_i;
    writes += top.m_awvalid_o && top.m_awready_i;
    writes -= top.m_bvalid_i && top.m_bready_o;
    top.clk_i = 1;
    top.eval();
    const tilewright::sim::AxiSlave &slave = dram.clock(master, [](uint64_t, const uint8_t *, uint32_t) {});
    top.m_arready_i = slave.arReady;
    top.m_awready_i = slave.awReady;
    top.m_wready_i = slave.wReady;
    top.m_rvalid_i = slave.rValid;
    top.m_rid_i = slave.rId;
    top.m_rlast_i = slave.rLast;
    top.m_rresp_i = slave.rError ? 3 : 0;
    std::memcpy(&top.m_rdata_i, slave.rData, PARAMETER_BusBytes);
    top.m_bvalid_i = slave.bValid;
    top.m_bresp_i = slave.bError ? 3 : 0;
    ++cycle;
  }
  void writeRegister(uint8_t address, uint32_t value) {
    top.s_awvalid_i = top.s_wvalid_i = 1;
    top.s_awaddr_i = address;
    top.s_wdata_i = value;
    clock();
    top.s_awvalid_i = top.s_wvalid_i = 0;
    clock();
  }
  uint32_t readRegister(uint8_t address) {
    top.s_arvalid_i = 1;
    top.s_araddr_i = address;
    clock();
    top.s_arvalid_i = 0;
    uint32_t value = top.s_rdata_o;
    clock();
    return value;
  }
  Job transfer(unsigned opcode, uint64_t address, uint32_t base, int width) {
    Job job;
    job.set(isa::HeaderOpcode, opcode);
    bool load = opcode == isa::OpcodeLoad;
    job.set(load ? isa::LoadDramAddress : isa::StoreDramAddress, address);
    job.set(load ? isa::LoadOutBase : isa::StoreInBase, base);
    job.set(load ? isa::LoadOutRingRows : isa::StoreInRingRows, 1);
    job.set(load ? isa::LoadRowCount : isa::StoreRowCount, 1).set(load ? isa::LoadWidth : isa::StoreWidth, width);
    job.set(load ? isa::LoadPlanes : isa::StorePlanes, 1).set(load ? isa::LoadSamples : isa::StoreSamples, 1);
    if (load)
      job.set(isa::LoadMode, isa::LoadModeWords);
    return job;
  }
  /// Starts the program; returns its status once it is no longer busy. `stopAt` > 0: the host stops it in that cycle.
  uint32_t run(const std::vector<Job> &program, int stopAt = 0) {
    for (size_t i = 0; i < program.size(); ++i)
      std::memcpy(&memory[programs + 128 * i], program[i].bytes, 128);
    writeRegister(0x08, programs);
    writeRegister(0x0c, 0);
    writeRegister(0x00, 1);
    for (int i = 0; i < 20000; ++i) {
      if (stopAt > 0 && i == stopAt)
        writeRegister(0x00, 2);
      clock();
      if (top.done_o)
        break;
    }
    EXPECT_EQ(reads, 0) << "reads are outstanding";
    EXPECT_EQ(writes, 0) << "writes are outstanding";
    clock();
    uint32_t status = readRegister(0x04);
    EXPECT_EQ(status & 1, 0u) << "still busy";
    return status;
  }
  /// A program that copies `width` words, waiting for the load.
  std::vector<Job> copy(int width) {
    std::vector<Job> program = {transfer(isa::OpcodeLoad, source, 100, width),
                                transfer(isa::OpcodeStore, target, 100, width), Job()};
    program[1].set(isa::HeaderWaitLoad, 1);
    program[2].set(isa::HeaderOpcode, isa::OpcodeSync).set(isa::SyncEnd, 1).set(isa::HeaderWaitStore, 1);
    return program;
  }
};

TEST_F(Accelerator, TheNextProgramRunsAfterAnError) {
  top.m_arready_i = top.m_awready_i = 1;
  top.s_bready_i = top.s_rready_i = 1;
  top.rst_ni = 0;
  for (int i = 0; i < 4; ++i)
    clock();
  top.rst_ni = 1;
  for (int i = 0; i < 60; ++i) {
    // Loads, weights and stores are under way when the program fails.
    std::vector<Job> program;
    for (int j = random.range(1, 4); j > 0; --j) {
      program.push_back(
          transfer(isa::OpcodeLoad, source + 16 * random.below(999), random.below(999), random.range(1, 99)));
      program.push_back(
          transfer(isa::OpcodeStore, target + 16 * random.below(999), random.below(999), random.range(1, 99)));
      Job weights;
      weights.set(isa::HeaderOpcode, isa::OpcodeWeights).set(isa::WeightsDramAddress, source);
      weights.set(isa::WeightsDestination, isa::WeightsDestinationRing)
          .set(isa::WeightsByteCount, 64 * random.range(1, 40));
      program.push_back(weights);
    }
    Job culprit;
    int kind = i % 3, stopAt = 0;
    if (kind == 0)
      culprit.set(isa::HeaderOpcode, 77);
    else if (kind == 1)
      culprit = transfer(isa::OpcodeLoad, memoryBytes + 4096, 0, 20);
    else
      culprit.set(isa::HeaderOpcode, isa::OpcodeSync).set(isa::HeaderWaitStore, 1000);
    if (kind == 2)
      stopAt = random.range(1, 800);
    program.push_back(culprit);
    Job end;
    end.set(isa::HeaderOpcode, isa::OpcodeSync).set(isa::SyncEnd, 1).set(isa::HeaderWaitLoad, 1000);
    program.push_back(end);
    ASSERT_EQ(run(program, stopAt), 6u) << "done and error; kind " << kind;
    ASSERT_EQ(readRegister(0x14), kind == 0 ? 1u : kind == 1 ? 5u : 6u);
    if (kind == 0)
      ASSERT_EQ(readRegister(0x10), program.size() - 2) << "the culprit's number";

    for (uint64_t b = 0; b < 16 * 200; ++b) {
      memory[source + b] = uint8_t(random());
      memory[target + b] = 0;
    }
    int width = random.range(1, 200);
    ASSERT_EQ(run(copy(width)), 2u) << "done without error";
    ASSERT_EQ(std::memcmp(&memory[source], &memory[target], 16 * width), 0) << "the copy after error " << i;
  }
}

} // namespace
