// Bags that several processes have made, each for its share of a mini-batch,
// handed to all of them.
#ifndef SEMRANK_MODEL_TRAIN_DISTRIBUTED_BAG_EXCHANGE_H_
#define SEMRANK_MODEL_TRAIN_DISTRIBUTED_BAG_EXCHANGE_H_

#include "absl/status/status.h"
#include "model/text/bag_batch.h"
#include "model/train/distributed/communicator.h"

namespace semrank {

// all = the bags of process 0, then those of process 1, ... ResourceExhausted,
// everywhere, when they have more than kMaxExchange entries.
absl::Status GatherBags(const BagBatch& own, Communicator& communicator,
                        BagBatch& all);

}  // namespace semrank

#endif  // SEMRANK_MODEL_TRAIN_DISTRIBUTED_BAG_EXCHANGE_H_
