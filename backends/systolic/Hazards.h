//===- Hazards.h - who touched a word last ----------------------*- C++ -*-===//
//
// Every word of the scratchpad, every 16 bytes of the activation arena and every
// table slot remembers the last job of each queue that read and that wrote it.
// That is exact where interval arithmetic on row rings would be approximate, and
// a missing or superfluous wait costs correctness or cycles.
//
//===----------------------------------------------------------------------===//

#ifndef TILEWRIGHT_BACKENDS_SYSTOLIC_HAZARDS_H
#define TILEWRIGHT_BACKENDS_SYSTOLIC_HAZARDS_H

#include "backends/systolic/Jobs.h"

namespace tilewright::systolic {

enum class Space : uint8_t { Scratchpad, Arena, Table };

/// Units [begin, end) of a space: words, 16-byte units, slots.
struct Access {
  Space space;
  bool write;
  int64_t begin, end;
};

class HazardTracker {
public:
  /// `executeWritesInOrder`: what one execute job writes is written before what the next one does (arrays of up to 16
  /// channels).
  HazardTracker(int64_t scratchpadWords, int64_t arenaBytes, int64_t tableSlots, bool executeWritesInOrder = true);
  /// What the next job of `queue` (its `number`-th, counted from 1) waits for; then records it.
  Waits add(Queue queue, int64_t number, const std::vector<Access> &accesses);

private:
  struct Unit {
    std::array<int32_t, QueueCount> read = {}, written = {};
  };
  std::array<std::vector<Unit>, 3> spaces;
  bool executeWritesInOrder;
};

} // namespace tilewright::systolic

#endif
