#include "server/stores/redis_change_log.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_format.h"
#include "model/base/status_macros.h"
#include "server/stores/store_records.h"

// An entry of the log has keys only. A reader asks for the documents of the
// keys, so it gets the newest version of each, also when it reads the entry
// late or twice.
namespace semrank {
namespace {

// The limits of one entry, and the number of entries that Redis keeps.
constexpr std::size_t kEntryKeys = 64;
constexpr std::size_t kEntryBytes = std::size_t{64} << 10;
constexpr std::string_view kMaxEntries = "50000";
// One read returns the entry of the position and up to 64 more.
constexpr std::size_t kReadEntries = 65;
constexpr std::string_view kReadCount = "65";
// One key may have up to a mebibyte.
constexpr ReplyLimits kReadLimits = {
    .max_elements = kReadEntries * (2 * kEntryKeys + 4),
    .max_bytes = std::size_t{128} << 20};
// A wait returns one entry.
constexpr ReplyLimits kWaitLimits = {.max_elements = 2 * kEntryKeys + 16,
                                     .max_bytes = std::size_t{2} << 20};
constexpr std::size_t kFindDocuments = 256;

std::optional<DocumentKey> KeyOf(std::string_view bytes) {
  const absl::StatusOr<DocumentKeyView> view = ReadDocumentKey(bytes);
  if (!view.ok()) return std::nullopt;
  if (const auto* number = std::get_if<std::uint64_t>(&*view)) return *number;
  return std::string(std::get<std::string_view>(*view));
}

// Adds the keys of an entry, which is an id and an array of fields and values.
// Returns false for anything else.
bool AddEntry(const redisReply& entry, ChangeLog::Changes& changes) {
  if (!IsArray(entry) || entry.elements != 2 || !IsText(*entry.element[0]) ||
      !IsArray(*entry.element[1])) {
    return false;
  }
  const redisReply& fields = *entry.element[1];
  // The operation of a key is only informative and is not read here:
  // FindDocuments shows whether the document still exists.
  for (std::size_t i = 0; i + 1 < fields.elements; i += 2) {
    // Marks have no key, and bytes that are not a key belong to no document.
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
    // Entries are read as a whole, so their size is limited in keys and in
    // bytes.
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

// A connection of its own, because a read of the log blocks while it waits for
// changes.
RedisChangeLog::RedisChangeLog(const Options& options)
    : options_(options),
      pool_(options.url, /*max_connections=*/1, "", options.resolve) {
  pool_.LookUpAddress();
}

absl::StatusOr<std::string> RedisChangeLog::MarkEnd() {
  // The last entry serves as a mark, since a full Redis refuses another one.
  SEMRANK_ASSIGN_OR_RETURN(
      const RedisReply last,
      Call({"XREVRANGE", kRedisChangesKey, "+", "-", "COUNT", "1"},
           options_.timeout, kReadLimits));
  if (!IsArray(*last)) return pool_.Named(UnexpectedReply());
  if (last->elements > 0) {
    Changes changes;
    if (!AddEntry(*last->element[0], changes)) {
      return pool_.Named(UnexpectedReply());
    }
    return changes.position;
  }
  // An empty log has no position.
  SEMRANK_ASSIGN_OR_RETURN(
      const RedisReply id,
      Call({"XADD", kRedisChangesKey, "*", "mark", ""}, options_.timeout, {}));
  if (!IsText(*id)) return pool_.Named(UnexpectedReply());
  return std::string(TextOf(*id));
}

absl::StatusOr<ChangeLog::Changes> RedisChangeLog::ReadAfter(
    const std::string& position, absl::Duration max_wait) {
  SEMRANK_ASSIGN_OR_RETURN(Changes changes, Read(position));
  const absl::Duration whole = absl::Floor(max_wait, absl::Milliseconds(1));
  // BLOCK 0 would wait for ever.
  if (changes.position != position || whole == absl::ZeroDuration()) {
    return changes;
  }
  // XREAD returns the entries too, but does not show whether some were dropped.
  SEMRANK_RETURN_IF_ERROR(Wait(position, whole));
  // Read again even without a change, since the position may be dropped by now.
  return Read(position);
}

absl::StatusOr<ChangeLog::Changes> RedisChangeLog::Read(
    const std::string& position) {
  // Starts with the position itself: if its entry is still there, no later one
  // was dropped.
  const RedisCommand command = {"XRANGE", kRedisChangesKey, position,
                                "+",      "COUNT",          kReadCount};
  SEMRANK_ASSIGN_OR_RETURN(const RedisReply reply,
                           Call(command, options_.timeout, kReadLimits));
  if (!IsArray(*reply)) return pool_.Named(UnexpectedReply());
  Changes changes;
  for (std::size_t i = 0; i < reply->elements; ++i) {
    if (!AddEntry(*reply->element[i], changes))
      return pool_.Named(UnexpectedReply());
    if (i > 0) continue;
    if (changes.position != position) break;
    changes.keys.clear();  // the keys of the position itself
  }
  if (reply->elements == 0 ||
      TextOf(*reply->element[0]->element[0]) != position) {
    return pool_.Named(absl::OutOfRangeError(absl::StrFormat(
        "entry %s is no longer in %s", position, kRedisChangesKey)));
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
  // XREAD may block for `max_wait` when nothing changes, so the time limit of
  // the call is longer by that much.
  return Call(command, max_wait + options_.timeout, kWaitLimits).status();
}

absl::Status RedisChangeLog::FindDocuments(std::span<const DocumentKey> keys,
                                           const VisitFound& visit) {
  absl::Status damaged;
  std::vector<float> vector;
  for (std::size_t first = 0; first < keys.size(); first += kFindDocuments) {
    const std::span batch =
        keys.subspan(first, std::min(kFindDocuments, keys.size() - first));
    std::vector<std::string> names;
    for (const DocumentKey& key : batch) {
      names.push_back(DocumentKeyBytes(ViewOf(key)));
    }
    // One command a batch, so that its reply stays within the limits.
    RedisCommand command = {"HMGET", kRedisDocumentsKey};
    command.insert(command.end(), names.begin(), names.end());
    SEMRANK_ASSIGN_OR_RETURN(const RedisReply reply,
                             Call(command, options_.timeout, kRedisPageLimits));
    if (!IsArray(*reply) || reply->elements != batch.size()) {
      return pool_.Named(UnexpectedReply());
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
      // The other documents of the batch are visited all the same.
      damaged.Update(document.status());
    }
  }
  return pool_.Named(damaged);
}

absl::StatusOr<RedisReply> RedisChangeLog::Call(const RedisCommand& command,
                                                absl::Duration time_limit,
                                                const ReplyLimits& limits) {
  // The log moves with the store: a demoted master still answers reads, though
  // it may get no further changes.
  if (options_.store_pool->LookUpAfterFailure()) pool_.LookUpAddress();
  absl::StatusOr<std::vector<RedisReply>> replies =
      pool_.Call({&command, 1}, RedisPool::DeadlineIn(time_limit), limits);
  if (replies.ok()) return std::move(replies->front());
  // After a failure the server may have another address.
  pool_.LookUpAddress();
  return replies.status();
}

}  // namespace semrank
