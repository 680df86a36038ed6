//===- descriptor_fetch.cpp - programs dealt out to the queues --------------===//
//
// Random programs in a memory that grants and answers at random; queues that are full at
// random; jobs that complete at random. Every descriptor reaches its queue once, whole, in
// order and with its number; none passes a sync whose waits do not hold; done comes once, when
// everything has completed; what the configuration cannot execute stops the program there.
//
//===----------------------------------------------------------------------===//

// VARIANT K=16
// VARIANT K=32
// FAULT sync_passes_early: if (@completed_i[i*32+:32]@ < job => completed_i[i*32+:32] + 32'd1
// FAULT done_before_completion: waits_hold && all_complete => waits_hold
// FAULT full_ignored: !full_i[queue] => !full_i[queue] || queue == 3'd4
// FAULT too_many_words: reserved + {2'd0, burst} <= 7'(BufferWords) => reserved + {2'd0, burst} <= 7'(BufferWords + 16)
// FAULT wrong_number: index_o <= @descriptor_o@; => descriptor_o + 32'd1
// FAULT beyond_256_bytes: 5'd16 - {1'b0, address[7:4]} => 5'd16
// FAULT unknown_opcode: opcode > tilewright_isa_pkg::OpcodeSync => 1'b0
// FAULT depthwise_refused_always: K > 16 => K > 15
// FAULT bus_error_missed: (@bus_error_i@ || stop_i) && busy_o => bus_error_i && collected == 4'd9
// FAULT done_while_words_fly: flying == 7'd0 => 1'b1

#include "Testbench.h"

#include <deque>
#include <map>

namespace {

constexpr isa::Field waits[5] = {isa::HeaderWaitLoad, isa::HeaderWaitWeights, isa::HeaderWaitExecute,
                                 isa::HeaderWaitVector, isa::HeaderWaitStore};

struct Fetch : Testbench {
  std::vector<Job> program;
  uint64_t base = 0;
  uint32_t completed[5] = {}, pushed[5] = {};

  /// A descriptor of random bits that the configuration executes, but for its waits.
  Job legal(unsigned opcode) {
    Job job = random.job();
    job.set(isa::HeaderOpcode, opcode);
    if (opcode == isa::OpcodeWeights)
      job.set(isa::WeightsSource, isa::WeightsSourceDram).set(isa::WeightsOrder, isa::WeightsOrderAsStored);
    if (opcode == isa::OpcodeExecute) {
      job.set(isa::ExecuteStoreInt32, 0);
      if (PARAMETER_K > 16)
        job.set(isa::ExecuteMode, random.below(2) * isa::ExecuteModePacked);
    }
    return job;
  }
  /// `length` descriptors, the last one the end.
  void makeProgram(int length) {
    program.clear();
    uint32_t counts[5] = {};
    for (int i = 0; i < length; ++i) {
      bool end = i + 1 == length;
      unsigned opcode = end || random.percent(10) ? isa::OpcodeSync : isa::OpcodeLoad + random.below(5);
      Job job = legal(opcode);
      if (opcode == isa::OpcodeSync) {
        job.set(isa::SyncEnd, end);
        for (int q = 0; q < 5; ++q)
          job.set(waits[q], random.percent(40) ? counts[q] : random.below(counts[q] + 1));
      } else {
        ++counts[opcode - isa::OpcodeLoad];
      }
      program.push_back(job);
    }
    base = (uint64_t(random()) << 8 ^ random()) & 0xffffffffff0;
  }
  Word memory(uint64_t address) const {
    uint64_t offset = address - base;
    Word word;
    if (offset < program.size() * 128)
      std::memcpy(word.bytes, program[offset / 128].bytes + offset % 128, 16);
    else // whatever lies behind the program: an endless row of legal loads
      word.bytes[0] = offset % 128 == 0 ? isa::OpcodeLoad : 0;
    return word;
  }

  /// Runs the program. `culprit` >= 0: it stops at that descriptor with `error`. `busErrorAt` >= 0: in that cycle.
  void run(int culprit = -1, unsigned error = 0, int64_t busErrorAt = -1) {
    std::fill_n(completed, 5, 0);
    std::fill_n(pushed, 5, 0);
    std::deque<uint64_t> flying;
    size_t next = 0; // descriptor
    int waiting[5] = {};
    uint32_t fullBefore = 0;
    top.start_i = 1;
    top.program_i = base;
    top.full_i = 0;
    top.grant_i = top.valid_i = top.bus_error_i = top.stop_i = 0;
    top.bus_idle_i = 1;
    std::fill_n(reinterpret_cast<uint8_t *>(&top.completed_i), 20, 0);
    edge();
    top.start_i = 0;
    bool pace = random.percent(50); // a slow memory or slow queues
    bool ended = false;
    for (int64_t i = 0; !ended; ++i) {
      ASSERT_LT(i, 40000) << "the program hangs at descriptor " << next << " of " << program.size();
      for (int q = 0; q < 5; ++q) {
        if (waiting[q] > 0 && random.percent(pace ? 8 : 20)) {
          --waiting[q];
          ++completed[q];
        }
        setBits(top.completed_i, q * 32, 32, completed[q]);
        setBits(top.full_i, q, 1, waiting[q] >= 8 || random.percent(30));
      }
      top.bus_error_i = i == busErrorAt;
      // A word that was asked for some cycles ago.
      top.valid_i = !flying.empty() && random.percent(pace ? 90 : 50);
      if (top.valid_i)
        setWord(top.data_i, 0, memory(flying.front()));
      settle();
      ASSERT_TRUE(top.busy_o || top.done_o) << "idle before done";
      top.grant_i = top.request_o && random.percent(pace ? 60 : 30);
      settle();

      // ---- What reaches the queues.
      ASSERT_EQ(top.push_o & (top.push_o - 1), 0u) << "two queues at once";
      if (top.push_o) {
        while (next < program.size() && program[next].get(isa::HeaderOpcode) == isa::OpcodeSync) {
          for (int q = 0; q < 5; ++q)
            ASSERT_GE(completed[q], program[next].get(waits[q])) << "past the sync at " << next << ", queue " << q;
          ++next;
        }
        ASSERT_LT(next, program.size()) << "a descriptor behind the end";
        ASSERT_TRUE(culprit < 0 || int(next) < culprit) << "the culprit, or one behind it";
        ASSERT_TRUE(jobOf(top.job_o) == program[next]) << "descriptor " << next;
        ASSERT_EQ(top.index_o, next);
        unsigned queue = unsigned(program[next].get(isa::HeaderOpcode) - isa::OpcodeLoad);
        ASSERT_EQ(top.push_o, 1u << queue) << "descriptor " << next;
        ASSERT_EQ(fullBefore >> queue & 1, 0u) << "into a full queue";
        ++pushed[queue];
        ++waiting[queue];
        ++next;
      }
      fullBefore = top.full_i;

      // ---- Requests.
      if (top.grant_i) {
        uint64_t address = top.address_o;
        ASSERT_EQ(address % 16, 0u);
        ASSERT_GT(top.words_o, 0);
        ASSERT_EQ(address / 256, (address + 16 * top.words_o - 1) / 256) << "beyond an aligned 256 bytes";
        ASSERT_LE(address + 16 * top.words_o, base + program.size() * 128 + 1024)
            << "more than 1 KiB behind the program";
        for (unsigned w = 0; w < top.words_o; ++w)
          flying.push_back(address + 16 * w);
        ASSERT_LE(flying.size(), 64u);
      }
      if (top.valid_i)
        flying.pop_front();

      if (top.done_o) {
        ended = true;
        ASSERT_FALSE(top.busy_o);
        ASSERT_TRUE(flying.empty()) << "data still comes";
        ASSERT_EQ(top.error_o, error);
        if (culprit >= 0) {
          ASSERT_EQ(top.descriptor_o, unsigned(culprit));
        } else if (error == 0) {
          const Job &end = program.back();
          for (int q = 0; q < 5; ++q) {
            ASSERT_GE(completed[q], end.get(waits[q]));
            ASSERT_EQ(completed[q], pushed[q]) << "queue " << q << " has not completed";
          }
          while (next < program.size() && program[next].get(isa::HeaderOpcode) == isa::OpcodeSync)
            ++next;
          ASSERT_EQ(next, program.size()) << "descriptors are missing";
        }
      }
      edge();
    }
    settle();
    ASSERT_FALSE(top.done_o) << "done is a pulse";
    ASSERT_FALSE(top.busy_o);
    for (int i = 0; i < 20; ++i) {
      edge();
      settle();
      ASSERT_FALSE(top.request_o || top.push_o || top.busy_o);
    }
  }
  void start() {
    top.start_i = top.grant_i = top.valid_i = top.bus_error_i = 0;
    reset();
  }
};

TEST_F(Fetch, ProgramsOneAfterTheOther) {
  start();
  for (int i = 0; i < 150; ++i) {
    makeProgram(1 + int(random.below(i % 10 ? 30 : 120)));
    ASSERT_NO_FATAL_FAILURE(run());
  }
}

TEST_F(Fetch, StopsAtWhatItCannotExecute) {
  for (int i = 0; i < 120; ++i) {
    start();
    makeProgram(2 + int(random.below(40)));
    int culprit = int(random.below(uint32_t(program.size() - 1)));
    Job &job = program[culprit];
    unsigned error = 1 + i % 4;
    switch (error) {
    case 1:
      job = random.job();
      job.set(isa::HeaderOpcode, random.percent(50) ? isa::OpcodeSync + 1 + random.below(200) : 0);
      break;
    case 2:
      job = legal(isa::OpcodeWeights);
      if (random.percent(50))
        job.set(isa::WeightsSource, isa::WeightsSourceScratchpad);
      else
        job.set(isa::WeightsOrder, 1 + random.below(2));
      break;
    case 3:
      job = legal(isa::OpcodeExecute);
      job.set(isa::ExecuteMode, isa::ExecuteModeDepthwise);
      break;
    case 4:
      job = legal(isa::OpcodeExecute);
      job.set(isa::ExecuteStoreInt32, 1);
      break;
    }
    if (error == 3 && PARAMETER_K <= 16) { // legal here; the queues' counts have changed
      for (Job &sync : program)
        for (const isa::Field &wait : waits)
          sync.set(wait, 0);
      ASSERT_NO_FATAL_FAILURE(run());
    } else {
      ASSERT_NO_FATAL_FAILURE(run(culprit, error)) << "error " << error << " at " << culprit;
    }
  }
}

TEST_F(Fetch, StopsAfterABusError) {
  for (int i = 0; i < 60; ++i) {
    start();
    makeProgram(60);
    ASSERT_NO_FATAL_FAILURE(run(-1, 5, random.below(200)));
  }
}

} // namespace
