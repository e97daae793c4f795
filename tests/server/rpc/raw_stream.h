// The client's end of a bidirectional stream that sends whatever bytes a test
// wants.
#ifndef SEMRANK_TESTS_SERVER_RPC_RAW_STREAM_H_
#define SEMRANK_TESTS_SERVER_RPC_RAW_STREAM_H_

#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>
#include <grpcpp/generic/generic_stub.h>

#include <memory>
#include <string>

#include "model/base/mutex.h"

namespace semrank {

class RawStream final
    : private grpc::ClientBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer> {
 public:
  // `method` as "RankingService/RankStream"; `metadata` goes along with it.
  RawStream(const std::shared_ptr<grpc::Channel>& channel,
            const std::string& method, const std::string& metadata = "")
      : stub_(channel) {
    if (!metadata.empty()) context_.AddMetadata("x-filler", metadata);
    stub_.PrepareBidiStreamingCall(&context_, "/semrank.v1." + method, {},
                                   this);
    AddHold();  // until HalfClose or Finish
    StartCall();
  }
  ~RawStream() override {
    context_.TryCancel();
    Finish();
  }

  // Returns once the library has taken the message.
  bool Write(const std::string& bytes) {
    const grpc::Slice slice(bytes);
    const grpc::ByteBuffer message(&slice, 1);
    StartWrite(&message);
    return write_done_.Wait();
  }
  void HalfClose() {
    StartWritesDone();
    half_close_done_.Wait();
  }
  // Waits for the next answer; false when there is none any more.
  bool Read(std::string& bytes) {
    grpc::ByteBuffer message;
    StartRead(&message);
    if (!read_done_.Wait()) return false;
    grpc::Slice slice;
    message.DumpToSingleSlice(&slice);
    bytes.assign(reinterpret_cast<const char*>(slice.begin()), slice.size());
    return true;
  }
  void Cancel() { context_.TryCancel(); }
  // Waits for the status, reading nothing more.
  grpc::Status Finish() {
    if (!released_) RemoveHold();
    released_ = true;
    if (!finished_) done_.Wait();
    finished_ = true;
    return status_;
  }
  const grpc::ClientContext& context() const { return context_; }

 private:
  // One result, handed from gRPC's thread to the test's.
  class Result {
   public:
    void Set(bool ok) {
      const MutexLock lock(mutex_);
      ok_ = ok;
      set_ = true;
      changed_.NotifyAll();
    }
    bool Wait() {
      const MutexLock lock(mutex_);
      while (!set_) changed_.Wait(mutex_);
      set_ = false;
      return ok_;
    }

   private:
    Mutex mutex_;
    CondVar changed_;
    bool set_ ABSL_GUARDED_BY(mutex_) = false;
    bool ok_ ABSL_GUARDED_BY(mutex_) = false;
  };

  void OnWriteDone(bool ok) override { write_done_.Set(ok); }
  void OnWritesDoneDone(bool ok) override { half_close_done_.Set(ok); }
  void OnReadDone(bool ok) override { read_done_.Set(ok); }
  void OnDone(const grpc::Status& status) override {
    status_ = status;
    done_.Set(true);
  }

  grpc::GenericStub stub_;
  grpc::ClientContext context_;
  Result write_done_, half_close_done_, read_done_, done_;
  grpc::Status status_;
  bool released_ = false;
  bool finished_ = false;
};

}  // namespace semrank

#endif  // SEMRANK_TESTS_SERVER_RPC_RAW_STREAM_H_
