//===- weights_dma.cpp - weights to ring and tables -------------------------===//
//
// Random jobs from a memory that grants and answers at random into a ring that a reader
// empties at random. The ring holds exactly the jobs' bytes in order when their arrival is
// announced, no word is overwritten before it has been freed, a job as large as the ring
// arrives, tables get their 256 bytes, jobs complete in order and not before their last word.
//
//===----------------------------------------------------------------------===//

// VARIANT K=16 C=4 RingWords=24
// VARIANT K=8 C=2 RingWords=21
// FAULT room_ignored: !to_table && room < {27'd0, burst} => 1'b0
// FAULT whole_bursts_only: if (@left < {23'd0, burst}@) => 1'b0
// FAULT ring_wraps_late: head_word == RingWords - 1 => head_word == RingWords
// FAULT arrival_too_early: head_chunk == 8'(WordChunks) => head_chunk == 8'(WordChunks - 1)
// FAULT table_of_another: {table_slot, table_word} => {table_slot ^ 2'd1, table_word}
// FAULT done_too_early: missing == 28'd0 => missing <= 28'd1
// FAULT freed_too_soon: ring_freed_i * WordChunks => (ring_freed_i + 32'd1) * WordChunks
// FAULT last_ring_word_unused: @RingWords * WordChunks@ - (reserved => RingWords * WordChunks - WordChunks
// FAULT beyond_256_bytes: 5'd16 - {1'b0, address[7:4]} => 5'd16

#include "Testbench.h"

#include <deque>

namespace {

constexpr int chunks = PARAMETER_K * PARAMETER_C / 16, ringWords = PARAMETER_RingWords;

struct Transfer {
  bool table;
  unsigned slot;
  uint64_t address;
  int words; // 16 bytes each
};

Word content(uint64_t address) {
  Word word;
  std::mt19937_64 engine(address / 16);
  uint64_t values[2] = {engine(), engine()};
  std::memcpy(word.bytes, values, 16);
  return word;
}

TEST_F(Testbench, RandomJobs) {
  top.job_valid_i = top.grant_i = top.valid_i = 0;
  top.ring_freed_i = 0;
  reset();
  std::deque<Transfer> waiting;               // jobs in the queue
  std::deque<uint64_t> flying;                // words under way on the bus
  std::deque<Transfer> asked, receiving;      // taken jobs: not yet wholly asked for, not yet wholly received
  std::deque<Word> stream;                    // ring chunks in order, not yet read by the consumer
  std::vector<Word> ring(ringWords * chunks); // the memory behind the block
  int64_t written = 0, freed = 0;             // chunks, words since reset
  int block = 0, reading = 0;
  int done = 0, pending = 0, largest = 0, idle = 0;
  for (int64_t i = 0; done < 1500; ++i) {
    int pace = int(i / 2000 % 3); // slow reader, slow memory, neither
    ASSERT_LT(++idle, 3000) << "nothing moves: " << done << " jobs have completed, " << freed << " words were freed";
    if (waiting.size() < 3 && random.percent(20)) {
      Transfer job{random.percent(20), random.below(4), (uint64_t(random()) << 12) + 16 * random.below(64), 16};
      if (!job.table) {
        // Now and then more than the ring holds, or exactly that.
        int words = random.percent(10) ? ringWords : random.percent(20) ? 2 * ringWords + 3 : 1 + int(random.below(9));
        job.words = words * chunks;
        largest = std::max(largest, words);
      }
      waiting.push_back(job);
    }
    top.job_valid_i = !waiting.empty();
    if (!waiting.empty()) {
      const Transfer &job = waiting.front();
      Job bits = random.job();
      bits.set(isa::HeaderOpcode, isa::OpcodeWeights).set(isa::WeightsDramAddress, job.address);
      bits.set(isa::WeightsByteCount, 16 * job.words).set(isa::WeightsTable, job.slot);
      bits.set(isa::WeightsDestination, job.table ? isa::WeightsDestinationTable : isa::WeightsDestinationRing);
      bits.drive(top.job_i);
    }
    top.valid_i = !flying.empty() && random.percent(pace == 1 ? 30 : 90);
    if (top.valid_i)
      setWord(top.data_i, 0, content(flying.front()));
    settle();
    top.grant_i = top.request_o && random.percent(pace == 1 ? 30 : 80);
    settle();

    // ---- Data reaches the memories.
    if (top.ring_write_o) {
      ASSERT_FALSE(top.table_write_o);
      ASSERT_EQ(top.ring_word_o, written / chunks % ringWords) << "ring word";
      ASSERT_EQ(top.ring_chunk_o, written % chunks) << "chunk";
      ASSERT_LT(written / chunks, freed + ringWords) << "a word that has not been freed is overwritten";
      ring[top.ring_word_o * chunks + top.ring_chunk_o] = wordOf(top.ring_data_o);
      ++written;
    }
    if (top.ring_write_o || top.table_write_o) {
      ASSERT_FALSE(receiving.empty()) << "data out of nothing";
      Transfer &job = receiving.front();
      ASSERT_EQ(job.table, bool(top.table_write_o));
      if (job.table) {
        ASSERT_EQ(top.table_word_o, job.slot * 16 + 16 - job.words) << "table word";
        ASSERT_EQ(wordOf(top.table_data_o), content(job.address)) << "table";
      } else {
        stream.push_back(content(job.address));
      }
      job.address += 16;
      if (--job.words == 0) {
        receiving.pop_front();
        ++pending;
      }
      idle = 0;
    }
    if (top.done_o) {
      ++done;
      ASSERT_GT(pending, 0) << "a job completes before its last word";
      --pending;
    }
    ASSERT_LE(pending, 1) << "a completion is missing";

    // ---- The consumer reads what has arrived and frees it.
    ASSERT_LE(int64_t(top.ring_arrived_o), written / chunks) << "words are announced before they are there";
    ASSERT_GE(int64_t(top.ring_arrived_o), (written - 1) / chunks) << "an arrival is not announced";
    // Now and then it needs as many words as the ring holds before it frees the first.
    if (block == 0)
      block = random.percent(5) ? ringWords : 1;
    if (reading == 0 && int64_t(top.ring_arrived_o) >= freed + block)
      reading = std::exchange(block, 0);
    if (reading > 0 && random.percent(pace == 0 ? 10 : 70)) {
      --reading;
      for (int c = 0; c < chunks; ++c) {
        ASSERT_EQ(ring[freed % ringWords * chunks + c], stream.front()) << "ring word " << freed << " chunk " << c;
        stream.pop_front();
      }
      ++freed;
      idle = 0;
    }

    // ---- Requests; the first may come together with the take.
    if (top.take_o) {
      ASSERT_FALSE(waiting.empty());
      asked.push_back(waiting.front());
      receiving.push_back(waiting.front());
    }
    if (top.grant_i) {
      uint64_t address = top.address_o;
      ASSERT_FALSE(asked.empty()) << "a request without a job";
      Transfer &job = asked.front();
      ASSERT_EQ(address, job.address);
      ASSERT_GT(top.words_o, 0);
      ASSERT_LE(top.words_o, job.words);
      ASSERT_EQ(address / 256, (address + 16 * top.words_o - 1) / 256) << "beyond an aligned 256 bytes";
      for (unsigned w = 0; w < top.words_o; ++w)
        flying.push_back(address + 16 * w);
      job.address += 16 * top.words_o;
      job.words -= top.words_o;
      if (job.words == 0)
        asked.pop_front();
    }
    if (top.valid_i)
      flying.pop_front();
    bool take = top.take_o;
    edge();
    if (take)
      waiting.pop_front();
    top.ring_freed_i = uint32_t(freed);
  }
  EXPECT_GT(freed, 20 * ringWords);
  EXPECT_GT(largest, ringWords);
}

} // namespace
