//===- row_walker.cpp - rows of a map in a row ring -------------------------===//
//
// Random maps and orders, a user that finishes rows at random: every row once, in order, at
// the address that its number in the map gives; never more than four rows ahead; a user that
// needs a row per cycle gets one.
//
//===----------------------------------------------------------------------===//

// VARIANT Strided=0
// VARIANT Strided=1
// FAULT wraps_late: if (@ring_row >= ring_rows@) => ring_row > ring_rows
// FAULT start_not_wrapped: if (@ring_row0 >= ring_rows@) => 1'b0
// FAULT inner_not_counted: inner_count == inner_i => inner_count == inner_i + 16'd1
// FAULT outer_keeps_inner: inner_base = @outer_base@; => inner_base
// FAULT too_far_ahead: (products != 2'd2 || ahead < @3'(Ahead)@) => 3'(Ahead + 1)
// FAULT second_row_late: products = @Strided ? 2'd1 : 2'd2@; => 2'd1
// FAULT first_row_at_base: row = inner_base + @row0_offset@; => 24'd0
// FAULT never_last: last_o <= @ended@; => ended && rows_i != 16'd1

#include "Testbench.h"

#include <deque>

namespace {

struct Map {
  uint32_t base, pitch, innerPitch, outerPitch;
  int ringRows, ringStart, firstRow, stride, rows, inner, outer;
};

struct Row {
  uint32_t address;
  int y, ringRow;
  bool outerLast, last;
};

/// Where row y of the map lies: rows from ringStart on go round the ring; rows above it exist only as numbers.
std::vector<Row> rowsOf(const Map &map) {
  std::vector<Row> rows;
  for (int o = 0; o < map.outer; ++o)
    for (int i = 0; i < map.inner; ++i)
      for (int r = 0; r < map.rows; ++r) {
        int y = map.firstRow + r * map.stride;
        int place = y - map.ringStart;
        if (place > 0)
          place %= map.ringRows;
        uint32_t address = map.base + o * map.outerPitch + i * map.innerPitch + uint32_t(place) * map.pitch;
        bool outerLast = i + 1 == map.inner && r + 1 == map.rows;
        rows.push_back({address & 0xffffff, y, place, outerLast, outerLast && o + 1 == map.outer});
      }
  return rows;
}

int signExtend20(uint32_t value) { return int(value << 12) >> 12; }

struct RowWalker : Testbench {
  Map randomMap() {
    Map map;
    map.base = random.below(1 << 24);
    map.pitch = random.below(200);
    map.innerPitch = random.below(1 << 20);
    map.outerPitch = random.percent(30) ? 0 : random.below(1 << 22);
    map.ringRows = random.range(1, 9);
    map.stride = PARAMETER_Strided ? random.range(1, std::min(4, map.ringRows)) : 1;
    map.ringStart = random.percent(50) ? 0 : int(random.below(300));
    // At most one turn behind the ring's first row, or above it.
    map.firstRow = map.ringStart + random.range(-3, 2 * map.ringRows - 1);
    map.rows = random.percent(30) ? 1 : random.range(1, 12);
    map.inner = random.range(1, 3);
    map.outer = random.range(1, 3);
    return map;
  }
  void drive(const Map &map) {
    top.base_i = map.base;
    top.pitch_i = map.pitch;
    top.inner_pitch_i = map.innerPitch;
    top.outer_pitch_i = map.outerPitch;
    top.ring_rows_i = map.ringRows;
    top.ring_start_i = map.ringStart;
    top.first_row_i = uint32_t(map.firstRow) & 0xfffff;
    top.stride_i = map.stride;
    top.rows_i = map.rows;
    top.inner_i = map.inner;
    top.outer_i = map.outer;
  }
  /// `percent`: how often a user that has a row finishes it in a cycle; 100: it never waits.
  void run(const Map &map, int percent) {
    std::vector<Row> expected = rowsOf(map);
    drive(map);
    top.start_i = 1;
    edge();
    top.start_i = 0;
    size_t next = 0;
    int ahead = 0;
    int64_t began = cycle;
    top.done_i = 0;
    for (int idle = 0; next < expected.size() || ahead > 0;) {
      settle();
      if (top.valid_o) {
        ASSERT_LT(next, expected.size()) << "a row behind the last";
        const Row &row = expected[next];
        ASSERT_EQ(top.row_o, row.address) << "row " << next << " of " << expected.size();
        ASSERT_EQ(signExtend20(top.y_o), row.y) << "row " << next;
        ASSERT_EQ(signExtend20(top.ring_row_o), row.ringRow) << "row " << next;
        ASSERT_EQ(top.outer_last_o, row.outerLast) << "row " << next;
        ASSERT_EQ(top.last_o, row.last) << "row " << next;
        ++next;
        ++ahead;
        ASSERT_LE(ahead, 4) << "too far ahead";
        idle = 0;
      }
      if (next > 1)
        ASSERT_EQ(top.ring_words_o, uint32_t(map.ringRows) * map.pitch & 0xffffff);
      top.done_i = ahead > 0 && random.percent(percent);
      ahead -= top.done_i;
      ASSERT_LT(++idle, 400) << "row " << next << " of " << expected.size() << " does not come";
      edge();
    }
    top.done_i = 0;
    if (percent == 100) // a row per cycle; the second one after the products
      ASSERT_LE(cycle - began, int64_t(expected.size()) + PARAMETER_Strided);
    for (int i = 0; i < 4; ++i) {
      settle();
      ASSERT_FALSE(top.valid_o);
      edge();
    }
  }
};

TEST_F(RowWalker, RandomMaps) {
  top.start_i = top.done_i = 0;
  reset();
  for (int i = 0; i < 3000; ++i)
    ASSERT_NO_FATAL_FAILURE(run(randomMap(), i % 3 == 0 ? 100 : i % 3 == 1 ? 50 : 10)) << "map " << i;
}

} // namespace
