#include "client/load/load_lane.h"

#include <grpcpp/client_context.h>
#include <grpcpp/support/async_stream.h>
#include <grpcpp/support/async_unary_call.h>

#include <cstdint>
#include <deque>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "client/lib/client_status.h"
#include "client/lib/connection.h"
#include "model/base/mutex.h"
#include "semrank/v1/ranking_service.grpc.pb.h"

namespace semrank {
namespace {

absl::Status CheckResponse(const v1::RankResponse& response) {
  if (response.indices_size() == response.scores_size()) {
    return absl::OkStatus();
  }
  return absl::InternalError("the server's answer is wrong");
}

// Each call has a context and a reader of its own, which the next one in the
// same place uses again.
class CallLane final : public LoadLane {
 public:
  CallLane(const ClientOptions& options, grpc::CompletionQueue* queue,
           Answered answered)
      : connection_(options),
        stub_(v1::RankingService::NewStub(connection_.channel())),
        queue_(*queue),
        answered_(std::move(answered)) {}

  void Send(const v1::RankRequest& request, LoadCall& call) override {
    UnaryCall& unary = TakeIdle();
    unary.call = &call;
    unary.reader.reset();  // it lives in the context's memory
    unary.context.emplace();
    connection_.Prepare(connection_.DeadlineFor(), *unary.context);
    unary.reader = stub_->AsyncRank(&*unary.context, request, &queue_);
    unary.reader->Finish(&unary.response, &unary.status, &unary);
  }

 private:
  struct UnaryCall final : public LoadEvent {
    explicit UnaryCall(CallLane* of) : lane(*of) {}
    void Handle(bool /*ok*/) override { lane.TakeAnswer(*this); }

    CallLane& lane;
    LoadCall* call = nullptr;
    std::optional<grpc::ClientContext> context;
    v1::RankResponse response;
    grpc::Status status;
    std::unique_ptr<grpc::ClientAsyncResponseReader<v1::RankResponse>> reader;
  };

  UnaryCall& TakeIdle() {
    const MutexLock lock(mutex_);
    if (idle_.empty()) return calls_.emplace_back(this);
    UnaryCall& unary = *idle_.back();
    idle_.pop_back();
    return unary;
  }
  void TakeAnswer(UnaryCall& unary) {
    LoadCall& call = *unary.call;
    call.status = unary.status.ok() ? CheckResponse(unary.response)
                                    : connection_.Describe(unary.status, 1);
    {
      const MutexLock lock(mutex_);
      idle_.push_back(&unary);
    }
    answered_(call);
  }

  const Connection connection_;
  const std::unique_ptr<v1::RankingService::Stub> stub_;
  grpc::CompletionQueue& queue_;
  const Answered answered_;
  Mutex mutex_;
  std::deque<UnaryCall> calls_ ABSL_GUARDED_BY(mutex_);
  std::vector<UnaryCall*> idle_ ABSL_GUARDED_BY(mutex_);
};

// One write and one read are under way at a time; what is to be written waits.
// A stream that breaks off fails the calls on it, and the next call opens
// another.
class StreamLane final : public LoadLane {
 public:
  StreamLane(const ClientOptions& options, grpc::CompletionQueue* queue,
             Answered answered, absl::Time end)
      : connection_(options),
        stub_(v1::RankingService::NewStub(connection_.channel())),
        queue_(*queue),
        answered_(std::move(answered)),
        end_(end) {}

  void Send(const v1::RankRequest& request, LoadCall& call) override {
    const MutexLock lock(mutex_);
    in_flight_[next_number_] = &call;
    v1::RankStreamRequest& message = NewMessage();
    message.set_request_number(next_number_++);
    *message.mutable_request() = request;
    if (stream_ == nullptr) Open();
    WriteNext();
  }
  void Close() override {
    const MutexLock lock(mutex_);
    if (stream_ != nullptr) stream_->WritesDone(Begin(closed_));
  }
  bool is_closed() const override {
    const MutexLock lock(mutex_);
    return stream_ == nullptr;
  }

 private:
  using Stream = grpc::ClientAsyncReaderWriter<v1::RankStreamRequest,
                                               v1::RankStreamResponse>;
  // One that calls a method of the lane.
  class Event final : public LoadEvent {
   public:
    using Method = void (StreamLane::*)(bool ok);
    Event(StreamLane* lane, Method method) : lane_(*lane), method_(method) {}
    void Handle(bool ok) override { (lane_.*method_)(ok); }

   private:
    StreamLane& lane_;
    const Method method_;
  };

  // What is begun with this event is under way.
  Event* Begin(Event& event) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    ++num_under_way_;
    return &event;
  }
  void Open() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    context_.emplace();
    connection_.Prepare(end_, *context_);
    over_ = false;
    stream_ = stub_->AsyncRankStream(&*context_, &queue_, Begin(opened_));
  }
  void WriteNext() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (!may_write_ || waiting_.empty()) return;
    may_write_ = false;
    stream_->Write(waiting_.front(), Begin(written_));
    // It has been serialised.
    spare_.push_back(std::move(waiting_.front()));
    waiting_.pop_front();
  }
  // At the end of those that wait, with the memory of one that was written.
  v1::RankStreamRequest& NewMessage() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (spare_.empty()) return waiting_.emplace_back();
    waiting_.push_back(std::move(spare_.back()));
    spare_.pop_back();
    return waiting_.back();
  }

  // What was under way has ended. After a failure nothing is to be done but to
  // read until that fails too, and to ask for the status.
  void OnOpened(bool ok) {
    {
      const MutexLock lock(mutex_);
      stream_->Read(&answer_, Begin(read_));
    }
    OnWritten(ok);
  }
  void OnWritten(bool ok) {
    {
      const MutexLock lock(mutex_);
      may_write_ = ok;
      WriteNext();
    }
    End();
  }
  void OnRead(bool ok) {
    LoadCall* call = nullptr;
    {
      const MutexLock lock(mutex_);
      if (ok) {
        call = TakeAnswer();
        stream_->Read(&answer_, Begin(read_));
      } else {
        stream_->Finish(&status_, Begin(finished_));
      }
    }
    if (call != nullptr) answered_(*call);
    End();
  }
  void OnFinished(bool /*ok*/) {
    {
      const MutexLock lock(mutex_);
      over_ = true;
    }
    End();
  }
  void OnClosed(bool /*ok*/) { End(); }

  LoadCall* TakeAnswer() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    const auto found = in_flight_.find(answer_.request_number());
    if (found == in_flight_.end()) return nullptr;  // nobody waits for it
    LoadCall* const call = found->second;
    in_flight_.erase(found);
    call->status = answer_.has_status() ? FromItemStatus(answer_.status())
                                        : CheckResponse(answer_.response());
    return call;
  }
  // After the last event of a stream: whoever waits has failed.
  void End() {
    std::unordered_map<std::uint64_t, LoadCall*> failed;
    absl::Status status;
    {
      const MutexLock lock(mutex_);
      --num_under_way_;
      if (!over_ || num_under_way_ > 0) return;
      status = status_.ok()
                   ? absl::InternalError("the stream ended without an answer")
                   : connection_.Describe(status_, 1);
      failed.swap(in_flight_);
      waiting_.clear();
      may_write_ = false;
      stream_.reset();
    }
    for (const auto& [number, call] : failed) {
      call->status = status;
      answered_(*call);
    }
  }

  const Connection connection_;
  const std::unique_ptr<v1::RankingService::Stub> stub_;
  grpc::CompletionQueue& queue_;
  const Answered answered_;
  const absl::Time end_;
  Event opened_{this, &StreamLane::OnOpened};
  Event written_{this, &StreamLane::OnWritten};
  Event read_{this, &StreamLane::OnRead};
  Event closed_{this, &StreamLane::OnClosed};
  Event finished_{this, &StreamLane::OnFinished};
  v1::RankStreamResponse answer_;  // belongs to the read that is under way
  grpc::Status status_;            // belongs to the finish

  mutable Mutex mutex_;
  std::optional<grpc::ClientContext> context_ ABSL_GUARDED_BY(mutex_);
  std::unique_ptr<Stream> stream_ ABSL_GUARDED_BY(mutex_);
  int num_under_way_ ABSL_GUARDED_BY(mutex_) = 0;
  bool may_write_ ABSL_GUARDED_BY(mutex_) = false;
  bool over_ ABSL_GUARDED_BY(mutex_) = false;
  std::deque<v1::RankStreamRequest> waiting_ ABSL_GUARDED_BY(mutex_);
  std::vector<v1::RankStreamRequest> spare_ ABSL_GUARDED_BY(mutex_);
  std::uint64_t next_number_ ABSL_GUARDED_BY(mutex_) = 0;
  std::unordered_map<std::uint64_t, LoadCall*> in_flight_
      ABSL_GUARDED_BY(mutex_);
};

}  // namespace

std::unique_ptr<LoadLane> LoadLane::OfCalls(const ClientOptions& options,
                                            grpc::CompletionQueue* queue,
                                            Answered answered) {
  return std::make_unique<CallLane>(options, queue, std::move(answered));
}

std::unique_ptr<LoadLane> LoadLane::OfOneStream(const ClientOptions& options,
                                                grpc::CompletionQueue* queue,
                                                Answered answered,
                                                absl::Time end) {
  return std::make_unique<StreamLane>(options, queue, std::move(answered), end);
}

}  // namespace semrank
