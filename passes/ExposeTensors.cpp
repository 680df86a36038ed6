//===- ExposeTensors.cpp - every 8-bit tensor as an output ----------------===//
//
// For comparing a network layer by layer: whoever runs the function, on whatever, can read each 8-bit tensor.
//
//===----------------------------------------------------------------------===//

#include "passes/Passes.h"

#include "dialects/onnx/NodeBuilder.h"
#include "dialects/tile/TileDialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringSet.h"

namespace tilewright {
#define GEN_PASS_DEF_EXPOSETENSORSPASS
#include "passes/Passes.h.inc"
} // namespace tilewright

using namespace mlir;
using namespace tilewright;

namespace {

struct ExposeTensorsPass final : tilewright::impl::ExposeTensorsPassBase<ExposeTensorsPass> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    llvm::StringSet<> taken;
    for (unsigned i = 0; i < function.getNumResults(); ++i)
      if (auto name = function.getResultAttrOfType<StringAttr>(i, onnx::kNameAttr))
        taken.insert(name.getValue());
    auto unique = [&](std::string name) {
      std::string candidate = name;
      for (int i = 1; !taken.insert(candidate).second; ++i)
        candidate = name + "_" + std::to_string(i);
      return candidate;
    };

    Operation *end = function.getBody().front().getTerminator();
    OpBuilder builder(end);
    auto expose = [&](Value value, const std::string &name) {
      auto attribute = builder.getNamedAttr(onnx::kNameAttr, builder.getStringAttr(name));
      if (failed(
              function.insertResult(function.getNumResults(), value.getType(), builder.getDictionaryAttr(attribute))))
        return signalPassFailure();
      end->insertOperands(end->getNumOperands(), value);
    };
    llvm::SetVector<Value> entering;
    for (auto toMap : function.getBody().getOps<tile::ToMapOp>())
      if (toMap.getTensor().getDefiningOp<onnx::NodeOp>())
        entering.insert(toMap.getTensor());
    for (Value tensor : entering)
      expose(tensor, unique(onnx::tensorName(tensor).str() + ":8bit"));
    SmallVector<tile::TileRootInterface> layers(function.getBody().getOps<tile::TileRootInterface>());
    for (tile::TileRootInterface layer : layers) {
      RankedTensorType type = layer.getResultType();
      if (type.getElementTypeBitWidth() != 8)
        continue;
      std::string name = unique(layer.getLayerName().str() + ":8bit");
      ArrayRef<int64_t> shape = type.getShape();
      int64_t strides[4] = {shape[1] * shape[2] * shape[3], shape[2] * shape[3], shape[3], 1};
      for (auto [stride, size] : llvm::zip_equal(strides, shape))
        stride = size == 1 ? 0 : stride;
      auto read = tile::FromMapOp::create(builder, layer->getLoc(), type, layer->getResult(0),
                                          builder.getDenseI64ArrayAttr(strides), tile::DramAttr());
      read->setAttr(onnx::kOutputNamesAttr, builder.getStrArrayAttr({name}));
      expose(read->getResult(0), name);
    }
  }
};

} // namespace
