#include "model/train/ssi/ssi_weights.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "model/base/random.h"
#include "model/format/model_config.h"
#include "model/train/options/ssi_options.h"

namespace semrank {
namespace {

// Marsaglia's polar method gives two numbers at a time.
HugePageVector<float> NormalValues(std::size_t count, double deviation,
                                   Random random) {
  HugePageVector<float> values;
  values.reserve(count + 1);
  while (values.size() < count) {
    const double x = random.Between(-1, 1);
    const double y = random.Between(-1, 1);
    const double square = x * x + y * y;
    // A point inside the unit circle, other than 0, whose logarithm is
    // infinite.
    if (square >= 1 || square == 0) continue;
    const double factor = deviation * std::sqrt(-2 * std::log(square) / square);
    values.push_back(static_cast<float>(x * factor));
    values.push_back(static_cast<float>(y * factor));
  }
  values.resize(count);
  return values;
}

LayerWeights InitialTable(const TrainOptions& options, int num_rows,
                          RandomPurpose purpose) {
  const int dim = options.tower.embedding_dim;
  return {.in = num_rows,
          .out = dim,
          .weight = NormalValues(static_cast<std::size_t>(num_rows) * dim,
                                 options.ssi.init_scale,
                                 Random(options.seed, purpose)),
          .bias = {}};
}

std::vector<float> InitialWordWeights(const v1::SsiSpec& spec, int num_words) {
  // W begins as I, so that before the first step a score is the cosine of
  // TF-IDF.
  const auto size = static_cast<std::size_t>(num_words);
  if (spec.variant() == v1::SSI_VARIANT_DIAGONAL) {
    return std::vector<float>(size, 1.0f);
  }
  if (HasSsiVectors(spec.variant())) return {};
  // I is beside the hashed weights, not in them.
  if (spec.pair_hash_buckets() > 0) {
    return std::vector<float>(spec.pair_hash_buckets());
  }
  std::vector<float> matrix(size * size);
  for (std::size_t w = 0; w < size; ++w) matrix[w * size + w] = 1;
  return matrix;
}

// The words of one document after another.
class DocumentReader {
 public:
  explicit DocumentReader(const TextBags& bags) : bags_(bags) {}

  // Words in ascending order; valid until the next call.
  std::span<const std::uint32_t> Words(TextId document) {
    // Layout fails only for more than 2^32 words, which no text has.
    if (!bags_.Layout(std::span(&document, 1), bag_).ok()) return {};
    bags_.Fill(std::span(&document, 1), 0, 1, bag_);
    return bag_.indices;
  }

 private:
  const TextBags& bags_;
  BagBatch bag_;
};

std::vector<std::int64_t> DocumentFrequencies(const TextBags& bags,
                                              std::span<const TextId> documents,
                                              int num_words) {
  std::vector<std::int64_t> counts(static_cast<std::size_t>(num_words));
  DocumentReader reader(bags);
  for (const TextId document : documents) {
    for (const std::uint32_t word : reader.Words(document)) ++counts[word];
  }
  return counts;
}

// The documents of each word from `first` on; the list of word first + i begins
// at offsets[i].
struct DocumentLists {
  std::vector<std::size_t> offsets = {0};
  std::vector<TextId> documents;

  std::span<const TextId> Of(std::size_t i) const {
    return std::span(documents).subspan(offsets[i],
                                        offsets[i + 1] - offsets[i]);
  }
};

DocumentLists ListDocuments(const TextBags& bags,
                            std::span<const TextId> documents,
                            std::span<const std::int64_t> frequencies,
                            std::uint32_t first) {
  DocumentLists lists;
  for (const std::int64_t frequency : frequencies.subspan(first)) {
    lists.offsets.push_back(lists.offsets.back() +
                            static_cast<std::size_t>(frequency));
  }
  lists.documents.resize(lists.offsets.back());
  // The next free place of each list: a counting sort of the documents by word.
  std::vector<std::size_t> places = lists.offsets;
  DocumentReader reader(bags);
  for (const TextId document : documents) {
    for (const std::uint32_t word : reader.Words(document)) {
      if (word < first) continue;
      lists.documents[places[word - first]++] = document;
    }
  }
  return lists;
}

struct Correlation {
  double dice;
  std::uint32_t word;
};

// Counts the frequent words beside one word after another.
class CompanionCounter {
 public:
  // The arguments outlive the counter.
  CompanionCounter(const TextBags& bags,
                   std::span<const std::int64_t> frequencies,
                   std::uint32_t num_frequent)
      : reader_(bags), frequencies_(frequencies), together_(num_frequent) {}

  // Returns the companions of word `of`, which `documents` have: itself if it
  // is frequent, then the highest DICE first, and of equal ones the lower
  // number, which is more frequent.
  const std::vector<Correlation>& Rank(std::uint32_t of,
                                       std::span<const TextId> documents) {
    Count(documents);
    const auto frequency = std::ssize(documents);
    found_.clear();
    if (of < together_.size()) found_.push_back({1, of});
    const auto num_own = static_cast<std::ptrdiff_t>(found_.size());
    for (const std::uint32_t word : companions_) {
      const std::int64_t together = std::exchange(together_[word], 0);
      if (word == of) continue;
      // DICE(i, j) = 2 n(i and j) / (n(i) + n(j)) (SSI 2.2.1).
      found_.push_back({2.0 * static_cast<double>(together) /
                            static_cast<double>(frequency + frequencies_[word]),
                        word});
    }
    std::sort(found_.begin() + num_own, found_.end(),
              [](const Correlation& a, const Correlation& b) {
                return a.dice != b.dice ? a.dice > b.dice : a.word < b.word;
              });
    return found_;
  }

 private:
  void Count(std::span<const TextId> documents) {
    companions_.clear();
    for (const TextId document : documents) {
      for (const std::uint32_t word : reader_.Words(document)) {
        // Words are in ascending order, and the frequent ones have the lowest
        // numbers.
        if (word >= together_.size()) break;
        if (together_[word]++ == 0) companions_.push_back(word);
      }
    }
  }

  DocumentReader reader_;
  std::span<const std::int64_t> frequencies_;
  std::vector<std::int64_t> together_;     // by frequent word; 0 between calls
  std::vector<std::uint32_t> companions_;  // those that are not 0
  std::vector<Correlation> found_;
};

}  // namespace

std::vector<float> InverseDocumentFrequencies(const TextBags& bags,
                                              std::span<const TextId> documents,
                                              int num_words) {
  std::vector<float> idf;
  for (const std::int64_t count :
       DocumentFrequencies(bags, documents, num_words)) {
    // With 1 added on both sides, a word of no document, which queries may
    // have, gets the largest idf, and no idf is 0 or infinite.
    idf.push_back(static_cast<float>(
        std::log((static_cast<double>(documents.size()) + 1) /
                 (static_cast<double>(count) + 1)) +
        1));
  }
  return idf;
}

std::vector<float> CorrelatedWords(const TextBags& bags,
                                   std::span<const TextId> documents,
                                   const CorrelationOptions& options) {
  const std::vector<std::int64_t> frequencies =
      DocumentFrequencies(bags, documents, options.num_words);
  const auto first = static_cast<std::uint32_t>(
      options.of_all_words ? 0 : options.num_frequent);
  // One row of counts is enough when each word goes through the documents that
  // have it; a matrix of all by all frequent words would not fit.
  const DocumentLists lists =
      ListDocuments(bags, documents, frequencies, first);
  CompanionCounter counter(bags, frequencies,
                           static_cast<std::uint32_t>(options.num_frequent));
  const auto top_k = static_cast<std::size_t>(options.top_k);
  std::vector<float> correlated;
  for (std::size_t word = first; word < frequencies.size(); ++word) {
    const std::vector<Correlation>& found =
        counter.Rank(static_cast<std::uint32_t>(word), lists.Of(word - first));
    for (std::size_t p = 0; p < top_k; ++p) {
      // The file has k words for each; -1 stands for one that is not there.
      correlated.push_back(p < found.size() ? static_cast<float>(found[p].word)
                                            : -1.0f);
    }
  }
  return correlated;
}

SsiRows SsiWeights::Rows() const {
  return {.num_words = num_words,
          .num_rows = query.in,
          .top_k = static_cast<int>(spec.correlated_top_k()),
          .correlated = correlated.empty() ? nullptr : correlated.data(),
          .same_rank = PairsSameRank(spec),
          .mixing = mixing.empty() ? nullptr : mixing.data()};
}

SparseWeights SsiWeights::Sparse() const {
  SparseWeights sparse = {.num_words = num_words, .idf = idf.data()};
  if (words.empty()) return sparse;
  if (spec.variant() == v1::SSI_VARIANT_DIAGONAL) {
    sparse.diagonal = words.data();
  } else if (spec.pair_hash_buckets() > 0) {
    sparse.pair_weights = words.data();
    sparse.num_buckets = spec.pair_hash_buckets();
    sparse.adds_identity = spec.variant() != v1::SSI_VARIANT_FULL_NO_IDENTITY;
  } else {
    sparse.matrix = words.data();
  }
  return sparse;
}

std::vector<TensorView> SsiWeights::Tensors() const {
  std::vector<TensorView> tensors = {{kIdfTensor, {num_words}, idf.data()}};
  const auto top_k = static_cast<std::int64_t>(spec.correlated_top_k());
  if (!correlated.empty()) {
    tensors.push_back({kCorrelatedTensor,
                       {NumCorrelatedWords(spec, num_words), top_k},
                       correlated.data()});
  }
  for (const auto& [name, table] :
       {std::pair<const char*, const LayerWeights&>{"query.0.weight", query},
        {"document.0.weight", document}}) {
    // symmetric has U alone, diagonal and full have neither.
    if (table.in == 0) continue;
    tensors.push_back({name, {table.in, table.out}, table.weight.data()});
  }
  if (!mixing.empty()) tensors.push_back({kMixingTensor, {1}, mixing.data()});
  if (words.empty()) return tensors;
  std::vector<std::int64_t> shape = {std::ssize(words)};
  if (Sparse().matrix != nullptr) shape = {num_words, num_words};
  tensors.push_back({WordsTensor(), shape, words.data()});
  return tensors;
}

const char* SsiWeights::WordsTensor() const {
  if (spec.variant() == v1::SSI_VARIANT_DIAGONAL) return kDiagonalTensor;
  return spec.pair_hash_buckets() > 0 ? kPairWeightsTensor : kMatrixTensor;
}

SsiWeights InitialSsiWeights(const TrainOptions& options,
                             const TrainingData& data) {
  SsiWeights weights;
  weights.num_words = data.featurizer.num_features();
  weights.spec = DescribeSsi(options.ssi, weights.num_words);
  // MakeTrainer overwrites these statistics with those of --init_from: nothing
  // needs to be counted.
  const bool given = !options.initial_model.version_dir.empty();
  weights.idf = given ? std::vector<float>(weights.num_words)
                      : InverseDocumentFrequencies(data.bags, data.titles,
                                                   weights.num_words);
  // No listed word is rarer than one that is not listed.
  const auto num_unknown =
      static_cast<int>(weights.spec.unknown_word_buckets());
  const auto unknown_idf = weights.idf.end() - num_unknown;
  std::fill(unknown_idf, weights.idf.end(),
            *std::max_element(weights.idf.begin(), unknown_idf));
  weights.words = InitialWordWeights(weights.spec, weights.num_words);
  if (options.tower.embedding_dim == 0) return weights;
  const auto num_rows =
      static_cast<int>(NumSsiRows(weights.spec, weights.num_words));
  if (const auto top_k = static_cast<int>(weights.spec.correlated_top_k());
      top_k > 0) {
    weights.correlated =
        given ? std::vector<float>(static_cast<std::size_t>(NumCorrelatedWords(
                                       weights.spec, weights.num_words)) *
                                   top_k)
              : CorrelatedWords(data.bags, data.titles,
                                {.num_words = weights.num_words,
                                 .num_frequent = static_cast<int>(
                                     weights.spec.num_frequent_words()),
                                 .top_k = top_k,
                                 .of_all_words = PairsSameRank(weights.spec)});
    // Words share an index by chance, so it says nothing of them.
    if (!given) {
      std::fill_n(weights.correlated.rbegin(),
                  static_cast<std::size_t>(num_unknown) * top_k, -1.0f);
    }
  }
  // a = 1 / (1 + exp(-0)): both parts of the score begin with the same weight.
  if (weights.spec.mixes_parts()) weights.mixing = {0};
  // U and V have random streams of their own: U begins the same with or without
  // a V.
  weights.query = InitialTable(options, num_rows, RandomPurpose::kQueryWeights);
  if (options.tower.shared) return weights;
  weights.document =
      InitialTable(options, num_rows, RandomPurpose::kDocumentWeights);
  return weights;
}

}  // namespace semrank
