//===- JobDependences.cpp - words touched, and waits from them ------------===//

#include "sim/fuzz/JobDependences.h"
#include "backends/systolic/isa/JobGeometry.h"

namespace tilewright::sim {

using namespace isa;

namespace {

using Visitor = std::function<void(int64_t)>;

void forEachWord(const Map &map, Range rows, Range words, int64_t planes, int64_t samples, const Visitor &visit) {
  for (int64_t n = 0; n < samples; ++n)
    for (int64_t p = 0; p < planes; ++p)
      for (int64_t y = rows.begin; y < rows.end; ++y)
        for (int64_t x = words.begin; x < words.end; ++x)
          visit(map.base + n * map.samplePitch + p * map.planePitch + (y - map.ringStart) % map.ringRows * map.pitch +
                x);
}

int64_t rowWords(const Load &job) {
  switch (job.mode) {
  case LoadMode::Words:
    return job.width;
  case LoadMode::Bytes:
    return ceilDiv(job.width, 16);
  case LoadMode::Planar:
    return ceilDiv(job.width * job.planes, 16);
  }
  return 0;
}

} // namespace

void forEachWordRead(const Descriptor &descriptor, const ArrayConfig &config, const Visitor &visit) {
  if (const auto *job = std::get_if<Execute>(&descriptor)) {
    Range columns = inputColumns(*job);
    int64_t planes = 1;
    if (job->mode == ExecuteMode::Packed)
      columns = {columns.begin * job->packedChannels / 16, ceilDiv(columns.end * job->packedChannels, 16)};
    else
      planes = ceilDiv(job->mode == ExecuteMode::Dense ? job->channelSteps * config.reduction : job->outChannels, 16);
    forEachWord(job->in, inputRows(*job), columns, planes, job->samples, visit);
    if (job->residual)
      forEachWord(job->residualMap, {job->outRowStart, job->outRowStart + job->outRowCount}, {0, job->outWidth},
                  ceilDiv(job->outChannels, 16), job->samples, visit);
  } else if (const auto *job = std::get_if<Vector>(&descriptor)) {
    int64_t planes = ceilDiv(job->channels, 16);
    forEachWord(job->in, inputRows(*job), inputColumns(*job), planes, job->samples, visit);
    if (job->op == VectorOp::Add)
      forEachWord(job->second, inputRows(*job), inputColumns(*job), planes, job->samples, visit);
  } else if (const auto *job = std::get_if<Store>(&descriptor)) {
    forEachWord(job->in, {job->rowStart, job->rowStart + job->rowCount}, {0, job->width}, job->planes, job->samples,
                visit);
  }
}

void forEachWordWritten(const Descriptor &descriptor, const ArrayConfig &, const Visitor &visit) {
  if (const auto *job = std::get_if<Load>(&descriptor)) {
    forEachWord(job->out, {job->rowStart, job->rowStart + job->rowCount}, {0, rowWords(*job)},
                job->mode == LoadMode::Words ? job->planes : 1, job->samples, visit);
  } else if (const auto *job = std::get_if<Execute>(&descriptor)) {
    if (job->accFinish)
      forEachWord(job->out, {job->outRowStart, job->outRowStart + job->outRowCount}, {0, job->outWidth},
                  ceilDiv(job->outChannelOffset + job->outChannels, 16), job->samples, visit);
  } else if (const auto *job = std::get_if<Vector>(&descriptor)) {
    forEachWord(job->out, {job->outRowStart, job->outRowStart + job->outRowCount},
                {job->outColumnStart, job->outColumnStart + job->outColumnCount},
                ceilDiv(job->outChannelOffset + job->channels, 16), job->samples, visit);
  }
}

void forEachDramWord(const Descriptor &descriptor, const Visitor &visit) {
  auto copy = [&](const auto &job, int64_t planes, int64_t rowBytes) {
    for (int64_t n = 0; n < job.samples; ++n)
      for (int64_t p = 0; p < planes; ++p)
        for (int64_t r = 0; r < job.rowCount; ++r) {
          int64_t begin = job.dramAddress + n * job.dramSampleStride + p * job.dramPlaneStride + r * job.dramRowStride;
          for (int64_t word = begin / 16; word <= (begin + rowBytes - 1) / 16; ++word)
            visit(word);
        }
  };
  if (const auto *job = std::get_if<Load>(&descriptor))
    copy(*job, job->planes, job->mode == LoadMode::Words ? 16 * job->width : job->width);
  else if (const auto *job = std::get_if<Store>(&descriptor))
    copy(*job, job->planes, 16 * job->width);
  else if (const auto *job = std::get_if<Weights>(&descriptor))
    for (int64_t word = job->dramAddress / 16; word < (job->dramAddress + job->byteCount) / 16; ++word)
      visit(word);
}

JobDependences::JobDependences(const ArrayConfig &config, uint64_t dramWords)
    : config(config), scratchpad(size_t(config.scratchpadWords())), dram(dramWords) {}

void JobDependences::reads(Word &word, size_t queue, std::array<int64_t, queueCount> &waits) {
  // Within a queue too: a job may begin while its predecessor's results are still on their way.
  if (word.writer != UINT8_MAX)
    waits[word.writer] = std::max(waits[word.writer], word.written);
  word.read[queue] = counts[queue] + 1;
}

void JobDependences::writes(Word &word, size_t queue, std::array<int64_t, queueCount> &waits) {
  // A queue's own reads and writes stay in order, but for execute's writes where several groups of channels drain.
  bool isOrdered = word.writer == queue && (queue != queueOf(Opcode::Execute) || config.channels <= 16);
  if (word.writer != UINT8_MAX && !isOrdered)
    waits[word.writer] = std::max(waits[word.writer], word.written);
  for (size_t q = 0; q < queueCount; ++q)
    if (q != queue)
      waits[q] = std::max(waits[q], word.read[q]);
  word = Word{uint8_t(queue), counts[queue] + 1, {}};
}

void JobDependences::issue(Descriptor &descriptor) {
  std::array<int64_t, queueCount> waits{};
  if (opcode(descriptor) != Opcode::Sync) {
    size_t queue = queueOf(opcode(descriptor));
    auto read = [&](Word &word) { reads(word, queue, waits); };
    auto write = [&](Word &word) { writes(word, queue, waits); };
    auto readTable = [&](int64_t table) {
      if (table)
        read(tables[size_t(table - 1)]);
    };
    forEachWordRead(descriptor, config, [&](int64_t word) { read(scratchpad[size_t(word)]); });
    forEachWordWritten(descriptor, config, [&](int64_t word) { write(scratchpad[size_t(word)]); });
    bool stores = opcode(descriptor) == Opcode::Store;
    forEachDramWord(descriptor, [&](int64_t word) { stores ? write(dram[size_t(word)]) : read(dram[size_t(word)]); });
    if (const auto *job = std::get_if<Execute>(&descriptor)) {
      readTable(job->table1);
      readTable(job->table2);
    } else if (const auto *job = std::get_if<Vector>(&descriptor)) {
      readTable(job->table);
    } else if (const auto *job = std::get_if<Weights>(&descriptor);
               job && job->destination == WeightsDestination::Table) {
      write(tables[size_t(job->table)]);
    }
    ++counts[queue];
  }
  Header &h = header(descriptor);
  int64_t *fields[] = {&h.waitLoad, &h.waitWeights, &h.waitExecute, &h.waitVector, &h.waitStore};
  for (size_t q = 0; q < queueCount; ++q)
    *fields[q] = std::max(*fields[q], waits[q]);
}

} // namespace tilewright::sim
