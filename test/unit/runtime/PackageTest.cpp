//===- PackageTest.cpp - what is written is read; nothing else is ---------===//

#include "common/Error.h"
#include "runtime/PackageFile.h"
#include "runtime/PackageWriter.h"
#include "runtime/Tensor.h"

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <unistd.h>

using namespace tilewright;
using namespace tilewright::runtime;
namespace fs = std::filesystem;

namespace {

class PackageTest : public testing::Test {
protected:
  void SetUp() override {
    folder = fs::temp_directory_path() / ("tilewright-package-test-" + std::to_string(getpid()));
    fs::create_directories(folder);
    path = folder / "net.twp";
  }
  void TearDown() override { fs::remove_all(folder); }

  static std::vector<std::byte> bytes(size_t count, int seed) {
    std::vector<std::byte> result(count);
    for (size_t i = 0; i < count; ++i)
      result[i] = std::byte((i * 31 + seed) & 0xff);
    return result;
  }

  /// One input, one output, one copy between them.
  static void describe(PackageWriter &writer) {
    package::PackageT &tables = writer.tables;
    tables.model_name = "net";
    tables.target = "cpu";
    tables.compiler_version = "test";
    for (auto *list : {&tables.inputs, &tables.outputs}) {
      auto tensor = std::make_unique<package::TensorT>();
      tensor->name = "x";
      tensor->type = ElementType::U8;
      tensor->sizes = {2, 3};
      list->push_back(std::move(tensor));
    }
    auto plan = std::make_unique<package::PlanT>();
    for (auto *list : {&plan->input_shapes, &plan->output_shapes}) {
      auto shape = std::make_unique<package::ShapeT>();
      shape->sizes = {2, 3};
      list->push_back(std::move(shape));
    }
    for (auto storage : {package::Storage::Input, package::Storage::Output}) {
      auto buffer = std::make_unique<package::BufferT>();
      buffer->storage = storage;
      buffer->type = ElementType::U8;
      buffer->shape = {2, 3};
      buffer->bytes = 6;
      plan->buffers.push_back(std::move(buffer));
    }
    auto step = std::make_unique<package::StepT>();
    package::CopyT copy;
    copy.kind = package::CopyKind::Bytes;
    copy.source = 0;
    copy.target = 1;
    step->action.Set(std::move(copy));
    plan->steps.push_back(std::move(step));
    tables.plans.push_back(std::move(plan));
  }

  static std::string message(const std::string &path) {
    try {
      PackageFile::open(path);
    } catch (const Error &error) {
      return error.what();
    }
    return "";
  }

  std::string read() const {
    std::ifstream file(path, std::ios::binary);
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
  }
  void overwrite(const std::string &content) const { std::ofstream(path, std::ios::binary) << content; }

  fs::path folder, path;
};

TEST_F(PackageTest, KeepsTablesAndSegments) {
  PackageWriter writer;
  describe(writer);
  std::vector<std::byte> kept = bytes(1000, 1);
  uint32_t first = writer.addSegment(std::span<const std::byte>(kept));
  uint32_t second = writer.addSegment(bytes(77, 2));
  EXPECT_EQ(writer.addSegment(bytes(1000, 1)), first) << "equal bytes are stored once";
  writer.write(path);

  auto file = PackageFile::open(path);
  EXPECT_EQ(file->tables().model_name()->str(), "net");
  ASSERT_EQ(file->tables().segments()->size(), 2u);
  EXPECT_EQ(std::memcmp(file->segment(first).data(), kept.data(), kept.size()), 0);
  EXPECT_EQ(file->segment(second).size(), 77u);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(file->segment(second).data()) % 64, 0u);
}

TEST_F(PackageTest, EveryChangedByteIsFound) {
  PackageWriter writer;
  describe(writer);
  writer.addSegment(bytes(100, 3));
  writer.write(path);
  std::string good = read();
  for (size_t i = 0; i < good.size(); ++i) {
    std::string bad = good;
    bad[i] = static_cast<char>(bad[i] ^ (1 << (i % 8)));
    overwrite(bad);
    ASSERT_NE(message(path), "") << "byte " << i;
  }
  overwrite(good);
  EXPECT_EQ(message(path), "");
}

TEST_F(PackageTest, EveryShorterFileIsRefused) {
  PackageWriter writer;
  describe(writer);
  writer.write(path);
  std::string good = read();
  for (size_t size = 0; size < good.size(); ++size) {
    overwrite(good.substr(0, size));
    ASSERT_NE(message(path), "") << size << " bytes";
  }
  overwrite(good.substr(0, good.size() - 1));
  EXPECT_NE(message(path).find("cut short"), std::string::npos);
  overwrite(good + "x");
  EXPECT_NE(message(path).find("damaged"), std::string::npos);
}

TEST_F(PackageTest, OtherFilesAreRefused) {
  EXPECT_NE(message(path).find("No such file"), std::string::npos);
  EXPECT_NE(message(folder).find("not a file"), std::string::npos);
  overwrite(std::string(5000, 'x'));
  EXPECT_NE(message(path).find("not a Tilewright package"), std::string::npos);
}

TEST_F(PackageTest, WritingReplacesWholeFilesOnly) {
  overwrite("before");
  PackageWriter broken;
  describe(broken);
  broken.tables.plans[0]->buffers[1]->bytes = 5;
  EXPECT_THROW(broken.write(path), std::logic_error);
  EXPECT_EQ(read(), "before");

  PackageWriter writer;
  describe(writer);
  EXPECT_THROW(writer.write(folder / "nowhere" / "net.twp"), Error);
  writer.write(path);
  EXPECT_EQ(message(path), "");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder), fs::directory_iterator()), 1) << "no temporary file is left";
}

TEST_F(PackageTest, TablesThatDoNotFitTogetherAreFound) {
  auto problem = [&](auto change) {
    PackageWriter writer;
    describe(writer);
    change(writer.tables);
    try {
      writer.write(path);
    } catch (const std::logic_error &error) {
      return std::string(error.what());
    }
    return std::string();
  };
  using package::PackageT;
  EXPECT_NE(problem([](PackageT &p) { p.plans[0]->steps[0]->action.AsCopy()->target = 2; }).find("names no buffer"),
            std::string::npos);
  EXPECT_NE(problem([](PackageT &p) { p.plans[0]->buffers[0]->storage = package::Storage::Arena; }).find("arena"),
            std::string::npos);
  EXPECT_NE(problem([](PackageT &p) { p.plans[0]->steps[0]->layer = 3; }).find("names no layer"), std::string::npos);
  EXPECT_NE(problem([](PackageT &p) {
              package::CopyT *copy = p.plans[0]->steps[0]->action.AsCopy();
              copy->kind = package::CopyKind::ToDevice;
              copy->layout = package::DramLayout::Blocked;
              copy->view = std::make_unique<package::MapView>(1, 3, 1, 2, 6, 1, 3, 3);
            }).find("larger than its buffers"),
            std::string::npos);
}

} // namespace
