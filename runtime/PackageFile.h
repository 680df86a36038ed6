//===- PackageFile.h - a package on disk ------------------------*- C++ -*-===//
//
// docs/package-format.md. A file is a header, the segments (weights, device code, host code; 64-byte aligned, used
// where they are mapped) and the tables (package.fbs). A checksum covers every byte.
//
//===----------------------------------------------------------------------===//

#ifndef TILEWRIGHT_RUNTIME_PACKAGEFILE_H
#define TILEWRIGHT_RUNTIME_PACKAGEFILE_H

#include "runtime/package_generated.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace tilewright::runtime {

inline constexpr uint32_t kPackageVersion = 2;

/// The first 64 bytes of a package, little-endian.
struct PackageHeader {
  uint8_t magic[8];
  uint32_t version;
  uint32_t reserved;
  uint64_t fileSize;
  uint64_t tablesOffset;
  uint64_t tablesSize;
  uint64_t segmentsOffset;
  uint64_t segmentsSize;
  /// XXH3, 64 bits, over everything else: the header before this field, then the rest of the file.
  uint64_t checksum;
};
static_assert(sizeof(PackageHeader) == 64);

extern const uint8_t kPackageMagic[8];

/// A mapped and verified package.
class PackageFile {
public:
  /// Throws Error when the file cannot be read, is no package, of another version, cut short or damaged.
  static std::shared_ptr<const PackageFile> open(const std::string &path);
  ~PackageFile();
  PackageFile(const PackageFile &) = delete;
  PackageFile &operator=(const PackageFile &) = delete;

  const package::Package &tables() const { return *tables_; }
  std::span<const std::byte> segment(uint64_t index) const;
  const std::string &path() const { return path_; }

private:
  PackageFile() = default;
  void map();
  void verify();

  std::string path_;
  const std::byte *bytes_ = nullptr;
  size_t size_ = 0;
  PackageHeader header_{};
  const package::Package *tables_ = nullptr;
};

} // namespace tilewright::runtime

#endif
