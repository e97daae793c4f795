// The tables of report.html, and the lists beside them.
#ifndef SEMRANK_MODEL_TRAIN_REPORT_REPORT_SECTIONS_H_
#define SEMRANK_MODEL_TRAIN_REPORT_REPORT_SECTIONS_H_

#include <string>
#include <vector>

#include "model/cli/command_line.h"
#include "model/train/data/report_data.h"
#include "model/train/report/run_history.h"
#include "model/train/validation/candidate_judgement.h"
#include "model/train/validation/ranker_comparison.h"
#include "semrank/v1/model_config.pb.h"

namespace semrank {

// The metrics of the model, once it is known, and of the baselines, with a
// warning if the queries are few.
std::string ComparisonTable(const RankerComparison& comparison);
// What JudgeCandidate found.
std::string JudgementTable(const CandidateJudgement& judgement);
// The best titles of some validation queries.
std::string Examples(const RankerComparison& comparison);

// One row for each epoch and one for the weights before; columns without a
// value are omitted.
std::string EpochTable(const RunHistory& history);
std::string DataTable(const DataStatistics& data);
// Every field of the configuration, by its name in config.json.
std::string ConfigTable(const v1::ModelConfig& config);
std::string SettingsTable(const std::vector<FlagValue>& flags);
// Version of the program, processor, number of processors, memory.
std::string MachineTable();

}  // namespace semrank

#endif  // SEMRANK_MODEL_TRAIN_REPORT_REPORT_SECTIONS_H_
