//===- PackageVerifier.h - do a package's tables fit together ---*- C++ -*-===//

#ifndef TILEWRIGHT_RUNTIME_PACKAGEVERIFIER_H
#define TILEWRIGHT_RUNTIME_PACKAGEVERIFIER_H

#include "runtime/package_generated.h"

#include <string>

namespace tilewright::runtime {

/// What is wrong with the tables of a package whose segments take `segmentsSize` bytes: an index out of range, a buffer
/// outside its memory, a copy larger than its buffers. "" when nothing is. The writer checks what it is about to write,
/// the loader what it has read, so that the executor need not.
std::string findPackageProblem(const package::Package &package, uint64_t segmentsSize);

} // namespace tilewright::runtime

#endif
