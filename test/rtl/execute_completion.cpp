//===- execute_completion.cpp - execute jobs complete in order -------------===//
//
// Jobs of both kinds are taken while there is room; their last steps and the last writes
// of each channel group come at random. A job completes when everything it needs has come
// and all jobs before it have completed: not earlier, and soon after.
//
//===----------------------------------------------------------------------===//

// VARIANT Groups=1
// VARIANT Groups=3
// FAULT any_group_completes: finish[read] && written[g] == 3'd0 => finish[read] && g == 0 && written[g] == 3'd0
// FAULT unfinished_completes_at_once: finish[read] || unfinished_issued != 3'd0 => 1'b1
// FAULT issue_counts_for_finished: issued_i && !issued_finish_i => issued_i
// FAULT five_jobs: count < 3'd4 => count < 3'd5
// FAULT less_room: count < 3'd4 => count < 3'd3
// FAULT only_one_write_counted: written[g] + 3'd1 => 3'd1

#include "Testbench.h"

#include <deque>

namespace {

constexpr int groups = PARAMETER_Groups;

struct Execution {
  bool finish, issued = false;
  int written = 0; // bit per group
  bool complete() const { return finish ? written == (1 << groups) - 1 : issued; }
};

TEST_F(Testbench, CompletionInOrder) {
  top.take_i = top.issued_i = top.group_done_i = 0;
  reset();
  std::deque<Execution> jobs; // taken, not completed
  int completed = 0, overdue = 0, mostAtOnce = 0;
  for (int i = 0; i < 200000; ++i) {
    int pace = i / 300 % 3; // now the jobs are behind, now their completion
    top.take_i = top.issued_i = top.issued_finish_i = top.group_done_i = 0;
    settle();
    // What was seen before the last edge decides whether a completion is due; one takes a cycle or two.
    if (top.done_o) {
      ASSERT_FALSE(jobs.empty()) << "a completion out of nothing";
      ASSERT_TRUE(jobs.front().complete()) << "completed too early";
      jobs.pop_front();
      ++completed;
      overdue = 0;
    } else if (!jobs.empty() && jobs.front().complete()) {
      ASSERT_LT(++overdue, 3) << "a completion is held back";
    }
    // Last steps come in the order of the jobs.
    auto step = std::find_if(jobs.begin(), jobs.end(), [](const Execution &job) { return !job.issued; });
    if (step != jobs.end() && random.percent(pace == 0 ? 10 : 60)) {
      top.issued_i = 1;
      top.issued_finish_i = step->finish;
      step->issued = true;
    }
    for (int g = 0; g < groups; ++g) {
      auto job = std::find_if(jobs.begin(), jobs.end(),
                              [&](const Execution &job) { return job.finish && !(job.written >> g & 1); });
      if (job != jobs.end() && job->issued && random.percent(pace == 1 ? 10 : 50)) {
        job->written |= 1 << g;
        top.group_done_i |= 1 << g;
      }
    }
    if (top.room_o && random.percent(pace == 2 ? 15 : 70)) {
      top.take_i = 1;
      top.finish_i = random.below(4) != 0;
      jobs.push_back({bool(top.finish_i)});
    }
    ASSERT_LE(jobs.size(), 4u);
    mostAtOnce = std::max(mostAtOnce, int(jobs.size()));
    edge();
  }
  EXPECT_EQ(mostAtOnce, 4) << "jobs in flight";
  EXPECT_GT(completed, 5000);
}

} // namespace
