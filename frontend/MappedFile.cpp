//===- MappedFile.cpp - a file's bytes, mapped read-only ------------------===//

#include "frontend/MappedFile.h"

#include "common/Error.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace tilewright;

std::shared_ptr<const MappedFile> MappedFile::open(const std::filesystem::path &path) {
  std::string name = path.string();
  // Without waiting for a writer, should it be a pipe.
  int fd = ::open(name.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0)
    throw Error(name + ": cannot be opened: " + std::strerror(errno));
  struct stat status;
  bool regular = fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
  if (!regular || status.st_size == 0) {
    close(fd);
    throw Error(name + (regular ? ": the file is empty" : ": is not a regular file"));
  }
  auto file = std::shared_ptr<MappedFile>(new MappedFile);
  file->size = static_cast<size_t>(status.st_size);
  void *at = mmap(nullptr, file->size, PROT_READ, MAP_PRIVATE, fd, 0);
  int error = errno;
  close(fd);
  if (at == MAP_FAILED)
    throw Error(name + ": cannot be mapped: " + std::strerror(error));
  file->data = static_cast<const char *>(at);
  file->mapped = true;
  file->displayName = name;
  file->directory = path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
  return file;
}

std::shared_ptr<const MappedFile> MappedFile::adopt(std::string bytes, std::string name) {
  if (bytes.empty())
    throw Error(name + ": the model is empty");
  auto file = std::shared_ptr<MappedFile>(new MappedFile);
  file->owned = std::move(bytes);
  file->data = file->owned.data();
  file->size = file->owned.size();
  file->displayName = std::move(name);
  return file;
}

MappedFile::~MappedFile() {
  if (mapped)
    munmap(const_cast<char *>(data), size);
}
