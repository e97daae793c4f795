#include "model/train/data/report_data.h"

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "model/base/random.h"
#include "model/text/normalized_text.h"

namespace semrank {
namespace {

// Streams 0 and 1 of the purpose decide which queries are held out and halve
// them.
constexpr std::uint64_t kStream = 2;

// The clicked titles of at most kMaxHeldOutQueries queries.
std::map<TextId, std::set<TextId>> DrawQueries(
    std::span<const TextPair> held_out, Random& random) {
  std::vector<TextId> queries = DistinctQueries(held_out);
  Shuffle(random, queries);
  // The shuffle makes the first ones a random sample.
  if (queries.size() > kMaxHeldOutQueries) queries.resize(kMaxHeldOutQueries);
  std::map<TextId, std::set<TextId>> clicked;
  for (const TextId query : queries) clicked[query];
  for (const TextPair& pair : held_out) {
    const auto found = clicked.find(pair.query);
    if (found != clicked.end()) found->second.insert(pair.title);
  }
  return clicked;
}

// The clicked titles, and random others.
std::set<TextId> DrawTitles(const std::map<TextId, std::set<TextId>>& clicked,
                            std::span<const TextId> titles, Random& random) {
  std::set<TextId> drawn;
  for (const auto& [query, of_query] : clicked) {
    drawn.insert(of_query.begin(), of_query.end());
  }
  std::vector<TextId> others(titles.begin(), titles.end());
  Shuffle(random, others);
  for (const TextId title : others) {
    // Clicked titles are all there, whatever their number: without them NDCG
    // would measure the sample.
    if (drawn.size() >= kMaxHeldOutTitles) break;
    drawn.insert(title);
  }
  return drawn;
}

}  // namespace

void LengthHistogram::Add(std::string_view text) {
  // Normalised text has one blank between two words. Further words are other
  // spellings of the same ones.
  text = MainWords(text);
  const std::int64_t words =
      text.empty() ? 0 : std::count(text.begin(), text.end(), ' ') + 1;
  ++bins_[std::min<std::int64_t>(words, kMaxWords)];
  ++num_texts_;
  num_words_ += words;
}

double LengthHistogram::Share(int words) const {
  return num_texts_ == 0 ? 0
                         : static_cast<double>(bins_[words]) /
                               static_cast<double>(num_texts_);
}

double LengthHistogram::MeanWords() const {
  return num_texts_ == 0 ? 0
                         : static_cast<double>(num_words_) /
                               static_cast<double>(num_texts_);
}

std::shared_ptr<const Collection> MakeHeldOutCollection(
    const TextInterner& texts, std::span<const TextPair> held_out,
    std::span<const TextId> titles, std::uint64_t seed) {
  if (held_out.empty()) return nullptr;
  // One stream draws queries and titles, in this order.
  Random random(seed, RandomPurpose::kHeldOutQueries, kStream);
  const auto clicked = DrawQueries(held_out, random);
  auto collection = std::make_shared<Collection>();
  const std::set<TextId> drawn = DrawTitles(clicked, titles, random);
  std::vector<TextId> documents(drawn.begin(), drawn.end());
  // The id of a document is its title, so that documents are in a collection's
  // order.
  std::ranges::sort(documents, [&](TextId a, TextId b) {
    return texts.text(a) > texts.text(b);
  });
  absl::flat_hash_map<TextId, std::uint32_t> places;
  for (const TextId title : documents) {
    places[title] = static_cast<std::uint32_t>(collection->documents.size());
    collection->documents.push_back(texts.text(title));
    collection->document_ids.push_back(texts.text(title));
  }
  for (const auto& [query, of_query] : clicked) {
    JudgedQuery& judged = collection->queries.emplace_back();
    // A click log has no ids; its texts are distinct.
    judged.id = judged.text = texts.text(query);
    for (const TextId title : of_query) {
      judged.judgements.push_back({.document = places.at(title), .grade = 1});
    }
    std::ranges::sort(judged.judgements, {}, &Judgement::document);
  }
  return collection;
}

}  // namespace semrank
