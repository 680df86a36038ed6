//===- job_queue.cpp - order, waits and capacity of one queue of jobs -----===//
//
// Random descriptors come whenever the queue is not full, counts of completed jobs grow at
// random, the unit takes jobs at random. Against a list: what is offered, which waits it is
// said to miss, and that nothing is lost, repeated or held back.
//
//===----------------------------------------------------------------------===//

// FAULT one_job_too_early: completed_i[i*32+:32] < wait_q[i*32+:32] => completed_i[i*32+:32] + 32'd1 < wait_q[i*32+:32]
// FAULT wait_ignored: completed_i[i*32+:32] < wait_q[i*32+:32] => i != 4 && completed_i[i*32+:32] < wait_q[i*32+:32]
// FAULT full_too_late: @count_q@ >= 4'(tilewright_isa_pkg::QueueDepth) => count_q - 4'd1
// FAULT push_with_take_lost: count_q - 4'd1 + {3'd0, push_i} => count_q - 4'd1
// FAULT empty_with_a_head: !head_q && count_q == 4'd0 => count_q == 4'd0
// FAULT index_of_another: indices[read_q] => indices[read_q + 3'd1]

#include "Testbench.h"

#include <deque>

namespace {

struct Queued {
  Job job;
  uint32_t index;
};

struct JobQueue : Testbench {
  static constexpr isa::Field waits[5] = {isa::HeaderWaitLoad, isa::HeaderWaitWeights, isa::HeaderWaitExecute,
                                          isa::HeaderWaitVector, isa::HeaderWaitStore};
  uint32_t completed[5] = {};

  Queued randomJob(uint32_t lead) {
    Queued queued{random.job(), random()};
    for (int q = 0; q < 5; ++q)
      queued.job.set(waits[q], random.percent(50) ? 0 : completed[q] + random.below(lead));
    return queued;
  }
  void driveCompleted() {
    for (int q = 0; q < 5; ++q)
      setBits(top.completed_i, q * 32, 32, completed[q]);
  }
  uint32_t missing(const Job &job) const {
    uint32_t result = 0;
    for (int q = 0; q < 5; ++q)
      result |= uint32_t(completed[q] < job.get(waits[q])) << q;
    return result;
  }
  void push(const Queued &queued) {
    top.push_i = 1;
    queued.job.drive(top.push_job_i);
    top.push_index_i = queued.index;
  }
};

TEST_F(JobQueue, RandomJobsInOrderAfterTheirWaits) {
  top.push_i = top.take_i = 0;
  driveCompleted();
  reset();
  std::deque<Queued> queue; // accepted, not taken
  int sinceChange = 0, taken = 0;
  for (int i = 0; i < 200000; ++i) {
    // Quiet and busy times of producer and consumer alternate, so that the queue is empty and full.
    int pace = i / 500 % 3;
    for (int q = 0; q < 5; ++q)
      completed[q] += random.percent(30);
    driveCompleted();
    top.push_i = 0;
    settle();
    if (!top.full_o && random.percent(pace == 0 ? 90 : 15)) {
      queue.push_back(randomJob(12));
      push(queue.back());
    }
    top.take_i = 0;
    settle();
    // A job is offered a cycle after the queue has it.
    bool present = top.valid_o || top.waits_o != 0;
    if (!present && queue.size() > size_t(top.push_i)) {
      ASSERT_LT(++sinceChange, 3) << "a job is not offered";
    } else {
      sinceChange = 0;
    }
    ASSERT_EQ(bool(top.empty_o), queue.size() == size_t(top.push_i)) << "empty";
    if (!present) {
      ASSERT_EQ(top.waits_o, 0);
      ASSERT_FALSE(top.valid_o);
    } else {
      ASSERT_FALSE(queue.empty()) << "a job out of nothing";
      const Queued &first = queue.front();
      ASSERT_EQ(top.waits_o, missing(first.job));
      ASSERT_EQ(bool(top.valid_o), missing(first.job) == 0);
      ASSERT_TRUE(jobOf(top.job_o) == first.job) << "job " << taken;
      ASSERT_EQ(top.index_o, first.index) << "job " << taken;
      top.take_i = top.valid_o && random.percent(pace == 1 ? 90 : 25);
      settle();
    }
    edge();
    if (top.take_i) {
      queue.pop_front();
      ++taken;
    }
  }
  EXPECT_GT(taken, 5000);
}

TEST_F(JobQueue, HoldsQueueDepthJobsBesideTheOffered) {
  top.push_i = top.take_i = 0;
  driveCompleted();
  reset();
  std::deque<Queued> queue;
  for (int i = 0; i < 40; ++i) {
    top.push_i = 0;
    settle();
    if (!top.full_o) {
      Queued queued = randomJob(1);
      queued.job.set(isa::HeaderWaitStore, 1000);
      queue.push_back(queued);
      push(queued);
    }
    edge();
  }
  EXPECT_EQ(queue.size(), isa::QueueDepth + 1);
  EXPECT_TRUE(top.full_o);
  top.push_i = 0;
  completed[4] = 999;
  driveCompleted();
  for (int i = 0; i < 5; ++i) {
    settle();
    EXPECT_FALSE(top.valid_o);
    edge();
  }
  completed[4] = 1000;
  for (const Queued &queued : queue) {
    driveCompleted();
    settle();
    ASSERT_TRUE(top.valid_o);
    EXPECT_TRUE(jobOf(top.job_o) == queued.job);
    top.take_i = 1;
    edge();
  }
  top.take_i = 0;
  settle();
  EXPECT_TRUE(top.empty_o);
}

} // namespace
