#include "server/stores/redis_document_store.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/str_format.h"
#include "model/base/status_macros.h"
#include "server/stores/store_records.h"

namespace semrank {
namespace {

constexpr std::string_view kHeaderKey = "semrank:store";
constexpr std::string_view kVectorPrefix = "semrank:v:";
constexpr std::string_view kDocumentsKey = "semrank:documents";
constexpr std::string_view kVectorLifeSeconds = "2592000";  // 30 days
// kStoreFormat is the number.
constexpr std::string_view kRedisFormatLine = "semrank store 1\n";
static_assert(kStoreFormat == 1);
constexpr std::size_t kBatchDocuments = 1'000;
constexpr std::string_view kScanCount = "1000";
// Of one page of documents: a hash that is not yet large comes as one page,
// whatever count is asked for.
constexpr ReplyLimits kPageLimits = {.max_elements = 1'000'000,
                                     .max_bytes = std::size_t{1} << 30};

std::string NewHeader() {
  const Fingerprinter::Secret secret = Fingerprinter::RandomSecret();
  std::string header(kRedisFormatLine);
  header.append(reinterpret_cast<const char*>(secret.data()), secret.size());
  return header;
}

bool IsText(const redisReply& reply) {
  return reply.type == REDIS_REPLY_STRING;
}

// Sets the header unless there is one, and reads what is there then.
std::vector<RedisCommand> AgreeCommands(std::string_view header) {
  return {{"SET", kHeaderKey, header, "NX"}, {"GET", kHeaderKey}};
}

absl::Status Unexpected() {
  return absl::UnavailableError("what it answers does not fit the question");
}

std::vector<std::string> PrefixedKeys(const VectorKeys& keys) {
  std::vector<std::string> prefixed;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    prefixed.push_back(std::string(kVectorPrefix).append(keys[i]));
  }
  return prefixed;
}

}  // namespace

RedisDocumentStore::RedisDocumentStore(const Options& options)
    : options_(options),
      name_(NameOf(options.url)),
      pool_(options.url, options.max_connections),
      header_(NewHeader()) {
  pool_.LookUpAddress();
}

absl::StatusOr<DocumentStore::Found> RedisDocumentStore::FindVectors(
    const VectorSpace& space,
    std::span<const std::string_view> normalized_texts,
    absl::Duration time_limit, float* rows, std::span<std::uint8_t> found) {
  const Deadline deadline =
      std::chrono::steady_clock::now() + absl::ToChronoNanoseconds(time_limit);
  std::ranges::fill(found, std::uint8_t{0});
  FingerprinterPtr fingerprinter = fingerprint();
  if (normalized_texts.empty()) pool_.LookUpAddress();
  if (normalized_texts.empty() || fingerprinter == nullptr) {
    SEMRANK_ASSIGN_OR_RETURN(fingerprinter, AgreeOnSecret(deadline));
  }
  if (normalized_texts.empty()) return Found();

  const VectorKeys keys(*fingerprinter, space, normalized_texts);
  const std::vector<std::string> names = PrefixedKeys(keys);
  RedisCommand command = {"MGET", kHeaderKey};
  command.insert(command.end(), names.begin(), names.end());
  constexpr std::size_t kMaxOverhead = 256;  // of a value
  const ReplyLimits limits = {
      .max_elements = keys.size() + 1,
      .max_bytes =
          (keys.size() + 1) * (space.dim * sizeof(float) + kMaxOverhead)};
  SEMRANK_ASSIGN_OR_RETURN(const Replies replies,
                           Call({&command, 1}, deadline, limits));
  const redisReply& values = *replies[0];
  if (values.type != REDIS_REPLY_ARRAY || values.elements != keys.size() + 1) {
    return Named(Unexpected());
  }
  if (!IsText(*values.element[0])) {
    // Emptied. What this process knows of the secret is as good as any.
    SEMRANK_RETURN_IF_ERROR(AgreeOnSecret(deadline).status());
    return Found();
  }
  SEMRANK_ASSIGN_OR_RETURN(const FingerprinterPtr now,
                           Adopt(*values.element[0]));
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
    commands.push_back({"SET", names[i], values[i], "EX", kVectorLifeSeconds});
  }
  return Call(commands, deadline).status();
}

absl::Status RedisDocumentStore::PutDocuments(
    std::span<const StoredDocument> documents) {
  while (!documents.empty()) {
    const std::span batch =
        documents.first(std::min(kBatchDocuments, documents.size()));
    std::vector<std::string> texts;
    for (const StoredDocument& document : batch) {
      texts.push_back(DocumentKeyBytes(document.key));
      texts.push_back(DocumentValue(texts.back(), document));
    }
    RedisCommand command = {"HSET", kDocumentsKey};
    command.insert(command.end(), texts.begin(), texts.end());
    SEMRANK_RETURN_IF_ERROR(Call({&command, 1}, UsualDeadline()).status());
    documents = documents.subspan(batch.size());
  }
  return absl::OkStatus();
}

absl::Status RedisDocumentStore::DeleteDocuments(
    std::span<const DocumentKeyView> keys) {
  while (!keys.empty()) {
    const std::span batch = keys.first(std::min(kBatchDocuments, keys.size()));
    std::vector<std::string> texts;
    for (const DocumentKeyView& key : batch) {
      texts.push_back(DocumentKeyBytes(key));
    }
    RedisCommand command = {"HDEL", kDocumentsKey};
    command.insert(command.end(), texts.begin(), texts.end());
    SEMRANK_RETURN_IF_ERROR(Call({&command, 1}, UsualDeadline()).status());
    keys = keys.subspan(batch.size());
  }
  return absl::OkStatus();
}

absl::Status RedisDocumentStore::LoadDocuments(
    const std::function<absl::Status(const StoredDocument&)>& visit) {
  SEMRANK_RETURN_IF_ERROR(AgreeOnSecret(UsualDeadline()).status());
  std::string cursor = "0";
  std::vector<float> vector;
  do {
    const RedisCommand command = {"HSCAN", kDocumentsKey, cursor, "COUNT",
                                  kScanCount};
    SEMRANK_ASSIGN_OR_RETURN(const Replies replies,
                             Call({&command, 1}, UsualDeadline(), kPageLimits));
    const redisReply& page = *replies[0];
    if (page.type != REDIS_REPLY_ARRAY || page.elements != 2 ||
        !IsText(*page.element[0]) ||
        page.element[1]->type != REDIS_REPLY_ARRAY) {
      return Named(Unexpected());
    }
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

absl::StatusOr<RedisDocumentStore::Replies> RedisDocumentStore::Call(
    std::span<const RedisCommand> commands, Deadline deadline,
    const ReplyLimits& limits) {
  absl::StatusOr<Replies> replies = pool_.Call(commands, deadline, limits);
  if (!replies.ok()) return Named(replies.status());
  return replies;
}

RedisDocumentStore::Deadline RedisDocumentStore::UsualDeadline() const {
  return std::chrono::steady_clock::now() +
         absl::ToChronoNanoseconds(options_.timeout);
}

absl::StatusOr<RedisDocumentStore::FingerprinterPtr>
RedisDocumentStore::AgreeOnSecret(Deadline deadline) {
  std::string header;
  {
    MutexLock lock(mutex_);
    header = header_;
  }
  SEMRANK_ASSIGN_OR_RETURN(const Replies replies,
                           Call(AgreeCommands(header), deadline));
  return Adopt(*replies[1]);
}

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

absl::Status RedisDocumentStore::Named(const absl::Status& status) const {
  if (status.ok()) return status;
  const absl::string_view message = status.message();
  return {status.code(), absl::StrFormat("%s: %s", name_, message)};
}

}  // namespace semrank
