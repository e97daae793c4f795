#include "model/eval/ranker_flags.h"

#include <cstdint>

#include "absl/flags/flag.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "model/base/status_macros.h"
#include "model/base/strings.h"
#include "model/cli/program.h"
#include "model/text/ngram_vocabulary.h"

ABSL_FLAG(std::vector<std::string>, ranker, {"model"},
          "What ranks: model, bm25, letter_tfidf, or a pair such as "
          "model+bm25; several with commas between them, one result each.");
ABSL_FLAG(std::string, model_dir, "",
          "Model directory, models/<name>; needed by the ranker model.");
ABSL_FLAG(std::int64_t, model_version, 0,
          "Version of the model; 0 is the highest complete one.");
ABSL_FLAG(std::string, hybrid, "",
          "Adds this ranker, bm25 or letter_tfidf, to each other one of "
          "--ranker: --ranker=model --hybrid=bm25 is the ranker model+bm25.");
ABSL_FLAG(double, hybrid_weight, semrank::RankerOptions().hybrid_weight,
          "Weight of the added ranker, whose best score for a query counts as "
          "1 beside the scores of the other as they are (cosines, for a "
          "model). The weaker the model, the more; 0 to 1000.");
ABSL_FLAG(double, bm25_k1, semrank::Bm25Options().k1,
          "BM25: how late repeats of a word stop counting; 0 to 1000.");
ABSL_FLAG(double, bm25_b, semrank::Bm25Options().b,
          "BM25: how much long documents are held back; 0 to 1.");
ABSL_FLAG(int, tfidf_ngram, semrank::RankerOptions().tfidf_ngram_length,
          "Letters in an n-gram of letter_tfidf; 1 to 8.");
namespace semrank {

absl::Status CheckRange(std::string_view flag, double value, double lowest,
                        double highest) {
  // Written so that NaN fails too.
  if (value >= lowest && value <= highest) return absl::OkStatus();
  return FlagError(flag, absl::StrFormat("%g", value),
                   absl::StrFormat("not in %g to %g", lowest, highest));
}

absl::StatusOr<std::vector<std::string>> RankersFromFlags() {
  std::vector<std::string> rankers = absl::GetFlag(FLAGS_ranker);
  const std::string given = absl::StrJoin(rankers, ",");
  const std::string hybrid = absl::GetFlag(FLAGS_hybrid);
  if (!hybrid.empty() && hybrid != "bm25" && hybrid != "letter_tfidf") {
    return FlagError("hybrid", hybrid, "neither bm25 nor letter_tfidf");
  }
  if (rankers.empty()) return FlagError("ranker", given, "names no ranker");
  if (rankers == std::vector<std::string>{hybrid}) {
    return FlagError("hybrid", hybrid, "--ranker is the same");
  }
  for (std::string& ranker : rankers) {
    if (!hybrid.empty() && ranker != hybrid) ranker += "+" + hybrid;
    const absl::Status status = CheckRankerName(ranker);
    if (!status.ok()) {
      return FlagError("ranker", given, ToStd(status.message()));
    }
    if (UsesModel(ranker) && absl::GetFlag(FLAGS_model_dir).empty()) {
      return FlagError("model_dir", "", "needed by --ranker=" + ranker);
    }
  }
  return rankers;
}

absl::StatusOr<RankerOptions> RankerOptionsFromFlags() {
  RankerOptions options;
  options.model_dir = absl::GetFlag(FLAGS_model_dir);
  options.model_version = absl::GetFlag(FLAGS_model_version);
  options.bm25.k1 = absl::GetFlag(FLAGS_bm25_k1);
  options.bm25.b = absl::GetFlag(FLAGS_bm25_b);
  options.tfidf_ngram_length = absl::GetFlag(FLAGS_tfidf_ngram);
  options.hybrid_weight = absl::GetFlag(FLAGS_hybrid_weight);
  if (options.model_version < 0) {
    return FlagError("model_version",
                     absl::StrFormat("%d", options.model_version),
                     "must not be negative");
  }
  SEMRANK_RETURN_IF_ERROR(CheckRange("bm25_k1", options.bm25.k1, 0, 1000));
  SEMRANK_RETURN_IF_ERROR(CheckRange("bm25_b", options.bm25.b, 0, 1));
  SEMRANK_RETURN_IF_ERROR(CheckRange("tfidf_ngram", options.tfidf_ngram_length,
                                     kMinNgramLength, kMaxNgramLength));
  SEMRANK_RETURN_IF_ERROR(
      CheckRange("hybrid_weight", options.hybrid_weight, 0, 1000));
  return options;
}

}  // namespace semrank
