//===- MemoryUnits.cpp - fetch, load, weights and store in the model ------===//

#include "sim/model/MemoryUnits.h"
#include "backends/systolic/isa/JobGeometry.h"

namespace tilewright::sim::model {

using namespace isa;

namespace {

/// Words of a burst that begins at `address` and stays within 256 bytes.
int64_t burstWords(uint64_t address, int64_t left) { return std::min<int64_t>(16 - int64_t(address / 16 % 16), left); }

/// Beats of the bus for `words` words from `address`.
int64_t beats(const Machine &machine, uint64_t address, int64_t words) {
  if (machine.busWords == 1)
    return words;
  int64_t first = int64_t(address / 16) % machine.busWords;
  return ceilDiv(first + words, machine.busWords);
}

/// From a unit's request register to the address on the bus.
constexpr Time requestToAddress = 1;

} // namespace

// Fetch ---------------------------------------------------------------------------------------------------------------

/// When the eight words of descriptor `index` are collected: one per cycle from when they are there.
Time FetchUnit::collectTime() const {
  int64_t need = int64_t(index + 1) * 8;
  for (const Burst &burst : bursts)
    if (burst.end >= need) {
      if (burst.last == never)
        return never;
      Time beat = burst.last;
      if (burst.end - burst.begin > 1)
        beat =
            burst.first + (burst.last - burst.first) * Time(need - 1 - burst.begin) / Time(burst.end - burst.begin - 1);
      return std::max(beat + Machine::beatToUse + 2, collectFrom + 8);
    }
  return never;
}

/// When it asks for a burst: it reads ahead as far as its buffer has room, past the end of the program too, until the
/// descriptor that ends it has been collected.
Time FetchUnit::burstTime() const {
  bool lastOne = index + 1 == machine.program.size();
  int64_t words = burstWords(address, 16);
  Time collected = collectTime(), at = never;
  if (requested - int64_t(index) * 8 + words <= 64)
    at = request;
  else if (requested - int64_t(index + 1) * 8 + words <= 64 && collected != never)
    at = std::max(request, collected);
  if (at == never || (lastOne && collected != never && at > collected))
    return never;
  return machine.dram.readyAt(at);
}

Time FetchUnit::dealTime() const {
  if (ended())
    return never;
  Time collected = collectTime();
  if (collected == never)
    return never;
  const Descriptor &descriptor = machine.program[index];
  if (const auto *sync = std::get_if<Sync>(&descriptor)) {
    Time hold = machine.waitsHold(*sync);
    if (hold == never)
      return never;
    if (sync->end && flying)
      return never; // words on their way are waited for
    if (sync->end)
      for (size_t q = 0; q < queueCount; ++q) {
        if (!machine.queues[q].empty() || machine.completed[q].size() != machine.taken[q].size())
          return never;
        if (!machine.completed[q].empty())
          hold = std::max(hold, machine.completed[q].back());
      }
    return std::max(collected, hold);
  }
  size_t queue = queueOf(opcode(descriptor));
  size_t waiting = machine.queues[queue].size();
  // One descriptor stands in the head register beside the queue.
  if (waiting > queueDepth)
    return never;
  size_t pushed = machine.taken[queue].size() + waiting;
  if (pushed > queueDepth)
    collected = std::max(collected, machine.taken[queue][pushed - queueDepth - 1] + 1);
  return collected;
}

Time FetchUnit::next() { return ended() ? never : std::min(dealTime(), burstTime()); }

void FetchUnit::act(Time now) {
  Time deal = dealTime();
  if (deal <= now && burstTime() > now) {
    const Descriptor &descriptor = machine.program[index];
    ++index;
    while (!bursts.empty() && bursts.front().end <= int64_t(index) * 8)
      bursts.pop_front();
    collectFrom = deal;
    if (opcode(descriptor) == Opcode::Sync) {
      if (std::get<Sync>(descriptor).end)
        endTime = std::max(deal, lastBeat) + 2;
      return;
    }
    machine.queues[queueOf(opcode(descriptor))].push_back({uint32_t(index - 1), deal + Machine::queueLatency});
    return;
  }
  int64_t words = burstWords(address, 16);
  Burst *burst = &bursts.emplace_back(Burst{requested, requested + words, never, never});
  ++flying;
  machine.dram.read(now + requestToAddress, beats(machine, address, words), [this, burst](Time first, Time last) {
    burst->first = first;
    burst->last = lastBeat = last;
    --flying;
  });
  machine.result.dramBytes[TilewrightDramFetch] += uint64_t(beats(machine, address, words) * machine.config.busBytes);
  requested += words;
  address += uint64_t(words) * 16;
  request = now + 1;
}

// Load ----------------------------------------------------------------------------------------------------------------

Time LoadUnit::next() {
  if (!asking) {
    Time offer = machine.offered(queueOf(Opcode::Load), lastTake);
    if (offer == never)
      return never;
    Time now = std::max(offer, ask);
    const Load &following = std::get<Load>(machine.program[machine.queues[queueOf(Opcode::Load)].front().descriptor]);
    // One job is being written, three more may be waiting. `never` is later than everything.
    if (writing.size() >= 4)
      now = std::max(now, writing[writing.size() - 4]);
    // The buffer is one stream or four: it must be empty in between.
    if ((following.mode == LoadMode::Planar) != planarBuffer && !writing.empty())
      now = std::max(now, writing.back());
    return now;
  }
  // Room in the buffer: words leave one by one.
  Time now = ask;
  int64_t mustLeave = buffered + nextBurst().words - 256;
  for (const Leaving &burst : leaving) {
    if (mustLeave <= 0)
      break;
    now = std::max(now, burst.begin + Time(double(burst.end - burst.begin) * double(std::min(mustLeave, burst.words)) /
                                           double(burst.words)));
    mustLeave -= burst.words;
  }
  if (mustLeave > 0)
    return never;
  return machine.dram.readyAt(now);
}

LoadUnit::Burst LoadUnit::nextBurst() const {
  bool planar = job.mode == LoadMode::Planar;
  int64_t streamBytes = job.mode == LoadMode::Words ? 16 * job.width : job.width;
  int64_t rowAddress = job.dramAddress + sample * job.dramSampleStride + row * job.dramRowStride +
                       (planar ? stream : plane) * job.dramPlaneStride;
  int64_t begin = rowAddress / 16, end = (rowAddress + streamBytes - 1) / 16 + 1; // words
  return {begin + offset, burstWords(uint64_t(begin + offset) * 16, end - begin - offset), end - begin};
}

void LoadUnit::act(Time now) {
  if (!asking)
    return takeJob(now);
  while (!leaving.empty() && leaving.front().end <= now) {
    buffered -= leaving.front().words;
    leaving.pop_front();
  }
  bool planar = job.mode == LoadMode::Planar;
  int64_t streams = planar ? job.planes : 1;
  auto [word, words, rowWords] = nextBurst();
  uint64_t address = uint64_t(word) * 16;
  int64_t busBeats = beats(machine, address, words);
  machine.dram.read(now + requestToAddress, busBeats,
                    [this, words, planar](Time first, Time last) { arrive(words, planar, first, last); });
  machine.result.dramBytes[TilewrightDramLoad] += uint64_t(busBeats * machine.config.busBytes);
  buffered += words;
  ask = now + 1;
  offset += words;
  Request &request = requests.back();
  ++request.bursts;
  if (offset < rowWords)
    return;
  offset = 0;
  if (planar && ++stream < streams)
    return;
  stream = 0;
  if (++row < job.rowCount)
    return;
  row = 0;
  if (!planar && ++plane < job.planes)
    return;
  plane = 0;
  if (++sample < job.samples)
    return;
  asking = false;
  ask = now + 2;
  request.complete = true;
}

/// A burst's words go into the scratchpad one per cycle; planar rows when all their planes are there.
void LoadUnit::arrive(int64_t words, bool planar, Time first, Time last) {
  rowData = std::max(rowData, last);
  Time out = planar ? std::max(writeFree, rowData + 2) : std::max(writeFree, first + 2);
  writeFree = std::max(out + Time(words), last + 2);
  leaving.push_back({out, writeFree, words});
  Request &request = requests.front();
  if (--request.bursts > 0 || !request.complete)
    return;
  writing[writing.size() - requests.size()] = writeFree + 1;
  machine.complete(queueOf(Opcode::Load), request.descriptor, request.started, writeFree, writeFree + 2);
  requests.pop_front();
}

void LoadUnit::takeJob(Time now) {
  uint32_t descriptor = machine.queues[queueOf(Opcode::Load)].front().descriptor;
  machine.queues[queueOf(Opcode::Load)].pop_front();
  machine.taken[queueOf(Opcode::Load)].push_back(now + 1);
  job = std::get<Load>(machine.program[descriptor]);
  planarBuffer = job.mode == LoadMode::Planar;
  lastTake = now + 1;
  requests.push_back({descriptor, now + 1});
  writing.push_back(never);
  if (writing.size() > 4)
    writing.pop_front();
  ask = now + 1;
  sample = plane = row = stream = offset = 0;
  asking = true;
}

// Weights -------------------------------------------------------------------------------------------------------------

/// 16-byte words that the ring has room for in `now`.
int64_t WeightsUnit::roomAt(Time now) const {
  int64_t chunks = machine.config.ringWordBytes() / 16, freed = machine.freedWords;
  for (const Machine::Free &free : machine.frees) {
    if (free.time >= now)
      break;
    freed = free.words;
  }
  return (machine.config.ringWords() + freed) * chunks - reserved;
}

/// When there is any room: a burst takes what there is.
Time WeightsUnit::whenRoom() const {
  int64_t full = reserved / (machine.config.ringWordBytes() / 16) - machine.config.ringWords();
  if (machine.freedWords > full)
    return 0;
  for (const Machine::Free &free : machine.frees)
    if (free.words > full)
      return free.time + 1;
  return never;
}

Time WeightsUnit::next() {
  if (!running) {
    while (!receiving.empty() && receiving.size() >= 7 && receiving.front() <= ask)
      receiving.pop_front();
    Time offer = machine.offered(queueOf(Opcode::Weights), lastTake);
    if (offer == never)
      return never;
    Time now = std::max(offer, ask);
    return receiving.size() >= 7 ? std::max(now, receiving.front()) : now;
  }
  Time room = job.destination == WeightsDestination::Table ? 0 : whenRoom();
  return room == never ? never : machine.dram.readyAt(std::max(ask, room));
}

void WeightsUnit::act(Time now) {
  if (!running) {
    while (!receiving.empty() && receiving.front() <= now)
      receiving.pop_front();
    std::deque<QueuedJob> &queue = machine.queues[queueOf(Opcode::Weights)];
    descriptor = queue.front().descriptor;
    queue.pop_front();
    machine.taken[queueOf(Opcode::Weights)].push_back(now + 1);
    job = std::get<Weights>(machine.program[descriptor]);
    lastTake = started = now + 1;
    ask = now + 1;
    address = uint64_t(job.dramAddress);
    left = job.byteCount / 16;
    running = true;
    return;
  }
  while (!machine.frees.empty() && machine.frees.front().time < now) {
    machine.freedWords = machine.frees.front().words;
    machine.frees.pop_front();
  }
  bool toRing = job.destination == WeightsDestination::Ring;
  int64_t words = burstWords(address, left);
  if (toRing)
    words = std::min(words, roomAt(now));
  int64_t busBeats = beats(machine, address, words);
  bool isLast = words == left;
  Time *received = nullptr;
  if (isLast)
    received = &receiving.emplace_back(never);
  machine.dram.read(now + requestToAddress, busBeats,
                    [this, words, toRing, received, job = descriptor, start = started](Time first, Time last) {
                      if (toRing)
                        arrive(words, first, last);
                      if (!received)
                        return;
                      *received = last + 1;
                      machine.complete(queueOf(Opcode::Weights), job, start, last, last + 2);
                    });
  machine.result.dramBytes[TilewrightDramWeights] += uint64_t(busBeats * machine.config.busBytes);
  if (toRing)
    reserved += words;
  address += uint64_t(words) * 16;
  left -= words;
  ask = now + 1;
  running = left != 0;
}

/// Words become visible to the sequencer as their last chunk arrives, at an even pace within the burst.
void WeightsUnit::arrive(int64_t words, Time first, Time last) {
  int64_t chunks = machine.config.ringWordBytes() / 16, before = arrivedChunks / chunks;
  arrivedChunks += words;
  for (int64_t word = before + 1; word * chunks <= arrivedChunks; ++word) {
    int64_t behind = arrivedChunks - word * chunks;
    Time time = last - Time(words > 1 ? double(last - first) * double(behind) / double(words - 1) : 0);
    machine.arrivals.push_back(time + 1);
  }
}

// DRAM ----------------------------------------------------------------------------------------------------------------

Time DramUnit::next() { return machine.dram.next(); }
void DramUnit::act(Time) { machine.dram.giveBeats(); }

// Store ---------------------------------------------------------------------------------------------------------------

Time StoreUnit::next() {
  if (!running) {
    Time offer = machine.offered(queueOf(Opcode::Store), lastTake);
    return offer == never ? never : std::max(offer, issue);
  }
  Time now = issue;
  int64_t waiting = reserved;
  for (const auto &[time, words] : leaving) {
    if (waiting + 16 <= 64)
      break;
    now = std::max(now, time);
    waiting -= words;
  }
  return now;
}

void StoreUnit::act(Time now) {
  std::deque<QueuedJob> &queue = machine.queues[queueOf(Opcode::Store)];
  if (!running) {
    descriptor = queue.front().descriptor;
    queue.pop_front();
    machine.taken[queueOf(Opcode::Store)].push_back(now + 1);
    job = std::get<Store>(machine.program[descriptor]);
    lastTake = started = now + 1;
    issue = now + 2;
    sample = plane = row = done = 0;
    running = true;
    return;
  }
  while (!leaving.empty() && leaving.front().first <= now) {
    reserved -= leaving.front().second;
    leaving.pop_front();
  }
  uint64_t address = uint64_t(job.dramAddress + sample * job.dramSampleStride + plane * job.dramPlaneStride +
                              row * job.dramRowStride + 16 * done);
  int64_t words = burstWords(address, job.width - done), busBeats = beats(machine, address, words);
  // Word i is read in cycle now + 1 + i, is in the FIFO two cycles later and on the bus a cycle after that.
  const PortCalendar *others[] = {&machine.operandReads, &machine.vectorReads};
  Time last = 0;
  for (int64_t i = 0; i < busBeats; ++i)
    last =
        machine.dram.write(now + 3 + PortCalendar::stretched(now, std::min((i + 1) * machine.busWords, words), others));
  machine.result.dramBytes[TilewrightDramStore] += uint64_t(busBeats * machine.config.busBytes);
  lastResponse = machine.dram.writeResponse(last);
  reserved += words;
  leaving.push_back({last, words});
  issue = now + PortCalendar::stretched(now, words, others);
  done += words;
  if (done < job.width)
    return;
  done = 0;
  if (++row < job.rowCount)
    return;
  row = 0;
  if (++plane < job.planes)
    return;
  plane = 0;
  if (++sample < job.samples)
    return;
  running = false;
  issue += 2;
  machine.complete(queueOf(Opcode::Store), descriptor, started, lastResponse + 1, lastResponse + 3);
}

} // namespace tilewright::sim::model
