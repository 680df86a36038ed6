//===- CpuBackendTest.cpp - the CPU back end's interface ------------------===//

#include "backends/cpu/CpuBackend.h"
#include "common/Error.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

#include <cstring>

using namespace mlir;
using namespace tilewright;
using namespace tilewright::cpu;

namespace {

class CpuBackend : public testing::Test {
protected:
  CpuBackend() { context.loadDialect<onnx::OnnxDialect, func::FuncDialect>(); }

  func::FuncOp parse(const std::string &text) {
    module = parseSourceString<ModuleOp>(text, &context);
    return module->lookupSymbol<func::FuncOp>("main");
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};

const char *kTwoConvs = R"(
func.func @main(%x: tensor<1x2x8x8xf32>, %v: tensor<2x2x3x3xf32>, %w: tensor<2x2x3x3xf32>) -> tensor<1x128xf32> {
  %a = onnx.node "Conv" since 11 (%x, %v) {pads = [1, 1, 1, 1]}
    : (tensor<1x2x8x8xf32>, tensor<2x2x3x3xf32>) -> tensor<1x2x8x8xf32> loc("first")
  %b = onnx.node "Relu" since 14 (%a) : (tensor<1x2x8x8xf32>) -> tensor<1x2x8x8xf32> loc("relu")
  %c = onnx.node "Conv" since 11 (%b, %w) {pads = [1, 1, 1, 1]}
    : (tensor<1x2x8x8xf32>, tensor<2x2x3x3xf32>) -> tensor<1x2x8x8xf32> loc("second")
  %d = onnx.node "Relu" since 14 (%c) : (tensor<1x2x8x8xf32>) -> tensor<1x2x8x8xf32>
  %e = onnx.node "Flatten" since 13 (%d) : (tensor<1x2x8x8xf32>) -> tensor<1x128xf32> loc("flatten")
  return %e : tensor<1x128xf32>
})";

TEST_F(CpuBackend, EqualGroupsShareCode) {
  func::FuncOp function = parse(kTwoConvs);
  std::vector<HostGroup> groups = formHostGroups(function);
  ASSERT_EQ(groups.size(), 3u);
  EXPECT_EQ(groups[0].nodes.size(), 2u);
  FailureOr<HostCode> code = compileHostGroups(groups);
  ASSERT_TRUE(succeeded(code));
  ASSERT_EQ(code->kernels.size(), 3u);
  const HostKernel &first = code->kernels[0], &second = code->kernels[1], &flatten = code->kernels[2];
  EXPECT_EQ(first.symbol, second.symbol);
  EXPECT_EQ(first.nodeNames, (std::vector<std::string>{"first", "relu"}));
  // Same code, other tensors.
  EXPECT_EQ(first.inputs[1], function.getArgument(1));
  EXPECT_EQ(second.inputs[1], function.getArgument(2));
  EXPECT_EQ(second.inputs[0], first.outputs[0]);
  // The padded image, 2 x 10 x 10.
  EXPECT_GE(first.scratchBytes, 2 * 10 * 10 * 4);
  EXPECT_EQ(first.scratchBytes % 64, 0);
  EXPECT_FALSE(first.isCopy);
  EXPECT_TRUE(flatten.isCopy);
  EXPECT_EQ(std::memcmp(code->sharedObject.data(), "\177ELF", 4), 0);
}

TEST_F(CpuBackend, KeptValuesEndGroups) {
  func::FuncOp function = parse(kTwoConvs);
  Operation *conv = &*llvm::find_if(function.getBody().front(), [](Operation &op) { return isa<onnx::NodeOp>(op); });
  std::vector<HostGroup> groups = formHostGroups(function, {conv->getResult(0)});
  ASSERT_EQ(groups.size(), 4u);
  EXPECT_EQ(groups[0].nodes.size(), 1u);
}

TEST_F(CpuBackend, NamesTheFeaturesItNeeds) {
  FailureOr<HostCode> code = compileHostGroups(formHostGroups(parse(kTwoConvs)));
  ASSERT_TRUE(succeeded(code));
  std::string features = "," + code->cpuFeatures + ",";
  for (const char *feature : {",avx2,", ",fma,", ",f16c,"})
    EXPECT_NE(features.find(feature), std::string::npos) << features;
  EXPECT_EQ(features.find(",avx512f,"), std::string::npos) << features;
  HostOptions options;
  options.cpu = "pentium-from-the-future";
  EXPECT_THROW((void)compileHostGroups(formHostGroups(module->lookupSymbol<func::FuncOp>("main")), options), Error);
}

TEST_F(CpuBackend, SaysWhyNot) {
  func::FuncOp function = parse(R"(
func.func @main(%x: tensor<1x3xf32>, %k: tensor<1xi64>) -> tensor<1x2xf32> {
  %y, %i = onnx.node "Slice" since 13 (%x, %k, %k) : (tensor<1x3xf32>, tensor<1xi64>, tensor<1xi64>) -> (tensor<1x2xf32>, none)
  return %y : tensor<1x2xf32>
})");
  auto node = cast<onnx::NodeOp>(function.getBody().front().front());
  EXPECT_EQ(whyNotOnHost(node), "Slice(13): starts must be known at compile time");
}

TEST_F(CpuBackend, ReportsAMissingLinker) {
  HostOptions options;
  options.linker = "/nowhere/ld.lld";
  EXPECT_THROW((void)compileHostGroups(formHostGroups(parse(kTwoConvs)), options), Error);
}

} // namespace
