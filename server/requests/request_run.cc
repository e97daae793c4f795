#include "server/requests/request_run.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "model/base/status_macros.h"
#include "semrank/v1/common.pb.h"
#include "server/auth/access_control.h"
#include "server/auth/caller_name.h"
#include "server/base/errors.h"
#include "server/base/text_checks.h"

namespace semrank {
namespace {

// The order of the checks is the design. The key comes first: a caller without
// one learns nothing of the server's state. State and free permits need nothing
// of the message, the expected wait needs its size, exact admission needs one
// pass over its bytes. Only then does a method normalise, copy or embed.
//
// Every path through this file ends in exactly one Finish, and nothing touches
// the run after Finish or after a Submit: another thread may have deleted it
// already.

bool IsLong(const RequestSize& size) {
  return size.num_texts > RequestRun::kMaxInlineTexts ||
         size.num_bytes > RequestRun::kMaxInlineBytes;
}

// A guess for a message that is not read yet: a text is about a title of ten
// words. Short titles make it too low, and then ReadAndAdmit refuses what
// CheckUnread accepted.
RequestSize GuessSize(std::size_t num_bytes) {
  constexpr std::size_t kBytesPerText = 64;
  return {static_cast<std::int64_t>(num_bytes / kBytesPerText), num_bytes};
}

absl::Status TooLongNormalized(std::size_t num_bytes, std::size_t max_bytes) {
  return MakeError(
      absl::StatusCode::kResourceExhausted, "MESSAGE_TOO_LARGE",
      absl::StrFormat("normalised, the texts would have %d bytes, over the "
                      "limit of %d that --max_texts_per_request and "
                      "--max_text_bytes make",
                      num_bytes, max_bytes),
      LimitValues(static_cast<std::int64_t>(num_bytes),
                  static_cast<std::int64_t>(max_bytes),
                  "max_texts_per_request"));
}

// Texts that normalising makes much longer count as more, but as no more than a
// quarter of all permits, so that they can be admitted. Texts are counted
// before they are normalised, which is what takes the time. Texts that would
// become longer than the largest plain request are refused: 40 MB of U+FDFA
// would keep a processor busy for half a minute.
absl::StatusOr<RequestSize> Weigh(RequestSize size, std::string_view bytes,
                                  const RequestHandler& handler,
                                  const ServerParts& parts) {
  // One pass over the whole message is faster than one over each text, and
  // finds nothing in most requests. What it finds may also be in a payload or
  // a vector, which are never normalised.
  if (BytesAddedByNormalizing(bytes) == 0) return size;
  std::size_t num_text_bytes = 0;
  std::size_t num_added = 0;
  handler.EachText([&](std::string_view text) {
    num_text_bytes += text.size();
    num_added += BytesAddedByNormalizing(text);
  });
  if (num_added == 0) return size;
  const std::size_t num_normalized = num_text_bytes + num_added;
  const auto max_bytes =
      static_cast<std::size_t>(MaxRequestBytes(parts.limits));
  if (num_normalized > max_bytes) {
    return TooLongNormalized(num_normalized, max_bytes);
  }
  const double growth =
      static_cast<double>(num_normalized) / static_cast<double>(num_text_bytes);
  const auto weight =
      static_cast<std::int64_t>(static_cast<double>(size.num_texts) * growth);
  const std::int64_t max_weight = parts.admission->max_inflight_texts() / 4;
  size.num_texts = std::max(size.num_texts, std::min(weight, max_weight));
  size.num_bytes += num_added;
  return size;
}

// The estimate of a request's cost is proportional to it. Long texts count
// more than once.
std::int64_t WorkOf(const RequestSize& size) {
  return std::max(size.num_texts, GuessSize(size.num_bytes).num_texts);
}

// The field `model` of the response, which most responses that a model made
// have, or what the handler says.
v1::ModelRef AnsweringModel(const RequestHandler& handler) {
  const auto* const response =
      dynamic_cast<const google::protobuf::Message*>(&handler.response());
  if (response == nullptr) return handler.model();
  const auto* const field = response->GetDescriptor()->FindFieldByName("model");
  if (field == nullptr || field->message_type() != v1::ModelRef::descriptor() ||
      !response->GetReflection()->HasField(*response, field)) {
    return handler.model();
  }
  return static_cast<const v1::ModelRef&>(
      response->GetReflection()->GetMessage(*response, field));
}

WorkerPool& PoolOf(const Method& method, const ServerParts& parts) {
  switch (method.threads) {
    case Threads::kWriters:
      return *parts.writers;
    case Threads::kLoader:
      return *parts.loader;
    case Threads::kBySize:
    case Threads::kWorkers:
      return *parts.workers;
  }
  return *parts.workers;
}

}  // namespace

absl::Status CheckKey(const Method& method, const ServerParts& parts,
                      std::string_view authorization) {
  if (parts.access == nullptr) return absl::OkStatus();
  return parts.access->Check(authorization, method.role);
}

absl::Status CheckState(const Method& method, const ServerParts& parts) {
  return method.needs_model ? parts.lifecycle->CheckAnswering()
                            : parts.lifecycle->CheckNotStopping();
}

// The wait is that of ReadAndAdmit, with a guess for the number of texts. It
// spares the copy of a message into one piece, 6 % of the time that gRPC's
// threads spend on a refused call, and the whole body of one over HTTP.
absl::Status CheckUnread(const Method& method, const ServerParts& parts,
                         const UnreadRequest& request) {
  // While calls are read late, this is the cheapest of all answers.
  if (request.time_left <= absl::ZeroDuration()) {
    return MakeError(absl::StatusCode::kDeadlineExceeded, "DEADLINE_EXCEEDED",
                     "the call's deadline had passed when it arrived");
  }
  SEMRANK_RETURN_IF_ERROR(CheckState(method, parts));
  if (method.refused_unread) {
    SEMRANK_RETURN_IF_ERROR(parts.admission->CheckRoom(request.caller));
  }
  if (!method.is_shed) return absl::OkStatus();
  const RequestSize size = GuessSize(request.num_bytes);
  const absl::Duration cost =
      parts.admission->costs().Estimate(method.kind, size.num_texts);
  // Such a request runs in this thread whatever the workers do, unless its
  // exact number of texts says otherwise.
  if (cost <= RequestRun::kMaxInlineCost) return absl::OkStatus();
  return PoolOf(method, parts)
      .CheckWait(request.caller, IsLong(size), cost, request.time_left);
}

RequestRun::RequestRun(const Method& method, const ServerParts& parts,
                       std::unique_ptr<RequestHandler> handler)
    : method_(method),
      parts_(parts),
      handler_(std::move(handler)),
      received_(std::chrono::steady_clock::now()) {}

absl::Duration RequestRun::TimeSinceReceived() const {
  return absl::FromChrono(std::chrono::steady_clock::now() - received_);
}

void RequestRun::AddOwnTimes(PhaseTimes& times) const {
  times[Phase::kParse] += read_time_;
  times[Phase::kQueue] += queue_time_;
}

void RequestRun::Start(std::string_view bytes) {
  const absl::Status status = ReadAndAdmit(bytes);
  if (!status.ok()) return Finish(status);
  read_time_ = waiting_since_ = TimeSinceReceived();
  parts_.metrics->RecordPhase(Phase::kRead, read_time_);
  // Last: when either returns, another thread may have deleted the run.
  if (inline_) {
    RunSlice();
  } else {
    QueueSlice();
  }
}

absl::Status RequestRun::ReadAndAdmit(std::string_view bytes) {
  SEMRANK_ASSIGN_OR_RETURN(size_, handler_->Read(bytes));
  SEMRANK_ASSIGN_OR_RETURN(size_, Weigh(size_, bytes, *handler_, parts_));
  // The wait is checked before the permits are taken. A request that is refused
  // for its wait must not hold permits, even briefly: others would be refused
  // because they are missing.
  cost_ = EstimateCost();
  inline_ = !IsLong(size_) && RunsInline();
  if (!inline_) SEMRANK_RETURN_IF_ERROR(TakeWork());
  SEMRANK_ASSIGN_OR_RETURN(permit_,
                           parts_.admission->Admit(size_.num_texts, name()));
  return absl::OkStatus();
}

void RequestRun::StartDecoding(std::size_t num_bytes, absl::Duration max_time,
                               Decode decode) {
  size_ = GuessSize(num_bytes);
  guessed_texts_ = size_.num_texts;
  cost_ = EstimateCost();
  // The number of texts is a guess so far; Start checks it.
  if (cost_ <= max_time && (cost_ <= kMaxInlineCost ||
                            (num_bytes <= kMaxInlineBytes && RunsInline() &&
                             !PoolOf(method_, parts_).has_queue()))) {
    const absl::Duration begin = TimeSinceReceived();
    const absl::StatusOr<std::string_view> bytes = decode();
    decode_time_ = TimeSinceReceived() - begin;
    return bytes.ok() ? Start(*bytes) : Finish(bytes.status());
  }
  const absl::Status status = TakeWork();
  if (!status.ok()) return Finish(status);
  waiting_since_ = TimeSinceReceived();
  QueueForWorker([this, decode = std::move(decode)] { DecodeAndRun(decode); });
}

absl::Status RequestRun::DecodeAndAdmit(const Decode& decode) {
  SEMRANK_RETURN_IF_ERROR(CheckStillWanted(*this));
  SEMRANK_RETURN_IF_ERROR(CheckInTime());
  SEMRANK_ASSIGN_OR_RETURN(const std::string_view bytes, decode());
  SEMRANK_ASSIGN_OR_RETURN(size_, handler_->Read(bytes));
  SEMRANK_ASSIGN_OR_RETURN(size_, Weigh(size_, bytes, *handler_, parts_));
  SEMRANK_ASSIGN_OR_RETURN(permit_,
                           parts_.admission->Admit(size_.num_texts, name()));
  return absl::OkStatus();
}

// Runs in a worker. The first slice follows at once, since the request has
// waited already. Decoding counts as running, so that costs include it.
void RequestRun::DecodeAndRun(const Decode& decode) {
  const absl::Duration begin = TimeSinceReceived();
  queue_time_ = begin - waiting_since_;
  const absl::Status status = DecodeAndAdmit(decode);
  waiting_since_ = TimeSinceReceived();
  read_time_ = run_time_ = waiting_since_ - begin;
  if (!status.ok()) {
    parts_.metrics->RecordPhase(Phase::kQueue, queue_time_);
    return Finish(status);
  }
  parts_.metrics->RecordPhase(Phase::kRead, read_time_);
  RunSlice();
}

bool RequestRun::RunsInline() const {
  if (method_.threads != Threads::kBySize) return false;
  // The level excludes this request, which has no permit yet. Two threads may
  // both see an idle server and both run inline; that delays reading by one
  // slice.
  return cost_ <= kMaxInlineCost || parts_.admission->inflight_texts() == 0;
}

absl::Duration RequestRun::EstimateCost() const {
  return parts_.admission->costs().Estimate(method_.kind, WorkOf(size_));
}

// The share matters only while other callers have work: a caller alone may use
// all workers for as long as any request may wait.
absl::Status RequestRun::TakeWork() {
  if (!method_.is_shed) return absl::OkStatus();
  WorkerPool& pool = PoolOf(method_, parts_);
  SEMRANK_RETURN_IF_ERROR(
      pool.CheckWait(name(), IsLong(size_), cost_, TimeLeft()));
  const std::int64_t cost = absl::ToInt64Microseconds(cost_);
  if (work_.Take(pool.shares(), name(), cost) ||
      !pool.shares().others_hold(name())) {
    return absl::OkStatus();
  }
  return pool.shares().OverShare(name(), cost);
}

absl::Status RequestRun::CheckInTime() const {
  // While no other task waits for its place it runs, whatever the estimate
  // says: it may be wrong, and only a run corrects it.
  const absl::Duration time_left = TimeLeft();
  if (cost_ <= time_left || !PoolOf(method_, parts_).has_queue()) {
    return absl::OkStatus();
  }
  return MakeError(
      absl::StatusCode::kDeadlineExceeded, "DEADLINE_EXCEEDED",
      absl::StrFormat("the call's deadline is in %d ms, and it would run for "
                      "%d ms: it was not begun",
                      absl::ToInt64Milliseconds(time_left),
                      absl::ToInt64Milliseconds(cost_)));
}

// Queues the first slice, or the next one of a long request.
void RequestRun::QueueForWorker(std::function<void()> run) {
  HighWaterMark& queued = parts_.admission->queued_texts();
  queued.Raise(size_.num_texts);
  // A later slice is cheaper by what ran already, so that the queue's expected
  // wait does not count finished work.
  PoolOf(method_, parts_)
      .Submit(
          {.run =
               [&queued, num_texts = size_.num_texts, run = std::move(run)] {
                 queued.Lower(num_texts);
                 run();
               },
           .caller = std::string(name()),
           .is_long = IsLong(size_),
           .has_begun = run_time_ > absl::ZeroDuration(),
           .cost = std::max(cost_ - run_time_, absl::ZeroDuration())});
}

void RequestRun::RunSlice() {
  const absl::Duration begin = TimeSinceReceived();
  queue_time_ += begin - waiting_since_;
  const absl::StatusOr<Progress> progress = RunHandler();
  const absl::Duration end = TimeSinceReceived();
  run_time_ += end - begin;
  if (progress.ok() && *progress == Progress::kMore) {
    waiting_since_ = end;
    QueueSlice();
    return;
  }
  if (progress.ok() && *progress == Progress::kWaiting) {
    waiting_since_ = end;
    // Whatever it waits for is bounded by itself, and a disk that hangs must
    // not use up the permits of rankings.
    permit_ = Admission::Permit();
    work_.Reset();
    handler_->Wait([this] { QueueSlice(); });
    return;
  }
  parts_.metrics->RecordPhase(Phase::kQueue, queue_time_);
  if (!progress.ok()) return Finish(progress.status());
  // The permits are still held here, since the response takes memory.
  const absl::Status status = SerializeResponse(handler_->response());
  // Only complete runs are measured: one that was cancelled half-way would make
  // the kind of request look cheap. Writing vectors as numbers takes longer
  // than to embed cached texts.
  const absl::Duration time =
      decode_time_ + run_time_ + (TimeSinceReceived() - end);
  RequestCosts& costs = parts_.admission->costs();
  costs.Record(method_.kind, WorkOf(size_), time);
  // Titles shorter or longer than the guess would otherwise never correct the
  // estimate that StartDecoding makes of bodies like this one.
  if (guessed_texts_ > 0) {
    costs.Record(method_.kind, guessed_texts_, time);
  }
  Finish(status);
}

absl::StatusOr<Progress> RequestRun::RunHandler() {
  SEMRANK_RETURN_IF_ERROR(CheckStillWanted(*this));
  // CheckInTime comes before the first slice only: work that has begun is not
  // wasted for an estimate, and a passed deadline ends it anyway.
  if (!inline_ && run_time_ == absl::ZeroDuration()) {
    SEMRANK_RETURN_IF_ERROR(CheckInTime());
  }
  return handler_->RunSlice(*this);
}

RequestLog::Details RequestRun::Describe(RequestLog::Details details) const {
  details.num_texts += size_.num_texts;
  if (handler_ == nullptr) return details;
  const v1::ModelRef model = AnsweringModel(*handler_);
  if (!model.name().empty()) {
    details.model = absl::StrCat(model.name(), "/", model.version());
  }
  return details;
}

void RequestRun::Finish(const absl::Status& status) {
  parts_.metrics->CountCaller(KeyOfCaller(name()), size_.num_texts, status);
  if (!status.ok()) parts_.metrics->CountRejected(status);
  // Permits go back first: a caller that has its response must find room.
  permit_ = Admission::Permit();
  work_.Reset();
  Done(status);
}

}  // namespace semrank
