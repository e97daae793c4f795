#include "server/rpc/open_calls.h"

#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/server_context.h>

#include <vector>

#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "server/base/errors.h"
#include "server/base/lifecycle.h"

namespace semrank {

// The context of every call on a server with an allocator of MakeContexts().
// gRPC releases it at the end of the call. That is the only notification of the
// end which does not make gRPC 1.51 switch threads once more for each unary
// call, as a reactor of our own would (its OnDone is never run inline).
class CallContext final : public grpc::CallbackServerContext {
 private:
  friend class OpenCalls;
  friend class CallContexts;

  ~CallContext() override;

  OpenCalls* calls_ = nullptr;  // null = not one of our own calls
  // The mutex of OpenCalls guards these.
  std::int64_t unsent_bytes_ = 0;
  absl::Time send_deadline_ = absl::InfiniteFuture();
  bool is_cut_ = false;
};

namespace {

// Two mutexes, because asking a stream to end may change its unsent bytes:
// streams_mutex_ is taken first, mutex_ within. Neither is held while gRPC is
// called from CancelOverdue, since TryCancel may destroy the context in this
// thread, and ~CallContext takes mutex_.

constexpr std::int64_t kBytesPerSendTime = std::int64_t{16} << 20;

// Our servers have no other contexts.
CallContext& ToCallContext(grpc::CallbackServerContext& context) {
  return static_cast<CallContext&>(context);
}

}  // namespace

class CallContexts final : public grpc::ContextAllocator {
 public:
  grpc::CallbackServerContext* NewCallbackServerContext() override {
    return new CallContext;
  }
  // For calls of unknown methods, which gRPC answers by a generic service of
  // its own. Without this it would put the context into its request, and give
  // that to Release all the same.
  grpc::GenericCallbackServerContext* NewGenericCallbackServerContext()
      override {
    return new grpc::GenericCallbackServerContext;
  }
  // Gets contexts of both kinds; their destructor is virtual.
  void Release(grpc::CallbackServerContext* context) override {
    delete context;
  }
  void Release(grpc::GenericCallbackServerContext* context) override {
    delete context;
  }
};

std::unique_ptr<grpc::ContextAllocator> OpenCalls::MakeContexts() {
  return std::make_unique<CallContexts>();
}

CallContext::~CallContext() {
  if (calls_ != nullptr) calls_->End(*this);
}

absl::Status OpenCalls::Begin(grpc::CallbackServerContext& call,
                              OpenStream* stream) {
  CallContext& context = ToCallContext(call);
  // Counts the call even if it is refused below: its context ends later, and a
  // stop waits for that.
  {
    const MutexLock lock(mutex_);
    context.calls_ = this;
    open_.insert(&context);
  }
  // After the call counts as open, so that a stop either refuses it or waits
  // for it.
  const MutexLock lock(streams_mutex_);
  if (stopping_) return Lifecycle::DrainingError();
  if (stream != nullptr) streams_.insert(stream);
  return absl::OkStatus();
}

void OpenCalls::RemoveStream(OpenStream* stream) {
  const MutexLock lock(streams_mutex_);
  streams_.erase(stream);
}

// Runs in the destructor of the context, in any thread of gRPC. While another
// thread cancels this very call, the context must stay alive; the cancelling
// thread itself must not wait for itself.
void OpenCalls::End(CallContext& call) {
  const MutexLock lock(mutex_);
  while (being_cut_ == &call && cutter_ != std::this_thread::get_id()) {
    changed_.Wait(mutex_);
  }
  // gRPC is done with the call, so it holds none of its bytes.
  SetUnsentLocked(call, 0);
  open_.erase(&call);
  if (open_.empty()) changed_.NotifyAll();
}

// Reads the sum without the mutex: it is asked for each call, and a limit on
// memory need not be exact to a call.
absl::Status OpenCalls::CheckRoom() const {
  const std::int64_t num_bytes = unsent_bytes_;
  if (num_bytes < max_unsent_bytes_) return absl::OkStatus();
  return Overloaded(
      absl::StrFormat("%d bytes of responses wait for clients to take them; "
                      "the limit is %d (--max_inflight_texts vectors of %d "
                      "dimensions)",
                      num_bytes, max_unsent_bytes_, kSizedEmbeddingDim),
      LimitValues(num_bytes, max_unsent_bytes_, "max_inflight_texts"));
}

void OpenCalls::SetUnsentBytes(grpc::CallbackServerContext& call,
                               std::int64_t bytes) {
  const MutexLock lock(mutex_);
  SetUnsentLocked(ToCallContext(call), bytes);
}

void OpenCalls::SetUnsentLocked(CallContext& call, std::int64_t bytes) {
  const std::int64_t before = call.unsent_bytes_;
  unsent_bytes_ += bytes - before;
  call.unsent_bytes_ = bytes;
  if (bytes == 0) {
    call.send_deadline_ = absl::InfiniteFuture();
  } else if (before == 0 || bytes < before) {
    // The time begins anew whenever the client has read something. More bytes
    // for a client that reads nothing do not prolong it.
    const std::int64_t num_parts = bytes / kBytesPerSendTime + 1;
    call.send_deadline_ = absl::Now() + send_time_ * num_parts;
  }
}

// Collects under the mutex, then cancels without it.
int OpenCalls::CancelOverdue(absl::Time now) {
  std::vector<CallContext*> overdue;
  {
    const MutexLock lock(mutex_);
    for (CallContext* const call : open_) {
      if (call->is_cut_ || call->send_deadline_ > now) continue;
      call->is_cut_ = true;
      overdue.push_back(call);
    }
  }
  for (CallContext* const call : overdue) {
    {
      const MutexLock lock(mutex_);
      // The call may have ended since, and a new context may have its
      // address: that one is not marked as cut.
      if (!open_.contains(call) || !call->is_cut_) continue;
      being_cut_ = call;
      cutter_ = std::this_thread::get_id();
    }
    call->TryCancel();  // may destroy the context
    const MutexLock lock(mutex_);
    being_cut_ = nullptr;
    changed_.NotifyAll();
  }
  return static_cast<int>(overdue.size());
}

// A stream that ends by this calls RemoveStream from another thread of gRPC,
// which waits for streams_mutex_. So no stream is destroyed during the loop.
void OpenCalls::EndStreams() {
  const MutexLock lock(streams_mutex_);
  stopping_ = true;
  for (OpenStream* const stream : streams_) stream->EndForStop();
}

bool OpenCalls::WaitUntilIdle(std::chrono::steady_clock::time_point deadline) {
  const MutexLock lock(mutex_);
  while (!open_.empty()) {
    const auto left = deadline - std::chrono::steady_clock::now();
    if (left <= std::chrono::nanoseconds(0)) return false;
    changed_.WaitFor(mutex_, left);
  }
  return true;
}

}  // namespace semrank
