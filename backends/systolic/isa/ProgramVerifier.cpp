//===- ProgramVerifier.cpp - rules between descriptors --------------------===//

#include "backends/systolic/isa/ProgramVerifier.h"
#include "backends/systolic/isa/JobGeometry.h"
#include <array>
#include <deque>
#include <optional>
#include <sstream>

namespace tilewright::isa {
namespace {

constexpr Opcode queues[] = {Opcode::Load, Opcode::Weights, Opcode::Execute, Opcode::Vector, Opcode::Store};
constexpr size_t queueCount = std::size(queues);

size_t queueOf(Opcode opcode) { return size_t(opcode) - size_t(Opcode::Load); }

std::array<int64_t, queueCount> waits(const Header &header) {
  return {header.waitLoad, header.waitWeights, header.waitExecute, header.waitVector, header.waitStore};
}

std::string place(std::span<const Descriptor> program, size_t index) {
  std::ostringstream text;
  text << "descriptor " << index << " (" << name(opcode(program[index])) << ", layer " << header(program[index]).layer
       << ")";
  return text.str();
}

/// Rules between descriptors that hold in program order.
class OrderVerifier {
public:
  explicit OrderVerifier(const ArrayConfig &config) : config(config) {}

  void verify(const Descriptor &descriptor) {
    std::array<int64_t, queueCount> counts = waits(header(descriptor));
    for (size_t q = 0; q < queueCount; ++q)
      if (counts[q] > issued[q])
        throw Error(std::string("wait_") + name(queues[q]) + " = " + std::to_string(counts[q]) +
                    " can never hold: " + std::to_string(issued[q]) + " " + name(queues[q]) + " jobs stand before it");
    if (opcode(descriptor) != Opcode::Sync)
      ++issued[queueOf(opcode(descriptor))];
    if (const auto *job = std::get_if<Weights>(&descriptor))
      weights(*job);
    else if (const auto *job = std::get_if<Execute>(&descriptor))
      execute(*job);
    else if (const auto *job = std::get_if<Vector>(&descriptor))
      table("table", job->table, *job, false);
  }

  void verifyEnd() const {
    if (open)
      throw Error("the program ends after a job with acc_finish = 0: its sum is never written");
    if (ringWords != 0)
      throw Error("the program ends with " + std::to_string(ringWords) +
                  " words in the weight ring that no job released: the next run would read them");
  }

private:
  void weights(const Weights &job) {
    if (job.destination == WeightsDestination::Ring) {
      ringWords += job.byteCount / config.ringWordBytes();
      return;
    }
    tableJob[job.table] = issued[queueOf(Opcode::Weights)];
    TableReaders &readers = tableReaders[job.table];
    if (job.waitExecute < readers.execute || job.waitVector < readers.vector)
      throw Error("overwrites table " + std::to_string(job.table) +
                  " without waiting for its readers: wait_execute must be at least " + std::to_string(readers.execute) +
                  ", wait_vector at least " + std::to_string(readers.vector));
    readers = {}; // who fills it next comes after this job
  }

  void execute(const Execute &job) {
    if (job.accInit && open)
      throw Error("acc_init = 1 after a job with acc_finish = 0: that job's sum would be lost");
    if (!job.accInit && !open)
      throw Error("acc_init = 0, but the execute job before it has acc_finish = 1: there is nothing to add to");
    open = !job.accFinish;
    int64_t used = channelBlocks(job, config) * blockWords(job, config);
    if (job.ringOffset + used > ringWords)
      throw Error("needs " + std::to_string(job.ringOffset + used) +
                  " words in the weight ring, the weights jobs before it leave " + std::to_string(ringWords));
    if (job.release != Release::Keep)
      ringWords -= used;
    table("table_1", job.table1, job, true);
    table("table_2", job.table2, job, true);
  }

  void table(const char *field, int64_t table, const Header &job, bool isExecute) {
    if (table == 0)
      return;
    const std::optional<int64_t> &filled = tableJob[table - 1];
    if (!filled)
      throw Error(std::string(field) + " = " + std::to_string(table) + ": no weights job before it fills that table");
    if (job.waitWeights < *filled)
      throw Error(std::string(field) + " = " + std::to_string(table) + ": wait_weights must be at least " +
                  std::to_string(*filled) + " for the job that fills that table, it is " +
                  std::to_string(job.waitWeights));
    TableReaders &readers = tableReaders[table - 1];
    readers.execute = std::max(readers.execute, isExecute ? issued[queueOf(Opcode::Execute)] : 0);
    readers.vector = std::max(readers.vector, isExecute ? 0 : issued[queueOf(Opcode::Vector)]);
  }

  /// Jobs of each queue up to the last one that reads a table.
  struct TableReaders {
    int64_t execute = 0, vector = 0;
  };

  const ArrayConfig &config;
  std::array<int64_t, queueCount> issued{};
  std::array<std::optional<int64_t>, 4> tableJob; ///< number of the weights job that filled it, from 1
  std::array<TableReaders, 4> tableReaders;
  int64_t ringWords = 0;
  bool open = false;
};

/// Plays fetch, queues and ring without time: whatever can go on, does.
class QueuePlayer {
public:
  QueuePlayer(std::span<const Descriptor> program, const ArrayConfig &config)
      : program(program), config(config), freeWords(config.ringWords()) {}

  void play() {
    for (bool progress = true; progress;) {
      progress = fetch();
      for (size_t q = 0; q < queueCount; ++q)
        while (step(q))
          progress = true;
    }
    if (next < program.size())
      report();
  }

private:
  bool hold(const Header &header) const {
    std::array<int64_t, queueCount> counts = waits(header);
    for (size_t q = 0; q < queueCount; ++q)
      if (completed[q] < counts[q])
        return false;
    return true;
  }

  bool fetch() {
    bool progress = false;
    for (; next < program.size(); ++next, progress = true) {
      Opcode kind = opcode(program[next]);
      if (kind == Opcode::Sync) {
        const Sync &sync = std::get<Sync>(program[next]);
        bool idle = true;
        for (const std::deque<size_t> &queue : pending)
          idle &= queue.empty();
        if (!hold(sync) || (sync.end && !idle))
          break;
        continue;
      }
      std::deque<size_t> &queue = pending[queueOf(kind)];
      if (queue.size() > queueDepth) // one of them is running
        break;
      queue.push_back(next);
    }
    return progress;
  }

  /// Lets queue q's front job do what it can. True if anything changed.
  bool step(size_t q) {
    if (pending[q].empty())
      return false;
    const Descriptor &descriptor = program[pending[q].front()];
    if (!hold(header(descriptor)))
      return false;
    bool changed = false, done = true;
    if (const auto *job = std::get_if<Weights>(&descriptor)) {
      if (job->destination == WeightsDestination::Ring) {
        int64_t total = job->byteCount / config.ringWordBytes();
        int64_t words = std::min(total - weightsDone, freeWords);
        changed = words > 0;
        weightsDone += words;
        freeWords -= words;
        arrivedWords += words;
        done = weightsDone == total;
      }
    } else if (const auto *job = std::get_if<Execute>(&descriptor)) {
      done = execute(*job, changed);
    }
    if (done) {
      if (q == queueOf(Opcode::Weights))
        weightsDone = 0;
      if (q == queueOf(Opcode::Execute))
        executeDone = 0;
      ++completed[q];
      pending[q].pop_front();
    }
    return changed || done;
  }

  bool execute(const Execute &job, bool &changed) {
    int64_t block = blockWords(job, config), total = block * channelBlocks(job, config);
    if (job.release == Release::Keep)
      return arrivedWords >= job.ringOffset + total;
    int64_t unit = job.release == Release::Block ? block : 1;
    int64_t words = std::min(total - executeDone, arrivedWords / unit * unit);
    changed = words > 0;
    executeDone += words;
    arrivedWords -= words;
    freeWords += words;
    return executeDone == total;
  }

  [[noreturn]] void report() const {
    std::ostringstream message;
    message << "the program can never finish: the fetch stands at " << place(program, next);
    for (size_t q = 0; q < queueCount; ++q)
      if (!pending[q].empty()) {
        const Descriptor &descriptor = program[pending[q].front()];
        message << "; " << name(queues[q]) << " at " << place(program, pending[q].front());
        if (!hold(header(descriptor)))
          message << " waiting for jobs";
        else
          message << (queues[q] == Opcode::Weights ? " waiting for free words in the weight ring"
                                                   : " waiting for weights");
      }
    throw Error(message.str());
  }

  std::span<const Descriptor> program;
  const ArrayConfig &config;
  std::array<std::deque<size_t>, queueCount> pending; ///< running job first
  std::array<int64_t, queueCount> completed{};
  size_t next = 0;
  int64_t freeWords, arrivedWords = 0, weightsDone = 0, executeDone = 0;
};

} // namespace

void verifyProgress(std::span<const Descriptor> program, const ArrayConfig &config) {
  QueuePlayer(program, config).play();
}

void verifyProgram(std::span<const Descriptor> program, const ArrayConfig &config, uint64_t memoryBytes) {
  OrderVerifier order(config);
  auto isEnd = [](const Descriptor &descriptor) {
    const Sync *sync = std::get_if<Sync>(&descriptor);
    return sync && sync->end;
  };
  if (program.empty() || !isEnd(program.back()))
    throw Error("the program does not end with a sync descriptor with `end`");
  for (size_t i = 0; i < program.size(); ++i) {
    try {
      if (i + 1 < program.size() && isEnd(program[i]))
        throw Error("`end` is set before the last descriptor");
      verifyDescriptor(program[i], config, memoryBytes);
      order.verify(program[i]);
      if (i + 1 == program.size())
        order.verifyEnd();
    } catch (const Error &error) {
      throw Error(place(program, i) + ": " + error.what());
    }
  }
  verifyProgress(program, config);
}

} // namespace tilewright::isa
