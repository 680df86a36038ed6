//===- WeightPacking.h - weights in the order the array reads them -*- C++ -*-===//
//
// A block of K output channels is a header (bias, m, m_neg) and one ring word
// per reduction step ("Weight ring" in docs/accelerator.md). Here is decided
// which of the array's modes a layer takes, which input words a block needs
// (groups become block-diagonal), how weights that do not fit int8 become a sum
// of terms, and where a reduction is cut so that it fits the ring.
//
//===----------------------------------------------------------------------===//

#ifndef TILEWRIGHT_BACKENDS_SYSTOLIC_WEIGHTPACKING_H
#define TILEWRIGHT_BACKENDS_SYSTOLIC_WEIGHTPACKING_H

#include "backends/systolic/Layers.h"
#include "backends/systolic/isa/Descriptor.h"
#include "config/ArrayConfig.h"

namespace tilewright::systolic {

/// The mode in which `layer` runs. Depthwise layers that the native mode does not take (stride over 2, dilation,
/// kernels over 7, several terms, several outputs per input, K > 16) are dense.
isa::ExecuteMode executeMode(const ArrayConfig &array, const Layer &layer);

/// A part of one block's reduction that one job runs: kernel rows and columns [ky0, ky1) x [kx0, kx1) of input words
/// [word0, word1), with terms [term0, term1) of the weights.
struct ReductionPiece {
  int64_t ky0 = 0, ky1 = 1, kx0 = 0, kx1 = 1, word0 = 0, word1 = 1, term0 = 0, term1 = 1;
  int64_t channelSteps = 1; ///< dense: steps per tap
  int64_t steps = 0;        ///< ring words without the header
};

/// One block: at most K output channels from `channel` on.
struct WeightBlock {
  int64_t channel = 0, channels = 0;
  std::vector<ReductionPiece> pieces; ///< more than one: acc_init / acc_finish, one brick per job
};

int64_t headerWords(const ArrayConfig &array);

/// Plans the block of output channels [channel, channel + channels). Throws Error naming the layer when no cut of its
/// reduction fits the ring.
WeightBlock planBlock(const ArrayConfig &array, const Layer &layer, int64_t channel, int64_t channels);

/// Ring words of all pieces of `block`, headers included.
int64_t ringWords(const ArrayConfig &array, const WeightBlock &block);

/// The kernel and dilation that the job of `piece` is given: several terms of a kernel of one row (or column) are taps
/// at the same place.
WindowShape pieceWindow(const Layer &layer, const ReductionPiece &piece);

/// Appends header and steps of one piece. Throws Error naming the layer when an accumulator could leave int32, and when
/// a scale is not finite and positive.
void packPiece(const ArrayConfig &array, const Layer &layer, const WeightBlock &block, const ReductionPiece &piece,
               std::vector<uint8_t> &bytes);

} // namespace tilewright::systolic

#endif
