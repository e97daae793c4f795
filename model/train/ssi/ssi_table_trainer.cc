#include "model/train/ssi/ssi_table_trainer.h"

namespace semrank {
namespace {

constexpr int kTableTextBlock = 64;

}  // namespace

void SsiTableTrainer::SetTexts(std::span<const BagBatch* const> texts) {
  if (texts.size() == 1 && rows_.all_words()) {
    bags_ = texts[0];
  } else {
    translated_.Clear();
    for (const BagBatch* batch : texts) rows_.AppendRows(*batch, translated_);
    bags_ = &translated_;
  }
  vectors_.resize(static_cast<std::size_t>(bags_->num_texts()) * dim());
  gradients_.resize(vectors_.size());
}

void SsiTableTrainer::AddForwardWork(bool learn, WorkList& work) {
  if (learn) {
    work.Add(1, [this](int, int) { layer_.TransposeBags(*bags_); });
  }
  work.AddBlocks(
      bags_->num_texts(), kTableTextBlock, [this](int first, int last, int) {
        layer_.Forward(*bags_, first, last,
                       &vectors_[static_cast<std::size_t>(first) * dim()]);
      });
}

void SsiTableTrainer::AddUpdateWork(double learning_rate,
                                    WorkerScratch& scratch, WorkList& work) {
  layer_.BeginStep(learning_rate);
  work.Add(layer_.num_pieces(), [this, &scratch](int piece, int worker) {
    layer_.UpdatePiece(gradients_.data(), piece, scratch[worker]);
  });
}

}  // namespace semrank
