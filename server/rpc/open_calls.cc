#include "server/rpc/open_calls.h"

#include <string>
#include <vector>

#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "server/base/admission.h"
#include "server/base/errors.h"
#include "server/base/lifecycle.h"

namespace semrank {
namespace {

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
  void Release(grpc::CallbackServerContext* context) override {
    delete &ToCallContext(*context);
  }
  // There is no generic service.
  using grpc::ContextAllocator::Release;
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

void OpenCalls::ForgetStream(OpenStream* stream) {
  const MutexLock lock(streams_mutex_);
  streams_.erase(stream);
}

void OpenCalls::End(CallContext& call) {
  const MutexLock lock(mutex_);
  while (being_cut_ == &call && cutter_ != std::this_thread::get_id()) {
    changed_.Wait(mutex_);
  }
  SetUnsentLocked(call, 0);
  open_.erase(&call);
  if (open_.empty()) changed_.NotifyAll();
}

absl::Status OpenCalls::CheckRoom() const {
  const std::int64_t num_bytes = unsent_bytes_;
  if (num_bytes < max_unsent_bytes_) return absl::OkStatus();
  return MakeError(
      absl::StatusCode::kResourceExhausted, "OVERLOADED",
      absl::StrFormat("%d bytes of responses wait for clients to take them; "
                      "the limit is %d (--max_inflight_texts vectors of %d "
                      "dimensions)",
                      num_bytes, max_unsent_bytes_, kSizedEmbeddingDim),
      {{"value", std::to_string(num_bytes)},
       {"limit", std::to_string(max_unsent_bytes_)},
       {"flag", "max_inflight_texts"},
       {"retry_delay_ms",
        std::to_string(absl::ToInt64Milliseconds(Admission::kRetryDelay))}});
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
    const auto parts = static_cast<double>(bytes / kBytesPerSendTime + 1);
    call.send_deadline_ = absl::Now() + send_time_ * parts;
  }
}

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
