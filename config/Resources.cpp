//===- Resources.cpp - where the files read at run time lie ---------------===//

#include "config/Resources.h"
#include <dlfcn.h>
#include <link.h>

namespace fs = std::filesystem;

namespace tilewright {
namespace {

/// The file that this code was loaded from: the program, or a shared object such as the Python module.
fs::path ownFile() {
  static const char anchor = 0;
  std::error_code ignored;
  Dl_info info{};
  link_map *map = nullptr;
  // The program itself has no name there.
  if (dladdr1(&anchor, &info, reinterpret_cast<void **>(&map), RTLD_DL_LINKMAP) && map && map->l_name && *map->l_name)
    return fs::canonical(map->l_name, ignored);
  return fs::read_symlink("/proc/self/exe", ignored);
}

fs::path findResourceFolder() {
  fs::path own = ownFile();
  std::error_code ignored;
  for (const fs::path &beside : {own.parent_path(), own.parent_path().parent_path()})
    if (fs::path folder = beside / "share" / "tilewright";
        !own.empty() && fs::is_directory(folder / "configs", ignored))
      return folder;
  return TILEWRIGHT_SOURCE_DIR;
}

} // namespace

fs::path resourceFolder() {
  static const fs::path folder = findResourceFolder();
  return folder;
}

} // namespace tilewright
