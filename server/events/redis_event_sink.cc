#include "server/events/redis_event_sink.h"

#include <chrono>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "model/base/status_macros.h"
#include "model/events/event_address.h"

namespace semrank {
namespace {

// Entries of one round trip.
constexpr std::size_t kCommandsPerCall = 1'000;
constexpr absl::Duration kTrimInterval = absl::Minutes(1);
// Nodes of the stream from which MEMORY USAGE estimates the others.
constexpr std::string_view kSamples = "20";

}  // namespace

RedisEventSink::RedisEventSink(const Options& options)
    : options_(options),
      name_(absl::StrCat(NameOf(options.url), "/", options.stream)),
      pool_(options.url, /*max_connections=*/1) {
  pool_.LookUpAddress();
}

absl::Status RedisEventSink::Check() {
  return CallForNumber({"XLEN", options_.stream}).status();
}

absl::Status RedisEventSink::Append(const EventLines& lines,
                                    absl::Time /*now*/) {
  // Redis makes the ids ("*"), so they ascend whatever the clocks of several
  // servers say.
  std::vector<RedisCommand> commands;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    commands.push_back(
        {"XADD", options_.stream, "*", kRedisEventField, lines.line(i)});
    if (commands.size() < kCommandsPerCall) continue;
    SEMRANK_RETURN_IF_ERROR(Call(commands).status());
    commands.clear();
  }
  return commands.empty() ? absl::OkStatus() : Call(commands).status();
}

absl::Status RedisEventSink::RemoveOld(absl::Time /*now*/) {
  const RedisPool::Deadline begin = std::chrono::steady_clock::now();
  // While Redis is away, a call would only wait for its timeout.
  if (begin < next_trim_ || is_away_) return absl::OkStatus();
  next_trim_ = RedisPool::DeadlineIn(kTrimInterval);
  const auto until = RedisPool::DeadlineIn(options_.max_trim_time);
  // A server whose clock is ahead would remove the records of all the others.
  SEMRANK_ASSIGN_OR_RETURN(const absl::Time now, RedisTime());
  SEMRANK_ASSIGN_OR_RETURN(
      const bool is_age_done,
      Trim("MINID", absl::ToUnixMillis(now - options_.max_age), until));
  SEMRANK_ASSIGN_OR_RETURN(const bool is_size_done, TrimByBytes(until));
  if (!is_age_done || !is_size_done) next_trim_ = begin;
  return absl::OkStatus();
}

absl::StatusOr<absl::Time> RedisEventSink::RedisTime() {
  const RedisCommand command = {"TIME"};
  SEMRANK_ASSIGN_OR_RETURN(const auto replies, Call({&command, 1}));
  // Seconds, and the microseconds since then.
  const redisReply& time = *replies[0];
  std::int64_t seconds = 0;
  if (!IsArray(time) || time.elements != 2 || !IsText(*time.element[0]) ||
      !absl::SimpleAtoi(std::string(TextOf(*time.element[0])), &seconds)) {
    return pool_.Named(UnexpectedReply());
  }
  return absl::FromUnixSeconds(seconds);
}

// Repeats XTRIM, because with "~" it removes at most 100 nodes: this bounds how
// long one command blocks Redis.
absl::StatusOr<bool> RedisEventSink::Trim(std::string_view strategy,
                                          std::int64_t threshold,
                                          RedisPool::Deadline until) {
  const std::string number = absl::StrCat(threshold);
  do {
    SEMRANK_ASSIGN_OR_RETURN(
        const std::int64_t num_removed,
        CallForNumber({"XTRIM", options_.stream, strategy, "~", number}));
    if (num_removed == 0) return true;
  } while (std::chrono::steady_clock::now() < until);
  return false;
}

// Redis limits a stream by entries alone.
absl::StatusOr<bool> RedisEventSink::TrimByBytes(RedisPool::Deadline until) {
  SEMRANK_ASSIGN_OR_RETURN(
      num_bytes_,
      CallForNumber({"MEMORY", "USAGE", options_.stream, "SAMPLES", kSamples}));
  if (num_bytes_ <= options_.max_bytes) return true;
  SEMRANK_ASSIGN_OR_RETURN(const std::int64_t num_entries,
                           CallForNumber({"XLEN", options_.stream}));
  // Entries count as equally large here. The next trim, a minute later,
  // corrects what this estimate misses.
  const double share =
      static_cast<double>(options_.max_bytes) / static_cast<double>(num_bytes_);
  return Trim(
      "MAXLEN",
      static_cast<std::int64_t>(static_cast<double>(num_entries) * share),
      until);
}

absl::StatusOr<std::int64_t> RedisEventSink::CallForNumber(
    const RedisCommand& command) {
  // `command` alone, so there is exactly one reply.
  SEMRANK_ASSIGN_OR_RETURN(const auto replies, Call({&command, 1}));
  // MEMORY USAGE has no answer for a stream without entries.
  if (replies[0]->type == REDIS_REPLY_NIL) return 0;
  if (replies[0]->type != REDIS_REPLY_INTEGER) {
    return pool_.Named(UnexpectedReply());
  }
  return replies[0]->integer;
}

absl::StatusOr<std::vector<RedisReply>> RedisEventSink::Call(
    std::span<const RedisCommand> commands) {
  absl::StatusOr<std::vector<RedisReply>> replies =
      pool_.Call(commands, RedisPool::DeadlineIn(options_.timeout));
  // A full Redis refuses XADD, but still trims.
  // After other failures the server may have another address.
  is_away_ = pool_.LookUpAfterFailure();
  return replies;
}

}  // namespace semrank
