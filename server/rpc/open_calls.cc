#include "server/rpc/open_calls.h"

#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/server_context.h>

#include <algorithm>
#include <functional>
#include <string_view>
#include <utility>

#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "server/auth/caller_name.h"
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
  CallerId caller_;             // set before any response
  // The mutex of OpenCalls guards these.
  std::int64_t unsent_bytes_ = 0;
  absl::Time unsent_since_ = absl::InfiniteFuture();
  bool is_cut_ = false;
};

namespace {

// Two mutexes, because asking a stream to end may change its unsent bytes:
// streams_mutex_ is taken first, mutex_ within. Neither is held while gRPC is
// called from Cancel, since TryCancel may destroy the context in this thread,
// and ~CallContext takes mutex_. UnreadResponses locks its own mutexes
// within.

// A response may arrive at 105 kB a second.
constexpr std::int64_t kBytesPerTimeout = std::int64_t{1} << 20;

// Our servers have no other contexts.
CallContext& ToCallContext(grpc::CallbackServerContext& context) {
  return static_cast<CallContext&>(context);
}
const CallContext& ToCallContext(const grpc::CallbackServerContext& context) {
  return static_cast<const CallContext&>(context);
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

void OpenCalls::SetCaller(grpc::CallbackServerContext& call,
                          const AccessControl* access) {
  CallerId& caller = ToCallContext(call).caller_;
  caller.connection = call.peer();
  std::string_view authorization;
  if (access != nullptr) {
    const auto found = call.client_metadata().find("authorization");
    if (found != call.client_metadata().end()) {
      authorization = {found->second.data(), found->second.size()};
    }
  }
  caller.name = CallerName(access, authorization, caller.connection);
}

const CallerId& OpenCalls::CallerOf(const grpc::CallbackServerContext& call) {
  return ToCallContext(call).caller_;
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

absl::Status OpenCalls::CheckRoom() const {
  const std::int64_t num_bytes = unread_.num_bytes();
  const std::int64_t limit = 2 * unread_.max_bytes();
  if (num_bytes <= limit) return absl::OkStatus();
  return Overloaded(
      absl::StrFormat("%d bytes of responses wait for clients to take them; "
                      "the limit is %d (twice --max_inflight_texts vectors of "
                      "%d dimensions)",
                      num_bytes, limit, kSizedEmbeddingDim),
      LimitValues(num_bytes, limit, "max_inflight_texts"));
}

void OpenCalls::SetUnsentBytes(grpc::CallbackServerContext& call,
                               std::int64_t bytes) {
  const MutexLock lock(mutex_);
  SetUnsentLocked(ToCallContext(call), bytes);
}

// More bytes for a client that reads nothing do not prolong its time.
void OpenCalls::SetUnsentLocked(CallContext& call, std::int64_t bytes) {
  if (call.is_cut_) bytes = 0;
  const std::int64_t before = std::exchange(call.unsent_bytes_, bytes);
  if (before == 0) call.unsent_since_ = absl::Now();
  unread_.Add(call.caller_, bytes - before);
}

// Any response that the connection has read as a whole is progress for all of
// its calls: a client on a slow link reads one after another.
bool OpenCalls::IsOverdue(const CallContext& call, absl::Time now) const {
  if (call.is_cut_ || call.unsent_bytes_ == 0) return false;
  const std::int64_t num_parts = call.unsent_bytes_ / kBytesPerTimeout + 1;
  const absl::Duration limit = send_timeout_ * num_parts;
  return call.unsent_since_ + limit <= now &&
         unread_.LastProgress(call.caller_) + limit <= now;
}

int OpenCalls::CancelOverdue(absl::Time now) {
  std::vector<CallContext*> overdue;
  {
    const MutexLock lock(mutex_);
    for (CallContext* const call : open_) {
      if (IsOverdue(*call, now)) overdue.push_back(call);
    }
    MarkCut(overdue);
  }
  Cancel(overdue);
  return static_cast<int>(overdue.size());
}

int OpenCalls::CancelExcess() {
  int num_cut = 0;
  while (const auto excess = unread_.FindExcess()) {
    std::vector<CallContext*> largest;
    {
      const MutexLock lock(mutex_);
      largest = ChooseLargest(*excess);
      MarkCut(largest);
    }
    // The account is one of HTTP, which is notified too.
    if (largest.empty()) break;
    Cancel(largest);
    num_cut += static_cast<int>(largest.size());
  }
  return num_cut;
}

std::vector<CallContext*> OpenCalls::ChooseLargest(
    const UnreadResponses::Excess& excess) {
  std::vector<CallContext*> calls;
  for (CallContext* const call : open_) {
    if (call->unsent_bytes_ > 0 &&
        call->caller_.connection == excess.account.connection &&
        call->caller_.name == excess.account.name) {
      calls.push_back(call);
    }
  }
  std::ranges::sort(calls, std::greater<>(), &CallContext::unsent_bytes_);
  std::int64_t num_bytes = 0;
  std::size_t count = 0;
  while (count < calls.size() && num_bytes < excess.num_bytes) {
    num_bytes += calls[count++]->unsent_bytes_;
  }
  calls.resize(count);
  return calls;
}

void OpenCalls::MarkCut(const std::vector<CallContext*>& calls) {
  for (CallContext* const call : calls) {
    call->is_cut_ = true;
    SetUnsentLocked(*call, 0);
  }
}

void OpenCalls::Cancel(const std::vector<CallContext*>& calls) {
  for (CallContext* const call : calls) {
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
