#include "model/train/options/recipes.h"

#include <cstdint>
#include <span>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "model/base/status_macros.h"
#include "model/base/strings.h"
#include "model/cli/exit_code.h"
#include "model/format/model_config.h"
#include "model/train/options/train_options.h"

namespace semrank {
namespace {

// A recipe is a text of flags and not code, so that --help can print it,
// --print_options can name it, and its values pass the same checks as those of
// a user.

constexpr Recipe kTowerRecipes[] = {
    {"--tower=linear", v1::TOWER_KIND_LINEAR, ""},
    {"--tower=dssm", v1::TOWER_KIND_DSSM,
     "tower=dssm hidden=300,300 embedding_dim=128 gamma=15 logq=0"},
    // CLSM reads the order of words by itself, so it has no bigrams. The paper
    // (3.5) has one layer of 300 after the convolution.
    {"--tower=clsm", v1::TOWER_KIND_CLSM,
     "tower=clsm hidden=300 embedding_dim=128 features=letters gamma=15 "
     "logq=0"},
    // Adagrad's rate falls with what a weight has seen, which suits words of
    // very different frequency (MATHEMATICS.md, "Why SSI has other defaults").
    // In a catalog of a million words that the model does not know, each shares
    // its bucket with four others.
    {"--tower=ssi", v1::TOWER_KIND_SSI,
     "tower=ssi embedding_dim=128 features=words lexical=none "
     "ssi_unknown_word_buckets=262144 optimizer=adagrad learning_rate=0.02 "
     "learning_rate_decay=none epochs=20 patience=3"}};

constexpr Recipe kPresetRecipes[] = {
    // DSSM 3.3 and 3.4. gamma and the learning rate are not in the paper.
    {"--preset=dssm2013", v1::TOWER_KIND_DSSM,
     "tower=dssm shared_towers=true hidden=300,300 embedding_dim=128 "
     "features=letters lexical=none negative_sampling=uniform negatives=4 "
     "gamma=10 logq=0 unaccented_queries=false optimizer=sgd "
     "learning_rate=0.5 learning_rate_decay=none batch_size=1024 epochs=20 "
     "patience=0"},
    // CLSM table 5, row 15; the window is that of table 6, row 3. The paper's
    // equations have no biases. The optimizer is that of DSSM.
    {"--preset=clsm2014", v1::TOWER_KIND_CLSM,
     "tower=clsm shared_towers=false hidden=300 embedding_dim=128 window=3 "
     "biases=false features=letters lexical=none negative_sampling=uniform "
     "negatives=50 gamma=10 logq=0 unaccented_queries=false optimizer=sgd "
     "learning_rate=0.5 learning_rate_decay=none batch_size=1024 epochs=20 "
     "patience=0"},
    // SSI 2.3 and 4.1: the 30,000 most frequent words, U and V from N(0, 1),
    // one random tuple a step, a fixed learning rate. The rate and the
    // dimension are chosen here.
    {"--preset=ssi2009", v1::TOWER_KIND_SSI,
     "tower=ssi embedding_dim=100 features=words max_words=30000 lexical=none "
     "ssi=low_rank ssi_unknown_word_buckets=0 ssi_init_scale=1 "
     "negative_sampling=uniform negatives=1 logq=0 margin=1 "
     "unaccented_queries=false optimizer=sgd learning_rate=0.1 "
     "learning_rate_decay=none batch_size=1 epochs=20 patience=3"},
    // STARTS.md, "Measured".
    {"--preset=general", v1::TOWER_KIND_LINEAR,
     "tower=linear features=letters+words max_words=30000 lexical=none "
     "gamma=15 logq=0 unaccented_queries=false biases=false epochs=2 "
     "valid_fraction=0 weights=int8 general_start=true keep_pairs=0"}};

std::string NameOf(bool value) { return value ? "true" : "false"; }

// Rate and epochs of a run that continues a model: STARTS.md, "Measured".
constexpr std::string_view kContinueSettings = "epochs=6 learning_rate=0.0005";

std::string SsiSettings(const v1::SsiSpec& ssi) {
  return absl::StrCat(
      " ssi=", NameOf(ssi.variant(), kSsiVariantNames),
      " ssi_dense_words=", ssi.num_dense_words(),
      " ssi_pair_hash_buckets=", ssi.pair_hash_buckets(),
      " ssi_frequent_words=", ssi.num_frequent_words(),
      " ssi_correlated_top_k=", ssi.correlated_top_k(),
      " ssi_correlated_pairing=", PairsSameRank(ssi) ? "same_rank" : "all",
      " ssi_mix_parts=", NameOf(ssi.mixes_parts()),
      " ssi_unknown_word_buckets=", ssi.unknown_word_buckets(),
      // The file does not have it: U and V begin as the model's. The value is
      // that of a run without the flag, because a checkpoint compares it.
      " ssi_init_scale=", SsiOptions().init_scale);
}

}  // namespace

const Recipe& TowerRecipe(v1::TowerKind tower) {
  for (const Recipe& recipe : kTowerRecipes) {
    if (recipe.tower == tower) return recipe;
  }
  // An unspecified tower is the default one.
  return kTowerRecipes[0];
}

absl::StatusOr<const Recipe*> PresetRecipe(std::string_view name) {
  // The names of presets stand once, in chosen_by after the =.
  std::vector<std::string> known;
  for (const Recipe& recipe : kPresetRecipes) {
    known.emplace_back(recipe.chosen_by.substr(recipe.chosen_by.find('=') + 1));
    if (known.back() == name) return &recipe;
  }
  return FlagError(
      "preset", name,
      absl::StrCat("not known; there are ", absl::StrJoin(known, ", ")));
}

std::string ModelSettings(const v1::ModelConfig& config) {
  const v1::FeatureSpec& features = config.features();
  std::string settings = absl::StrCat(
      "tower=", NameOf(config.tower(), kTowerNames),
      " shared_towers=", NameOf(config.shared_towers()),
      " hidden=", absl::StrJoin(config.hidden_dims(), ","),
      " activation=", NameOf(config.activation(), kActivationNames),
      " window=", config.clsm_window(),
      " hash_buckets=", features.hash_buckets());
  if (!config.training().general_start()) {
    // The file has biases in any case, which are 0 without.
    absl::StrAppend(&settings,
                    " biases=", NameOf(!config.training().without_biases()),
                    " features=", NameOf(features.kind(), kFeatureNames));
  }
  const auto append_positive = [&](const char* flag, std::int64_t value) {
    if (value > 0) absl::StrAppend(&settings, " ", flag, "=", value);
  };
  // Variants of SSI without vectors have 0, which no flag can.
  append_positive("embedding_dim", config.embedding_dim());
  append_positive("ngram_length", features.ngram_length());
  // Vocabularies of towers grow, so --max_words and --max_bigrams stay free;
  // SSI keeps the words of the model.
  if (config.tower() != v1::TOWER_KIND_SSI) return settings;
  // num_words counts the buckets of unknown words, the flag does not.
  append_positive("max_words", std::int64_t{features.num_words()} -
                                   config.ssi().unknown_word_buckets());
  append_positive("max_bigrams", features.num_bigrams());
  absl::StrAppend(&settings, SsiSettings(config.ssi()));
  return settings;
}

std::string ContinueSettings(const v1::ModelConfig& config) {
  // %.17g reads back as the same double, so the weight stays to the bit.
  return absl::StrCat(ToAbsl(kContinueSettings), " lexical=",
                      config.has_lexical()
                          ? absl::StrFormat("%.17g", config.lexical().weight())
                          : "none");
}

std::vector<std::pair<std::string, std::string>> SplitSettings(
    std::string_view settings) {
  std::vector<std::pair<std::string, std::string>> pairs;
  for (const absl::string_view setting :
       absl::StrSplit(ToAbsl(settings), ' ', absl::SkipEmpty())) {
    // Only at the first =; "hidden=" has an empty value.
    pairs.emplace_back(absl::StrSplit(setting, absl::MaxSplits('=', 1)));
  }
  return pairs;
}

absl::Status ApplySettings(std::string_view settings, std::string_view source,
                           CommandLine& command_line) {
  // SetDefault leaves flags that were given as they are.
  for (const auto& [flag, value] : SplitSettings(settings)) {
    SEMRANK_RETURN_IF_ERROR(command_line.SetDefault(flag, value, source));
  }
  return absl::OkStatus();
}

void AddRecipeHelp(CommandLine& command_line) {
  command_line.Group("Recipes, defaults that differ from those above");
  for (const std::span<const Recipe> recipes :
       {std::span<const Recipe>(kTowerRecipes),
        std::span<const Recipe>(kPresetRecipes)}) {
    for (const Recipe& recipe : recipes) {
      command_line.AddHelp(recipe.chosen_by, recipe.settings.empty()
                                                 ? "The defaults above."
                                                 : recipe.settings);
    }
  }
}

}  // namespace semrank
