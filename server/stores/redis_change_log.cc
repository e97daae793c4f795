#include "server/stores/redis_change_log.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_format.h"
#include "model/base/status_macros.h"
#include "server/stores/store_records.h"

namespace semrank {
namespace {

// Of an entry.
constexpr std::size_t kEntryKeys = 64;
constexpr std::size_t kEntryBytes = std::size_t{64} << 10;
constexpr std::string_view kMaxEntries = "50000";
// Of a read: the position's entry, and 64 more.
constexpr std::size_t kReadEntries = 65;
constexpr std::string_view kReadCount = "65";
// A single key may have a mebibyte.
constexpr ReplyLimits kReadLimits = {
    .max_elements = kReadEntries * (2 * kEntryKeys + 4),
    .max_bytes = std::size_t{128} << 20};
// A wait is answered with one entry.
constexpr ReplyLimits kWaitLimits = {.max_elements = 2 * kEntryKeys + 16,
                                     .max_bytes = std::size_t{2} << 20};
constexpr std::size_t kFindDocuments = 256;

std::optional<DocumentKey> KeyOf(std::string_view bytes) {
  const absl::StatusOr<DocumentKeyView> view = ReadDocumentKey(bytes);
  if (!view.ok()) return std::nullopt;
  if (const auto* number = std::get_if<std::uint64_t>(&*view)) return *number;
  return std::string(std::get<std::string_view>(*view));
}

// An entry is its id and an array of fields and values. False for anything
// else.
bool AddEntry(const redisReply& entry, ChangeLog::Changes& changes) {
  if (!IsArray(entry) || entry.elements != 2 || !IsText(*entry.element[0]) ||
      !IsArray(*entry.element[1])) {
    return false;
  }
  const redisReply& fields = *entry.element[1];
  for (std::size_t i = 0; i + 1 < fields.elements; i += 2) {
    // Marks have none; what is no key is of no document.
    std::optional<DocumentKey> key = KeyOf(TextOf(*fields.element[i + 1]));
    if (key.has_value()) changes.keys.push_back(*std::move(key));
  }
  changes.position = TextOf(*entry.element[0]);
  return true;
}

}  // namespace

std::vector<RedisCommand> RedisLogCommands(std::string_view operation,
                                           std::span<const std::string> keys) {
  std::vector<RedisCommand> commands;
  std::size_t num_bytes = 0;
  for (const std::string& key : keys) {
    // An entry is read as a whole, so its size is bounded in keys and in bytes.
    const bool is_full = commands.empty() ||
                         commands.back().size() >= 6 + 2 * kEntryKeys ||
                         num_bytes + key.size() > kEntryBytes;
    if (is_full) {
      num_bytes = 0;
      commands.push_back(
          {"XADD", kRedisChangesKey, "MAXLEN", "~", kMaxEntries, "*"});
    }
    num_bytes += key.size();
    commands.back().push_back(operation);
    commands.back().push_back(key);
  }
  return commands;
}

RedisChangeLog::RedisChangeLog(const Options& options)
    : options_(options), pool_(options.url, /*max_connections=*/1) {
  pool_.LookUpAddress();
}

absl::StatusOr<std::string> RedisChangeLog::MarkEnd() {
  const RedisCommand command = {
      "XADD", kRedisChangesKey, "MAXLEN", "~", kMaxEntries, "*", "mark", ""};
  SEMRANK_ASSIGN_OR_RETURN(const RedisReply reply,
                           Call(command, options_.timeout, {}));
  if (!IsText(*reply)) return Named(UnexpectedReply());
  return std::string(TextOf(*reply));
}

absl::StatusOr<ChangeLog::Changes> RedisChangeLog::ReadAfter(
    const std::string& position, absl::Duration max_wait) {
  SEMRANK_ASSIGN_OR_RETURN(Changes changes, Read(position));
  const absl::Duration whole = absl::Floor(max_wait, absl::Milliseconds(1));
  // To block for 0 ms would be for ever.
  if (changes.position != position || whole == absl::ZeroDuration()) {
    return changes;
  }
  // XREAD would give the entries too, but not tell whether some were dropped.
  SEMRANK_RETURN_IF_ERROR(Wait(position, whole));
  // Also when nothing came: the position may be gone by now.
  return Read(position);
}

absl::StatusOr<ChangeLog::Changes> RedisChangeLog::Read(
    const std::string& position) {
  // From the position itself on: if its entry is still there, nothing behind it
  // has been dropped.
  const RedisCommand command = {"XRANGE", kRedisChangesKey, position,
                                "+",      "COUNT",          kReadCount};
  SEMRANK_ASSIGN_OR_RETURN(const RedisReply reply,
                           Call(command, options_.timeout, kReadLimits));
  if (!IsArray(*reply)) return Named(UnexpectedReply());
  Changes changes;
  for (std::size_t i = 0; i < reply->elements; ++i) {
    if (!AddEntry(*reply->element[i], changes)) return Named(UnexpectedReply());
    if (i > 0) continue;
    if (changes.position != position) break;
    changes.keys.clear();  // those of the position itself
  }
  if (reply->elements == 0 ||
      TextOf(*reply->element[0]->element[0]) != position) {
    return Named(absl::OutOfRangeError(absl::StrFormat(
        "entry %s is no more in %s", position, kRedisChangesKey)));
  }
  changes.at_end = reply->elements < kReadEntries;
  return changes;
}

absl::Status RedisChangeLog::Wait(const std::string& position,
                                  absl::Duration max_wait) {
  const std::string milliseconds =
      std::to_string(absl::ToInt64Milliseconds(max_wait));
  const RedisCommand command = {"XREAD",          "COUNT",      "1",
                                "BLOCK",          milliseconds, "STREAMS",
                                kRedisChangesKey, position};
  return Call(command, max_wait + options_.timeout, kWaitLimits).status();
}

absl::Status RedisChangeLog::FindDocuments(
    std::span<const DocumentKey> keys,
    const std::function<void(std::size_t, const StoredDocument*)>& visit) {
  absl::Status damaged;
  std::vector<float> vector;
  for (std::size_t first = 0; first < keys.size(); first += kFindDocuments) {
    const std::span batch =
        keys.subspan(first, std::min(kFindDocuments, keys.size() - first));
    std::vector<std::string> names;
    for (const DocumentKey& key : batch) {
      names.push_back(DocumentKeyBytes(ViewOf(key)));
    }
    RedisCommand command = {"HMGET", kRedisDocumentsKey};
    command.insert(command.end(), names.begin(), names.end());
    SEMRANK_ASSIGN_OR_RETURN(const RedisReply reply,
                             Call(command, options_.timeout, kRedisPageLimits));
    if (!IsArray(*reply) || reply->elements != batch.size()) {
      return Named(UnexpectedReply());
    }
    for (std::size_t i = 0; i < batch.size(); ++i) {
      const redisReply& value = *reply->element[i];
      if (value.type == REDIS_REPLY_NIL) {
        visit(first + i, nullptr);
        continue;
      }
      const absl::StatusOr<StoredDocument> document =
          ReadDocument(names[i], TextOf(value), vector);
      if (document.ok()) visit(first + i, &*document);
      damaged.Update(document.status());
    }
  }
  return Named(damaged);
}

absl::StatusOr<RedisReply> RedisChangeLog::Call(const RedisCommand& command,
                                                absl::Duration time_limit,
                                                const ReplyLimits& limits) {
  const auto deadline =
      std::chrono::steady_clock::now() + absl::ToChronoNanoseconds(time_limit);
  absl::StatusOr<std::vector<RedisReply>> replies =
      pool_.Call({&command, 1}, deadline, limits);
  if (replies.ok()) return std::move(replies->front());
  // After a failure the server may have another address.
  pool_.LookUpAddress();
  return Named(replies.status());
}

absl::Status RedisChangeLog::Named(const absl::Status& status) const {
  if (status.ok()) return status;
  const absl::string_view message = status.message();
  return {status.code(), absl::StrFormat("%s: %s", options_.name, message)};
}

}  // namespace semrank
