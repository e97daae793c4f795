// `semrank model`: what the server knows of its models, and which it serves.
//
// A table has the facts that differ between models; JSON is the message of the
// API, with all of them.
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "absl/time/time.h"
#include "client/commands/command.h"
#include "client/lib/semrank_client.h"
#include "client/output/table.h"
#include "model/base/status_macros.h"

namespace semrank {
namespace {

constexpr ProgramInfo kModelInfo = {
    .name = "model",
    .summary = "describes, lists or reloads models",
    .usage = R"(Usage:
  semrank model [--list | --reload] [flags]

Describes the model that answers: name, version, state, architecture, features and
training. With --list, lists all versions. With --reload, loads a version and prints
which one is served then.

Examples:
  semrank model
  semrank model --model=shop --model_version=3 --output=json
  semrank model --list
  semrank model --reload --model=shop --model_version=2
)"};

struct ModelCommandOptions {
  bool list = false;
  bool reload = false;
  ModelOptions model;
};

// Rows (name, value) about a model. What is not known, or no property of its
// architecture, has no row: an empty text, and in the API the number 0.
class Facts {
 public:
  void Add(std::string_view what, std::string value) {
    if (!value.empty()) table_.AddRow({std::string(what), std::move(value)});
  }
  void AddNumber(std::string_view what, std::uint64_t number) {
    Add(what, number == 0 ? "" : std::to_string(number));
  }
  template <typename Enum>
  void AddEnum(std::string_view what, Enum value) {
    Add(what, int{value} == 0 ? "" : EnumWord(value));
  }
  absl::Status Write(OutputFormat format) const {
    return WriteTable(table_, format);
  }

 private:
  Table table_{{{""}, {""}}};
};

// Empty for a time that is not known.
std::string FormatTime(const google::protobuf::Timestamp& time) {
  if (time.seconds() == 0) return "";
  return absl::FormatTime(absl::RFC3339_sec,
                          absl::FromUnixSeconds(time.seconds()),
                          absl::UTCTimeZone());
}

// One row has all that is true of a version: most of it is rare.
std::string State(const v1::Model& model) {
  std::string state = EnumWord(model.state());
  if (model.current()) state += ", current";
  if (model.pinned()) state += ", pinned";
  if (model.is_default()) state += ", default model";
  return state;
}

// "41000 -> 300 -> 300 -> 128"; the input dimension is the number of features.
std::string Layers(const v1::ModelConfig& config) {
  // The buckets of unknown words are counted among the words, but are no words.
  std::string layers = std::to_string(
      config.features().num_ngrams() + config.features().num_words() -
      config.ssi().unknown_word_buckets() + config.features().num_bigrams());
  for (const std::uint32_t width : config.hidden_dims()) {
    layers += absl::StrFormat(" -> %d", width);
  }
  // An SSI that compares words alone has no layer.
  if (config.embedding_dim() == 0) return "";
  return absl::StrFormat("%s -> %d", layers, config.embedding_dim());
}

// With their numbers, in which models of one tower differ first.
std::string Features(const v1::ModelConfig& config) {
  const v1::FeatureSpec& features = config.features();
  std::string text = EnumWord(features.kind());
  if (features.num_ngrams() > 0) {
    text += absl::StrFormat(
        ", %d %s of %d letters", features.num_ngrams(),
        features.hash_buckets() > 0 ? "buckets for n-grams" : "n-grams",
        features.ngram_length());
  }
  if (features.num_words() > 0) {
    text +=
        absl::StrFormat(", %d words", features.num_words() -
                                          config.ssi().unknown_word_buckets());
  }
  if (features.num_bigrams() > 0) {
    text += absl::StrFormat(", %d bigrams", features.num_bigrams());
  }
  return text;
}

// 0 negatives means all other titles of the batch.
std::string Negatives(const v1::TrainingFacts& facts) {
  if (facts.negative_sampling() == v1::NEGATIVE_SAMPLING_UNSPECIFIED) return "";
  const std::string number =
      facts.negatives() == 0 ? "all" : std::to_string(facts.negatives());
  return absl::StrFormat("%s, %s", number, EnumWord(facts.negative_sampling()));
}

// Both numbers, since training continues for some epochs after the best one.
std::string Epochs(const v1::TrainingFacts& facts) {
  if (facts.epochs_run() == 0) return "";
  return absl::StrFormat("%d, best %d", facts.epochs_run(), facts.best_epoch());
}

// What only SSI has: which words have weights of their own, and what becomes of
// the others.
void AddSsi(const v1::SsiSpec& ssi, Facts& facts) {
  facts.AddEnum("W", ssi.variant());
  facts.AddNumber("dense words", ssi.num_dense_words());
  facts.AddNumber("pair buckets", ssi.pair_hash_buckets());
  if (ssi.correlated_top_k() > 0) {
    facts.Add("rare words", absl::StrFormat("as %d of %d frequent ones",
                                            ssi.correlated_top_k(),
                                            ssi.num_frequent_words()));
  }
  facts.AddEnum("pairing", ssi.correlated_pairing());
  if (ssi.mixes_parts()) facts.Add("parts", "mixed");
}

void AddArchitecture(const v1::ModelConfig& config, Facts& facts) {
  facts.AddEnum("tower", config.tower());
  facts.Add("layers", Layers(config));
  facts.AddEnum("activation", config.activation());
  facts.Add("towers", config.shared_towers() ? "shared" : "separate");
  facts.Add("features", Features(config));
  facts.AddNumber("window", config.clsm_window());
  if (config.has_ssi()) AddSsi(config.ssi(), facts);
  facts.AddEnum("scores", config.score_kind());
  if (config.gamma() > 0) {
    facts.Add("gamma", absl::StrFormat("%g", config.gamma()));
  }
}

// A model that was trained by an older release lacks some of these.
void AddTraining(const v1::TrainingFacts& training, Facts& facts) {
  facts.Add("trained", FormatTime(training.create_time()));
  facts.AddNumber("training pairs", training.num_pairs());
  facts.Add("epochs", Epochs(training));
  facts.AddEnum("loss", training.loss());
  facts.Add("negatives", Negatives(training));
  facts.AddNumber("batch size", training.batch_size());
  if (training.optimizer() != v1::OPTIMIZER_UNSPECIFIED) {
    facts.Add("optimizer", absl::StrFormat("%s, learning rate %g",
                                           EnumWord(training.optimizer()),
                                           training.learning_rate()));
  }
  // Always shown: 0 is a seed as any other.
  facts.Add("seed", std::to_string(training.seed()));
  // A run without validation data has neither; 0 would be a very good loss.
  if (training.has_validation_loss()) {
    facts.Add("validation loss",
              absl::StrFormat("%.4f", training.validation_loss()));
  }
  if (training.has_validation_ndcg_at_10()) {
    facts.Add("validation NDCG@10",
              absl::StrFormat("%.4f", training.validation_ndcg_at_10()));
  }
  facts.Add("trainer", training.trainer_version());
}

// Failed versions are listed, too: why a new model is not served is the
// question that this list answers. Columns model, version, state, load time and
// failure; a row per version.
Table ModelListTable(const std::vector<v1::Model>& models) {
  Table table({{"model"}, {"version"}, {"state"}, {"loaded"}, {"failure"}});
  for (const v1::Model& model : models) {
    table.AddRow({model.name(), std::to_string(model.version()), State(model),
                  FormatTime(model.load_time()), model.failure().message()});
  }
  return table;
}

// Name, version and state, which is all that is known of some models.
Facts IdentityFacts(const v1::Model& model) {
  Facts facts;
  facts.Add("model", model.name());
  facts.Add("version", std::to_string(model.version()));
  facts.Add("state", State(model));
  return facts;
}

// The current version and the one before.
Facts ReloadFacts(const v1::ReloadModelResponse& reloaded) {
  Facts facts = IdentityFacts(reloaded.model());
  facts.Add("version before",
            reloaded.has_previous()
                ? std::to_string(reloaded.previous().version())
                : "none");
  // A reload of the current version changes nothing, and is no failure.
  facts.Add("loaded",
            reloaded.changed() ? "now" : "no, it was current already");
  return facts;
}

// A version that failed or is still being loaded has neither config nor
// training: its rows are fewer.
Facts ModelFacts(const v1::Model& model) {
  Facts facts = IdentityFacts(model);
  facts.Add("loaded", FormatTime(model.load_time()));
  facts.Add("failure", model.failure().message());
  facts.Add("weights sha256", model.weights_sha256());
  facts.AddNumber("embedding dim", model.embedding_dim());
  if (model.has_config()) AddArchitecture(model.config(), facts);
  if (model.config().has_training()) {
    AddTraining(model.config().training(), facts);
  }
  return facts;
}

// JSON is the API's own message: programs find the fields of
// model_service.proto.
absl::Status DescribeModel(SemrankClient& client, const v1::ModelRef& ref,
                           OutputFormat format) {
  const auto model = client.GetModel(ref);
  if (!model.ok()) return WithHint(model.status());
  return format == OutputFormat::kJson ? WriteJson(*model)
                                       : ModelFacts(*model).Write(format);
}

absl::Status ListVersions(SemrankClient& client, const v1::ModelRef& ref,
                          OutputFormat format) {
  const auto models = client.ListModels(ref.name());
  if (!models.ok()) return WithHint(models.status());
  if (format != OutputFormat::kJson) {
    return WriteTable(ModelListTable(*models), format);
  }
  // An object per line, so that the output can be processed line by line.
  for (const v1::Model& model : *models) {
    SEMRANK_RETURN_IF_ERROR(WriteJson(model));
  }
  return absl::OkStatus();
}

// Waits for the load, so that a script knows which version answers next.
absl::Status Reload(SemrankClient& client, const v1::ModelRef& ref,
                    OutputFormat format) {
  const auto reloaded = client.ReloadModel(ref);
  if (!reloaded.ok()) return WithHint(reloaded.status());
  return format == OutputFormat::kJson ? WriteJson(*reloaded)
                                       : ReloadFacts(*reloaded).Write(format);
}

absl::Status RunModel(const ModelCommandOptions& options,
                      const CommonOptions& common) {
  if (options.list && options.reload) {
    return UsageError("--list and --reload: want at most one");
  }
  SEMRANK_ASSIGN_OR_RETURN(const auto client,
                           SemrankClient::Create(common.client));
  // All three have one signature: the same flags name the model.
  const auto run = options.list     ? ListVersions
                   : options.reload ? Reload
                                    : DescribeModel;
  return run(*client, options.model.ToRef(), common.ResultFormat());
}

}  // namespace

Command AddModelCommand(CommandLine& program, const CommonOptions& common) {
  const auto options = std::make_shared<ModelCommandOptions>();
  CommandLine& command = program.AddCommand(kModelInfo);
  AddModelFlags(command, options->model);
  command.Add("list", &options->list,
              "List the versions that the server knows, of --model or of all "
              "models, with their states and failures.");
  command.Add("reload", &options->reload,
              "Load --model_version of --model, which may be older than the "
              "current one, and serve it from now on; 0 = the highest on disk. "
              "Needs a server with --enable_admin_rpcs and the admin role.");
  return {kModelInfo.name,
          [options, &common] { return RunModel(*options, common); }};
}

}  // namespace semrank
