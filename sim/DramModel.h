//===- DramModel.h - DRAM behind an AXI4 port -------------------*- C++ -*-===//
//
// The memory of the RTL simulation: one AXI4 slave with a rate that reads and
// writes share, a fixed pattern of refused beats and a latency. Header only: the
// harness of every built simulator includes it.
//
// Timing of a read: address accepted in cycle t, first beat offered no earlier
// than t + latency. Of a write: response no earlier than latency cycles after
// its last beat. Requests are served in order. INCR bursts of full-width beats.
//
//===----------------------------------------------------------------------===//

#ifndef TILEWRIGHT_SIM_DRAMMODEL_H
#define TILEWRIGHT_SIM_DRAMMODEL_H

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <deque>

namespace tilewright::sim {

struct DramParameters {
  unsigned busBytes = 16;       ///< 16 or 32
  unsigned bytesPerCycle = 16;  ///< reads plus writes; 1 to busBytes
  unsigned refuseEvery = 10;    ///< every n-th beat's turn is refused; 0: none
  unsigned latencyCycles = 100; ///< at least 1
};

/// What the core drives, sampled before the clock edge.
struct AxiMaster {
  bool arValid = false, rReady = false, awValid = false, wValid = false, wLast = false, bReady = false;
  uint8_t arLen = 0, awLen = 0; ///< beats - 1
  uint8_t arId = 0, awId = 0;
  uint64_t arAddress = 0, awAddress = 0; ///< multiples of the bus width
  uint32_t wStrobe = 0;
  uint8_t wData[32];
};

/// What the memory drives from the clock edge on.
struct AxiSlave {
  bool arReady = true, rValid = false, rLast = false, awReady = true, wReady = false, bValid = false;
  bool rError = false, bError = false; ///< response DECERR: address outside the memory
  uint8_t rId = 0, bId = 0;
  uint8_t rData[32] = {};
};

class DramModel {
public:
  DramModel(uint8_t *memory, uint64_t memoryBytes, const DramParameters &parameters)
      : memory(memory), memoryBytes(memoryBytes), parameters(parameters) {}

  /// One clock edge: takes what the core drove, returns what it sees until the next edge. `onWrite(address, data,
  /// strobe)` is called for each accepted write beat (busBytes bytes).
  template <typename OnWrite> const AxiSlave &clock(const AxiMaster &master, OnWrite &&onWrite) {
    ++now;
    acceptAddresses(master);
    if (slave.rValid && master.rReady)
      slave.rValid = false;
    if (slave.wReady && master.wValid)
      acceptWrite(master, onWrite);
    if (slave.bValid && master.bReady)
      slave.bValid = false;
    credit = std::min(credit + parameters.bytesPerCycle, 2 * parameters.busBytes - 1);
    offerBeat(master);
    offerResponse();
    slave.arReady = reads.size() < maxOutstanding;
    slave.awReady = writes.size() < maxOutstanding;
    return slave;
  }

  /// Bytes moved so far, by AXI id.
  const uint64_t *readBytes() const { return readByteCount; }
  const uint64_t *writtenBytes() const { return writtenByteCount; }

private:
  struct Read {
    uint64_t address, ready;
    unsigned beats;
    uint8_t id;
  };
  struct Write {
    uint64_t address;
    unsigned beats;
    uint8_t id;
  };
  struct Response {
    uint64_t ready;
    uint8_t id;
    bool error;
  };

  /// Bursts in flight each way: 16 of 256 bytes cover latency times rate; more would only queue loads behind prefetched
  /// weights.
  static constexpr size_t maxOutstanding = 16;

  bool inside(uint64_t address) const { return address < memoryBytes && memoryBytes - address >= parameters.busBytes; }

  void acceptAddresses(const AxiMaster &master) {
    if (slave.arReady && master.arValid)
      reads.push_back({master.arAddress, now - 1 + parameters.latencyCycles, master.arLen + 1u, master.arId});
    if (slave.awReady && master.awValid)
      writes.push_back({master.awAddress, master.awLen + 1u, master.awId});
  }

  template <typename OnWrite> void acceptWrite(const AxiMaster &master, OnWrite &&onWrite) {
    credit -= std::min(credit, parameters.busBytes);
    // Data may run ahead of its address by a cycle; it is then refused (offerBeat), so there is an address here.
    Write &write = writes.front();
    if (inside(write.address)) {
      for (unsigned b = 0; b < parameters.busBytes; ++b)
        if (master.wStrobe >> b & 1)
          memory[write.address + b] = master.wData[b];
      onWrite(write.address, master.wData, master.wStrobe);
    } else {
      writeError = true;
    }
    writtenByteCount[write.id & 3] += parameters.busBytes;
    write.address += parameters.busBytes;
    if (--write.beats == 0) {
      responses.push_back({now - 1 + parameters.latencyCycles, write.id, writeError});
      writeError = false;
      writes.pop_front();
    }
  }

  /// Gives the cycle's beat, if the rate allows one, to a read or to a write; they take turns when both want it.
  void offerBeat(const AxiMaster &master) {
    slave.wReady = false;
    bool readWants = !slave.rValid && !reads.empty() && reads.front().ready <= now;
    // A write that has begun is taken to go on, so that its beats need not wait a cycle each to be seen.
    bool writeWants = !writes.empty() && master.wValid;
    if (credit < parameters.busBytes || (!readWants && !writeWants))
      return;
    if (parameters.refuseEvery && ++turn >= parameters.refuseEvery) {
      turn = 0;
      credit -= parameters.busBytes;
      return;
    }
    if (writeWants && (!readWants || !lastWasWrite)) {
      slave.wReady = true; // the credit is taken when the beat is
      lastWasWrite = true;
      return;
    }
    lastWasWrite = false;
    credit -= parameters.busBytes;
    Read &read = reads.front();
    slave.rValid = true;
    slave.rId = read.id;
    slave.rError = !inside(read.address);
    slave.rLast = read.beats == 1;
    if (slave.rError)
      std::memset(slave.rData, 0, sizeof slave.rData);
    else
      std::memcpy(slave.rData, memory + read.address, parameters.busBytes);
    readByteCount[read.id & 3] += parameters.busBytes;
    read.address += parameters.busBytes;
    if (--read.beats == 0)
      reads.pop_front();
  }

  void offerResponse() {
    if (slave.bValid || responses.empty() || responses.front().ready > now)
      return;
    slave.bValid = true;
    slave.bId = responses.front().id;
    slave.bError = responses.front().error;
    responses.pop_front();
  }

  uint8_t *memory;
  uint64_t memoryBytes;
  DramParameters parameters;
  AxiSlave slave;
  std::deque<Read> reads;
  std::deque<Write> writes;
  std::deque<Response> responses;
  uint64_t now = 0;
  unsigned credit = 0, turn = 0;
  bool lastWasWrite = false, writeError = false;
  uint64_t readByteCount[4] = {}, writtenByteCount[4] = {};
};

} // namespace tilewright::sim

#endif
