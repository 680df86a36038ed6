/*===- HostAbi.h - the seam between compiled host kernels and the runtime ----===*
 *
 * Plain C: the CPU back end emits code against it, the runtime (which knows neither MLIR nor LLVM) calls that code.
 *
 * A package's host code is one x86-64 shared object. Each kernel is an exported symbol of type TwHostKernel for one set
 * of static shapes. The object needs libc and libm only.
 *
 * Buffers: one pointer per tensor, 64-byte aligned, dense and row-major in ONNX's layout (NCHW). f32, f64, f16, bf16,
 * i8..i64, ui8..ui64 in the machine's own form, bool one byte that is 0 or 1. Weights are ordinary inputs. A tensor
 * without elements may have any pointer. Outputs and scratch must not overlap each other or an input; two inputs may.
 * The scratch arena (HostKernel::scratchBytes, the last pointer; may be null when that is 0) needs no initial value.
 *
 * Threads: `parallel_for` runs body(arg, begin, end) over disjoint ranges that cover [0, count) and returns when all
 * are done. Kernels never call it from inside a body. Ranges are cheap when they are few: two to four per thread is
 * best. A body may use up to 2 MiB of stack.
 *
 *===------------------------------------------------------------------------===*/

#ifndef TILEWRIGHT_BACKENDS_CPU_HOSTABI_H
#define TILEWRIGHT_BACKENDS_CPU_HOSTABI_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct TwHostContext {
  void (*parallel_for)(void *pool, int64_t count, void (*body)(void *arg, int64_t begin, int64_t end), void *arg);
  void *pool;
} TwHostContext;

/* `buffers`: inputs, then outputs, then one scratch arena. */
typedef void (*TwHostKernel)(void *const *buffers, const TwHostContext *context);

#ifdef __cplusplus
}
#endif

#endif
