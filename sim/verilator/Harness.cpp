//===- Harness.cpp - a Verilated accelerator behind SimulatorAbi.h --------===//
//
// Compiled by build_simulator.py together with Verilator's output, once for each
// array configuration. Drives the clock, starts the program over AXI4-Lite, plays the
// DRAM, and turns the trace ports into job records and write digests.
//
//===----------------------------------------------------------------------===//

#include "Vaccelerator.h"
#include "sim/DramModel.h"
#include "sim/SimulatorAbi.h"
#include "sim/WriteDigest.h"
#include "verilated.h"
#if VM_TRACE
#include "verilated_fst_c.h"
#endif

#include <chrono>
#include <cstdarg>
#include <cstdio>
#include <deque>
#include <memory>
#include <stdexcept>
#include <string>

using namespace tilewright::sim;

namespace {

constexpr const char *queueNames[5] = {"load", "weights", "execute", "vector", "store"};
/// Without any transfer, write or completion for so long, nothing will ever happen again: the longest reduction of one
/// brick is far shorter.
constexpr uint64_t deadlockCycles = 1000000;
constexpr uint64_t completionCycles = 10000000;

std::string format(const char *text, ...) __attribute__((format(printf, 1, 2)));
std::string format(const char *text, ...) {
  char buffer[512];
  va_list arguments;
  va_start(arguments, text);
  std::vsnprintf(buffer, sizeof buffer, text, arguments);
  va_end(arguments);
  return buffer;
}

/// A port wider than 64 bits is an array of 32-bit words.
template <typename Port> const uint32_t *words(const Port &port) { return reinterpret_cast<const uint32_t *>(&port); }
template <typename Port> uint32_t *words(Port &port) { return reinterpret_cast<uint32_t *>(&port); }

class Simulation {
public:
  Simulation(const TilewrightRequest &request, TilewrightResult &result)
      : request(request), result(result),
        dram(request.memory, request.memoryBytes,
             {TILEWRIGHT_BUS_BYTES, request.dramBytesPerCycle, request.dramRefuseEvery, request.dramLatencyCycles}),
        context(std::make_unique<VerilatedContext>()) {
#if VM_TRACE
    context->traceEverOn(request.waveFile != nullptr);
#endif
    top = std::make_unique<Vaccelerator>(context.get());
#if VM_TRACE
    if (request.waveFile) {
      wave = std::make_unique<VerilatedFstC>();
      top->trace(wave.get(), 99);
      wave->open(request.waveFile);
    }
#else
    if (request.waveFile)
      throw std::runtime_error("this simulator was built without traces (build_simulator.py --trace)");
#endif
  }
  ~Simulation() {
#if VM_TRACE
    if (wave)
      wave->close();
#endif
    top->final();
  }

  void run() {
    top->m_arready_i = top->m_awready_i = 1;
    top->s_bready_i = 1;
    for (int i = 0; i < 4; ++i)
      edge();
    top->rst_ni = 1;
    writeRegister(0x08, uint32_t(request.programAddress));
    writeRegister(0x0c, uint32_t(request.programAddress >> 32));
    writeRegister(0x00, 1);
    while (!top->busy_o)
      edge();
    auto lastProgress = std::chrono::steady_clock::now();
    while (true) {
      edge();
      ++cycle;
      observe();
      if (top->done_o)
        break;
      if ((cycle & 0x3fff) == 0) {
        checkProgress();
        auto now = std::chrono::steady_clock::now();
        if (request.onProgress && now - lastProgress > std::chrono::milliseconds(100)) {
          lastProgress = now;
          if (request.onProgress(request.context, cycle, current.descriptor, current.layer))
            throw std::runtime_error("interrupted");
        }
      }
    }
    result.cycles = cycle;
    result.tail = top->tail_o;
    for (unsigned id = 0; id < 3; ++id)
      result.dramBytes[id] = dram.readBytes()[id];
    result.dramBytes[TilewrightDramStore] = dram.writtenBytes()[0];
    if (top->error_o)
      throw std::runtime_error(describeError());
  }

private:
  /// One clock cycle: the core and the DRAM see each other's outputs from before the edge.
  void edge() {
    top->clk_i = 0;
    top->eval();
#if VM_TRACE
    if (wave)
      wave->dump(2 * time);
#endif
    AxiMaster master;
    master.arValid = top->m_arvalid_o;
    master.arAddress = top->m_araddr_o;
    master.arLen = top->m_arlen_o;
    master.arId = top->m_arid_o;
    master.rReady = top->m_rready_o;
    master.awValid = top->m_awvalid_o;
    master.awAddress = top->m_awaddr_o;
    master.awLen = top->m_awlen_o;
    master.wValid = top->m_wvalid_o;
    master.wLast = top->m_wlast_o;
    master.wStrobe = top->m_wstrb_o;
    master.bReady = top->m_bready_o;
    if (master.wValid)
      std::memcpy(master.wData, words(top->m_wdata_o), TILEWRIGHT_BUS_BYTES);
    top->clk_i = 1;
    top->eval();
#if VM_TRACE
    if (wave)
      wave->dump(2 * time + 1);
#endif
    ++time;
    const AxiSlave &slave = dram.clock(
        master, [this](uint64_t address, const uint8_t *data, uint32_t strobe) { onDramWrite(address, data, strobe); });
    if (slave.rValid || (master.wValid && slave.wReady))
      lastActivity = cycle;
    top->m_arready_i = slave.arReady;
    top->m_awready_i = slave.awReady;
    top->m_wready_i = slave.wReady;
    top->m_rvalid_i = slave.rValid;
    if (slave.rValid) {
      top->m_rid_i = slave.rId;
      top->m_rlast_i = slave.rLast;
      top->m_rresp_i = slave.rError ? 3 : 0;
      std::memcpy(words(top->m_rdata_i), slave.rData, TILEWRIGHT_BUS_BYTES);
    }
    top->m_bvalid_i = slave.bValid;
    top->m_bresp_i = slave.bError ? 3 : 0;
  }

  void writeRegister(uint8_t address, uint32_t value) {
    top->s_awvalid_i = top->s_wvalid_i = 1;
    top->s_awaddr_i = address;
    top->s_wdata_i = value;
    top->clk_i = 0;
    top->eval();
    while (!top->s_awready_o)
      edge();
    edge();
    top->s_awvalid_i = top->s_wvalid_i = 0;
    edge();
  }

  void onDramWrite(uint64_t address, const uint8_t *data, uint32_t strobe) {
    for (unsigned i = 0; i < TILEWRIGHT_BUS_BYTES / 16; ++i, strobe >>= 16) {
      uint64_t word = address / 16 + i;
      if (!(strobe & 0xffff))
        continue;
      if (request.dramDigest)
        digestWrite(request.dramDigest + word * 16, data + 16 * i, strobe & 0xffff);
      if (word == request.watchDram)
        report(5, data + 16 * i, uint16_t(strobe));
    }
  }

  void report(uint32_t opcode, const uint8_t *data, uint16_t mask) {
    if (!request.onWatchedWrite)
      return;
    const auto &jobs = running[opcode - 1];
    TilewrightWrite write{cycle, opcode, jobs.empty() ? UINT32_MAX : jobs.front().descriptor, {}, mask};
    std::memcpy(write.data, data, 16);
    request.onWatchedWrite(request.context, &write);
  }

  /// The trace ports after an edge.
  void observe() {
    if (top->write_o)
      observeWrites();
    if (top->taken_o)
      for (unsigned q = 0; q < 5; ++q)
        if (top->taken_o >> q & 1) {
          TilewrightJob job{};
          job.opcode = q + 1;
          uint32_t layers = words(top->job_layer_o)[q / 2];
          job.layer = q % 2 ? layers >> 16 : layers & 0xffff;
          job.descriptor = words(top->job_index_o)[q];
          job.start = cycle;
          running[q].push_back(job);
          if (q == 2)
            current = job;
        }
    if (top->issued_o) {
      TilewrightJob counts{};
      counts.steps = top->steps_o;
      for (unsigned c = 0; c < TilewrightCauseCount; ++c)
        counts.lost[c] = words(top->lost_o)[c];
      issued.push_back(counts);
    }
    if (top->completed_o)
      for (unsigned q = 0; q < 5; ++q)
        if (top->completed_o >> q & 1)
          complete(q);
  }

  void complete(unsigned queue) {
    lastActivity = lastCompletion = cycle;
    ++completed[queue];
    if (running[queue].empty())
      throw std::runtime_error(format("a %s job completed that never began", queueNames[queue]));
    TilewrightJob job = running[queue].front();
    running[queue].pop_front();
    job.end = cycle;
    if (queue == 2) {
      if (issued.empty())
        throw std::runtime_error("an execute job completed before its last step");
      job.steps = issued.front().steps;
      std::copy(std::begin(issued.front().lost), std::end(issued.front().lost), job.lost);
      issued.pop_front();
    }
    if (request.onJob)
      request.onJob(request.context, &job);
  }

  void observeWrites() {
    lastActivity = cycle;
    for (unsigned bank = 0; bank < 4; ++bank) {
      if (!(top->write_o >> bank & 1))
        continue;
      const uint32_t *addresses = words(top->write_word_o);
      unsigned bit = bank * 24;
      uint64_t pair = addresses[bit / 32] | (bit / 32 < 2 ? uint64_t(addresses[bit / 32 + 1]) << 32 : 0);
      uint64_t word = pair >> bit % 32 & 0xffffff;
      uint16_t mask = uint16_t(top->write_enable_o >> 16 * bank);
      const auto *data = reinterpret_cast<const uint8_t *>(words(top->write_data_o) + 4 * bank);
      if (!mask) // the marker that completes a job whose last pixel has no channels
        continue;
      if (word >= TILEWRIGHT_SCRATCHPAD_BYTES / 16)
        throw std::runtime_error(format("write to scratchpad word %llu, outside the %u words of this configuration",
                                        static_cast<unsigned long long>(word), TILEWRIGHT_SCRATCHPAD_BYTES / 16));
      if (request.scratchpadDigest)
        digestWrite(request.scratchpadDigest + word * 16, data, mask);
      if (word == request.watchScratchpad) {
        static constexpr uint32_t opcodes[4] = {3, 4, 1, 1};
        report(opcodes[top->writer_o >> 2 * bank & 3], data, mask);
      }
    }
  }

  void checkProgress() const {
    if (request.maxCycles && cycle >= request.maxCycles)
      throw std::runtime_error(format("not done after %llu cycles; ", static_cast<unsigned long long>(cycle)) +
                               describeQueues());
    if (cycle - lastActivity > deadlockCycles || (!request.maxCycles && cycle - lastCompletion > completionCycles))
      throw std::runtime_error(format("deadlock: nothing has completed since cycle %llu; ",
                                      static_cast<unsigned long long>(lastCompletion)) +
                               describeQueues());
  }

  /// A wait of the descriptor in memory: the header's fields follow opcode (8 bits) and layer (16).
  uint32_t waitOf(uint32_t descriptor, unsigned queue) const {
    uint64_t at = request.programAddress + uint64_t(descriptor) * 128 + 3 + 4 * queue;
    uint32_t value = 0;
    if (at + 4 <= request.memoryBytes)
      std::memcpy(&value, request.memory + at, 4);
    return value;
  }

  std::string describeQueues() const {
    std::string text = format("the fetch is at descriptor %u", top->descriptor_o);
    for (unsigned q = 0; q < 5; ++q) {
      text += std::string("; ") + queueNames[q] + ": ";
      if (!running[q].empty())
        text += format("descriptor %u runs", running[q].front().descriptor);
      else if (top->queue_empty_o >> q & 1)
        text += "empty";
      else {
        uint32_t descriptor = words(top->queue_index_o)[q];
        text += format("descriptor %u waits", descriptor);
        for (unsigned other = 0; other < 5; ++other)
          if (top->queue_waits_o >> (5 * q + other) & 1)
            text += format(" for %u %s jobs (%u completed)", waitOf(descriptor, other), queueNames[other],
                           completed[other]);
      }
    }
    return text;
  }

  std::string describeError() const {
    static constexpr const char *reasons[] = {"",
                                              "unknown opcode",
                                              "weights source or order that this version does not have",
                                              "mode depthwise, which arrays of more than 16 channels do not have",
                                              "store_int32, which this version does not have",
                                              "bus error: a DRAM address outside the memory",
                                              "stopped by the host"};
    unsigned code = top->error_o;
    return format("descriptor %u: %s", top->descriptor_o, code <= 6 ? reasons[code] : "unknown error");
  }

  const TilewrightRequest &request;
  TilewrightResult &result;
  DramModel dram;
  std::unique_ptr<VerilatedContext> context;
  std::unique_ptr<Vaccelerator> top;
#if VM_TRACE
  std::unique_ptr<VerilatedFstC> wave;
#endif
  uint64_t cycle = 0, time = 0, lastActivity = 0, lastCompletion = 0;
  uint32_t completed[5] = {};
  std::deque<TilewrightJob> running[5], issued;
  TilewrightJob current{};
};

} // namespace

extern "C" __attribute__((visibility("default"))) void tilewright_simulator_info(TilewrightSimulatorInfo *info) {
  *info = {TILEWRIGHT_SIMULATOR_ABI, TILEWRIGHT_PIXELS,           TILEWRIGHT_CHANNELS,
           TILEWRIGHT_REDUCTION,     TILEWRIGHT_SCRATCHPAD_BYTES, TILEWRIGHT_WEIGHT_RING_BYTES,
           TILEWRIGHT_TABLE_SLOTS,   TILEWRIGHT_BUS_BYTES,        TILEWRIGHT_TABLE_DIGEST};
}

extern "C" __attribute__((visibility("default"))) int tilewright_simulate(const TilewrightRequest *request,
                                                                          TilewrightResult *result) {
  *result = {};
  try {
    if (request->abi != TILEWRIGHT_SIMULATOR_ABI)
      throw std::runtime_error("the caller was built for another simulator interface");
    Simulation(*request, *result).run();
    return 0;
  } catch (const std::exception &error) {
    std::snprintf(result->error, sizeof result->error, "%s", error.what());
    return 1;
  }
}
