//===- OutputFile.h - files that are complete or not there ------*- C++ -*-===//

#ifndef TILEWRIGHT_RUNTIME_OUTPUTFILE_H
#define TILEWRIGHT_RUNTIME_OUTPUTFILE_H

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

namespace tilewright::runtime {

inline constexpr char kStandardOutput[] = "-";

/// Appears at `target` as a whole with commit(), or not at all: written beside it and renamed, through a symbolic link
/// to what that means. What is no regular file (a device, a pipe) keeps its place and is written to by commit(), as is
/// standard output for the target kStandardOutput. Throws Error when it cannot be written.
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

  void copyToTarget();

  std::string target, name; // name: of the file beside it, empty when there is none
  std::FILE *file = nullptr;
};

/// All at once.
void writeFile(const std::string &path, std::string_view bytes);

} // namespace tilewright::runtime

#endif
