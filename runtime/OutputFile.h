//===- OutputFile.h - files that are complete or not there ------*- C++ -*-===//

#ifndef TILEWRIGHT_RUNTIME_OUTPUTFILE_H
#define TILEWRIGHT_RUNTIME_OUTPUTFILE_H

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

namespace tilewright::runtime {

/// Written beside `target` and renamed by commit(); removed if that is never called. Throws Error when it cannot be
/// written.
class OutputFile {
public:
  explicit OutputFile(const std::string &target);
  ~OutputFile();
  OutputFile(const OutputFile &) = delete;
  OutputFile &operator=(const OutputFile &) = delete;

  void write(const void *bytes, size_t size);
  /// Overwrites bytes written before.
  void patch(uint64_t offset, const void *bytes, size_t size);
  void commit();

private:
  [[noreturn]] void fail();

  std::string target, name;
  std::FILE *file = nullptr;
};

/// All at once.
void writeFile(const std::string &path, std::string_view bytes);

} // namespace tilewright::runtime

#endif
