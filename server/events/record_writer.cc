#include "server/events/record_writer.h"

#include <cstddef>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "server/base/errors.h"
#include "server/base/logging.h"

namespace semrank {

bool RecordWriter::Add(Impression& impression) {
  // In place, so that the names as the caller sent them end here. The kind is
  // part of the hash: a user and a session of one name have different hashes.
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
  absl::Status status;
  for (std::size_t i = 0; i < report.impressions.size(); ++i) {
    if (!Add(report.impressions[i])) {
      status.Update(TooLarge(absl::StrFormat("impressions[%d]", i)));
    }
  }
  // Repeated events of the request are gone, so that their numbers are others.
  for (const Event& event : report.events) {
    if (!AddLine(event, event.impression)) status.Update(TooLarge("events"));
  }
  if (!status.ok()) lines_.Truncate(num_before);
  return status;
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
          "a record of %d bytes is too large for %s, which takes %d",
          line_.size(), sink_.name(), sink_.max_line_bytes()),
      errors_);
  return false;
}

absl::Status RecordWriter::TooLarge(std::string_view field) const {
  // line_ still has the record that AddLine refused. The text names Kafka
  // because no other sink has a limit.
  return FieldError(
      "INVALID_FIELD", field,
      absl::StrFormat("makes a record of %d bytes, over the limit of %d that "
                      "follows from message.max.bytes of Kafka",
                      line_.size(), sink_.max_line_bytes()),
      {{"value", absl::StrCat(line_.size())},
       {"limit", absl::StrCat(sink_.max_line_bytes())}});
}

}  // namespace semrank
