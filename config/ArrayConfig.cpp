//===- ArrayConfig.cpp - read and check configs/*.toml --------------------===//

#include "config/ArrayConfig.h"
#include "common/Error.h"
#include "config/Resources.h"
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#define TOML_ENABLE_FORMATTERS 0
#include <toml++/toml.h>

namespace tilewright {
namespace {

namespace fs = std::filesystem;

/// $TILEWRIGHT_CONFIGS, else the installed or checked-out folder.
fs::path configFolder() {
  if (const char *folder = std::getenv("TILEWRIGHT_CONFIGS"))
    return folder;
  return resourceFolder() / "configs";
}

/// Visits every key of a configuration with its place in the file; the file's reader and writer both use it.
template <typename Config, typename Visitor> void visitKeys(Config &config, Visitor &&visitor) {
  visitor("array", "pixels", config.pixels);
  visitor("array", "channels", config.channels);
  visitor("array", "reduction", config.reduction);
  visitor("memory", "scratchpad_bytes", config.scratchpadBytes);
  visitor("memory", "weight_ring_bytes", config.weightRingBytes);
  visitor("memory", "table_slots", config.tableSlots);
  visitor("dram", "bus_bytes", config.busBytes);
  visitor("dram", "bytes_per_cycle", config.dramBytesPerCycle);
  visitor("dram", "refuse_every", config.dramRefuseEvery);
  visitor("dram", "latency_cycles", config.dramLatencyCycles);
  visitor("clock", "nominal_mhz", config.nominalMhz);
}

struct Checker {
  const std::string &origin;

  [[noreturn]] void refuse(const std::string &key, const std::string &what) const {
    throw Error(origin + ": " + key + ": " + what);
  }
  void range(const char *key, int64_t value, int64_t lowest, int64_t highest) const {
    if (value < lowest || value > highest)
      refuse(key, std::to_string(value) + " is not in the range " + std::to_string(lowest) + " to " +
                      std::to_string(highest));
  }
  void oneOf(const char *key, int64_t value, std::initializer_list<int64_t> allowed) const {
    if (std::find(allowed.begin(), allowed.end(), value) != allowed.end())
      return;
    std::string list;
    for (int64_t choice : allowed)
      list += (list.empty() ? "" : ", ") + std::to_string(choice);
    refuse(key, std::to_string(value) + " is not one of " + list);
  }
};

} // namespace

void ArrayConfig::validate(const std::string &origin) const {
  Checker check{origin};
  check.range("array.pixels", pixels, 1, 64);
  check.range("array.channels", channels, 8, 256);
  if (channels != 8 && channels % 16)
    check.refuse("array.channels", std::to_string(channels) + " is neither 8 nor a multiple of 16");
  check.oneOf("array.reduction", reduction, {1, 2, 4, 8, 16});
  if (channels * reduction % 16)
    check.refuse("array.reduction", "channels x reduction = " + std::to_string(channels * reduction) +
                                        " is not a multiple of 16, the bytes of a weight ring's smallest word");
  if (scratchpadBytes % 64)
    check.refuse("memory.scratchpad_bytes",
                 std::to_string(scratchpadBytes) + " is not a multiple of 64 (4 banks of 16-byte words)");
  int64_t brick = pixels * std::max<int64_t>(channels, 16);
  if (scratchpadBytes < 2 * brick + 64)
    check.refuse("memory.scratchpad_bytes", std::to_string(scratchpadBytes) +
                                                " is smaller than one tile: input and output of one brick of " +
                                                std::to_string(pixels) + " pixels x " + std::to_string(channels) +
                                                " channels need " + std::to_string(2 * brick + 64));
  check.range("memory.scratchpad_bytes", scratchpadBytes, 64, int64_t(1) << 28);
  if (weightRingBytes % ringWordBytes())
    check.refuse("memory.weight_ring_bytes", std::to_string(weightRingBytes) + " is not a multiple of the ring word, " +
                                                 std::to_string(ringWordBytes()) + " bytes (channels x reduction)");
  int64_t leastRing = (headerWords() + 2) * ringWordBytes();
  if (weightRingBytes < leastRing)
    check.refuse("memory.weight_ring_bytes", std::to_string(weightRingBytes) +
                                                 " is smaller than a block's header and two steps, " +
                                                 std::to_string(leastRing) + " bytes");
  check.range("memory.weight_ring_bytes", ringWords(), 1, int64_t(1) << 20);
  check.range("memory.table_slots", tableSlots, 1, 4);
  check.oneOf("dram.bus_bytes", busBytes, {16, 32});
  if (dramBytesPerCycle < 1 || dramBytesPerCycle > busBytes)
    check.refuse("dram.bytes_per_cycle", std::to_string(dramBytesPerCycle) + " is not in the range 1 to " +
                                             std::to_string(busBytes) + ", the bus width (dram.bus_bytes)");
  if (dramRefuseEvery != 0)
    check.range("dram.refuse_every", dramRefuseEvery, 2, 1000000);
  check.range("dram.latency_cycles", dramLatencyCycles, 1, 100000);
  if (!(nominalMhz > 0 && nominalMhz <= 100000))
    check.refuse("clock.nominal_mhz", "must be above 0 and at most 100000");
}

ArrayConfig ArrayConfig::parse(std::string_view text, const std::string &origin) {
  toml::table root;
  try {
    root = toml::parse(text);
  } catch (const toml::parse_error &error) {
    std::ostringstream message;
    message << origin << ':' << error.source().begin.line << ": not TOML: " << error.description();
    throw Error(message.str());
  }
  ArrayConfig config;
  config.name = fs::path(origin).stem().string();
  Checker check{origin};
  std::set<std::string> known;
  visitKeys(config, [&](const char *section, const char *key, auto &value) {
    std::string full = std::string(section) + "." + key;
    known.insert(full);
    toml::node_view<toml::node> node = root[section][key];
    if (!node)
      check.refuse(full, "is missing");
    using Value = std::decay_t<decltype(value)>;
    if constexpr (std::is_same_v<Value, double>) {
      if (!node.is_number())
        check.refuse(full, "is not a number");
      value = *node.template value<double>();
    } else {
      if (!node.is_integer())
        check.refuse(full, "is not an integer");
      value = *node.template value<int64_t>();
    }
  });
  for (const auto &[section, node] : root) {
    std::string sectionName(section.str());
    const toml::table *table = node.as_table();
    if (!table)
      check.refuse(sectionName, "unknown key; every key is in a section: [array], [memory], [dram], [clock]");
    for (const auto &[key, ignored] : *table)
      if (std::string full = sectionName + "." + std::string(key.str()); !known.count(full)) {
        std::string list;
        for (const std::string &name : known)
          list += (list.empty() ? "" : ", ") + name;
        check.refuse(full, "unknown key; there are " + list);
      }
  }
  config.validate(origin);
  return config;
}

ArrayConfig ArrayConfig::load(const std::string &nameOrFile) {
  bool isPath = nameOrFile.find('/') != std::string::npos || nameOrFile.ends_with(".toml");
  fs::path path = isPath ? fs::path(nameOrFile) : configFolder() / (nameOrFile + ".toml");
  std::ifstream file(path);
  std::stringstream text;
  if (!file || !(text << file.rdbuf())) {
    if (isPath)
      throw Error(nameOrFile + ": array configuration cannot be read");
    std::string list;
    for (const std::string &name : known())
      list += (list.empty() ? "" : ", ") + name;
    throw Error("array configuration '" + nameOrFile + "' does not exist; there are " + list + " (in " +
                configFolder().string() + "), or give the path of a .toml file");
  }
  return parse(text.str(), path.string());
}

std::vector<std::string> ArrayConfig::known() {
  std::vector<std::string> names;
  std::error_code ignored;
  for (const fs::directory_entry &entry : fs::directory_iterator(configFolder(), ignored))
    if (entry.path().extension() == ".toml")
      names.push_back(entry.path().stem().string());
  std::sort(names.begin(), names.end());
  return names;
}

std::string ArrayConfig::toToml() const {
  std::ostringstream text;
  text.precision(17);
  std::string open;
  visitKeys(*this, [&](const char *section, const char *key, const auto &value) {
    if (open != section)
      text << '[' << (open = section) << "]\n";
    text << key << " = " << value << '\n';
  });
  return text.str();
}

bool ArrayConfig::sameHardware(const ArrayConfig &other) const {
  return pixels == other.pixels && channels == other.channels && reduction == other.reduction &&
         scratchpadBytes == other.scratchpadBytes && weightRingBytes == other.weightRingBytes &&
         tableSlots == other.tableSlots && busBytes == other.busBytes;
}

} // namespace tilewright
