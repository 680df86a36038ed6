//===- ReportFigures.h - what is derived from counters ----------*- C++ -*-===//
//
// Shared by the forms a report is printed in, so that they cannot differ.
//
//===----------------------------------------------------------------------===//

#ifndef TILEWRIGHT_RUNTIME_REPORTFIGURES_H
#define TILEWRIGHT_RUNTIME_REPORTFIGURES_H

#include "runtime/Report.h"

namespace tilewright::runtime {

struct Figures {
  uint64_t slots = 0, useful = 0, mapping = 0, lost = 0; ///< slots = useful + mapping + lost
  double utilization = 0;                                ///< useful / slots
  double rooflineLimit = 0; ///< the most that can be reached at the DRAM's rate: ideal / max(ideal, bytes / rate)
  double ofRoofline = 0;
  std::string boundBy; ///< compute | memory | mapping | latency | overhead
};

/// DRAM bytes that are read and written.
struct Traffic {
  uint64_t in = 0, out = 0;
};

Figures figuresOf(const Report &report, const ArrayCycles &cycles, uint64_t macs, const Traffic &traffic);
/// Absent for host layers and executors that do not count cycles.
std::optional<Figures> figuresOf(const Report &report, const LayerReport &layer);
std::optional<Figures> totalFigures(const Report &report);
/// "compute" from 90 % of the peak on, else the class of causes that took most. Waiting for DRAM is "memory" for as
/// long as `traffic` takes at the DRAM's rate; what is beyond that is a transfer's latency, or a place that an earlier
/// layer's store still reads.
std::string boundBy(const Report &report, const Figures &figures, const ArrayCycles &cycles, const Traffic &traffic);

} // namespace tilewright::runtime

#endif
