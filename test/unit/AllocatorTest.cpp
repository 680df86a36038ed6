//===- AllocatorTest.cpp - buffers that are alive together never overlap --===//

#include "passes/memory/Allocator.h"

#include <gtest/gtest.h>

#include <random>

using namespace tilewright::memory;

TEST(Allocator, ReusesWhatIsFree) {
  Buffer buffers[] = {{64, 0, 1}, {32, 2, 3}, {32, 1, 2}};
  EXPECT_EQ(allocate(buffers, 16), 96);
  EXPECT_EQ(buffers[0].offset, 0);
  EXPECT_EQ(buffers[1].offset, 0); // after the first one's life
  EXPECT_EQ(buffers[2].offset, 64);
}

TEST(Allocator, RandomLifetimes) {
  std::mt19937 random(1);
  auto between = [&](int64_t low, int64_t high) { return std::uniform_int_distribution<int64_t>(low, high)(random); };
  for (int round = 0; round < 200; ++round) {
    std::vector<Buffer> buffers(between(1, 40));
    for (Buffer &buffer : buffers) {
      buffer.size = between(1, 1000);
      buffer.first = between(0, 20);
      buffer.last = buffer.first + between(0, 6);
    }
    int64_t alignment = int64_t(1) << between(0, 6), used = allocate(buffers, alignment);
    for (size_t i = 0; i < buffers.size(); ++i) {
      const Buffer &a = buffers[i];
      EXPECT_GE(a.offset, 0);
      EXPECT_EQ(a.offset % alignment, 0);
      EXPECT_LE(a.offset + a.size, used);
      for (size_t j = i + 1; j < buffers.size(); ++j) {
        const Buffer &b = buffers[j];
        bool together = a.first <= b.last && b.first <= a.last;
        bool apart = a.offset + a.size <= b.offset || b.offset + b.size <= a.offset;
        EXPECT_TRUE(!together || apart) << "round " << round << ", buffers " << i << " and " << j;
      }
    }
  }
}
