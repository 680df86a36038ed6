//===- ProgramFuzzer.cpp - random legal programs --------------------------===//

#include "sim/fuzz/ProgramFuzzer.h"
#include "backends/systolic/isa/JobGeometry.h"
#include "backends/systolic/isa/ProgramVerifier.h"
#include "sim/fuzz/JobDependences.h"
#include <bit>
#include <cmath>
#include <cstring>
#include <random>

namespace tilewright::sim {

using namespace isa;

namespace {

/// Scratchpad words that programs use: small enough that maps are overwritten, ring rows reused and filling is quick.
constexpr int64_t arenaWords = 1536;
constexpr uint64_t dramBytes = 1 << 20;

/// A map in the scratchpad; rows [begin, end) of `height` are in it.
struct LiveMap {
  Map map;
  int64_t height = 1, width = 1, channels = 16, samples = 1;
  Range rows;
  int64_t packedChannels = 0; ///< 0: 16-channel words
  int64_t firstWord = 0, lastWord = 0;

  int64_t planes() const { return packedChannels ? 1 : ceilDiv(channels, 16); }
  int64_t rowWords() const { return packedChannels ? ceilDiv(width * packedChannels, 16) : width; }
  /// ring_start for a job whose first row is `row`.
  Map at(int64_t row) const {
    Map result = map;
    result.ringStart = row / map.ringRows * map.ringRows;
    return result;
  }
};

class Fuzzer {
public:
  Fuzzer(const ArrayConfig &config, uint64_t seed)
      : config(config), random(seed), dependences(config, dramBytes / 16),
        arenaSize(std::min(arenaWords, config.scratchpadWords())) {
    arena = below(config.scratchpadWords() - arenaSize + 1);
    program.memory.resize(dramBytes);
    for (uint64_t i = 0; i < dramBytes; i += 8) {
      uint64_t bits = random();
      std::memcpy(program.memory.data() + i, &bits, 8);
    }
  }

  FuzzedProgram make(int jobs) {
    fillArena();
    for (int64_t slot = 0; slot < config.tableSlots; ++slot)
      fillTable(slot);
    for (int i = 0; i < 3; ++i)
      load();
    while (int(program.descriptors.size()) < jobs)
      step();
    // Each map's last state leaves through DRAM too.
    for (int i = 0; i < 2; ++i)
      store();
    Sync end;
    end.end = true;
    end.waitStore = dependences.issued(Opcode::Store);
    program.descriptors.push_back(end);
    place();
    return std::move(program);
  }

private:
  // Random values.
  int64_t below(int64_t n) { return n <= 1 ? 0 : int64_t(random() % uint64_t(n)); }
  int64_t between(int64_t lowest, int64_t highest) { return lowest + below(highest - lowest + 1); }
  bool oneIn(int64_t n) { return below(n) == 0; }
  int64_t pick(std::initializer_list<int64_t> choices) { return choices.begin()[below(int64_t(choices.size()))]; }
  float uniform(float lowest, float highest) {
    return lowest + (highest - lowest) * float(random() % 65536) / 65536.0f;
  }
  void took(const char *path) { ++program.paths[path]; }

  void step() {
    switch (below(16)) {
    case 0:
    case 1:
      return load();
    case 2:
      return store();
    case 3:
    case 4:
    case 5:
      return vector();
    case 6:
      return oneIn(2) ? fillTable(below(config.tableSlots)) : sync();
    default:
      return execute();
    }
  }

  void issue(Descriptor descriptor) {
    header(descriptor).layer = layer;
    if (oneIn(12) && dependences.issued(Opcode::Execute)) // a wait that nothing needs is legal
      header(descriptor).waitExecute = between(0, dependences.issued(Opcode::Execute));
    dependences.issue(descriptor);
    program.descriptors.push_back(descriptor);
  }

  // DRAM.
  int64_t freshDram(int64_t bytes, int64_t alignment) {
    // Sources of loads and weights: anywhere in the lower part; the upper quarter is for stores and may be loaded too.
    return below(int64_t(dramBytes / 4 * 3 - uint64_t(bytes) - 64) / alignment) * alignment;
  }

  // Scratchpad.
  /// A place for a new map, disjoint from `keep`; maps that it overlaps die. False if it does not fit.
  bool allocate(LiveMap &live, std::initializer_list<const LiveMap *> keep) {
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
  void enlist(const LiveMap &live) {
    std::erase_if(maps, [&](const LiveMap &other) {
      return live.lastWord >= other.firstWord && live.firstWord <= other.lastWord;
    });
    maps.push_back(live);
    if (live.map.ringRows < live.height)
      took("row ring");
  }
  LiveMap *anyMap(bool packed) {
    std::vector<LiveMap *> fitting;
    for (LiveMap &live : maps)
      if ((live.packedChannels != 0) == packed)
        fitting.push_back(&live);
    return fitting.empty() ? nullptr : fitting[size_t(below(int64_t(fitting.size())))];
  }
  /// Sets rows and ring of a map of the given height: some rows of it, in a ring that may be shorter than the map.
  void chooseRing(LiveMap &live, Range rows) {
    live.rows = rows;
    live.map.ringRows =
        oneIn(2) && live.height <= rows.size() + 8 ? live.height : rows.size() + (oneIn(2) ? 0 : below(3));
    if (rows.begin / live.map.ringRows != (rows.end - 1) / live.map.ringRows)
      took("row ring wraps in a job");
  }

  // Jobs.
  void fillArena() {
    Load job;
    job.dramAddress = freshDram(arenaSize * 16, 16);
    job.out.base = arena;
    job.out.ringRows = 1;
    job.rowCount = job.planes = job.samples = 1;
    job.width = arenaSize;
    issue(job);
  }

  void fillTable(int64_t slot) {
    Weights job;
    job.destination = WeightsDestination::Table;
    job.table = slot;
    job.byteCount = 256;
    job.dramAddress = freshDram(256, 16);
    issue(job);
    took("table load");
  }

  void sync() {
    Sync job;
    job.waitExecute = between(0, dependences.issued(Opcode::Execute));
    job.waitVector = between(0, dependences.issued(Opcode::Vector));
    issue(job);
    took("sync");
  }

  void load() {
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

  void store() {
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

  /// Output rows whose input rows are all in the map (or padding): a random run of them. False if there is none.
  bool chooseRows(const LiveMap &in, const Window &w, int64_t &start, int64_t &count, int64_t most) {
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
    count = 1;
    while (start + count < int64_t(possible.size()) && possible[size_t(start + count)] && count < most && !oneIn(8))
      ++count;
    return true;
  }

  /// An output map for rows [start, start + count), or an existing one to write into at a channel offset.
  bool chooseOutput(LiveMap &out, int64_t offset, std::initializer_list<const LiveMap *> keep, Range rows) {
    out.channels += offset;
    out.height = rows.end + (oneIn(2) ? 0 : below(5));
    if (!oneIn(3))
      out.height = std::max(out.height, rows.end);
    chooseRing(out, rows);
    return allocate(out, keep);
  }

  void execute() {
    const bool packed = oneIn(4);
    const LiveMap *found = anyMap(packed);
    if (!found)
      return load();
    const LiveMap in = *found;
    ++layer;
    Execute job;
    Window &w = job.window;
    bool depthwise = !packed && config.channels <= 16 && oneIn(3);
    job.mode = packed ? ExecuteMode::Packed : depthwise ? ExecuteMode::Depthwise : ExecuteMode::Dense;
    w.kernelHeight = oneIn(3) ? 1 : between(1, oneIn(4) ? 7 : 3);
    w.kernelWidth = oneIn(3) ? w.kernelHeight : between(1, oneIn(4) ? 7 : 3);
    w.strideHeight = between(1, depthwise ? 2 : 3);
    w.strideWidth = oneIn(2) ? w.strideHeight : between(1, depthwise ? 2 : 3);
    w.dilationHeight = depthwise || oneIn(2) ? 1 : between(1, 3);
    w.dilationWidth = depthwise || packed || oneIn(2) ? 1 : between(1, 3);
    w.padTop = oneIn(3) ? 0 : between(-1, w.kernelHeight);
    w.padLeft = oneIn(3) ? 0 : between(-1, w.kernelWidth);
    job.in.ringRows = 1;
    job.inHeight = in.height;
    job.inWidth = in.width;
    job.padValue = between(-128, 127);
    job.samples = between(1, in.samples);
    job.packedChannels = packed ? in.packedChannels : 0;
    job.channelSteps = job.mode == ExecuteMode::Dense ? between(1, in.planes() * 16 / config.reduction) : 1;
    if (job.mode == ExecuteMode::Dense && oneIn(2))
      job.channelSteps = ceilDiv(in.channels, config.reduction);
    if (!chooseRows(in, w, job.outRowStart, job.outRowCount, 10))
      return;
    job.in = in.at(inputRows(job).size() ? inputRows(job).begin : 0);
    int64_t natural =
        (in.width + 2 * std::max<int64_t>(w.padLeft, 0) - (w.kernelWidth - 1) * w.dilationWidth - 1) / w.strideWidth +
        1;
    job.outWidth = oneIn(4) ? between(1, 20) : std::max<int64_t>(natural, 1);
    job.outChannels = depthwise ? between(1, in.planes() * 16) : pick({1, 3, 7, 8, 9, 16, 17, 24, 33, 40});
    if (!depthwise && config.channels > 16 && oneIn(2))
      job.outChannels = between(1, config.channels + 20);
    bool split = oneIn(6);
    if (split || oneIn(8)) { // one brick, or one group of pixels
      job.samples = job.outRowCount = 1;
      job.outWidth = between(1, config.pixels);
    }
    if (split)
      job.outChannels = depthwise ? std::min(job.outChannels, config.channels) : between(1, config.channels);
    job.in = in.at(inputRows(job).size() ? inputRows(job).begin : 0);
    job.outChannelOffset = oneIn(3) ? below(16) : 0;

    LiveMap out;
    out.width = job.outWidth;
    out.channels = job.outChannels;
    out.samples = job.samples;
    Range rows{job.outRowStart, job.outRowStart + job.outRowCount};

    // A residual of the output's shape: any map that is large enough, or the output itself.
    job.residual = oneIn(3);
    const LiveMap *residual = nullptr;
    LiveMap residualCopy;
    bool inPlace = false;
    if (job.residual) {
      for (const LiveMap &live : maps)
        if (!live.packedChannels && live.width >= job.outWidth && live.channels >= job.outChannels &&
            live.samples >= job.samples && live.rows.begin <= rows.begin && live.rows.end >= rows.end)
          residual = &live;
      if (residual) {
        residualCopy = *residual;
        residual = &residualCopy;
        inPlace = oneIn(3) && (residualCopy.lastWord < in.firstWord || residualCopy.firstWord > in.lastWord);
      }
    }
    if (inPlace) {
      job.outChannelOffset = 0;
      out = residualCopy;
    } else if (!chooseOutput(out, job.outChannelOffset, {&in, residual}, rows)) {
      return;
    }
    job.out = out.at(rows.begin);
    if (job.residual)
      job.residualMap = residual ? residualCopy.at(rows.begin) : Map{};
    if (job.residual && !residual)
      job.residual = false;
    if (!chooseRelease(job, split))
      return;
    chooseEpilogue(job);
    countPaths(job, in, inPlace);
    emitExecute(job, split);
    if (!inPlace)
      enlist(out);
  }

  bool chooseRelease(Execute &job, bool split) {
    int64_t words = blockWords(job, config), blocks = channelBlocks(job, config), groups = pixelGroups(job, config);
    job.release = Release::Block;
    if (groups == 1 && oneIn(2))
      job.release = Release::Stream;
    if (words > config.ringWords()) {
      if (groups != 1)
        return false;
      job.release = Release::Stream;
    }
    repeat = 1;
    if (!split && blocks * words <= config.ringWords() / 2 && oneIn(4))
      repeat = between(2, 3); // the same weights serve several jobs; the last one frees them
    return true;
  }

  void chooseEpilogue(Execute &job) {
    job.accInit = job.accFinish = true;
    job.outZeroPoint = oneIn(2) ? 0 : between(-128, 127);
    job.clampMin = oneIn(2) ? -128 : between(-128, 127);
    job.clampMax = oneIn(2) ? 127 : between(job.clampMin, 127);
    job.table1 = oneIn(3) ? between(1, config.tableSlots) : 0;
    job.table2 = oneIn(3) ? between(1, config.tableSlots) : 0;
    if (!job.residual)
      return;
    job.residualSwap = oneIn(2);
    job.residualUnsigned = oneIn(2);
    job.residualScaleA = uniform(0.05f, 1.5f);
    job.residualScaleB = oneIn(8) ? uniform(-1e20f, 1e20f) : uniform(0.05f, 1.5f);
    job.residualFix = uniform(-100.0f, 100.0f);
    job.residualClampMin = oneIn(2) ? -128 : between(-128, 127);
    job.residualClampMax = oneIn(2) ? 127 : between(job.residualClampMin, 127);
  }

  void countPaths(const Execute &job, const LiveMap &in, bool inPlace) {
    took(job.mode == ExecuteMode::Dense ? "execute dense" : packedMode(job) ? "execute packed" : "execute depthwise");
    if (job.outChannels % config.channels)
      took("partial channel block");
    if (channelBlocks(job, config) > 1)
      took("several channel blocks");
    if (job.samples > 1)
      took("samples");
    if (job.outChannelOffset)
      took("channel offset");
    if (job.residual)
      took("residual");
    if (job.residual && job.residualSwap)
      took("residual swapped");
    if (job.residual && job.residualUnsigned)
      took("residual unsigned");
    if (inPlace)
      took("residual in place");
    if (job.table1)
      took("table 1");
    if (job.table2)
      took("table 2");
    if (job.window.dilationHeight > 1 || job.window.dilationWidth > 1)
      took("dilation");
    if (job.window.padTop < 0 || job.window.padLeft < 0)
      took("negative padding");
    if (inputRows(job).size() == 0 || inputColumns(job).size() == 0)
      took("only padding");
    if (in.map.ringRows < in.height)
      took("execute reads a row ring");
  }
  static bool packedMode(const Execute &job) { return job.mode == ExecuteMode::Packed; }

  /// Weights of one block: header and steps. Scales are chosen so that results spread over int8.
  void appendBlock(std::vector<uint8_t> &bytes, const Execute &job, int64_t block, int parts) {
    int64_t K = config.channels, C = config.reduction, wordBytes = config.ringWordBytes();
    size_t begin = bytes.size();
    bytes.resize(begin + size_t(blockWords(job, config) * wordBytes), 0);
    double spread = 5400.0 * std::sqrt(double(steps(job, config) * C * parts));
    for (int64_t k = 0; k < K; ++k) {
      int32_t bias = int32_t(between(-int64_t(spread), int64_t(spread)));
      float m = uniform(10.0f, 120.0f) / float(spread), mNegative = oneIn(2) ? m : m * uniform(0.0f, 1.0f);
      if (oneIn(40)) // denormal, huge, tiny
        m = std::bit_cast<float>(uint32_t(random() % 0x7f800000));
      std::memcpy(bytes.data() + begin + 4 * k, &bias, 4);
      std::memcpy(bytes.data() + begin + 4 * (K + k), &m, 4);
      std::memcpy(bytes.data() + begin + 4 * (2 * K + k), &mNegative, 4);
    }
    uint8_t *weights = bytes.data() + begin + config.headerWords() * wordBytes;
    int64_t rowSteps = ceilDiv(job.window.kernelWidth, C);
    int64_t elements = job.window.kernelHeight * job.window.kernelWidth * job.packedChannels;
    for (int64_t s = 0; s < steps(job, config); ++s)
      for (int64_t k = 0; k < K; ++k)
        for (int64_t c = 0; c < C; ++c) {
          bool idle = (job.mode == ExecuteMode::Depthwise && s % rowSteps * C + c >= job.window.kernelWidth) ||
                      (job.mode == ExecuteMode::Packed && s * C + c >= elements);
          weights[s * wordBytes + k * C + c] = idle ? 0 : uint8_t(random());
        }
    (void)block;
  }

  /// Puts bytes where no load, store or earlier weights job touches and returns the address.
  int64_t placeWeights(const std::vector<uint8_t> &bytes) {
    int64_t address = int64_t(program.memory.size());
    program.memory.insert(program.memory.end(), bytes.begin(), bytes.end());
    program.memory.resize((program.memory.size() + 15) / 16 * 16);
    return address;
  }

  void emitWeights(const std::vector<uint8_t> &bytes) {
    // One job, or several of whole ring words.
    int64_t address = placeWeights(bytes), words = int64_t(bytes.size()) / config.ringWordBytes();
    while (words > 0) {
      Weights job;
      int64_t part = oneIn(2) ? words : between(1, words);
      job.layer = layer;
      job.dramAddress = address;
      job.byteCount = part * config.ringWordBytes();
      program.descriptors.push_back(job);
      weightJobs.push_back(program.descriptors.size() - 1);
      // Weights lie outside what loads and stores touch: no waits, but the count goes on.
      countWeights();
      address += job.byteCount;
      words -= part;
    }
    ringFill += int64_t(bytes.size()) / config.ringWordBytes();
    if (ringFill > config.ringWords())
      took("ring wrap");
  }
  void countWeights() {
    Descriptor counted = Weights();
    std::get<Weights>(counted).byteCount = 0;
    dependences.issue(counted);
  }

  void emitExecute(Execute job, bool split) {
    int parts = split ? int(between(2, 3)) : 1;
    for (int part = 0; part < parts; ++part) {
      job.accInit = part == 0;
      job.accFinish = part + 1 == parts;
      std::vector<uint8_t> bytes;
      for (int64_t block = 0; block < channelBlocks(job, config); ++block)
        appendBlock(bytes, job, block, parts);
      emitWeights(bytes);
      Release last = job.release;
      for (int64_t turn = 0; turn < repeat; ++turn) {
        // With repeats the output is written again: the same values in golden, an ordering test in hardware.
        Execute copy = job;
        copy.release = turn + 1 < repeat ? Release::Keep : last;
        if (copy.release == Release::Keep && channelBlocks(copy, config) > 1 && oneIn(2) && !copy.residual) {
          copy.ringOffset = blockWords(copy, config); // all but the first block
          copy.outChannels -= config.channels;
          took("ring offset");
        }
        if (copy.mode == ExecuteMode::Depthwise && copy.ringOffset) {
          copy.outChannels += config.channels;
          copy.ringOffset = 0;
        }
        if (repeat > 1)
          took("release keep");
        issue(copy);
      }
      took(last == Release::Stream ? "release stream" : "release block");
      if (split)
        took("split reduction");
    }
  }

  void vector() {
    const LiveMap *found = anyMap(false);
    if (!found)
      return load();
    const LiveMap in = *found;
    ++layer;
    Vector job;
    Window &w = job.window;
    job.op = VectorOp(below(3));
    bool add = job.op == VectorOp::Add;
    w.kernelHeight = add ? 1 : between(1, 5);
    w.kernelWidth = add ? 1 : between(1, 5);
    w.strideHeight = add ? 1 : between(1, 3);
    w.strideWidth = add ? 1 : between(1, 3);
    w.dilationHeight = add || oneIn(2) ? 1 : between(1, 2);
    w.dilationWidth = add || oneIn(2) ? 1 : between(1, 2);
    w.padTop = add ? 0 : between(-1, w.kernelHeight);
    w.padLeft = add ? 0 : between(-1, w.kernelWidth);
    job.inHeight = in.height;
    job.inWidth = in.width;
    job.padValue = oneIn(2) ? -128 : between(-128, 127);
    job.samples = between(1, in.samples);
    job.channels = between(1, in.planes() * 16);
    if (!chooseRows(in, w, job.outRowStart, job.outRowCount, 8))
      return;
    if (add && job.outRowStart + job.outRowCount > in.height)
      return;
    int64_t outWidth = add ? in.width : std::max<int64_t>(1, (in.width + w.padLeft) / w.strideWidth);
    job.outColumnStart = oneIn(2) ? 0 : below(outWidth);
    job.outColumnCount = between(1, outWidth - job.outColumnStart);
    Range rows = inputRows(job);
    job.in = in.at(rows.size() ? rows.begin : 0);
    const LiveMap *second = nullptr;
    LiveMap secondCopy;
    if (add) {
      for (const LiveMap &live : maps)
        if (!live.packedChannels && live.width >= in.width && live.channels >= job.channels &&
            live.samples >= job.samples && live.rows.begin <= rows.begin && live.rows.end >= rows.end)
          second = &live;
      if (!second)
        return;
      secondCopy = *second;
      second = &secondCopy;
      job.second = secondCopy.at(rows.begin);
    }
    job.outChannelOffset = oneIn(3) ? below(16) : 0;
    LiveMap out;
    out.width = job.outColumnStart + job.outColumnCount;
    out.channels = job.channels;
    out.samples = job.samples;
    bool inPlace = add && oneIn(4);
    if (inPlace) {
      job.outChannelOffset = 0;
      out = in;
      took("vector in place");
    } else if (!chooseOutput(out, job.outChannelOffset, {&in, second},
                             {job.outRowStart, job.outRowStart + job.outRowCount})) {
      return;
    }
    job.out = out.at(job.outRowStart);
    int64_t taps = w.kernelHeight * w.kernelWidth;
    job.bias = oneIn(2) ? 0 : between(-2000, 2000);
    job.scale = add ? uniform(0.05f, 1.5f) : uniform(0.5f, 2.0f) / float(taps);
    job.scaleB = add ? uniform(0.05f, 1.5f) : 0;
    job.fix = add ? uniform(-100.0f, 100.0f) : 0;
    job.unsignedAdd = add && oneIn(2);
    job.outZeroPoint = job.op == VectorOp::Sum && oneIn(2) ? between(-128, 127) : 0;
    job.clampMin = oneIn(2) ? -128 : between(-128, 127);
    job.clampMax = oneIn(2) ? 127 : between(job.clampMin, 127);
    job.table = oneIn(3) ? between(1, config.tableSlots) : 0;
    took(add ? "vector add" : job.op == VectorOp::Max ? "vector max" : "vector sum");
    if (job.table)
      took("vector table");
    if (job.outChannelOffset)
      took("vector channel offset");
    issue(job);
    if (!inPlace)
      enlist(out);
  }

  /// Moves some weights jobs ahead (prefetch), adds the program to the image.
  void place() {
    std::vector<Descriptor> ordered = program.descriptors;
    for (size_t index : weightJobs)
      if (oneIn(3)) {
        // One place at a time past jobs of other queues; its own waits count only what stays before it.
        for (int64_t moves = between(1, 10); moves > 0 && index > 0; --moves, --index) {
          Opcode before = opcode(ordered[index - 1]);
          if (before == Opcode::Weights || before == Opcode::Sync || !std::holds_alternative<Weights>(ordered[index]) ||
              std::get<Weights>(ordered[index]).destination != WeightsDestination::Ring)
            break;
          std::swap(ordered[index - 1], ordered[index]);
        }
      }
    try {
      verifyProgress(ordered, config);
      if (!weightJobs.empty())
        program.descriptors = ordered, took("weights ahead");
    } catch (const Error &) {
      // Too far ahead for the ring or the queues: in the original order.
    }
    program.programAddress = program.memory.size();
    std::vector<uint8_t> bytes = encode(program.descriptors);
    program.memory.insert(program.memory.end(), bytes.begin(), bytes.end());
    program.memory.resize(program.memory.size() + 1024);
  }

  const ArrayConfig &config;
  std::mt19937_64 random;
  FuzzedProgram program;
  JobDependences dependences;
  std::vector<LiveMap> maps;
  std::vector<size_t> weightJobs;
  int64_t arena = 0, arenaSize, layer = 0, repeat = 1, ringFill = 0;
};

} // namespace

FuzzedProgram fuzzProgram(const ArrayConfig &config, uint64_t seed, int jobs) {
  return Fuzzer(config, seed).make(jobs);
}

std::vector<std::string> fuzzPaths(const ArrayConfig &config) {
  std::vector<std::string> paths = {"channel offset",
                                    "dilation",
                                    "execute dense",
                                    "execute packed",

                                    "execute reads a row ring",
                                    "load bytes",
                                    "load negative stride",
                                    "load planar",
                                    "load unaligned",
                                    "load words",
                                    "negative padding",
                                    "only padding",
                                    "partial channel block",
                                    "release block",
                                    "release keep",
                                    "release stream",
                                    "residual",
                                    "residual in place",
                                    "residual swapped",
                                    "residual unsigned",
                                    "ring wrap",
                                    "row ring",
                                    "row ring moves on",
                                    "row ring wraps in a job",
                                    "samples",
                                    "several channel blocks",
                                    "split reduction",
                                    "store",
                                    "sync",
                                    "table 1",
                                    "table 2",
                                    "table load",
                                    "vector add",
                                    "vector channel offset",
                                    "vector in place",
                                    "vector max",
                                    "vector sum",
                                    "vector table",
                                    "weights ahead"};
  if (config.channels <= 16)
    paths.push_back("execute depthwise");
  return paths;
}

} // namespace tilewright::sim
