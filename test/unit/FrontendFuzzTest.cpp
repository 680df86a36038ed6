//===- FrontendFuzzTest.cpp - damaged models ------------------------------===//
//
// Whatever the bytes are, reading, importing and the passes up to lowering end with a module or with one message: no
// crash, no hang, no allocation out of proportion. TILEWRIGHT_FUZZ_COUNT sets how many models are tried,
// TILEWRIGHT_FUZZ_SEED which, TILEWRIGHT_FUZZ_MODEL a file to damage instead of the built-in model.
//
//===----------------------------------------------------------------------===//

#include "common/Error.h"
#include "dialects/onnx/OnnxDialect.h"
#include "frontend/OnnxImporter.h"
#include "frontend/OnnxReader.h"
#include "frontend/OnnxWriter.h"
#include "passes/OnnxPipeline.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <random>
#include <sys/resource.h>

using namespace mlir;
using namespace tilewright;
using onnxfile::DataType;
using onnxfile::Writer;

static uint64_t setting(const char *name, uint64_t byDefault) {
  const char *text = std::getenv(name);
  return text ? std::strtoull(text, nullptr, 10) : byDefault;
}

template <typename T> static std::string_view bytesOf(const std::vector<T> &values) {
  return {reinterpret_cast<const char *>(values.data()), values.size() * sizeof(T)};
}

/// A network with a bit of everything: convolution, quantization, shape arithmetic, attributes of all kinds.
static std::string seedModel() {
  Writer writer;
  writer.input("x", DataType::Float, {std::string("N"), 3, 8, 8});
  std::vector<float> weights(4 * 3 * 3 * 3, 0.5f), scale{0.25f}, half{0.5f};
  std::vector<uint8_t> zero{128};
  std::vector<int64_t> first{0}, axis{0}, rest{-1}, starts{1}, ends{1 << 30}, repeats{1, 2};
  weights[5] = 1;
  writer.initializer("w", {DataType::Float, {4, 3, 3, 3}, bytesOf(weights)});
  writer.initializer("s", {DataType::Float, {}, bytesOf(scale)});
  writer.initializer("z", {DataType::UInt8, {}, bytesOf(zero)});
  writer.initializer("half", {DataType::Float, {1}, bytesOf(half)});
  writer.initializer("first", {DataType::Int64, {}, bytesOf(first)});
  writer.initializer("axis", {DataType::Int64, {1}, bytesOf(axis)});
  writer.initializer("rest", {DataType::Int64, {1}, bytesOf(rest)});
  writer.initializer("starts", {DataType::Int64, {1}, bytesOf(starts)});
  writer.initializer("ends", {DataType::Int64, {1}, bytesOf(ends)});
  writer.initializer("repeats", {DataType::Int64, {2}, bytesOf(repeats)});
  writer.node("QuantizeLinear", {"x", "s", "z"}, {"q"}, {}, "quantize");
  writer.node("DequantizeLinear", {"q", "s", "z"}, {"d"}, {}, "dequantize");
  writer.node("Conv", {"d", "w"}, {"c"},
              {{"auto_pad", std::string("SAME_UPPER")}, {"strides", std::vector<int64_t>{2, 2}}, {"group", int64_t(1)}},
              "conv");
  writer.node("LeakyRelu", {"c"}, {"r"}, {{"alpha", 0.1f}}, "leaky");
  writer.node("AveragePool", {"r"}, {"p"},
              {{"kernel_shape", std::vector<int64_t>{3, 3}},
               {"ceil_mode", int64_t(1)},
               {"pads", std::vector<int64_t>{1, 1, 1, 1}}},
              "pool");
  writer.node("Shape", {"p"}, {"shape"});
  writer.node("Gather", {"shape", "first"}, {"n"}, {{"axis", int64_t(0)}});
  writer.node("Unsqueeze", {"n", "axis"}, {"n1"});
  writer.node("Concat", {"n1", "rest"}, {"target"}, {{"axis", int64_t(0)}});
  writer.node("Reshape", {"p", "target"}, {"flat"});
  writer.node("Slice", {"flat", "starts", "ends", "starts"}, {"cut"});
  writer.node("Tile", {"cut", "repeats"}, {"tiled"});
  writer.node("Clip", {"tiled", "", "half"}, {"y"}, {}, "clip");
  writer.output("y", DataType::Float, {std::string("N"), std::string("M")});
  return writer.finish("fuzz", {{"", 17}}, 8);
}

enum class Outcome { Accepted, Refused };

/// Everything up to lowering.
static Outcome compile(MLIRContext &context, std::string bytes, std::string *message = nullptr) {
  try {
    int errors = 0;
    ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
      if (diagnostic.getSeverity() == DiagnosticSeverity::Error) {
        ++errors;
        if (message)
          *message = diagnostic.str();
      }
      return success();
    });
    OwningOpRef<ModuleOp> module = importOnnx(context, MappedFile::adopt(std::move(bytes), "model"));
    PassManager manager(&context);
    manager.enableVerifier(true);
    buildOnnxPipeline(manager);
    if (succeeded(manager.run(*module)))
      return Outcome::Accepted;
    EXPECT_GT(errors, 0) << "refused without a message";
    return Outcome::Refused;
  } catch (const Error &error) {
    if (message)
      *message = error.what();
    EXPECT_NE(std::string(error.what()), "");
    return Outcome::Refused;
  }
}

static void mutate(std::string &bytes, std::mt19937_64 &random) {
  auto below = [&](size_t limit) { return static_cast<size_t>(random() % std::max<size_t>(limit, 1)); };
  for (size_t i = 0, changes = 1 + below(3); i < changes && !bytes.empty(); ++i)
    switch (below(9)) {
    default: // one bit, which damages the least
      bytes[below(bytes.size())] ^= static_cast<char>(1 << below(8));
      break;
    case 1: // one byte
      bytes[below(bytes.size())] = static_cast<char>(random());
      break;
    case 2: // cut short
      bytes.resize(bytes.size() - below(bytes.size() / 4));
      break;
    case 3: { // a piece somewhere else
      std::string piece = bytes.substr(below(bytes.size()), 1 + below(40));
      bytes.insert(below(bytes.size()), piece);
      break;
    }
    case 4: // a piece missing
      bytes.erase(below(bytes.size()), 1 + below(20));
      break;
    case 0: { // a large number: sizes, dimensions, counts
      std::string number(9, '\xff');
      number += '\x01';
      bytes.replace(below(bytes.size()), 1, number.substr(0, 1 + below(10)));
      break;
    }
    }
}

TEST(FrontendFuzz, TheSeedModelCompiles) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  std::string message;
  EXPECT_EQ(compile(context, seedModel(), &message), Outcome::Accepted) << message;
}

TEST(FrontendFuzz, DamagedModelsAreCompiledOrRefused) {
  // Far above what these models need, far below what a hostile size field asks for.
  rlimit limit{};
  getrlimit(RLIMIT_AS, &limit);
  rlimit low = limit;
  low.rlim_cur = rlim_t(8) << 30;
  setrlimit(RLIMIT_AS, &low);
  const uint64_t seed = setting("TILEWRIGHT_FUZZ_SEED", 1), count = setting("TILEWRIGHT_FUZZ_COUNT", 20000);
  std::string good = seedModel();
  if (const char *path = std::getenv("TILEWRIGHT_FUZZ_MODEL"))
    good = MappedFile::open(path)->bytes();
  std::mt19937_64 random(seed);
  uint64_t accepted = 0, refused = 0;
  auto context = std::make_unique<MLIRContext>(MLIRContext::Threading::DISABLED);
  for (uint64_t i = 0; i < count; ++i) {
    SCOPED_TRACE("model " + std::to_string(i) + " of seed " + std::to_string(seed));
    if (i % 200 == 0) // attributes live as long as their context
      context = std::make_unique<MLIRContext>(MLIRContext::Threading::DISABLED);
    std::string bytes = good;
    mutate(bytes, random);
    if (bytes.empty())
      continue;
    auto start = std::chrono::steady_clock::now();
    (compile(*context, bytes) == Outcome::Accepted ? accepted : refused) += 1;
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10));
  }
  setrlimit(RLIMIT_AS, &limit);
  std::printf("seed %llu: %llu compiled, %llu refused\n", static_cast<unsigned long long>(seed),
              static_cast<unsigned long long>(accepted), static_cast<unsigned long long>(refused));
  EXPECT_GT(accepted, count / 50);
  EXPECT_GT(refused, count / 4);
}

TEST(FrontendFuzz, EveryTruncationIsRefused) {
  // A message may end anywhere between two fields, so a shorter file can be well-formed; without its opset imports,
  // which come last, or without all its nodes it is still no model.
  const std::string good = seedModel();
  MLIRContext context(MLIRContext::Threading::DISABLED);
  for (size_t size = 1; size < good.size(); size += 1 + size / 64)
    EXPECT_EQ(compile(context, good.substr(0, size)), Outcome::Refused) << "cut to " << size << " bytes";
}

TEST(FrontendFuzz, RandomBytesAreRefused) {
  std::mt19937_64 random(7);
  MLIRContext context(MLIRContext::Threading::DISABLED);
  for (int i = 0; i < 500; ++i) {
    std::string bytes(1 + random() % 300, '\0');
    for (char &byte : bytes)
      byte = static_cast<char>(random());
    EXPECT_EQ(compile(context, bytes), Outcome::Refused);
  }
}

TEST(FrontendFuzz, DeepNestingIsRefused) {
  // A graph in an attribute of a node of a graph ... : field 1 (node), 5 (attribute), 6 (graph).
  std::string graph;
  auto wrap = [](char tag, const std::string &body) {
    std::string out(1, tag);
    for (size_t size = body.size();; size >>= 7) {
      out += static_cast<char>((size & 127) | (size > 127 ? 128 : 0));
      if (size <= 127)
        break;
    }
    return out + body;
  };
  for (int i = 0; i < 3000; ++i)
    graph = wrap(0x0a, wrap(0x2a, wrap(0x32, graph)));
  MLIRContext context(MLIRContext::Threading::DISABLED);
  std::string message;
  EXPECT_EQ(compile(context, wrap(0x3a, graph), &message), Outcome::Refused);
  EXPECT_NE(message.find("nested"), std::string::npos) << message;
}
