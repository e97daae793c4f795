#include "model/train/data/check_pairs.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"

namespace semrank {
namespace {

// Fewer queries may look like ids by chance.
constexpr std::size_t kMinIds = 20;
constexpr double kIdShare = 0.95;
constexpr std::size_t kMaxIdLetters = 4;

// "17", "d17" and "doc 17", as they are normalised.
bool LooksLikeId(std::string_view text) {
  std::size_t letters = 0;
  while (letters < text.size() &&
         absl::ascii_isalpha(static_cast<unsigned char>(text[letters]))) {
    ++letters;
  }
  if (letters > kMaxIdLetters) return false;
  text.remove_prefix(letters);
  if (text.starts_with(' ')) text.remove_prefix(1);
  return !text.empty() && std::ranges::all_of(text, [](unsigned char c) {
    return absl::ascii_isdigit(c);
  });
}

bool LookLikeIds(std::span<const TextPair> pairs, const TextInterner& texts) {
  const std::vector<TextId> queries = DistinctQueries(pairs);
  if (queries.size() < kMinIds || queries.size() < pairs.size()) return false;
  const auto num_ids = std::ranges::count_if(
      queries, [&](TextId query) { return LooksLikeId(texts.text(query)); });
  return static_cast<double>(num_ids) >=
         kIdShare * static_cast<double>(queries.size());
}

// Whether the click graph is complete.
bool HasNoNegatives(std::span<const TextPair> pairs) {
  const std::size_t num_queries = DistinctQueries(pairs).size();
  const std::size_t num_titles = DistinctTitles(pairs).size();
  if (pairs.size() / num_queries < num_titles) return false;
  const ClickedTitles clicked(pairs);
  return std::ranges::all_of(pairs, [&](const TextPair& pair) {
    return clicked.Of(pair.query).size() == num_titles;
  });
}

}  // namespace

absl::Status CheckPairsCanTeach(const TrainOptions& options,
                                std::span<const TextPair> pairs,
                                const TextInterner& texts) {
  const std::string files =
      absl::StrJoin(options.data.event_paths.empty() ? options.data.train_files
                                                     : options.data.event_paths,
                    ",");
  if (!UsesShownTitles(options.loss) && HasNoNegatives(pairs)) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "every query of %s has clicked every title: without a title that was "
        "not clicked nothing can be learned. Give pairs of more titles, or "
        "titles that were shown and not clicked (lines with 0 clicks, "
        "--hard_negatives)",
        files));
  }
  if (!options.force && LookLikeIds(pairs, texts)) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "the first column of %s looks like ids, such as \"%s\": a line of "
        "--train is query TAB title, not the id and text of a document or "
        "query. --force trains on it",
        files, texts.text(pairs[0].query)));
  }
  return absl::OkStatus();
}

}  // namespace semrank
