// A client that asks for many vectors and reads them only when the test says
// so.
#ifndef SEMRANK_TESTS_SERVER_RPC_SLOW_READER_H_
#define SEMRANK_TESTS_SERVER_RPC_SLOW_READER_H_

#include <grpcpp/create_channel.h>

#include <memory>
#include <string>

#include "semrank/v1/embedding_service.pb.h"
#include "tests/server/rpc/raw_stream.h"

namespace semrank {

class SlowReader {
 public:
  // Several times what HTTP/2 sends ahead of a client's reading (64 KiB).
  static constexpr std::size_t kNumTexts = 3'000;
  static constexpr std::size_t kNumVectorBytes = kNumTexts * 16 * sizeof(float);

  explicit SlowReader(const std::string& address)
      : call_(Connect(address), "EmbeddingService/EmbedTexts") {
    v1::EmbedTextsRequest request;
    request.set_side(v1::SIDE_DOCUMENT);
    for (std::size_t i = 0; i < kNumTexts; ++i) {
      request.add_texts(std::to_string(i));
    }
    call_.Write(request.SerializeAsString());
    call_.HalfClose();
  }

  // Returns the number of bytes of the vectors.
  std::size_t ReadNumBytes() {
    std::string bytes;
    v1::EmbedTextsResponse response;
    if (!call_.Read(bytes) || !response.ParseFromString(bytes)) return 0;
    return response.vectors().size();
  }
  grpc::Status Finish() { return call_.Finish(); }

 private:
  // A channel of its own, on which the library does not read ahead.
  static std::shared_ptr<grpc::Channel> Connect(const std::string& address) {
    grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_HTTP2_BDP_PROBE, 0);
    arguments.SetInt(GRPC_ARG_HTTP2_STREAM_LOOKAHEAD_BYTES, 16'384);
    return grpc::CreateCustomChannel(
        address, grpc::InsecureChannelCredentials(), arguments);
  }

  // To the library a unary call is a stream of one message.
  RawStream call_;
};

}  // namespace semrank

#endif  // SEMRANK_TESTS_SERVER_RPC_SLOW_READER_H_
