//===- OutputFile.cpp -----------------------------------------------------===//

#include "runtime/OutputFile.h"

#include "common/Error.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>

namespace tilewright::runtime {

OutputFile::OutputFile(const std::string &given) : target(given) {
  struct stat status;
  bool exists = target != kStandardOutput && stat(target.c_str(), &status) == 0;
  if (target == kStandardOutput || (exists && !S_ISREG(status.st_mode))) {
    if (exists && S_ISDIR(status.st_mode))
      throw Error(target + ": cannot be written: it is a folder");
    file = std::tmpfile();
    if (!file)
      fail();
    return;
  }
  // What a link means may not be there yet.
  std::error_code none;
  for (int links = 0; links < 40 && std::filesystem::is_symlink(target, none); ++links)
    target = (std::filesystem::path(target).parent_path() / std::filesystem::read_symlink(target, none)).string();
  name = target + ".tmp" + std::to_string(getpid());
  int descriptor = open(name.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (descriptor < 0)
    throw Error(target + ": cannot be written: " + std::strerror(errno));
  file = fdopen(descriptor, "wb");
}

OutputFile::~OutputFile() {
  if (file) {
    std::fclose(file);
    if (!name.empty())
      unlink(name.c_str());
  }
}

void OutputFile::fail() {
  throw Error((target == kStandardOutput ? "standard output" : target) +
              ": cannot be written: " + std::strerror(errno));
}

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
  if (std::fflush(file) != 0)
    fail();
  if (name.empty())
    copyToTarget();
  else if (rename(name.c_str(), target.c_str()) != 0)
    fail();
  std::fclose(file);
  file = nullptr;
}

void OutputFile::copyToTarget() {
  bool isStandard = target == kStandardOutput;
  std::FILE *to = isStandard ? stdout : std::fopen(target.c_str(), "wb");
  if (!to)
    fail();
  std::rewind(file);
  char buffer[1 << 16];
  bool good = true;
  while (size_t count = std::fread(buffer, 1, sizeof(buffer), file))
    good = good && std::fwrite(buffer, 1, count, to) == count;
  good = std::fflush(to) == 0 && good;
  int error = errno;
  if (!isStandard)
    std::fclose(to);
  errno = error;
  if (!good)
    fail();
}

void writeFile(const std::string &path, std::string_view bytes) {
  OutputFile file(path);
  file.write(bytes.data(), bytes.size());
  file.commit();
}

} // namespace tilewright::runtime
