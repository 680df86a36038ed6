//===- Hazards.cpp - who touched a word last ------------------------------===//

#include "backends/systolic/Hazards.h"
#include <algorithm>

using namespace tilewright::systolic;

HazardTracker::HazardTracker(int64_t scratchpadWords, int64_t arenaBytes, int64_t tableSlots, bool executeWritesInOrder)
    : executeWritesInOrder(executeWritesInOrder) {
  spaces[static_cast<size_t>(Space::Scratchpad)].resize(scratchpadWords);
  spaces[static_cast<size_t>(Space::Arena)].resize((arenaBytes + 15) / 16);
  spaces[static_cast<size_t>(Space::Table)].resize(tableSlots);
}

Waits HazardTracker::add(Queue queue, int64_t number, const std::vector<Access> &accesses) {
  Waits waits = {};
  // A queue's jobs read and write in order, so only a value written by the same queue and read back must be waited
  // for: it is in flight until its job has completed.
  auto ownWritten = [&](const Unit &unit, unsigned q) -> int32_t {
    return q == ExecuteQueue && !executeWritesInOrder ? unit.written[q] : 0;
  };
  for (const Access &access : accesses) {
    auto &units = spaces[static_cast<size_t>(access.space)];
    for (int64_t i = access.begin; i < access.end; ++i) {
      const Unit &unit = units[i];
      for (unsigned q = 0; q < QueueCount; ++q) {
        int64_t seen = access.write ? (q == queue ? ownWritten(unit, q) : std::max(unit.read[q], unit.written[q]))
                                    : unit.written[q];
        waits[q] = std::max(waits[q], seen);
      }
    }
  }
  for (const Access &access : accesses) {
    auto &units = spaces[static_cast<size_t>(access.space)];
    for (int64_t i = access.begin; i < access.end; ++i)
      (access.write ? units[i].written : units[i].read)[queue] = static_cast<int32_t>(number);
  }
  return waits;
}
