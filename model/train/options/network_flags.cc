#include "model/train/options/network_flags.h"

#include "absl/strings/str_format.h"
#include "model/cli/command_line.h"
#include "model/format/model_config.h"
#include "model/nn/clsm_tower.h"
#include "model/text/ngram_vocabulary.h"

namespace semrank {
namespace {

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
            "none, or a number from 0 to below 1. --tower=ssi has none.");
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
            "Training texts that a bigram must stand in.", {.min = 1});
}

void AddSsiFlags(CommandLine& flags, SsiOptions& options) {
  flags.Group("SSI", CommandLine::Level::kAdvanced);
  flags.Add("ssi", &options.variant,
            "W in the score q'Wd of --tower=ssi: low_rank (U'V + I), symmetric "
            "(U'U + I), low_rank_no_identity (U'V), diagonal (a weight a "
            "word), full (a weight a pair of words; small dictionaries, or "
            "hashed), full_no_identity (hashed pairs alone, without I). U and "
            "V have --embedding_dim rows.",
            kSsiVariantNames);
  flags.Add("ssi_dense_words", &options.dense_words,
            "Number of the most frequent words that have columns in U and V; "
            "the columns of the others are zero, so that those words match "
            "only themselves, through I. 0 = all words have columns.",
            {.min = 0, .max = kMaxVocabularySize});
  flags.Add("ssi_pair_hash_buckets", &options.pair_hash_buckets,
            "Hash kernels: number of weights that the word pairs share; "
            "--ssi=full adds them to I, --ssi=full_no_identity does not. 0 = "
            "each pair has its own.",
            {.min = 0, .max = kMaxPairHashBuckets});
  flags.Add(
      "ssi_frequent_words", &options.frequent_words,
      "Correlated feature hashing: number of words that count as frequent. In "
      "U and V any other word is the mean of the --ssi_correlated_top_k "
      "frequent ones that it occurs with most (DICE). 0 = off.",
      {.min = 0, .max = kMaxFrequentWords});
  flags.Add("ssi_correlated_top_k", &options.correlated_top_k,
            "See --ssi_frequent_words; the paper uses 5.",
            {.min = 0, .max = kMaxCorrelatedTopK});
  flags.Add("ssi_correlated_pairing", &options.correlated_pairing,
            "Correlated feature hashing: all (each frequent word that stands "
            "for a word of the query meets each that stands for a word of the "
            "title) or same_rank (the p-th meets the p-th, as in the paper's "
            "eq. 6; vectors are --ssi_correlated_top_k times as long).",
            kCorrelatedPairingNames);
  flags.Add(
      "ssi_mix_parts", &options.mix_parts,
      "Correlated feature hashing: the --ssi_frequent_words have columns of U "
      "and V for themselves, and others for correlated words; the two parts of "
      "the score are mixed by a learned factor. Vectors have a block more.");
  flags.Add(
      "ssi_unknown_word_buckets", &options.unknown_word_buckets,
      "Words that no training text has, or that are beyond --max_words, are "
      "hashed to this many indices and match themselves, with the idf of the "
      "rarest word. 0 = they are dropped, as in the paper and with bigrams. "
      "Nothing with --ssi=low_rank_no_identity and an unhashed full.",
      {.min = 0, .max = kMaxUnknownWordBuckets});
  flags.Add("ssi_init_scale", &options.init_scale,
            "Standard deviation of the initial U and V; 1 in the paper.",
            {.min = 0, .max = 100, .above_min = true});
}

}  // namespace

void AddNetworkFlags(CommandLine& flags, TrainOptions& options) {
  AddTowerFlags(flags, options.tower);
  AddFeatureFlags(flags, options.features);
  AddSsiFlags(flags, options.ssi);
}

}  // namespace semrank
