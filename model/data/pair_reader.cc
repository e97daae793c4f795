#include "model/data/pair_reader.h"

#include <algorithm>
#include <charconv>

#include "absl/strings/match.h"
#include "absl/strings/str_format.h"
#include "model/base/count_text.h"
#include "model/base/interrupt.h"
#include "model/base/status_macros.h"
#include "model/base/strings.h"

namespace semrank {
namespace {

// A line is checked from the cheap to the expensive: bytes, number of fields,
// header, numbers, and the texts last, as normalising takes most of the time.

constexpr int kMaxFields = 5;

// Returns the number of fields of `line` and stores the first kMaxFields in
// `fields`.
int SplitTabs(std::string_view line, std::string_view fields[kMaxFields]) {
  int count = 0;
  for (;;) {
    const std::size_t tab = line.find('\t');
    if (count < kMaxFields) fields[count] = line.substr(0, tab);
    ++count;
    if (tab == std::string_view::npos) return count;
    line.remove_prefix(tab + 1);
  }
}

absl::Status ParseCount(std::string_view name, std::string_view text,
                        std::int64_t& count) {
  const char* end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, count);
  // from_chars accepts neither blanks nor a plus sign, and reports what does
  // not fit in 64 bits.
  if (error == std::errc() && stopped == end && count >= 0) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrFormat(
      "%s \"%s\": must be a whole number, 0 to 9223372036854775807", name,
      text.substr(0, 40)));
}

absl::Status ParseText(std::string_view name, std::string_view text,
                       const PairTexts& texts, std::string& normalized) {
  if (absl::Status status =
          NormalizeText(text, texts.normalizer_version, normalized);
      !status.ok()) {
    return absl::InvalidArgumentError(
        absl::StrFormat("%s: %s", name, ToStd(status.message())));
  }
  // A text without letters and numbers has no features: its vector is zero, and
  // nothing can be learned from it.
  if (normalized.empty()) {
    return absl::OutOfRangeError(
        absl::StrFormat("%s has neither letters nor numbers", name));
  }
  // The limit counts normalised bytes, as one character may become many: four
  // titles of a megabyte of U+FDFA took 5 GB.
  if (static_cast<std::int64_t>(normalized.size()) <= texts.max_bytes) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrFormat("%s has %d bytes after normalising, over the limit of %d "
                      "(--max_text_bytes)",
                      name, normalized.size(), texts.max_bytes));
}

// "query TAB title" and its like, which no one has clicked.
bool IsHeader(std::string_view query, std::string_view title) {
  static constexpr absl::string_view kTitles[] = {"title", "document", "doc",
                                                  "item", "product"};
  return absl::EqualsIgnoreCase(ToAbsl(query), "query") &&
         std::ranges::any_of(kTitles, [&](absl::string_view name) {
           return absl::EqualsIgnoreCase(ToAbsl(title), name);
         });
}

absl::Status CheckFields(int num_fields, bool judged) {
  if (judged && num_fields != 3) {
    return absl::InvalidArgumentError(
        absl::StrFormat("%s between tabs, not query, title, grade",
                        CountText(num_fields, "field")));
  }
  if (num_fields >= 2 && num_fields <= kMaxFields) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrFormat(
      "%s between tabs; a pair has query, title and perhaps clicks, "
      "impressions, position",
      CountText(num_fields, "field")));
}

}  // namespace

absl::Status ParsePair(std::string_view line, PairLines lines, ClickPair& pair,
                       const PairTexts& texts) {
  const bool judged = lines == PairLines::kJudged;
  if (const std::string problem = ProblemOfBytes(line); !problem.empty()) {
    return absl::InvalidArgumentError(problem);
  }
  std::string_view fields[kMaxFields];
  const int num_fields = SplitTabs(line, fields);
  SEMRANK_RETURN_IF_ERROR(CheckFields(num_fields, judged));
  // A header would teach that the query "query" means the title "title".
  if (IsHeader(fields[0], fields[1])) {
    return absl::InvalidArgumentError("is a header, not a pair");
  }
  // `pair` is reused for all lines, so what this line does not have is reset.
  pair.clicks = 1;
  pair.impressions = 0;
  pair.position = 0;
  if (num_fields > 2) {
    SEMRANK_RETURN_IF_ERROR(
        ParseCount(judged ? "grade" : "clicks", fields[2], pair.clicks));
  }
  if (num_fields > 3) {
    SEMRANK_RETURN_IF_ERROR(
        ParseCount("impressions", fields[3], pair.impressions));
  }
  if (num_fields > 4) {
    SEMRANK_RETURN_IF_ERROR(ParseCount("position", fields[4], pair.position));
    if (pair.position == 0) {
      return absl::InvalidArgumentError("position 0: the first position is 1");
    }
  }
  SEMRANK_RETURN_IF_ERROR(ParseText("query", fields[0], texts, pair.query));
  return ParseText("title", fields[1], texts, pair.title);
}

// Does not normalise the texts: the shuffler calls this for every line, and bad
// lines were reported when the pairs were counted.
std::int64_t ClicksOf(std::string_view line) {
  std::string_view fields[kMaxFields];
  std::int64_t clicks = 1;
  if (SplitTabs(line, fields) < 3) return clicks;
  return ParseCount("clicks", fields[2], clicks).ok() ? clicks : 1;
}

PairReader::PairReader(std::vector<std::string> paths, PairLines lines,
                       BadLines& bad_lines, const PairTexts& texts)
    : paths_(std::move(paths)),
      lines_(lines),
      num_bytes_(SizeOf(paths_)),
      bad_lines_(bad_lines),
      texts_(texts) {}

double PairReader::fraction_read() const {
  if (num_bytes_ == 0) return 0;
  double bytes = static_cast<double>(num_bytes_before_);
  if (file_ != nullptr) {
    // The share is that of the compressed file, so a .gz counts with its size
    // on disk.
    bytes += file_->fraction_read() *
             static_cast<double>(SizeOf({paths_[next_path_ - 1]}));
  }
  return bytes / static_cast<double>(num_bytes_);
}

std::string PairReader::Place() const {
  return absl::StrFormat("%s:%d", file_->path(), file_->line_number());
}

absl::StatusOr<bool> PairReader::ParseLine(std::string_view line,
                                           ClickPair& pair) {
  ++num_lines_;
  // Many files end in an empty line.
  if (line.empty()) return false;
  const absl::Status status = ParsePair(line, lines_, pair, texts_);
  // Users do search for "???". Such lines are not a fault of the file, so they
  // are not among its bad lines.
  if (absl::IsOutOfRange(status)) {
    ++num_without_words_;
    return false;
  }
  if (!status.ok()) {
    SEMRANK_RETURN_IF_ERROR(bad_lines_.Add(file_->path(), file_->line_number(),
                                           ToStd(status.message())));
    return false;
  }
  if (pair.clicks == 0) {
    ++num_without_clicks_;
    if (lines_ == PairLines::kClicked) return false;
  }
  ++num_pairs_;
  if (pair.position == 0) ++num_without_position_;
  return true;
}

absl::StatusOr<bool> PairReader::Next(ClickPair& pair) {
  for (;;) {
    if (file_ == nullptr) {
      if (next_path_ == paths_.size()) return false;
      SEMRANK_ASSIGN_OR_RETURN(file_, LineReader::Open(paths_[next_path_++]));
    }
    // Here, since a log may have no line that is returned.
    if (Interrupted()) return absl::CancelledError("interrupted while reading");
    std::string_view line;
    SEMRANK_ASSIGN_OR_RETURN(const bool more, file_->Next(line));
    if (!more) {
      SEMRANK_RETURN_IF_ERROR(
          bad_lines_.EndFile(file_->path(), file_->line_number()));
      num_bytes_before_ += SizeOf({file_->path()});
      file_.reset();
      continue;
    }
    SEMRANK_ASSIGN_OR_RETURN(const bool usable, ParseLine(line, pair));
    if (usable) return true;
  }
}

}  // namespace semrank
