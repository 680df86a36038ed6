//===- ArrayConfig.h - the parameters of an array ---------------*- C++ -*-===//
//
// One file, configs/*.toml, sets the RTL's parameters, the cycle model's and the
// compiler's target description. Read here and nowhere else.
//
//===----------------------------------------------------------------------===//

#ifndef TILEWRIGHT_CONFIG_ARRAYCONFIG_H
#define TILEWRIGHT_CONFIG_ARRAYCONFIG_H

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tilewright {

struct ArrayConfig {
  std::string name; ///< the file's name without .toml

  int64_t pixels = 4;    ///< P: output pixels per brick
  int64_t channels = 16; ///< K: output channels per brick
  int64_t reduction = 4; ///< C: products summed per processing element and cycle

  int64_t scratchpadBytes = 524288;
  int64_t weightRingBytes = 163840;
  int64_t tableSlots = 4;

  int64_t busBytes = 16;
  int64_t dramBytesPerCycle = 16;
  int64_t dramRefuseEvery = 10; ///< 0: never
  int64_t dramLatencyCycles = 100;

  double nominalMhz = 1000;

  int64_t macsPerCycle() const { return pixels * channels * reduction; }
  int64_t scratchpadWords() const { return scratchpadBytes / 16; }
  int64_t ringWordBytes() const { return channels * reduction; }
  int64_t ringWords() const { return weightRingBytes / ringWordBytes(); }
  /// Ring words of a block's header: 12 bytes for each output channel.
  int64_t headerWords() const { return (12 + reduction - 1) / reduction; }
  /// Bytes per cycle that the DRAM delivers once the refused beats are taken off.
  double effectiveDramBytesPerCycle() const {
    return dramRefuseEvery ? double(dramBytesPerCycle) * double(dramRefuseEvery - 1) / double(dramRefuseEvery)
                           : double(dramBytesPerCycle);
  }

  /// The file's text: parse(toToml(), name) gives the same configuration. Packages keep this.
  std::string toToml() const;
  /// True if both need the same RTL. DRAM rate, refusals, latency and clock are not in it.
  bool sameHardware(const ArrayConfig &other) const;
  bool operator==(const ArrayConfig &) const = default;

  /// Throws Error (naming `origin`, the key, its value and what is allowed) for text that is not TOML, a key that is
  /// unknown, missing or of the wrong type, and any configuration that cannot work.
  static ArrayConfig parse(std::string_view toml, const std::string &origin);
  /// `nameOrFile`: a path (has a '/' or ends in .toml) or the name of a file in configs/. Throws Error; for an unknown
  /// name it lists the known ones.
  static ArrayConfig load(const std::string &nameOrFile);
  /// Names of the files in configs/, sorted.
  static std::vector<std::string> known();
  static constexpr const char *defaultName = "4x16x4";

  /// The rules that every configuration obeys; parse() calls it. For configurations made in code.
  void validate(const std::string &origin) const;
};

} // namespace tilewright

#endif
