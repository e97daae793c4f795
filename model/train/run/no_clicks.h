// A model of a catalogue without a click log: the general model's towers, and
// the tf-idf of letter trigrams with the idf of the catalogue's titles.
//
//   Weight   kLexicalWeightWithoutClicks of the score is lexical. A catalogue
//            that is not English, or without an installed general model, gets a
//            model whose score is the lexical cosine alone.
//   Errors   those of the documents' reader; InvalidArgument without two
//            titles.
//   Threads  one thread calls.
#ifndef SEMRANK_MODEL_TRAIN_RUN_NO_CLICKS_H_
#define SEMRANK_MODEL_TRAIN_RUN_NO_CLICKS_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "model/train/options/train_options.h"

namespace semrank {

// .5 to .7 give nearly the same NDCG@10.
inline constexpr double kLexicalWeightWithoutClicks = 0.7;

struct CatalogueModel {
  std::string version_dir;  // of the published model
  std::int64_t version = 0;
  std::int64_t num_titles = 0;  // distinct
  bool has_general = false;
  // The share of the titles' words that the general model knows; 0 without it.
  double known_words = 0;
};

// Publishes the model of options.data.docs_file as the next version in
// options.data.model_dir. `general_dir` is the folder of the general model;
// "" = none. Says on standard error what the score is made of.
absl::StatusOr<CatalogueModel> PublishWithoutClicks(
    const TrainOptions& options, const std::string& general_dir);

// {"version_dir": "models/shop/1", "version": 1, "titles": 7341,
// "has_general": true, "known_words": 0.93}; one line.
std::string FormatCatalogueJson(const CatalogueModel& model);

}  // namespace semrank

#endif  // SEMRANK_MODEL_TRAIN_RUN_NO_CLICKS_H_
