//===- HostTest.cpp - threads, layout conversion, CPU features ------------===//

#include "runtime/HostCode.h"
#include "runtime/MapCopy.h"
#include "runtime/ThreadPool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <numeric>
#include <vector>

using namespace tilewright;
using namespace tilewright::runtime;

namespace {

TEST(ThreadPoolTest, EveryIndexOnce) {
  for (unsigned threads : {1u, 2u, 5u}) {
    ThreadPool pool(threads);
    for (int64_t count : {0, 1, 2, 3, 17, 1000}) {
      std::vector<std::atomic<int>> seen(static_cast<size_t>(count));
      TwHostContext context = pool.hostContext();
      context.parallel_for(
          context.pool, count,
          [](void *arg, int64_t begin, int64_t end) {
            for (int64_t i = begin; i < end; ++i)
              ++static_cast<std::atomic<int> *>(arg)[i];
          },
          seen.data());
      for (auto &times : seen)
        ASSERT_EQ(times, 1);
    }
  }
}

TEST(ThreadPoolTest, ManyLoopsInARow) {
  ThreadPool pool(2);
  std::atomic<int64_t> sum = 0;
  for (int i = 0; i < 20000; ++i)
    pool.parallelFor(
        4, [](void *arg, int64_t begin, int64_t end) { *static_cast<std::atomic<int64_t> *>(arg) += end - begin; },
        &sum);
  EXPECT_EQ(sum, 80000);
}

TEST(MapCopyTest, NchwToBlockedAndBack) {
  // 2 samples, 19 channels, 3 rows, 5 columns.
  package::MapView view(2, 19, 3, 5, 19 * 15, 15, 5, 1);
  std::vector<uint8_t> dense(2 * 19 * 15), back(dense.size());
  std::iota(dense.begin(), dense.end(), 0);
  std::vector<uint8_t> blocked(2 * 2 * 15 * 16, 0xee);
  copyToDevice(view, package::DramLayout::Blocked, dense.data(), blocked.data());
  auto at = [&](int n, int c, int y, int x) { return blocked[(((n * 2 + c / 16) * 3 + y) * 5 + x) * 16 + c % 16]; };
  EXPECT_EQ(at(1, 18, 2, 4), dense[1 * 285 + 18 * 15 + 2 * 5 + 4]);
  EXPECT_EQ(at(0, 19, 0, 0), 0) << "channels beyond the last";
  copyFromDevice(view, package::DramLayout::Blocked, blocked.data(), back.data());
  EXPECT_EQ(back, dense);
}

TEST(MapCopyTest, AMatrixIsAMapOfItsColumns) {
  // 3 rows of 20: channels 20, width 3.
  package::MapView view(1, 20, 1, 3, 0, 1, 0, 20);
  std::vector<uint8_t> dense(60);
  std::iota(dense.begin(), dense.end(), 0);
  std::vector<uint8_t> blocked(2 * 3 * 16);
  copyToDevice(view, package::DramLayout::Blocked, dense.data(), blocked.data());
  EXPECT_EQ(blocked[1 * 16 + 3], 23);       // row 1, column 3
  EXPECT_EQ(blocked[(3 + 2) * 16 + 1], 57); // row 2, column 17
}

TEST(MapCopyTest, ImagesAreCopiedOrTransposed) {
  using package::DramLayout;
  std::vector<uint8_t> tensor(2 * 3 * 4 * 5), back(tensor.size()), device(tensor.size());
  std::iota(tensor.begin(), tensor.end(), 0);
  package::MapView nchw(2, 3, 4, 5, 60, 20, 5, 1), nhwc(2, 3, 4, 5, 60, 1, 15, 3);
  copyToDevice(nchw, DramLayout::Nchw, tensor.data(), device.data());
  EXPECT_EQ(device, tensor);
  copyToDevice(nchw, DramLayout::Nhwc, tensor.data(), device.data());
  EXPECT_EQ(device[((1 * 4 + 2) * 5 + 3) * 3 + 1], tensor[((1 * 3 + 1) * 4 + 2) * 5 + 3]);
  copyFromDevice(nchw, DramLayout::Nhwc, device.data(), back.data());
  EXPECT_EQ(back, tensor);
  copyFromDevice(nhwc, DramLayout::Nhwc, device.data(), back.data());
  EXPECT_EQ(back, device);
  EXPECT_EQ(deviceBytes(nchw, DramLayout::Blocked), 2u * 16 * 20);
}

TEST(HostCodeTest, MissingFeaturesAreNamed) {
  EXPECT_EQ(missingCpuFeatures("sse2,64bit,x87,sse3,sse4.2"), "");
  EXPECT_EQ(missingCpuFeatures("sse2,warp-drive,+teleport"), "warp-drive, teleport");
}

} // namespace
