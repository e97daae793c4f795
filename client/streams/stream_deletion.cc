#include "client/streams/stream_deletion.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "model/base/interrupt.h"
#include "model/base/status_macros.h"
#include "model/base/strings.h"

namespace semrank {
namespace {

// Records of one call of Delete.
constexpr std::size_t kMaxPerCall = 1'000;

absl::Status ForEachRecord(
    EventStream& stream, const BadLineLimit& max_bad_lines,
    const std::function<absl::Status(const EventRecord&)>& use) {
  SEMRANK_RETURN_IF_ERROR(stream.Begin(/*position=*/""));
  BadLines bad_lines(max_bad_lines);
  EventParser parser;
  std::string line;
  for (std::int64_t number = 1;; ++number) {
    SEMRANK_ASSIGN_OR_RETURN(const bool more, stream.Next(line));
    if (!more) return bad_lines.EndFile(stream.name(), number - 1);
    if (Interrupted()) return absl::CancelledError("interrupted");
    const absl::StatusOr<EventRecord> record = parser.Parse(line);
    SEMRANK_RETURN_IF_ERROR(
        record.ok() ? use(*record)
                    : bad_lines.Add(stream.name(), number,
                                    ToStd(record.status().message())));
  }
}

absl::Status DeleteAll(EventStream& stream,
                       std::vector<std::string>& positions) {
  if (positions.empty()) return absl::OkStatus();
  SEMRANK_RETURN_IF_ERROR(stream.Delete(positions));
  positions.clear();
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<DeletedRecords> DeleteUserOfStream(
    const EventStream::Options& stream, const std::string& user_hash,
    const BadLineLimit& max_bad_lines) {
  UserRecords user(user_hash);
  SEMRANK_ASSIGN_OR_RETURN(const auto first, OpenStream(stream));
  SEMRANK_RETURN_IF_ERROR(
      ForEachRecord(*first, max_bad_lines, [&](const EventRecord& record) {
        user.Note(record);
        return absl::OkStatus();
      }));
  DeletedRecords deleted;
  if (user.empty()) return deleted;
  SEMRANK_ASSIGN_OR_RETURN(const auto second, OpenStream(stream));
  std::vector<std::string> positions;
  SEMRANK_RETURN_IF_ERROR(
      ForEachRecord(*second, max_bad_lines, [&](const EventRecord& record) {
        if (!user.Has(record)) return absl::OkStatus();
        deleted.Count(record);
        positions.push_back(second->position());
        return positions.size() < kMaxPerCall ? absl::OkStatus()
                                              : DeleteAll(*second, positions);
      }));
  SEMRANK_RETURN_IF_ERROR(DeleteAll(*second, positions));
  return deleted;
}

}  // namespace semrank
