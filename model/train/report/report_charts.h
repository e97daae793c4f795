// The charts of report.html, as SVG.
#ifndef SEMRANK_MODEL_TRAIN_REPORT_REPORT_CHARTS_H_
#define SEMRANK_MODEL_TRAIN_REPORT_REPORT_CHARTS_H_

#include <string>
#include <vector>

#include "model/train/data/data_statistics.h"
#include "model/train/report/training_log.h"

namespace semrank {

// Training loss and, where it is known, validation loss by epoch; the best
// epoch is marked.
std::string LossChart(const std::vector<EpochRecord>& epochs);

// NDCG@1, @3 and @10 by epoch, of epochs that have them.
std::string NdcgChart(const std::vector<EpochRecord>& epochs);

// Shares of the queries and titles by their number of words.
std::string LengthChart(const DataStatistics& data);

}  // namespace semrank

#endif  // SEMRANK_MODEL_TRAIN_REPORT_REPORT_CHARTS_H_
