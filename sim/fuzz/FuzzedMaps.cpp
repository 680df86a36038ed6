//===- FuzzedMaps.cpp - maps, and the jobs that fill and empty them -------===//

#include "sim/fuzz/Fuzzer.h"

namespace tilewright::sim {

bool Fuzzer::allocate(LiveMap &live, std::initializer_list<const LiveMap *> keep) {
  Map &map = live.map;
  map.pitch = live.rowWords() + (oneIn(3) ? below(3) : 0);
  map.planePitch = map.ringRows * map.pitch + (oneIn(3) ? below(5) : 0);
  map.samplePitch = live.planes() * map.planePitch + (oneIn(3) ? below(5) : 0);
  if (live.planes() > 1 && oneIn(8)) { // planes of a row beside each other
    map.planePitch = map.pitch;
    map.pitch *= live.planes();
  }
  int64_t size = (live.samples - 1) * map.samplePitch + (live.planes() - 1) * map.planePitch +
                 (map.ringRows - 1) * map.pitch + live.rowWords();
  if (size > arenaSize)
    return false;
  for (int attempt = 0; attempt < 20; ++attempt) {
    map.base = arena + below(arenaSize - size + 1);
    live.firstWord = map.base;
    live.lastWord = map.base + size - 1;
    bool clear = true;
    for (const LiveMap *other : keep)
      clear &= !other || live.lastWord < other->firstWord || live.firstWord > other->lastWord;
    if (clear)
      return true;
  }
  return false;
}

void Fuzzer::enlist(const LiveMap &live) {
  std::erase_if(
      maps, [&](const LiveMap &other) { return live.lastWord >= other.firstWord && live.firstWord <= other.lastWord; });
  maps.push_back(live);
  if (live.map.ringRows < live.height)
    took("row ring");
}

LiveMap *Fuzzer::anyMap(bool packed) {
  std::vector<LiveMap *> fitting;
  for (LiveMap &live : maps)
    if ((live.packedChannels != 0) == packed)
      fitting.push_back(&live);
  return fitting.empty() ? nullptr : fitting[size_t(below(int64_t(fitting.size())))];
}

void Fuzzer::chooseRing(LiveMap &live, Range rows) {
  live.rows = rows;
  live.map.ringRows =
      oneIn(2) && live.height <= rows.size() + 8 ? live.height : rows.size() + (oneIn(2) ? 0 : below(3));
  if (rows.begin / live.map.ringRows != (rows.end - 1) / live.map.ringRows)
    took("row ring wraps in a job");
}

void Fuzzer::fillArena() {
  Load job;
  job.dramAddress = freshDram(arenaSize * 16, 16);
  job.out.base = arena;
  job.out.ringRows = 1;
  job.rowCount = job.planes = job.samples = 1;
  job.width = arenaSize;
  issue(job);
}

void Fuzzer::fillTable(int64_t slot) {
  Weights job;
  job.destination = WeightsDestination::Table;
  job.table = slot;
  job.byteCount = 256;
  job.dramAddress = freshDram(256, 16);
  issue(job);
  took("table load");
}

void Fuzzer::sync() {
  Sync job;
  job.waitExecute = between(0, dependences.issued(Opcode::Execute));
  job.waitVector = between(0, dependences.issued(Opcode::Vector));
  issue(job);
  took("sync");
}

void Fuzzer::load() {
  ++layer;
  LiveMap live;
  live.packedChannels = oneIn(3) ? between(1, 4) : 0;
  live.height = oneIn(3) ? 1 : between(1, 14);
  live.width = oneIn(4) ? between(1, 40) : between(1, 14);
  live.channels = live.packedChannels ? live.packedChannels : pick({1, 3, 8, 16, 17, 24, 32, 48});
  live.samples = oneIn(4) ? between(2, 4) : 1;
  int64_t first = below(live.height);
  chooseRing(live, oneIn(2) ? Range{0, live.height} : Range{first, between(first + 1, live.height)});
  if (!allocate(live, {}))
    return;
  Load job;
  job.flipSign = oneIn(3);
  job.out = live.at(live.rows.begin);
  job.rowStart = live.rows.begin;
  job.rowCount = live.rows.size();
  job.samples = live.samples;
  int64_t rowBytes;
  if (!live.packedChannels) {
    job.mode = LoadMode::Words;
    job.width = live.width;
    job.planes = live.planes();
    rowBytes = 16 * live.width;
    took("load words");
  } else if (oneIn(2)) {
    job.mode = LoadMode::Bytes;
    job.width = rowBytes = live.width * live.packedChannels;
    job.planes = 1;
    took("load bytes");
  } else {
    job.mode = LoadMode::Planar;
    job.width = rowBytes = live.width;
    job.planes = live.packedChannels;
    took("load planar");
  }
  auto stride = [&](int64_t natural) { return oneIn(6) ? 0 : natural + (oneIn(3) ? below(40) : 0); };
  job.dramRowStride = stride(rowBytes);
  if (oneIn(6)) {
    job.dramRowStride = -job.dramRowStride;
    took("load negative stride");
  }
  job.dramPlaneStride = stride(rowBytes * job.rowCount);
  job.dramSampleStride = stride(rowBytes * job.rowCount * job.planes);
  job.dramAddress = freshDram(60000, oneIn(2) ? 16 : 1) + 20000;
  if (job.dramAddress % 16)
    took("load unaligned");
  if (oneIn(4)) // what stores have left
    job.dramAddress = int64_t(dramBytes / 4 * 3) + 20000 + below(100000);
  enlist(live);
  issue(job);
  // Some rings move on: the rows that follow overwrite the oldest.
  int64_t more = std::min(live.height - live.rows.end, live.map.ringRows);
  if (more > 0 && oneIn(2)) {
    LiveMap &moved = maps.back();
    int64_t count = between(1, more);
    job.rowStart = moved.rows.end;
    job.rowCount = count;
    job.out = moved.at(job.rowStart);
    job.dramAddress = freshDram(60000, 1) + 20000;
    issue(job);
    moved.rows.end += count;
    moved.rows.begin = std::max(moved.rows.begin, moved.rows.end - moved.map.ringRows);
    took("row ring moves on");
  }
}

void Fuzzer::store() {
  const LiveMap *live = anyMap(oneIn(4));
  if (!live)
    return;
  ++layer;
  Store job;
  job.flipSign = oneIn(3);
  job.rowStart = between(live->rows.begin, live->rows.end - 1);
  job.rowCount = between(1, live->rows.end - job.rowStart);
  job.in = live->at(job.rowStart);
  job.width = between(1, live->rowWords());
  job.planes = between(1, live->planes());
  job.samples = between(1, live->samples);
  job.dramRowStride = 16 * (job.width + (oneIn(3) ? below(3) : 0));
  job.dramPlaneStride = job.dramRowStride * job.rowCount;
  job.dramSampleStride = job.dramPlaneStride * job.planes;
  job.dramAddress = int64_t(dramBytes / 4 * 3) + 16 * below(6000);
  issue(job);
  took("store");
}

bool Fuzzer::chooseRows(const LiveMap &in, const Window &w, int64_t &start, int64_t &count, int64_t most) {
  int64_t outHeight = (in.height + 2 * std::max<int64_t>(w.padTop, 0)) / w.strideHeight + 1;
  std::vector<bool> possible(size_t(std::min<int64_t>(outHeight, 64)));
  bool any = false;
  for (size_t y = 0; y < possible.size(); ++y) {
    Range rows = windowRange(int64_t(y), 1, w.kernelHeight, w.strideHeight, w.dilationHeight, w.padTop, in.height);
    possible[y] = rows.size() == 0 ? oneIn(4) : rows.begin >= in.rows.begin && rows.end <= in.rows.end;
    any |= possible[y];
  }
  if (!any)
    return false;
  do
    start = below(int64_t(possible.size()));
  while (!possible[size_t(start)]);
  // The rows between two windows count as touched, also where one of the windows lies in the padding.
  auto inMap = [&](int64_t rowCount) {
    Range rows = windowRange(start, rowCount, w.kernelHeight, w.strideHeight, w.dilationHeight, w.padTop, in.height);
    return rows.size() == 0 || (rows.begin >= in.rows.begin && rows.end <= in.rows.end);
  };
  count = 1;
  while (start + count < int64_t(possible.size()) && possible[size_t(start + count)] && inMap(count + 1) &&
         count < most && !oneIn(8))
    ++count;
  return true;
}

bool Fuzzer::chooseOutput(LiveMap &out, int64_t offset, std::initializer_list<const LiveMap *> keep, Range rows) {
  out.channels += offset;
  out.height = rows.end + (oneIn(2) ? 0 : below(5));
  if (!oneIn(3))
    out.height = std::max(out.height, rows.end);
  chooseRing(out, rows);
  return allocate(out, keep);
}

} // namespace tilewright::sim
