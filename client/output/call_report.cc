#include "client/output/call_report.h"

#include <cstdio>
#include <optional>

#include "absl/strings/str_format.h"
#include "client/lib/client_status.h"
#include "model/base/count_text.h"
#include "model/text/utf8.h"

namespace semrank {
namespace {

// The server knows how long its queue is, and says when to come back.
std::string RetryHint(const absl::Status& status) {
  const std::optional<absl::Duration> delay = GetRetryDelay(status);
  if (!delay.has_value()) return "try again later";
  return absl::StrFormat("try again in %s", absl::FormatDuration(*delay));
}

// For errors of the server, by their reason (proto/README.md). Hints name
// commands and flags of this program; the server's messages name its own.
std::string HintForReason(const std::string& reason,
                          const absl::Status& status) {
  if (reason == "TOO_MANY_TEXTS") {
    return "send fewer in one call, or raise the limit of the server";
  }
  if (reason == "MESSAGE_TOO_LARGE") return "send fewer texts in one call";
  if (reason == "MODEL_NOT_FOUND") {
    return "'semrank model --list' shows what there is";
  }
  // These errors are temporary: a model loads, a queue shrinks, another
  // instance takes over.
  if (reason == "MODEL_LOADING" || reason == "NO_MODEL" ||
      reason == "DRAINING" || reason == "OVERLOADED" ||
      reason == "CALLER_SHARE") {
    return RetryHint(status);
  }
  if (reason == "MISSING_KEY" || reason == "UNKNOWN_KEY") {
    return "--api_key_file=FILE or SEMRANK_API_KEY gives a key";
  }
  return "";
}

// For errors of gRPC itself, which have no reason.
std::string HintForCode(absl::StatusCode code) {
  switch (code) {
    case absl::StatusCode::kUnavailable:
      return "is semrank-server running there? --address=HOST:PORT names "
             "another";
    case absl::StatusCode::kDeadlineExceeded:
      return "--deadline=TIME waits longer";
    case absl::StatusCode::kUnimplemented:
      return "is that a semrank-server of this release?";
    case absl::StatusCode::kResourceExhausted:
      return "send fewer texts in one call";
    default:
      return "";
  }
}

constexpr std::int64_t kMaxProblemsPrinted = 10;

double Milliseconds(std::int64_t nanos) {
  return static_cast<double>(nanos) / 1e6;
}

}  // namespace

// For people: the last step before a status is printed. Details are dropped.
absl::Status WithHint(const absl::Status& status) {
  if (status.ok()) return status;
  const auto info = GetErrorInfo(status);
  const std::string hint = info.has_value()
                               ? HintForReason(info->reason(), status)
                               : HintForCode(status.code());
  // The message comes from another machine.
  const std::string message = EscapeControls(std::string(status.message()));
  return absl::Status(
      status.code(),
      hint.empty() ? message : absl::StrFormat("%s; %s", message, hint));
}

void ProblemReport::Add(std::string_view item, const v1::Problem& problem) {
  // A bad file could otherwise fill the terminal.
  if (++count_ > kMaxProblemsPrinted) return;
  absl::FPrintF(stderr, "%s: %s: %s\n", action_, EscapeControls(item),
                EscapeControls(problem.status().message()));
}

// Add prints only the first ten, so the others are counted at the end.
void ProblemReport::PrintNumberOfOthers(std::string_view items) const {
  if (count_ <= kMaxProblemsPrinted) return;
  absl::FPrintF(stderr, "%s: %s more %s\n", action_,
                GroupDigits(count_ - kMaxProblemsPrinted), items);
}

std::string DescribeSkipped(std::int64_t num_lines) {
  return num_lines == 0
             ? ""
             : absl::StrFormat("; %s skipped", CountText(num_lines, "line"));
}

// People count from 1.
std::string DescribeItem(std::string_view what, std::int64_t index,
                         std::string_view id) {
  return absl::StrFormat("%s %d%s", what, index + 1,
                         id.empty() ? "" : absl::StrFormat(" (%s)", id));
}

// The difference between the round trip and the server's total is the network
// and the work of the client.
std::string DescribeCall(const CallFacts& facts) {
  const v1::Timings& server = facts.server;
  const std::string from_store =
      facts.store_hits == 0 ? ""
                            : absl::StrFormat(" (%s of them in the store)",
                                              GroupDigits(facts.store_hits));
  return absl::StrFormat(
      "timings: %.2f ms round trip, server %.2f ms (queue %.2f, parse %.2f, "
      "cache %.2f, embed %.2f, score %.2f); %s cached%s, %s computed; "
      "model %s/%d",
      absl::ToDoubleMilliseconds(facts.round_trip),
      Milliseconds(server.total_nanos()), Milliseconds(server.queue_nanos()),
      Milliseconds(server.parse_nanos()), Milliseconds(server.cache_nanos()),
      Milliseconds(server.embed_nanos()), Milliseconds(server.score_nanos()),
      CountText(facts.cache_hits, "vector"), from_store,
      GroupDigits(facts.cache_misses), facts.model.name(),
      facts.model.version());
}

nlohmann::ordered_json ModelToJson(const v1::ModelRef& model) {
  return {{"name", model.name()}, {"version", model.version()}};
}

nlohmann::ordered_json TimingsToJson(const v1::Timings& timings) {
  return {{"queue", Milliseconds(timings.queue_nanos())},
          {"parse", Milliseconds(timings.parse_nanos())},
          {"cache", Milliseconds(timings.cache_nanos())},
          {"embed", Milliseconds(timings.embed_nanos())},
          {"score", Milliseconds(timings.score_nanos())},
          {"total", Milliseconds(timings.total_nanos())}};
}

}  // namespace semrank
