//===- ThreadPool.h - the threads that host kernels run on ------*- C++ -*-===//

#ifndef TILEWRIGHT_RUNTIME_THREADPOOL_H
#define TILEWRIGHT_RUNTIME_THREADPOOL_H

#include "backends/cpu/HostAbi.h"

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

namespace tilewright::runtime {

/// Serves one caller at a time, who works along.
class ThreadPool {
public:
  using Body = void (*)(void *arg, int64_t begin, int64_t end);

  explicit ThreadPool(unsigned threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool &) = delete;
  ThreadPool &operator=(const ThreadPool &) = delete;

  /// Runs body(arg, begin, end) over disjoint ranges covering [0, count); returns when all are done.
  void parallelFor(int64_t count, Body body, void *arg);
  /// What host kernels are handed.
  TwHostContext hostContext();

private:
  struct Loop {
    Body body = nullptr;
    void *arg = nullptr;
    int64_t count = 0, chunk = 1;
  };
  void workerMain();
  void work(const Loop &loop);

  std::vector<std::thread> workers;
  std::mutex mutex;
  std::condition_variable started, finished;
  Loop current;
  std::atomic<int64_t> next{0};
  uint64_t generation = 0;
  unsigned busy = 0;
  bool stopping = false;
};

} // namespace tilewright::runtime

#endif
