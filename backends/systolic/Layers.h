//===- Layers.h - what the systolic back end compiles -----------*- C++ -*-===//
//
// The layers of one device program with every decision already taken: tile
// sizes, where each operand lies in the scratchpad, what passes through DRAM.
// LowerToSystolic fills these structures from tile IR; job generation and
// scheduling obey and only order. No MLIR here, so that they are tested alone.
//
//===----------------------------------------------------------------------===//

#ifndef TILEWRIGHT_BACKENDS_SYSTOLIC_LAYERS_H
#define TILEWRIGHT_BACKENDS_SYSTOLIC_LAYERS_H

#include "backends/systolic/DeviceProgram.h"
#include <optional>

namespace tilewright::systolic {

/// Where a map lies in the scratchpad, in words of 16 bytes: see "Maps" in docs/accelerator.md.
struct Place {
  int64_t base = 0, pitch = 0, planePitch = 0, samplePitch = 0;
  int64_t ringRows = 0;      ///< rows that the ring holds; the map's height when it is resident
  int64_t channelOffset = 0; ///< results: byte of the first word at which channel 0 lies
};

/// Where a map lies in the activation arena in DRAM. Bytes there are the model's own (uint8 not shifted).
struct DramPlace {
  DramLayout layout = DramLayout::Blocked;
  int64_t offset = 0; ///< bytes from the arena's start
  int64_t rowStride = 0, planeStride = 0, sampleStride = 0;
};

/// An operand or the result of a layer.
struct Operand {
  int64_t samples = 0, channels = 0, height = 0, width = 0; ///< samples == 0: there is no such operand
  bool isUnsigned = false;                                  ///< uint8 in the model; the scratchpad holds value - 128
  bool packed = false;                                      ///< an image of up to 4 channels in packed rows
  Place place;
  /// Operands: this layer loads the rows that it needs. Results: it stores its rows once written.
  std::optional<DramPlace> dram;
  /// The place holds only a tile's samples at a time, on their way to or from DRAM.
  bool isStaged = false;
  int producer = -1; ///< operands within a group: the layer of the program that computes the map

  explicit operator bool() const { return samples != 0; }
  int64_t channelWords() const { return packed ? 1 : (place.channelOffset + channels + 15) / 16; }
  int64_t rowWords() const { return packed ? (width * channels + 15) / 16 : width; }
};

/// Kernel, strides and so on; the padding below and to the right follows from the shapes.
struct WindowShape {
  int64_t kernelHeight = 1, kernelWidth = 1, strideHeight = 1, strideWidth = 1;
  int64_t dilationHeight = 1, dilationWidth = 1, padTop = 0, padLeft = 0;
};

/// Weights with the model's zero points subtracted, row-major [out][in per group][kernel height][kernel width], as
/// bytes (int8) or, where they need it, 16-bit numbers in [-255, 255].
struct WeightView {
  const int8_t *bytes = nullptr;
  const int16_t *wide = nullptr;
  int64_t at(int64_t index) const { return wide ? wide[index] : bytes[index]; }
};

enum class LayerKind { Contraction, Depthwise, MaxPool, SumPool, Add };

/// 256 results, indexed by value + 128.
using ValueTable = std::array<int8_t, 256>;

/// Step 4 of the epilogue.
struct ResidualStep {
  float scaleA = 0, scaleB = 0, fix = 0;
  bool swap = false, isUnsigned = false;
  int64_t zeroPoint = 0; ///< added after rounding
  int64_t clampMin = -128, clampMax = 127;
};

/// A rectangle of outputs of a pool that have one scale (an average without padding divides by less at the border).
struct PoolRegion {
  int64_t rowStart = 0, rowCount = 0, columnStart = 0, columnCount = 0;
  float scale = 1;
};

struct Layer {
  std::string name;
  std::vector<std::string> onnxNodes;
  std::string reportKind; ///< for LayerInfo::kind
  int64_t macs = 0;
  int64_t predictedCycles = 0; ///< for LayerInfo

  LayerKind kind = LayerKind::Contraction;
  Operand in, out;
  Operand second; ///< residual of a contraction, second operand of an add
  WindowShape window;
  int64_t padValue = 0; ///< what lies outside the input; all such integers are those of the int8 form

  // Contraction, Depthwise
  int64_t groups = 1;
  WeightView weights;
  std::vector<int32_t> bias;          ///< per output channel, the input zero point's term included
  std::vector<float> scale, scaleNeg; ///< m, m_neg per output channel; scaleNeg empty when equal

  // SumPool
  int64_t sumBias = 0;
  std::vector<PoolRegion> regions; ///< cover the output

  int64_t zeroPoint = 0, clampMin = -128, clampMax = 127; ///< step 2 (contractions, SumPool)
  std::optional<ValueTable> table1, table2;               ///< pools and Add: table1, applied last
  ResidualStep residual;                                  ///< contractions with `second`, Add

  // Decisions
  int64_t tileSamples = 0;  ///< samples per tile; 0: all
  int64_t tileChannels = 0; ///< output channels per tile, a multiple of K; 0: all
  int64_t tileRows = 0;     ///< output rows per tile; 0: all
  /// All row tiles of one channel tile before the next channel tile; otherwise all channel tiles of one row tile.
  bool channelsOutermost = false;
  /// Layers of one fusion group (neighbours in the list) run tile by tile, driven by the last; -1: alone.
  int group = -1;
};

/// The layers between two host steps.
struct LayerProgram {
  std::string name;
  std::vector<Layer> layers;
  std::vector<DeviceTensor> inputs, outputs; ///< addresses are offsets in the arena until placed
  int64_t arenaBytes = 0;
};

} // namespace tilewright::systolic

#endif
