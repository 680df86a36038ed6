//===- scratchpad_arbiter.cpp - who gets the scratchpad's ports -------------===//
//
// Random requests of all clients, held until granted. Per bank and cycle the first client in
// the order of precedence gets the port, if any asks; addresses and data reach the port
// unchanged (reads in the same cycle, writes in the next); a group's second residual word does
// not overtake its first. Under a load that leaves room every client is served.
//
//===----------------------------------------------------------------------===//

// VARIANT Groups=1
// VARIANT Groups=2
// FAULT operand_overruled: read_o = @operand_read_i@; => operand_read_i & ~vector_read_i
// FAULT second_overtakes: g % 2 == 0 || !residual_read_i[g-g%2] || residual_grant_o[g-g%2] => 1'b1
// FAULT store_before_vector: vector_read_i & ~read_o => vector_read_i & ~read_o & ~(4'd1 << store_word_i[1:0])
// FAULT store_never_in_bank_3: @store_read_i@ && !read_o[ => store_read_i && store_word_i[1:0] != 2'd3
// FAULT two_writes_in_a_bank: load_write_i && !taken[load_word_i[1:0]] => load_write_i
// FAULT load_before_vector: @vector_write_i@ && !taken[ => vector_write_i && !load_write_i
// FAULT enables_of_group_0: drain_enable_i[g*16+:16] => drain_enable_i[15:0]
// FAULT vector_writes_whole_words: <= @vector_enable_i@; => 16'hffff

#include "Testbench.h"

namespace {

constexpr int groups = PARAMETER_Groups;

struct Arbiter : Testbench {
  struct Write {
    bool valid = false;
    uint32_t word = 0, enable = 0, writer = 0;
    Word data;
  };

  void run(int cycles, uint32_t load) {
    top.operand_read_i = top.residual_read_i = top.vector_read_i = top.store_read_i = 0;
    top.drain_write_i = top.vector_write_i = top.load_write_i = 0;
    reset();
    Write due[4]; // per bank, at the port after this edge
    int served[7] = {}, waiting[7] = {}, longest[7] = {};
    for (int i = 0; i < cycles; ++i) {
      // Requests stand until they are granted; the operand reader's always are.
      for (int b = 0; b < 4; ++b) {
        setBits(top.operand_read_i, b, 1, random.percent(load));
        setBits(top.operand_word_i, b * 24, 24, randomWord(b));
        if (!bitsOf(top.vector_read_i, b, 1) && random.percent(load)) {
          setBits(top.vector_read_i, b, 1, 1);
          setBits(top.vector_word_i, b * 24, 24, randomWord(b));
        }
      }
      for (int g = 0; g < 2 * groups; ++g)
        if (!bitsOf(top.residual_read_i, g, 1) && random.percent(load)) {
          setBits(top.residual_read_i, g, 1, 1);
          setBits(top.residual_word_i, g * 24, 24, randomWord());
        }
      if (!top.store_read_i && random.percent(load)) {
        top.store_read_i = 1;
        top.store_word_i = randomWord();
      }
      for (int g = 0; g < groups; ++g)
        if (!bitsOf(top.drain_write_i, g, 1) && random.percent(load)) {
          setBits(top.drain_write_i, g, 1, 1);
          setBits(top.drain_word_i, g * 24, 24, randomWord());
          setBits(top.drain_enable_i, g * 16, 16, random());
          setWord(top.drain_data_i, g, random.word());
        }
      if (!top.vector_write_i && random.percent(load)) {
        top.vector_write_i = 1;
        top.vector_write_word_i = randomWord();
        top.vector_enable_i = random();
        setWord(top.vector_data_i, 0, random.word());
      }
      if (!top.load_write_i && random.percent(load)) {
        top.load_write_i = 1;
        top.load_word_i = randomWord();
        setWord(top.load_data_i, 0, random.word());
      }
      settle();

      // ---- Writes granted before the last edge.
      for (int b = 0; b < 4; ++b) {
        ASSERT_EQ(bitsOf(top.write_o, b, 1), due[b].valid) << "write port " << b;
        if (due[b].valid) {
          ASSERT_EQ(bitsOf(top.write_word_o, b * 24, 24), due[b].word);
          ASSERT_EQ(bitsOf(top.write_enable_o, b * 16, 16), due[b].enable);
          ASSERT_EQ(wordOf(top.write_data_o, b), due[b].data);
          ASSERT_EQ(bitsOf(top.writer_o, b * 2, 2), due[b].writer);
        }
        due[b] = {};
      }

      // ---- Reads: clients in order of precedence.
      bool taken[4] = {};
      auto read = [&](bool asks, uint32_t word) {
        if (!asks || taken[word % 4])
          return false;
        taken[word % 4] = true;
        EXPECT_EQ(bitsOf(top.read_word_o, word % 4 * 24, 24), word);
        return true;
      };
      for (int b = 0; b < 4; ++b)
        read(bitsOf(top.operand_read_i, b, 1), bitsOf(top.operand_word_i, b * 24, 24));
      bool granted[4 * groups];
      for (int g = 0; g < 2 * groups; ++g) {
        bool first = g % 2 == 0 || !bitsOf(top.residual_read_i, g - 1, 1) || granted[g - 1];
        granted[g] = first && read(bitsOf(top.residual_read_i, g, 1), bitsOf(top.residual_word_i, g * 24, 24));
        ASSERT_EQ(bitsOf(top.residual_grant_o, g, 1), granted[g]) << "residual word " << g;
        count(0, bitsOf(top.residual_read_i, g, 1), granted[g], served, waiting, longest);
      }
      for (int b = 0; b < 4; ++b) {
        bool grant = read(bitsOf(top.vector_read_i, b, 1), bitsOf(top.vector_word_i, b * 24, 24));
        ASSERT_EQ(bitsOf(top.vector_grant_o, b, 1), grant) << "vector read " << b;
        count(1, bitsOf(top.vector_read_i, b, 1), grant, served, waiting, longest);
      }
      bool storeGrant = read(top.store_read_i, top.store_word_i);
      ASSERT_EQ(bool(top.store_grant_o), storeGrant) << "store";
      count(2, top.store_read_i, storeGrant, served, waiting, longest);
      for (int b = 0; b < 4; ++b)
        ASSERT_EQ(bitsOf(top.read_o, b, 1), taken[b]) << "read port " << b;
      if (HasFailure())
        return;

      // ---- Writes.
      auto write = [&](bool asks, uint32_t word, uint32_t enable, const Word &data, uint32_t writer) {
        if (!asks || due[word % 4].valid)
          return false;
        due[word % 4] = {true, word, enable, writer, data};
        return true;
      };
      bool drainGrant[groups];
      for (int g = 0; g < groups; ++g) {
        drainGrant[g] = write(bitsOf(top.drain_write_i, g, 1), bitsOf(top.drain_word_i, g * 24, 24),
                              bitsOf(top.drain_enable_i, g * 16, 16), wordOf(top.drain_data_i, g), 0);
        ASSERT_EQ(bitsOf(top.drain_grant_o, g, 1), drainGrant[g]) << "drain " << g;
        count(3, bitsOf(top.drain_write_i, g, 1), drainGrant[g], served, waiting, longest);
      }
      bool vectorGrant =
          write(top.vector_write_i, top.vector_write_word_i, top.vector_enable_i, wordOf(top.vector_data_i), 1);
      ASSERT_EQ(bool(top.vector_write_grant_o), vectorGrant) << "vector write";
      count(4, top.vector_write_i, vectorGrant, served, waiting, longest);
      bool loadGrant = write(top.load_write_i, top.load_word_i, 0xffff, wordOf(top.load_data_i), 2);
      ASSERT_EQ(bool(top.load_grant_o), loadGrant) << "load";
      count(5, top.load_write_i, loadGrant, served, waiting, longest);

      edge();
      for (int g = 0; g < 2 * groups; ++g)
        if (granted[g])
          setBits(top.residual_read_i, g, 1, 0);
      // The pair moves up: what was second is then first.
      for (int g = 0; g < 2 * groups; g += 2)
        if (!bitsOf(top.residual_read_i, g, 1) && bitsOf(top.residual_read_i, g + 1, 1)) {
          setBits(top.residual_word_i, g * 24, 24, bitsOf(top.residual_word_i, (g + 1) * 24, 24));
          setBits(top.residual_read_i, g, 2, 1);
        }
      top.vector_read_i &= ~top.vector_grant_o;
      top.store_read_i = top.store_read_i && !storeGrant;
      for (int g = 0; g < groups; ++g)
        if (drainGrant[g])
          setBits(top.drain_write_i, g, 1, 0);
      top.vector_write_i = top.vector_write_i && !vectorGrant;
      top.load_write_i = top.load_write_i && !loadGrant;
    }
    for (int client = 0; client < 6; ++client) {
      EXPECT_GT(served[client], cycles / 100) << "client " << client;
      if (load <= 25) {
        EXPECT_LT(longest[client], 60) << "client " << client << " waits";
      }
    }
  }

private:
  uint32_t randomWord() { return random() & 0xffffff; }
  uint32_t randomWord(int bank) { return (random() & 0xfffffc) | bank; }
  static void count(int client, bool asks, bool granted, int *served, int *waiting, int *longest) {
    served[client] += granted;
    waiting[client] = asks && !granted ? waiting[client] + 1 : 0;
    longest[client] = std::max(longest[client], waiting[client]);
  }
};

TEST_F(Arbiter, LightLoad) { run(60000, 20); }
TEST_F(Arbiter, HeavyLoad) { run(60000, 60); }

} // namespace
