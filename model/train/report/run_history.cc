#include "model/train/report/run_history.h"

#include <array>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "model/base/status_macros.h"
#include "model/format/strict_json.h"

namespace semrank {
namespace {

// The history as JSON, in the metadata of a checkpoint. Overloads of ToJson and
// FromJson know the types of members, and VisitMembers names the members of a
// type once, for writing and for reading.

using nlohmann::json;

// Values as JSON. Each FromJson throws what json does for a value that is
// missing or of another type.

template <std::integral T>
json ToJson(T value) {
  return value;
}

template <std::integral T>
void FromJson(const json& value, T& number) {
  number = value.get<T>();
}

// The loss of weights that diverged may be infinite or NaN, which JSON has no
// numbers for.
json ToJson(double value) {
  return std::isfinite(value) ? json(value) : json(absl::StrCat(value));
}

// The number of the measure: checkpoints hold it, so new measures belong at the
// end of the enumeration.
json ToJson(EpochMeasure measure) { return static_cast<int>(measure); }

void FromJson(const json& value, EpochMeasure& measure) {
  measure = static_cast<EpochMeasure>(value.get<int>());
}

void FromJson(const json& value, double& number) {
  // "inf" and "nan", as ToJson writes them.
  if (value.is_string() &&
      absl::SimpleAtod(value.get<std::string>(), &number)) {
    return;
  }
  number = value.get<double>();
}

json ToJson(const FoldScore& fold) {
  return json::array({ToJson(fold.score), ToJson(fold.weight)});
}

void FromJson(const json& value, FoldScore& fold) {
  FromJson(value.at(0), fold.score);
  FromJson(value.at(1), fold.weight);
}

template <typename T, std::size_t size>
json ToJson(const std::array<T, size>& values) {
  json list = json::array();
  for (const T& value : values) list.push_back(ToJson(value));
  return list;
}

template <typename T, std::size_t size>
void FromJson(const json& list, std::array<T, size>& values) {
  for (std::size_t i = 0; i < size; ++i) FromJson(list.at(i), values[i]);
}

json ToJson(const MetricSummary& summary) {
  return json::array({ToJson(summary.mean), ToJson(summary.standard_error)});
}

void FromJson(const json& value, MetricSummary& summary) {
  FromJson(value.at(0), summary.mean);
  FromJson(value.at(1), summary.standard_error);
}

json ToJson(const ExampleRanking& example) {
  json titles = json::array();
  for (const ExampleTitle& title : example.titles) {
    titles.push_back({title.title, ToJson(title.score), title.relevant});
  }
  return json::array({example.query, std::move(titles)});
}

void FromJson(const json& value, ExampleRanking& example) {
  example.query = value.at(0).get<std::string>();
  for (const json& title : value.at(1)) {
    double score = 0;
    FromJson(title.at(1), score);
    example.titles.push_back({.title = title.at(0).get<std::string>(),
                              .score = static_cast<float>(score),
                              .relevant = title.at(2).get<bool>()});
  }
}

json ToJson(const std::vector<ExampleRanking>& examples) {
  json list = json::array();
  for (const ExampleRanking& example : examples) {
    list.push_back(ToJson(example));
  }
  return list;
}

void FromJson(const json& list, std::vector<ExampleRanking>& examples) {
  for (const json& value : list) FromJson(value, examples.emplace_back());
}

template <typename T>
json ToJson(const std::optional<T>& value) {
  return value ? ToJson(*value) : json();
}

template <typename T>
void FromJson(const json& value, std::optional<T>& optional) {
  if (!value.is_null()) FromJson(value, optional.emplace());
}

// VisitMembers calls visit(name, member) for the members that are written, by
// these visitors.
struct Writer {
  json& object;
  template <typename T>
  void operator()(const char* name, const T& member) const {
    object[name] = ToJson(member);
  }
};

struct Reader {
  const json& object;
  template <typename T>
  void operator()(const char* name, T& member) const {
    FromJson(object.at(name), member);
  }
};

template <typename Visitor>
void VisitMembers(ValidationResult& validation, const Visitor& visit) {
  visit("valid_loss", validation.loss);
  visit("metrics", validation.metrics);
  visit("ndcg_error", validation.ndcg_error);
  visit("measure", validation.measure);
  visit("folds", validation.folds);
}

template <typename Visitor>
void VisitMembers(RankerComparison& comparison, const Visitor& visit) {
  visit("judged", comparison.judged);
  visit("trial", comparison.trial);
  visit("num_queries", comparison.num_queries);
  visit("num_titles", comparison.num_titles);
  visit("bm25", comparison.bm25);
  visit("letter_tfidf", comparison.letter_tfidf);
  visit("start", comparison.start);
  visit("model", comparison.model);
  visit("num_hits", comparison.num_hits);
  visit("examples", comparison.examples);
}

// The number of an epoch is its place in the list, and its score follows from
// the validation.
template <typename Visitor>
void VisitMembers(EpochRecord& record, const Visitor& visit) {
  visit("num_pairs", record.num_pairs);
  visit("seconds", record.seconds);
  visit("learning_rate", record.learning_rate);
  visit("peak_memory_bytes", record.peak_memory_bytes);
  visit("train_loss", record.train_loss);
  visit("gradient_norm", record.gradient_norm);
  visit("best", record.best);
  VisitMembers(record.validation, visit);
}

template <typename Visitor>
void VisitMembers(RunHistory& history, const Visitor& visit) {
  EpochSums& sums = history.current;
  // The sums of the epoch that was interrupted; those of finished epochs are in
  // their records.
  visit("lexical_weight", history.lexical_weight);
  visit("refused", history.refused);
  visit("num_batches", sums.num_batches);
  visit("num_pairs", sums.num_pairs);
  visit("loss_sum", sums.loss);
  visit("weight", sums.weight);
  visit("gradient_norm_sum", sums.gradient_norm);
  visit("seconds", sums.seconds);
}

template <typename T>
json Write(T& value) {
  json object = json::object();
  VisitMembers(value, Writer{object});
  return object;
}

RunHistory Read(const json& value) {
  RunHistory history;
  VisitMembers(history, Reader{value});
  history.start = absl::FromUnixSeconds(value.at("start").get<std::int64_t>());
  // Checkpoints of older versions do not have it.
  if (const json before = value.value("before_training", json());
      !before.is_null()) {
    VisitMembers(history.before_training.emplace(), Reader{before});
  }
  if (const json comparison = value.value("comparison", json());
      !comparison.is_null()) {
    VisitMembers(history.comparison.emplace(), Reader{comparison});
  }
  for (const json& epoch : value.at("epochs")) {
    EpochRecord record;
    // The next epoch of the list so far, from 1.
    record.epoch = history.epoch();
    VisitMembers(record, Reader{epoch});
    record.score = record.validation.Score().value_or(record.epoch);
    history.epochs.push_back(record);
  }
  return history;
}

}  // namespace

void RunHistory::FinishEpoch(const EpochRecord& record) {
  epochs.push_back(record);
  current = {};
}

std::string FormatHistory(RunHistory history) {
  json value = Write(history);
  // Whole seconds, as training.jsonl has them: the lines of a resumed run then
  // have the start of the first one.
  value["start"] = absl::ToUnixSeconds(history.start);
  value["before_training"] =
      history.before_training ? Write(*history.before_training) : json();
  value["comparison"] =
      history.comparison ? Write(*history.comparison) : json();
  // An array also without epochs: a run is saved in the middle of its first
  // one, too.
  json& epochs = value["epochs"] = json::array();
  for (EpochRecord& record : history.epochs) epochs.push_back(Write(record));
  return value.dump();
}

absl::StatusOr<RunHistory> ParseHistory(std::string_view text) {
  SEMRANK_ASSIGN_OR_RETURN(const json value, ParseStrictJson(text));
  try {
    RunHistory history = Read(value);
    const EpochSums& sums = history.current;
    // A negative position would make the batches of a resumed run begin outside
    // their list.
    if (sums.num_batches >= 0 && sums.num_pairs >= 0) return history;
  } catch (const json::exception&) {
  }
  return absl::InvalidArgumentError("is not the history of a training run");
}

}  // namespace semrank
