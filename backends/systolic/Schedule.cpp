//===- Schedule.cpp - one program from five queues ------------------------===//

#include "backends/systolic/Schedule.h"
#include <algorithm>
#include <tuple>

using namespace tilewright;
using namespace tilewright::systolic;

namespace {

class Merger {
public:
  Merger(const ArrayConfig &array, const JobList &jobs) : array(array), jobs(jobs) {}
  Schedule run();

private:
  bool isPlaced(const Waits &waits) const {
    for (unsigned q = 0; q < QueueCount; ++q)
      if (waits[q] > static_cast<int64_t>(ends[q].size()))
        return false;
    return true;
  }
  bool canPlace(unsigned queue, const Job &job) const;
  double earliestStart(unsigned queue, const Job &job) const;
  void place(unsigned queue, const Job &job, double start);

  const ArrayConfig &array;
  const JobList &jobs;
  std::array<std::vector<double>, QueueCount> ends; ///< of the jobs placed so far
  std::array<double, QueueCount> queueFree = {};
  double dramFree = 0;
  int64_t ringAppended = 0, ringFreed = 0;
  /// Execute jobs in order: words freed once it has ended, its start.
  std::vector<std::pair<int64_t, double>> frees;
  /// Weights jobs in order: words appended once it has ended, its end.
  std::vector<std::pair<int64_t, double>> appends;
};

} // namespace

static bool usesDram(unsigned queue) { return queue == LoadQueue || queue == WeightsQueue || queue == StoreQueue; }

bool Merger::canPlace(unsigned queue, const Job &job) const {
  if (!isPlaced(job.waits))
    return false;
  if (queue == WeightsQueue)
    return job.ringAppended - ringFreed <= array.ringWords();
  return queue != ExecuteQueue || job.ringNeeded <= ringAppended;
}

double Merger::earliestStart(unsigned queue, const Job &job) const {
  double start = queueFree[queue];
  if (usesDram(queue))
    start = std::max(start, dramFree);
  for (unsigned q = 0; q < QueueCount; ++q)
    if (job.waits[q])
      start = std::max(start, ends[q][job.waits[q] - 1]);
  if (queue == WeightsQueue && job.ringAppended > array.ringWords()) {
    // Room appears while the execute job that frees it runs.
    auto freed = std::lower_bound(frees.begin(), frees.end(), job.ringAppended - array.ringWords(),
                                  [](const auto &entry, int64_t words) { return entry.first < words; });
    if (freed != frees.end())
      start = std::max(start, freed->second);
  }
  return start;
}

void Merger::place(unsigned queue, const Job &job, double start) {
  double end;
  if (usesDram(queue)) {
    double transfer = job.dramBytes / array.effectiveDramBytesPerCycle();
    dramFree = queueFree[queue] = start + transfer;
    end = start + transfer + array.dramLatencyCycles;
    if (queue == WeightsQueue) {
      ringAppended = std::max(ringAppended, job.ringAppended);
      appends.push_back({job.ringAppended, end});
    }
  } else {
    end = start + job.cycles;
    if (queue == ExecuteQueue) {
      auto appended = std::lower_bound(appends.begin(), appends.end(), job.ringNeeded,
                                       [](const auto &entry, int64_t words) { return entry.first < words; });
      if (appended != appends.end())
        end = std::max(end, appended->second);
      ringFreed = job.ringFreed;
      frees.push_back({job.ringFreed, start});
    }
    queueFree[queue] = end;
    end += array.pixels + array.channels + 16; // what is still in the pipeline
  }
  ends[queue].push_back(end);
}

Schedule Merger::run() {
  Schedule schedule;
  double finish = 0;
  for (;;) {
    unsigned best = QueueCount;
    std::tuple<double, int64_t> bestKey;
    bool left = false;
    for (unsigned q = 0; q < QueueCount; ++q) {
      if (ends[q].size() == jobs.queues[q].size())
        continue;
      left = true;
      const Job &job = jobs.queues[q][ends[q].size()];
      if (!canPlace(q, job))
        continue;
      std::tuple<double, int64_t> key = {earliestStart(q, job), job.order};
      if (best == QueueCount || key < bestKey) {
        best = q;
        bestKey = key;
      }
    }
    if (!left)
      break;
    if (best == QueueCount)
      throw std::logic_error("systolic schedule: no job can be placed");
    const Job &job = jobs.queues[best][ends[best].size()];
    place(best, job, std::get<0>(bestKey));
    finish = std::max(finish, ends[best].back());
    isa::Descriptor descriptor = job.descriptor;
    isa::Header &header = isa::header(descriptor);
    header.waitLoad = job.waits[LoadQueue];
    header.waitWeights = job.waits[WeightsQueue];
    header.waitExecute = job.waits[ExecuteQueue];
    header.waitVector = job.waits[VectorQueue];
    header.waitStore = job.waits[StoreQueue];
    schedule.program.push_back(std::move(descriptor));
  }
  isa::Sync sync;
  sync.end = true;
  schedule.program.push_back(sync);
  schedule.expectedCycles = static_cast<int64_t>(finish);
  return schedule;
}

Schedule systolic::merge(const ArrayConfig &array, const JobList &jobs) { return Merger(array, jobs).run(); }
