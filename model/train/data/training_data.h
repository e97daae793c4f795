// The data of a training run in the form in which it is used: pairs of text
// numbers, and the bag or the words of each text.
//
//   Memory   about 24 bytes a pair and 5 a feature of each distinct text.
//   Threads  const after loading.
#ifndef SEMRANK_MODEL_TRAIN_DATA_TRAINING_DATA_H_
#define SEMRANK_MODEL_TRAIN_DATA_TRAINING_DATA_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "model/data/collection.h"
#include "model/data/text_pairs.h"
#include "model/data/text_table.h"
#include "model/text/featurizer.h"
#include "model/train/data/judged_clicks.h"
#include "model/train/data/position_weights.h"
#include "model/train/data/report_data.h"
#include "model/train/data/shown_titles.h"
#include "model/train/data/unaccented_queries.h"

namespace semrank {

// A streaming data set: pairs that stay in their files, and are read anew in
// each epoch.
struct PairStream {
  std::int64_t num_pairs = 0;
  std::int64_t num_clicks = 0;  // of these pairs
  // Queries whose TextHash is lower are held out.
  std::uint64_t held_out_below = 0;
  std::int64_t shuffle_bytes = 0;  // size of the shuffle buffer
  bool has_all_titles = true;      // TrainingData::titles
  TextInterner texts;              // those that TrainingData::bags numbers
};

struct TrainingData {
  Featurizer featurizer;
  TextBags bags;
  // Pairs in the order of the files, each as often as it occurs there. Empty
  // for a streaming data set.
  std::vector<TextPair> train_pairs = {};
  // Pairs of valid_pair_files, or of held-out queries; may be empty.
  std::vector<TextPair> valid_pairs = {};
  // Distinct titles of the training pairs, or a sample of them; at least two.
  std::vector<TextId> titles = {};
  // Hard negatives, if the loss uses them.
  ShownTitles shown = {};
  DataStatistics statistics = {};
  // The weights that the pairs have, or get when they are streamed.
  PositionWeights position_weights = {};
  // Null when train_pairs holds the pairs.
  std::shared_ptr<const PairStream> stream = nullptr;
  // The texts that `bags` numbers, if they are still needed: for typos in
  // queries, or to fit the lexical weight; otherwise null.
  std::shared_ptr<const TextInterner> texts = nullptr;
  // The queries of train_pairs that an epoch has without accents, too.
  UnaccentedQueries unaccented = {};
  // The titles of --docs; empty without it.
  std::vector<TextId> catalogue = {};
  // idf of the hashed letter n-grams of the lexical part, over the distinct
  // texts of the training pairs (over `titles` for a streaming data set) and of
  // the catalogue; empty without one.
  std::vector<float> lexical_idf = {};
  // The file of a sample of all pairs of the run (kept_pairs.h); empty for a
  // streaming data set.
  std::string kept_pairs = {};
  // How many of train_pairs come from the sample of the initial model.
  std::int64_t num_kept_pairs = 0;
  // Clicks that are not trained on, and judge the model.
  JudgedClicks judged = {};
  // valid_pairs with their texts (MakeHeldOutCollection); null without any.
  std::shared_ptr<const Collection> held_out = nullptr;

  // The titles that the model will rank, as far as the run knows them.
  const std::vector<TextId>& served_titles() const {
    return catalogue.empty() ? titles : catalogue;
  }
};

}  // namespace semrank

#endif  // SEMRANK_MODEL_TRAIN_DATA_TRAINING_DATA_H_
