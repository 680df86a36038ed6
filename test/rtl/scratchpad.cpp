//===- scratchpad.cpp - four banks with byte enables ------------------------===//
//
// Random reads and writes on all ports against an array of bytes: a read sees all writes of
// earlier cycles and none of its own, and its data stands until the bank's next read.
//
//===----------------------------------------------------------------------===//

// VARIANT Words=256
// FAULT byte_enable_ignored: enable[7] => 1'b1
// FAULT enables_of_whole_words_only: enable == 16'hffff => enable[15:1] == 15'h7fff
// FAULT upper_half_aliases: write_word_i[b*24+2+:Bits] => write_word_i[b*24+2+:Bits] & Bits'(BankWords/2-1)
// FAULT read_without_request: read_i[b] => 1'b1

#include "Testbench.h"

namespace {

constexpr int words = PARAMETER_Words;

TEST_F(Testbench, RandomAccess) {
  std::vector<Word> memory(words);
  top.read_i = 0;
  // All words are written first, their addresses as full 24-bit ones.
  for (int word = 0; word < words; word += 4) {
    top.write_i = 15;
    for (int b = 0; b < 4; ++b) {
      memory[word + b] = random.word();
      setBits(top.write_word_i, b * 24, 24, word + b);
      setBits(top.write_enable_i, b * 16, 16, 0xffff);
      setWord(top.data_i, b, memory[word + b]);
    }
    edge();
  }
  Word standing[4];
  bool known[4] = {};
  for (int i = 0; i < 100000; ++i) {
    top.read_i = random.below(16);
    top.write_i = random.below(16);
    std::vector<Word> next = {};
    for (int b = 0; b < 4; ++b) {
      int hot = random.percent(50) ? words : 16; // reads and writes meet
      int read = int(random.below(hot / 4)) * 4 + b, write = int(random.below(hot / 4)) * 4 + b;
      setBits(top.read_word_i, b * 24, 24, read);
      setBits(top.write_word_i, b * 24, 24, write);
      uint32_t enable = random.percent(30) ? 0xffff : random.percent(20) ? 0xfffe : random() & 0xffff;
      setBits(top.write_enable_i, b * 16, 16, enable);
      Word data = random.word();
      setWord(top.data_i, b, data);
      if (top.read_i >> b & 1) {
        standing[b] = memory[read];
        known[b] = true;
      }
      if (top.write_i >> b & 1)
        for (int byte = 0; byte < 16; ++byte)
          if (enable >> byte & 1)
            memory[write].bytes[byte] = data.bytes[byte];
    }
    edge();
    for (int b = 0; b < 4; ++b)
      if (known[b]) {
        ASSERT_EQ(wordOf(top.data_o, b), standing[b]) << "bank " << b;
      }
  }
}

} // namespace
