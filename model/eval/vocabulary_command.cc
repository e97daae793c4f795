#include "model/eval/vocabulary_command.h"

#include <nlohmann/json.hpp>
#include <ostream>

#include "absl/strings/str_format.h"
#include "model/base/status_macros.h"
#include "model/cli/command_line.h"
#include "model/cli/exit_code.h"
#include "model/data/input_lines.h"
#include "model/text/ngram_vocabulary.h"
#include "model/text/vocabulary_builder.h"

namespace semrank {
namespace {

double CollisionPercent(const CollisionStatistics& statistics) {
  // The percentage of the words, as in section 3.2 of the DSSM paper: 22 of
  // 500,000 are 0.0044 per cent.
  return 100.0 * static_cast<double>(statistics.num_collisions) /
         static_cast<double>(statistics.num_words);
}

std::string FormatTableRow(int ngram_length,
                           const CollisionStatistics& statistics) {
  return absl::StrFormat("%5d %10d %10d %10d %10.4f %%\n", ngram_length,
                         statistics.num_words, statistics.num_ngrams,
                         statistics.num_collisions,
                         CollisionPercent(statistics));
}

std::string FormatJsonLine(int ngram_length,
                           const CollisionStatistics& statistics) {
  return nlohmann::ordered_json{{"ngram", ngram_length},
                                {"words", statistics.num_words},
                                {"ngrams", statistics.num_ngrams},
                                {"collisions", statistics.num_collisions}}
             .dump() +
         "\n";
}

}  // namespace

absl::StatusOr<std::vector<std::string>> ReadWords(const std::string& path,
                                                   int normalizer_version,
                                                   BadLines& bad_lines) {
  VocabularyBuilder builder;
  SEMRANK_RETURN_IF_ERROR(
      ForEachText(path, normalizer_version, bad_lines,
                  [&](const std::string& text) { builder.AddText(text); }));
  if (builder.num_distinct_words() == 0) {
    return absl::FailedPreconditionError(absl::StrFormat("%s: no words", path));
  }
  // Most frequent first, each once. DSSM's table 1 counts distinct words too.
  return builder.Words(0, 1);
}

void AddVocabularyOptions(CommandLine& flags,
                          VocabularyCommandOptions& options) {
  flags.Group("Vocabulary");
  flags.Add("words", &options.words,
            "File of words, one or more a line; .gz and .zst too.");
  flags.Add("ngram", &options.ngram_lengths,
            "Letters in an n-gram, one row each.",
            {.min = kMinNgramLength, .max = kMaxNgramLength});
}

absl::Status RunVocabularyCommand(const VocabularyCommandOptions& options,
                                  std::ostream& out) {
  if (options.words.empty()) {
    return FlagError("words", "", "needed, but not given");
  }
  const bool json = options.output == OutputFormat::kJson;
  BadLines bad_lines(options.max_bad_lines);
  SEMRANK_ASSIGN_OR_RETURN(
      const std::vector<std::string> words,
      ReadWords(options.words, kNormalizerVersion, bad_lines));
  if (!json) {
    out << absl::StrFormat("%5s %10s %10s %10s %12s\n", "ngram", "words",
                           "ngrams", "collisions", "of words");
  }
  for (const int ngram_length : options.ngram_lengths) {
    const CollisionStatistics statistics = CountCollisions(words, ngram_length);
    out << (json ? FormatJsonLine(ngram_length, statistics)
                 : FormatTableRow(ngram_length, statistics))
        << std::flush;
  }
  return absl::OkStatus();
}

}  // namespace semrank
