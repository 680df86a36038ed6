//===- MemoryUnits.h - fetch, load, weights and store in the model -*- C++ -*-===//

#ifndef TILEWRIGHT_SIM_MODEL_MEMORYUNITS_H
#define TILEWRIGHT_SIM_MODEL_MEMORYUNITS_H

#include "sim/model/Machine.h"

namespace tilewright::sim::model {

/// descriptor_fetch.sv: buffer of 64 words, one word per cycle into the descriptor, then dealt to its queue.
class FetchUnit final : public Unit {
public:
  FetchUnit(Machine &machine, uint64_t programAddress) : machine(machine), address(programAddress) {}
  Time next() override;
  void act(Time now) override;
  bool ended() const { return index == machine.program.size(); }
  Time end() const { return endTime; }

private:
  Time collectTime() const;
  Time burstTime() const;
  Time dealTime() const;

  Machine &machine;
  uint64_t address;
  size_t index = 0; ///< next descriptor to deal
  int64_t requested = 0;
  struct Burst {
    int64_t begin, end; ///< words of the program
    Time first, last;   ///< beats; `never` until they are given
  };
  std::deque<Burst> bursts;
  Time collectFrom = 0, request = 0, endTime = 0, lastBeat = 0;
  int64_t flying = 0; ///< bursts whose beats have not all been given
};

/// load_dma.sv: bursts as far ahead as the buffer of 256 words allows; one word per cycle into the scratchpad.
class LoadUnit final : public Unit {
public:
  explicit LoadUnit(Machine &machine) : machine(machine) {}
  Time next() override;
  void act(Time now) override;

private:
  void takeJob(Time now);
  void arrive(int64_t words, bool planar, Time first, Time last);

  Machine &machine;
  bool asking = false;
  isa::Load job;
  int64_t sample = 0, plane = 0, row = 0, stream = 0, offset = 0; ///< next burst: byte within the row (of a plane)
  Time lastTake = 0, ask = 0, rowData = 0, writeFree = 0;
  /// Jobs whose data is on its way.
  struct Request {
    uint32_t descriptor;
    Time started;
    int64_t bursts = 0;    ///< requested, not arrived
    bool complete = false; ///< all are requested
  };
  std::deque<Request> requests;
  int64_t buffered = 0;
  /// The next burst of the job: its first word in DRAM and its length.
  struct Burst {
    int64_t word, words, rowWords;
  };
  Burst nextBurst() const;
  struct Leaving {
    Time begin, end; ///< a burst's words leave the buffer evenly in between
    int64_t words;
  };
  std::deque<Leaving> leaving;
  std::deque<Time> writing; ///< when the last word of each of the latest jobs is written
  bool planarBuffer = false;
};

/// weights_dma.sv: bursts as far ahead as the ring has room, across jobs.
class WeightsUnit final : public Unit {
public:
  explicit WeightsUnit(Machine &machine) : machine(machine) {}
  Time next() override;
  void act(Time now) override;

private:
  int64_t roomAt(Time now) const;
  Time whenRoom() const;
  void arrive(int64_t words, Time first, Time last);

  Machine &machine;
  bool running = false;
  uint32_t descriptor = 0;
  isa::Weights job;
  int64_t left = 0; ///< 16-byte words not requested
  uint64_t address = 0;
  int64_t reserved = 0; ///< 16-byte words of the ring since the start
  int64_t arrivedChunks = 0;
  Time lastTake = 0, ask = 0, started = 0;
  std::deque<Time> receiving; ///< jobs whose data is on its way: when it is complete
};

/// Beats of reads, given in the order of time like everything else.
class DramUnit final : public Unit {
public:
  explicit DramUnit(Machine &machine) : machine(machine) {}
  Time next() override;
  void act(Time now) override;

private:
  Machine &machine;
};

/// store_dma.sv: bursts, read word by word from the scratchpad.
class StoreUnit final : public Unit {
public:
  explicit StoreUnit(Machine &machine) : machine(machine) {}
  Time next() override;
  void act(Time now) override;

private:
  Machine &machine;
  bool running = false;
  uint32_t descriptor = 0;
  isa::Store job;
  int64_t sample = 0, plane = 0, row = 0, done = 0; ///< words of the row requested
  Time lastTake = 0, issue = 0, started = 0, lastResponse = 0;
  int64_t reserved = 0;
  std::deque<std::pair<Time, int64_t>> leaving; ///< words leave the FIFO
};

} // namespace tilewright::sim::model

#endif
