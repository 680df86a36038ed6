//===- PackageFile.cpp ----------------------------------------------------===//

#include "runtime/PackageFile.h"

#include "common/Error.h"
#include "runtime/PackageVerifier.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace tilewright::runtime {

// As PNG's: the first byte is no text, and line-end conversion shows.
const uint8_t kPackageMagic[8] = {0x89, 'T', 'W', 'P', '\r', '\n', 0x1a, '\n'};

std::shared_ptr<const PackageFile> PackageFile::open(const std::string &path) {
  std::shared_ptr<PackageFile> file(new PackageFile);
  file->path_ = path;
  file->map();
  file->verify();
  return file;
}

PackageFile::~PackageFile() {
  if (bytes_)
    munmap(const_cast<std::byte *>(bytes_), size_);
}

void PackageFile::map() {
  int descriptor = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0)
    throw Error(path_ + ": " + std::strerror(errno));
  struct stat status{};
  bool regular = fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode);
  size_ = regular ? static_cast<size_t>(status.st_size) : 0;
  if (size_ >= sizeof(PackageHeader)) {
    void *mapped = mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, descriptor, 0);
    bytes_ = mapped == MAP_FAILED ? nullptr : static_cast<const std::byte *>(mapped);
  }
  int error = errno;
  close(descriptor);
  if (!regular)
    throw Error(path_ + ": not a file");
  if (size_ < sizeof(PackageHeader))
    throw Error(path_ + ": not a Tilewright package: " + std::to_string(size_) + " bytes are less than its header");
  if (!bytes_)
    throw Error(path_ + ": cannot be mapped: " + std::strerror(error));
}

void PackageFile::verify() {
  std::memcpy(&header_, bytes_, sizeof header_);
  if (std::memcmp(header_.magic, kPackageMagic, sizeof kPackageMagic) != 0)
    throw Error(path_ + ": not a Tilewright package (compile-model makes one from an ONNX model)");
  if (header_.version != kPackageVersion)
    throw Error(path_ + ": a package of version " + std::to_string(header_.version) + "; this runtime reads version " +
                std::to_string(kPackageVersion) + ". Compile the model again");
  if (header_.fileSize > size_)
    throw Error(path_ + ": cut short: " + std::to_string(size_) + " of " + std::to_string(header_.fileSize) + " bytes");

  XXH3_state_t state;
  XXH3_64bits_reset(&state);
  XXH3_64bits_update(&state, bytes_, offsetof(PackageHeader, checksum));
  XXH3_64bits_update(&state, bytes_ + sizeof header_, size_ - sizeof header_);
  auto inside = [&](uint64_t offset, uint64_t size) { return offset <= size_ && size <= size_ - offset; };
  if (header_.fileSize != size_ || XXH3_64bits_digest(&state) != header_.checksum ||
      !inside(header_.tablesOffset, header_.tablesSize) || !inside(header_.segmentsOffset, header_.segmentsSize))
    throw Error(path_ + ": damaged: the checksum does not match the content");

  // The FlatBuffers verifier asserts on larger buffers instead of refusing them.
  if (header_.tablesSize >= FLATBUFFERS_MAX_BUFFER_SIZE)
    throw Error(path_ + ": damaged: tables of " + std::to_string(header_.tablesSize) + " bytes");
  const auto *tables = reinterpret_cast<const uint8_t *>(bytes_ + header_.tablesOffset);
  flatbuffers::Verifier verifier(tables, header_.tablesSize, /*max_depth=*/64, /*max_tables=*/1u << 30);
  if (!package::VerifyPackageBuffer(verifier))
    throw Error(path_ + ": damaged: its tables do not verify");
  tables_ = package::GetPackage(tables);
  if (std::string problem = findPackageProblem(*tables_, header_.segmentsSize); !problem.empty())
    throw Error(path_ + ": damaged: " + problem);
}

std::span<const std::byte> PackageFile::segment(uint64_t index) const {
  const package::Segment *segment = tables_->segments()->Get(static_cast<flatbuffers::uoffset_t>(index));
  return {bytes_ + header_.segmentsOffset + segment->offset(), segment->size()};
}

} // namespace tilewright::runtime
