//===- Resources.h - where the files read at run time lie -------*- C++ -*-===//
//
// Array configurations, the RTL and what builds its simulator are files, in the source
// tree and, in the same order of folders, in share/tilewright of an installation.
//
//===----------------------------------------------------------------------===//

#ifndef TILEWRIGHT_CONFIG_RESOURCES_H
#define TILEWRIGHT_CONFIG_RESOURCES_H

#include <filesystem>

namespace tilewright {

/// The folder that has configs/ and sim/ in it: share/tilewright beside the program or Python module that this code is
/// part of, or beside the folder above it (bin/); else the source tree that it was built from. Whether the
/// latter still exists is not checked.
std::filesystem::path resourceFolder();

} // namespace tilewright

#endif
