//===- Report.cpp - figures derived from counters; JSON and CSV -----------===//

#include "runtime/ReportFigures.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace tilewright::runtime {

using Json = nlohmann::ordered_json;

uint64_t Report::macs() const {
  uint64_t sum = 0;
  for (const LayerReport &layer : layers)
    if (!layer.onHost())
      sum += layer.macs;
  return sum;
}

double Report::hostMicroseconds() const {
  double sum = 0;
  for (const LayerReport &layer : layers)
    sum += layer.hostMicroseconds;
  return sum;
}

bool Report::arrayOnly() const {
  bool seenArray = false, hostAfterArray = false;
  for (const LayerReport &layer : layers) {
    if (layer.onHost())
      hostAfterArray |= seenArray;
    else if (hostAfterArray)
      return true;
    else
      seenArray = true;
  }
  return false;
}

static uint64_t lostCycles(const ArrayCycles &cycles) {
  uint64_t sum = 0;
  for (const auto &[cause, count] : cycles.lost)
    sum += count;
  return sum;
}

void Report::check() const {
  auto fail = [](const std::string &who, const std::string &what) {
    throw std::logic_error("the report does not add up: " + who + ": " + what);
  };
  auto checkCycles = [&](const std::string &who, const ArrayCycles &cycles, uint64_t macs) {
    if (cycles.steps + lostCycles(cycles) != cycles.cycles)
      fail(who, std::to_string(cycles.steps) + " steps and " + std::to_string(lostCycles(cycles)) +
                    " lost cycles are not " + std::to_string(cycles.cycles) + " cycles");
    if (macs > cycles.steps * macsPerCycle)
      fail(who, std::to_string(macs) + " useful multiply-accumulates in " + std::to_string(cycles.steps) + " steps");
  };
  if (!total)
    return;
  checkCycles("total", *total, macs());
  uint64_t sum = outsideLayers;
  for (const LayerReport &layer : layers)
    if (layer.array) {
      checkCycles(layer.name, *layer.array, layer.macs);
      sum += layer.array->cycles;
    }
  if (sum != total->cycles)
    fail("total", "the layers' cycles are " + std::to_string(sum) + ", elapsed are " + std::to_string(total->cycles));
}

std::optional<Figures> figuresOf(const Report &report, const LayerReport &layer) {
  if (!layer.array)
    return std::nullopt;
  Traffic traffic = {layer.bytesWeights + layer.bytesIn + layer.bytesResidual, layer.bytesOut};
  return figuresOf(report, *layer.array, layer.macs, traffic);
}

std::optional<Figures> totalFigures(const Report &report) {
  if (!report.total)
    return std::nullopt;
  Traffic traffic;
  for (const auto &[who, count] : report.dramBytes)
    (who == "store" ? traffic.out : traffic.in) += count;
  return figuresOf(report, *report.total, report.macs(), traffic);
}

/// Cycles of a transfer at the DRAM's rate.
static double transferCycles(const Report &report, uint64_t bytes) {
  return report.dramBytesPerCycle > 0 ? double(bytes) / report.dramBytesPerCycle : 0;
}

Figures figuresOf(const Report &report, const ArrayCycles &cycles, uint64_t macs, const Traffic &traffic) {
  Figures figures;
  figures.slots = cycles.cycles * report.macsPerCycle;
  figures.useful = macs;
  figures.mapping = cycles.steps * report.macsPerCycle - macs;
  figures.lost = lostCycles(cycles) * report.macsPerCycle;
  figures.utilization = figures.slots ? double(macs) / double(figures.slots) : 0;
  double ideal = double(macs) / double(report.macsPerCycle);
  double memory = transferCycles(report, traffic.in + traffic.out);
  figures.rooflineLimit = ideal > 0 ? ideal / std::max(ideal, memory) : 0;
  figures.ofRoofline = figures.rooflineLimit > 0 ? figures.utilization / figures.rooflineLimit : 0;
  figures.boundBy = boundBy(report, figures, cycles, traffic);
  return figures;
}

std::string boundBy(const Report &report, const Figures &figures, const ArrayCycles &cycles, const Traffic &traffic) {
  if (figures.slots == 0)
    return "latency";
  if (figures.utilization >= 0.9)
    return "compute";
  double arriving = 0, leaving = 0, overhead = 0, latency = 0;
  for (const auto &[cause, count] : cycles.lost) {
    bool isOverhead = cause == "drain" || cause == "activation" || cause == "setup";
    (cause == "wait_load" || cause == "weight" ? arriving
     : cause == "wait_store"                   ? leaving
     : isOverhead                              ? overhead
                                               : latency) += double(count);
  }
  double memory =
      std::min(arriving, transferCycles(report, traffic.in)) + std::min(leaving, transferCycles(report, traffic.out));
  latency += arriving + leaving - memory;
  std::pair<double, const char *> classes[] = {{double(figures.mapping) / double(report.macsPerCycle), "mapping"},
                                               {memory, "memory"},
                                               {overhead, "overhead"},
                                               {latency, "latency"}};
  return std::max_element(std::begin(classes), std::end(classes),
                          [](const auto &a, const auto &b) { return a.first < b.first; })
      ->second;
}

static Json rounded(double value, double unit) { return std::round(value / unit) * unit; }

static Json decibels(std::optional<double> value) { return value ? Json(std::round(*value * 100) / 100) : Json(); }

static void addFigures(Json &row, const std::optional<Figures> &figures, const std::optional<ArrayCycles> &cycles) {
  if (!figures) {
    for (const char *key : {"cycles", "utilization", "roofline_limit", "of_roofline"})
      row[key] = nullptr;
    return;
  }
  row["cycles"] = cycles->cycles;
  row["utilization"] = rounded(figures->utilization, 1e-6);
  row["roofline_limit"] = rounded(figures->rooflineLimit, 1e-6);
  row["of_roofline"] = rounded(figures->ofRoofline, 1e-6);
  row["bound_by"] = figures->boundBy;
  row["slots"] = {
      {"all", figures->slots}, {"useful", figures->useful}, {"mapping", figures->mapping}, {"lost", figures->lost}};
  Json &stalls = row["stalls"] = Json::object();
  for (const auto &[cause, count] : cycles->lost)
    stalls[cause] = count;
}

static Json toRow(const Report &report, const LayerReport &layer) {
  Json row;
  row["name"] = layer.name;
  row["onnx_nodes"] = layer.nodes;
  row["kind"] = layer.kind;
  row["unit"] = layer.unit;
  row["shape"] = layer.shape;
  row["tile"] = layer.tile;
  row["macs"] = layer.macs;
  if (layer.onHost()) {
    row["bound_by"] = "host";
    row["time_us"] = rounded(layer.hostMicroseconds, 0.1);
    row["fallback_reason"] = layer.reason;
    return row;
  }
  row["ideal_cycles"] = layer.idealCycles;
  row["predicted_cycles"] = layer.predictedCycles;
  addFigures(row, figuresOf(report, layer), layer.array);
  row["bytes"] = {{"weights", layer.bytesWeights},
                  {"activations_in", layer.bytesIn},
                  {"activations_out", layer.bytesOut},
                  {"residual", layer.bytesResidual}};
  row["sqnr_db"] = decibels(layer.sqnrDb);
  row["sqnr_alone_db"] = decibels(layer.sqnrAloneDb);
  if (!layer.reason.empty())
    row["remark"] = layer.reason;
  return row;
}

static Json toJsonValue(const Report &report) {
  Json json;
  json["format"] = "tilewright-report-1";
  json["model"] = report.model;
  json["target"] = report.target;
  json["executor"] = report.executor;
  json["quantization"] = report.quantization;
  json["uncalibrated"] = report.uncalibrated;
  json["checked"] = report.checked;
  json["samples"] = report.samples;
  json["passes"] = report.passes;
  json["figures"] = {{"cycles", report.executor == "rtl"     ? "simulated (RTL)"
                                : report.executor == "model" ? "modelled"
                                                             : "none"},
                     {"host_us", "measured"},
                     {"roofline_limit", "from the configuration's nominal DRAM rate"},
                     {"predicted_cycles", "modelled by the compiler"},
                     {"sqnr_db", "against float on calibration samples, by the compiler"}};
  if (report.macsPerCycle)
    json["array"] = {{"config", report.arrayName},
                     {"macs_per_cycle", report.macsPerCycle},
                     {"nominal_mhz", report.nominalMhz},
                     {"dram_bytes_per_cycle", report.dramBytesPerCycle}};
  Json total;
  total["macs"] = report.macs();
  total["ideal_cycles"] = report.macsPerCycle ? (report.macs() + report.macsPerCycle - 1) / report.macsPerCycle : 0;
  addFigures(total, totalFigures(report), report.total);
  total["array_only"] = report.arrayOnly();
  total["host_us"] = rounded(report.hostMicroseconds(), 0.1);
  if (report.total) {
    double hostCycles = report.hostMicroseconds() * report.nominalMhz;
    double all = double(report.total->cycles) + hostCycles;
    total["with_host"] = {
        {"cycles", uint64_t(all)},
        {"utilization", rounded(all > 0 ? double(report.macs()) / (all * double(report.macsPerCycle)) : 0, 1e-6)}};
    Json &bytes = total["dram_bytes"] = Json::object();
    for (const auto &[who, count] : report.dramBytes)
      bytes[who] = count;
    total["simulation_s"] = rounded(report.deviceSeconds, 1e-6);
  }
  total["wall_s"] = rounded(report.wallSeconds, 1e-6);
  Json &outputs = total["output_sqnr_db"] = Json::object();
  for (const auto &[name, value] : report.outputSqnrDb)
    outputs[name] = decibels(value);
  json["total"] = std::move(total);
  Json &layers = json["layers"] = Json::array();
  for (const LayerReport &layer : report.layers)
    layers.push_back(toRow(report, layer));
  return json;
}

std::string Report::toJson() const {
  // Names in a model are arbitrary bytes; JSON is UTF-8.
  return toJsonValue(*this).dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

static std::string csvCell(const Json &value) {
  std::string text;
  if (value.is_null())
    return text;
  if (value.is_array())
    for (const Json &element : value)
      text += (text.empty() ? "" : " ") + element.get<std::string>();
  else
    text = value.is_string() ? value.get<std::string>() : value.dump();
  if (text.find_first_of(",\"\r\n") == std::string::npos)
    return text;
  std::string quoted = "\"";
  for (char c : text) {
    quoted += c;
    if (c == '"')
      quoted += c;
  }
  return quoted + '"';
}

std::string Report::toCsv() const {
  Json json = toJsonValue(*this);
  Json total = json["total"];
  total["name"] = "total";
  std::vector<std::vector<std::pair<std::string, Json>>> rows;
  std::vector<std::string> columns;
  auto addRow = [&](const Json &row) {
    auto &flat = rows.emplace_back();
    auto add = [&](const std::string &key, const Json &value) {
      flat.emplace_back(key, value);
      if (std::find(columns.begin(), columns.end(), key) == columns.end())
        columns.push_back(key);
    };
    for (const auto &[key, value] : row.items()) {
      if (value.is_object())
        for (const auto &[inner, innerValue] : value.items())
          add(key + "." + inner, innerValue);
      else
        add(key, value);
    }
  };
  for (const Json &layer : json["layers"])
    addRow(layer);
  addRow(total);
  std::string text;
  for (const std::string &column : columns)
    text += (text.empty() ? "" : ",") + column;
  text += '\n';
  for (const auto &row : rows) {
    std::string line;
    for (const std::string &column : columns) {
      auto cell = std::find_if(row.begin(), row.end(), [&](const auto &entry) { return entry.first == column; });
      line += (&column == columns.data() ? "" : ",") + (cell == row.end() ? "" : csvCell(cell->second));
    }
    text += line + '\n';
  }
  return text;
}

} // namespace tilewright::runtime
