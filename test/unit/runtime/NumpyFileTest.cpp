// .npy and .npz files. The files here are made by hand; those that numpy writes are read in the calibration tests.

#include "runtime/NumpyFile.h"

#include "common/Error.h"

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <unistd.h>

using namespace tilewright;
using namespace tilewright::runtime;

namespace {

std::string npy(const std::string &dictionary, const std::string &elements) {
  std::string header = dictionary + "\n", length(2, '\0');
  length[0] = static_cast<char>(header.size());
  return std::string("\x93NUMPY\1\0", 8) + length + header + elements;
}

struct NumpyFile : testing::Test {
  std::filesystem::path path = std::filesystem::temp_directory_path() / ("numpy-file-test-" + std::to_string(getpid()));
  void write(const std::string &bytes) { std::ofstream(path, std::ios::binary) << bytes; }
  void TearDown() override { std::filesystem::remove(path); }
  std::string message(Tensor (*read)(const std::filesystem::path &)) {
    try {
      read(path);
    } catch (const Error &error) {
      return error.what();
    }
    return "no error";
  }
};

TEST_F(NumpyFile, WrittenIsRead) {
  Tensor tensor(ElementType::I16, {2, 3});
  for (int i = 0; i < 6; ++i)
    reinterpret_cast<int16_t *>(tensor.data.get())[i] = static_cast<int16_t>(i - 3);
  writeNpy(path, tensor.view());
  EXPECT_EQ(std::filesystem::file_size(path), 128 + 12u);
  Tensor read = readNpy(path);
  EXPECT_EQ(read.type, ElementType::I16);
  EXPECT_EQ(read.shape, (Shape{2, 3}));
  EXPECT_EQ(std::memcmp(read.data.get(), tensor.data.get(), 12), 0);
}

TEST_F(NumpyFile, FortranOrderBecomesRowMajor) {
  write(npy("{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3), }", "\1\4\2\5\3\6"));
  Tensor tensor = readNpy(path);
  EXPECT_EQ(std::memcmp(tensor.data.get(), "\1\2\3\4\5\6", 6), 0);
}

TEST_F(NumpyFile, ScalarsAndEmptyArrays) {
  write(npy("{'descr': '|b1', 'fortran_order': False, 'shape': (), }", "\1"));
  EXPECT_EQ(readNpy(path).shape, Shape{});
  write(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (0, 4), }", ""));
  EXPECT_EQ(readNpy(path).shape, (Shape{0, 4}));
}

TEST_F(NumpyFile, Refusals) {
  write("");
  EXPECT_NE(message(readNpy).find("is no .npy file"), std::string::npos);
  write(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }", "12345678"));
  EXPECT_NE(message(readNpy).find("is cut short: 3 float32 takes 12 bytes, there are 8"), std::string::npos);
  write(npy("{'descr': '>f4', 'fortran_order': False, 'shape': (1,), }", "1234"));
  EXPECT_NE(message(readNpy).find("arrays of type >f4 cannot be used"), std::string::npos);
  write(npy("{'descr': '<c8', 'fortran_order': False, 'shape': (1,), }", "12345678"));
  EXPECT_NE(message(readNpy).find("arrays of type <c8"), std::string::npos);
  write(npy("{'descr': '|O', 'fortran_order': False, 'shape': (1,), }", "12345678"));
  EXPECT_NE(message(readNpy).find("arrays of type |O"), std::string::npos);
  write(npy("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,), }", "1234"));
  EXPECT_NE(message(readNpy).find("cannot be used"), std::string::npos);
  write(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296, 4), }", "1234"));
  EXPECT_NE(message(readNpy).find("too large"), std::string::npos);
  write(npy("{'descr': '<f4', 'fortran_order': False, }", "1234"));
  EXPECT_NE(message(readNpy).find("no 'shape'"), std::string::npos);
  std::filesystem::remove(path);
  EXPECT_NE(message(readNpy).find("cannot be read"), std::string::npos);
}

/// One entry `x.npy`, stored, as numpy.savez writes it apart from dates and checksum.
std::string npz(const std::string &content) {
  auto word = [](uint64_t value, int bytes) { return std::string(reinterpret_cast<const char *>(&value), bytes); };
  std::string sizes = word(0, 4) + word(content.size(), 4) + word(content.size(), 4);
  std::string local = "PK\3\4" + word(20, 2) + word(0, 8) + sizes + word(5, 2) + word(0, 2) + "x.npy" + content;
  std::string central = "PK\1\2" + word(20, 4) + word(0, 8) + sizes + word(5, 2) + word(0, 16) + "x.npy";
  std::string end = "PK\5\6" + word(0, 4) + word(1, 2) + word(1, 2) + word(central.size(), 4) + word(local.size(), 4);
  return local + central + end + word(0, 2);
}

TEST_F(NumpyFile, ArchivesCutAnywhereAreRefused) {
  std::string content = npy("{'descr': '|u1', 'fortran_order': False, 'shape': (3,), }", "abc");
  std::string whole = npz(content);
  write(whole);
  auto arrays = readNpz(path);
  ASSERT_EQ(arrays.size(), 1u);
  EXPECT_EQ(std::memcmp(arrays.at("x").data.get(), "abc", 3), 0);
  for (size_t length = 0; length < whole.size(); ++length) {
    write(whole.substr(0, length));
    EXPECT_THROW(readNpz(path), Error) << length;
  }
  // A changed byte may change the array, never more than that.
  for (size_t at = 0; at < whole.size(); ++at) {
    std::string damaged = whole;
    damaged[at] ^= 0x41;
    write(damaged);
    try {
      readNpz(path);
    } catch (const Error &) {
    }
  }
}

} // namespace
