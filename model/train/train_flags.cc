#include "model/train/train_flags.h"

#include <cstdint>
#include <string>

#include "absl/flags/flag.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "model/base/program.h"
#include "model/base/status_macros.h"
#include "model/train/option_names.h"
#include "model/train/settable_flag.h"

namespace {

using Text = semrank::Settable<std::string>;
using Int = semrank::Settable<int>;
using Double = semrank::Settable<double>;

// Defaults are those of the options struct, which has no other home for them.
const semrank::TrainOptions& Defaults() {
  static const semrank::TrainOptions* const kDefaults =
      new semrank::TrainOptions();
  return *kDefaults;
}

}  // namespace

ABSL_FLAG(std::string, train, "",
          "Files of clicked pairs, with commas between them: query TAB title "
          "[TAB clicks [TAB impressions]]; plain, .gz or .zst; - is standard "
          "input. Each line counts once: click counts are checked, and pairs "
          "with 0 clicks left out, but they do not weight the loss.");
ABSL_FLAG(std::string, model_dir, "",
          "Folder to publish the model in, as its next version. Also gets "
          "training.jsonl, the metrics of every epoch.");
ABSL_FLAG(std::int64_t, max_bad_lines, Defaults().data.max_bad_lines,
          "Lines that may be skipped, over all files, before the run ends.");

ABSL_FLAG(std::string, valid_pairs, "",
          "Files of pairs, as --train, for the validation loss.");
ABSL_FLAG(double, valid_fraction, Defaults().data.valid_fraction,
          absl::StrFormat(
              "Share of the queries of --train, 0 to 0.5, whose pairs are held "
              "out for the validation loss. -1 = %g, but 0 with --valid_pairs "
              "or --valid_queries.",
              semrank::kDefaultValidFraction));
ABSL_FLAG(std::string, valid_queries, "",
          "Judged queries, query_id TAB query, whose NDCG is measured after "
          "each epoch; wants --valid_docs and --valid_qrels too.");
ABSL_FLAG(std::string, valid_docs, "",
          "Documents, doc_id TAB title, that --valid_queries rank.");
ABSL_FLAG(std::string, valid_qrels, "",
          "Judgements of --valid_queries, as TREC qrels.");
ABSL_FLAG(std::string, valid_candidates, "all",
          "What a query of --valid_queries ranks: all documents, or its "
          "judged ones.");

ABSL_FLAG(std::string, preset, "",
          "Settings of a paper to the letter: dssm2013. Flags that are set "
          "win over it.");
ABSL_FLAG(Text, features, Text{"letters"},
          "Input of the towers: letters (letter n-grams of each word), words, "
          "letters+words.");
ABSL_FLAG(Int, ngram_length, Int{Defaults().features.ngram_length},
          "Letters in an n-gram of #word#, 1 to 8.");
ABSL_FLAG(int, hash_buckets, Defaults().features.hash_buckets,
          "Hashes letter n-grams to so many inputs. 0 = lists those of the "
          "training texts, without collisions.");
ABSL_FLAG(Int, max_words, Int{Defaults().features.max_words},
          "Most frequent words of the training texts to list, with words. 0 = "
          "all.");

ABSL_FLAG(Text, tower, Text{"dssm"},
          "Network: dssm (tanh layers), linear (one layer). clsm and ssi are "
          "not available yet.");
ABSL_FLAG(bool, shared_towers, Defaults().tower.shared,
          "One network for queries and titles; otherwise one for each.");
ABSL_FLAG(Text, hidden, Text{absl::StrJoin(Defaults().tower.hidden_dims, ",")},
          "Widths of the layers between input and vector, with commas between "
          "them; may be empty. --tower=linear has none.");
ABSL_FLAG(Int, embedding_dim, Int{Defaults().tower.embedding_dim},
          "Numbers in a vector.");
ABSL_FLAG(std::string, activation, "",
          "Of --tower=linear: linear (the default) or tanh. dssm is tanh.");

ABSL_FLAG(Text, negative_sampling, Text{"in_batch"},
          "Where unclicked titles come from: in_batch (other pairs of the "
          "mini-batch; one product scores all of them) or uniform (drawn from "
          "all titles, each embedded for itself; the paper's). Titles equal "
          "to the clicked one are left out, in_batch also those of an equal "
          "query.");
ABSL_FLAG(Int, negatives, Int{Defaults().loss.negatives},
          absl::StrFormat("Unclicked titles beside each clicked one, J. "
                          "in_batch: 0 = all other titles of the batch. -1 = "
                          "%d with uniform, all with in_batch.",
                          semrank::kDefaultUniformNegatives));
ABSL_FLAG(Double, gamma, Double{Defaults().loss.gamma},
          "Factor on the cosine in the softmax.");

ABSL_FLAG(Text, optimizer, Text{"adam"},
          "What moves the weights: sgd or adam. adagrad is not available yet.");
ABSL_FLAG(Double, learning_rate, Double{Defaults().optimizer.learning_rate},
          "Step size. The loss is the mean over the mini-batch, so sgd wants a "
          "hundred times adam's and more.");
ABSL_FLAG(Int, batch_size, Int{Defaults().batch_size},
          "Pairs in a mini-batch, at most: an epoch is cut into equal ones.");
ABSL_FLAG(Int, epochs, Int{Defaults().epochs},
          "Passes over the pairs, at most.");
ABSL_FLAG(Int, patience, Int{Defaults().patience},
          "Epochs without a better NDCG@10 (or, without --valid_queries, "
          "validation loss) before training stops. 0 = never. The best epoch "
          "is published.");
ABSL_FLAG(std::uint64_t, seed, Defaults().seed,
          "Of every random choice. The same seed, files and flags give the "
          "same model, bit for bit.");
ABSL_FLAG(int, threads, Defaults().threads,
          "0 = one for each processor. Has no influence on the model.");

namespace semrank {
namespace {

absl::Status ReadDataFlags(DataOptions& data) {
  data.train_files = SplitFiles(absl::GetFlag(FLAGS_train));
  data.model_dir = absl::GetFlag(FLAGS_model_dir);
  data.max_bad_lines = absl::GetFlag(FLAGS_max_bad_lines);
  data.valid_pair_files = SplitFiles(absl::GetFlag(FLAGS_valid_pairs));
  data.valid_fraction = absl::GetFlag(FLAGS_valid_fraction);
  data.valid_queries = absl::GetFlag(FLAGS_valid_queries);
  data.valid_docs = absl::GetFlag(FLAGS_valid_docs);
  data.valid_qrels = absl::GetFlag(FLAGS_valid_qrels);
  const std::string candidates = absl::GetFlag(FLAGS_valid_candidates);
  if (candidates != "all" && candidates != "judged") {
    return FlagError("valid_candidates", candidates,
                     "must be one of all, judged");
  }
  data.valid_judged_only = candidates == "judged";
  return absl::OkStatus();
}

template <typename T>
absl::Status ReadName(const Text& flag, T& value) {
  return flag.is_set ? ParseOption(flag.value, value) : absl::OkStatus();
}

absl::Status ReadModelFlags(TrainOptions& options) {
  SEMRANK_RETURN_IF_ERROR(
      ReadName(absl::GetFlag(FLAGS_features), options.features.kind));
  absl::GetFlag(FLAGS_ngram_length).CopyIfSet(options.features.ngram_length);
  options.features.hash_buckets = absl::GetFlag(FLAGS_hash_buckets);
  absl::GetFlag(FLAGS_max_words).CopyIfSet(options.features.max_words);

  TowerOptions& tower = options.tower;
  SEMRANK_RETURN_IF_ERROR(ReadName(absl::GetFlag(FLAGS_tower), tower.kind));
  tower.shared = absl::GetFlag(FLAGS_shared_towers);
  if (const Text hidden = absl::GetFlag(FLAGS_hidden); hidden.is_set) {
    SEMRANK_ASSIGN_OR_RETURN(tower.hidden_dims, ParseWidths(hidden.value));
  }
  absl::GetFlag(FLAGS_embedding_dim).CopyIfSet(tower.embedding_dim);
  const std::string activation = absl::GetFlag(FLAGS_activation);
  return activation.empty() ? absl::OkStatus()
                            : ParseOption(activation, tower.activation);
}

absl::Status ReadTrainingFlags(TrainOptions& options) {
  SEMRANK_RETURN_IF_ERROR(
      ReadName(absl::GetFlag(FLAGS_negative_sampling), options.loss.sampling));
  absl::GetFlag(FLAGS_negatives).CopyIfSet(options.loss.negatives);
  absl::GetFlag(FLAGS_gamma).CopyIfSet(options.loss.gamma);
  SEMRANK_RETURN_IF_ERROR(
      ReadName(absl::GetFlag(FLAGS_optimizer), options.optimizer.kind));
  absl::GetFlag(FLAGS_learning_rate).CopyIfSet(options.optimizer.learning_rate);
  absl::GetFlag(FLAGS_batch_size).CopyIfSet(options.batch_size);
  absl::GetFlag(FLAGS_epochs).CopyIfSet(options.epochs);
  absl::GetFlag(FLAGS_patience).CopyIfSet(options.patience);
  options.seed = absl::GetFlag(FLAGS_seed);
  options.threads = absl::GetFlag(FLAGS_threads);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<TrainOptions> TrainOptionsFromFlags() {
  TrainOptions options;
  const std::string preset = absl::GetFlag(FLAGS_preset);
  if (!preset.empty()) {
    SEMRANK_ASSIGN_OR_RETURN(options, PresetOptions(preset));
  }
  SEMRANK_RETURN_IF_ERROR(ReadDataFlags(options.data));
  SEMRANK_RETURN_IF_ERROR(ReadModelFlags(options));
  SEMRANK_RETURN_IF_ERROR(ReadTrainingFlags(options));
  return options;
}

}  // namespace semrank
