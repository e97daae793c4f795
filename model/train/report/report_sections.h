// The charts (SVG) and tables (HTML) of report.html.
#ifndef SEMRANK_MODEL_TRAIN_REPORT_REPORT_SECTIONS_H_
#define SEMRANK_MODEL_TRAIN_REPORT_REPORT_SECTIONS_H_

#include <optional>
#include <string>
#include <vector>

#include "model/train/report/report_content.h"

namespace semrank {

// Training loss and, where it is known, validation loss by epoch; the best
// epoch is marked.
std::string LossChart(const std::vector<EpochRecord>& epochs);

// NDCG@1, @3 and @10 by epoch, of epochs that have them.
std::string NdcgChart(const std::vector<EpochRecord>& epochs);

// Shares of the queries and titles by their number of words.
std::string LengthChart(const DataStatistics& data);

// A row an epoch, and one of `bm25` below them.
std::string EpochTable(const std::vector<EpochRecord>& epochs,
                       const std::optional<MetricValues>& bm25);
std::string DataTable(const DataStatistics& data);
// Every field of the configuration, by its name in config.json.
std::string ConfigTable(const v1::ModelConfig& config);
std::string SettingsTable(const std::vector<FlagValue>& flags);
// Version of the program, processor, number of processors, memory.
std::string MachineTable();

}  // namespace semrank

#endif  // SEMRANK_MODEL_TRAIN_REPORT_REPORT_SECTIONS_H_
