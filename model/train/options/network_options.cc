#include "model/train/options/network_options.h"

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "model/base/status_macros.h"
#include "model/cli/command_line.h"
#include "model/cli/exit_code.h"
#include "model/format/model_config.h"
#include "model/nn/clsm_tower.h"
#include "model/text/ngram_vocabulary.h"

namespace semrank {
namespace {

// "none" is 0, "auto" is nothing.
absl::StatusOr<std::optional<double>> ParseLexical(const std::string& text) {
  // No weight: the run fits one (RunLexicalTrial).
  if (text == "auto") return std::optional<double>();
  if (text == "none") return std::optional<double>(0);
  double weight = 0;
  // At 1 the vectors would have no part in the score; the joined vector has the
  // factor sqrt(1 - w).
  if (absl::SimpleAtod(text, &weight) && weight >= 0 && weight < 1) {
    return std::optional<double>(weight);
  }
  return FlagError("lexical", text,
                   "must be auto, none or a weight from 0 to below 1");
}

absl::Status ResolveClsm(TowerOptions& tower) {
  // Forward and backward pass are those of tanh (CLSM, eq. 2 and 3).
  if (tower.activation == v1::ACTIVATION_IDENTITY) {
    return FlagError("activation", "linear",
                     "the layers of --tower=clsm are tanh");
  }
  tower.activation = v1::ACTIVATION_TANH;
  if (tower.clsm_window == 0) tower.clsm_window = kDefaultClsmWindow;
  // n = 2d + 1 (CLSM eq. 1).
  if (tower.clsm_window % 2 == 0) {
    return FlagError("window", tower.clsm_window,
                     "must be odd: a word and as many on each side");
  }
  if (!tower.hidden_dims.empty()) return absl::OkStatus();
  return FlagError("hidden", "",
                   "--tower=clsm needs the width of its convolution, such as "
                   "300");
}

}  // namespace

void AddTowerFlags(CommandLine& flags, TowerOptions& options) {
  flags.Group("Network");
  flags.Add("tower", &options.kind,
            "linear (bag of features, one layer), dssm (the same with tanh "
            "layers; the default if --hidden is given), clsm (word windows, "
            "convolution, max pooling: depends on the order of words), ssi "
            "(tf-idf words compared through a learned matrix, see --ssi). Each "
            "has defaults of its own: see the recipes below.",
            kTowerNames);
  flags.Add("shared_towers", &options.shared,
            "One network for queries and titles; otherwise one for each. ssi: "
            "--ssi decides.");
  flags.Add("hidden", &options.hidden_dims,
            "Sizes of the hidden layers; may be empty. The first of clsm is "
            "its convolution; linear and ssi have none.",
            {.min = 1, .max = kMaxLayerWidth});
  flags.Add("embedding_dim", &options.embedding_dim,
            "Elements of a vector. ssi: the rank of U and V.",
            {.min = 1, .max = kMaxLayerWidth});
  // Flags that most runs leave alone are shown by --help-all only.
  flags.Group("Network", CommandLine::Level::kAdvanced);
  flags.Add("dropout", &options.dropout,
            "Share of the hidden units that are dropped in training, drawn "
            "again for each text, 0 to below 1.");
  flags.Add("activation", &options.activation,
            "--tower=linear: activation function, linear by default. The other "
            "towers use tanh.",
            kActivationNames);
  flags.Add("biases", &options.biases,
            "Layers learn biases; otherwise biases stay 0.");
  flags.Add("window", &options.clsm_window,
            absl::StrFormat("--tower=clsm: words in a window, odd. 0 = %d.",
                            kDefaultClsmWindow),
            {.min = 0, .max = kMaxClsmWindow});
}

void AddFeatureFlags(CommandLine& flags, FeatureOptions& options) {
  flags.Group("Features");
  flags.Add("features", &options.kind,
            "Input of the towers: letter n-grams of each word, words, bigrams "
            "(two adjacent words in order), or a sum of these.",
            kFeatureNames);
  flags.Add("lexical", &options.lexical,
            "Weight of the lexical part, the cosine of letter-trigram tf-idf, "
            "in the score: auto (fitted on queries that are held out of a "
            "trial, a shorter training; the model is then trained on all), "
            "none, or a number from 0 to below 1. --tower=ssi has none.",
            "auto|none|WEIGHT");
  flags.Group("Features", CommandLine::Level::kAdvanced);
  flags.Add("ngram_length", &options.ngram_length,
            "Letters in an n-gram of #word#.",
            {.min = kMinNgramLength, .max = kMaxNgramLength});
  flags.Add("hash_buckets", &options.hash_buckets,
            "Number of buckets that letter n-grams are hashed to. 0 = the "
            "n-grams of the training texts are listed, without collisions.",
            {.min = 0, .max = kMaxVocabularySize});
  flags.Add("max_words", &options.max_words,
            "Size of the vocabulary with words: the most frequent ones of the "
            "training texts. 0 = all.",
            {.min = 0, .max = kMaxVocabularySize});
  flags.Add("max_bigrams", &options.max_bigrams,
            "Size of the vocabulary with bigrams: the most frequent ones of "
            "the training pairs. 0 = all.",
            {.min = 0, .max = kMaxVocabularySize});
  flags.Add("min_bigram_count", &options.min_bigram_count,
            "Times that a bigram must occur in the queries and titles of the "
            "training pairs.",
            {.min = 1});
}

absl::Status ResolveTower(TowerOptions& tower) {
  // TowerWidths multiplies the rows of the first layer by the window of
  // any tower.
  if (tower.kind != v1::TOWER_KIND_CLSM && tower.clsm_window != 0) {
    return FlagError("window", tower.clsm_window,
                     "only --tower=clsm has windows");
  }
  switch (tower.kind) {
    case v1::TOWER_KIND_DSSM:
      if (tower.activation == v1::ACTIVATION_IDENTITY) {
        return FlagError("activation", "linear",
                         "the layers of --tower=dssm are tanh; --tower=linear "
                         "has one layer without activation");
      }
      // UNSPECIFIED becomes what the tower has, so that the model file
      // states it.
      tower.activation = v1::ACTIVATION_TANH;
      break;
    case v1::TOWER_KIND_LINEAR:
      // Its default is that of DSSM; a linear tower has none.
      tower.hidden_dims.clear();
      // --activation=tanh gives a linear tower the tanh of a DSSM without
      // hidden layers.
      if (tower.activation == v1::ACTIVATION_UNSPECIFIED) {
        tower.activation = v1::ACTIVATION_IDENTITY;
      }
      break;
    case v1::TOWER_KIND_CLSM:
      SEMRANK_RETURN_IF_ERROR(ResolveClsm(tower));
      break;
    default:  // SSI; ResolveSsi does the rest.
      if (tower.activation == v1::ACTIVATION_TANH) {
        return FlagError("activation", "tanh", "--tower=ssi has none");
      }
      tower.activation = v1::ACTIVATION_IDENTITY;
      break;
  }
  if (tower.hidden_dims.size() > kMaxHiddenLayers) {
    return FlagError("hidden", absl::StrJoin(tower.hidden_dims, ","),
                     absl::StrFormat("at most %d layers", kMaxHiddenLayers));
  }
  // The negation refuses NaN too. 1 would drop every unit and divide by 0.
  if (!(tower.dropout >= 0 && tower.dropout < 1)) {
    return FlagError("dropout", tower.dropout, "must be 0 to below 1");
  }
  if (tower.dropout > 0 && tower.hidden_dims.empty()) {
    return FlagError("dropout", tower.dropout,
                     "drops hidden units, and this network has none");
  }
  return absl::OkStatus();
}

absl::Status ResolveFeatures(FeatureOptions& features) {
  SEMRANK_ASSIGN_OR_RETURN(features.lexical_weight,
                           ParseLexical(features.lexical));
  if (features.hash_buckets > 0 && !HasLetters(features.kind)) {
    return FlagError(
        "hash_buckets", features.hash_buckets,
        absl::StrFormat("hashes letter n-grams, and --features=%s has none",
                        NameOf(features.kind, kFeatureNames)));
  }
  return absl::OkStatus();
}

}  // namespace semrank
