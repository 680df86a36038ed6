//===- weight_ring.cpp - the ring's memory ----------------------------------===//
//
// Random chunks written, random words read, a word number that is no power of two.
//
//===----------------------------------------------------------------------===//

// VARIANT Words=40 WordBits=512
// VARIANT Words=24 WordBits=128
// FAULT chunk_ignored: write_i && write_chunk_i == 8'(c) => write_i
// FAULT chunk_1_twice: write_i && write_chunk_i == 8'(c) => write_i && write_chunk_i / 2 == 8'(c) / 2
// FAULT upper_words_alias: read_word_i[$clog2(Words)-1:0] => read_word_i[$clog2(Words)-1:0] & ~(16)

#include "Testbench.h"

namespace {

constexpr int words = PARAMETER_Words, chunks = PARAMETER_WordBits / 128;

TEST_F(Testbench, RandomChunks) {
  std::vector<Word> memory(words * chunks);
  top.read_i = 0;
  top.write_i = 1;
  auto write = [&](int word, int chunk) {
    Word data = random.word();
    top.write_word_i = word;
    top.write_chunk_i = chunk;
    setWord(top.data_i, 0, data);
    return data;
  };
  for (int i = 0; i < words * chunks; ++i) {
    memory[i] = write(i / chunks, i % chunks);
    edge();
  }
  int read = -1;
  std::vector<Word> standing(chunks);
  for (int i = 0; i < 50000; ++i) {
    top.read_i = random.percent(60);
    top.read_word_i = random.below(words);
    if (top.read_i) {
      read = int(top.read_word_i);
      std::copy_n(memory.begin() + read * chunks, chunks, standing.begin());
    }
    int word = random.percent(30) ? int(top.read_word_i) : int(random.below(words)), chunk = int(random.below(chunks));
    top.write_i = random.percent(70);
    Word data = write(word, chunk);
    if (top.write_i)
      memory[word * chunks + chunk] = data;
    edge();
    for (int c = 0; c < chunks && read >= 0; ++c)
      ASSERT_EQ(wordOf(top.data_o, c), standing[c]) << "word " << read << " chunk " << c;
  }
}

} // namespace
