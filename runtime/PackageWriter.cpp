//===- PackageWriter.cpp --------------------------------------------------===//

#include "runtime/PackageWriter.h"

#include "runtime/OutputFile.h"
#include "runtime/PackageFile.h"
#include "runtime/PackageVerifier.h"
#include "runtime/Tensor.h"

#include <cstring>
#include <stdexcept>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace tilewright::runtime {

namespace {

uint64_t aligned(uint64_t offset) { return (offset + kAlignment - 1) / kAlignment * kAlignment; }

/// Writes and keeps the checksum of what it wrote.
class HashedFile {
public:
  explicit HashedFile(OutputFile &file) : file(file) { XXH3_64bits_reset(&state); }
  void write(const void *bytes, size_t size) {
    XXH3_64bits_update(&state, bytes, size);
    file.write(bytes, size);
  }
  /// Fills up to the next aligned offset after `size` bytes from an aligned one.
  void pad(uint64_t size) {
    static const std::byte zeros[kAlignment] = {};
    write(zeros, aligned(size) - size);
  }
  uint64_t checksum() const { return XXH3_64bits_digest(&state); }

private:
  OutputFile &file;
  XXH3_state_t state;
};

} // namespace

uint32_t PackageWriter::addSegment(std::span<const std::byte> bytes) {
  uint64_t hash = XXH3_64bits(bytes.data(), bytes.size());
  auto [begin, end] = byHash.equal_range(hash);
  for (auto candidate = begin; candidate != end; ++candidate) {
    std::span<const std::byte> other = segments[candidate->second];
    if (other.size() == bytes.size() && (bytes.empty() || std::memcmp(other.data(), bytes.data(), bytes.size()) == 0))
      return candidate->second;
  }
  auto index = static_cast<uint32_t>(segments.size());
  segments.push_back(bytes);
  byHash.emplace(hash, index);
  return index;
}

uint32_t PackageWriter::addSegment(std::vector<std::byte> &&bytes) {
  owned.push_back(std::move(bytes));
  auto before = static_cast<uint32_t>(segments.size());
  uint32_t index = addSegment(std::span<const std::byte>(owned.back()));
  if (index != before)
    owned.pop_back();
  return index;
}

void PackageWriter::write(const std::string &path) {
  uint64_t offset = 0;
  tables.segments.clear();
  for (std::span<const std::byte> segment : segments) {
    tables.segments.emplace_back(offset, segment.size());
    offset = aligned(offset + segment.size());
  }
  flatbuffers::FlatBufferBuilder builder(1 << 16);
  builder.Finish(package::Package::Pack(builder, &tables));
  if (std::string problem = findPackageProblem(*package::GetPackage(builder.GetBufferPointer()), offset);
      !problem.empty())
    throw std::logic_error("the compiler made a package that does not fit together: " + problem);

  PackageHeader header{};
  std::memcpy(header.magic, kPackageMagic, sizeof kPackageMagic);
  header.version = kPackageVersion;
  header.segmentsOffset = sizeof header;
  header.segmentsSize = offset;
  header.tablesOffset = header.segmentsOffset + offset;
  header.tablesSize = builder.GetSize();
  header.fileSize = header.tablesOffset + header.tablesSize;

  OutputFile file(path);
  HashedFile hashed(file);
  hashed.write(&header, offsetof(PackageHeader, checksum));
  file.write(&header.checksum, sizeof header.checksum);
  for (std::span<const std::byte> segment : segments) {
    hashed.write(segment.data(), segment.size());
    hashed.pad(segment.size());
  }
  hashed.write(builder.GetBufferPointer(), builder.GetSize());
  header.checksum = hashed.checksum();
  file.patch(offsetof(PackageHeader, checksum), &header.checksum, sizeof header.checksum);
  file.commit();
}

} // namespace tilewright::runtime
