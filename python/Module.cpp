//===- Module.cpp - the compiler and the runtime for Python ---------------===//
//
// A thin layer: python/tilewright gives it its face. Inputs are read where numpy holds them, outputs are handed over
// with their memory. Compiling and running release the GIL.
//
//===----------------------------------------------------------------------===//

#include "common/Error.h"
#include "driver/Compiler.h"
#include "runtime/Model.h"

#include <pybind11/functional.h>
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

namespace py = pybind11;
using namespace tilewright;
using runtime::ElementType;

namespace {

/// numpy's name; bfloat16, which numpy does not have, passes as uint16.
std::string numpyName(ElementType type) {
  return type == ElementType::BF16 ? "uint16" : runtime::elementTypeName(type);
}

runtime::TensorView viewOf(const py::array &array, const std::string &name,
                           const std::vector<runtime::TensorInfo> &infos) {
  runtime::TensorView view;
  std::string dtype = py::str(py::dtype(array.dtype()).attr("name"));
  bool known = false;
  for (int i = 0; i <= static_cast<int>(ElementType::MAX); ++i)
    if (auto type = static_cast<ElementType>(i); numpyName(type) == dtype && type != ElementType::BF16) {
      view.type = type;
      known = true;
    }
  if (!known)
    throw Error("input '" + name + "' is an array of " + dtype + ", which no model takes");
  for (const runtime::TensorInfo &info : infos)
    if (info.name == name && info.type == ElementType::BF16 && dtype == "uint16")
      view.type = ElementType::BF16;
  view.shape.assign(array.shape(), array.shape() + array.ndim());
  view.data = array.data();
  return view;
}

/// Takes the tensor's memory over.
py::array toArray(runtime::Tensor tensor) {
  auto *owner = new runtime::Tensor(std::move(tensor));
  py::capsule capsule(owner, [](void *pointer) { delete static_cast<runtime::Tensor *>(pointer); });
  return py::array(py::dtype(numpyName(owner->type)), owner->shape, owner->data.get(), capsule);
}

std::function<void(const std::string &)> progressFunction(const py::object &callback) {
  if (callback.is_none())
    return nullptr;
  // The function is copied and dropped where the GIL is not held.
  std::shared_ptr<py::object> shared(new py::object(callback), [](py::object *object) {
    py::gil_scoped_acquire acquire;
    delete object;
  });
  return [shared](const std::string &line) {
    py::gil_scoped_acquire acquire;
    (*shared)(line);
  };
}

void setOption(CompileOptions &options, const std::string &word, const py::handle &value) {
  if (word == "target")
    options.target = py::cast<std::string>(value);
  else if (word == "config")
    options.config = py::cast<std::string>(value);
  else if (word == "quantize")
    options.quantize = py::cast<std::string>(value);
  else if (word == "calibration")
    options.calibration = py::cast<std::string>(value);
  else if (word == "calibration_range")
    options.calibrationRange = py::cast<std::string>(value);
  else if (word == "activations")
    options.activations = py::cast<std::string>(value);
  else if (word == "batch")
    options.batch = py::cast<int64_t>(value);
  else if (word == "input_shape")
    options.inputShapes = py::cast<std::vector<std::string>>(value);
  else if (word == "emit")
    options.emit = py::cast<std::string>(value);
  else if (word == "all_tensors")
    options.allTensors = py::cast<bool>(value);
  else if (word == "explain")
    options.explain = py::cast<bool>(value);
  else
    throw py::type_error("unknown option " + word);
}

CompileOptions compileOptions(const py::dict &words) {
  CompileOptions options;
  for (auto [key, value] : words) {
    std::string word = py::cast<std::string>(key);
    try {
      setOption(options, word, value);
    } catch (const py::cast_error &) {
      throw py::type_error("option " + word + " cannot be " + std::string(py::repr(value)));
    }
  }
  return options;
}

/// `source`: a path, or the bytes of a model, which `name` then stands for in messages.
py::tuple compile(const py::object &source, const std::string &name, const py::dict &words, const std::string &package,
                  const py::object &progress) {
  CompileOptions options = compileOptions(words);
  options.progress = progressFunction(progress);
  std::string notes;
  options.note = [&](const std::string &text) {
    notes += "note: " + text + "\n";
    if (options.progress)
      options.progress(text);
  };
  std::string bytes;
  bool inMemory = py::isinstance<py::bytes>(source);
  if (inMemory)
    bytes = py::cast<std::string>(source);
  CompileResult result;
  {
    py::gil_scoped_release release;
    options.validate();
    result =
        compileModel(inMemory ? MappedFile::adopt(std::move(bytes), name) : MappedFile::open(name), options, package);
  }
  return py::make_tuple(py::bytes(result.emitted), result.explanation + notes);
}

py::tuple run(runtime::Model &model, const std::map<std::string, py::array> &inputs, const std::string &executor,
              const std::string &wave, int64_t dramBytesPerCycle, bool check, const py::object &progress) {
  runtime::RunOptions options;
  options.check = check;
  options.executor = runtime::parseExecutor(executor);
  options.waveFile = wave;
  options.dramBytesPerCycle = dramBytesPerCycle;
  options.progress = progressFunction(progress);
  std::map<std::string, runtime::TensorView> views;
  for (const auto &[name, array] : inputs)
    views[name] = viewOf(array, name, model.inputs());
  runtime::RunResult result;
  {
    py::gil_scoped_release release;
    result = model.run(views, options);
  }
  py::dict outputs;
  for (size_t i = 0; i < result.outputs.size(); ++i)
    outputs[py::str(model.outputs()[i].name)] = toArray(std::move(result.outputs[i]));
  return py::make_tuple(outputs, result.report);
}

py::list describe(const std::vector<runtime::TensorInfo> &infos) {
  py::list list;
  for (const runtime::TensorInfo &info : infos) {
    py::list shape;
    for (size_t i = 0; i < info.sizes.size(); ++i) {
      if (info.sizes[i] >= 0)
        shape.append(info.sizes[i]);
      else
        shape.append(i < info.symbols.size() && !info.symbols[i].empty() ? info.symbols[i] : "?");
    }
    list.append(py::make_tuple(info.name, py::tuple(shape), numpyName(info.type), info.sqnrDb));
  }
  return list;
}

} // namespace

PYBIND11_MODULE(_core, module) {
  py::register_exception<Error>(module, "Error", PyExc_RuntimeError).doc() =
      "What is wrong with a model, a package, a configuration or an input, and what to do about it.";
  py::class_<runtime::Report>(module, "Report")
      .def("to_json", &runtime::Report::toJson)
      .def("to_csv", &runtime::Report::toCsv)
      .def("to_table", &runtime::Report::toTable);
  py::class_<runtime::Model, std::shared_ptr<runtime::Model>>(module, "Model")
      .def_static("load", &runtime::Model::load, py::arg("path"), py::arg("name") = "",
                  py::call_guard<py::gil_scoped_release>())
      .def("inputs", [](const runtime::Model &model) { return describe(model.inputs()); })
      .def("outputs", [](const runtime::Model &model) { return describe(model.outputs()); })
      .def("specialisations", &runtime::Model::specialisations)
      .def("programs",
           [](const runtime::Model &model) {
             py::list programs;
             for (const std::vector<uint8_t> &program : model.programs())
               programs.append(py::bytes(reinterpret_cast<const char *>(program.data()), program.size()));
             return programs;
           })
      .def("run", &run);
  module.def("compile", &compile);
  module.attr("__version__") = compilerVersion();
}
