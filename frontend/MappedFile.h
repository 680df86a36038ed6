//===- MappedFile.h - a file's bytes, mapped read-only ----------*- C++ -*-===//
//
// Models are read in place: every name and weight is a view into one of these. Whoever keeps a view keeps the
// shared_ptr.
//
//===----------------------------------------------------------------------===//

#ifndef TILEWRIGHT_FRONTEND_MAPPEDFILE_H
#define TILEWRIGHT_FRONTEND_MAPPEDFILE_H

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

namespace tilewright {

class MappedFile {
public:
  /// Maps the regular file at `path`. Throws Error when it cannot be opened or is empty.
  static std::shared_ptr<const MappedFile> open(const std::filesystem::path &path);
  /// Takes bytes from memory, e.g. a serialized model; `name` stands for the file in messages.
  static std::shared_ptr<const MappedFile> adopt(std::string bytes, std::string name);

  std::string_view bytes() const { return {data, size}; }
  /// The path as it was given, or the name of adopted bytes.
  const std::string &name() const { return displayName; }
  /// The folder that external data is relative to; empty for adopted bytes.
  const std::filesystem::path &folder() const { return directory; }

  ~MappedFile();
  MappedFile(const MappedFile &) = delete;
  MappedFile &operator=(const MappedFile &) = delete;

private:
  MappedFile() = default;
  const char *data = nullptr;
  size_t size = 0;
  bool mapped = false;
  std::string owned;
  std::string displayName;
  std::filesystem::path directory;
};

} // namespace tilewright

#endif
