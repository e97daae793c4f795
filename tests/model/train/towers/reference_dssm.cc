#include "tests/model/train/towers/reference_dssm.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <span>

namespace semrank {
namespace {

BagBatch Bags(const TextBags& bags, std::span<const std::uint32_t> ids) {
  BagBatch batch;
  if (!bags.Layout(ids, batch).ok()) std::abort();
  bags.Fill(ids, 0, static_cast<int>(ids.size()), batch);
  return batch;
}

// l_t of CLSM eq. 1 for each word; row f * window + p is feature f at place p.
// With window 0 one bag, x of DSSM eq. 3. Nothing without known features.
std::vector<std::vector<double>> Windows(const TextBags& bags, TextId id,
                                         int window, int rows) {
  const int places = std::max(1, window);
  std::vector<std::uint32_t> ids = {id};
  if (window > 0) {
    ids.assign(window / 2, TextBags::kPadding);
    ids.insert(ids.end(), bags.words(id).begin(), bags.words(id).end());
    ids.insert(ids.end(), window / 2, TextBags::kPadding);
  }
  const BagBatch batch = Bags(bags, ids);
  std::vector<std::vector<double>> windows;
  bool known = false;
  for (int t = 0; t + places <= batch.num_texts(); ++t) {
    known = known || !batch.empty(t + places / 2);
    std::vector<double>& row = windows.emplace_back(rows);
    for (int p = 0; p < places; ++p) {
      for (auto k = batch.offsets[t + p]; k < batch.offsets[t + p + 1]; ++k) {
        row[batch.indices[k] * places + p] = batch.counts[k];
      }
    }
  }
  if (!known) windows.clear();
  return windows;
}

std::vector<double> Product(const ReferenceTower::Layer& layer,
                            const std::vector<double>& x) {
  std::vector<double> y = layer.bias;
  for (int i = 0; i < layer.in; ++i) {
    for (int j = 0; j < layer.out; ++j) {
      y[j] += x[i] * layer.weight[static_cast<std::size_t>(i) * layer.out + j];
    }
  }
  return y;
}

double Cosine(const std::vector<double>& a, const std::vector<double>& b) {
  double ab = 0, aa = 0, bb = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    ab += a[i] * b[i];
    aa += a[i] * a[i];
    bb += b[i] * b[i];
  }
  return aa == 0 || bb == 0 ? 0 : ab / std::sqrt(aa * bb);
}

// The largest output over all windows, and who has it (CLSM 3.4, eq. 15).
std::vector<double> Pool(const ReferenceTower::Layer& layer,
                         ReferenceText& text) {
  std::vector<double> y(layer.out, -std::numeric_limits<double>::infinity());
  text.winners.resize(layer.out);
  for (std::size_t t = 0; t < text.windows.size(); ++t) {
    const std::vector<double> z = Product(layer, text.windows[t]);
    for (int i = 0; i < layer.out; ++i) {
      if (z[i] <= y[i]) continue;
      y[i] = z[i];
      text.winners[i] = static_cast<int>(t);
    }
  }
  return y;
}

}  // namespace

ReferenceText Forward(const ReferenceTower& tower, const TextBags& bags,
                      TextId id, int window, bool tanh_output,
                      const UnitFactors& factors) {
  ReferenceText text;
  text.windows = Windows(bags, id, window, tower.layers.front().in);
  if (text.windows.empty()) {
    text.outputs.emplace_back(tower.layers.back().out);
    return text;
  }
  for (std::size_t l = 0; l < tower.layers.size(); ++l) {
    const ReferenceTower::Layer& layer = tower.layers[l];
    std::vector<double>& y = text.outputs.emplace_back();
    if (l > 0) {
      y = Product(layer, text.outputs[l - 1]);
    } else {
      y = Pool(layer, text);
    }
    if (l + 1 < tower.layers.size() || tanh_output) {
      for (double& value : y) value = std::tanh(value);
    }
    if (factors && l + 1 < tower.layers.size()) {
      const std::vector<double> of_layer =
          factors(static_cast<int>(l), layer.out);
      for (int i = 0; i < layer.out; ++i) y[i] *= of_layer[i];
    }
  }
  return text;
}

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
  UnitFactors factors;
  if (dropout) {
    factors = [&](int layer, int width) {
      return dropout({place, layer}, width);
    };
  }
  return Forward(tower, bags, id, window, tanh_output, factors).outputs.back();
}

// Places in batch.titles.
std::vector<std::uint32_t> ReferenceDssm::NegativesOf(const MiniBatch& batch,
                                                      int i) const {
  std::vector<std::uint32_t> places;
  std::set<TextId> in_batch;
  for (int k = 0; batch.all_titles && k < batch.num_pairs(); ++k) {
    if (clicked.contains({batch.queries[i], batch.titles[k]})) continue;
    in_batch.insert(batch.titles[k]);
    places.push_back(k);
  }
  const BagBatch& lists = batch.candidates;
  if (lists.num_texts() == 0) return places;
  // A list that stands alone begins with the clicked title.
  const std::uint32_t first = lists.offsets[i] + (batch.all_titles ? 0 : 1);
  for (std::uint32_t c = first; c < lists.offsets[i + 1]; ++c) {
    const std::uint32_t place = lists.indices[c];
    if (!in_batch.contains(batch.titles[place])) places.push_back(place);
  }
  return places;
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
    const auto term = [&](std::uint32_t k) {
      const auto n = log_frequency.find(batch.titles[k]);
      const double lowered = n == log_frequency.end() ? 0 : logq * n->second;
      return std::exp(gamma * Cosine(queries[i], titles[k]) - lowered);
    };
    const double positive = term(i);
    double total = positive;
    for (const std::uint32_t k : NegativesOf(batch, i)) total += term(k);
    const double weight = batch.weights.empty() ? 1 : batch.weights[i];
    sum -= weight * std::log(positive / total);
    total_weight += weight;
  }
  return sum / total_weight;
}

}  // namespace semrank
