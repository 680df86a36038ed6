//===- PackageWriter.h - writes a package -----------------------*- C++ -*-===//

#ifndef TILEWRIGHT_RUNTIME_PACKAGEWRITER_H
#define TILEWRIGHT_RUNTIME_PACKAGEWRITER_H

#include "runtime/package_generated.h"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace tilewright::runtime {

/// Collects segments and tables, then writes them at once. Equal segments are stored once.
class PackageWriter {
public:
  /// Everything but `segments`, which the writer fills.
  package::PackageT tables;

  /// Index of a segment with these bytes. They are not copied: they must stay alive until write().
  uint32_t addSegment(std::span<const std::byte> bytes);
  /// The same; the writer keeps the bytes.
  uint32_t addSegment(std::vector<std::byte> &&bytes);

  /// Writes to a temporary file beside `path` and renames it: `path` is complete or untouched. Throws Error.
  void write(const std::string &path);

private:
  std::vector<std::span<const std::byte>> segments;
  std::deque<std::vector<std::byte>> owned;
  std::unordered_multimap<uint64_t, uint32_t> byHash;
};

} // namespace tilewright::runtime

#endif
