// The command has four uses, each with its own function: PrintUnits, PrintPair,
// PrintContexts and PrintCorrelated. The flags that are given choose one
// (RunInspectCommand). The table rounds what JSON has in full.
#include "model/eval/inspect_command.h"

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>
#include <numeric>
#include <ostream>
#include <utility>

#include "absl/strings/str_format.h"
#include "model/base/file_io.h"
#include "model/base/status_macros.h"
#include "model/cli/command_line.h"
#include "model/cli/exit_code.h"
#include "model/data/input_lines.h"
#include "model/eval/vocabulary_command.h"
#include "model/eval/word_occurrences.h"
#include "model/format/model_bundle.h"
#include "model/html/svg_chart.h"
#include "model/nn/clsm_tower.h"
#include "model/text/normalizer.h"

namespace semrank {
namespace {

// A batch large enough for the matrix product to be fast.
constexpr std::size_t kWordsPerBatch = 1024;

// The four uses of the command exclude each other. Each message names the flag
// that is missing or too much for the use that the other flags show.
absl::Status CheckFlags(const InspectCommandOptions& options) {
  const bool has_context = !options.context_word.empty();
  const bool has_correlated = !options.correlated.empty();
  if (has_context && has_correlated) {
    return FlagError("context_word", options.context_word,
                     "excludes --correlated; each is a run of its own");
  }
  if ((has_context || has_correlated) && options.words.empty()) {
    return FlagError(
        "words", "",
        absl::StrFormat("needed by --%s: a file of texts",
                        has_context ? "context_word" : "correlated"));
  }
  if (options.model_dir.empty() && !has_correlated) {
    return FlagError("model_dir", "", "needed, but not given");
  }
  const bool has_pair = !options.query.empty() || !options.title.empty();
  if (options.words.empty() && !has_pair) {
    return FlagError("words", "", "needed, unless --query and --title are");
  }
  if (!options.words.empty() && has_pair) {
    return FlagError("words", options.words,
                     "excludes --query and --title; each is a run of its own");
  }
  if (!has_pair && !options.svg_out.empty()) {
    return FlagError("svg_out", options.svg_out,
                     "draws the units of --query and --title");
  }
  if (has_pair && (options.query.empty() || options.title.empty())) {
    return FlagError(options.query.empty() ? "query" : "title", "",
                     "needed, as the other one is given");
  }
  return absl::OkStatus();
}

// Row-major [words.size(), embedding_dim()].
std::vector<float> EmbedWords(const TwoTowerModel& model, Side side,
                              const std::vector<std::string>& words) {
  const std::vector<std::string_view> texts(words.begin(), words.end());
  std::vector<float> vectors(words.size() * model.embedding_dim());
  EmbedScratch scratch;
  for (std::size_t first = 0; first < texts.size(); first += kWordsPerBatch) {
    const std::size_t count = std::min(kWordsPerBatch, texts.size() - first);
    model.EmbedTexts(side, std::span(texts).subspan(first, count), scratch,
                     vectors.data() + first * model.embedding_dim());
  }
  return vectors;
}

// Appendix of the DSSM paper, table 7: each word is embedded as a text of its
// own, and each output unit lists the words with the highest activations.
void PrintUnits(const InspectCommandOptions& options,
                const TwoTowerModel& model,
                const std::vector<std::string>& words, std::ostream& out) {
  const std::vector<float> vectors = EmbedWords(model, options.side, words);
  const std::size_t dim = model.embedding_dim();
  // A file may have fewer words than are asked for.
  const std::size_t shown =
      std::min(words.size(), static_cast<std::size_t>(options.num_words));
  std::vector<std::size_t> order(words.size());
  for (std::size_t unit = 0; unit < dim; ++unit) {
    const auto activation = [&](std::size_t word) {
      return vectors[word * dim + unit];
    };
    std::iota(order.begin(), order.end(), std::size_t{0});
    // If activations are equal, the more frequent word, which is earlier in the
    // list, comes first.
    std::ranges::partial_sort(
        order, order.begin() + shown, {},
        [&](std::size_t word) { return std::pair(-activation(word), word); });
    nlohmann::ordered_json json{{"unit", unit},
                                {"words", nlohmann::ordered_json::array()}};
    std::string line = absl::StrFormat("%4d ", unit);
    for (std::size_t i = 0; i < shown; ++i) {
      const std::string& word = words[order[i]];
      json["words"].push_back(
          {{"word", word}, {"activation", activation(order[i])}});
      line += absl::StrFormat(" %s %.3f", word, activation(order[i]));
    }
    out << (options.output == OutputFormat::kJson ? json.dump() : line) << "\n";
  }
}

absl::StatusOr<const ClsmTower*> TowerOf(std::string_view flag,
                                         const std::string& value,
                                         const TwoTowerModel& model,
                                         Side side) {
  // Only a CLSM has a convolution, and words that win units (CLSM 3.4); a bag
  // has no order.
  const auto* tower = dynamic_cast<const ClsmTower*>(&model.tower(side));
  if (tower != nullptr) return tower;
  return FlagError(flag, value,
                   "the model has no max pooling: it is not a CLSM");
}

// The max-pooling units of one text and the words that won them.
struct PooledText {
  std::vector<std::string> words;
  std::vector<PooledUnit> units;
};

absl::StatusOr<PooledText> PoolOneText(std::string_view flag,
                                       const std::string& text,
                                       const TwoTowerModel& model, Side side) {
  SEMRANK_ASSIGN_OR_RETURN(const ClsmTower* const tower,
                           TowerOf(flag, text, model, side));
  SEMRANK_ASSIGN_OR_RETURN(const std::string normalized,
                           NormalizeText(text, model.normalizer_version()));
  PooledText pooled;
  ForEachWord(normalized,
              [&](std::string_view word) { pooled.words.emplace_back(word); });
  if (pooled.words.empty()) {
    return FlagError(flag, text, "has neither letters nor numbers");
  }
  // The model's own call gives vectors only; the winners of the pooling are
  // known to the tower.
  TowerInput input;
  TowerScratch scratch;
  tower->AppendText(model.featurizer(), normalized, input);
  pooled.units = tower->PoolText(input, 0, scratch);
  return pooled;
}

// Two activations below 0 have a product above 0, but neither is active.
bool ActiveInBoth(const PooledText& query, const PooledText& title,
                  std::size_t unit) {
  return query.units[unit].activation > 0 && title.units[unit].activation > 0;
}

// Figure 4 of the CLSM paper: all units that are active in both texts.
std::string PairFigure(const PooledText& query, const PooledText& title) {
  Chart chart{.title = "Units that are active in query and title",
              .x_label = "unit",
              .y_label = "activation",
              .series = {{.name = "query"}, {.name = "title"}}};
  for (std::size_t u = 0; u < query.units.size(); ++u) {
    if (!ActiveInBoth(query, title, u)) continue;
    const double unit = static_cast<double>(u);
    chart.series[0].points.push_back({unit, query.units[u].activation});
    chart.series[1].points.push_back({unit, title.units[u].activation});
  }
  return SvgFile(BarChart(chart));
}

// At most `count` units that are active in both texts, as figure 4 of the CLSM
// paper shows them, here ordered by the product of the two activations.
std::vector<std::size_t> BestUnits(const PooledText& query,
                                   const PooledText& title, int count) {
  std::vector<std::size_t> units;
  for (std::size_t u = 0; u < query.units.size(); ++u) {
    if (ActiveInBoth(query, title, u)) units.push_back(u);
  }
  // Equal products stay in the order of the units.
  std::ranges::stable_sort(units, std::greater<>(), [&](std::size_t u) {
    return query.units[u].activation * title.units[u].activation;
  });
  if (units.size() > static_cast<std::size_t>(count)) units.resize(count);
  return units;
}

absl::Status PrintPair(const InspectCommandOptions& options,
                       const TwoTowerModel& model, std::ostream& out) {
  SEMRANK_ASSIGN_OR_RETURN(
      const PooledText query,
      PoolOneText("query", options.query, model, Side::kQuery));
  SEMRANK_ASSIGN_OR_RETURN(
      const PooledText title,
      PoolOneText("title", options.title, model, Side::kDocument));
  // The figure shows all units, the list below only the best.
  if (!options.svg_out.empty()) {
    SEMRANK_RETURN_IF_ERROR(
        ReplaceFile(options.svg_out, PairFigure(query, title)));
  }
  const bool json = options.output == OutputFormat::kJson;
  if (!json) out << absl::StrFormat("%4s  %-24s title\n", "unit", "query");
  for (const std::size_t u : BestUnits(query, title, options.num_units)) {
    const PooledUnit& q = query.units[u];
    const PooledUnit& t = title.units[u];
    if (json) {
      out << nlohmann::ordered_json{{"unit", u},
                                    {"query_word", query.words[q.word]},
                                    {"query_activation", q.activation},
                                    {"title_word", title.words[t.word]},
                                    {"title_activation", t.activation}}
                 .dump()
          << "\n";
    } else {
      out << absl::StrFormat(
          "%4d  %-24s %s\n", u,
          absl::StrFormat("%s %.3f", query.words[q.word], q.activation),
          absl::StrFormat("%s %.3f", title.words[t.word], t.activation));
    }
  }
  return absl::OkStatus();
}

// A word of a flag as texts have it: without the further words that the
// normaliser adds to a text.
absl::StatusOr<std::string> OneWord(std::string_view flag,
                                    const std::string& given,
                                    int normalizer_version) {
  SEMRANK_ASSIGN_OR_RETURN(std::string word,
                           NormalizeText(given, normalizer_version));
  word.resize(MainWords(word).size());
  if (!word.empty() && word.find(' ') == std::string::npos) return word;
  return FlagError(flag, given, "is not one word");
}

absl::Status PrintContexts(const InspectCommandOptions& options,
                           const TwoTowerModel& model, std::ostream& out) {
  SEMRANK_ASSIGN_OR_RETURN(
      const ClsmTower* const tower,
      TowerOf("context_word", options.context_word, model, options.side));
  // The lines are normalised by the rules of the model, so the word must
  // be too.
  SEMRANK_ASSIGN_OR_RETURN(const std::string word,
                           OneWord("context_word", options.context_word,
                                   model.normalizer_version()));
  BadLines bad_lines(options.max_bad_lines);
  SEMRANK_ASSIGN_OR_RETURN(const std::vector<WordContext> contexts,
                           FindWordContexts(options.words, word, *tower,
                                            model.featurizer(), bad_lines));
  if (contexts.empty()) {
    return FlagError("context_word", options.context_word,
                     "is in no line of --words");
  }
  for (const WordContext& context : contexts) {
    if (options.output == OutputFormat::kJson) {
      out << nlohmann::ordered_json{{"context", context.window},
                                    {"cosine", context.cosine}}
                 .dump()
          << "\n";
    } else {
      out << absl::StrFormat("%7.3f  %s\n", context.cosine, context.window);
    }
  }
  return absl::OkStatus();
}

absl::Status PrintCorrelated(const InspectCommandOptions& options,
                             std::ostream& out) {
  std::vector<std::string> words;
  for (const std::string& given : options.correlated) {
    SEMRANK_ASSIGN_OR_RETURN(words.emplace_back(),
                             OneWord("correlated", given, kNormalizerVersion));
  }
  WordCorrelations correlations(words);
  BadLines bad_lines(options.max_bad_lines);
  SEMRANK_RETURN_IF_ERROR(ForEachText(
      options.words, kNormalizerVersion, bad_lines,
      [&](const std::string& text) { correlations.AddText(text); }));
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (correlations.NumTexts(words[i]) == 0) {
      return FlagError("correlated", options.correlated[i],
                       "is in no line of --words");
    }
    nlohmann::ordered_json json{
        {"word", words[i]},
        {"texts", correlations.NumTexts(words[i])},
        {"correlated", nlohmann::ordered_json::array()}};
    std::string line = words[i] + " ";
    for (const CorrelatedWord& other : correlations.MostCorrelated(
             words[i], static_cast<std::size_t>(options.num_words))) {
      json["correlated"].push_back(
          {{"word", other.word}, {"dice", other.dice}});
      line += absl::StrFormat(" %s %.3f", other.word, other.dice);
    }
    out << (options.output == OutputFormat::kJson ? json.dump() : line) << "\n";
  }
  return absl::OkStatus();
}

}  // namespace

void AddInspectOptions(CommandLine& flags, InspectCommandOptions& options) {
  flags.Group("Words of each unit");
  flags.Add("words", &options.words,
            "File of words, one or more a line; .gz and .zst too. Prints those "
            "that excite each output unit most.");
  flags.Add("side", &options.side, "Tower that embeds the words.",
            {{"query", Side::kQuery}, {"document", Side::kDocument}});
  flags.Add("num_words", &options.num_words,
            "Words of each unit, or of each word of --correlated.",
            {.min = 1, .max = 1000});
  flags.Group("Words in the texts of --words");
  flags.Add(
      "context_word", &options.context_word,
      "For a CLSM: compares the windows around this word with the first one, "
      "by the cosine of their convolution vectors in the tower of --side.");
  flags.Add("correlated", &options.correlated,
            "Without a model: prints the words that are in the same lines as "
            "these words most, by DICE, 2 n(s and t) / (n(s) + n(t)).");
  flags.Group("Units of a query and a title (CLSM)");
  flags.Add("query", &options.query,
            "Query whose active max-pooling units are compared with those of "
            "--title.");
  flags.Add("title", &options.title, "Title to compare with.");
  flags.Add("num_units", &options.num_units,
            "Units with the highest product of both activations.",
            {.min = 1, .max = 16384});
}

absl::Status RunInspectCommand(const InspectCommandOptions& options,
                               std::ostream& out) {
  SEMRANK_RETURN_IF_ERROR(CheckFlags(options));
  // This use alone needs no model.
  if (!options.correlated.empty()) return PrintCorrelated(options, out);
  SEMRANK_ASSIGN_OR_RETURN(const auto model,
                           LoadModel(options.model_dir, options.model_version));
  if (options.words.empty()) return PrintPair(options, *model, out);
  if (!options.context_word.empty()) return PrintContexts(options, *model, out);
  BadLines bad_lines(options.max_bad_lines);
  SEMRANK_ASSIGN_OR_RETURN(
      const std::vector<std::string> words,
      ReadWords(options.words, model->normalizer_version(), bad_lines));
  PrintUnits(options, *model, words, out);
  return absl::OkStatus();
}

}  // namespace semrank
