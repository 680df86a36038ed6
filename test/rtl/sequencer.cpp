//===- sequencer.cpp - steps, headers, drains and lost cycles --------------===//
//
// Random execute jobs (all kinds of release, reductions over several jobs), entries, ring
// words, prepared pixels, free places and finished bricks come at random. A model of the rules
// in docs/accelerator.md says for every cycle what must happen: which ring word is read for
// which step or header, when a drain begins, what is freed, and why a cycle had no step.
//
//===----------------------------------------------------------------------===//

// VARIANT P=4 K=16 C=4 RingWords=100 WriteFifo=16
// VARIANT P=2 K=32 C=8 RingWords=70 WriteFifo=8
// FAULT step_before_its_word: $signed(ring_arrived_i - position) <= 0 => $signed(ring_arrived_i - position) < 0
// FAULT bank_overwritten: acc_init && bank_busy[bank] => 1'b0
// FAULT parameters_overwritten: parameters_used[parameters] != 16'd0 => 1'b0
// FAULT drains_too_close: drain_wait = @8'(P)@; => 8'(P - 1)
// FAULT drain_before_last_step: {2'd0, brick_delay[1]} => {2'd0, brick_delay[0]}
// FAULT pixels_not_prepared: pixels_ready[g] < 16'(P) => pixels_ready[g] < 16'(P - 1)
// FAULT straddling_writes_not_counted: bricks[brick_read][2] ? 16'(2 * P) : 16'(P) => 16'(P)
// FAULT bricks_do_not_share_words: position = @block@; => position
// FAULT ring_wraps_late: word >= RingWords => word > RingWords
// FAULT accumulators_not_kept: step_first_q <= entry[3] && entry_step == 8'd0 && @acc_init@; => 1'b1
// FAULT kept_words_freed: release_mode == @tilewright_isa_pkg::ReleaseBlock@ => tilewright_isa_pkg::ReleaseKeep
// FAULT offset_ignored: position = tail + @{12'd0, jobs[job_read][19:0]}@; => 32'd0
// FAULT parameters_of_last_block: drain_parameters_o <= @bricks[brick_read][1]@; => parameters
// FAULT waits_in_another_order: queue_waits_i[4] => queue_waits_i[3]
// FAULT issue_not_finished: issued_finish_o <= @acc_finish@; => 1'b1

#include "Testbench.h"

#include <deque>

namespace {

constexpr int P = PARAMETER_P, K = PARAMETER_K, C = PARAMETER_C, ringWords = PARAMETER_RingWords;
constexpr int groups = K < 16 ? 1 : K / 16, headerWords = (12 + C - 1) / C;

struct Entry {
  int steps, slot, mode, ring, stride, byte;
  bool first, last, blockLast, jobLast;
};

struct Execution {
  bool init = true, finish = true, straddles = false;
  unsigned release = isa::ReleaseBlock;
  int offset = 0, channelOffset = 0, steps = 0; // of a brick
  int blocks = 1, bricks = 1;
  std::vector<Entry> entries;
  int blockWords() const { return headerWords + steps; }
};

/// What the array sees two cycles after the decision.
struct Issue {
  enum { None, Header, Step } kind = None;
  int parameters = 0, index = 0, bank = 0; // index: of the header word, or of the step in its entry
  bool first = false;
  Entry entry{};
};

struct Sequencer : Testbench {
  std::deque<Execution> upcoming;

  std::vector<Entry> randomEntries(int &steps, int entries) {
    std::vector<Entry> list;
    steps = 0;
    for (int i = 0; i < entries; ++i) {
      Entry entry{};
      entry.steps = random.range(1, random.percent(80) ? 5 : 12);
      entry.mode = int(random.below(3));
      steps += entry.steps;
      list.push_back(entry);
    }
    return list;
  }
  Execution randomJob() {
    Execution job;
    std::vector<Entry> brick = randomEntries(job.steps, random.range(1, 3));
    job.channelOffset = random.percent(30) ? int(random.below(16)) : 0;
    job.straddles = job.channelOffset % std::min(K, 16) != 0;
    job.blocks = random.range(1, 3);
    job.bricks = random.range(1, 6);
    unsigned release = random.below(3);
    job.release = release;
    if (release == isa::ReleaseStream)
      job.bricks = 1;
    if (release == isa::ReleaseKeep) {
      job.blocks = std::min(job.blocks, (ringWords - 1) / job.blockWords());
      job.offset = int(random.below(uint32_t(ringWords - job.blocks * job.blockWords())));
    }
    for (int b = 0; b < job.blocks; ++b)
      for (int i = 0; i < job.bricks; ++i)
        for (size_t e = 0; e < brick.size(); ++e) {
          Entry entry = brick[e];
          entry.slot = int(random.below(8));
          entry.ring = int(random.below(128));
          entry.stride = int(random.below(256));
          entry.byte = int(random.below(16));
          entry.first = e == 0;
          entry.last = e + 1 == brick.size();
          entry.blockLast = entry.last && i + 1 == job.bricks;
          entry.jobLast = entry.blockLast && b + 1 == job.blocks;
          job.entries.push_back(entry);
        }
    return job;
  }
  /// Now and then a reduction of one brick over several jobs.
  void generate() {
    Execution job = randomJob();
    if (job.release != isa::ReleaseKeep && job.blocks == 1 && job.bricks == 1) {
      int parts = random.range(1, 3);
      for (int part = 0; part < parts; ++part) {
        Execution piece = job;
        piece.init = part == 0;
        piece.finish = part + 1 == parts;
        upcoming.push_back(piece);
      }
    } else {
      upcoming.push_back(job);
    }
  }
};

TEST_F(Sequencer, EveryCycle) {
  top.active_i = top.take_i = top.entry_valid_i = top.brick_done_i = top.pixel_ready_i = top.write_free_i = 0;
  top.ring_arrived_i = 0;
  top.queue_empty_i = 1;
  top.queue_waits_i = 0;
  reset();

  std::deque<Execution> jobs; // taken; the first is the running one
  std::deque<Entry> toSend;   // entries of taken jobs
  std::deque<Entry> entries;  // sent, not consumed
  int credits = 8;            // places for entries
  uint32_t tail = 0, arrived = 0, position = 0, block = 0;
  bool active = false;           // a job has begun
  int headerIndex = 0, step = 0; // headerIndex < headerWords: in the header
  int parameters = 0, bank = 0;
  bool bankBusy[2] = {};
  int used[2] = {};
  struct Brick {
    bool straddles;
    int parameters, bank;
    int64_t lastStep;
  };
  std::deque<Brick> bricks; // all steps decided, drain not begun
  struct Drained {
    int parameters;
    int64_t ready;
  };
  std::deque<Drained> drained; // in the drain: the epilogue will report them
  int64_t lastDrain = -P;
  int ready[groups], given[groups] = {}, room[groups], owed[groups] = {}; // pixels prepared, places of the FIFO
  for (int g = 0; g < groups; ++g) {
    ready[g] = 0;
    room[g] = PARAMETER_WriteFifo;
  }
  int64_t lost[10] = {}, steps = 0, since = 0;
  Issue previous; // decided one edge before the last
  int64_t finished = 0, stepsSeen = 0, drains = 0, causes[10] = {};

  for (int64_t i = 0; finished < 2500; ++i) {
    ASSERT_LT(i, 3000000);
    int pace = int(i / 3000 % 5); // which of the inputs is slow
    // ---- Inputs.
    top.active_i = i > 10 && !random.percent(1);
    top.queue_empty_i = random.percent(40);
    top.queue_waits_i = random.below(32) & random.below(32);
    while (upcoming.size() < 2)
      generate();
    top.take_i = jobs.size() < 4 && random.percent(pace == 0 ? 3 : 30);
    if (top.take_i) {
      const Execution &job = upcoming.front();
      Job bits = random.job();
      bits.set(isa::ExecuteAccInit, job.init)
          .set(isa::ExecuteAccFinish, job.finish)
          .set(isa::ExecuteRelease, job.release);
      bits.set(isa::ExecuteRingOffset, job.offset).set(isa::ExecuteOutChannelOffset, job.channelOffset);
      bits.drive(top.job_i);
    }
    top.entry_valid_i = credits > 0 && !toSend.empty() && random.percent(pace == 1 ? 15 : 80);
    if (top.entry_valid_i) {
      const Entry &entry = toSend.front();
      top.entry_steps_i = entry.steps;
      top.entry_slot_i = entry.slot;
      top.entry_mode_i = entry.mode;
      top.entry_ring_i = entry.ring;
      top.entry_stride_i = entry.stride;
      top.entry_byte_i = entry.byte;
      top.entry_first_i = entry.first;
      top.entry_last_i = entry.last;
      top.entry_block_last_i = entry.blockLast;
      top.entry_job_last_i = entry.jobLast;
    }
    if (arrived - tail < ringWords && random.percent(pace == 2 ? 25 : 95))
      ++arrived;
    top.ring_arrived_i = arrived;
    int readyNow[groups], freeNow[groups];
    for (int g = 0; g < groups; ++g) {
      readyNow[g] = ready[g] >= 64 ? 0 : pace == 3 ? random.percent(20) : int(random.below(3));
      freeNow[g] = std::min<int>(owed[g], int(random.below(pace == 3 ? 2 : 3)));
      setBits(top.pixel_ready_i, g * 2, 2, readyNow[g]);
      setBits(top.write_free_i, g * 2, 2, freeNow[g]);
      owed[g] -= freeNow[g];
    }
    top.brick_done_i = !drained.empty() && drained.front().ready <= i && random.percent(pace == 4 ? 4 : 50);
    if (top.brick_done_i)
      top.brick_done_parameters_i = drained.front().parameters;
    edge();
    settle();

    // ---- What the edge has seen.
    if (top.take_i) {
      jobs.push_back(upcoming.front());
      toSend.insert(toSend.end(), jobs.back().entries.begin(), jobs.back().entries.end());
      upcoming.pop_front();
    }
    if (top.entry_valid_i) {
      entries.push_back(toSend.front());
      toSend.pop_front();
      --credits;
    }
    if (top.brick_done_i) {
      --used[drained.front().parameters];
      drained.pop_front();
    }
    for (int g = 0; g < groups; ++g) {
      ready[g] += readyNow[g];
      room[g] += freeNow[g];
    }

    // ---- Drain: as soon as it may, not earlier.
    bool drain = !bricks.empty() && bricks.front().lastStep + 2 <= i && lastDrain + P <= i;
    for (int g = 0; g < groups && drain; ++g)
      drain = ready[g] >= P && room[g] >= (bricks.front().straddles ? 2 * P : P);
    ASSERT_EQ(bool(top.drain_valid_o), drain) << "drain, cycle " << i;
    if (drain) {
      Brick brick = bricks.front();
      bricks.pop_front();
      ASSERT_EQ(int(top.drain_bank_o), brick.bank);
      ASSERT_EQ(int(top.drain_parameters_o), brick.parameters) << "bias and scales of another block";
      bankBusy[brick.bank] = false;
      lastDrain = i;
      drained.push_back({brick.parameters, i + P});
      for (int g = 0; g < groups; ++g) {
        ready[g] -= P;
        room[g] -= brick.straddles ? 2 * P : P;
        owed[g] += brick.straddles ? 2 * P : P;
      }
      ++drains;
    }

    // ---- The decision.
    if (!active && !jobs.empty()) {
      active = true;
      position = tail + jobs.front().offset;
      headerIndex = step = 0;
      parameters = !parameters;
    }
    Issue issue;
    int cause = -1;
    bool jobDone = false, entryDone = false;
    uint32_t read = position;
    if (!active) {
      unsigned waits = top.queue_waits_i;
      cause = top.queue_empty_i ? 0
              : waits & 1       ? 1
              : waits & 16      ? 2
              : waits & 8       ? 3
              : waits & 4       ? 4
              : waits & 2       ? 5
                                : 9;
    } else if (arrived <= position) {
      cause = 6;
    } else if (headerIndex < headerWords) {
      cause = used[parameters] ? 7 : 9;
      if (!used[parameters]) {
        issue.kind = Issue::Header;
        issue.parameters = parameters;
        issue.index = headerIndex++;
        ++position;
        block = position;
        if (jobs.front().release == isa::ReleaseStream)
          tail = position;
      }
    } else if (entries.empty()) {
      cause = jobs.front().init && bankBusy[0] && bankBusy[1] ? 7 : 8;
    } else if (entries.front().first && step == 0 && jobs.front().init && bankBusy[bank]) {
      cause = 7;
    } else {
      const Execution &job = jobs.front();
      Entry entry = entries.front();
      issue.kind = Issue::Step;
      issue.entry = entry;
      issue.index = step;
      issue.bank = bank;
      issue.first = entry.first && step == 0 && job.init;
      ++position;
      if (job.release == isa::ReleaseStream)
        tail = position;
      if (++step == entry.steps) {
        step = 0;
        entries.pop_front();
        ++credits;
        entryDone = true;
        if (entry.last && job.finish) {
          bricks.push_back({job.straddles, parameters, bank, i});
          ++used[parameters];
          bankBusy[bank] = true;
          bank = !bank;
        }
        if (entry.last && !entry.blockLast)
          position = block;
        if (entry.blockLast) {
          if (job.release == isa::ReleaseBlock)
            tail = position;
          headerIndex = 0;
          if (!entry.jobLast)
            parameters = !parameters;
        }
        jobDone = entry.jobLast;
      }
    }
    ASSERT_EQ(bool(top.ring_read_o), issue.kind != Issue::None)
        << "cycle " << i << (issue.kind == Issue::None ? ", a step or header that may not be" : ", none for no reason");
    if (issue.kind != Issue::None) {
      ASSERT_EQ(top.ring_word_o, read % ringWords) << "cycle " << i;
    }
    ASSERT_EQ(bool(top.entry_done_o), entryDone);
    ASSERT_EQ(bool(top.packed_step_o), issue.kind == Issue::Step && issue.entry.mode == int(isa::ExecuteModePacked));
    ASSERT_EQ(top.ring_freed_o, tail) << "cycle " << i;

    // ---- Accounting.
    if (top.active_i) {
      ++since;
      if (issue.kind == Issue::Step) {
        ++steps;
      } else {
        ++lost[cause];
        ++causes[cause];
      }
    }
    ASSERT_EQ(top.tail_o, since);
    ASSERT_EQ(bool(top.issued_o), jobDone);
    if (jobDone) {
      ASSERT_EQ(bool(top.issued_finish_o), jobs.front().finish);
      ASSERT_EQ(top.steps_o, steps);
      int64_t sum = steps;
      for (int c = 0; c < 10; ++c) {
        ASSERT_EQ(int64_t(bitsOf(top.lost_o, c * 32, 32)), lost[c]) << "lost cycles of cause " << c;
        sum += lost[c];
        lost[c] = 0;
      }
      ASSERT_EQ(sum, since);
      stepsSeen += steps;
      steps = since = 0;
      active = false;
      jobs.pop_front();
      ++finished;
    }

    // ---- Two edges after the decision: with the ring's word.
    ASSERT_EQ(bool(top.step_valid_o), previous.kind == Issue::Step);
    ASSERT_EQ(bool(top.header_valid_o), previous.kind == Issue::Header);
    if (previous.kind == Issue::Header) {
      ASSERT_EQ(int(top.header_parameters_o), previous.parameters);
      ASSERT_EQ(int(top.header_index_o), previous.index);
    }
    if (previous.kind == Issue::Step) {
      const Entry &entry = previous.entry;
      ASSERT_EQ(bool(top.step_first_o), previous.first);
      ASSERT_EQ(int(top.step_bank_o), previous.bank);
      ASSERT_EQ(int(top.step_mode_o), entry.mode);
      ASSERT_EQ(int(top.step_slot_o), entry.slot);
      ASSERT_EQ(int(top.step_slice_o), previous.index % 16);
      ASSERT_EQ(int(top.step_ring_o), (entry.ring + previous.index * C) % 128);
      ASSERT_EQ(int(top.step_window_o), previous.index * C % 256);
      ASSERT_EQ(int(top.step_stride_o), entry.stride);
      ASSERT_EQ(int(top.step_byte_o), entry.byte);
    }
    previous = issue;
  }
  EXPECT_GT(stepsSeen, 20000);
  EXPECT_GT(drains, 4000);
  for (int c = 0; c < 10; ++c)
    EXPECT_GT(causes[c], 0) << "cause " << c << " never occurred";
}

} // namespace
