#include "model/train/ssi/ssi_trainer.h"

#include <algorithm>
#include <utility>

#include "model/base/status_macros.h"
#include "model/format/model_config.h"
#include "model/nn/kernels.h"
#include "model/train/optimizer/gradient_set.h"

namespace semrank {
namespace {

constexpr int kTextBlock = 64;

// Fills the bags of `ids` and weighs them; Layout has been called.
void AddFillTasks(const TextBags& texts, std::span<const TextId> ids,
                  const std::vector<float>& idf, BagBatch& bags,
                  TaskList& tasks) {
  tasks.AddBlocks(static_cast<int>(ids.size()), kTextBlock,
                  [&texts, ids, &idf, &bags](int first, int last, int) {
                    texts.Fill(ids, first, last, bags);
                    WeighTfIdf(idf.data(), first, last, bags);
                  });
}

}  // namespace

void SsiTableTrainer::SetTexts(std::span<const BagBatch* const> texts) {
  // Each word is its own row.
  if (texts.size() == 1 && rows_.all_words()) {
    bags_ = texts[0];
  } else {
    translated_.Clear();
    for (const BagBatch* batch : texts) rows_.AppendRows(*batch, translated_);
    bags_ = &translated_;
  }
  vectors_.resize(static_cast<std::size_t>(bags_->num_texts()) * block_dim());
  gradients_.resize(vectors_.size());
}

void SsiTableTrainer::AddForwardTasks(bool learn, TaskList& tasks) {
  if (learn) {
    tasks.Add(1, [this](int, int) { layer_.TransposeBags(*bags_); });
  }
  tasks.AddBlocks(
      bags_->num_texts(), kTextBlock, [this](int first, int last, int) {
        layer_.Forward(*bags_, first, last,
                       &vectors_[static_cast<std::size_t>(first) *
                                 static_cast<std::size_t>(block_dim())]);
      });
}

void SsiTableTrainer::AddUpdateTasks(double learning_rate,
                                     WorkerScratch& scratch, TaskList& tasks) {
  layer_.BeginStep(learning_rate);
  tasks.Add(layer_.num_tasks(), [this, &scratch](int task, int worker) {
    layer_.RunUpdateTask(gradients_.data(), task, scratch[worker]);
  });
}

SsiTrainer::SsiTrainer(SsiWeights weights, const TrainOptions& options,
                       const Workers& workers)
    : weights_(std::move(weights)),
      workers_(workers),
      gradient_clip_norm_(options.optimizer.gradient_clip_norm),
      loss_(options.loss.margin),
      mixing_(options.optimizer, weights_.mixing),
      sparse_scratch_(workers.pool.num_threads()),
      scratch_(workers.pool.num_threads()) {
  if (weights_.query.in > 0) {
    query_table_ = std::make_unique<SsiTableTrainer>(
        weights_.query, weights_.Rows(), options.optimizer);
  }
  if (weights_.document.in > 0) {
    document_table_ = std::make_unique<SsiTableTrainer>(
        weights_.document, weights_.Rows(), options.optimizer);
  }
  if (weights_.spec.variant() != v1::SSI_VARIANT_LOW_RANK_NO_IDENTITY) {
    // The weights are complete by construction, so this cannot fail. The scorer
    // is a view: scores follow the weights as they are learned.
    sparse_ = *SparseScorer::Create(weights_.Sparse(), /*storage=*/nullptr);
  }
  if (!weights_.words.empty()) {
    word_pairs_ = std::make_unique<WordPairTrainer>(weights_, options.optimizer,
                                                    workers.pool.num_threads());
  }
  for (SsiTableTrainer* table : {query_table_.get(), document_table_.get()}) {
    if (table != nullptr) tables_.push_back(table);
  }
  // The norm is that of the whole gradient, so no part may be applied before
  // all of it is known.
  if (gradient_clip_norm_ == 0) return;
  for (SsiTableTrainer* table : tables_) table->bag_layer().KeepGradients();
  if (word_pairs_ != nullptr) word_pairs_->KeepGradients();
}

std::vector<TensorView> SsiTrainer::Weights() const {
  return weights_.Tensors();
}

std::vector<StateTensor> SsiTrainer::State() {
  // The statistics are not learned, but come from --init_from if it is given.
  std::vector<StateTensor> state = {{kIdfTensor, weights_.idf}};
  if (!weights_.correlated.empty()) {
    state.push_back({kCorrelatedTensor, weights_.correlated});
  }
  if (query_table_ != nullptr) {
    query_table_->bag_layer().optimizer().AppendState("query.0", state);
  }
  if (document_table_ != nullptr) {
    document_table_->bag_layer().optimizer().AppendState("document.0", state);
  }
  if (!weights_.mixing.empty()) mixing_.AppendState(kMixingTensor, state);
  if (word_pairs_ != nullptr) {
    word_pairs_->optimizer().AppendState(weights_.WordsTensor(), state);
  }
  return state;
}

void SsiTrainer::Restored(std::int64_t num_steps) {
  mixing_.set_num_steps(num_steps);
  for (SsiTableTrainer* table : tables_) {
    table->bag_layer().optimizer().set_num_steps(num_steps);
  }
  if (word_pairs_ != nullptr) {
    word_pairs_->optimizer().set_num_steps(num_steps);
  }
}

absl::Status SsiTrainer::ReadTexts(const MiniBatch& batch) {
  SEMRANK_RETURN_IF_ERROR(batch.bags->Layout(batch.queries, queries_));
  SEMRANK_RETURN_IF_ERROR(batch.bags->Layout(batch.titles, titles_));
  TaskList tasks;
  AddFillTasks(*batch.bags, batch.queries, weights_.idf, queries_, tasks);
  AddFillTasks(*batch.bags, batch.titles, weights_.idf, titles_, tasks);
  workers_.pool.Run(tasks);
  return absl::OkStatus();
}

// U q of the queries and V d of the titles; one table holds both when shared.
void SsiTrainer::Embed(bool learn) {
  // diagonal and full have no vectors.
  if (query_table_ == nullptr) return;
  TaskList tasks;
  if (document_table_ != nullptr) {
    const BagBatch* queries = &queries_;
    const BagBatch* titles = &titles_;
    query_table_->SetTexts(std::span(&queries, 1));
    document_table_->SetTexts(std::span(&titles, 1));
    document_table_->AddForwardTasks(learn, tasks);
  } else {
    const BagBatch* const both[] = {&queries_, &titles_};
    query_table_->SetTexts(both);
  }
  query_table_->AddForwardTasks(learn, tasks);
  workers_.pool.Run(tasks);
}

// Titles follow the queries in a shared table.
std::size_t SsiTrainer::FirstTitleElement() const {
  return document_table_ != nullptr
             ? 0
             : static_cast<std::size_t>(queries_.num_texts()) *
                   query_table_->dim();
}

double SsiTrainer::Score(const MiniBatch& batch, Range pairs) {
  return loss_.Compute(
      batch, pairs,
      [this](int pair, std::span<const std::uint32_t> titles,
             std::span<float> scores,
             int worker) { ScoreTitles(pair, titles, scores, worker); },
      workers_.pool);
}

// f = (U q)'(V d) + q'Sd.
void SsiTrainer::ScoreTitles(int pair, std::span<const std::uint32_t> titles,
                             std::span<float> scores, int worker) {
  std::fill(scores.begin(), scores.end(), 0.0f);
  if (query_table_ != nullptr) {
    const auto dim = static_cast<std::size_t>(query_table_->dim());
    const float* query = query_table_->vectors() + pair * dim;
    for (std::size_t k = 0; k < titles.size(); ++k) {
      scores[k] =
          Dot(query, title_vectors() + titles[k] * dim, static_cast<int>(dim));
    }
  }
  if (sparse_ == nullptr) return;
  // A query is prepared once for all its titles.
  const SparseScorer::PreparedQuery prepared(*sparse_, queries_, pair,
                                             sparse_scratch_[worker]);
  for (std::size_t k = 0; k < titles.size(); ++k) {
    scores[k] += prepared.Score(titles_, static_cast<int>(titles[k]));
  }
}

// dloss/d(U q) = sum over titles of dloss/df x V d; dloss/d(V d) = sum over
// queries of dloss/df x U q.
void SsiTrainer::AddVectorGradientTasks(TaskList& tasks) {
  const int dim = query_table_->dim();
  tasks.AddBlocks(
      queries_.num_texts(), kTextBlock, [this, dim](int first, int last, int) {
        SumBags(
            loss_.violations(), first, last, title_vectors(), dim,
            query_table_->gradients() + static_cast<std::size_t>(first) * dim);
      });
  // A title without violations has no bag, and a gradient of 0. Each query has
  // a bag, perhaps an empty one, so query gradients need no fill.
  std::fill_n(title_gradients(),
              static_cast<std::size_t>(titles_.num_texts()) * dim, 0.0f);
  const std::vector<std::uint32_t>& titles = violations_by_title_.features();
  tasks.AddBlocks(static_cast<int>(titles.size()), kTextBlock,
                  [this, dim, &titles](int first, int last, int) {
                    for (int t = first; t < last; ++t) {
                      SumBags(violations_by_title_.texts(), t, t + 1,
                              query_table_->vectors(), dim,
                              title_gradients() +
                                  static_cast<std::size_t>(titles[t]) * dim);
                    }
                  });
}

// dloss/dm of the mixing factor a = 1 / (1 + exp(-m)). A score is (1 - a) x +
// a y, of which block 0 of the vectors makes (1 - a) x and the others a y:
//
//   da/dm = a (1 - a),  dscore/dm = (1 - a) (a y) - a ((1 - a) x)
//
// The gradient of a query's vector is that of the sum over its titles.
double SsiTrainer::MixingGradient() {
  const double factor = MixingFactor(weights_.mixing[0]);
  const auto dim = static_cast<std::size_t>(query_table_->dim());
  const auto block_dim = static_cast<std::size_t>(query_table_->block_dim());
  const float* vector = query_table_->vectors();
  const float* gradient = query_table_->gradients();
  // One thread adds in one order; this costs little beside the other sums.
  double sum = 0;
  for (int query = 0; query < queries_.num_texts(); ++query) {
    for (std::size_t i = 0; i < dim; ++i) {
      sum += (i < block_dim ? -factor : 1 - factor) * double{vector[i]} *
             double{gradient[i]};
    }
    vector += dim;
    gradient += dim;
  }
  return sum;
}

// Sums what the processes have found for their pairs.
absl::Status SsiTrainer::ExchangeGradients(Range pairs) {
  if (word_pairs_ != nullptr) {
    SEMRANK_RETURN_IF_ERROR(word_pairs_->Exchange(pairs, workers_.processes));
  }
  if (query_table_ == nullptr) return absl::OkStatus();
  const std::size_t dim = query_table_->dim();
  return gradients_.Reduce(
      {.dense = {{query_table_->gradients(), queries_.num_texts() * dim},
                 {title_gradients(), titles_.num_texts() * dim}},
       .sparse = {}},
      workers_);
}

absl::StatusOr<double> SsiTrainer::Loss(const MiniBatch& batch) {
  SEMRANK_RETURN_IF_ERROR(ReadTexts(batch));
  Embed(/*learn=*/false);
  return Score(batch, {0, batch.num_pairs()});
}

absl::StatusOr<double> SsiTrainer::Step(const MiniBatch& batch,
                                        const StepContext& step) {
  Communicator& processes = workers_.processes;
  const Range pairs = processes.ShareOf(batch).pairs;
  // All processes have the same texts, so they fail together.
  SEMRANK_RETURN_IF_ERROR(ReadTexts(batch));
  Embed(/*learn=*/true);
  // The loss is over this process's pairs; the sum over the processes is the
  // loss of the batch.
  double loss = Score(batch, pairs);
  TaskList tasks;
  if (step.concurrent_work) {
    tasks.Add(1, [&step](int, int) { step.concurrent_work(); });
  }
  if (word_pairs_ != nullptr) {
    word_pairs_->AddGatherTasks(queries_, titles_, loss_.violations(), tasks);
  }
  if (query_table_ != nullptr) {
    violations_by_title_.Build(loss_.violations(), titles_.num_texts());
    AddVectorGradientTasks(tasks);
  }
  workers_.pool.Run(tasks);
  // All processes get the sums over all pairs and make the same update. The
  // gradient of U reads V, and that of V reads U (SSI 2.3), so both are
  // complete before either is changed.
  if (!processes.is_alone()) {
    SEMRANK_RETURN_IF_ERROR(ExchangeGradients(pairs));
    loss = processes.Sum(loss);
  }
  if (!weights_.mixing.empty()) {
    mixing_.BeginStep(step.learning_rate);
    mixing_gradient_ = static_cast<float>(MixingGradient());
    // Bags and vectors of the step were made with the factor before its update.
    if (gradient_clip_norm_ == 0) {
      mixing_.Update(0, std::span(&mixing_gradient_, 1));
    }
  }
  if (word_pairs_ != nullptr) {
    word_pairs_->AddUpdateTasks(step.learning_rate, tasks);
  }
  for (SsiTableTrainer* table : tables_) {
    table->AddUpdateTasks(step.learning_rate, scratch_, tasks);
  }
  workers_.pool.Run(tasks);
  if (gradient_clip_norm_ > 0) UpdateWithKeptGradients();
  return loss;
}

// Every process has the gradients of the whole batch.
void SsiTrainer::UpdateWithKeptGradients() {
  GradientSet gradients;
  TaskList tasks;
  for (SsiTableTrainer* table : tables_) {
    table->bag_layer().AppendGradients(gradients);
    table->bag_layer().AddKeptUpdateTasks(tasks);
  }
  if (word_pairs_ != nullptr) {
    word_pairs_->AppendGradients(gradients);
    word_pairs_->AddKeptUpdateTasks(tasks);
  }
  if (!weights_.mixing.empty()) {
    gradients.dense.emplace_back(&mixing_gradient_, 1);
    tasks.Add(1, [this](int, int) {
      mixing_.Update(0, std::span(&mixing_gradient_, 1));
    });
  }
  gradient_norm_ = ClipGradients(gradient_clip_norm_, gradients, workers_.pool);
  workers_.pool.Run(tasks);
}

}  // namespace semrank
