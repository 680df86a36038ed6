//===- SimulatorAbi.h - what a built RTL simulator exports ------*- C++ -*-===//
//
// A simulator of one array configuration is a shared object made from the RTL,
// Verilator and the harness in sim/verilator; RtlExecutor opens it. Plain data
// only, so that neither side depends on the other's compiler or libraries.
//
//===----------------------------------------------------------------------===//

#ifndef TILEWRIGHT_SIM_SIMULATORABI_H
#define TILEWRIGHT_SIM_SIMULATORABI_H

#include <cstdint>

extern "C" {

#define TILEWRIGHT_SIMULATOR_ABI 2

/// Why the array took no step in a cycle; the order is that of the table in docs/accelerator.md, which is also the
/// priority.
enum TilewrightCause {
  TilewrightCauseNoJob,
  TilewrightCauseWaitLoad,
  TilewrightCauseWaitStore,
  TilewrightCauseWaitVector,
  TilewrightCauseWaitExecute,
  TilewrightCauseWaitTable,
  TilewrightCauseWeight,
  TilewrightCauseDrain,
  TilewrightCauseActivation,
  TilewrightCauseSetup,
  TilewrightCauseCount
};

/// Who moved bytes over the bus. Also the AXI id of a read (fetch, load, weights) or write (store).
enum TilewrightDramClass {
  TilewrightDramFetch,
  TilewrightDramLoad,
  TilewrightDramWeights,
  TilewrightDramStore,
  TilewrightDramClassCount
};

/// One completed job. Cycle 0 is the one in which the start register is written.
struct TilewrightJob {
  uint32_t opcode;     ///< isa::Opcode: the queue
  uint32_t layer;      ///< the descriptor's layer
  uint32_t descriptor; ///< index in the program, from 0
  uint32_t reserved;
  uint64_t start; ///< first cycle after its waits held
  uint64_t end;   ///< cycle in which it completed
  uint64_t steps; ///< execute only: cycles in which the array took a step of this job
  /// Execute only: cycles without a step that are charged to this job, by cause. Over all jobs, steps and lost cycles
  /// are all cycles up to the last execute job's last step; what follows is TilewrightResult::tail.
  uint64_t lost[TilewrightCauseCount];
};

/// A write to a watched word.
struct TilewrightWrite {
  uint64_t cycle;
  uint32_t opcode;     ///< the queue that wrote: load, execute, vector or store
  uint32_t descriptor; ///< index in the program, UINT32_MAX if the simulator cannot tell
  uint8_t data[16];
  uint16_t mask; ///< bit b: byte b is written
};

struct TilewrightRequest {
  uint32_t abi; ///< TILEWRIGHT_SIMULATOR_ABI
  uint32_t dramBytesPerCycle;
  uint32_t dramRefuseEvery; ///< 0: never
  uint32_t dramLatencyCycles;
  uint8_t *memory; ///< the DRAM image, address 0 first; the simulator reads and writes it in place
  uint64_t memoryBytes;
  uint64_t programAddress; ///< a multiple of 16
  uint64_t maxCycles;      ///< give up after so many; 0: after 10 million cycles without any job completing
  const char *waveFile;    ///< FST to write, or null

  void *context; ///< handed to the callbacks; any callback may be null
  void (*onJob)(void *context, const TilewrightJob *job);
  /// About ten times a second of wall time. Non-zero return: stop with the error "interrupted".
  int (*onProgress)(void *context, uint64_t cycles, uint32_t descriptor, uint32_t layer);

  /// Per byte a rolling hash of all writes to it (sim/WriteDigest.h), or null: 16 for each scratchpad word, then 16 for
  /// each 16-byte word of `memory`.
  uint32_t *scratchpadDigest;
  uint32_t *dramDigest;

  /// Writes to this word are reported to onWatchedWrite. Word addresses (16 bytes); UINT64_MAX: none.
  uint64_t watchScratchpad, watchDram;
  void (*onWatchedWrite)(void *context, const TilewrightWrite *write);
};

struct TilewrightResult {
  uint64_t cycles; ///< from the start register to done
  uint64_t tail;   ///< cycles after the last step: no_job
  uint64_t dramBytes[TilewrightDramClassCount];
  /// Empty on success. Else what went wrong and where: the core's error register with the number of the descriptor, a
  /// deadlock with the job every queue is at, a bus error with its address.
  char error[512];
};

/// The configuration that the shared object was made for; RtlExecutor compares it.
struct TilewrightSimulatorInfo {
  uint32_t abi;
  uint32_t pixels, channels, reduction;
  uint32_t scratchpadBytes, weightRingBytes, tableSlots, busBytes;
  uint64_t tableDigest; ///< of the descriptor table in its RTL (isa::tableDigest)
};

/// The two symbols to export. Returns 0 on success, 1 when `error` is set. Reentrant: no global state.
typedef void (*TilewrightSimulatorInfoFn)(TilewrightSimulatorInfo *info); // tilewright_simulator_info
typedef int (*TilewrightSimulateFn)(const TilewrightRequest *request, TilewrightResult *result); // tilewright_simulate

} // extern "C"

#endif
