#include <grpcpp/client_context.h>
#include <grpcpp/support/sync_stream.h>

#include <climits>
#include <map>
#include <thread>
#include <utility>

#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "client/lib/client_status.h"
#include "client/lib/response_check.h"
#include "client/lib/semrank_client.h"
#include "model/base/status_macros.h"

namespace semrank {
namespace {

using Stream =
    grpc::ClientReaderWriter<v1::RankStreamRequest, v1::RankStreamResponse>;
using Requests = std::span<const v1::RankRequest>;

// The time of one call is enough for so many.
constexpr std::size_t kRequestsPerDeadline = 1'000;

// Protobuf counts in int: a larger message would end the process.
absl::Status CheckSizes(Requests requests) {
  constexpr std::size_t kMaxBytes = INT_MAX - 64;  // with the number
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const std::size_t num_bytes = requests[i].ByteSizeLong();
    if (num_bytes > kMaxBytes) {
      return absl::InvalidArgumentError(absl::StrFormat(
          "request %d has %d bytes, a message can have %d at the most", i,
          num_bytes, kMaxBytes));
    }
  }
  return absl::OkStatus();
}

absl::Status WrongAnswer(std::string_view what, std::uint64_t number) {
  return absl::InternalError(absl::StrFormat(
      "the server's answer is wrong: %s request %d", what, number));
}

// Stops early when the stream is over; its status says why.
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

// What has been answered, over all streams.
class Answers {
 public:
  Answers(Requests requests, const SemrankClient::TakeRanking& take)
      : requests_(requests), take_(take), answered_(requests.size()) {}

  std::size_t num_answered() const { return num_answered_; }
  // The numbers of the others.
  std::vector<std::size_t> Unanswered() const {
    std::vector<std::size_t> numbers;
    for (std::size_t i = 0; i < answered_.size(); ++i) {
      if (!answered_[i]) numbers.push_back(i);
    }
    return numbers;
  }

  // Until the stream is over. The caller's own error, or one of an answer that
  // is wrong.
  absl::Status Take(Stream& stream) {
    turned_away_.clear();
    v1::RankStreamResponse answer;
    while (stream.Read(&answer)) {
      SEMRANK_RETURN_IF_ERROR(TakeOne(answer));
    }
    return absl::OkStatus();
  }

  // After a stream that ended well: each request has an answer, or was turned
  // away for the time being.
  absl::Status CheckComplete() const {
    for (const std::size_t number : Unanswered()) {
      if (!turned_away_.contains(number)) {
        return WrongAnswer("the stream ended without", number);
      }
    }
    return absl::OkStatus();
  }
  // True once it is time to send those again, false if they are not to be.
  bool WaitToRepeat(Retry& retry) const {
    const absl::Status& refusal = turned_away_.rbegin()->second;
    std::optional<std::string> pushback;
    if (const auto delay = GetRetryDelay(refusal); delay.has_value()) {
      pushback = std::to_string(absl::ToInt64Milliseconds(*delay));
    }
    const auto delay = retry.Wait(static_cast<grpc::StatusCode>(refusal.code()),
                                  pushback, absl::Now());
    if (delay.has_value()) absl::SleepFor(*delay);
    return delay.has_value();
  }
  // Their refusal is their answer.
  absl::Status GiveUp(int num_attempts) {
    for (const auto& [number, status] : turned_away_) {
      SEMRANK_RETURN_IF_ERROR(Give(
          number,
          WithNote(status, absl::StrFormat("tried %d times", num_attempts))));
    }
    return absl::OkStatus();
  }

 private:
  absl::Status TakeOne(v1::RankStreamResponse& answer) {
    const std::uint64_t number = answer.request_number();
    if (number >= requests_.size() || answered_[number] ||
        turned_away_.contains(number)) {
      return WrongAnswer("nobody asked, or asked again, for", number);
    }
    if (answer.has_status()) {
      absl::Status status = FromItemStatus(answer.status());
      if (!MayPass(status)) return Give(number, std::move(status));
      turned_away_[number] = std::move(status);
      return absl::OkStatus();
    }
    if (!answer.has_response()) return WrongAnswer("nothing for", number);
    SEMRANK_RETURN_IF_ERROR(
        CheckRankResponse(requests_[number], answer.response()));
    return Give(number, std::move(*answer.mutable_response()));
  }
  // As retry.h has it for calls.
  static bool MayPass(const absl::Status& status) {
    return absl::IsUnavailable(status) || (absl::IsResourceExhausted(status) &&
                                           GetRetryDelay(status).has_value());
  }
  absl::Status Give(std::size_t number,
                    absl::StatusOr<v1::RankResponse> response) {
    answered_[number] = true;
    ++num_answered_;
    return take_(number, std::move(response));
  }

  const Requests requests_;
  const SemrankClient::TakeRanking& take_;
  std::vector<bool> answered_;
  std::size_t num_answered_ = 0;
  // Of the stream at hand.
  std::map<std::size_t, absl::Status> turned_away_;
};

}  // namespace

absl::Status SemrankClient::RankStream(Requests requests,
                                       const TakeRanking& take) {
  SEMRANK_RETURN_IF_ERROR(CheckSizes(requests));
  const absl::Time deadline = connection_.DeadlineFor(
      1 + static_cast<int>(requests.size() / kRequestsPerDeadline));
  Retry retry(connection_.options().retry, deadline);
  Answers answers(requests, take);
  while (answers.num_answered() < requests.size()) {
    const std::size_t before = answers.num_answered();
    const std::vector<std::size_t> numbers = answers.Unanswered();
    grpc::ClientContext context;
    connection_.Prepare(deadline, context);
    const auto stream = ranking_->RankStream(&context);
    // Answers are read meanwhile: the server takes no more while they wait.
    std::thread writer([&] { WriteRequests(requests, numbers, *stream); });
    const absl::Status status = answers.Take(*stream);
    if (!status.ok()) context.TryCancel();
    writer.join();
    const grpc::Status finished = stream->Finish();
    SEMRANK_RETURN_IF_ERROR(status);
    if (answers.num_answered() > before) retry.Restart();
    if (!finished.ok()) {
      if (connection_.WaitToRepeat(finished, context, retry)) continue;
      return connection_.Describe(finished, retry.num_attempts());
    }
    SEMRANK_RETURN_IF_ERROR(answers.CheckComplete());
    if (answers.num_answered() < requests.size() &&
        !answers.WaitToRepeat(retry)) {
      return answers.GiveUp(retry.num_attempts());
    }
  }
  return absl::OkStatus();
}

}  // namespace semrank
