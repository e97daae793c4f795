#include <grpcpp/client_context.h>
#include <grpcpp/support/sync_stream.h>

#include <climits>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "client/lib/client_status.h"
#include "client/lib/response_check.h"
#include "client/lib/retry.h"
#include "client/lib/semrank_client.h"
#include "model/base/status_macros.h"

namespace semrank {
namespace {

// Requests are answered in any order, by their numbers, so a table keeps which
// ones are done. Two things lead to another attempt: a broken stream, after
// which everything without a response is sent again, and requests that the
// server rejected for now, which are sent again once the stream has ended.

using Stream =
    grpc::ClientReaderWriter<v1::RankStreamRequest, v1::RankStreamResponse>;
using Requests = std::span<const v1::RankRequest>;

// Requests that share one deadline of the options.
constexpr std::size_t kRequestsPerDeadline = 1'000;

// Protobuf counts bytes in an int and aborts the process beyond it.
absl::Status CheckSizes(Requests requests) {
  constexpr std::size_t kMaxBytes = INT_MAX - 64;  // for the request number
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const std::size_t num_bytes = requests[i].ByteSizeLong();
    if (num_bytes > kMaxBytes) {
      return absl::InvalidArgumentError(absl::StrFormat(
          "request %d has %d bytes, over the limit of %d bytes per message", i,
          num_bytes, kMaxBytes));
    }
  }
  return absl::OkStatus();
}

// Returns early when the stream breaks; Finish has the reason.
void WriteRequests(Requests requests, const std::vector<std::size_t>& numbers,
                   Stream& stream) {
  v1::RankStreamRequest message;
  for (const std::size_t number : numbers) {
    message.set_request_number(number);
    *message.mutable_request() = requests[number];
    if (!stream.Write(message)) return;
  }
  stream.WritesDone();
}

// The requests without a response, over all attempts.
class PendingRequests {
 public:
  PendingRequests(Requests requests, const SemrankClient::TakeRanking& take)
      : requests_(requests), take_(take) {
    for (std::size_t i = 0; i < requests.size(); ++i) pending_[i];
  }

  bool empty() const { return pending_.empty(); }
  std::vector<std::size_t> Numbers() const {
    std::vector<std::size_t> numbers;
    for (const auto& [number, rejection] : pending_) numbers.push_back(number);
    return numbers;
  }

  // Reads until the stream ends. Errors are the caller's own, or that a
  // response is invalid.
  absl::Status Read(Stream& stream, Retry& retry) {
    // A new stream sends the rejected requests again.
    for (auto& [number, rejection] : pending_) rejection = absl::OkStatus();
    v1::RankStreamResponse response;
    while (stream.Read(&response)) {
      const std::size_t before = pending_.size();
      SEMRANK_RETURN_IF_ERROR(ReadOne(response));
      if (pending_.size() < before) retry.Restart();
    }
    return absl::OkStatus();
  }

  // After a complete stream, every pending request must have been rejected.
  absl::Status CheckComplete() const {
    for (const auto& [number, rejection] : pending_) {
      if (rejection.ok()) {
        return InvalidResponse(
            absl::StrFormat("the stream ended without request %d", number));
      }
    }
    return absl::OkStatus();
  }
  // Sleeps until the rejected requests may be sent again; false if they must
  // not be.
  bool WaitToRetry(Retry& retry) const {
    // The request that was sent last most likely has the most recent estimate
    // of the server.
    const absl::Status& rejection = pending_.rbegin()->second;
    std::optional<std::string> pushback;
    if (const auto delay = GetRetryDelay(rejection); delay.has_value()) {
      pushback = std::to_string(absl::ToInt64Milliseconds(*delay));
    }
    const auto delay = retry.NextDelay(
        static_cast<grpc::StatusCode>(rejection.code()), pushback, absl::Now());
    if (delay.has_value()) absl::SleepFor(*delay);
    return delay.has_value();
  }
  // Passes the rejections to the caller, as the responses to their requests.
  absl::Status TakeRejections(int num_attempts) const {
    for (const auto& [number, rejection] : pending_) {
      SEMRANK_RETURN_IF_ERROR(take_(
          number, WithNote(rejection,
                           absl::StrFormat("tried %d times", num_attempts))));
    }
    return absl::OkStatus();
  }

 private:
  absl::Status ReadOne(v1::RankStreamResponse& response) {
    const auto found = pending_.find(response.request_number());
    if (found == pending_.end() || !found->second.ok()) {
      return InvalidResponse(absl::StrFormat("not waiting for request %d",
                                             response.request_number()));
    }
    const std::size_t number = found->first;
    absl::StatusOr<v1::RankResponse> result;
    if (response.has_status()) {
      absl::Status status = FromItemStatus(response.status());
      if (Retry::IsRetryable(static_cast<grpc::StatusCode>(status.code()),
                             GetRetryDelay(status).has_value())) {
        found->second = std::move(status);
        return absl::OkStatus();
      }
      result = std::move(status);
    } else if (response.has_response()) {
      SEMRANK_RETURN_IF_ERROR(
          CheckRankResponse(requests_[number], response.response()));
      result = std::move(*response.mutable_response());
    } else {
      return InvalidResponse(absl::StrFormat("nothing for request %d", number));
    }
    pending_.erase(found);
    return take_(number, std::move(result));
  }

  const Requests requests_;
  const SemrankClient::TakeRanking& take_;
  // By number, with how the server of the current stream rejected it for now;
  // OK = it did not.
  std::map<std::size_t, absl::Status> pending_;
};

}  // namespace

absl::Status SemrankClient::RankStream(Requests requests,
                                       const TakeRanking& take) {
  SEMRANK_RETURN_IF_ERROR(CheckSizes(requests));
  const absl::Time deadline = connection_.DeadlineFor(
      1 + static_cast<int>(requests.size() / kRequestsPerDeadline));
  Retry retry(connection_.options().retry, deadline);
  PendingRequests pending(requests, take);
  while (!pending.empty()) {
    // A copy for the writer, since the reader changes the table.
    const std::vector<std::size_t> numbers = pending.Numbers();
    const StreamEnd end = connection_.RunStream(
        *ranking_, &v1::RankingService::Stub::RankStream, deadline, retry,
        [&](Stream& stream) { WriteRequests(requests, numbers, stream); },
        [&](Stream& stream) { return pending.Read(stream, retry); });
    SEMRANK_RETURN_IF_ERROR(end.read);
    if (end.retry) continue;
    SEMRANK_RETURN_IF_ERROR(end.server);
    SEMRANK_RETURN_IF_ERROR(pending.CheckComplete());
    if (!pending.empty() && !pending.WaitToRetry(retry)) {
      // No attempt is left, or none within the deadline.
      return pending.TakeRejections(retry.num_attempts());
    }
  }
  return absl::OkStatus();
}

}  // namespace semrank
