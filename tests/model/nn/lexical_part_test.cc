#include "model/nn/lexical_part.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "model/nn/lexical_query.h"
#include "model/text/normalizer.h"
#include "tests/support/status_matchers.h"

namespace semrank {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class LexicalPartTest : public ::testing::Test {
 protected:
  LexicalPartTest() : idf_(kMaxLexicalBuckets) {
    std::mt19937 random(7);
    std::uniform_real_distribution<float> uniform(0.5f, 12.0f);
    for (float& value : idf_) value = uniform(random);
    part_ = *LexicalPart::Create({.idf = idf_.data(), .weight = 0.25}, nullptr);
  }

  // The vector as FORMAT.md defines it, before rounding.
  std::map<std::uint32_t, double> Reference(const std::string& text) const {
    std::map<std::uint32_t, double> values;
    std::vector<std::uint32_t> buckets;
    part_->ngrams().AppendIndices(text, buckets);
    for (const std::uint32_t bucket : buckets) values[bucket] += 1;
    double squares = 0;
    for (auto& [bucket, value] : values) {
      value = std::log2(1 + value) * idf_[bucket];
      squares += value * value;
    }
    for (auto& [bucket, value] : values) value /= std::sqrt(squares);
    return values;
  }

  double ReferenceCosine(const std::string& a, const std::string& b) const {
    const auto other = Reference(b);
    double sum = 0;
    for (const auto& [bucket, value] : Reference(a)) {
      if (other.contains(bucket)) sum += value * other.at(bucket);
    }
    return sum;
  }

  LexicalBatch Entries(const std::vector<std::string>& texts) const {
    LexicalBatch batch;
    for (const std::string& text : texts) part_->AppendText(text, batch);
    return batch;
  }

  float Cosine(const std::string& a, const std::string& b) const {
    const LexicalBatch batch = Entries({a, b});
    LexicalQuery query;
    query.Prepare(batch[0]);
    return query.Cosine(batch[1]);
  }

  std::vector<float> idf_;
  std::unique_ptr<LexicalPart> part_;
};

const std::vector<std::string> kTexts = {"vim",
                                         "vi improved enhanced vi editor",
                                         "editor editor editor",
                                         "größe der straße",
                                         "a b c",
                                         "banana bandana",
                                         "7zip archive tool"};

TEST_F(LexicalPartTest, EntriesFollowTheDefinition) {
  for (const std::string& text : kTexts) {
    const auto want = Reference(text);
    const LexicalBatch batch = Entries({text});
    ASSERT_EQ(batch.entries.size(), want.size()) << text;
    for (const LexicalEntry& entry : batch.entries) {
      // Half a unit of rounding, and single precision.
      EXPECT_NEAR(entry.value, want.at(entry.bucket) * kLexicalScale, 0.51)
          << text;
    }
    EXPECT_TRUE(
        std::ranges::is_sorted(batch.entries, {}, &LexicalEntry::bucket));
  }
}

TEST_F(LexicalPartTest, CosinesFollowTheDefinition) {
  for (const std::string& a : kTexts) {
    for (const std::string& b : kTexts) {
      // Half a unit of 1 / 32767 an entry, of at most 30.
      EXPECT_NEAR(Cosine(a, b), ReferenceCosine(a, b), 30 * 0.5 / kLexicalScale)
          << a << " / " << b;
    }
  }
}

TEST_F(LexicalPartTest, ATextWithoutWordsHasNoEntryAndCosineZero) {
  EXPECT_THAT(Entries({""}).entries, IsEmpty());
  EXPECT_EQ(Cosine("", "vim"), 0.0f);
  EXPECT_EQ(Cosine("vim", ""), 0.0f);
}

TEST_F(LexicalPartTest, BucketsWithoutIdfAreOmitted) {
  std::ranges::fill(idf_, 0.0f);
  EXPECT_THAT(Entries({"vim"}).entries, IsEmpty());
}

TEST_F(LexicalPartTest, ATextIsTheSameAloneAndInABatch) {
  const LexicalBatch batch = Entries(kTexts);
  ASSERT_EQ(batch.num_texts(), static_cast<int>(kTexts.size()));
  for (std::size_t i = 0; i < kTexts.size(); ++i) {
    const LexicalBatch alone = Entries({kTexts[i]});
    EXPECT_TRUE(std::ranges::equal(alone.entries, batch[static_cast<int>(i)]));
  }
}

TEST_F(LexicalPartTest, TheCosineIsTheSameBothWaysAndAtMostOne) {
  for (const std::string& a : kTexts) {
    EXPECT_NEAR(Cosine(a, a), 1, 1e-3);
    for (const std::string& b : kTexts) {
      EXPECT_EQ(Cosine(a, b), Cosine(b, a));
      EXPECT_LE(Cosine(a, b), 1);
    }
  }
}

TEST_F(LexicalPartTest, PrepareReplacesTheQuery) {
  const LexicalBatch batch = Entries(kTexts);
  LexicalQuery reused;
  for (int i = 0; i < batch.num_texts(); ++i) {
    reused.Prepare(batch[i]);
    LexicalQuery fresh;
    fresh.Prepare(batch[i]);
    for (int j = 0; j < batch.num_texts(); ++j) {
      EXPECT_EQ(reused.Cosine(batch[j]), fresh.Cosine(batch[j]));
    }
  }
}

// Buckets that share the low 12, 13, 14 and 15 bits among them, then few, then
// all that there are.
TEST(LexicalQueryTest, FindsTheValuesOfItsBucketsAndNoOthers) {
  std::vector<LexicalEntry> all(kMaxLexicalBuckets);
  for (int i = 0; i < kMaxLexicalBuckets; ++i) {
    all[i] = {static_cast<std::uint16_t>(i),
              static_cast<std::uint16_t>(1 + i % kLexicalScale)};
  }
  const std::vector<std::vector<LexicalEntry>> queries = {{{7, 1}, {4103, 2}},
                                                          {{7, 1}, {8199, 2}},
                                                          {{7, 1}, {16391, 2}},
                                                          {{7, 1}, {32775, 2}},
                                                          {{0, 5}, {65535, 6}},
                                                          all,
                                                          {{7, 3}},
                                                          {}};
  LexicalQuery query;
  for (const std::vector<LexicalEntry>& entries : queries) {
    query.Prepare(entries);
    std::vector<std::uint32_t> want(kMaxLexicalBuckets);
    for (const LexicalEntry& entry : entries) want[entry.bucket] = entry.value;
    for (int i = 0; i < kMaxLexicalBuckets; ++i) {
      ASSERT_EQ(query.value(static_cast<std::uint16_t>(i)), want[i])
          << entries.size() << " entries, bucket " << i;
    }
  }
}

// Short queries and long ones, documents of every size.
TEST(LexicalQueryTest, CosinesAreSumsOfProductsForTextsOfEverySize) {
  std::mt19937 random(3);
  const auto make = [&](std::size_t size) {
    std::map<std::uint16_t, std::uint16_t> values;
    // Few buckets, so that many are common; with the lowest and the highest.
    while (values.size() < size) {
      const auto bucket = static_cast<std::uint16_t>(random() % 100 - 20);
      values[bucket] = static_cast<std::uint16_t>(1 + random() % 3'000);
    }
    std::vector<LexicalEntry> entries;
    for (const auto& [bucket, value] : values)
      entries.push_back({bucket, value});
    return entries;
  };
  for (std::size_t query_size = 0; query_size < 40; ++query_size) {
    const std::vector<LexicalEntry> query = make(query_size);
    LexicalQuery prepared;
    prepared.Prepare(query);
    for (std::size_t size = 0; size < 90; ++size) {
      std::uint64_t sum = 0;
      const std::vector<LexicalEntry> document = make(size);
      for (const LexicalEntry& a : query) {
        for (const LexicalEntry& b : document) {
          if (a.bucket == b.bucket) sum += std::uint64_t{a.value} * b.value;
        }
      }
      ASSERT_EQ(prepared.Cosine(document), LexicalCosine(sum))
          << query_size << " and " << size << " entries";
    }
  }
}

TEST_F(LexicalPartTest, CombinesBothCosinesByTheWeight) {
  EXPECT_FLOAT_EQ(part_->Combine(ModelParts::kBoth, 0.8f, 0.4f),
                  0.75f * 0.8f + 0.25f * 0.4f);
  EXPECT_FLOAT_EQ(part_->Combine(ModelParts::kBoth, -1, 0), -0.75f);
  EXPECT_EQ(part_->Combine(ModelParts::kSemantic, 0.8f, 0.4f), 0.8f);
  EXPECT_EQ(part_->Combine(ModelParts::kLexical, 0.8f, 0.4f), 0.4f);
}

TEST_F(LexicalPartTest, NoScoreIsAboveItsBound) {
  std::mt19937 random(1);
  std::uniform_real_distribution<float> uniform(-1, 1);
  for (const ModelParts parts : {ModelParts::kBoth, ModelParts::kLexical}) {
    for (int i = 0; i < 10'000; ++i) {
      // Dense scores of all magnitudes, sums up to the highest.
      const float semantic = std::ldexp(uniform(random), i % 30 - 20);
      const std::uint32_t sum =
          kLexicalScale * kLexicalScale - random() % (1u << i % 30);
      float bound = 0;
      part_->Bound(parts, {&semantic, 1}, {&sum, 1}, &bound);
      const float score = part_->Combine(parts, semantic, LexicalCosine(sum));
      ASSERT_GE(bound, score) << semantic << " " << sum;
      ASSERT_LE(bound, score + 4e-6f * (1 + std::abs(semantic)));
    }
  }
}

TEST_F(LexicalPartTest, TheBoundOfNanIsNan) {
  const float semantic = std::nanf("");
  const std::uint32_t sum = 1;
  float bound = 0;
  part_->Bound(ModelParts::kBoth, {&semantic, 1}, {&sum, 1}, &bound);
  EXPECT_TRUE(std::isnan(bound));
}

TEST(LexicalIdfTest, RareBucketsWeighMoreAndUnseenOnesMost) {
  EXPECT_NEAR(LexicalIdf(9, 4), std::log(1 + 5.5 / 4.5), 1e-6);
  EXPECT_GT(LexicalIdf(9, 0), LexicalIdf(9, 1));
  EXPECT_GT(LexicalIdf(9, 9), 0);
}

TEST_F(LexicalPartTest, RefusesOptionsThatItCannotCompute) {
  const auto create = [&](LexicalOptions options) {
    return LexicalPart::Create(options, nullptr).status();
  };
  const float* const idf = idf_.data();
  EXPECT_THAT(create({.idf = idf, .weight = 1}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("is 1")));
  EXPECT_THAT(create({.idf = idf, .weight = NAN}),
              StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(create({.num_buckets = 65537, .idf = idf}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("65537")));
  EXPECT_THAT(create({.ngram_length = 0, .idf = idf}),
              StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(create({.weight = 0.5}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("idf")));
}

}  // namespace
}  // namespace semrank
