#include "model/eval/rankers/ranker_factory.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "model/base/status_macros.h"
#include "model/eval/rankers/combined_rankers.h"
#include "model/eval/rankers/model_ranker.h"
#include "model/format/model_bundle.h"
#include "model/text/normalizer.h"

namespace semrank {
namespace {

constexpr std::array<std::string_view, 10> kNames = {
    "model", "tower", "bm25", "letter_tfidf", "word_tfidf",
    "ulm",   "mrf",   "qe",   "wtm",          "ptm"};
constexpr std::string_view kModelPrefix = "model:";
constexpr std::string_view kNameMatchSuffix = "+name_match";

// "a+b+name_match" has all three parts; second is empty without a '+'.
struct NameParts {
  std::string_view first;
  std::string_view second;
  bool name_match = false;
};

bool IsSingleName(std::string_view name) {
  return std::ranges::count(kNames, name) > 0 ||
         (name.starts_with(kModelPrefix) && name != kModelPrefix);
}

// A folder's name may contain '+', so only the last one can join two rankers.
NameParts SplitName(std::string_view name) {
  NameParts parts;
  parts.name_match = name.ends_with(kNameMatchSuffix);
  if (parts.name_match) name.remove_suffix(kNameMatchSuffix.size());
  const std::size_t plus = name.rfind('+');
  const bool joins =
      plus != std::string_view::npos &&
      (!name.starts_with(kModelPrefix) || IsSingleName(name.substr(plus + 1)));
  parts.first = name.substr(0, joins ? plus : name.size());
  if (joins) parts.second = name.substr(plus + 1);
  return parts;
}

absl::StatusOr<std::unique_ptr<Ranker>> CreateModel(
    const std::string& directory, std::int64_t version, ModelParts parts,
    const std::vector<std::string>& documents, ThreadPool& pool) {
  SEMRANK_ASSIGN_OR_RETURN(auto model, LoadModel(directory, version));
  if (parts == ModelParts::kLexical && model->lexical() == nullptr) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "--parts=lexical: the model in %s has no lexical part", directory));
  }
  return std::make_unique<ModelRanker>(std::move(model), documents, pool,
                                       parts);
}

absl::StatusOr<std::unique_ptr<Ranker>> CreateSingle(
    std::string_view name, const RankerOptions& options,
    const std::vector<std::string>& documents, ThreadPool& pool) {
  if (name == "tower") {
    return CreateModel(options.model_dir, options.model_version,
                       ModelParts::kSemantic, documents, pool);
  }
  if (name == "bm25") return CreateBm25Ranker(documents, options.bm25);
  if (name == "word_tfidf") return TfidfRanker::OfWords(documents);
  if (name == "letter_tfidf") {
    return TfidfRanker::OfLetters(documents, options.tfidf_ngram_length);
  }
  if (name == "ulm") {
    return CreateUnigramRanker(documents, options.dirichlet_mu);
  }
  if (name == "mrf") {
    return CreateDependenceRanker(documents, options.mrf, options.dirichlet_mu);
  }
  if (name == "qe") return CreateQueryExpansionRanker(documents, options.qe);
  if (name == "wtm") {
    return CreateTranslationRanker(*options.translation_model, documents,
                                   options.translation);
  }
  if (name == "ptm") {
    return CreatePhraseRanker(*options.translation_model, documents,
                              options.translation);
  }
  if (name == "model") {
    return CreateModel(options.model_dir, options.model_version, options.parts,
                       documents, pool);
  }
  // The name was checked, so what is left is model:DIR.
  name.remove_prefix(kModelPrefix.size());
  return CreateModel(std::string(name), /*version=*/0, options.parts, documents,
                     pool);
}

absl::StatusOr<std::unique_ptr<Ranker>> CreatePair(
    const NameParts& parts, const RankerOptions& options,
    const std::vector<std::string>& documents, ThreadPool& pool) {
  SEMRANK_ASSIGN_OR_RETURN(auto first,
                           CreateSingle(parts.first, options, documents, pool));
  if (parts.second.empty()) return first;
  SEMRANK_ASSIGN_OR_RETURN(
      auto second, CreateSingle(parts.second, options, documents, pool));
  return CreateHybridRanker(std::move(first), std::move(second),
                            options.hybrid_weight);
}

}  // namespace

absl::Status CheckRankerName(std::string_view name) {
  const NameParts parts = SplitName(name);
  // "bm25+" has an empty second part, which is not the same as none.
  const bool is_single = parts.second.data() == nullptr;
  if (!IsSingleName(parts.first) ||
      !(is_single || IsSingleName(parts.second))) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "'%s' is not a ranker; there are model, tower, model:DIR, bm25, "
        "letter_tfidf, word_tfidf, ulm, mrf, qe, wtm, ptm, pairs such as "
        "model+bm25, and each +name_match",
        name));
  }
  // A ranker added to itself keeps its order.
  if (parts.first == parts.second) {
    return absl::InvalidArgumentError(
        absl::StrFormat("'%s' joins a ranker with itself", name));
  }
  return absl::OkStatus();
}

bool HasRanker(std::string_view name, std::string_view single) {
  const NameParts parts = SplitName(name);
  return parts.first == single || parts.second == single;
}

bool UsesModelDir(std::string_view name) {
  return HasRanker(name, "model") || HasRanker(name, "tower");
}

absl::StatusOr<int> NormalizerVersionOf(const std::vector<std::string>& names,
                                        const RankerOptions& options) {
  std::optional<int> version;
  for (const std::string_view name : names) {
    const NameParts parts = SplitName(name);
    for (const std::string_view single : {parts.first, parts.second}) {
      const bool is_named = single.starts_with(kModelPrefix);
      if (!is_named && single != "model" && single != "tower") continue;
      // Only the version is kept. CreateRanker loads the model again, so that
      // the models of several rankers are not in memory together.
      SEMRANK_ASSIGN_OR_RETURN(
          const auto model,
          LoadModel(is_named ? std::string(single.substr(kModelPrefix.size()))
                             : options.model_dir,
                    is_named ? 0 : options.model_version));
      if (version.value_or(model->normalizer_version()) !=
          model->normalizer_version()) {
        return absl::InvalidArgumentError(absl::StrFormat(
            "%s: its rules for words have version %d, those of another model "
            "version %d; evaluate each by itself and compare their --run_out",
            single, model->normalizer_version(), *version));
      }
      version = model->normalizer_version();
    }
  }
  return version.value_or(kNormalizerVersion);
}

bool UsesTranslations(std::string_view name) {
  return HasRanker(name, "wtm") || HasRanker(name, "ptm");
}

bool IsPair(std::string_view name) { return !SplitName(name).second.empty(); }

absl::StatusOr<std::unique_ptr<Ranker>> CreateRanker(
    std::string_view name, const RankerOptions& options,
    const Collection& collection, ThreadPool& pool) {
  SEMRANK_RETURN_IF_ERROR(CheckRankerName(name));
  const NameParts parts = SplitName(name);
  SEMRANK_ASSIGN_OR_RETURN(
      auto ranker, CreatePair(parts, options, collection.documents, pool));
  if (!parts.name_match) return ranker;
  return CreateNameMatchRanker(std::move(ranker), collection);
}

}  // namespace semrank
