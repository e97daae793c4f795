#include "server/events/record_writer.h"

#include <cstddef>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "server/base/errors.h"
#include "server/base/logging.h"

namespace semrank {

bool RecordWriter::Add(Impression& impression) {
  // Overwrites the names with their hashes, so that the originals go no
  // further. The kind is part of the hash: a user and a session with the same
  // name have different hashes.
  impression.user = hash_(HashedKind::kUser, impression.user);
  impression.session = hash_(HashedKind::kSession, impression.session);
  if (text_ == EventText::kHash) {
    impression.query_hash = hash_(HashedKind::kQuery, impression.query);
  }
  if (text_ != EventText::kFull) impression.query.clear();
  return AddLine(impression, impression.id);
}

absl::Status RecordWriter::Add(EventReport& report) {
  // All or nothing: the caller would not know which records were kept.
  const std::size_t num_before = lines_.size();
  const auto refuse = [&](std::string_view field) {
    lines_.Truncate(num_before);
    return TooLarge(field);
  };
  for (std::size_t i = 0; i < report.impressions.size(); ++i) {
    if (!Add(report.impressions[i])) {
      return refuse(absl::StrFormat("impressions[%d]", i));
    }
  }
  // The error names no index: the report lacks the repeated events of the
  // request, so its indices differ from those of the caller.
  for (const Event& event : report.events) {
    if (!AddLine(event, event.impression)) return refuse("events");
  }
  return absl::OkStatus();
}

template <typename Record>
bool RecordWriter::AddLine(const Record& record, std::string_view impression) {
  line_.clear();
  AppendLine(record, line_);
  if (line_.size() <= sink_.max_line_bytes()) {
    lines_.Add(line_, impression);
    return true;
  }
  ++num_too_large_;
  Log(LogLevel::kWarning,
      absl::StrFormat(
          "a record of %d bytes is over the limit of %s, which is %d bytes",
          line_.size(), sink_.name(), sink_.max_line_bytes()),
      errors_);
  return false;
}

// The log names the sink. The caller is not an operator, and gets no address of
// another server.
absl::Status RecordWriter::TooLarge(std::string_view field) const {
  // line_ still has the record that AddLine refused.
  return FieldError(
      "INVALID_FIELD", field,
      absl::StrFormat("makes a record of %d bytes, over the limit of %d bytes "
                      "of the store of events",
                      line_.size(), sink_.max_line_bytes()),
      {{"value", absl::StrCat(line_.size())},
       {"limit", absl::StrCat(sink_.max_line_bytes())}});
}

}  // namespace semrank
