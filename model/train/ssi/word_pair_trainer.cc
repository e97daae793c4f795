#include "model/train/ssi/word_pair_trainer.h"

#include <algorithm>
#include <cstddef>

#include "model/nn/sparse_scorer.h"
#include "model/train/distributed/exchange.h"

namespace semrank {
namespace {

// The gradient of W is sum over pairs i of q_i r_i', where r_i is the sum
// over the titles of pair i of dloss/df times the title (SSI 2.3). Gather
// tasks compute the sparse r_i; update tasks then own a row of W each, so no
// lock is needed.

constexpr int kPairBlock = 16;

// A query has few words: a scan is faster than a table.
bool Contains(std::span<const std::uint32_t> words, std::uint32_t word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

}  // namespace

// r_i of `pair`.
BagView WordPairTrainer::Gathered(int pair) const {
  if (exchanged_.num_texts() > 0) return exchanged_.Bag(pair);
  return gathered_[pair / kPairBlock].Bag(pair % kPairBlock);
}

void WordPairTrainer::Sums::Add(std::uint32_t index, float value) {
  // An index whose sum is 0 again may be listed twice; Drain visits it once.
  if (values[index] == 0) touched.push_back(index);
  values[index] += value;
}

template <typename Visit>
void WordPairTrainer::Sums::Drain(Visit visit) {
  for (const std::uint32_t index : touched) {
    if (values[index] == 0) continue;
    visit(index, values[index]);
    values[index] = 0;
  }
  touched.clear();
}

WordPairTrainer::WordPairTrainer(SsiWeights& weights,
                                 const OptimizerOptions& options,
                                 int num_workers)
    : weights_(weights),
      optimizer_(options, weights.words),
      sums_(static_cast<std::size_t>(num_workers)) {
  for (Sums& sums : sums_) {
    sums.values.resize(static_cast<std::size_t>(weights.num_words));
  }
  if (weights.spec.pair_hash_buckets() > 0) {
    hashed_.values.resize(weights.words.size());
  }
}

void WordPairTrainer::AddGatherTasks(const BagBatch& queries,
                                     const BagBatch& titles,
                                     const BagBatch& score_gradients,
                                     TaskList& tasks) {
  queries_ = &queries;
  titles_ = &titles;
  score_gradients_ = &score_gradients;
  exchanged_.Clear();
  const int num_pairs = score_gradients.num_texts();
  gathered_.resize(
      static_cast<std::size_t>((num_pairs + kPairBlock - 1) / kPairBlock));
  tasks.Add(1, [this](int, int) {
    by_query_word_.Build(*queries_, weights_.num_words);
  });
  tasks.AddBlocks(num_pairs, kPairBlock,
                  [this](int first, int last, int worker) {
                    GatherPairs(first, last, worker);
                  });
}

// Computes r_i of pairs [first, last); for the diagonal only its words of the
// query.
void WordPairTrainer::GatherPairs(int first, int last, int worker) {
  // The sum over the titles of a pair comes first, then that over its query
  // words: the gradient q_i r_i' is never computed for each tuple.
  const bool diagonal = weights_.spec.variant() == v1::SSI_VARIANT_DIAGONAL;
  BagBatch& gathered = gathered_[first / kPairBlock];
  Sums& sums = sums_[worker];
  gathered.Clear();
  for (int pair = first; pair < last; ++pair) {
    const BagView gradients = score_gradients_->Bag(pair);
    const BagView query = queries_->Bag(pair);
    for (std::size_t k = 0; k < gradients.indices.size(); ++k) {
      const BagView title =
          titles_->Bag(static_cast<int>(gradients.indices[k]));
      for (std::size_t t = 0; t < title.indices.size(); ++t) {
        sums.Add(title.indices[t], gradients.counts[k] * title.counts[t]);
      }
    }
    sums.Drain([&](std::uint32_t word, float sum) {
      if (diagonal && !Contains(query.indices, word)) return;
      gathered.indices.push_back(word);
      gathered.counts.push_back(sum);
    });
    gathered.EndBag();
  }
}

absl::Status WordPairTrainer::Exchange(Range pairs,
                                       Communicator& communicator) {
  own_.Clear();
  for (int pair = pairs.first; pair < pairs.last; ++pair) {
    const BagView r = Gathered(pair);
    own_.indices.insert(own_.indices.end(), r.indices.begin(), r.indices.end());
    own_.counts.insert(own_.counts.end(), r.counts.begin(), r.counts.end());
    own_.EndBag();
  }
  return GatherBags(own_, communicator, exchanged_);
}

void WordPairTrainer::AddUpdateTasks(double learning_rate, TaskList& tasks) {
  optimizer_.BeginStep(learning_rate);
  if (keeps_gradients_) kept_.resize(static_cast<std::size_t>(num_tasks()));
  if (weights_.spec.pair_hash_buckets() > 0) {
    tasks.Add(1, [this](int, int) { UpdateHashed(); });
    return;
  }
  const std::vector<std::uint32_t>& words = by_query_word_.features();
  tasks.Add(num_tasks(), [this, &words](int w, int worker) {
    UpdateRow(words[w], w, worker);
  });
}

int WordPairTrainer::num_tasks() const {
  if (weights_.spec.pair_hash_buckets() > 0) return 1;
  return static_cast<int>(by_query_word_.features().size());
}

// Row `word` of W, or its place on the diagonal; `task` is also the place of
// the word in by_query_word_.
void WordPairTrainer::UpdateRow(std::uint32_t word, int task, int worker) {
  const bool diagonal = weights_.spec.variant() == v1::SSI_VARIANT_DIAGONAL;
  Sums& sums = sums_[worker];
  // Row `word` of the gradient is the sum of q_i(word) r_i over the pairs with
  // that word in the query. One task owns the row and adds its pairs in order.
  const BagView pairs = by_query_word_.texts().Bag(task);
  for (std::size_t i = 0; i < pairs.indices.size(); ++i) {
    const int pair = static_cast<int>(pairs.indices[i]);
    const BagView r = Gathered(pair);
    for (std::size_t t = 0; t < r.indices.size(); ++t) {
      if (diagonal && r.indices[t] != word) continue;
      sums.Add(r.indices[t], pairs.counts[i] * r.counts[t]);
    }
  }
  const std::size_t num_words = static_cast<std::size_t>(weights_.num_words);
  UpdateWeights(diagonal ? 0 : word * num_words, sums, task);
}

// One thread adds in the order of pairs, because pairs of different words share
// weights.
void WordPairTrainer::UpdateHashed() {
  const auto num_buckets =
      static_cast<std::uint32_t>(weights_.spec.pair_hash_buckets());
  for (int pair = 0; pair < queries_->num_texts(); ++pair) {
    const BagView query = queries_->Bag(pair);
    const BagView r = Gathered(pair);
    for (std::size_t s = 0; s < query.indices.size(); ++s) {
      for (std::size_t t = 0; t < r.indices.size(); ++t) {
        hashed_.Add(PairBucket(query.indices[s], r.indices[t], num_buckets),
                    query.counts[s] * r.counts[t]);
      }
    }
  }
  UpdateWeights(0, hashed_, /*task=*/0);
}

// Each touched weight is updated once, with its whole gradient: Adagrad and
// Adam are not linear in it, so parts could not be applied one by one.
void WordPairTrainer::UpdateWeights(std::size_t first, Sums& sums, int task) {
  if (!keeps_gradients_) {
    sums.Drain([this, first](std::uint32_t index, float sum) {
      optimizer_.Update(first + index, std::span(&sum, 1));
    });
    return;
  }
  RowGradients& kept = kept_[task];
  kept.width = 1;
  kept.rows.clear();
  kept.values.clear();
  sums.Drain([&kept, first](std::uint32_t index, float sum) {
    kept.rows.push_back(static_cast<std::uint32_t>(first + index));
    kept.values.push_back(sum);
  });
}

void WordPairTrainer::AppendGradients(GradientSet& gradients) {
  for (RowGradients& kept : kept_) gradients.sparse.push_back(&kept);
}

void WordPairTrainer::AddKeptUpdateTasks(TaskList& tasks) {
  tasks.Add(num_tasks(), [this](int task, int) {
    const RowGradients& kept = kept_[task];
    for (std::size_t i = 0; i < kept.rows.size(); ++i) {
      optimizer_.Update(kept.rows[i], std::span(&kept.values[i], 1));
    }
  });
}

}  // namespace semrank
