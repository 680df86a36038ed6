//===- OutputFile.cpp -----------------------------------------------------===//

#include "runtime/OutputFile.h"

#include "common/Error.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

namespace tilewright::runtime {

OutputFile::OutputFile(const std::string &target) : target(target), name(target + ".tmp" + std::to_string(getpid())) {
  int descriptor = open(name.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (descriptor < 0)
    throw Error(target + ": cannot be written: " + std::strerror(errno));
  file = fdopen(descriptor, "wb");
}

OutputFile::~OutputFile() {
  if (file) {
    std::fclose(file);
    unlink(name.c_str());
  }
}

void OutputFile::fail() { throw Error(target + ": cannot be written: " + std::strerror(errno)); }

void OutputFile::write(const void *bytes, size_t size) {
  if (size && std::fwrite(bytes, 1, size, file) != size)
    fail();
}

void OutputFile::patch(uint64_t offset, const void *bytes, size_t size) {
  if (fseeko(file, static_cast<off_t>(offset), SEEK_SET) != 0 || std::fwrite(bytes, 1, size, file) != size ||
      fseeko(file, 0, SEEK_END) != 0)
    fail();
}

void OutputFile::commit() {
  if (std::fflush(file) != 0 || rename(name.c_str(), target.c_str()) != 0)
    fail();
  std::fclose(file);
  file = nullptr;
}

void writeFile(const std::string &path, std::string_view bytes) {
  OutputFile file(path);
  file.write(bytes.data(), bytes.size());
  file.commit();
}

} // namespace tilewright::runtime
