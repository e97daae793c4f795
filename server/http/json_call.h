// One request that came as JSON, run like any other: the same checks, limits,
// admission and threads (request_run). The calling thread waits.
//
//   Order    the body becomes the bytes of the Protobuf message, which are then
//            read, checked and admitted as those of a gRPC call.
//   Client   one that leaves is noticed between two slices of the work, after
//            the first kLookInterval: looking costs a while.
#ifndef SEMRANK_SERVER_HTTP_JSON_CALL_H_
#define SEMRANK_SERVER_HTTP_JSON_CALL_H_

#include <google/protobuf/descriptor.h>

#include <functional>
#include <future>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "server/requests/request_run.h"

namespace semrank {

class JsonCall final : private RequestRun {
 public:
  // How long a request may take.
  static constexpr absl::Duration kMaxTime = absl::Seconds(60);
  static constexpr absl::Duration kLookInterval = absl::Milliseconds(50);

  // Whether the client has left, asked at most once in `interval`.
  struct ClientLook {
    std::function<bool()> left = {};  // empty = not known
    absl::Duration interval = kLookInterval;
  };

  // `request` is the message that `work` reads. The response as JSON, or the
  // status that a gRPC caller would get.
  static absl::StatusOr<std::string> Run(
      const ServerParts& parts, std::unique_ptr<RequestWork> work,
      const google::protobuf::Descriptor& request, std::string_view body,
      ClientLook client);

 private:
  JsonCall(const ServerParts& parts, std::unique_ptr<RequestWork> work,
           ClientLook client);

  absl::Time deadline() const override { return deadline_; }
  // Also when the server has no more time for it.
  bool gone() const override { return server_ends() || client_left(); }
  bool server_ends() const {
    return parts().lifecycle->state() == Lifecycle::State::kEnding;
  }
  bool client_left() const;
  absl::Status SerializeResponse(
      const google::protobuf::MessageLite& response) override;
  void Done(const absl::Status& status) override;

  const ClientLook client_;
  const absl::Time deadline_;
  // Of the thread that works, one at a time.
  mutable absl::Time next_look_;
  std::string json_;
  // Shared, so that it outlives the call that another thread ends.
  const std::shared_ptr<std::promise<absl::Status>> done_;
};

}  // namespace semrank

#endif  // SEMRANK_SERVER_HTTP_JSON_CALL_H_
