#include "model/eval/rankers/ranker_factory.h"

#include <algorithm>
#include <array>
#include <utility>

#include "absl/strings/str_format.h"
#include "model/base/status_macros.h"
#include "model/eval/rankers/hybrid_ranker.h"
#include "model/eval/rankers/letter_tfidf_ranker.h"
#include "model/eval/rankers/model_ranker.h"
#include "model/format/model_bundle.h"

namespace semrank {
namespace {

constexpr std::array<std::string_view, 3> kNames = {"model", "bm25",
                                                    "letter_tfidf"};

// "a+b" to {"a", "b"}, "a" to {"a", ""}.
std::pair<std::string_view, std::string_view> SplitName(std::string_view name) {
  const std::size_t plus = name.find('+');
  if (plus == std::string_view::npos) return {name, ""};
  return {name.substr(0, plus), name.substr(plus + 1)};
}

bool IsSingleName(std::string_view name) {
  return std::find(kNames.begin(), kNames.end(), name) != kNames.end();
}

absl::StatusOr<std::unique_ptr<Ranker>> CreateSingle(
    std::string_view name, const RankerOptions& options,
    const std::vector<std::string>& documents, ThreadPool& pool) {
  if (name == "bm25") return Bm25Ranker::Create(documents, options.bm25);
  if (name == "letter_tfidf") {
    return LetterTfidfRanker::Create(documents, options.tfidf_ngram_length);
  }
  SEMRANK_ASSIGN_OR_RETURN(auto model,
                           LoadModel(options.model_dir, options.model_version));
  return std::make_unique<ModelRanker>(std::move(model), documents, pool);
}

}  // namespace

absl::Status CheckRankerName(std::string_view name) {
  const auto [first, second] = SplitName(name);
  const bool pair = name.find('+') != std::string_view::npos;
  if (!IsSingleName(first) || (pair && !IsSingleName(second))) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "'%s' is no ranker; there are model, bm25, letter_tfidf, and pairs "
        "such as model+bm25",
        name));
  }
  if (first == second) {
    return absl::InvalidArgumentError(
        absl::StrFormat("'%s' joins a ranker with itself", name));
  }
  return absl::OkStatus();
}

bool UsesModel(std::string_view name) {
  const auto [first, second] = SplitName(name);
  return first == "model" || second == "model";
}

absl::StatusOr<std::unique_ptr<Ranker>> CreateRanker(
    std::string_view name, const RankerOptions& options,
    const std::vector<std::string>& documents, ThreadPool& pool) {
  SEMRANK_RETURN_IF_ERROR(CheckRankerName(name));
  const auto [first_name, second_name] = SplitName(name);
  SEMRANK_ASSIGN_OR_RETURN(auto first,
                           CreateSingle(first_name, options, documents, pool));
  if (second_name.empty()) return first;
  SEMRANK_ASSIGN_OR_RETURN(auto second,
                           CreateSingle(second_name, options, documents, pool));
  return std::make_unique<HybridRanker>(std::move(first), std::move(second),
                                        options.hybrid_weight);
}

}  // namespace semrank
