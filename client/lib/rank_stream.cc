#include <grpcpp/client_context.h>
#include <grpcpp/support/sync_stream.h>

#include <climits>
#include <map>
#include <utility>

#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "client/lib/client_status.h"
#include "client/lib/response_check.h"
#include "client/lib/semrank_client.h"
#include "model/base/status_macros.h"

namespace semrank {
namespace {

// Requests are answered in any order, by their numbers, so a table tells which
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

absl::Status InvalidResponse(std::string_view what, std::uint64_t number) {
  return absl::InternalError(absl::StrFormat(
      "invalid response from the server: %s request %d", what, number));
}

// Stops when the stream breaks; Finish has the reason.
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

// The responses to the requests, over all attempts.
class Responses {
 public:
  Responses(Requests requests, const SemrankClient::TakeRanking& take)
      : requests_(requests), take_(take), done_(requests.size()) {}

  bool all_done() const { return num_done_ == requests_.size(); }
  // The numbers of the requests that need another attempt.
  std::vector<std::size_t> Pending() const {
    std::vector<std::size_t> numbers;
    for (std::size_t i = 0; i < done_.size(); ++i) {
      if (!done_[i]) numbers.push_back(i);
    }
    return numbers;
  }

  // Reads until the stream ends. Errors are the caller's own, or that a
  // response is invalid.
  absl::Status Read(Stream& stream, Retry& retry) {
    // A new stream sends the rejected requests again.
    rejected_.clear();
    v1::RankStreamResponse response;
    while (stream.Read(&response)) {
      const std::size_t before = num_done_;
      SEMRANK_RETURN_IF_ERROR(ReadOne(response));
      if (num_done_ > before) retry.Restart();
    }
    return absl::OkStatus();
  }

  // After a complete stream, every pending request must have been rejected.
  absl::Status CheckComplete() const {
    for (const std::size_t number : Pending()) {
      if (!rejected_.contains(number)) {
        return InvalidResponse("the stream ended without", number);
      }
    }
    return absl::OkStatus();
  }
  // Sleeps until the rejected requests may be sent again; false if they must
  // not be.
  bool WaitToRetry(Retry& retry) const {
    // Of the request that was sent last: most likely the most recent estimate
    // of the server.
    const absl::Status& rejection = rejected_.rbegin()->second;
    std::optional<std::string> pushback;
    if (const auto delay = GetRetryDelay(rejection); delay.has_value()) {
      pushback = std::to_string(absl::ToInt64Milliseconds(*delay));
    }
    const auto delay = retry.NextDelay(
        static_cast<grpc::StatusCode>(rejection.code()), pushback, absl::Now());
    if (delay.has_value()) absl::SleepFor(*delay);
    return delay.has_value();
  }
  // Gives the rejected requests their rejection as the response.
  absl::Status TakeRejections(int num_attempts) {
    for (const auto& [number, status] : rejected_) {
      SEMRANK_RETURN_IF_ERROR(Take(
          number,
          WithNote(status, absl::StrFormat("tried %d times", num_attempts))));
    }
    return absl::OkStatus();
  }

 private:
  absl::Status ReadOne(v1::RankStreamResponse& response) {
    const std::uint64_t number = response.request_number();
    if (number >= requests_.size() || done_[number] ||
        rejected_.contains(number)) {
      return InvalidResponse("not waiting for", number);
    }
    if (response.has_status()) {
      absl::Status status = FromItemStatus(response.status());
      if (!Retry::IsRetryable(static_cast<grpc::StatusCode>(status.code()),
                              GetRetryDelay(status).has_value())) {
        return Take(number, std::move(status));
      }
      rejected_[number] = std::move(status);
      return absl::OkStatus();
    }
    if (!response.has_response()) return InvalidResponse("nothing for", number);
    SEMRANK_RETURN_IF_ERROR(
        CheckRankResponse(requests_[number], response.response()));
    return Take(number, std::move(*response.mutable_response()));
  }
  absl::Status Take(std::size_t number,
                    absl::StatusOr<v1::RankResponse> response) {
    done_[number] = true;
    ++num_done_;
    return take_(number, std::move(response));
  }

  const Requests requests_;
  const SemrankClient::TakeRanking& take_;
  std::vector<bool> done_;
  std::size_t num_done_ = 0;
  // Requests that the server of the current stream rejected for now.
  std::map<std::size_t, absl::Status> rejected_;
};

}  // namespace

absl::Status SemrankClient::RankStream(Requests requests,
                                       const TakeRanking& take) {
  SEMRANK_RETURN_IF_ERROR(CheckSizes(requests));
  const absl::Time deadline = connection_.DeadlineFor(
      1 + static_cast<int>(requests.size() / kRequestsPerDeadline));
  Retry retry(connection_.options().retry, deadline);
  Responses responses(requests, take);
  while (!responses.all_done()) {
    // Fixed before the writer starts; the reader changes the table.
    const std::vector<std::size_t> pending = responses.Pending();
    const StreamEnd end = connection_.RunStream(
        deadline, retry,
        [&](grpc::ClientContext* context) {
          return ranking_->RankStream(context);
        },
        [&](Stream& stream) { WriteRequests(requests, pending, stream); },
        [&](Stream& stream) { return responses.Read(stream, retry); });
    SEMRANK_RETURN_IF_ERROR(end.read);
    if (end.retry) continue;
    SEMRANK_RETURN_IF_ERROR(end.server);
    SEMRANK_RETURN_IF_ERROR(responses.CheckComplete());
    if (!responses.all_done() && !responses.WaitToRetry(retry)) {
      // No attempt is left, or none within the deadline.
      return responses.TakeRejections(retry.num_attempts());
    }
  }
  return absl::OkStatus();
}

}  // namespace semrank
