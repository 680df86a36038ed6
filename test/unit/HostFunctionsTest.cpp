//===- HostFunctionsTest.cpp - accuracy of the host's own polynomials ------===//

#include "backends/cpu/HostRunner.h"

#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

#include <cmath>
#include <cstring>
#include <random>

using namespace mlir;
using namespace tilewright::cpu;

namespace {

/// op(x) for every x, compiled and run by the CPU back end.
std::vector<float> evaluate(const std::string &op, int version, const std::vector<float> &x) {
  MLIRContext context;
  context.loadDialect<tilewright::onnx::OnnxDialect, func::FuncDialect>();
  std::string type = "tensor<" + std::to_string(x.size()) + "xf32>";
  std::string text = "func.func @main(%x: " + type + ") -> " + type + " {\n%y = onnx.node \"" + op + "\" since " +
                     std::to_string(version) + " (%x) : (" + type + ") -> " + type + "\nreturn %y : " + type + "}\n";
  auto module = parseSourceString<ModuleOp>(text, &context);
  auto function = module->lookupSymbol<func::FuncOp>("main");
  HostRunner runner(function);
  runner.run({{reinterpret_cast<const char *>(x.data()), x.size() * sizeof(float)}});
  ArrayRef<char> bytes = runner.bytes(function.getBody().front().getTerminator()->getOperand(0));
  std::vector<float> y(x.size());
  std::memcpy(y.data(), bytes.data(), bytes.size());
  return y;
}

/// Distance in units of the last place of the exact value.
double ulps(float got, double exact) {
  if (std::isnan(exact))
    return std::isnan(got) ? 0 : INFINITY;
  if (static_cast<float>(exact) == got)
    return 0;
  int exponent;
  std::frexp(exact, &exponent);
  return std::abs(got - exact) / std::ldexp(1.0, std::max(exponent - 24, -149));
}

std::vector<float> samples(float low, float high) {
  std::mt19937 random(1);
  std::uniform_real_distribution<float> uniform(low, high), exponent(-30, 1);
  std::vector<float> x{0.0f, -0.0f, 1.0f, -1.0f, INFINITY, -INFINITY, NAN, 1e-40f, -1e-40f, 3e38f, -3e38f};
  for (int i = 0; i < 200000; ++i)
    x.push_back(uniform(random));
  for (int i = 0; i < 50000; ++i)
    x.push_back(std::copysign(std::exp2(exponent(random)), uniform(random)));
  return x;
}

double worst(const std::string &op, int version, double (*exact)(double), float low, float high) {
  std::vector<float> x = samples(low, high), y = evaluate(op, version, x);
  double most = 0;
  float at = 0;
  for (size_t i = 0; i < x.size(); ++i)
    if (double error = ulps(y[i], exact(x[i])); !(error <= most)) {
      most = error;
      at = x[i];
    }
  std::printf("%s: %.2f ulp at %g\n", op.c_str(), most, at);
  return most;
}

TEST(HostFunctions, Exp) {
  EXPECT_LE(worst("Exp", 13, [](double x) { return std::exp(x); }, -105, 90), 2);
}
TEST(HostFunctions, Erf) {
  EXPECT_LE(worst("Erf", 13, [](double x) { return std::erf(x); }, -5, 5), 3);
}
TEST(HostFunctions, Tanh) {
  EXPECT_LE(worst("Tanh", 13, [](double x) { return std::tanh(x); }, -10, 10), 3);
}
TEST(HostFunctions, Sigmoid) {
  EXPECT_LE(worst("Sigmoid", 13, [](double x) { return 1 / (1 + std::exp(-x)); }, -105, 40), 4);
}
TEST(HostFunctions, LogIsLibm) {
  EXPECT_LE(worst("Log", 13, [](double x) { return std::log(x); }, 0, 100), 1);
}

} // namespace
