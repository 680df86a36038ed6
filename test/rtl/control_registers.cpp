//===- control_registers.cpp - the AXI4-Lite registers ---------------------===//
//
// Random writes and reads with random delays on all five channels, status inputs that
// change at random: what is read is what the registers held when the address was taken,
// responses stand until they are accepted, one start pulse per accepted write of 1.
//
//===----------------------------------------------------------------------===//

// FAULT start_while_busy: wdata_i[0] && !busy_i => wdata_i[0]
// FAULT start_on_any_write: wdata_i[0] && !busy_i => !busy_i
// FAULT done_is_not_kept: {29'd0, error_i != 8'd0, done_q, busy_i} => {29'd0, error_i != 8'd0, done_i, busy_i}
// FAULT response_before_ready: bvalid_o && bready_i => bvalid_o
// FAULT read_data_not_held: !rvalid_o => 1'b1
// FAULT high_word_cut: wdata_i[15:0] => {8'd0, wdata_i[7:0]}
// FAULT address_before_data: awvalid_i && wvalid_i && !bvalid_o => awvalid_i && !bvalid_o

#include "Testbench.h"

namespace {

struct ControlRegisters : Testbench {
  uint64_t program = 0;
  bool done = false;
  uint32_t expected(uint32_t address) const {
    switch (address) {
    case 0x04:
      return uint32_t(top.busy_i) | done << 1 | uint32_t(top.error_i != 0) << 2;
    case 0x08:
      return uint32_t(program);
    case 0x0c:
      return uint32_t(program >> 32);
    case 0x10:
      return top.descriptor_i;
    case 0x14:
      return top.error_i;
    default:
      return 0;
    }
  }
};

TEST_F(ControlRegisters, RandomTransfers) {
  top.awvalid_i = top.wvalid_i = top.bready_i = top.arvalid_i = top.rready_i = 0;
  top.busy_i = top.done_i = top.error_i = 0;
  reset();
  const uint32_t addresses[] = {0x00, 0x04, 0x08, 0x0c, 0x10, 0x14, 0x18, 0xfc};
  bool responseDue = false, dataDue = false, startDue = false;
  uint32_t data = 0;
  int writes = 0, reads = 0, starts = 0;
  for (int i = 0; i < 200000; ++i) {
    // AXI: a valid stands, with its payload, until it is accepted.
    if (!top.awvalid_i && random.percent(40)) {
      top.awvalid_i = 1;
      top.awaddr_i = addresses[random.below(8)];
    }
    if (!top.wvalid_i && random.percent(40)) {
      top.wvalid_i = 1;
      top.wdata_i = random();
    }
    if (!top.arvalid_i && random.percent(40)) {
      top.arvalid_i = 1;
      top.araddr_i = addresses[random.below(8)];
    }
    top.bready_i = random.percent(50);
    top.rready_i = random.percent(50);
    top.busy_i = random.percent(5) ? random.below(2) : top.busy_i;
    top.done_i = random.percent(3);
    top.error_i = random.percent(5) ? random.below(6) : top.error_i;
    top.descriptor_i = random();
    settle();
    ASSERT_EQ(bool(top.bvalid_o), responseDue) << "write response";
    ASSERT_EQ(bool(top.rvalid_o), dataDue) << "read response";
    ASSERT_EQ(bool(top.start_o), startDue) << "start";
    ASSERT_EQ(top.program_o, program);
    if (dataDue) {
      ASSERT_EQ(top.rdata_o, data);
    }
    startDue = false;
    bool writeTaken = top.awvalid_i && top.awready_o;
    ASSERT_EQ(writeTaken, top.wvalid_i && top.wready_o) << "address and data are taken together";
    ASSERT_TRUE(!writeTaken || !top.bvalid_o) << "a write overtakes the response of the one before";
    bool readTaken = top.arvalid_i && top.arready_o;
    ASSERT_TRUE(!readTaken || !top.rvalid_o) << "a read overwrites data that has not been accepted";
    ASSERT_TRUE(writeTaken || !top.awvalid_i || !top.wvalid_i || top.bvalid_o) << "a write is held back";
    ASSERT_TRUE(readTaken || !top.arvalid_i || top.rvalid_o) << "a read is held back";
    if (responseDue && top.bready_i)
      responseDue = false;
    if (dataDue && top.rready_i)
      dataDue = false;
    if (readTaken) {
      dataDue = true;
      data = expected(top.araddr_i);
      ++reads;
    }
    if (top.done_i)
      done = true;
    if (writeTaken) {
      ++writes;
      responseDue = true;
      if (top.awaddr_i == 0x00 && (top.wdata_i & 1) && !top.busy_i) {
        startDue = true;
        done = false;
        ++starts;
      }
      if (top.awaddr_i == 0x08)
        program = (program & 0xffff00000000) | top.wdata_i;
      if (top.awaddr_i == 0x0c)
        program = (program & 0xffffffff) | uint64_t(top.wdata_i & 0xffff) << 32;
    }
    edge();
    if (writeTaken)
      top.awvalid_i = top.wvalid_i = 0;
    if (readTaken)
      top.arvalid_i = 0;
  }
  EXPECT_GT(writes, 10000);
  EXPECT_GT(reads, 10000);
  EXPECT_GT(starts, 200);
}

} // namespace
