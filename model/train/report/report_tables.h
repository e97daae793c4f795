// The tables of report.html, as HTML.
#ifndef SEMRANK_MODEL_TRAIN_REPORT_REPORT_TABLES_H_
#define SEMRANK_MODEL_TRAIN_REPORT_REPORT_TABLES_H_

#include <string>
#include <vector>

#include "model/train/report/training_report.h"
#include "semrank/v1/model_config.pb.h"

namespace semrank {

std::string EpochTable(const std::vector<EpochRecord>& epochs);
std::string DataTable(const DataStatistics& data);
// Every field of the configuration, by its name in config.json.
std::string ConfigTable(const v1::ModelConfig& config);
std::string SettingsTable(const std::vector<FlagValue>& flags);
// Version of the program, processor, number of processors, memory.
std::string MachineTable();

}  // namespace semrank

#endif  // SEMRANK_MODEL_TRAIN_REPORT_REPORT_TABLES_H_
