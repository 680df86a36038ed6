//===- OnnxSchema.cpp - what each ONNX operator may look like -------------===//

#include "frontend/OnnxSchema.h"

#include <string>

using namespace tilewright;

namespace {
struct RawSchema {
  const char *domain, *name;
  int sinceVersion, deprecated, minInputs, maxInputs, minOutputs, maxOutputs;
  const char *inputs, *outputs, *attributes, *types;
};
} // namespace

#include "frontend/OnnxSchemas.inc"

static std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
  }
  return parts;
}

static std::vector<OnnxSchema::Parameter> parameters(std::string_view text) {
  std::vector<OnnxSchema::Parameter> result;
  for (std::string_view part : split(text, ' ')) {
    auto kind = OnnxSchema::Parameter::Single;
    if (part.ends_with('?'))
      kind = OnnxSchema::Parameter::Optional;
    else if (part.ends_with('*'))
      kind = OnnxSchema::Parameter::Variadic;
    else if (part.ends_with("*!"))
      kind = OnnxSchema::Parameter::MixedVariadic;
    result.push_back({part.substr(0, part.find_first_of("?*")), kind});
  }
  return result;
}

static OnnxSchema parse(const RawSchema &raw) {
  OnnxSchema schema{raw.domain,
                    raw.name,
                    raw.sinceVersion,
                    raw.deprecated != 0,
                    raw.minInputs,
                    raw.maxInputs,
                    raw.minOutputs,
                    raw.maxOutputs,
                    parameters(raw.inputs),
                    parameters(raw.outputs),
                    {},
                    {}};
  for (std::string_view part : split(raw.attributes, ' ')) {
    size_t colon = part.find(':');
    schema.attributes.push_back({part.substr(0, colon), part[colon + 1], part.ends_with('!')});
  }
  for (std::string_view part : split(raw.types, ' ')) {
    size_t equals = part.find('=');
    schema.types[part.substr(0, equals)] = split(part.substr(equals + 1), ',');
  }
  return schema;
}

using Key = std::pair<std::string_view, std::string_view>;

static const std::map<Key, std::map<int64_t, OnnxSchema>> &table() {
  static const auto schemas = [] {
    std::map<Key, std::map<int64_t, OnnxSchema>> result;
    for (const RawSchema &raw : kSchemas)
      result[{raw.domain, raw.name}].emplace(raw.sinceVersion, parse(raw));
    return result;
  }();
  return schemas;
}

const OnnxSchema::Attribute *OnnxSchema::attribute(std::string_view wanted) const {
  for (const Attribute &attribute : attributes)
    if (attribute.name == wanted)
      return &attribute;
  return nullptr;
}

bool OnnxSchema::fits(size_t inputCount, size_t outputCount) const {
  auto within = [](size_t count, int64_t low, int64_t high) {
    return static_cast<int64_t>(count) >= low && (high < 0 || static_cast<int64_t>(count) <= high);
  };
  return within(inputCount, minInputs, maxInputs) && within(outputCount, minOutputs, maxOutputs);
}

static const OnnxSchema::Parameter *at(const std::vector<OnnxSchema::Parameter> &formals, size_t i) {
  if (i < formals.size())
    return &formals[i];
  if (!formals.empty() && formals.back().kind >= OnnxSchema::Parameter::Variadic)
    return &formals.back();
  return nullptr;
}

const OnnxSchema::Parameter *OnnxSchema::input(size_t i) const { return at(inputs, i); }
const OnnxSchema::Parameter *OnnxSchema::output(size_t i) const { return at(outputs, i); }

int64_t tilewright::newestOnnxOpset() { return kNewestOpset; }

const OnnxSchema *tilewright::findOnnxSchema(std::string_view domain, std::string_view name, int64_t opset) {
  auto found = table().find({domain, name});
  if (found == table().end())
    return nullptr;
  auto version = found->second.upper_bound(opset);
  return version == found->second.begin() ? nullptr : &std::prev(version)->second;
}

const OnnxSchema *tilewright::onnxSchemaOfVersion(std::string_view domain, std::string_view name, int64_t since) {
  const OnnxSchema *schema = findOnnxSchema(domain, name, since);
  return schema && schema->sinceVersion == since ? schema : nullptr;
}

std::vector<int64_t> tilewright::onnxSchemaVersions(std::string_view domain, std::string_view name) {
  std::vector<int64_t> versions;
  if (auto found = table().find({domain, name}); found != table().end())
    for (const auto &[version, schema] : found->second)
      versions.push_back(version);
  return versions;
}
