#include <chrono>
#include <cstdint>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "client/streams/event_stream.h"
#include "model/base/status_macros.h"
#include "model/redis/redis_client.h"

// Reads the stream in pages of XRANGE, each of which begins after the last
// entry of the page before. Ids ascend and are never used twice, so that
// neither new entries nor trimmed ones shift a page. The end is the last id
// when reading began; XRANGE includes it.
namespace semrank {
namespace {

constexpr std::chrono::seconds kTimeout(30);
// Entries of one read.
constexpr std::string_view kCount = "1000";
constexpr ReplyLimits kLimits = {.max_elements = 100'000,
                                 .max_bytes = std::size_t{1} << 30};

// The record of an entry, which is an id and an array of fields and values.
// False for anything else.
bool ReadEntry(const redisReply& entry, std::string& id, std::string& record) {
  if (!IsArray(entry) || entry.elements != 2 || !IsText(*entry.element[0]) ||
      !IsArray(*entry.element[1])) {
    return false;
  }
  id = TextOf(*entry.element[0]);
  record.clear();
  const redisReply& fields = *entry.element[1];
  for (std::size_t i = 0; i + 1 < fields.elements; i += 2) {
    if (TextOf(*fields.element[i]) != kRedisEventField) continue;
    record = TextOf(*fields.element[i + 1]);
  }
  return true;
}

// Returns true for an entry ID of Redis, such as "1764140482123-0":
// milliseconds and a sequence number. Redis rejects commands with a text that
// is not an ID.
bool IsEntryId(const std::string& text) {
  const std::pair<absl::string_view, absl::string_view> parts =
      absl::StrSplit(text, absl::MaxSplits('-', 1));
  const auto is_number = [](absl::string_view digits) {
    std::uint64_t number = 0;
    return absl::SimpleAtoi(digits, &number);
  };
  return is_number(parts.first) && is_number(parts.second);
}

class RedisStream final : public EventStream {
 public:
  RedisStream(const RedisUrl& url, const Options& options)
      : key_(options.address.stream),
        name_(absl::StrCat(NameOf(url), "/", key_)),
        pool_(url, /*max_connections=*/1, name_) {}

  absl::Status Begin(const std::string& position) override {
    if (!position.empty() && !IsEntryId(position)) {
      return absl::InvalidArgumentError(
          absl::StrFormat("\"%s\" is not a position of a stream", position));
    }
    position_ = position;
    // The end is found first, since it bounds every page.
    pool_.LookUpAddress();
    SEMRANK_RETURN_IF_ERROR(FindEnd());
    return ReadPage();
  }

  // ReadEntry also sets position_, by which the next page begins.
  absl::StatusOr<bool> Next(std::string& line) override {
    if (next_ == page_->elements) SEMRANK_RETURN_IF_ERROR(ReadPage());
    if (next_ == page_->elements) return false;
    if (!ReadEntry(*page_->element[next_], position_, line)) {
      return pool_.Named(UnexpectedReply());
    }
    ++next_;
    return true;
  }
  std::string position() const override { return position_; }
  // Entries that are already gone are not counted by XDEL, and are no error: a
  // call can be repeated.
  absl::Status Delete(std::span<const std::string> positions) override {
    RedisCommand command = {"XDEL", key_};
    command.insert(command.end(), positions.begin(), positions.end());
    SEMRANK_ASSIGN_OR_RETURN(const RedisReply reply, Call(command));
    return reply->type == REDIS_REPLY_INTEGER ? absl::OkStatus()
                                              : pool_.Named(UnexpectedReply());
  }
  const std::string& name() const override { return name_; }

 private:
  absl::Status FindEnd() {
    SEMRANK_ASSIGN_OR_RETURN(
        const RedisReply last,
        CallForArray({"XREVRANGE", key_, "+", "-", "COUNT", "1"}));
    if (last->elements == 0) return absl::OkStatus();
    std::string record;
    return ReadEntry(*last->element[0], end_, record)
               ? absl::OkStatus()
               : pool_.Named(UnexpectedReply());
  }

  absl::Status ReadPage() {
    // "(" excludes the position itself. The entry may have been trimmed since,
    // which does not matter to XRANGE.
    const std::string begin =
        position_.empty() ? "-" : absl::StrCat("(", position_);
    SEMRANK_ASSIGN_OR_RETURN(
        page_, CallForArray({"XRANGE", key_, begin, end_, "COUNT", kCount}));
    next_ = 0;
    return absl::OkStatus();
  }

  absl::StatusOr<RedisReply> CallForArray(const RedisCommand& command) {
    SEMRANK_ASSIGN_OR_RETURN(RedisReply reply, Call(command));
    if (!IsArray(*reply)) return pool_.Named(UnexpectedReply());
    return reply;
  }
  absl::StatusOr<RedisReply> Call(const RedisCommand& command) {
    SEMRANK_ASSIGN_OR_RETURN(
        auto replies,
        pool_.Call({&command, 1}, std::chrono::steady_clock::now() + kTimeout,
                   kLimits));
    return std::move(replies.front());
  }

  const std::string key_;
  const std::string name_;
  RedisPool pool_;
  std::string position_;
  std::string end_ = "-";  // the last entry; "-" = before all
  RedisReply page_;
  std::size_t next_ = 0;
};

}  // namespace

absl::StatusOr<std::unique_ptr<EventStream>> MakeRedisStream(
    const EventStream::Options& options) {
  SEMRANK_ASSIGN_OR_RETURN(RedisUrl url, ParseRedisUrl(options.address.place));
  url.tls_files = options.tls;
  return std::make_unique<RedisStream>(url, options);
}

}  // namespace semrank
