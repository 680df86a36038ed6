//===- JobBuilder.h - common ground of the job generators -------*- C++ -*-===//
//
// What contraction, vector and transfer jobs share: appending a job with the
// words it touches, placing weights and tables among the constants, addressing a
// part of a map.
//
//===----------------------------------------------------------------------===//

#ifndef TILEWRIGHT_BACKENDS_SYSTOLIC_JOBBUILDER_H
#define TILEWRIGHT_BACKENDS_SYSTOLIC_JOBBUILDER_H

#include "backends/systolic/Hazards.h"
#include "backends/systolic/WeightPacking.h"
#include <map>

namespace tilewright::systolic {

struct Range {
  int64_t begin = 0, end = 0;
  int64_t size() const { return end - begin; }
};

/// A part of a layer's iteration space.
struct Tile {
  Range samples, channels, rows;
};

class JobBuilder {
public:
  JobBuilder(const ArrayConfig &array, const LayerProgram &program);

  /// Weights and execute jobs of one tile. `passChannels`: whose weights stay in the ring, where they fit, over all
  /// tiles from `firstTile` (which loads them) to `lastTile` (which frees them).
  void contraction(int layer, const Tile &tile, Range passChannels, bool firstTile, bool lastTile);
  void vector(int layer, const Tile &tile);
  /// `which`: 0 the input, 1 the second operand (for the report's bytes by class).
  void load(int layer, const Operand &operand, const Tile &part, int which);
  void store(int layer, const Tile &tile);

  JobList take() { return std::move(jobs); }

private:
  friend class ContractionJobs;

  /// Appends a job; fills in its layer and waits.
  Job &append(int layer, Queue queue, isa::Descriptor descriptor, const std::vector<Access> &accesses);
  /// Slot + 1 of a table that holds `table`, loaded when no slot holds it yet; 0 for none. `busy`: a slot that this job
  /// uses already.
  int64_t tableSlot(int layer, const std::optional<ValueTable> &table, int64_t busy = 0);
  int64_t addConstants(const void *data, int64_t bytes);

  const ArrayConfig &array;
  const LayerProgram &program;
  HazardTracker hazards;
  JobList jobs;
  int64_t order = 0;

  // Weight ring, counted in words from the program's start.
  int64_t ringAppended = 0, ringFreed = 0;
  /// Where each block's pieces lie in the constants, by layer and first channel; packed at first use.
  struct PackedBlock {
    WeightBlock block;
    std::vector<int64_t> offsets;
  };
  std::map<std::pair<int, int64_t>, PackedBlock> packed;
  /// Kept weights: ring position of the first block, by layer.
  std::map<int, int64_t> kept;

  std::vector<std::optional<ValueTable>> tables;
  size_t nextTable = 0;
};

/// Input rows that the windows of output rows read, clipped to the map's height.
Range inputRows(const WindowShape &window, int64_t height, Range rows);
inline Range inputRows(const Layer &layer, Range rows) { return inputRows(layer.window, layer.in.height, rows); }

/// The multiple of R at or below `row`.
inline int64_t ringStart(const Place &place, int64_t row) { return row - row % place.ringRows; }

/// Descriptor fields of a map from channel word `word`, sample `sample` of the place on; `row` is the first one
/// touched.
isa::Map mapOf(const Operand &operand, int64_t sample, int64_t word, int64_t row);
isa::Window windowOf(const WindowShape &window);

/// Appends the scratchpad words of a part of a map: samples of the place, channel words, rows, columns (words).
void addAccesses(std::vector<Access> &accesses, bool write, const Operand &operand, Range samples, Range words,
                 Range rows, Range columns);

/// `samples`, a part of the tile's, as counted in the operand's place: what is staged holds only the tile's.
inline Range placeSamples(const Operand &operand, Range samples, Range tileSamples) {
  int64_t origin = operand.isStaged ? tileSamples.begin : 0;
  return {samples.begin - origin, samples.end - origin};
}

} // namespace tilewright::systolic

#endif
