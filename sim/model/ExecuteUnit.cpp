//===- ExecuteUnit.cpp - reader, sequencer and drain in the model ---------===//

#include "sim/model/ExecuteUnit.h"

namespace tilewright::sim::model {

using namespace isa;

namespace {
constexpr size_t queue = size_t(Opcode::Execute) - 1;

// The RTL's pipeline, in cycles.
constexpr Time setupToWalk = 2;     ///< take to the first pixel walked
constexpr Time stepToDrain = 2;     ///< a brick's last step to its drain at the earliest
constexpr Time drainToPixel = 3;    ///< beside the group's lanes: drain to the epilogue's first stage
constexpr Time pixelToWritten = 12; ///< first stage to the waits of other jobs
} // namespace

Time ExecuteUnit::takeTime() const {
  Time offer = machine.offered(queue, takeTimes.empty() ? 0 : takeTimes.back());
  if (offer == never)
    return never;
  // Four jobs may be under way.
  size_t taken = machine.taken[queue].size();
  if (taken >= 4) {
    if (machine.completed[queue].size() < taken - 3)
      return never;
    offer = std::max(offer, machine.completed[queue][taken - 4] + 1);
  }
  return std::max(offer, readerFree);
}

Time ExecuteUnit::next() {
  if (!plan)
    return takeTime();
  return arrival(position) == never ? never : clock;
}

void ExecuteUnit::act(Time now) {
  if (!plan)
    take(now);
  advance();
}

/// Accounts for the cycles from the last job's end to this one's begin, by what the job at the queue's head waited for.
void ExecuteUnit::chargeWait(Time until) {
  Time head = std::max(machine.queues[queue].front().pushed - 1, takeTimes.empty() ? 0 : takeTimes.back() + 1);
  charge(TilewrightCauseNoJob, std::min(head, until));
  const std::pair<TilewrightCause, Time> waits[] = {{TilewrightCauseWaitLoad, machine.waitHolds(0, job.waitLoad)},
                                                    {TilewrightCauseWaitStore, machine.waitHolds(4, job.waitStore)},
                                                    {TilewrightCauseWaitVector, machine.waitHolds(3, job.waitVector)},
                                                    {TilewrightCauseWaitExecute, machine.waitHolds(2, job.waitExecute)},
                                                    {TilewrightCauseWaitTable, machine.waitHolds(1, job.waitWeights)}};
  for (const auto &[cause, holds] : waits)
    charge(cause, std::min(holds, until));
  charge(TilewrightCauseSetup, until);
}

void ExecuteUnit::take(Time now) {
  uint32_t descriptor = machine.queues[queue].front().descriptor;
  job = std::get<Execute>(machine.program[descriptor]);
  record = JobRecord{};
  record.opcode = uint32_t(Opcode::Execute);
  record.layer = uint32_t(job.layer);
  record.descriptor = descriptor;
  record.start = now + 1;
  began = std::max(now + 1, clock);
  chargeWait(began);
  machine.queues[queue].pop_front();
  machine.taken[queue].push_back(now + 1);
  takeTimes.push_back(now);
  if (takeTimes.size() > 8)
    takeTimes.pop_front();

  plan.emplace(job, machine.config);
  blocks = channelBlocks(job, machine.config);
  block = group = entry = stepInEntry = headerWord = 0;
  position = tail + job.ringOffset;
  bool windows = job.mode == ExecuteMode::Depthwise;
  Time P = Time(machine.config.pixels);
  groupReady = now + setupToWalk + (windows ? 0 : P) + 1;
  formReady = std::max(formReady, groupReady);
  if (job.accFinish) {
    drainWalkFree = std::max(drainWalkFree, now + 1) + 3;
  }
  packedDone.clear();
  packedBytes = 0;
  parameters ^= 1;
  beginEntry();
}

/// When the entry at hand has been formed and is visible to the sequencer.
void ExecuteUnit::beginEntry() {
  Time P = Time(machine.config.pixels);
  if (entry == 0 && (group != 0 || block != 0) && job.mode != ExecuteMode::Depthwise) {
    // The next group has been walked since this one's predecessor was moved to the lanes.
    Time moved = std::max(form, groupReady - 1 + P);
    groupReady = moved + 1;
    formReady = std::max(formReady, groupReady);
  }
  int64_t stepCount = plan->steps(entry);
  readCycles = plan->readCycles(group, entry);
  Time at = formReady;
  if (stepCount != 0 || job.mode != ExecuteMode::Packed)
    at = std::max(at, slotFree[slot] + 1);
  if (job.mode == ExecuteMode::Packed) {
    // The lanes' byte rings of 128 bytes hold rows until their steps are done.
    packedBytes += plan->rowBytes();
    while (!packedDone.empty() &&
           packedBytes - packedDone.front().first > 128 - machine.config.reduction - plan->rowBytes()) {
      at = std::max(at, packedDone.front().second + 1);
      packedDone.pop_front();
    }
  }
  form = at;
  formReady = at + Time(readCycles);
  visible = formReady + 1;
  if (block + 1 == blocks && group + 1 == plan->groups() && entry + 1 == plan->entriesPerGroup())
    readerFree = form;
}

void ExecuteUnit::advance() {
  while (plan) {
    if (headerWord < machine.config.headerWords()) {
      if (!header())
        return;
    } else if (plan->steps(entry) == 0) {
      finishEntry(clock);
    } else if (!step()) {
      return;
    }
  }
}

bool ExecuteUnit::header() {
  Time word = arrival(position);
  if (word == never)
    return false;
  charge(TilewrightCauseWeight, word);
  charge(TilewrightCauseDrain, parametersFree[parameters]);
  charge(TilewrightCauseSetup, clock + 1);
  ++headerWord;
  ++position;
  if (job.release == Release::Stream)
    freeWords(position, clock);
  if (headerWord == machine.config.headerWords())
    blockPosition = position;
  return true;
}

bool ExecuteUnit::step() {
  Time word = arrival(position);
  if (word == never)
    return false;
  charge(TilewrightCauseWeight, word);
  if (stepInEntry == 0) {
    if (visible > clock && job.accInit)
      charge(TilewrightCauseDrain, std::min({visible, bankFree[0], bankFree[1]}));
    charge(TilewrightCauseActivation, visible);
    if (entry == 0 && job.accInit)
      charge(TilewrightCauseDrain, bankFree[bank]);
  }
  // Steps whose words have arrived follow each other without a gap.
  int64_t count = plan->steps(entry) - stepInEntry, run = 0;
  while (run < count && arrival(position + run) <= clock + Time(run))
    ++run;
  record.steps += uint64_t(run);
  if (job.release == Release::Stream)
    for (int64_t i = 1; i <= run; ++i)
      freeWords(position + i, clock + Time(i));
  clock += Time(run);
  position += run;
  stepInEntry += run;
  free = clock;
  if (stepInEntry == plan->steps(entry))
    finishEntry(clock - 1);
  return true;
}

void ExecuteUnit::finishEntry(Time lastStep) {
  if (plan->steps(entry) != 0 || job.mode != ExecuteMode::Packed) {
    slotFree[slot] = lastStep;
    slot = (slot + 1) % slotFree.size();
  }
  if (job.mode == ExecuteMode::Packed)
    packedDone.push_back({packedBytes, lastStep});
  stepInEntry = 0;
  if (++entry < plan->entriesPerGroup())
    return beginEntry();
  entry = 0;
  finishBrick(lastStep);
  if (++group < plan->groups()) {
    position = blockPosition;
    return beginEntry();
  }
  group = 0;
  if (job.release == Release::Block)
    freeWords(position, lastStep + 1);
  headerWord = 0;
  if (++block < blocks) {
    parameters ^= 1;
    return beginEntry();
  }
  finishJob(lastStep);
}

void ExecuteUnit::finishBrick(Time lastStep) {
  if (!job.accFinish)
    return;
  Time P = Time(machine.config.pixels), K = Time(machine.config.channels), lanes = std::min<Time>(K, 16);
  // Prepared pixels: one per cycle, at most a FIFO's worth ahead of their use.
  size_t ahead = size_t((machine.config.pixels <= 8 ? 64 : 128) / machine.config.pixels);
  Time prepare = drainWalkFree;
  if (pixelUse.size() >= ahead) {
    prepare = std::max(prepare, pixelUse[pixelUse.size() - ahead]);
    if (pixelUse.size() > ahead)
      pixelUse.pop_front();
  }
  drainWalkFree = prepare + P;
  Time drain = std::max({lastStep + stepToDrain, lastDrain + P, drainWalkFree + 2});
  // Writes: one per cycle and group, all groups through four banks.
  // A pixel's channels of a block are written twice where they reach from one word into the next.
  int64_t begin = (job.outChannelOffset + block * int64_t(K)) % 16;
  int64_t channels = std::min<int64_t>(int64_t(lanes), job.outChannels - block * int64_t(K));
  Time writes = P * (begin + channels > 16 ? 2 : 1), groups = K / lanes;
  Time written = std::max(drain + K + drainToPixel + pixelToWritten + P - 1,
                          lastWritten + std::max(writes, (writes * groups + 3) / 4));
  if (lastWritten > drain + 64)
    drain = lastWritten - 64;
  lastWritten = written;
  lastDrain = drain;
  bankFree[bank] = drain;
  bank ^= 1;
  pixelUse.push_back(drain + lanes + drainToPixel + 1);
  parametersFree[parameters] = drain + K + drainToPixel + P;
}

void ExecuteUnit::finishJob(Time lastStep) {
  record.end = job.accFinish ? lastWritten - 1 : lastStep + 3;
  machine.result.jobs.push_back(record);
  machine.completed[queue].push_back(record.end + 1);
  if (job.release == Release::Keep)
    position = tail;
  std::array<int64_t, 4> words = plan->bankWords();
  int64_t residual = job.residual ? plan->groups() * machine.config.pixels : 0;
  for (int64_t &bank : words)
    bank = bank * blocks + residual * ceilDiv(job.outChannels, 16) / 4;
  machine.operandReads.add(began, lastStep + 1, words);
  plan.reset();
}

void ExecuteUnit::freeWords(int64_t words, Time time) {
  tail = words;
  machine.frees.push_back({words, time});
  // Words before the tail are never read again.
  while (machine.firstArrival < tail && !machine.arrivals.empty()) {
    machine.arrivals.pop_front();
    ++machine.firstArrival;
  }
}

} // namespace tilewright::sim::model
