#include "server/catalog/catalog_scan.h"

#include <algorithm>
#include <array>
#include <span>

#include "model/nn/cosine_scorer.h"
#include "server/vectors/sparse_scores.h"
#include "server/vectors/text_embedder.h"

namespace semrank {
namespace {

constexpr std::uint32_t kBlock = CatalogSlots::kBlockSlots;

// The documents of one block and their scores.
struct Block {
  std::array<std::uint32_t, kBlock> slots;
  std::array<float, kBlock> scores;
  std::size_t size = 0;
};

void AddSeenSlots(const DocumentCatalog::Snapshot& snapshot,
                  std::uint32_t first, Block& block) {
  const auto last = static_cast<std::uint32_t>(
      std::min<std::size_t>(first + kBlock, snapshot.num_slots()));
  block.size = 0;
  for (std::uint32_t slot = first; slot < last; ++slot) {
    if (snapshot.IsSeen(slot)) block.slots[block.size++] = slot;
  }
}

// A block with gaps: slots that are not seen are not read, since the writer may
// be filling them.
void ScoreSeenSlots(const DocumentCatalog::Snapshot& snapshot, int dim,
                    const ScanQuery& query, Block& block) {
  std::array<const float*, kBlock> rows;
  for (std::size_t i = 0; i < block.size; ++i) {
    rows[i] = snapshot.vector(block.slots[i]);
  }
  ScoreDocuments(query.row, std::span(rows).first(block.size), dim,
                 std::span(block.scores).first(block.size));
}

void AddToBest(const DocumentCatalog::Snapshot& snapshot,
               const ScanQuery& query, std::uint32_t slot, float score,
               TopDocuments& best) {
  if (score < best.least_score()) return;
  if (query.excluded_slots.contains(slot)) return;
  best.Add(snapshot, {slot, score});
}

void ScanBlock(const DocumentCatalog::Snapshot& snapshot, int dim,
               const ScanQuery& query, std::uint32_t first, Block& block,
               TopDocuments& best) {
  if (snapshot.IsWholeBlockSeen(first / kBlock)) {
    ScoreFarMatrix(query.row, snapshot.vector(first), dim, block.scores);
    // Nearly always none has a place; said of all at once that costs little.
    const float least = best.least_score();
    bool any = false;
    for (const float score : block.scores) any |= score >= least;
    if (!any) return;
    for (std::uint32_t i = 0; i < kBlock; ++i) {
      AddToBest(snapshot, query, first + i, block.scores[i], best);
    }
    return;
  }
  AddSeenSlots(snapshot, first, block);
  ScoreSeenSlots(snapshot, dim, query, block);
  for (std::size_t i = 0; i < block.size; ++i) {
    AddToBest(snapshot, query, block.slots[i], block.scores[i], best);
  }
}

// With a sparse part, for which the titles are read.
void ScanBlockWithWords(const DocumentCatalog::Snapshot& snapshot,
                        const TwoTowerModel& model, const ScanQuery& query,
                        std::uint32_t first, TextBatch& titles, Block& block,
                        TopDocuments& best) {
  AddSeenSlots(snapshot, first, block);
  titles.Clear();
  for (std::size_t i = 0; i < block.size; ++i) {
    // The catalog takes only UTF-8.
    const std::string_view title = snapshot.record(block.slots[i]).title();
    if (!titles.Add(title).ok()) titles.AddNormalized("");
  }
  block.scores.fill(0);
  if (model.embedding_dim() > 0) {
    ScoreSeenSlots(snapshot, model.embedding_dim(), query, block);
  }
  AddSparseScores(model, query.text, titles,
                  std::span(block.scores).first(block.size));
  for (std::size_t i = 0; i < block.size; ++i) {
    AddToBest(snapshot, query, block.slots[i], block.scores[i], best);
  }
}

}  // namespace

void ScanCatalog(const DocumentCatalog::Snapshot& snapshot,
                 const ScanQuery& query, std::size_t first, std::size_t last,
                 TopDocuments& best) {
  const ServedModelPtr served = snapshot.model();
  if (served == nullptr) return;
  const TwoTowerModel& model = *served->model;
  const bool words = model.sparse_scorer() != nullptr;
  TextBatch titles;
  Block block;
  const std::size_t end = std::min(last, snapshot.num_slots());
  for (std::size_t slot = first; slot < end; slot += kBlock) {
    const auto begin = static_cast<std::uint32_t>(slot);
    if (words) {
      ScanBlockWithWords(snapshot, model, query, begin, titles, block, best);
    } else {
      ScanBlock(snapshot, model.embedding_dim(), query, begin, block, best);
    }
  }
}

}  // namespace semrank
