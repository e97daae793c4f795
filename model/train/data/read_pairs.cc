#include "model/train/data/read_pairs.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <string_view>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "model/base/status_macros.h"
#include "model/data/document_formats.h"
#include "model/data/document_reader.h"
#include "model/data/input_progress.h"
#include "model/data/pair_reader.h"
#include "model/text/normalizer.h"
#include "model/train/data/memory_budget.h"

namespace semrank {
namespace {

// Fewer queries may be ids by chance.
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
  // "iphone 14" is a query, and "doc 17" is an id.
  if (letters > kMaxIdLetters) return false;
  text.remove_prefix(letters);
  if (text.starts_with(' ')) text.remove_prefix(1);
  return !text.empty() && std::ranges::all_of(text, [](unsigned char c) {
    return absl::ascii_isdigit(c);
  });
}

// False for fewer than kMinIds texts, which are too few to say so.
bool LookLikeIds(std::span<const TextId> ids, const TextInterner& texts) {
  if (ids.size() < kMinIds) return false;
  const auto num_ids = std::ranges::count_if(
      ids, [&](TextId id) { return LooksLikeId(texts.text(id)); });
  return static_cast<double>(num_ids) >=
         kIdShare * static_cast<double>(ids.size());
}

// Whether each of `queries` is an id of the file. What cannot be read is
// reported where the file is needed.
bool HasAllAsIds(const std::string& path, std::span<const TextId> queries,
                 const TextInterner& texts, int normalizer_version) {
  BadLines ignored(std::numeric_limits<std::int64_t>::max(), /*num_before=*/0,
                   [](std::string_view) {});
  const auto reader = DocumentReader::Open(
      path, {.format = DocumentFormatOf(path), .bad_lines = &ignored});
  if (!reader.ok()) return false;
  absl::flat_hash_set<TextId> ids;
  std::string normalized;
  for (;;) {
    const auto block = (*reader)->NextBlock();
    if (!block.ok()) return false;
    if (block->empty()) break;
    for (const FileDocument& document : block->documents) {
      if (!NormalizeText(document.id, normalizer_version, normalized).ok()) {
        continue;
      }
      // Only ids that are texts of the pairs are kept: a catalogue of millions
      // then takes no more memory than the log.
      if (const auto id = texts.Find(normalized)) ids.insert(*id);
    }
  }
  return std::ranges::all_of(queries,
                             [&](TextId query) { return ids.contains(query); });
}

// The file of the run whose ids `queries` are; empty = none.
std::string FileOfIds(const DataOptions& options,
                      std::span<const TextId> queries,
                      const TextInterner& texts) {
  for (const std::string& path :
       {options.docs_file, options.valid_docs, options.valid_queries}) {
    if (!path.empty() && IsRereadable(path) &&
        HasAllAsIds(path, queries, texts, options.normalizer_version)) {
      return path;
    }
  }
  return "";
}

// Whether the click graph is complete.
bool HasNoNegatives(std::span<const TextPair> pairs) {
  const std::size_t num_queries = DistinctQueries(pairs).size();
  const std::size_t num_titles = DistinctTitles(pairs).size();
  // A complete graph has queries x titles pairs, so most logs are done without
  // a table.
  if (pairs.size() / num_queries < num_titles) return false;
  const ClickedTitles clicked(pairs);
  return std::ranges::all_of(pairs, [&](const TextPair& pair) {
    return clicked.Of(pair.query).size() == num_titles;
  });
}

absl::Status CheckQueriesAreNotIds(const TrainOptions& options,
                                   std::span<const TextPair> pairs,
                                   const TextInterner& texts,
                                   const std::string& files) {
  const std::vector<TextId> queries = DistinctQueries(pairs);
  // Ids are not repeated. The queries of events were typed by users.
  if (queries.size() < kMinIds || queries.size() < pairs.size() ||
      !options.data.event_paths.empty()) {
    return absl::OkStatus();
  }
  std::string problem = "looks like ids";
  if (!LookLikeIds(queries, texts)) {
    const std::string file = FileOfIds(options.data, queries, texts);
    if (file.empty()) return absl::OkStatus();
    problem = absl::StrFormat("has the ids of %s", file);
  }
  return absl::InvalidArgumentError(absl::StrFormat(
      "the first column of %s %s, such as \"%s\": a line of --train is query "
      "TAB title, not the id and text of a document or query. --force trains "
      "on it",
      files, problem, texts.text(pairs[0].query)));
}

// Towers can learn numbers by heart, but know nothing of a number that is new.
// Ids that are words look like titles of one word, such as names of packages.
void WarnIfTitlesAreIds(std::span<const TextPair> pairs,
                        const TextInterner& texts, const std::string& files) {
  if (!LookLikeIds(DistinctTitles(pairs), texts)) return;
  absl::FPrintF(stderr,
                "warning: the second column of %s looks like ids, such as "
                "\"%s\": the model learns from the words of titles, so give "
                "each document's title in its place\n",
                files, texts.text(pairs[0].title));
}

void PrintOmitted(const PairReader& reader, bool keeps_negatives) {
  if (reader.num_without_clicks() > 0) {
    absl::FPrintF(stderr, "%d pairs have 0 clicks and are %s\n",
                  reader.num_without_clicks(),
                  keeps_negatives ? "negatives only" : "omitted");
  }
  if (reader.num_without_words() > 0) {
    absl::FPrintF(stderr,
                  "%d pairs have a text without letters and numbers and are "
                  "omitted\n",
                  reader.num_without_words());
  }
}

absl::Status CheckTwoTitles(std::span<const TextPair> pairs,
                            const std::vector<std::string>& files,
                            const PairReader& reader,
                            const TextInterner& texts) {
  if (pairs.empty()) {
    return absl::InvalidArgumentError(
        absl::StrFormat("no usable pair among the %d lines of %s",
                        reader.num_lines(), absl::StrJoin(files, ",")));
  }
  if (HasTwoTitles(pairs)) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrFormat(
      "all pairs of %s have the same title, \"%s\": there is no other "
      "title to learn from",
      absl::StrJoin(files, ","), texts.text(pairs[0].title).substr(0, 80)));
}

}  // namespace

absl::StatusOr<std::vector<TextPair>> ReadPairs(
    const std::vector<std::string>& files, const TrainOptions& options,
    const PositionWeights& weights, BadLines& bad_lines, TextInterner& texts,
    std::vector<ShownTitle>* shown, ClickCounts* counts) {
  const bool all_lines = shown != nullptr || counts != nullptr;
  PairReader reader(
      files, all_lines ? PairLines::kAll : PairLines::kClicked, bad_lines,
      {options.data.max_text_bytes, options.data.normalizer_version});
  InputProgress progress("reading", files, "pair");
  progress.Start();
  const std::int64_t max_bytes = MaxPairBytes(options.data);
  std::vector<TextPair> pairs;
  ClickPair pair;
  for (;;) {
    SEMRANK_ASSIGN_OR_RETURN(const bool more, reader.Next(pair));
    if (!more) break;
    // One number stays free: the tables' marks for "none".
    if (texts.size() + 2 > std::numeric_limits<TextId>::max()) {
      return absl::ResourceExhaustedError(
          absl::StrFormat("more than %d distinct texts in %s", texts.size(),
                          absl::StrJoin(files, ",")));
    }
    const double weight = weights.Of(pair.position);
    if (counts != nullptr && pair.impressions > 0) {
      counts->Add(pair.query, pair.title, static_cast<double>(pair.clicks),
                  static_cast<double>(pair.impressions) / weight);
    }
    // Texts without a click get no number, so that the run is the same as
    // without their lines, unless they are negatives.
    if (pair.clicks > 0 || shown != nullptr) {
      TextPair interned = InternPair(pair, texts);
      interned.weight = static_cast<float>(weight);
      if (shown != nullptr) {
        shown->push_back(
            ShownLine(interned.query, interned.title, pair, weight));
      }
      // A line without clicks is no training pair.
      if (pair.clicks > 0) pairs.push_back(interned);
    }
    // Most lines of a log may have no click, and they take memory too.
    const std::int64_t bytes =
        PairBytes(pairs.size(), texts.size(), texts.num_characters()) +
        (shown != nullptr ? shown->size() * sizeof(ShownTitle) : 0) +
        (counts != nullptr ? counts->num_bytes() : 0);
    if (bytes > max_bytes) {
      return absl::OutOfRangeError("the pairs do not fit in memory");
    }
    if (reader.num_pairs() % kPairsPerUpdate == 0) {
      progress.UpdateTo(reader.fraction_read(), std::ssize(pairs));
    }
  }
  progress.Finish(std::ssize(pairs));
  PrintOmitted(reader, /*keeps_negatives=*/shown != nullptr);
  SEMRANK_RETURN_IF_ERROR(CheckPositions(weights, reader));
  SEMRANK_RETURN_IF_ERROR(CheckTwoTitles(pairs, files, reader, texts));
  return pairs;
}

absl::StatusOr<std::vector<ClickRow>> ReadRows(
    const std::vector<std::string>& files, const TrainOptions& options,
    BadLines& bad_lines) {
  if (!std::ranges::all_of(files, IsRereadable)) {
    return absl::InvalidArgumentError(
        "--position_bias=estimate reads --train twice: give the pairs as "
        "files");
  }
  const std::int64_t num_bad_lines = bad_lines.count();
  PairReader reader(
      files, PairLines::kAll, bad_lines,
      {options.data.max_text_bytes, options.data.normalizer_version});
  const std::int64_t max_bytes = MaxPairBytes(options.data);
  TextInterner texts;
  ClickRows rows;
  ClickPair pair;
  for (;;) {
    SEMRANK_ASSIGN_OR_RETURN(const bool more, reader.Next(pair));
    if (!more) break;
    // Lines without a position say nothing about positions.
    if (pair.position == 0) continue;
    if (pair.impressions == 0) {
      return absl::InvalidArgumentError(absl::StrFormat(
          "%s: --position_bias=estimate compares clicks with impressions, and "
          "this line has none",
          reader.Place()));
    }
    const TextPair interned = InternPair(pair, texts);
    rows.Add(interned.query, interned.title, CappedClicks(pair.position),
             CappedClicks(pair.clicks), CappedClicks(pair.impressions));
    const std::int64_t bytes =
        PairBytes(/*num_pairs=*/0, texts.size(), texts.num_characters()) +
        rows.num_bytes();
    if (bytes > max_bytes) {
      return absl::ResourceExhaustedError(
          "the clicks that --position_bias=estimate compares do not fit in "
          "--memory_limit: give more memory, or --position_bias=FILE with a "
          "curve that was estimated from a part of the log");
    }
  }
  bad_lines.CountAgainFrom(num_bad_lines);
  return rows.Sorted();
}

absl::StatusOr<std::vector<TextPair>> ReadValidPairs(
    const TrainOptions& options, const PositionWeights& weights,
    BadLines& bad_lines, TextInterner& texts) {
  auto pairs =
      ReadPairs(options.data.valid_pair_files, options, weights, bad_lines,
                texts, /*shown=*/nullptr, /*counts=*/nullptr);
  // OutOfRange would make the caller stream the training pairs, which is no
  // remedy here.
  if (!absl::IsOutOfRange(pairs.status())) return pairs;
  // They are not streamed.
  return absl::ResourceExhaustedError(
      absl::StrFormat("the pairs of --valid_pairs do not fit in %d bytes of "
                      "memory: give fewer, "
                      "or a higher --memory_limit",
                      MemoryLimit(options.data)));
}

absl::Status CheckRepeatsFit(const TrainOptions& options,
                             const std::vector<TextPair>& pairs) {
  std::int64_t num_pairs = 0;
  for (const TextPair& pair : pairs) {
    num_pairs += Repetitions(pair.clicks, options.loss);
  }
  const std::int64_t bytes =
      num_pairs * static_cast<std::int64_t>(sizeof(std::uint32_t));
  if (bytes <= MaxPairBytes(options.data)) return absl::OkStatus();
  return absl::ResourceExhaustedError(absl::StrFormat(
      "with --clicks=repeat an epoch has %d pairs, whose order takes %d bytes: "
      "more than fit in %d bytes of memory. --clicks=weight counts clicks "
      "without repeating pairs; or give --memory_limit=%d",
      num_pairs, bytes, MemoryLimit(options.data),
      static_cast<std::int64_t>(static_cast<double>(bytes) / kMaxPairShare) +
          1));
}

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
  if (!options.force) {
    SEMRANK_RETURN_IF_ERROR(
        CheckQueriesAreNotIds(options, pairs, texts, files));
  }
  WarnIfTitlesAreIds(pairs, texts, files);
  return absl::OkStatus();
}

std::int64_t Repetitions(std::int64_t clicks, const LossOptions& loss) {
  return loss.clicks == v1::CLICK_USE_REPEAT ? clicks : 1;
}

}  // namespace semrank
