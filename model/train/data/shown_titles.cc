#include "model/train/data/shown_titles.h"

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <functional>
#include <numeric>
#include <tuple>
#include <utility>

#include "absl/strings/str_format.h"
#include "model/base/status_macros.h"

namespace semrank {
namespace {

// The weight of the log's click rate in the rate of a title, in impressions.
// With n impressions a title's own rate has the share n / (n + 10).
constexpr double kPriorImpressions = 10;
// A click is worth the lowest grade of a relevant title.
constexpr float kValueOfUnjudged = 1;

// Merges the entries of each (query, title).
void AddUp(std::vector<ShownTitle>& shown) {
  // The list has an entry for each line of the log. A table of its pairs would
  // take several times the memory, so the list is sorted in place. Sums of
  // doubles depend on the order, so the entries of one pair are sorted too.
  std::ranges::sort(shown, {}, [](const ShownTitle& line) {
    return std::tie(line.query, line.title, line.clicks, line.impressions);
  });
  std::size_t size = 0;
  for (const ShownTitle& line : shown) {
    ShownTitle* last = size > 0 ? &shown[size - 1] : nullptr;
    if (last != nullptr && last->query == line.query &&
        last->title == line.title) {
      last->clicks += line.clicks;
      last->impressions += line.impressions;
    } else {
      shown[size++] = line;
    }
  }
  shown.resize(size);
}

// The rate of clicks over all titles that have impressions.
double ClickRate(const std::vector<ShownTitle>& shown) {
  double clicks = 0, impressions = 0;
  // Clicks of lines without impressions would raise the rate above what
  // titles have.
  for (const ShownTitle& title : shown) {
    if (title.impressions == 0) continue;
    clicks += title.clicks;
    impressions += title.impressions;
  }
  return impressions > 0 ? clicks / impressions : 0;
}

absl::StatusOr<std::vector<TitleValue>> ReadJudged(const std::string& path,
                                                   BadLines& bad_lines,
                                                   TextInterner& texts,
                                                   int normalizer_version) {
  PairReader reader({path}, PairLines::kJudged, bad_lines,
                    {.normalizer_version = normalizer_version});
  std::vector<TitleValue> judged;
  ClickPair line;
  for (;;) {
    SEMRANK_ASSIGN_OR_RETURN(const bool more, reader.Next(line));
    if (!more) break;
    const TextId query = texts.Intern(line.query);
    judged.push_back(
        {query, texts.Intern(line.title), static_cast<float>(line.clicks)});
  }
  if (!judged.empty()) return judged;
  return absl::InvalidArgumentError(
      absl::StrFormat("no usable judgement among the %d lines of %s",
                      reader.num_lines(), path));
}

std::vector<TitleValue> ByClicks(std::vector<ShownTitle> shown) {
  AddUp(shown);
  // Additive smoothing with the rate of the whole log: a title that was shown
  // once and clicked once is not the best of all.
  const double prior_clicks = kPriorImpressions * ClickRate(shown);
  std::vector<TitleValue> entries;
  for (auto first = shown.begin(); first != shown.end();) {
    const auto last = std::find_if(first, shown.end(), [first](const auto& s) {
      return s.query != first->query;
    });
    // A rate and a number of clicks cannot be compared.
    const bool by_rate = std::all_of(
        first, last, [](const auto& s) { return s.impressions > 0; });
    for (; first != last; ++first) {
      const double clicks = first->clicks;
      const double value = by_rate
                               ? (clicks + prior_clicks) /
                                     (first->impressions + kPriorImpressions)
                               : clicks;
      entries.push_back(
          {first->query, first->title, static_cast<float>(value)});
    }
  }
  return entries;
}

// The highest grade of a title that was judged several times stays.
void KeepHighest(std::vector<TitleValue>& judged) {
  std::ranges::sort(judged, std::greater(), [](const TitleValue& title) {
    return std::tie(title.query, title.title, title.value);
  });
  // Not std::ranges::unique: clang 14 cannot compile GCC 12's subrange.
  judged.erase(std::unique(judged.begin(), judged.end(),
                           [](const TitleValue& a, const TitleValue& b) {
                             return a.query == b.query && a.title == b.title;
                           }),
               judged.end());
}

}  // namespace

ShownTitle ShownLine(TextId query, TextId title, const ClickPair& pair,
                     double weight) {
  const auto clicks = static_cast<double>(pair.clicks);
  // A rate needs one of both corrected, a number of clicks itself.
  if (pair.impressions == 0) {
    return {.query = query, .title = title, .clicks = clicks * weight};
  }
  return {.query = query,
          .title = title,
          .clicks = clicks,
          .impressions = static_cast<double>(pair.impressions) / weight};
}

ShownTitles::ShownTitles(std::vector<ShownTitle> shown,
                         std::vector<TitleValue> judged,
                         std::size_t num_texts) {
  std::vector<bool> is_judged(num_texts);
  for (const TitleValue& title : judged) is_judged[title.query] = true;
  // Clicks and grades have different scales: a query goes by one of them.
  std::erase_if(shown, [&is_judged](const ShownTitle& title) {
    return is_judged[title.query];
  });
  KeepHighest(judged);
  const std::vector<TitleValue> clicked = ByClicks(std::move(shown));
  judged.insert(judged.end(), clicked.begin(), clicked.end());
  Build(std::move(judged), num_texts);
}

void ShownTitles::Build(std::vector<TitleValue> entries,
                        std::size_t num_texts) {
  std::ranges::sort(entries, {}, [](const TitleValue& entry) {
    return std::tie(entry.query, entry.value, entry.title);
  });
  // Values ascend within a query, so the titles that did worse than another are
  // a prefix of its range, which Below returns without a copy.
  offsets_.assign(num_texts + 1, 0);
  for (const TitleValue& entry : entries) ++offsets_[entry.query + 1];
  for (std::size_t i = 0; i < num_texts; ++i) offsets_[i + 1] += offsets_[i];
  titles_.reserve(entries.size());
  values_.reserve(entries.size());
  for (const TitleValue& entry : entries) {
    titles_.push_back(entry.title);
    values_.push_back(entry.value);
  }
  places_.resize(entries.size());
  for (std::size_t i = 0; i < num_texts; ++i) {
    const auto first = places_.begin() + offsets_[i];
    const auto last = places_.begin() + offsets_[i + 1];
    std::iota(first, last, 0u);
    std::sort(first, last, [titles = &titles_[offsets_[i]]](auto a, auto b) {
      return titles[a] < titles[b];
    });
  }
}

std::span<const TextId> ShownTitles::Of(TextId query) const {
  if (query + std::size_t{1} >= offsets_.size()) return {};
  return std::span(titles_).subspan(offsets_[query],
                                    offsets_[query + 1] - offsets_[query]);
}

std::span<const TextId> ShownTitles::Below(TextId query, TextId title) const {
  const std::span<const TextId> titles = Of(query);
  if (titles.empty()) return {};
  const auto values =
      std::span(values_).subspan(offsets_[query], titles.size());
  const auto places =
      std::span(places_).subspan(offsets_[query], titles.size());
  // A query such as the name of a category may have 100,000 titles, and each of
  // its pairs asks.
  const auto found = std::lower_bound(
      places.begin(), places.end(), title,
      [titles](std::uint32_t place, TextId t) { return titles[place] < t; });
  const bool has_value = found != places.end() && titles[*found] == title;
  // A clicked title without a value is in no judgement of its query.
  const float value = has_value ? values[*found] : kValueOfUnjudged;
  return titles.first(std::lower_bound(values.begin(), values.end(), value) -
                      values.begin());
}

absl::StatusOr<ShownTitles> ReadShownTitles(std::vector<ShownTitle> lines,
                                            const std::string& judged_file,
                                            BadLines& bad_lines,
                                            TextInterner& texts,
                                            int normalizer_version) {
  std::vector<TitleValue> judged;
  if (!judged_file.empty()) {
    SEMRANK_ASSIGN_OR_RETURN(
        judged, ReadJudged(judged_file, bad_lines, texts, normalizer_version));
  }
  return ShownTitles(std::move(lines), std::move(judged), texts.size());
}

absl::Status CheckShownTitles(const ShownTitles& shown,
                              const std::vector<TextPair>& pairs) {
  std::size_t num_pairs = 0, num_titles = 0;
  for (const TextPair& pair : pairs) {
    const std::size_t size = shown.Below(pair.query, pair.title).size();
    num_pairs += size > 0 ? 1 : 0;
    num_titles += size;
  }
  if (num_pairs == 0) {
    return absl::InvalidArgumentError(
        "no pair has a title that was shown for its query and did worse; "
        "give the click log lines with 0 clicks or impressions, or --judged");
  }
  absl::FPrintF(
      stderr,
      "%d of %d pairs have titles that were shown and did worse, %.1f "
      "on average\n",
      num_pairs, pairs.size(),
      static_cast<double>(num_titles) / static_cast<double>(num_pairs));
  return absl::OkStatus();
}

}  // namespace semrank
