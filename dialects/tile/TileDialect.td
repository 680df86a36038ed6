//===- TileDialect.td - the tile dialect ----------------------------------===//

#ifndef TILEWRIGHT_DIALECTS_TILE_DIALECT
#define TILEWRIGHT_DIALECTS_TILE_DIALECT

include "mlir/IR/OpBase.td"

def Tile_Dialect : Dialect {
  let name = "tile";
  let cppNamespace = "::tilewright::tile";
  let summary = "Fused layers over batch x group x (channels, height, width), with their tiling and placement";
  let useDefaultAttributePrinterParser = 1;
}

#endif
