//===- axi_reader.cpp - three clients, one AXI read port --------------------===//
//
// Clients ask at random for bursts within an aligned 256 bytes; a memory model answers
// with random delays, its bursts of different ids interleaved beat by beat. Every client gets
// exactly its words, in its order; the first client that asks is served; AXI's rules for a
// request that waits and for burst lengths hold; a bad response is reported.
//
//===----------------------------------------------------------------------===//

// VARIANT BusBytes=16
// VARIANT BusBytes=32
// FAULT third_client_first: request_i[0] => request_i[0] && !request_i[2]
// FAULT request_not_held: !arvalid_o || arready_i => 1'b1
// FAULT one_beat_short: {3'd0, words} - 8'd1 => {3'd0, words} - 8'd1 - {7'd0, words == 5'd16}
// FAULT odd_start_not_skipped: given[rid_i] == 5'd0 && burst[5] => 1'b0
// FAULT odd_end_not_dropped: upper || skip_lower || last => upper || skip_lower
// FAULT id_of_another: grant_o[2] ? 2'd2 : grant_o[1] ? 2'd1 : 2'd0 => grant_o[2] ? 2'd1 : grant_o[1] ? 2'd2 : 2'd0
// FAULT error_missed: rresp_i != 2'd0 => rresp_i == 2'd3

#include "Testbench.h"

#include <deque>

namespace {

constexpr unsigned busBytes = PARAMETER_BusBytes;

/// What lies at a 16-byte word of memory.
Word content(uint64_t address) {
  Word word;
  std::mt19937_64 engine(address / 16);
  for (int i = 0; i < 2; ++i) {
    uint64_t value = engine();
    std::memcpy(word.bytes + 8 * i, &value, 8);
  }
  return word;
}

struct Burst {
  uint64_t address;
  int beats;
};

TEST_F(Testbench, WordsOfEveryClientInOrder) {
  top.request_i = 0;
  top.arready_i = top.rvalid_i = 0;
  reset();
  std::deque<Burst> bursts[3];      // accepted by the memory, per id
  std::deque<uint64_t> expected[3]; // addresses of words that a client waits for
  std::deque<Burst> granted;        // in the order of grants, with the client in `beats`
  int64_t served[3] = {}, words[3] = {};
  bool requestStands = false, errorDue = false;
  uint64_t standingAddress = 0;
  unsigned standingLength = 0, standingId = 0;
  int id = -1; // of the beat on the bus
  for (int i = 0; i < 100000; ++i) {
    for (int client = 0; client < 3; ++client)
      if (!(top.request_i >> client & 1) && expected[client].size() < 200 && random.percent(client == 0 ? 10 : 40)) {
        uint64_t address = (uint64_t(random()) << 16 ^ random()) & 0xfffffffffff0;
        setBits(top.address_i, client * 48, 48, address);
        unsigned room = 16 - address / 16 % 16;
        setBits(top.words_i, client * 5, 5, random.percent(40) ? room : 1 + random.below(room));
        top.request_i |= 1 << client;
      }
    top.arready_i = random.percent(i / 1000 % 2 ? 90 : 30);
    // A beat stands until it is accepted; otherwise any id with data under way may come.
    if (id < 0 && random.percent(80)) {
      int candidate = int(random.below(3));
      if (!bursts[candidate].empty()) {
        id = candidate;
        const Burst &burst = bursts[id].front();
        uint64_t base = burst.address & ~uint64_t(busBytes - 1);
        for (unsigned j = 0; j < busBytes / 16; ++j)
          setWord(top.rdata_i, j, content(base + 16 * j));
        top.rid_i = id;
        top.rlast_i = burst.beats == 1;
        top.rresp_i = random.percent(1) ? random.percent(50) ? 2 : 3 : 0;
      }
    }
    top.rvalid_i = id >= 0;
    settle();
    ASSERT_EQ(bool(top.error_o), errorDue);

    // ---- Requests of clients.
    bool free = !top.arvalid_o || top.arready_i;
    unsigned first = top.request_i & -top.request_i;
    ASSERT_EQ(top.grant_o, free ? first : 0u) << "the first client that asks, when the port is free";

    // ---- The address channel: what stands does not change.
    if (requestStands) {
      ASSERT_TRUE(top.arvalid_o) << "a request is withdrawn";
      ASSERT_EQ(top.araddr_o, standingAddress);
      ASSERT_EQ(top.arlen_o, standingLength);
      ASSERT_EQ(top.arid_o, standingId);
    }
    requestStands = top.arvalid_o && !top.arready_i;
    standingAddress = top.araddr_o;
    standingLength = top.arlen_o;
    standingId = top.arid_o;
    if (top.arvalid_o && top.arready_i) {
      ASSERT_FALSE(granted.empty());
      auto [address, client] = granted.front();
      granted.pop_front();
      ASSERT_EQ(top.arid_o, unsigned(client));
      ASSERT_EQ(top.araddr_o, address & ~uint64_t(busBytes - 1));
      ASSERT_EQ(top.araddr_o / 256, (top.araddr_o + (top.arlen_o + 1) * busBytes - 1) / 256) << "beyond 256 bytes";
      bursts[client].push_back({top.araddr_o, int(top.arlen_o) + 1});
    }

    // ---- Words.
    ASSERT_EQ(top.valid_o & ~(top.rvalid_i ? 1u << top.rid_i : 0u), 0u) << "a word for another client";
    if (top.rvalid_i && top.valid_o) {
      ASSERT_FALSE(expected[id].empty()) << "a word that nobody asked for";
      ASSERT_EQ(wordOf(top.data_o), content(expected[id].front())) << "client " << id << " word " << words[id];
      expected[id].pop_front();
      ++words[id];
    }
    errorDue = top.rvalid_i && top.rready_o && top.rresp_i != 0;
    if (top.rvalid_i && top.rready_o) {
      Burst &burst = bursts[id].front();
      burst.address = (burst.address & ~uint64_t(busBytes - 1)) + busBytes;
      if (--burst.beats == 0)
        bursts[id].pop_front();
      id = -1;
    }
    unsigned grant = top.grant_o;
    for (int client = 0; client < 3; ++client)
      if (grant >> client & 1) {
        uint64_t address = bitsOf(top.address_i, client * 48, 48);
        granted.push_back({address, client});
        for (unsigned w = 0; w < bitsOf(top.words_i, client * 5, 5); ++w)
          expected[client].push_back(address + 16 * w);
        ++served[client];
      }
    edge();
    top.request_i &= ~grant;
  }
  for (int client = 0; client < 3; ++client) {
    EXPECT_GT(served[client], 500) << "client " << client;
    EXPECT_GT(words[client], 4000) << "client " << client;
    // What is missing is under way, not lost.
    int64_t flying = 0;
    for (const Burst &burst : bursts[client])
      flying += burst.beats * int(busBytes / 16);
    for (const Burst &burst : granted)
      flying += burst.beats == client ? 17 : 0;
    EXPECT_LE(int64_t(expected[client].size()), flying) << "client " << client;
  }
}

} // namespace
