#include "client/streams/event_stream.h"

namespace semrank {

absl::StatusOr<std::unique_ptr<EventStream>> OpenStream(
    const EventStream::Options& options) {
  return options.address.kind == EventAddress::Kind::kRedis
             ? MakeRedisStream(options)
             : MakeKafkaStream(options);
}

}  // namespace semrank
