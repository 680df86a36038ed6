//===- SystolicNet.h - small networks with known results --------*- C++ -*-===//
//
// Builds layers as the back end's MLIR-free part takes them, with seeded random
// weights and placements chosen by the test, computes every map naively, runs the
// compiled program on an executor and compares what it stored.
//
//===----------------------------------------------------------------------===//

#ifndef TILEWRIGHT_TEST_UNIT_SYSTOLICNET_H
#define TILEWRIGHT_TEST_UNIT_SYSTOLICNET_H

#include "backends/systolic/CompileProgram.h"
#include <deque>
#include <map>
#include <random>

namespace tilewright::systolic {

struct NetMap {
  Operand operand;            ///< where the map lies; `dram` when it (also) lives there
  std::vector<int8_t> values; ///< [n][c][y][x], int8 form
  int8_t at(int64_t n, int64_t c, int64_t y, int64_t x) const {
    return values[((n * operand.channels + c) * operand.height + y) * operand.width + x];
  }
};

struct ConvOptions {
  int64_t out = 16, kernelHeight = 3, kernelWidth = 3, stride = 1, dilation = 1, pad = 1, groups = 1;
  bool wide = false; ///< weights beyond int8
  bool prelu = false, table1 = false, table2 = false, swap = false;
  int residual = -1; ///< a map
  int64_t tileRows = 0, tileChannels = 0, tileSamples = 0;
  bool channelsOutermost = false;
  int group = -1;
};

class SystolicNet {
public:
  explicit SystolicNet(const ArrayConfig &array, uint32_t seed = 1) : array(array), random(seed) {
    program.name = "net";
  }

  /// An input in DRAM; loaded by its first reader (see `loadOnce`) or, with `ringRows`, by every reader into a ring.
  int input(int64_t samples, int64_t channels, int64_t height, int64_t width, DramLayout layout = DramLayout::Blocked,
            bool isUnsigned = false);
  int conv(int in, const ConvOptions &options);
  int maxPool(int in, int64_t kernel, int64_t stride, int64_t pad, int64_t tileRows = 0, int group = -1);
  int averagePool(int in, int64_t kernel, int64_t stride, int64_t pad, bool countPad);
  int add(int a, int b);
  int lookUp(int in); ///< a table alone
  /// Results of `a` and `b` side by side; only directly after the layers that make them.
  void concat(std::initializer_list<int> maps);
  void output(int map);

  /// The map lives in DRAM: its writer stores it, every reader loads it into an own ring of `rows`.
  void stream(int map, int64_t rows) { streamed[map] = std::max(streamed[map], rows); }
  /// The map is only a ring of `rows` between layers of one group.
  void ring(int map, int64_t rows) { rings[map] = rows; }

  /// Places all maps, schedules, runs golden (strict), in program order and in other orders that
  /// the waits allow, and compares every output. Empty if right. With TILEWRIGHT_TEST_RTL set, the RTL runs too and is
  /// compared with golden on every word written.
  std::string check();
  /// Of the last check().
  ScheduledProgram scheduled;

  std::vector<NetMap> maps;
  LayerProgram program;

private:
  int newMap(int64_t samples, int64_t channels, int64_t height, int64_t width, bool isUnsigned);
  void place();
  std::string runOnGolden(const DeviceProgram &device);
  int8_t finish(const Layer &layer, int64_t channel, int64_t sum, int second, int64_t n, int64_t y, int64_t x) const;
  int64_t allocate(int64_t words);

  const ArrayConfig &array;
  std::mt19937 random;
  std::deque<std::vector<int8_t>> bytes;
  std::deque<std::vector<int16_t>> wide;
  struct Use {
    int in, second, out;
  };
  std::vector<Use> uses; ///< maps of each layer
  std::map<int, int64_t> streamed, rings;
  std::map<int, std::pair<int, int64_t>> parents; ///< map -> the concatenation's first map, channel offset
  std::map<int, int64_t> concatChannels;
  std::vector<int> outputs;
  int64_t used = 0, arena = 0;
};

} // namespace tilewright::systolic

#endif
