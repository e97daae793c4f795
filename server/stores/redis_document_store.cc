#include "server/stores/redis_document_store.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/str_format.h"
#include "model/base/status_macros.h"
#include "server/stores/redis_change_log.h"
#include "server/stores/store_records.h"

namespace semrank {
namespace {

constexpr std::string_view kHeaderKey = "semrank:store";
constexpr std::string_view kVectorPrefix = "semrank:v:";
constexpr std::string_view kVectorLifeSeconds = "2592000";  // 30 days
constexpr std::string_view kRedisFormatLine = "semrank store 1\n";
static_assert(kStoreFormat == 1);
// A command with more documents would block the server for long.
constexpr std::size_t kBatchDocuments = 1'000;
constexpr std::string_view kScanCount = "1000";
// KEYS is the hash of documents; ARGV has the key and the new value of each
// document, in the format of store_records.h: the sizes begin at byte 9; title,
// payload, model, vector and tags follow. `parts` returns what a put changes
// (title, payload and tags) and the model's identity. A vector is replaced only
// if the former are equal and the latter differs; records that are too short
// are left alone.
constexpr std::string_view kReplaceVectorsScript = R"(
local function parts(value)
  local title, payload, model, dim = struct.unpack('<I4I4I4I4', value, 9)
  local text_end = 24 + title + payload
  local model_end = text_end + model
  return value:sub(9, 16) .. value:sub(25, text_end) ..
             value:sub(model_end + 4 * dim + 1),
         value:sub(text_end + 1, model_end)
end
for i = 1, #ARGV, 2 do
  local old = redis.call('HGET', KEYS[1], ARGV[i])
  if old and #old >= 24 then
    local old_content, old_model = parts(old)
    local content, model = parts(ARGV[i + 1])
    if content == old_content and model ~= old_model then
      redis.call('HSET', KEYS[1], ARGV[i], ARGV[i + 1])
    end
  end
end
return 0
)";

// Format and secret are one value, so that SET NX writes both or none.
std::string NewHeader() {
  const Fingerprinter::Secret secret = Fingerprinter::RandomSecret();
  std::string header(kRedisFormatLine);
  header.append(reinterpret_cast<const char*>(secret.data()), secret.size());
  return header;
}

// The keys and values of documents as bytes.
struct DocumentTexts {
  explicit DocumentTexts(std::span<const StoredDocument> documents) {
    for (const StoredDocument& document : documents) {
      keys.push_back(DocumentKeyBytes(document.key));
      values.push_back(DocumentValue(keys.back(), document));
    }
  }
  void AppendTo(RedisCommand& command) const {
    for (std::size_t i = 0; i < keys.size(); ++i) {
      command.push_back(keys[i]);
      command.push_back(values[i]);
    }
  }
  std::vector<std::string> keys;
  std::vector<std::string> values;
};

std::vector<std::string> PrefixedKeys(const VectorKeys& keys) {
  std::vector<std::string> prefixed;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    prefixed.push_back(std::string(kVectorPrefix).append(keys[i]));
  }
  return prefixed;
}

// Calls call(batch) for batches of `items`; stops at the first error.
template <typename Item, typename Call>
absl::Status ForEachBatch(std::span<const Item> items, Call call) {
  while (!items.empty()) {
    const std::span batch =
        items.first(std::min(kBatchDocuments, items.size()));
    SEMRANK_RETURN_IF_ERROR(call(batch));
    items = items.subspan(batch.size());
  }
  return absl::OkStatus();
}

}  // namespace

RedisDocumentStore::RedisDocumentStore(const Options& options)
    : options_(options),
      name_(NameOf(options.url)),
      pool_(options.url, options.max_connections, "", options.resolve),
      header_(NewHeader()) {
  pool_.LookUpAddress();
}

absl::StatusOr<DocumentStore::Found> RedisDocumentStore::FindVectors(
    const VectorSpace& space,
    std::span<const std::string_view> normalized_texts,
    absl::Duration time_limit, float* rows, std::span<std::uint8_t> found) {
  const Deadline deadline = RedisPool::DeadlineIn(time_limit);
  std::ranges::fill(found, std::uint8_t{0});
  FingerprinterPtr fingerprinter = fingerprint();
  // A trial may wait for the name, which may take seconds; requests may not.
  if (normalized_texts.empty()) pool_.LookUpAddress();
  if (normalized_texts.empty() || fingerprinter == nullptr) {
    SEMRANK_ASSIGN_OR_RETURN(fingerprinter, AgreeOnSecret(deadline));
  }
  if (normalized_texts.empty()) return Found();

  // `names` must outlive the call: commands view their arguments.
  const VectorKeys keys(*fingerprinter, space, normalized_texts);
  const std::vector<std::string> names = PrefixedKeys(keys);
  // Reads the header too, to notice another secret without a second round trip.
  RedisCommand command = {"MGET", kHeaderKey};
  command.insert(command.end(), names.begin(), names.end());
  constexpr std::size_t kMaxOverhead = 256;  // bytes beside the vector
  const ReplyLimits limits = {
      .max_elements = keys.size() + 1,
      .max_bytes =
          (keys.size() + 1) * (space.dim * sizeof(float) + kMaxOverhead)};
  SEMRANK_ASSIGN_OR_RETURN(const Replies replies,
                           pool_.Call({&command, 1}, deadline, limits));
  const redisReply& values = *replies[0];
  if (!IsArray(values) || values.elements != keys.size() + 1) {
    return Named(UnexpectedReply());
  }
  if (!IsText(*values.element[0])) {
    // The store was emptied: write the secret of this process to it.
    SEMRANK_RETURN_IF_ERROR(AgreeOnSecret(deadline).status());
    return Found();
  }
  SEMRANK_ASSIGN_OR_RETURN(const FingerprinterPtr now,
                           Adopt(*values.element[0]));
  // With another secret, the keys above match no text.
  if (now != fingerprinter) return Found();
  Found result;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const redisReply& value = *values.element[i + 1];
    if (value.type == REDIS_REPLY_NIL) continue;
    const std::span row(rows + i * space.dim, std::size_t(space.dim));
    const bool good =
        IsText(value) && ReadVectorValue(keys[i], TextOf(value), row);
    found[i] = good ? 1 : 0;
    ++(good ? result.num_found : result.num_refused);
  }
  return result;
}

absl::Status RedisDocumentStore::WriteVectors(
    const VectorSpace& space,
    std::span<const std::string_view> normalized_texts, const float* rows) {
  const Deadline deadline = UsualDeadline();
  FingerprinterPtr fingerprinter = fingerprint();
  if (fingerprinter == nullptr) {
    SEMRANK_ASSIGN_OR_RETURN(fingerprinter, AgreeOnSecret(deadline));
  }
  const VectorKeys keys(*fingerprinter, space, normalized_texts);
  const std::vector<std::string> names = PrefixedKeys(keys);
  std::vector<std::string> values;
  std::vector<RedisCommand> commands;
  values.reserve(keys.size());
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const std::span row(rows + i * space.dim, std::size_t(space.dim));
    values.push_back(VectorValue(keys[i], row));
    // The expiry lets volatile-* policies evict vectors, and nothing else.
    commands.push_back({"SET", names[i], values[i], "EX", kVectorLifeSeconds});
  }
  return pool_.Call(commands, deadline).status();
}

absl::Status RedisDocumentStore::PutDocuments(
    std::span<const StoredDocument> documents) {
  return ForEachBatch(documents, [this](auto batch) {
    const DocumentTexts texts(batch);
    // One transaction for the log and the documents: no entry without its
    // change.
    std::vector<RedisCommand> commands = RedisLogCommands("put", texts.keys);
    texts.AppendTo(
        commands.emplace_back(RedisCommand{"HSET", kRedisDocumentsKey}));
    return CallTransaction(std::move(commands));
  });
}

absl::Status RedisDocumentStore::ReplaceVectors(
    std::span<const StoredDocument> documents) {
  return ForEachBatch(documents, [this](auto batch) {
    const DocumentTexts texts(batch);
    // Redis runs a script as a whole, so no put of another server comes between
    // its comparison and its write.
    RedisCommand command = {"EVAL", kReplaceVectorsScript, "1",
                            kRedisDocumentsKey};
    texts.AppendTo(command);
    return pool_.Call({&command, 1}, UsualDeadline()).status();
  });
}

absl::Status RedisDocumentStore::DeleteDocuments(
    std::span<const DocumentKeyView> keys) {
  return ForEachBatch(keys, [this](auto batch) {
    std::vector<std::string> texts;
    for (const DocumentKeyView& key : batch) {
      texts.push_back(DocumentKeyBytes(key));
    }
    RedisCommand command = {"HDEL", kRedisDocumentsKey};
    command.insert(command.end(), texts.begin(), texts.end());
    std::vector<RedisCommand> commands = RedisLogCommands("delete", texts);
    commands.push_back(command);
    absl::Status deleted = CallTransaction(std::move(commands));
    if (absl::IsResourceExhausted(deleted)) {
      // Without a transaction, whose queue a full Redis refuses too. In this
      // order, so that a server that misses the log reads the documents without
      // these.
      const std::vector<RedisCommand> plain = {command,
                                               {"DEL", kRedisChangesKey}};
      deleted = pool_.Call(plain, UsualDeadline()).status();
    }
    return deleted;
  });
}

absl::Status RedisDocumentStore::LoadDocuments(const VisitDocument& visit) {
  SEMRANK_RETURN_IF_ERROR(AgreeOnSecret(UsualDeadline()).status());
  // One connection for all pages. A cursor is only valid in the process that
  // made it: after a restart of Redis the other pages would miss documents.
  const auto connection = pool_.Connect(UsualDeadline());
  if (!connection.ok()) return Named(connection.status());
  // HSCAN begins with cursor 0, and returns 0 with the last page.
  std::string cursor = "0";
  std::vector<float> vector;
  do {
    const RedisCommand command = {"HSCAN", kRedisDocumentsKey, cursor, "COUNT",
                                  kScanCount};
    const absl::StatusOr<Replies> replies =
        (*connection)->Call({&command, 1}, UsualDeadline(), kRedisPageLimits);
    if (!replies.ok()) return Named(replies.status());
    const redisReply& page = *replies->front();
    if (!IsArray(page) || page.elements != 2 || !IsText(*page.element[0]) ||
        !IsArray(*page.element[1])) {
      return Named(UnexpectedReply());
    }
    // HSCAN returns everything that is there from the first to the last page,
    // some of it possibly twice.
    cursor = TextOf(*page.element[0]);
    const redisReply& list = *page.element[1];
    for (std::size_t i = 0; i + 1 < list.elements; i += 2) {
      const absl::StatusOr<StoredDocument> document = ReadDocument(
          TextOf(*list.element[i]), TextOf(*list.element[i + 1]), vector);
      if (!document.ok()) return Named(document.status());
      SEMRANK_RETURN_IF_ERROR(visit(*document));
    }
  } while (cursor != "0");
  return absl::OkStatus();
}

std::unique_ptr<ChangeLog> RedisDocumentStore::OpenChangeLog() {
  return std::make_unique<RedisChangeLog>(
      RedisChangeLog::Options{.url = options_.url,
                              .timeout = options_.timeout,
                              .store_pool = &pool_,
                              .resolve = options_.resolve});
}

absl::Status RedisDocumentStore::CallTransaction(
    std::vector<RedisCommand> commands) {
  // A transaction, so that readers of an entry find the documents as it says.
  commands.insert(commands.begin(), RedisCommand{"MULTI"});
  commands.push_back({"EXEC"});
  // The last reply contains those of all commands.
  ReplyLimits limits;
  limits.max_elements += commands.size();
  limits.max_bytes += commands.size() * 64;
  SEMRANK_ASSIGN_OR_RETURN(const Replies replies,
                           pool_.Call(commands, UsualDeadline(), limits));
  const redisReply& results = *replies.back();
  if (!IsArray(results)) return Named(UnexpectedReply());
  for (std::size_t i = 0; i < results.elements; ++i) {
    // EXEC succeeds even if a command within it fails.
    if (results.element[i]->type == REDIS_REPLY_ERROR) {
      return Named(RedisError(*results.element[i]));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<RedisDocumentStore::FingerprinterPtr>
RedisDocumentStore::AgreeOnSecret(Deadline deadline) {
  std::string header;
  {
    MutexLock lock(mutex_);
    header = header_;
  }
  const RedisCommand get = {"GET", kHeaderKey};
  // Reads first: a full Redis refuses SET NX also if there is a header.
  SEMRANK_ASSIGN_OR_RETURN(Replies replies, pool_.Call({&get, 1}, deadline));
  if (replies.back()->type == REDIS_REPLY_NIL) {
    // When servers start at once, the first one sets the header, and all of
    // them read the same.
    const RedisCommand set_and_get[] = {{"SET", kHeaderKey, header, "NX"}, get};
    SEMRANK_ASSIGN_OR_RETURN(replies, pool_.Call(set_and_get, deadline));
  }
  return Adopt(*replies.back());
}

// Compares the header on every call, because the secret changes when another
// program empties the server.
absl::StatusOr<RedisDocumentStore::FingerprinterPtr> RedisDocumentStore::Adopt(
    const redisReply& reply) {
  const std::string_view header =
      IsText(reply) ? TextOf(reply) : std::string_view();
  if (!header.starts_with(kRedisFormatLine) ||
      header.size() != kRedisFormatLine.size() + Fingerprinter::kSecretBytes) {
    return Named(absl::FailedPreconditionError(absl::StrFormat(
        "%s holds another format; nothing was changed", kHeaderKey)));
  }
  MutexLock lock(mutex_);
  // Another replica may have been faster, at first or after a FLUSHALL.
  if (fingerprint_ == nullptr || header != header_) {
    Fingerprinter::Secret secret;
    std::memcpy(secret.data(), header.data() + kRedisFormatLine.size(),
                secret.size());
    header_ = header;
    fingerprint_ = std::make_shared<const Fingerprinter>(secret);
  }
  return fingerprint_;
}

RedisDocumentStore::FingerprinterPtr RedisDocumentStore::fingerprint() const {
  MutexLock lock(mutex_);
  return fingerprint_;
}

}  // namespace semrank
