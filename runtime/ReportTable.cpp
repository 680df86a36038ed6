//===- ReportTable.cpp - the report as people read it ---------------------===//

#include "runtime/ReportFigures.h"

#include <algorithm>
#include <cstdarg>
#include <cstdio>

namespace tilewright::runtime {

namespace {

std::string format(const char *pattern, ...) __attribute__((format(printf, 1, 2)));
std::string format(const char *pattern, ...) {
  char text[256];
  va_list arguments;
  va_start(arguments, pattern);
  std::vsnprintf(text, sizeof text, pattern, arguments);
  va_end(arguments);
  return text;
}

std::string percent(double share) { return format("%.1f", share * 100); }

/// 1234567 → 1,234,567
std::string grouped(uint64_t number) {
  std::string digits = std::to_string(number);
  for (auto i = static_cast<int>(digits.size()) - 3; i > 0; i -= 3)
    digits.insert(static_cast<size_t>(i), ",");
  return digits;
}

/// A long name keeps its end: the layers of one network differ there.
std::string shortened(const std::string &text, size_t width) {
  std::string clean = text;
  for (char &c : clean)
    if (static_cast<unsigned char>(c) < ' ')
      c = '?';
  return clean.size() <= width ? clean : "~" + clean.substr(clean.size() - width + 1);
}

/// The causes that took at least half a percent of the cycles, the largest first: "mapping 3.1, weight 1.2".
std::string lossText(const Figures &figures, const ArrayCycles &cycles, size_t most) {
  std::vector<std::pair<double, std::string>> losses;
  if (figures.slots == 0)
    return "";
  losses.emplace_back(double(figures.mapping) / double(figures.slots), "mapping");
  for (const auto &[cause, count] : cycles.lost)
    losses.emplace_back(double(count) / double(cycles.cycles), cause);
  std::sort(losses.begin(), losses.end(), [](const auto &a, const auto &b) { return a.first > b.first; });
  std::string text;
  for (size_t i = 0; i < losses.size() && i < most && losses[i].first >= 0.005; ++i)
    text += (i ? ", " : "") + losses[i].second + " " + percent(losses[i].first);
  return text;
}

/// Columns as wide as their widest cell; the first is left-aligned, as are those marked so.
class TextTable {
public:
  TextTable(std::vector<std::string> header, std::vector<bool> left) : left(std::move(left)) {
    rows.push_back(std::move(header));
  }
  void add(std::vector<std::string> row) { rows.push_back(std::move(row)); }
  std::string print() const {
    std::vector<size_t> widths(left.size());
    for (const auto &row : rows)
      for (size_t i = 0; i < row.size(); ++i)
        widths[i] = std::max(widths[i], row[i].size());
    std::string text;
    for (const auto &row : rows) {
      std::string line;
      for (size_t i = 0; i < row.size(); ++i) {
        std::string fill(widths[i] - row[i].size(), ' ');
        line += (i ? "  " : "") + (left[i] ? row[i] + fill : fill + row[i]);
      }
      line.erase(line.find_last_not_of(' ') + 1);
      text += line + "\n";
    }
    return text;
  }

private:
  std::vector<bool> left;
  std::vector<std::vector<std::string>> rows;
};

/// "38.1 (42.0)": as the network runs, and with this layer alone quantized.
std::string accuracyText(const LayerReport &layer) {
  if (!layer.sqnrDb)
    return "-";
  return format("%.1f", *layer.sqnrDb) + (layer.sqnrAloneDb ? format(" (%.1f)", *layer.sqnrAloneDb) : "       ");
}

std::string arrayTable(const Report &report) {
  bool measured = std::any_of(report.layers.begin(), report.layers.end(), [](const auto &l) { return l.sqnrDb; });
  std::vector<std::string> header = {"layer", "kind", "shape", "tile", "MMAC", "cycles", "util %", "of roof %"};
  std::vector<bool> left = {true, true, true, true, false, false, false, false};
  if (measured) {
    header.emplace_back("SQNR (alone) dB");
    left.push_back(false);
  }
  header.insert(header.end(), {"bound by", "lost to (% of its cycles)"});
  left.insert(left.end(), {true, true});
  TextTable table(header, left);
  for (const LayerReport &layer : report.layers) {
    if (layer.onHost())
      continue;
    std::vector<std::string> row = {shortened(layer.name, 32), layer.kind, layer.shape, layer.tile,
                                    layer.macs ? format("%.2f", double(layer.macs) * 1e-6) : "-"};
    std::optional<Figures> figures = figuresOf(report, layer);
    if (!figures)
      row.insert(row.end(), {"-", "-", "-"});
    else
      row.insert(row.end(),
                 {grouped(layer.array->cycles), percent(figures->utilization), percent(figures->ofRoofline)});
    if (measured)
      row.push_back(accuracyText(layer));
    if (!figures)
      row.insert(row.end(), {layer.macs ? "-" : "overlapped", ""});
    else
      row.insert(row.end(), {figures->boundBy, lossText(*figures, *layer.array, 3)});
    table.add(std::move(row));
  }
  return table.print();
}

std::string hostTable(const Report &report) {
  TextTable table({"host step", "kind", "shape", "us", "why it is there"}, {true, true, true, false, true});
  for (const LayerReport &layer : report.layers)
    if (layer.onHost())
      table.add(
          {shortened(layer.name, 32), layer.kind, layer.shape, format("%.1f", layer.hostMicroseconds), layer.reason});
  return table.print();
}

std::string arraySummary(const Report &report) {
  std::optional<Figures> figures = totalFigures(report);
  std::string kind = report.executor == "rtl" ? "simulated, RTL" : "modelled";
  std::string text = format("array %s, %llu MACs/cycle: ", report.arrayName.c_str(),
                            static_cast<unsigned long long>(report.macsPerCycle));
  if (std::all_of(report.layers.begin(), report.layers.end(), [](const LayerReport &layer) { return layer.onHost(); }))
    return text + "nothing of the model runs on it\n";
  if (!figures)
    return text + format("%.2f MMAC; the %s executor counts no cycles\n", double(report.macs()) * 1e-6,
                         report.executor.c_str());
  text += grouped(report.total->cycles) + " cycles (" + kind + "), utilization " + percent(figures->utilization) +
          " %" + (report.arrayOnly() ? " (array only: host steps lie between its layers)" : "") + "\n";
  text +=
      "  of its slots: useful " + percent(figures->utilization) + ", " + lossText(*figures, *report.total, 99) + "\n";
  text += "  roofline limit " + percent(figures->rooflineLimit) + " %, DRAM";
  for (const auto &[who, count] : report.dramBytes)
    text += " " + who + " " + grouped(count);
  text += " bytes\n";
  double hostCycles = report.hostMicroseconds() * report.nominalMhz;
  if (hostCycles > 0)
    text +=
        format("  with the host's %.0f us at %.0f MHz: %s cycles, utilization ", report.hostMicroseconds(),
               report.nominalMhz, grouped(report.total->cycles + uint64_t(hostCycles)).c_str()) +
        percent(double(report.macs()) / ((double(report.total->cycles) + hostCycles) * double(report.macsPerCycle))) +
        " %\n";
  if (report.deviceSeconds > 0)
    text += format("  simulated in %.2f s: %.2f million cycles/s\n", report.deviceSeconds,
                   double(report.total->cycles) * 1e-6 / report.deviceSeconds);
  return text;
}

} // namespace

std::string Report::toTable() const {
  std::string text = model + " on " + target;
  if (!executor.empty())
    text += ", executor " + executor;
  if (samples != 1 || passes != 1)
    text += format(", %llu samples in %llu passes", static_cast<unsigned long long>(samples),
                   static_cast<unsigned long long>(passes));
  text += "\n";
  if (!quantization.empty())
    text += "quantization: " + quantization + "\n";
  if (uncalibrated)
    text += "UNCALIBRATED: ranges come from random data; cycles are right, answers are not\n";
  bool array = std::any_of(layers.begin(), layers.end(), [](const LayerReport &layer) { return !layer.onHost(); });
  bool host = std::any_of(layers.begin(), layers.end(), [](const LayerReport &layer) { return layer.onHost(); });
  if (array)
    text += "\n" + arrayTable(*this);
  if (host)
    text += "\n" + hostTable(*this);
  text += "\n";
  if (macsPerCycle)
    text += arraySummary(*this);
  if (!outputSqnrDb.empty()) {
    text += "signal to quantization noise of the outputs on calibration samples:";
    for (const auto &[name, value] : outputSqnrDb)
      text += (&name == &outputSqnrDb.front().first ? " " : ", ") + shortened(name, 32) + format(" %.1f dB", value);
    text += "\n";
  }
  if (checked)
    text += "every word written to scratchpad and DRAM equals golden's\n";
  text += format("host: %.0f us measured; wall time %.3f s\n", hostMicroseconds(), wallSeconds);
  return text;
}

} // namespace tilewright::runtime
