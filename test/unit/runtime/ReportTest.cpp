//===- ReportTest.cpp - every slot is accounted for; three forms, one truth ===//

#include "runtime/Report.h"
#include "runtime/ReportFigures.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <stdexcept>

using namespace tilewright::runtime;

namespace {

LayerReport hostLayer(const std::string &name) {
  LayerReport layer;
  layer.name = name;
  layer.kind = "Softmax";
  layer.unit = "host";
  layer.reason = "Softmax(13): no unit of the array computes exp";
  layer.hostMicroseconds = 2;
  return layer;
}

/// Two layers on a 4x16x4 array: 100 and 50 cycles, 5 after the last.
Report example() {
  Report report;
  report.model = "net";
  report.target = "systolic";
  report.executor = "rtl";
  report.arrayName = "4x16x4";
  report.macsPerCycle = 256;
  report.nominalMhz = 1000;
  report.dramBytesPerCycle = 14.4;
  report.samples = report.passes = 1;
  LayerReport conv;
  conv.name = "conv,1";
  conv.nodes = {"conv \"a\"", "relu"};
  conv.kind = "Conv";
  conv.unit = "array";
  conv.macs = 256 * 80;
  conv.idealCycles = 80;
  conv.bytesWeights = 144;
  conv.array = ArrayCycles{100, 90, {{"no_job", 4}, {"weight", 6}}};
  LayerReport fc = conv;
  fc.name = "fc";
  fc.nodes = {"fc"};
  fc.macs = 256 * 10;
  fc.bytesWeights = 1440;
  fc.array = ArrayCycles{50, 10, {{"no_job", 0}, {"weight", 40}}};
  report.layers = {conv, fc};
  report.total = ArrayCycles{155, 100, {{"no_job", 9}, {"weight", 46}}};
  report.outsideLayers = 5;
  report.dramBytes = {{"load", 100}, {"weights", 1584}};
  report.layers[0].sqnrDb = 38.126;
  report.layers[0].sqnrAloneDb = 41;
  report.outputSqnrDb = {{"scores", 35.5}};
  return report;
}

TEST(ReportTest, SlotsAddUp) {
  Report report = example();
  EXPECT_NO_THROW(report.check());
  Figures total = *totalFigures(report);
  EXPECT_EQ(total.slots, 155u * 256);
  EXPECT_EQ(total.useful + total.mapping + total.lost, total.slots);
  EXPECT_DOUBLE_EQ(total.utilization, 90.0 / 155);
}

TEST(ReportTest, AMissingCycleIsFound) {
  auto problem = [](auto change) {
    Report report = example();
    change(report);
    try {
      report.check();
    } catch (const std::logic_error &error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_NE(problem([](Report &r) { r.layers[0].array->lost[1].second = 5; }).find("conv,1"), std::string::npos);
  EXPECT_NE(problem([](Report &r) { r.total->cycles = 156; }).find("total"), std::string::npos);
  EXPECT_NE(problem([](Report &r) { r.outsideLayers = 4; }).find("elapsed"), std::string::npos);
  EXPECT_NE(problem([](Report &r) { r.layers[1].macs = 256 * 11; }).find("useful"), std::string::npos);
}

TEST(ReportTest, BoundsFollowFromCauses) {
  Report report = example();
  EXPECT_EQ(figuresOf(report, report.layers[0])->boundBy, "mapping");
  EXPECT_EQ(figuresOf(report, report.layers[1])->boundBy, "memory");
  report.layers[0].macs = 256 * 90;
  EXPECT_EQ(figuresOf(report, report.layers[0])->boundBy, "compute");
  // 1440 bytes at 14.4 a cycle are 100 cycles for 10 of compute.
  EXPECT_DOUBLE_EQ(figuresOf(report, report.layers[1])->rooflineLimit, 0.1);
  // Weights of 10 cycles that came 40 late were waiting for something else than the DRAM's rate.
  report.layers[1].bytesWeights = 144;
  EXPECT_EQ(figuresOf(report, report.layers[1])->boundBy, "latency");
  // A store of 16 bytes that keeps a place for 40 cycles is not the memory's rate either, whatever was read.
  report.layers[1].bytesWeights = 1440;
  report.layers[1].array->lost[1].first = "wait_store";
  report.layers[1].bytesOut = 16;
  EXPECT_EQ(figuresOf(report, report.layers[1])->boundBy, "latency");
  report.layers[1].bytesOut = 1600;
  EXPECT_EQ(figuresOf(report, report.layers[1])->boundBy, "memory");
}

TEST(ReportTest, ArrayOnlyWhenAHostStepLiesBetween) {
  Report report = example();
  report.layers.insert(report.layers.begin(), hostLayer("first"));
  report.layers.push_back(hostLayer("last"));
  EXPECT_FALSE(report.arrayOnly());
  report.layers.insert(report.layers.begin() + 2, hostLayer("between"));
  EXPECT_TRUE(report.arrayOnly());
  EXPECT_NE(report.toTable().find("array only"), std::string::npos);
}

TEST(ReportTest, JsonAndCsvHaveTheSameRows) {
  Report report = example();
  report.layers.push_back(hostLayer("probabilities"));
  auto json = nlohmann::json::parse(report.toJson());
  EXPECT_EQ(json["total"]["cycles"], 155);
  EXPECT_EQ(json["layers"][1]["stalls"]["weight"], 40);
  EXPECT_EQ(json["layers"][2]["bound_by"], "host");
  EXPECT_EQ(json["layers"][2]["fallback_reason"], "Softmax(13): no unit of the array computes exp");
  EXPECT_EQ(json["total"]["with_host"]["cycles"], 155 + 2000);

  std::string csv = report.toCsv();
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 1 + 3 + 1);
  EXPECT_NE(csv.find("\"conv,1\",\"conv \"\"a\"\" relu\",Conv"), std::string::npos);
  EXPECT_NE(csv.find("stalls.weight"), std::string::npos);
  EXPECT_NE(csv.find("\ntotal,"), std::string::npos);
}

TEST(ReportTest, AccuracyIsInAllForms) {
  Report report = example();
  report.layers.push_back(hostLayer("probabilities"));
  auto json = nlohmann::json::parse(report.toJson());
  EXPECT_EQ(json["layers"][0]["sqnr_db"], 38.13);
  EXPECT_EQ(json["layers"][0]["sqnr_alone_db"], 41);
  EXPECT_TRUE(json["layers"][1]["sqnr_db"].is_null());
  EXPECT_FALSE(json["layers"][2].contains("sqnr_db"));
  EXPECT_EQ(json["total"]["output_sqnr_db"]["scores"], 35.5);
  EXPECT_NE(report.toCsv().find("output_sqnr_db.scores"), std::string::npos);
  EXPECT_NE(report.toTable().find("38.1 (41.0)"), std::string::npos);
  EXPECT_NE(report.toTable().find("calibration samples: scores 35.5 dB"), std::string::npos);
  // Nothing about it where nothing is known.
  report.layers[0].sqnrDb.reset();
  report.outputSqnrDb.clear();
  EXPECT_EQ(report.toTable().find("SQNR"), std::string::npos);
  EXPECT_EQ(report.toTable().find("quantization noise"), std::string::npos);
}

TEST(ReportTest, ExecutorsThatDoNotCountHaveNoFigures) {
  Report report = example();
  report.executor = "golden";
  report.total.reset();
  for (LayerReport &layer : report.layers)
    layer.array.reset();
  EXPECT_NO_THROW(report.check());
  EXPECT_TRUE(nlohmann::json::parse(report.toJson())["total"]["utilization"].is_null());
  EXPECT_NE(report.toTable().find("counts no cycles"), std::string::npos);
}

TEST(ReportTest, NothingOnTheArrayIsSaid) {
  Report report = example();
  report.total.reset();
  report.layers = {hostLayer("only")};
  EXPECT_NE(report.toTable().find("array 4x16x4, 256 MACs/cycle: nothing of the model runs on it"), std::string::npos);
  EXPECT_EQ(report.toTable().find("counts no cycles"), std::string::npos);
}

TEST(ReportTest, ACheckIsSaid) {
  Report report = example();
  EXPECT_EQ(report.toTable().find("golden's"), std::string::npos);
  EXPECT_EQ(nlohmann::json::parse(report.toJson())["checked"], false);
  report.checked = true;
  EXPECT_NE(report.toTable().find("every word written to scratchpad and DRAM equals golden's"), std::string::npos);
  EXPECT_EQ(nlohmann::json::parse(report.toJson())["checked"], true);
}

TEST(ReportTest, UncalibratedIsSaid) {
  Report report = example();
  report.uncalibrated = true;
  EXPECT_NE(report.toTable().find("UNCALIBRATED"), std::string::npos);
  EXPECT_EQ(nlohmann::json::parse(report.toJson())["uncalibrated"], true);
}

TEST(ReportTest, NamesMayBeAnyBytes) {
  Report report = example();
  report.layers[0].name = "a\xff\n\"b";
  EXPECT_NO_THROW((void)nlohmann::json::parse(report.toJson()));
  EXPECT_NE(report.toTable(), "");
}

} // namespace
