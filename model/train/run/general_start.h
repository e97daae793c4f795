// The general English model, which knows words before a run has seen a pair
// (scripts/corpus/build_general_corpus.py): where it is installed, and which
// runs begin from it by default.
//
//   Threads  one thread calls.
#ifndef SEMRANK_MODEL_TRAIN_RUN_GENERAL_START_H_
#define SEMRANK_MODEL_TRAIN_RUN_GENERAL_START_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "model/text/featurizer.h"
#include "model/train/options/train_options.h"
#include "model/train/start/start_language.h"

namespace semrank {

// The name of the model, in --init_from too.
inline constexpr char kGeneralModel[] = "general";

// The folder of an installed model of this name: share/semrank/models/NAME
// beside the folder of this program, or below /usr; "" if there is none.
std::string FindInstalledModel(std::string_view name);

// The folder that --init_from=NAME means: NAME if it exists, else that of the
// installed model of this name, else NAME.
std::string FolderOfModel(const std::string& name);

// Logs of more pairs know enough by themselves (STARTS.md, "Measured").
inline constexpr std::int64_t kMaxPairsForGeneral = 30'000;

// A model knows the language of texts of whose words it lists this share: 90 %
// and more of English ones, 10 to 30 % of those of other Latin scripts.
inline constexpr double kMinWordsOfLanguage = 0.5;

// What a general model of `featurizer` knows of the first clicked pairs.
struct LogLanguage {
  KnownShare known;
  bool is_small = false;  // at most kMaxPairsForGeneral pairs
};
// Reads the events or the files of pairs, which can be read twice. Lines of
// these that cannot be used are skipped without a report. Fails as
// ForEachEvent, ClickJoin and PairReader.
absl::StatusOr<LogLanguage> ReadLanguage(const DataOptions& data,
                                         const Featurizer& featurizer);

// `general`, the folder of the general model, if `data` is a small English log,
// as standard error then says; otherwise, or if `general` is "", "". Fails as
// LoadModel and ReadLanguage.
absl::StatusOr<std::string> GeneralModelFor(const std::string& general,
                                            const DataOptions& data);

}  // namespace semrank

#endif  // SEMRANK_MODEL_TRAIN_RUN_GENERAL_START_H_
