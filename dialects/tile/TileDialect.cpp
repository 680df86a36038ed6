//===- TileDialect.cpp - the tile dialect: registration, attributes -------===//

#include "dialects/tile/TileDialect.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tilewright::tile;

#include "dialects/tile/TileDialect.cpp.inc"
#include "dialects/tile/TileEnums.cpp.inc"
#include "dialects/tile/TileInterfaces.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "dialects/tile/TileAttributes.cpp.inc"

#define GET_OP_CLASSES
#include "dialects/tile/TileOps.cpp.inc"

void TileDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/tile/TileAttributes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialects/tile/TileOps.cpp.inc"
      >();
}

LogicalResult TilingAttr::verify(function_ref<InFlightDiagnostic()> emitError, ArrayRef<int64_t> sizes,
                                 ArrayRef<int64_t> reduction, ArrayRef<LoopDim> order, StringAttr, WeightsPolicy) {
  if (sizes.size() != 5)
    return emitError() << "tiling has " << sizes.size() << " sizes; it has 5: batch, group, channels, height, width";
  for (int64_t size : sizes)
    if (size < 1)
      return emitError() << "tile size " << size << " is not positive";
  for (int64_t size : reduction)
    if (size < 1)
      return emitError() << "reduction tile size " << size << " is not positive";
  for (auto [i, dim] : llvm::enumerate(order))
    if (llvm::is_contained(order.take_front(i), dim))
      return emitError() << "tiling lists the loop '" << stringifyLoopDim(dim) << "' twice";
  return success();
}
