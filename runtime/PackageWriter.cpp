//===- PackageWriter.cpp --------------------------------------------------===//

#include "runtime/PackageWriter.h"

#include "common/Error.h"
#include "runtime/PackageFile.h"
#include "runtime/PackageVerifier.h"
#include "runtime/Tensor.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <stdexcept>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace tilewright::runtime {

namespace {

uint64_t aligned(uint64_t offset) { return (offset + kAlignment - 1) / kAlignment * kAlignment; }

/// A file that is removed unless it was committed; keeps the checksum of what went through it.
class TemporaryFile {
public:
  explicit TemporaryFile(const std::string &target) : target(target), name(target + ".tmp" + std::to_string(getpid())) {
    int descriptor = open(name.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (descriptor < 0)
      throw Error(target + ": cannot be written: " + std::strerror(errno));
    file = fdopen(descriptor, "wb");
    XXH3_64bits_reset(&state);
  }
  ~TemporaryFile() {
    if (file) {
      std::fclose(file);
      unlink(name.c_str());
    }
  }
  TemporaryFile(const TemporaryFile &) = delete;
  TemporaryFile &operator=(const TemporaryFile &) = delete;

  void write(const void *bytes, size_t size) {
    XXH3_64bits_update(&state, bytes, size);
    writeUnhashed(bytes, size);
  }
  void writeUnhashed(const void *bytes, size_t size) {
    if (size && std::fwrite(bytes, 1, size, file) != size)
      fail();
    position += size;
  }
  void pad() {
    static const std::byte zeros[kAlignment] = {};
    write(zeros, aligned(position) - position);
  }
  uint64_t checksum() const { return XXH3_64bits_digest(&state); }
  void patch(uint64_t offset, const void *bytes, size_t size) {
    if (std::fseek(file, static_cast<long>(offset), SEEK_SET) != 0 || std::fwrite(bytes, 1, size, file) != size)
      fail();
  }
  void commit() {
    if (std::fflush(file) != 0 || rename(name.c_str(), target.c_str()) != 0)
      fail();
    std::fclose(file);
    file = nullptr;
  }

private:
  [[noreturn]] void fail() { throw Error(target + ": cannot be written: " + std::strerror(errno)); }

  std::string target, name;
  std::FILE *file = nullptr;
  uint64_t position = 0;
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

  TemporaryFile file(path);
  file.write(&header, offsetof(PackageHeader, checksum));
  file.writeUnhashed(&header.checksum, sizeof header.checksum);
  for (std::span<const std::byte> segment : segments) {
    file.write(segment.data(), segment.size());
    file.pad();
  }
  file.write(builder.GetBufferPointer(), builder.GetSize());
  header.checksum = file.checksum();
  file.patch(offsetof(PackageHeader, checksum), &header.checksum, sizeof header.checksum);
  file.commit();
}

} // namespace tilewright::runtime
