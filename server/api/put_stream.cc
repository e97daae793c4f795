// POST /v1/put_stream: PutDocumentsStream as lines of JSON, so that a file of
// any length is put with one request (curl -T docs.jsonl).
//
//   Request   each line is a v1::Document as JSON; empty lines are skipped. The
//             lines are put in groups of at most 1,000, each visible as a
//             whole.
//   Response  follows the last line: a line with a PutDocumentsStreamResponse
//             for each group. An error ends the stream; its google.rpc.Status
//             is the last line, and the response has its HTTP code. Documents
//             that the lines before it acknowledge stay.
//   Memory    256 KiB of lines, or one line of up to --max_http_body_bytes, and
//             the response: 16 MiB of problems end the stream.

#include <algorithm>
#include <cstdint>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/strings/str_format.h"
#include "model/base/status_macros.h"
#include "semrank/v1/catalog_service.pb.h"
#include "server/api/api_call.h"
#include "server/api/json_document.h"
#include "server/api/json_messages.h"
#include "server/api/json_request.h"
#include "server/api/wire_writer.h"
#include "server/base/errors.h"
#include "server/requests/request_run.h"

namespace semrank {
namespace {

// A group is one commit of the catalog and one line of the response.
constexpr std::int64_t kMaxDocumentsPerGroup = 1'000;
// Acknowledgements are short unless documents are refused; they wait in memory
// for the end of the body.
constexpr std::size_t kMaxResponseBytes = std::size_t{16} << 20;

// Puts "line 7: " before the message.
absl::Status AtLine(std::int64_t line, const absl::Status& status) {
  return MakeError(
      status.code(), ErrorReason(status),
      absl::StrFormat("line %d: %s", line, std::string(status.message())),
      {{"line", std::to_string(line)}});
}

class PutStream final : public HttpBodyStream, private BodyFormat {
 public:
  PutStream(std::shared_ptr<const ApiCall> call, const HttpRequest& request)
      : BodyFormat(
            {call->parts().limits, *v1::Document::descriptor(), request}),
        call_(std::move(call)),
        make_handler_(call_->method().make_stream(call_->parts())),
        max_documents_(
            std::min(kMaxDocumentsPerGroup, limits_.max_texts_per_request)) {}

  std::size_t pending_bytes() const override { return lines_.size(); }

  std::optional<HttpResponse> Take(std::string piece, bool last) override {
    // A piece may end anywhere in a line.
    lines_ += piece;
    const absl::Status status = PutLines(last);
    if (status.ok() && !last) return std::nullopt;
    if (!status.ok()) answers_ += call_->ErrorBody(status) + "\n";
    return call_->Finish(request_, {.status = status,
                                    .body = std::move(answers_),
                                    .time = clock_.Lap(),
                                    .content_type = "application/x-ndjson",
                                    .details = details_});
  }

 private:
  // The format of one group, whose bytes are a message already.
  absl::Status Read(std::string& bytes) override {
    bytes = std::exchange(group_, {});
    return absl::OkStatus();
  }
  absl::StatusOr<std::string> Write(
      const google::protobuf::Message& response) override {
    return ToJson(response);
  }

  // Puts all whole lines that have arrived, and a group that is not full too:
  // documents become visible as the client sends them, and no more than a piece
  // of the body waits in memory.
  absl::Status PutLines(bool last) {
    std::size_t begin = 0;
    while (begin < lines_.size()) {
      std::size_t end = lines_.find('\n', std::max(begin, num_searched_));
      if (end == std::string::npos) {
        if (!last) break;
        end = lines_.size();
      }
      ++num_lines_;
      SEMRANK_RETURN_IF_ERROR(CheckLineSize(num_lines_, end - begin));
      SEMRANK_RETURN_IF_ERROR(
          AddLine(std::string_view(lines_).substr(begin, end - begin)));
      begin = end + 1;
    }
    // The rest is the beginning of a line.
    lines_.erase(0, begin);
    num_searched_ = lines_.size();
    SEMRANK_RETURN_IF_ERROR(CheckLineSize(num_lines_ + 1, lines_.size()));
    return PutGroup();
  }

  absl::Status CheckLineSize(std::int64_t line, std::size_t num_bytes) const {
    const std::int64_t limit = call_->options().max_body_bytes;
    if (static_cast<std::int64_t>(num_bytes) <= limit) return absl::OkStatus();
    return MakeError(
        absl::StatusCode::kResourceExhausted, "MESSAGE_TOO_LARGE",
        absl::StrFormat("line %d is over the limit of %d bytes "
                        "(--max_http_body_bytes)",
                        line, limit),
        {{"limit", std::to_string(limit)}, {"flag", "max_http_body_bytes"}});
  }

  absl::Status AddLine(std::string_view line) {
    // Lines of files written on Windows end in \r\n, which JSON allows as
    // blanks.
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) {
      return absl::OkStatus();
    }
    line_.reserve(line.size() + JsonDocument::kPadding);
    line_ = line;
    JsonRequest document;
    const absl::Status status =
        ReadJsonRequest(line_, *v1::Document::descriptor(), document);
    if (!status.ok()) {
      // The group's other lines are sound: they are put, and acknowledged.
      SEMRANK_RETURN_IF_ERROR(PutGroup());
      return AtLine(num_lines_, status);
    }
    AppendBytesField(v1::PutDocumentsStreamRequest::kDocumentsFieldNumber,
                     document.bytes, group_);
    return ++num_in_group_ < max_documents_ ? absl::OkStatus() : PutGroup();
  }

  absl::Status PutGroup() {
    if (num_in_group_ == 0) return absl::OkStatus();
    // Reset before the group is put: after an error there is no further group.
    num_in_group_ = 0;
    // A stop ends the stream between two groups.
    SEMRANK_RETURN_IF_ERROR(CheckState(call_->method(), call_->parts()));
    // The other thread may still be in set_value when this one has the value.
    const auto put = std::make_shared<std::promise<absl::Status>>();
    std::future<absl::Status> status = put->get_future();
    call_->Run(make_handler_(), request_, group_.size(),
               absl::InfiniteDuration(), *this, std::move(details_),
               [this, put](absl::StatusOr<std::string> answer,
                           RequestLog::Details details) {
                 details_ = std::move(details);
                 if (answer.ok()) answers_ += *answer + "\n";
                 put->set_value(answer.status());
               });
    SEMRANK_RETURN_IF_ERROR(status.get());
    if (answers_.size() <= kMaxResponseBytes) return absl::OkStatus();
    return MakeError(absl::StatusCode::kResourceExhausted, "MESSAGE_TOO_LARGE",
                     absl::StrFormat("the acknowledgements are over the limit "
                                     "of %d bytes: too many documents are "
                                     "refused",
                                     kMaxResponseBytes),
                     {{"limit", std::to_string(kMaxResponseBytes)}});
  }

  const std::shared_ptr<const ApiCall> call_;
  const StreamHandlers make_handler_;
  const std::int64_t max_documents_;
  Stopwatch clock_;
  std::string lines_;             // not put yet
  std::size_t num_searched_ = 0;  // bytes of them that have no end of a line
  std::string line_;  // of them, with the padding that JsonDocument needs
  std::int64_t num_lines_ = 0;
  std::string group_;  // the bytes of its message
  std::int64_t num_in_group_ = 0;
  std::string answers_;
  RequestLog::Details details_;
};

}  // namespace

std::unique_ptr<HttpBodyStream> OpenPutStream(
    const std::shared_ptr<const ApiCall>& call, const HttpRequest& request) {
  return std::make_unique<PutStream>(call, request);
}

}  // namespace semrank
