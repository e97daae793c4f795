#include "tests/model/train/reference_dssm.h"

#include <cmath>
#include <cstdlib>

namespace semrank {
namespace {

double Cosine(const std::vector<double>& a, const std::vector<double>& b) {
  double ab = 0, aa = 0, bb = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    ab += a[i] * b[i];
    aa += a[i] * a[i];
    bb += b[i] * b[i];
  }
  return aa == 0 || bb == 0 ? 0 : ab / std::sqrt(aa * bb);
}

// Places in batch.titles of the negatives of pair i.
std::vector<std::uint32_t> NegativesOf(const MiniBatch& batch, int i) {
  std::vector<std::uint32_t> places;
  if (!batch.all_titles) {
    const BagBatch& lists = batch.candidates;
    places.assign(lists.indices.begin() + lists.offsets[i] + 1,
                  lists.indices.begin() + lists.offsets[i + 1]);
    return places;
  }
  for (int k = 0; k < batch.num_pairs(); ++k) {
    if (batch.titles[k] != batch.titles[i] &&
        batch.queries[k] != batch.queries[i]) {
      places.push_back(k);
    }
  }
  if (batch.candidates.num_texts() > 0) {
    const BagBatch& lists = batch.candidates;
    places.insert(places.end(), lists.indices.begin() + lists.offsets[i],
                  lists.indices.begin() + lists.offsets[i + 1]);
  }
  return places;
}

}  // namespace

ReferenceTower ToReference(const TowerWeights& tower) {
  ReferenceTower reference;
  for (const LayerWeights& layer : tower.layers) {
    reference.layers.push_back({layer.in,
                                layer.out,
                                {layer.weight.begin(), layer.weight.end()},
                                {layer.bias.begin(), layer.bias.end()}});
  }
  return reference;
}

std::vector<double> ReferenceDssm::Embed(const ReferenceTower& tower,
                                         const TextBags& bags, TextId id,
                                         std::uint32_t place) const {
  BagBatch bag;
  const std::vector<TextId> ids = {id};
  if (!bags.Layout(ids, bag).ok()) std::abort();
  bags.Fill(ids, 0, 1, bag);
  if (bag.indices.empty()) {
    return std::vector<double>(tower.layers.back().out);
  }
  std::vector<double> x(tower.layers.front().in);
  for (std::size_t i = 0; i < bag.indices.size(); ++i) {
    x[bag.indices[i]] = bag.counts[i];
  }
  for (std::size_t l = 0; l < tower.layers.size(); ++l) {
    const ReferenceTower::Layer& layer = tower.layers[l];
    std::vector<double> y = layer.bias;
    for (int i = 0; i < layer.in; ++i) {
      for (int j = 0; j < layer.out; ++j) {
        y[j] +=
            x[i] * layer.weight[static_cast<std::size_t>(i) * layer.out + j];
      }
    }
    if (l + 1 < tower.layers.size() || tanh_output) {
      for (double& value : y) value = std::tanh(value);
    }
    if (dropout && l + 1 < tower.layers.size()) {
      const auto factors = dropout({place, static_cast<int>(l)}, layer.out);
      for (int j = 0; j < layer.out; ++j) y[j] *= factors[j];
    }
    x = y;
  }
  return x;
}

double ReferenceDssm::Loss(const TextBags& bags, const MiniBatch& batch) const {
  const ReferenceTower& title_tower =
      document.layers.empty() ? query : document;
  std::vector<std::vector<double>> queries, titles;
  std::uint32_t place = 0;
  for (const TextId id : batch.queries) {
    queries.push_back(Embed(query, bags, id, place++));
  }
  for (const TextId id : batch.titles) {
    titles.push_back(Embed(title_tower, bags, id, place++));
  }
  double sum = 0, total_weight = 0;
  for (int i = 0; i < batch.num_pairs(); ++i) {
    const double positive = std::exp(gamma * Cosine(queries[i], titles[i]));
    double total = positive;
    for (const std::uint32_t k : NegativesOf(batch, i)) {
      total += std::exp(gamma * Cosine(queries[i], titles[k]));
    }
    const double weight = batch.weights.empty() ? 1 : batch.weights[i];
    sum -= weight * std::log(positive / total);
    total_weight += weight;
  }
  return sum / total_weight;
}

}  // namespace semrank
