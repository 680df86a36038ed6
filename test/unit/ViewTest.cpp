//===- ViewTest.cpp - layout operators as strides -------------------------===//

#include "passes/layers/View.h"

#include <gtest/gtest.h>

using namespace tilewright::layers;

TEST(View, TransposeThenFlattenIsFactors) {
  View view = View::whole({2, 3, 4, 5}); // NCHW
  view.transpose({0, 2, 3, 1});
  ASSERT_TRUE(view.reshape({2, 60}));
  EXPECT_EQ(view.axes[0], (Axis{{2, 60}}));
  EXPECT_EQ(view.axes[1], (Axis{{20, 1}, {3, 20}})); // rows and columns together, then channels
}

TEST(View, ReshapeBackMergesFactors) {
  View view = View::whole({2, 12});
  ASSERT_TRUE(view.reshape({2, 3, 4}));
  EXPECT_EQ(view.axes[1], (Axis{{3, 4}}));
  ASSERT_TRUE(view.reshape({24}));
  EXPECT_EQ(view.axes[0], (Axis{{24, 1}}));
}

TEST(View, SplitsThatAreNoFactorsAreRefused) {
  View view = View::whole({6, 4});
  view.transpose({1, 0});
  EXPECT_FALSE(view.reshape({3, 8})); // 8 = 2 columns of 6 would need 4/3 of one
  View other = View::whole({6, 4});
  other.transpose({1, 0});
  EXPECT_TRUE(other.reshape({2, 2, 6}));
}

TEST(View, AsMapDimensions) {
  // Channels, rows, columns of a map [1, 3, 4, 5] in the order of a flattened, transposed tensor.
  View view = View::whole({1, 3, 4, 5});
  view.transpose({0, 3, 2, 1});
  ASSERT_TRUE(view.reshape({1, 60}));
  auto dims = asMapDims(view.axes[1], {1, 3, 4, 5}, {0, 20, 5, 1});
  ASSERT_TRUE(dims.has_value());
  EXPECT_EQ(llvm::ArrayRef<unsigned>(*dims), llvm::ArrayRef<unsigned>({3, 2, 1}));
  EXPECT_FALSE(asMapDims(Axis{{2, 20}}, {1, 3, 4, 5}, {0, 20, 5, 1}).has_value()); // two of three channels
}
