//===- LinkObject.cpp - relocatable objects to a shared object ------------===//

#include "backends/cpu/ObjectCode.h"
#include "common/Error.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdlib>

namespace tilewright::cpu {

static std::string findLinker(const std::string &asked) {
  if (!asked.empty())
    return asked;
  if (const char *variable = std::getenv("TILEWRIGHT_LLD"); variable && *variable)
    return variable;
  if (auto path = llvm::sys::findProgramByName("ld.lld", {TILEWRIGHT_LLVM_TOOLS_DIR}))
    return *path;
  for (const char *name : {"ld.lld-22", "ld.lld"})
    if (auto path = llvm::sys::findProgramByName(name))
      return *path;
  throw Error("host code: no ELF linker found (ld.lld); install lld-22 or set TILEWRIGHT_LLD to its path");
}

namespace {
/// A folder for the linker's files that goes away with this object.
struct TemporaryFolder {
  llvm::SmallString<128> path;
  TemporaryFolder() {
    if (std::error_code error = llvm::sys::fs::createUniqueDirectory("tilewright", path))
      throw Error("host code: cannot create a temporary folder: " + error.message());
  }
  ~TemporaryFolder() { llvm::sys::fs::remove_directories(path); }
  std::string file(const llvm::Twine &name) const { return (path + "/" + name).str(); }
};
} // namespace

static void run(const std::string &program, llvm::ArrayRef<std::string> arguments, const TemporaryFolder &folder) {
  std::string log = folder.file("log");
  std::optional<llvm::StringRef> redirects[] = {llvm::StringRef(""), llvm::StringRef(log), llvm::StringRef(log)};
  llvm::SmallVector<llvm::StringRef> argv{program};
  argv.append(arguments.begin(), arguments.end());
  std::string message;
  int status = llvm::sys::ExecuteAndWait(program, argv, std::nullopt, redirects, 0, 0, &message);
  if (status == 0)
    return;
  if (auto text = llvm::MemoryBuffer::getFile(log))
    message += (*text)->getBuffer().take_front(2000).str();
  throw Error("host code: " + program + " failed: " + message);
}

static void write(const std::string &path, llvm::StringRef bytes) {
  std::error_code error;
  llvm::raw_fd_ostream stream(path, error);
  stream << bytes;
  stream.close();
  if (error || stream.has_error())
    throw Error("host code: cannot write " + path);
}

std::vector<char> linkSharedObject(llvm::ArrayRef<std::vector<char>> objects, const std::string &linker) {
  std::string program = findLinker(linker);
  TemporaryFolder folder;
  std::vector<std::string> arguments{"-shared",         "-O1", "--gc-sections", "--hash-style=gnu",
                                     "--build-id=none", "-z",  "noexecstack"};
  auto finish = arguments;
  // A library of libm's name without symbols: the object records that it needs libm.so.6 on any machine, whichever
  // libm the compiling machine has.
  std::string libm = folder.file("libm.so.6"), output = folder.file("host.so");
  std::string empty = folder.file("empty.a");
  write(empty, "!<arch>\n");
  run(program, {"-shared", "-soname", "libm.so.6", "-m", "elf_x86_64", "-o", libm, empty}, folder);
  for (auto [i, object] : llvm::enumerate(objects)) {
    std::string path = folder.file(llvm::Twine(i) + ".o");
    write(path, {object.data(), object.size()});
    finish.push_back(path);
  }
  finish.insert(finish.end(), {libm, "-o", output});
  run(program, finish, folder);
  auto bytes = llvm::MemoryBuffer::getFile(output, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!bytes)
    throw Error("host code: the linker wrote nothing");
  llvm::StringRef data = (*bytes)->getBuffer();
  return std::vector<char>(data.begin(), data.end());
}

} // namespace tilewright::cpu
