//===- StandardOutput.h - what was printed has arrived ----------*- C++ -*-===//

#ifndef TILEWRIGHT_COMMON_STANDARDOUTPUT_H
#define TILEWRIGHT_COMMON_STANDARDOUTPUT_H

#include "common/Error.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>

namespace tilewright {

/// For the end of a program: throws Error when something printed (by stdio or std::cout, which passes all on to it)
/// could not be written.
inline void flushStandardOutput() {
  errno = 0;
  if (std::fflush(stdout) != 0 || std::ferror(stdout))
    throw Error(std::string("standard output: cannot be written") +
                (errno ? std::string(": ") + std::strerror(errno) : ""));
}

} // namespace tilewright

#endif
