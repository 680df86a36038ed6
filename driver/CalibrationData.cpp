//===- CalibrationData.cpp - samples to run a model on --------------------===//

#include "driver/CalibrationData.h"

#include "common/Error.h"
#include "driver/PlanBuilder.h"
#include "driver/Specialisation.h"
#include "runtime/NumpyFile.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <random>

using namespace mlir;
using namespace tilewright;
using runtime::ElementType;
using runtime::Shape;
using runtime::Tensor;

/// Enough to see each channel of a random network in motion.
static constexpr size_t kRandomSamples = 4;

CalibrationData::CalibrationData(const std::string &source) : source(source) {
  static constexpr std::string_view kRandom = "random:";
  if (source.starts_with(kRandom)) {
    const char *first = source.data() + kRandom.size(), *last = source.data() + source.size();
    auto [end, error] = std::from_chars(first, last, seed);
    if (error != std::errc() || end != last)
      throw Error("--calibration=" + source + ": expected random:SEED with a number");
    random = true;
    return;
  }
  std::vector<std::filesystem::path> paths;
  if (std::filesystem::is_directory(source)) {
    for (const auto &entry : std::filesystem::directory_iterator(source))
      if (entry.path().extension() == ".npz" || entry.path().extension() == ".npy")
        paths.push_back(entry.path());
    std::sort(paths.begin(), paths.end());
    if (paths.empty())
      throw Error("--calibration=" + source + ": the folder has neither .npz nor .npy files");
  } else {
    paths.push_back(source);
  }
  for (const std::filesystem::path &path : paths) {
    File file;
    if (path.extension() == ".npz")
      file = runtime::readNpz(path);
    else if (path.extension() == ".npy")
      file.emplace("", runtime::readNpy(path));
    else
      throw Error("--calibration=" + source + ": expected a folder, an .npz, an .npy or random:SEED");
    fileNames.push_back(path.string());
    files.push_back(std::move(file));
  }
}

static RankedTensorType inputType(func::FuncOp main, unsigned input) {
  auto type = dyn_cast<RankedTensorType>(main.getArgumentTypes()[input]);
  if (!type)
    throw Error("--calibration: input '" + argumentName(main, input) + "' has no known rank");
  return type;
}

static Shape sizes(RankedTensorType type) {
  Shape result(type.getShape().begin(), type.getShape().end());
  std::replace(result.begin(), result.end(), ShapedType::kDynamic, int64_t(-1));
  return result;
}

const Tensor &CalibrationData::array(const File &file, func::FuncOp main, unsigned input) const {
  std::string name = argumentName(main, input);
  const std::string &path = fileNames[&file - files.data()];
  if (auto found = file.find(""); found != file.end()) {
    if (main.getNumArguments() != 1)
      throw Error(path + ": a .npy file can be calibration data for a model of one input only; this one has " +
                  std::to_string(main.getNumArguments()) + ": use .npz files with arrays named after them");
    return found->second;
  }
  auto found = file.find(name);
  if (found == file.end()) {
    std::string have;
    for (const auto &[key, value] : file)
      have += (have.empty() ? "'" : ", '") + key + "'";
    throw Error(path + ": no array for model input '" + name + "'" +
                (have.empty() ? "; the file is empty" : "; there are " + have));
  }
  return found->second;
}

/// Axes of `array` that are not part of a sample: 0 when the first axis is the model's own batch, 1 when it is one
/// more.
static std::optional<unsigned> sampleAxes(const Shape &array, RankedTensorType type) {
  for (unsigned extra : {0u, 1u}) {
    if (array.size() != static_cast<size_t>(type.getRank()) + extra)
      continue;
    bool fits = true;
    for (int64_t axis = 1 - extra; axis < type.getRank(); ++axis)
      fits &= type.isDynamicDim(axis) || type.getDimSize(axis) == array[axis + extra];
    if (fits)
      return extra;
  }
  return std::nullopt;
}

InputShapeMap CalibrationData::sampleShapes(func::FuncOp declared, const InputShapeMap &preferred) const {
  if (random)
    return preferred;
  InputShapeMap shapes;
  for (unsigned input = 0; input < declared.getNumArguments(); ++input) {
    const Tensor &tensor = array(files.front(), declared, input);
    RankedTensorType type = inputType(declared, input);
    std::optional<unsigned> extra = sampleAxes(tensor.shape, type);
    if (!extra)
      throw Error(fileNames.front() + ": the array for input '" + argumentName(declared, input) + "' has shape " +
                  runtime::shapeText(tensor.shape) + ", but the model takes " + runtime::shapeText(sizes(type)) +
                  " (samples along the first axis, or along one more)");
    std::vector<int64_t> &shape = shapes[argumentName(declared, input)];
    shape.assign(tensor.shape.begin() + *extra, tensor.shape.end());
    if (*extra == 0 && !shape.empty())
      shape[0] = type.isDynamicDim(0) ? 1 : type.getDimSize(0);
  }
  return shapes;
}

size_t CalibrationData::samplesIn(const File &file, func::FuncOp main) const {
  std::optional<size_t> samples;
  const std::string &path = fileNames[&file - files.data()];
  for (unsigned input = 0; input < main.getNumArguments(); ++input) {
    const Tensor &tensor = array(file, main, input);
    RankedTensorType type = inputType(main, input);
    std::optional<unsigned> extra = sampleAxes(tensor.shape, type);
    if (!extra)
      throw Error(path + ": the array for input '" + argumentName(main, input) + "' has shape " +
                  runtime::shapeText(tensor.shape) + "; samples are " + runtime::shapeText(sizes(type)) +
                  " as in the first file");
    size_t here = tensor.shape.empty() || (*extra == 0 && type.getRank() == 0)
                      ? 1
                      : tensor.shape[0] / (*extra ? 1 : std::max<int64_t>(type.getDimSize(0), 1));
    if (samples && *samples != here)
      throw Error(path + ": arrays of different numbers of samples, " + std::to_string(*samples) + " and " +
                  std::to_string(here));
    samples = here;
  }
  if (samples.value_or(0) == 0)
    throw Error(path + ": no sample in it; the model takes a batch of " +
                std::to_string(inputType(main, 0).getRank() ? inputType(main, 0).getDimSize(0) : 1));
  return *samples;
}

size_t CalibrationData::count(func::FuncOp main) const {
  if (random)
    return kRandomSamples;
  size_t total = 0;
  for (const File &file : files)
    total += samplesIn(file, main);
  return total;
}

/// The bytes at `from` as elements of `type`; only widths of floats are converted.
static std::vector<char> converted(const std::byte *from, ElementType given, RankedTensorType type,
                                   const std::string &what) {
  ElementType wanted = elementTypeOf(type.getElementType(), what);
  std::vector<char> bytes(type.getNumElements() * runtime::elementSize(wanted));
  if (given == wanted) {
    std::memcpy(bytes.data(), from, bytes.size());
  } else if (given == ElementType::F64 && wanted == ElementType::F32) {
    for (int64_t i = 0; i < type.getNumElements(); ++i) {
      float value = static_cast<float>(reinterpret_cast<const double *>(from)[i]);
      std::memcpy(bytes.data() + i * sizeof value, &value, sizeof value);
    }
  } else {
    throw Error(what + " has elements of type " + runtime::elementTypeName(given) + "; the model takes " +
                runtime::elementTypeName(wanted) + " (prepare samples as for running the model)");
  }
  return bytes;
}

std::vector<std::vector<char>> CalibrationData::sample(func::FuncOp main, size_t index) const {
  std::vector<std::vector<char>> result;
  if (random) {
    for (unsigned input = 0; input < main.getNumArguments(); ++input)
      result.push_back(randomValues(inputType(main, input), argumentName(main, input),
                                    seed + 1000003 * (index * main.getNumArguments() + input)));
    return result;
  }
  size_t file = 0;
  while (index >= samplesIn(files[file], main))
    index -= samplesIn(files[file++], main);
  for (unsigned input = 0; input < main.getNumArguments(); ++input) {
    const Tensor &tensor = array(files[file], main, input);
    RankedTensorType type = inputType(main, input);
    size_t bytes = type.getNumElements() * runtime::elementSize(tensor.type);
    result.push_back(converted(tensor.data.get() + index * bytes, tensor.type, type,
                               fileNames[file] + ": the array for input '" + argumentName(main, input) + "'"));
  }
  return result;
}

/// Normal numbers; for integers and bools, zeros and ones, which are valid indices of any table of two rows.
std::vector<char> CalibrationData::randomValues(RankedTensorType type, const std::string &name, uint64_t seed) const {
  std::mt19937_64 generator(seed);
  std::normal_distribution<float> normal;
  ElementType element = elementTypeOf(type.getElementType(), "'" + name + "'");
  size_t width = runtime::elementSize(element), count = type.getNumElements();
  std::vector<char> bytes(count * width);
  for (size_t i = 0; i < count; ++i) {
    if (element == ElementType::F32) {
      float value = normal(generator);
      std::memcpy(bytes.data() + i * width, &value, width);
    } else if (element == ElementType::F64) {
      double value = normal(generator);
      std::memcpy(bytes.data() + i * width, &value, width);
    } else if (type.getElementType().isIntOrIndex()) {
      bytes[i * width] = static_cast<char>(generator() & 1);
    }
  }
  return bytes;
}
