//===- ThreadPool.cpp -----------------------------------------------------===//

#include "runtime/ThreadPool.h"

#include <algorithm>

namespace tilewright::runtime {

ThreadPool::ThreadPool(unsigned threads) {
  for (unsigned i = 1; i < threads; ++i)
    workers.emplace_back([this] { workerMain(); });
}

ThreadPool::~ThreadPool() {
  {
    std::lock_guard lock(mutex);
    stopping = true;
  }
  started.notify_all();
  for (std::thread &worker : workers)
    worker.join();
}

void ThreadPool::work(const Loop &loop) {
  for (;;) {
    int64_t begin = next.fetch_add(loop.chunk, std::memory_order_relaxed);
    if (begin >= loop.count)
      return;
    loop.body(loop.arg, begin, std::min(begin + loop.chunk, loop.count));
  }
}

void ThreadPool::workerMain() {
  uint64_t seen = 0;
  for (;;) {
    Loop loop;
    {
      std::unique_lock lock(mutex);
      started.wait(lock, [&] { return stopping || generation != seen; });
      if (stopping)
        return;
      seen = generation;
      loop = current;
    }
    work(loop);
    std::lock_guard lock(mutex);
    if (--busy == 0)
      finished.notify_one();
  }
}

void ThreadPool::parallelFor(int64_t count, Body body, void *arg) {
  if (count <= 0)
    return;
  auto threads = static_cast<int64_t>(workers.size()) + 1;
  if (count == 1 || threads == 1) {
    body(arg, 0, count);
    return;
  }
  // Three ranges per thread even out a thread that starts late, and stay few.
  Loop loop{body, arg, count, std::max<int64_t>(1, (count + threads * 3 - 1) / (threads * 3))};
  {
    std::lock_guard lock(mutex);
    current = loop;
    next.store(0, std::memory_order_relaxed);
    busy = static_cast<unsigned>(workers.size());
    ++generation;
  }
  started.notify_all();
  work(loop);
  std::unique_lock lock(mutex);
  finished.wait(lock, [&] { return busy == 0; });
}

TwHostContext ThreadPool::hostContext() {
  return {[](void *pool, int64_t count, Body body, void *arg) {
            static_cast<ThreadPool *>(pool)->parallelFor(count, body, arg);
          },
          this};
}

} // namespace tilewright::runtime
