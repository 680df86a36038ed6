//===- DeviceProgram.h - a program for the array, ready to run --*- C++ -*-===//
//
// What the systolic back end hands on: descriptors, the constant bytes they
// read, and where the tensors of the host lie in the array's DRAM. No MLIR
// here: the package writer, the runtime and the simulators' tests use it.
//
//===----------------------------------------------------------------------===//

#ifndef TILEWRIGHT_BACKENDS_SYSTOLIC_DEVICEPROGRAM_H
#define TILEWRIGHT_BACKENDS_SYSTOLIC_DEVICEPROGRAM_H

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace tilewright::systolic {

/// How the elements (one byte each) of a tensor lie in DRAM.
enum class DramLayout : uint8_t {
  Nhwc,    ///< [n][y][x][c], contiguous: images of up to 4 channels
  Nchw,    ///< [n][c][y][x], contiguous: images of up to 4 channels
  Blocked, ///< [n][c/16][y][x][16]; bytes of channels beyond the last are arbitrary
};

/// A tensor that host and array share. Its value on the host is in the model's own order; the executor converts it to
/// and from `layout` (tensorToDram, dramToTensor in common/DramLayout.h).
struct DeviceTensor {
  std::string name;     ///< of the tensor in the model, or of the layer that makes or reads it
  uint64_t address = 0; ///< of its first byte in DRAM, a multiple of 64
  uint64_t bytes = 0;   ///< that it takes in DRAM
  DramLayout layout = DramLayout::Blocked;
  bool isUnsigned = false;      ///< uint8 (true) or int8 in the model; DRAM holds the model's own bytes
  std::array<int64_t, 4> shape; ///< samples, channels, rows, columns as the array sees it
  /// Element (n, c, y, x) is element n*s0 + c*s1 + y*s2 + x*s3 of the host's value: NCHW, NHWC, flattened and
  /// transposed tensors differ only here. 0 where the extent is 1.
  std::array<int64_t, 4> hostStrides = {};
};

/// Constant bytes to be put at `address` before the first run.
struct Segment {
  uint64_t address = 0;
  std::vector<uint8_t> bytes;
};

/// A row of the report. The descriptors' `layer` field is the index in DeviceProgram::layers.
struct LayerInfo {
  std::string name;
  std::vector<std::string> onnxNodes;
  std::string kind;            ///< convolution, depthwise, dense, max_pool, ...
  std::string shape;           ///< "1x64x56x56 -> 1x256x56x56"
  std::string tile;            ///< "14 rows x 64 channels"
  int64_t macs = 0;            ///< useful multiply-accumulates
  int64_t idealCycles = 0;     ///< macs / (P*K*C), rounded up
  int64_t predictedCycles = 0; ///< that choose-tiles expected of the tile it took
  int64_t bytesWeights = 0;    ///< DRAM bytes by class, as scheduled
  int64_t bytesIn = 0, bytesOut = 0, bytesResidual = 0;
};

struct DeviceProgram {
  std::string name;
  std::vector<uint8_t> descriptors; ///< 128 bytes each, to be put at `programAddress`
  uint64_t programAddress = 0;
  std::vector<Segment> constants; ///< weights and tables; programs of one model may share segments
  std::vector<DeviceTensor> inputs, outputs;
  uint64_t dramBytes = 0;      ///< DRAM that the program needs, from address 0
  uint64_t expectedCycles = 0; ///< by the scheduler's simple model
  std::vector<LayerInfo> layers;
};

} // namespace tilewright::systolic

#endif
