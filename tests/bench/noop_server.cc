// The least that a gRPC server can do with a Rank call: it walks over the bytes
// of the request once, touches every title or id, and answers with one made-up
// score for each. What semrank-server costs beyond it is ranking
// (scripts/bench/bench_serving.py).
//
//   noop_server    prints "noop_server ready grpc=HOST:PORT", serves until it
//                  is killed
//
// It uses gRPC's callback API with raw bytes, as semrank-server does, and none
// of semrank's own code.
#include <grpc/slice.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>
#include <grpcpp/support/slice.h>

#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>

#include "semrank/v1/ranking_service.grpc.pb.h"

namespace semrank {
namespace {

using v1::RankRequest;

// Wire type of strings, bytes and packed numbers. A request of titles or ids
// has no other.
constexpr std::uint64_t kLengthDelimited = 2;

struct Bytes {
  const std::uint8_t* next;
  const std::uint8_t* end;

  std::size_t size() const { return static_cast<std::size_t>(end - next); }
  bool ReadVarint(std::uint64_t& value) {
    value = 0;
    for (int shift = 0; next < end && shift < 64; shift += 7) {
      const std::uint8_t byte = *next++;
      value |= std::uint64_t{byte & 0x7fu} << shift;
      if (byte < 0x80) return true;
    }
    return false;
  }
};

// Keeps the compiler from removing the computation of `value`.
void Use(std::uint64_t value) { asm volatile("" : : "r"(value)); }

// Returns the number of candidates, or nothing if the bytes are not such a
// request.
std::optional<int> CountCandidates(Bytes bytes) {
  std::uint64_t tag = 0;
  std::uint64_t size = 0;
  std::uint64_t touched = 0;
  std::size_t count = 0;
  while (bytes.next < bytes.end) {
    if (!bytes.ReadVarint(tag) || (tag & 7) != kLengthDelimited ||
        !bytes.ReadVarint(size) || size > bytes.size()) {
      return std::nullopt;
    }
    const std::uint64_t field = tag >> 3;
    if (field == RankRequest::kTitlesFieldNumber) {
      touched += size == 0 ? 0 : bytes.next[0];
      ++count;
    } else if (field == RankRequest::kIdsFieldNumber) {
      for (std::uint64_t at = 0; at < size; at += 8) touched += bytes.next[at];
      count += size / 8;
    }
    bytes.next += size;
  }
  Use(touched);
  return static_cast<int>(count);
}

grpc::ByteBuffer MakeResponse(int num_candidates) {
  v1::RankResponse response;
  response.mutable_indices()->Resize(num_candidates, 0);
  response.mutable_scores()->Resize(num_candidates, 0);
  for (int i = 0; i < num_candidates; ++i) {
    const int index = num_candidates - 1 - i;
    response.set_indices(i, static_cast<std::uint32_t>(index));
    response.set_scores(i, 0.9f - 0.001f * static_cast<float>(i));
  }
  grpc_slice bytes = grpc_slice_malloc(response.ByteSizeLong());
  response.SerializeWithCachedSizesToArray(GRPC_SLICE_START_PTR(bytes));
  const grpc::Slice slice(bytes, grpc::Slice::STEAL_REF);
  return grpc::ByteBuffer(&slice, 1);
}

class NoopService final : public v1::RankingService::WithRawCallbackMethod_Rank<
                              v1::RankingService::Service> {
 public:
  grpc::ServerUnaryReactor* Rank(grpc::CallbackServerContext* context,
                                 const grpc::ByteBuffer* request,
                                 grpc::ByteBuffer* response) override {
    grpc::Slice bytes;
    if (!request->TrySingleSlice(&bytes).ok()) {
      // This fails only for buffers that hold no message.
      static_cast<void>(request->DumpToSingleSlice(&bytes));
    }
    const auto count = CountCandidates({bytes.begin(), bytes.end()});
    grpc::ServerUnaryReactor* const reactor = context->DefaultReactor();
    if (count.has_value()) {
      *response = MakeResponse(*count);
      reactor->Finish(grpc::Status::OK);
    } else {
      reactor->Finish({grpc::StatusCode::INVALID_ARGUMENT, "wire format"});
    }
    return reactor;
  }
};

int Run() {
  NoopService service;
  int port = 0;
  const std::unique_ptr<grpc::Server> server =
      grpc::ServerBuilder()
          .AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(),
                            &port)
          .RegisterService(&service)
          .BuildAndStart();
  if (server == nullptr || port == 0) return 1;
  std::printf("noop_server ready grpc=127.0.0.1:%d\n", port);
  std::fflush(stdout);
  server->Wait();
  return 0;
}

}  // namespace
}  // namespace semrank

int main() { return semrank::Run(); }
