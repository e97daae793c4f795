#include "model/train/options/option_flags.h"

#include <cstdint>

#include "absl/strings/str_format.h"
#include "model/train/options/network_options.h"
#include "model/train/options/recipes.h"
#include "model/train/options/ssi_options.h"

namespace semrank {
namespace {

// Weights are in single precision.
constexpr double kMaxFloat = 3.4e38;

// As ChooseGamma does it.
std::string GammaOfData() {
  return absl::StrFormat(
      "%g when the training pairs have fewer than %d distinct queries, "
      "otherwise %g",
      kFewQueriesGamma, kManyQueries, kManyQueriesGamma);
}

// As ChooseLogQ does it.
std::string LogQOfData() {
  return absl::StrFormat(
      "%g when a pair finds, on average, more than one other of its title in "
      "its mini-batch, otherwise 0; also 0 when the pairs do not fit in memory",
      kPopularTitlesLogQ);
}

void AddDataFlags(CommandLine& flags, DataOptions& options) {
  flags.Group("Data");
  flags.Add(
      "train", &options.train_files,
      "Files of clicked pairs: query TAB title [TAB clicks [TAB impressions "
      "[TAB position]]]; plain, .gz or .zst; - is standard input. Pairs with 0 "
      "clicks are ignored; --clicks says what the counts of the others do.",
      "FILE[,FILE...]");
  flags.Add("events", &options.event_paths,
            "Folders of events that semrank-server --events has written, or "
            "files of them: their clicks are joined as by semrank events join "
            "and take the place of --train.",
            "DIR[,DIR...]");
  flags.Add("model_dir", &options.model_dir,
            "Folder to publish the model in, as its next version. Also gets "
            "training.jsonl, the metrics of every epoch, and report.html.",
            "DIR");
  flags.Add(
      "valid_fraction", &options.valid_fraction,
      absl::StrFormat(
          "Share of the queries of --train, 0 to %g, whose pairs are held out "
          "for the validation loss and not learned from. -1 = %g where the "
          "loss chooses the epoch, if these are %d pairs or more; otherwise 0.",
          kMaxValidFraction, kDefaultValidFraction, kMinPairsForLoss));
  flags.Add(
      "keep_pairs", &options.keep_pairs,
      "Most pairs whose texts are kept in the folder of the published version "
      "(pairs.tsv), for a run that continues it with new clicks: a random "
      "sample of all pairs that the model has learned from. 0 = none.",
      {.min = 0, .max = 10'000'000});
  flags.Add("judge_fraction", &options.judge_fraction,
            absl::StrFormat(
                "Share of the queries, 0 to %g, whose pairs are not learned "
                "from, so that they judge the models of this and of later "
                "nights. A hash chooses them, the same in every run. -1 = %g "
                "with --events or --publish=if_better, otherwise 0.",
                kMaxValidFraction, kDefaultJudgeFraction));
  flags.Add("judge_days", &options.judge_days,
            "--events with --judge_fraction: the lists that were shown in this "
            "many days before the newest one are not learned from, so that "
            "they judge this model or the next one.",
            {.min = 1, .max = 3650});
  flags.Add("valid_queries", &options.valid_queries,
            "Judged queries, query_id TAB query, whose NDCG is measured after "
            "each epoch; needs --valid_docs and --valid_qrels.",
            "FILE");
  flags.Add(
      "docs", &options.docs_file,
      "Documents of the catalogue, doc_id TAB title, or .csv and .jsonl as "
      "semrank put reads them. Beside --train their titles count in the idf of "
      "the lexical part, and its weight is fitted to the share of these titles "
      "that occur in the log. Without --train they are all that the model is "
      "made of: letter trigrams weighted by the catalogue, beside the general "
      "English model if it is installed and knows the texts.",
      "FILE");
  flags.Add("valid_docs", &options.valid_docs,
            "Documents, doc_id TAB title, that --valid_queries rank.", "FILE");
  flags.Add("valid_qrels", &options.valid_qrels,
            "Judgements of --valid_queries, as TREC qrels.", "FILE");
}

void AddAdvancedDataFlags(CommandLine& flags, DataOptions& options) {
  flags.Group("Data", CommandLine::Level::kAdvanced);
  flags.Add("valid_pairs", &options.valid_pair_files,
            "Files of pairs, as --train, for the validation loss.",
            "FILE[,FILE...]");
  flags.Add("valid_candidates", &options.valid_judged_only,
            "Documents that a query of --valid_queries ranks: all, or those "
            "judged for it.",
            {{"all", false}, {"judged", true}});
  flags.Add("valid_halves", &options.valid_halves,
            "Scores each half of the validation queries apart, too (\"halves\" "
            "in training.jsonl), for two-fold cross-validation by "
            "scripts/experiments/tune.py.");
  flags.Add("judged", &options.judged_file,
            "Judged titles, query TAB title TAB grade. Those of a lower grade "
            "than the clicked one are the negatives of "
            "--negative_sampling=shown and --hard_negatives.",
            "FILE");
  AddBadLinesFlag(flags, &options.max_bad_lines);
  flags.Add(
      "max_text_bytes", &options.max_text_bytes,
      "Longest query or title in bytes after normalising, as a server has for "
      "texts that it embeds. A line with a longer one is a bad line.",
      {.min = 1, .max = std::int64_t{1} << 30});
  flags.Add("memory_limit", &options.memory_limit,
            absl::StrFormat(
                "Bytes of memory. Pairs that take more than %g %% of it are "
                "read from their files again in each epoch, in random blocks "
                "through a shuffle buffer that takes what model and "
                "mini-batches leave. 0 = half of this machine's memory, or of "
                "what its container, systemd's MemoryMax or ulimit -v allows "
                "if that is less.",
                100 * kMaxPairShare),
            {.min = 0, .max = std::int64_t{1} << 50});
}

void AddLossFlags(CommandLine& flags, LossOptions& options) {
  // The help names symbols of the papers (gamma of eq. 6, J, the margin of
  // SSI), so that a reader of them finds the flag.
  flags.Group("Loss");
  flags.Add(
      "negative_sampling", &options.sampling,
      "Source of the unclicked titles: in_batch (other pairs of the "
      "mini-batch; one product scores all of them), uniform (drawn from all "
      "titles, each embedded for itself, as in the papers) or shown (drawn "
      "from those that were shown for the same query and did worse: fewer "
      "clicks, a lower click rate where all have impressions, a lower grade "
      "with --judged; uniform ones fill up). Titles that were clicked for the "
      "query are ignored except, with shown, those that did worse.",
      {{"uniform", v1::NEGATIVE_SAMPLING_UNIFORM},
       {"in_batch", v1::NEGATIVE_SAMPLING_IN_BATCH},
       {"shown", v1::NEGATIVE_SAMPLING_SHOWN_NOT_CLICKED}});
  flags.Add(
      "negatives", &options.negatives,
      absl::StrFormat(
          "Unclicked titles beside each clicked one, J. in_batch: 0 = all "
          "other titles of the batch. -1 = all with in_batch, %d otherwise.",
          kDefaultNegatives),
      {.min = -1, .max = kMaxNegatives});
  // Beyond, the softmax of single precision is an argmax.
  flags.Add("gamma", &options.gamma,
            absl::StrFormat("Factor on the cosine in the softmax; --tower=ssi "
                            "has no softmax. %g = %s.",
                            kAutoGamma, GammaOfData()),
            {.min = kAutoGamma, .max = 1000});
}

void AddAdvancedLossFlags(CommandLine& flags, LossOptions& options) {
  flags.Group("Loss", CommandLine::Level::kAdvanced);
  flags.Add("hard_negatives", &options.hard_negatives,
            "Titles beside those of the batch, at most, that were shown for "
            "the same query and did worse, as with --negative_sampling=shown. "
            "Only with --negative_sampling=in_batch.",
            {.min = 0, .max = kMaxNegatives});
  flags.Add(
      "clicks", &options.clicks,
      "Meaning of click counts: ignore (each line counts once), weight (the "
      "loss of a pair counts as often as it was clicked; the mean of a "
      "mini-batch is over its clicks) or repeat (the pair occurs that often in "
      "an epoch, each time in another batch and against other titles).",
      {{"ignore", v1::CLICK_USE_IGNORE},
       {"weight", v1::CLICK_USE_WEIGHT},
       {"repeat", v1::CLICK_USE_REPEAT}});
  flags.Add("logq", &options.logq,
            absl::StrFormat(
                "Corrects the softmax for popular titles, which are negatives "
                "more often than others: subtracts X ln(n) from the logit of a "
                "title of n training pairs, in training only. 0 = no "
                "correction, 1 = that of Yi et al., 2019. Only with "
                "--negative_sampling=in_batch; not with --tower=ssi. %g = %s.",
                kAutoLogQ, LogQOfData()),
            {.min = kAutoLogQ, .max = 1});
  flags.Add(
      "query_typos", &options.query_typos,
      absl::StrFormat(
          "Share of the training queries that get one random edit (a letter "
          "deleted, inserted, replaced or swapped, in a word of %d letters or "
          "more), drawn anew in each epoch. Needs letters among --features.",
          kMinTypoLetters),
      {.min = 0, .max = 1});
  flags.Add("unaccented_queries", &options.unaccented_queries,
            "Trains each query that has accents twice in an epoch: as it is, "
            "and without them, as many users type it, unless the log has that "
            "spelling, too. Not for a click log that is streamed from disk.");
  flags.Add(
      "position_bias", &options.position_bias,
      "Corrects clicks for the position at which titles were shown, the fifth "
      "column of --train: none, estimate (from titles that were shown at "
      "several positions for the same query), or a file of lines position TAB "
      "examination, the probability, above 0 to 1, that a user looks at the "
      "position. A click is weighted by 1 / examination, and --clicks is "
      "weight by default, and pairs whose clicks may be chance are omitted. "
      "Titles that were shown and not clicked count by the impressions that "
      "were looked at.",
      "none|estimate|FILE");
  flags.Add("max_position_weight", &options.max_position_weight,
            "Largest weight that --position_bias gives a click: larger ones "
            "become this.",
            {.min = 1, .max = 1e6});
  flags.Add("margin", &options.margin,
            "--tower=ssi: margin by which the clicked title has to score "
            "higher than an unclicked one.",
            {.min = 0, .max = 1000, .above_min = true});
}

void AddOptimizerFlags(CommandLine& flags, OptimizerOptions& options) {
  flags.Group("Optimizer");
  flags.Add("optimizer", &options.kind,
            "sgd, adagrad (the more a weight has moved, the shorter are its "
            "steps) or adam.",
            {{"sgd", v1::OPTIMIZER_SGD},
             {"adagrad", v1::OPTIMIZER_ADAGRAD},
             {"adam", v1::OPTIMIZER_ADAM}});
  flags.Add(
      "learning_rate", &options.learning_rate,
      "Step size. The loss is the mean over the mini-batch, so sgd needs far "
      "longer steps than adam, and adagrad longer ones: see the recipes below.",
      {.min = 0, .max = kMaxFloat, .above_min = true});
  flags.Group("Optimizer", CommandLine::Level::kAdvanced);
  flags.Add(
      "learning_rate_decay", &options.decay,
      absl::StrFormat(
          "Learning rate after the warm-up: none (constant), linear (to 0 at "
          "the end of the last of --epochs, also when --patience ends the run "
          "before) or cosine (along half a wave, to %g %% of the rate).",
          100 * kCosineDecayEnd),
      {{"none", v1::LEARNING_RATE_DECAY_NONE},
       {"linear", v1::LEARNING_RATE_DECAY_LINEAR},
       {"cosine", v1::LEARNING_RATE_DECAY_COSINE}});
  flags.Add("warmup_batches", &options.warmup_batches,
            "Mini-batches over which the learning rate rises linearly from 0.",
            {.min = 0});
  flags.Add("gradient_clip_norm", &options.gradient_clip_norm,
            "Largest norm of a step's gradient, over all weights; a longer "
            "gradient is scaled down to it. 0 = no limit.",
            {.min = 0, .max = kMaxFloat});
}

void AddCheckpointFlags(CommandLine& flags, CheckpointOptions& options) {
  flags.Group("Checkpoints");
  flags.Add("resume", &options.resume,
            "Continues a killed or interrupted run of the same flags and files "
            "from its last checkpoint; the model is the same, bit for bit. "
            "Without a checkpoint the run starts over. --threads and the "
            "checkpoint flags may differ.");
  flags.Group("Checkpoints", CommandLine::Level::kAdvanced);
  flags.Add("checkpoint_every", &options.every,
            "Time between two checkpoints: checkpoint.safetensors in "
            "--model_dir, which --resume continues. 0 = none by time.");
  flags.Add("checkpoint_batches", &options.batches,
            "Mini-batches between two checkpoints. 0 = none by number.",
            {.min = 0, .max = std::int64_t{1} << 40});
}

void AddRunFlags(CommandLine& flags, TrainOptions& options) {
  flags.Group("Run");
  flags.Add("batch_size", &options.batch_size,
            "Largest number of pairs in a mini-batch: an epoch is cut into "
            "equal ones.",
            {.min = 1, .max = kMaxBatchSize});
  flags.Add("epochs", &options.epochs,
            "Largest number of passes over the pairs.",
            {.min = 1, .max = 1'000'000});
  flags.Add("patience", &options.patience,
            "Epochs without improvement, as --early_stopping measures it, "
            "before training stops. 0 = never.",
            {.min = 0, .max = 1'000'000});
  flags.Add(
      "early_stopping", &options.early_stopping,
      absl::StrFormat(
          "What chooses the epoch that is published: ndcg (NDCG@10 of "
          "--valid_queries; where the learning rate falls, the last epoch "
          "unless it is worse than the best by more than a standard error), "
          "loss (of the validation pairs), last (nothing), or auto: ndcg with "
          "--valid_queries; otherwise loss for a constant rate and %d "
          "validation pairs or more; otherwise last.",
          kMinPairsForLoss),
      {{"auto", EpochMeasure::kAuto},
       {"ndcg", EpochMeasure::kNdcg},
       {"loss", EpochMeasure::kLoss},
       {"last", EpochMeasure::kLast}});
  flags.Add("publish", &options.publish,
            "always, or if_better: the model and that of --init_from rank "
            "clicks that neither has learned from (--judge_fraction), and a "
            "model that is significantly worse, on new clicks or on those of "
            "earlier nights, is kept in rejected/ of --model_dir with its "
            "report, exit code 4. auto = if_better with --events and the "
            "--init_from of a served model, otherwise always.",
            {{"auto", PublishMode::kAuto},
             {"always", PublishMode::kAlways},
             {"if_better", PublishMode::kIfBetter}});
  flags.Add("force", &options.force,
            "Publishes the model even if it ranks the validation queries "
            "significantly worse than letter TF-IDF or than the model of "
            "--init_from.");
  flags.Group("Run", CommandLine::Level::kAdvanced);
  flags.Add("weights", &options.weights,
            "Weights of the first layer in the published file: float32, or "
            "int8 (a quarter of the size; linear and dssm).",
            {{"float32", v1::WEIGHT_ENCODING_UNSPECIFIED},
             {"int8", v1::WEIGHT_ENCODING_INT8}});
  flags.Add("general_start", &options.general_start,
            "Marks the model as one to begin others from: a run with "
            "--init_from scales its rows and adds features of its own.");
  // Back to the common flags of the group.
  flags.Group("Run");
  flags.Add("seed", &options.seed,
            "Random seed. The same seed, files and flags give the same model, "
            "bit for bit.");
  flags.Add("threads", &options.threads,
            "Number of threads; does not change the model. 0 = one for each "
            "processor.",
            {.min = 0, .max = 1024});
}

}  // namespace

// The groups stand in the order in which a new user meets them: files, network,
// features, loss, and what a run costs. Recipes come last, because they name
// flags of all groups.
void AddTrainOptions(CommandLine& flags, TrainOptions& options) {
  AddDataFlags(flags, options.data);
  AddAdvancedDataFlags(flags, options.data);
  AddTowerFlags(flags, options.tower);
  AddFeatureFlags(flags, options.features);
  AddSsiFlags(flags, options.ssi);
  AddLossFlags(flags, options.loss);
  AddAdvancedLossFlags(flags, options.loss);
  AddOptimizerFlags(flags, options.optimizer);
  AddRunFlags(flags, options);
  AddCheckpointFlags(flags, options.checkpoint);
  AddRecipeHelp(flags);
}

std::string DescribeChoiceOfData(std::string_view flag,
                                 const TrainOptions& options) {
  // These four are chosen when the data are known, after the options have
  // been resolved.
  if (flag == "gamma" && options.loss.gamma == kAutoGamma) {
    return GammaOfData();
  }
  if (flag == "logq" && options.loss.logq == kAutoLogQ) return LogQOfData();
  if (flag == "early_stopping" &&
      options.early_stopping == EpochMeasure::kAuto) {
    return absl::StrFormat(
        "loss with %d validation pairs or more, otherwise last",
        kMinPairsForLoss);
  }
  if (flag == "lexical" && !options.features.lexical_weight) {
    return "the weight that fits queries held out of a shorter training";
  }
  return "";
}

// The command line is never parsed: the fields of `options` are its defaults,
// so names and forms of the values are those of the flags.
std::vector<FlagValue> OptionValues(TrainOptions options) {
  CommandLine flags({.name = "semrank-train"});
  AddTrainOptions(flags, options);
  return flags.Values();
}

}  // namespace semrank
