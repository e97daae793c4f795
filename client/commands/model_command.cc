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

// Omits empty values: not known, or not a property of this architecture.
void AddFact(std::string_view what, std::string value, Table& table) {
  if (!value.empty()) table.AddRow({std::string(what), std::move(value)});
}

// In the API 0 means "not known" or "none" for these numbers.
std::string Positive(std::uint64_t number) {
  return number == 0 ? "" : std::to_string(number);
}

std::string FormatTime(const google::protobuf::Timestamp& time) {
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

void AddSsi(const v1::SsiSpec& ssi, Table& table) {
  AddFact("W", EnumWord(ssi.variant()), table);
  AddFact("dense words", Positive(ssi.num_dense_words()), table);
  AddFact("pair buckets", Positive(ssi.pair_hash_buckets()), table);
  if (ssi.correlated_top_k() > 0) {
    AddFact("rare words",
            absl::StrFormat("as %d of %d frequent ones", ssi.correlated_top_k(),
                            ssi.num_frequent_words()),
            table);
  }
  if (ssi.correlated_pairing() != v1::CORRELATED_PAIRING_UNSPECIFIED) {
    AddFact("pairing", EnumWord(ssi.correlated_pairing()), table);
  }
  if (ssi.mixes_parts()) AddFact("parts", "mixed", table);
}

void AddArchitecture(const v1::ModelConfig& config, Table& table) {
  AddFact("tower", EnumWord(config.tower()), table);
  AddFact("layers", Layers(config), table);
  AddFact("activation", EnumWord(config.activation()), table);
  AddFact("towers", config.shared_towers() ? "shared" : "separate", table);
  AddFact("features", Features(config), table);
  AddFact("window", Positive(config.clsm_window()), table);
  if (config.has_ssi()) AddSsi(config.ssi(), table);
  AddFact("scores", EnumWord(config.score_kind()), table);
}

void AddTraining(const v1::TrainingFacts& facts, Table& table) {
  AddFact("trained",
          facts.has_create_time() ? FormatTime(facts.create_time()) : "",
          table);
  AddFact("training pairs", Positive(facts.num_pairs()), table);
  AddFact("epochs", Epochs(facts), table);
  if (facts.loss() != v1::LOSS_KIND_UNSPECIFIED) {
    AddFact("loss", EnumWord(facts.loss()), table);
  }
  AddFact("negatives", Negatives(facts), table);
  AddFact("batch size", Positive(facts.batch_size()), table);
  if (facts.optimizer() != v1::OPTIMIZER_UNSPECIFIED) {
    AddFact("optimizer",
            absl::StrFormat("%s, learning rate %g", EnumWord(facts.optimizer()),
                            facts.learning_rate()),
            table);
  }
  AddFact("seed", std::to_string(facts.seed()), table);
  if (facts.has_validation_loss()) {
    AddFact("validation loss", absl::StrFormat("%.4f", facts.validation_loss()),
            table);
  }
  if (facts.has_validation_ndcg_at_10()) {
    AddFact("validation NDCG@10",
            absl::StrFormat("%.4f", facts.validation_ndcg_at_10()), table);
  }
  AddFact("trainer", facts.trainer_version(), table);
}

// Columns model, version, state, load time and failure; a row per version.
Table ModelListTable(const std::vector<v1::Model>& models) {
  Table table;
  for (const char* title : {"model", "version", "state", "loaded", "failure"}) {
    table.AddColumn(title);
  }
  for (const v1::Model& model : models) {
    table.AddRow({model.name(), std::to_string(model.version()), State(model),
                  model.has_load_time() ? FormatTime(model.load_time()) : "",
                  model.failure().message()});
  }
  return table;
}

// Rows (name, value): the current version and the one before.
Table ReloadTable(const v1::ReloadModelResponse& reloaded) {
  Table table;
  table.AddColumn("");
  table.AddColumn("");
  AddFact("model", reloaded.model().name(), table);
  AddFact("version", std::to_string(reloaded.model().version()), table);
  AddFact("state", State(reloaded.model()), table);
  AddFact("version before",
          reloaded.has_previous()
              ? std::to_string(reloaded.previous().version())
              : "none",
          table);
  AddFact("loaded", reloaded.changed() ? "now" : "no, it was current already",
          table);
  return table;
}

// Rows (name, value): identity, state, architecture, features, training.
// Unknown facts have no row.
Table ModelTable(const v1::Model& model) {
  Table table;
  table.AddColumn("");
  table.AddColumn("");
  AddFact("model", model.name(), table);
  AddFact("version", std::to_string(model.version()), table);
  AddFact("state", State(model), table);
  AddFact("loaded", model.has_load_time() ? FormatTime(model.load_time()) : "",
          table);
  AddFact("failure", model.failure().message(), table);
  AddFact("weights sha256", model.weights_sha256(), table);
  AddFact("embedding dim", Positive(model.embedding_dim()), table);
  if (!model.has_config()) return table;
  AddArchitecture(model.config(), table);
  if (model.config().gamma() > 0) {
    AddFact("gamma", absl::StrFormat("%g", model.config().gamma()), table);
  }
  if (model.config().has_training()) {
    AddTraining(model.config().training(), table);
  }
  return table;
}

absl::Status PrintMessage(const google::protobuf::Message& message) {
  SEMRANK_ASSIGN_OR_RETURN(const std::string line, MessageJsonLine(message));
  return WriteStdout(line);
}

absl::Status DescribeModel(SemrankClient& client, const v1::ModelRef& ref,
                           OutputFormat format) {
  const auto model = client.GetModel(ref);
  if (!model.ok()) return WithHint(model.status());
  return format == OutputFormat::kJson ? PrintMessage(*model)
                                       : WriteTable(ModelTable(*model), format);
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
    SEMRANK_RETURN_IF_ERROR(PrintMessage(model));
  }
  return absl::OkStatus();
}

absl::Status Reload(SemrankClient& client, const v1::ModelRef& ref,
                    OutputFormat format) {
  const auto reloaded = client.ReloadModel(ref);
  if (!reloaded.ok()) return WithHint(reloaded.status());
  return format == OutputFormat::kJson
             ? PrintMessage(*reloaded)
             : WriteTable(ReloadTable(*reloaded), format);
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
