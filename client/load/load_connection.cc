#include "client/load/load_connection.h"

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

// gRPC's asynchronous API: each operation has a tag, a LoadEvent, which the
// thread at the completion queue handles when the operation has ended. With a
// rate, calls are sent by another thread, and the mutexes guard what both use.
// on_response_ runs without them, since it may send the next call.
namespace semrank {
namespace {

// A full check would take time from the measurement, and nothing indexes
// arrays with these numbers.
absl::Status CheckResponse(const v1::RankResponse& response) {
  if (response.indices_size() == response.scores_size()) {
    return absl::OkStatus();
  }
  return absl::InternalError("invalid response from the server");
}

// Every call in flight has a context and a reader, which later calls reuse.
class UnaryConnection final : public LoadConnection {
 public:
  UnaryConnection(const ClientOptions& options, grpc::CompletionQueue* queue,
                  OnResponse on_response)
      : connection_(options),
        stub_(v1::RankingService::NewStub(connection_.channel())),
        queue_(*queue),
        on_response_(std::move(on_response)) {}

  void Send(const v1::RankRequest& request, LoadCall& call) override {
    UnaryCall& unary = TakeIdle();
    unary.call = &call;
    // The reader is destroyed before the context, to which its memory belongs.
    unary.reader.reset();
    unary.context.emplace();
    connection_.Prepare(connection_.DeadlineFor(), *unary.context);
    unary.reader = stub_->AsyncRank(&*unary.context, request, &queue_);
    unary.reader->Finish(&unary.response, &unary.status, &unary);
  }
  void Cancel() override {
    const MutexLock lock(mutex_);
    for (UnaryCall& unary : calls_) {
      if (unary.call != nullptr) unary.context->TryCancel();
    }
  }

 private:
  struct UnaryCall final : public LoadEvent {
    explicit UnaryCall(UnaryConnection* of) : connection(*of) {}
    void Handle(bool /*ok*/) override { connection.TakeResponse(*this); }

    UnaryConnection& connection;
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
  // The call becomes idle before on_response_, which may send the next call at
  // once and reuse it.
  void TakeResponse(UnaryCall& unary) {
    LoadCall& call = *unary.call;
    call.status = unary.status.ok() ? CheckResponse(unary.response)
                                    : connection_.Describe(unary.status, 1);
    {
      const MutexLock lock(mutex_);
      unary.call = nullptr;
      idle_.push_back(&unary);
    }
    on_response_(call);
  }

  const Connection connection_;
  const std::unique_ptr<v1::RankingService::Stub> stub_;
  grpc::CompletionQueue& queue_;
  const OnResponse on_response_;
  Mutex mutex_;
  // A deque: contexts must not move while calls use them.
  std::deque<UnaryCall> calls_ ABSL_GUARDED_BY(mutex_);
  std::vector<UnaryCall*> idle_ ABSL_GUARDED_BY(mutex_);
};

// gRPC allows one write and one read at a time, so further messages queue up. A
// broken stream fails its calls, and the next call opens another stream.
class StreamConnection final : public LoadConnection {
 public:
  StreamConnection(const ClientOptions& options, grpc::CompletionQueue* queue,
                   OnResponse on_response, absl::Time end)
      : connection_(options),
        stub_(v1::RankingService::NewStub(connection_.channel())),
        queue_(*queue),
        on_response_(std::move(on_response)),
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
  void Cancel() override {
    const MutexLock lock(mutex_);
    if (stream_ != nullptr) context_->TryCancel();
  }
  // Ends the client's side of the stream; the server then ends the other one.
  void Close() override {
    const MutexLock lock(mutex_);
    closing_ = true;
    WriteNext();
  }
  bool is_closed() const override {
    const MutexLock lock(mutex_);
    return stream_ == nullptr;
  }

 private:
  using Stream = grpc::ClientAsyncReaderWriter<v1::RankStreamRequest,
                                               v1::RankStreamResponse>;
  // An event that calls a method of the connection.
  class Event final : public LoadEvent {
   public:
    using Method = void (StreamConnection::*)(bool ok);
    Event(StreamConnection* connection, Method method)
        : connection_(*connection), method_(method) {}
    void Handle(bool ok) override { (connection_.*method_)(ok); }

   private:
    StreamConnection& connection_;
    const Method method_;
  };

  // Counts an operation that ends with this event.
  Event* Begin(Event& event) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    // A stream may be destroyed only after the events of all its operations.
    ++num_pending_events_;
    return &event;
  }
  void Open() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    context_.emplace();
    connection_.Prepare(end_, *context_);
    over_ = false;
    stream_ = stub_->AsyncRankStream(&*context_, &queue_, Begin(opened_));
  }
  // Writes the next message or, when closing, the end of the stream, but not
  // before the event of the last write, which may come after the last response.
  void WriteNext() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (!may_write_) return;
    if (unsent_.empty()) {
      if (!closing_) return;
      may_write_ = false;
      stream_->WritesDone(Begin(closed_));
      return;
    }
    may_write_ = false;
    stream_->Write(unsent_.front(), Begin(written_));
    // gRPC has serialised it, so its memory can be reused.
    spare_.push_back(std::move(unsent_.front()));
    unsent_.pop_front();
  }
  // Appends a message. It reuses the memory of a written one, since a message
  // of 100 titles takes 100 allocations.
  v1::RankStreamRequest& NewMessage() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (spare_.empty()) return unsent_.emplace_back();
    unsent_.push_back(std::move(spare_.back()));
    spare_.pop_back();
    return unsent_.back();
  }

  // Handlers of events. After a failed operation only the status is missing,
  // which gRPC gives after the last read.
  void OnOpened(bool ok) {
    {
      const MutexLock lock(mutex_);
      stream_->Read(&response_, Begin(read_));
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
        call = TakeResponse();
        stream_->Read(&response_, Begin(read_));
      } else {
        stream_->Finish(&status_, Begin(finished_));
      }
    }
    if (call != nullptr) on_response_(*call);
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

  LoadCall* TakeResponse() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    const auto found = in_flight_.find(response_.request_number());
    if (found == in_flight_.end()) return nullptr;  // not a pending request
    LoadCall* const call = found->second;
    in_flight_.erase(found);
    call->status = response_.has_status() ? FromItemStatus(response_.status())
                                          : CheckResponse(response_.response());
    return call;
  }
  // Every event handler calls this last. After the last event of a stream, it
  // fails the calls still in flight. The next Send opens another stream.
  void End() {
    std::unordered_map<std::uint64_t, LoadCall*> failed;
    absl::Status status;
    {
      const MutexLock lock(mutex_);
      --num_pending_events_;
      // The status alone is not the end: a write may still be pending.
      if (!over_ || num_pending_events_ > 0) return;
      status = status_.ok()
                   ? absl::InternalError("the stream ended without a response")
                   : connection_.Describe(status_, 1);
      failed.swap(in_flight_);
      unsent_.clear();
      may_write_ = false;
      stream_.reset();
    }
    // Without the mutex, since on_response_ may call Send.
    for (const auto& [number, call] : failed) {
      call->status = status;
      on_response_(*call);
    }
  }

  const Connection connection_;
  const std::unique_ptr<v1::RankingService::Stub> stub_;
  grpc::CompletionQueue& queue_;
  const OnResponse on_response_;
  const absl::Time end_;
  Event opened_{this, &StreamConnection::OnOpened};
  Event written_{this, &StreamConnection::OnWritten};
  Event read_{this, &StreamConnection::OnRead};
  Event closed_{this, &StreamConnection::OnClosed};
  Event finished_{this, &StreamConnection::OnFinished};
  v1::RankStreamResponse response_;  // written by the pending read
  grpc::Status status_;              // written by the finish

  mutable Mutex mutex_;
  std::optional<grpc::ClientContext> context_ ABSL_GUARDED_BY(mutex_);
  std::unique_ptr<Stream> stream_ ABSL_GUARDED_BY(mutex_);
  int num_pending_events_ ABSL_GUARDED_BY(mutex_) = 0;
  bool may_write_ ABSL_GUARDED_BY(mutex_) = false;
  bool closing_ ABSL_GUARDED_BY(mutex_) = false;
  bool over_ ABSL_GUARDED_BY(mutex_) = false;
  std::deque<v1::RankStreamRequest> unsent_ ABSL_GUARDED_BY(mutex_);
  std::vector<v1::RankStreamRequest> spare_ ABSL_GUARDED_BY(mutex_);
  std::uint64_t next_number_ ABSL_GUARDED_BY(mutex_) = 0;
  std::unordered_map<std::uint64_t, LoadCall*> in_flight_
      ABSL_GUARDED_BY(mutex_);
};

}  // namespace

std::unique_ptr<LoadConnection> LoadConnection::MakeUnary(
    const ClientOptions& options, grpc::CompletionQueue* queue,
    OnResponse on_response) {
  return std::make_unique<UnaryConnection>(options, queue,
                                           std::move(on_response));
}

std::unique_ptr<LoadConnection> LoadConnection::MakeStream(
    const ClientOptions& options, grpc::CompletionQueue* queue,
    OnResponse on_response, absl::Time end) {
  return std::make_unique<StreamConnection>(options, queue,
                                            std::move(on_response), end);
}

}  // namespace semrank
