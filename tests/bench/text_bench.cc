// Turns titles into bags in one thread: normalise, cut into letter trigrams,
// count. Titles have about 48 bytes in several scripts. The plain way (a string
// per n-gram, std::unordered_map) runs beside it.
#include <benchmark/benchmark.h>
#include <utf8proc.h>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "model/text/featurizer.h"
#include "model/text/normalizer.h"
#include "model/text/vocabulary_builder.h"

namespace semrank {
namespace {

constexpr int kNumTitles = 10000;

// Words are drawn letter by letter. A letter that stands here more often is
// drawn more often, so that n-grams are about as many and as skewed as in real
// titles.
struct Script {
  const char* name;
  std::u32string letters;
  int mean_letters_a_word, words_a_title;
};

const std::vector<Script>& Scripts() {
  static const std::vector<Script> scripts = {
      {"ascii",
       U"eeeeeeeettttttaaaaaooooiiiinnnnsssshhhrrrdddlluucmmfwypvbgkjxT20", 6,
       7},
      {"latin",
       U"eeeeeeaaaaassssiiiittnnnrruulloodcmp\u00E9\u00E9\u00E8\u00E7\u00F1"
       U"\u00FC\u00C9vbfqg",
       6, 6},
      {"cyrillic",
       U"\u043E\u043E\u043E\u0435\u0435\u0430\u0430\u0438\u0438\u043D\u0442"
       U"\u0441\u0440\u0432\u043B\u043A\u043C\u0434\u043F\u0443\u042F\u044B"
       U"\u0417",
       6, 4},
      {"cjk",
       U"\u6771\u4EAC\u65E5\u672C\u4E2D\u56FD\u4EBA\u5927\u5B66\u751F\u30BF"
       U"\u30EF\u30A2\u30F3\u30C8\u30EB\u306E\u3057",
       4, 4},
      {"combining",
       U"eeeeeeaaaaassssiiiittnnnrruullood\u0301\u0301\u0308\u0327\uFB01", 6,
       6},
      {"hangul",
       U"\uD55C\uAD6D\uC5B4\uC11C\uC6B8\uC5ED\uC740\uB294\uC774\uAC00\uB9DB"
       U"\uC9D1\uCD94\uCC9C",
       3, 4}};
  return scripts;
}

std::string Encoded(char32_t code_point) {
  utf8proc_uint8_t bytes[4];
  const auto size =
      utf8proc_encode_char(static_cast<utf8proc_int32_t>(code_point), bytes);
  return std::string(reinterpret_cast<const char*>(bytes),
                     static_cast<std::size_t>(size));
}

std::vector<std::string> MakeTitles(const Script& script) {
  std::mt19937 random(7);
  std::vector<std::string> titles(kNumTitles);
  for (std::string& title : titles) {
    for (int word = 0; word < script.words_a_title; ++word) {
      if (word > 0) title += random() % 8 == 0 ? ", " : " ";
      const auto length = 1 + random() % (2 * script.mean_letters_a_word - 1);
      for (std::size_t i = 0; i < length; ++i) {
        title += Encoded(script.letters[random() % script.letters.size()]);
      }
    }
  }
  return titles;
}

struct Fixture {
  std::vector<std::string> titles, normalized;
  std::vector<std::string> ngrams;
  std::optional<Featurizer> featurizer;
};

const Fixture& FixtureOf(benchmark::State& state) {
  static std::map<std::int64_t, Fixture> fixtures;
  const Script& script = Scripts()[static_cast<std::size_t>(state.range(0))];
  state.SetLabel(script.name);
  Fixture& fixture = fixtures[state.range(0)];
  if (fixture.featurizer.has_value()) return fixture;
  fixture.titles = MakeTitles(script);
  VocabularyBuilder builder;
  for (const std::string& title : fixture.titles) {
    fixture.normalized.push_back(*NormalizeText(title));
    builder.AddText(fixture.normalized.back());
  }
  fixture.ngrams = builder.LetterNgrams(3, 0, 1);
  fixture.featurizer = *Featurizer::Create(
      *NgramVocabulary::FromList(3, fixture.ngrams), std::nullopt);
  return fixture;
}

void SetRates(benchmark::State& state, const std::vector<std::string>& titles) {
  std::size_t bytes = 0;
  for (const std::string& title : titles) bytes += title.size();
  state.SetItemsProcessed(state.iterations() * kNumTitles);
  state.SetBytesProcessed(state.iterations() *
                          static_cast<std::int64_t>(bytes));
}

void NormalizeTitles(benchmark::State& state, int version) {
  const Fixture& fixture = FixtureOf(state);
  std::string normalized;
  for (auto _ : state) {
    for (const std::string& title : fixture.titles) {
      benchmark::DoNotOptimize(NormalizeText(title, version, normalized).ok());
    }
  }
  SetRates(state, fixture.titles);
}

void BM_Normalize(benchmark::State& state) {
  NormalizeTitles(state, kNormalizerVersion);
}
BENCHMARK(BM_Normalize)->DenseRange(0, 5);

void BM_Normalize_Version1(benchmark::State& state) {
  NormalizeTitles(state, 1);
}
BENCHMARK(BM_Normalize_Version1)->DenseRange(0, 5);

// Measures look-ups alone, without sorting and counting.
void BM_AppendIndices(benchmark::State& state) {
  const Fixture& fixture = FixtureOf(state);
  std::vector<std::uint32_t> indices;
  for (auto _ : state) {
    for (const std::string& text : fixture.normalized) {
      indices.clear();
      fixture.featurizer->ngrams()->AppendIndices(text, indices);
      benchmark::DoNotOptimize(indices.data());
    }
  }
  SetRates(state, fixture.normalized);
}
BENCHMARK(BM_AppendIndices)->DenseRange(0, 5);

void BM_AppendBag(benchmark::State& state) {
  const Fixture& fixture = FixtureOf(state);
  BagBatch batch;
  for (auto _ : state) {
    batch.Clear();
    for (const std::string& text : fixture.normalized) {
      fixture.featurizer->AppendBag(text, batch);
    }
    benchmark::DoNotOptimize(batch.indices.data());
  }
  SetRates(state, fixture.normalized);
}
BENCHMARK(BM_AppendBag)->DenseRange(0, 5);

void BM_NormalizeAndBag(benchmark::State& state) {
  const Fixture& fixture = FixtureOf(state);
  BagBatch batch;
  std::string normalized;
  for (auto _ : state) {
    batch.Clear();
    for (const std::string& title : fixture.titles) {
      if (!NormalizeText(title, kNormalizerVersion, normalized).ok())
        std::abort();
      fixture.featurizer->AppendBag(normalized, batch);
    }
    benchmark::DoNotOptimize(batch.indices.data());
  }
  SetRates(state, fixture.titles);
}
BENCHMARK(BM_NormalizeAndBag)->DenseRange(0, 5);

// The plain way handles ASCII without apostrophes only.
class PlainFeaturizer {
 public:
  explicit PlainFeaturizer(const std::vector<std::string>& ngrams) {
    for (std::uint32_t i = 0; i < ngrams.size(); ++i) index_of_[ngrams[i]] = i;
  }

  std::map<std::uint32_t, float> Bag(const std::string& title) const {
    std::map<std::uint32_t, float> bag;
    std::string word = "#";
    for (const char c : title + " ") {
      if (std::isalnum(static_cast<unsigned char>(c))) {
        word += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
      } else {
        AddWord(word + "#", bag);
        word = "#";
      }
    }
    return bag;
  }

 private:
  void AddWord(const std::string& marked,
               std::map<std::uint32_t, float>& bag) const {
    for (std::size_t i = 0; i + 3 <= marked.size(); ++i) {
      const auto entry = index_of_.find(marked.substr(i, 3));
      if (entry != index_of_.end()) ++bag[entry->second];
    }
  }

  std::unordered_map<std::string, std::uint32_t> index_of_;
};

bool SameBags(const Fixture& fixture, const PlainFeaturizer& plain) {
  BagBatch batch;
  for (int i = 0; i < kNumTitles; ++i) {
    fixture.featurizer->AppendBag(fixture.normalized[i], batch);
    std::map<std::uint32_t, float> bag;
    for (std::uint32_t k = batch.offsets[i]; k < batch.offsets[i + 1]; ++k) {
      bag[batch.indices[k]] = batch.counts[k];
    }
    if (bag != plain.Bag(fixture.titles[i])) return false;
  }
  return true;
}

void BM_NormalizeAndBag_Plain(benchmark::State& state) {
  const Fixture& fixture = FixtureOf(state);
  const PlainFeaturizer plain(fixture.ngrams);
  if (!SameBags(fixture, plain)) state.SkipWithError("bags differ");
  for (auto _ : state) {
    for (const std::string& title : fixture.titles) {
      benchmark::DoNotOptimize(plain.Bag(title).size());
    }
  }
  SetRates(state, fixture.titles);
}
BENCHMARK(BM_NormalizeAndBag_Plain)->Arg(0);

}  // namespace
}  // namespace semrank
