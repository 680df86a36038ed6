//===- Maps.h - maps in a scratchpad, for models of the units that walk them -*- C++ -*-===//
//
// docs/accelerator.md, "Maps": where word (sample, channel word, row, column) of a row ring lies.
//
//===----------------------------------------------------------------------===//

#ifndef TILEWRIGHT_TEST_RTL_MAPS_H
#define TILEWRIGHT_TEST_RTL_MAPS_H

#include "Testbench.h"

struct Map {
  int base = 0, pitch = 1, planePitch = 0, samplePitch = 0, ringRows = 1, ringStart = 0;

  int word(int sample, int plane, int row, int column) const {
    int ringRow = row - ringStart;
    if (ringRow >= ringRows)
      ringRow -= ringRows;
    return base + sample * samplePitch + plane * planePitch + ringRow * pitch + column;
  }
};

/// The fields of a map in a kind of descriptor.
struct MapFields {
  isa::Field base, pitch, planePitch, samplePitch, ringRows, ringStart;
  void set(Job &job, const Map &map) const {
    job.set(base, map.base).set(pitch, map.pitch).set(planePitch, map.planePitch).set(samplePitch, map.samplePitch);
    job.set(ringRows, map.ringRows).set(ringStart, map.ringStart);
  }
};
#define MAP_FIELDS(prefix)                                                                                             \
  MapFields {                                                                                                          \
    prefix##Base, prefix##Pitch, prefix##PlanePitch, prefix##SamplePitch, prefix##RingRows, prefix##RingStart          \
  }

/// A random map from word `base` on that holds rows [firstRow, lastRow] of `width` columns; `end` is the first word
/// behind it.
inline Map randomMap(Random &random, int base, int samples, int planes, int firstRow, int lastRow, int width,
                     int &end) {
  Map map;
  map.base = base + int(random.below(5));
  map.ringRows = lastRow - firstRow + 1 + int(random.below(3));
  map.ringStart = firstRow / map.ringRows * map.ringRows;
  map.pitch = width + int(random.below(3));
  map.planePitch = map.ringRows * map.pitch + int(random.below(4));
  map.samplePitch = planes * map.planePitch + int(random.below(4));
  if (random.percent(20)) { // the samples of a plane behind one another
    map.samplePitch = map.ringRows * map.pitch + int(random.below(4));
    map.planePitch = samples * map.samplePitch + int(random.below(4));
  }
  end = map.base + planes * map.planePitch + samples * map.samplePitch;
  return map;
}

/// The four banks behind read and write ports that are granted at random.
struct Memory {
  std::vector<Word> words;
  explicit Memory(Random &random, int size) : words(size) {
    for (Word &word : words)
      word = random.word();
  }
  void write(uint32_t at, uint32_t enable, const Word &data) {
    ASSERT_LT(at, words.size());
    for (int i = 0; i < 16; ++i)
      if (enable >> i & 1)
        words[at].bytes[i] = data.bytes[i];
  }
};

#endif
