#include "model/train/report/report_sections.h"

#include <google/protobuf/descriptor.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "model/base/count_text.h"
#include "model/base/resources.h"
#include "model/base/thread_pool.h"
#include "model/base/version.h"
#include "model/format/model_config.h"
#include "model/html/html_text.h"

namespace semrank {
namespace {

// Each section is a piece of HTML that stands by itself. All texts of users and
// files pass EscapeHtml: a query of the log may be "<script>".

std::string Row(std::string_view name, std::string_view value) {
  return absl::StrFormat("<div><dt>%s</dt><dd>%s</dd></div>\n",
                         EscapeHtml(name), EscapeHtml(value));
}

std::string Facts(std::string_view rows) {
  return absl::StrFormat("<dl>\n%s</dl>\n", rows);
}

// A table of numbers. The first cell of a row is its heading.
struct NumberRow {
  std::vector<std::string> cells;
  bool best = false;
};

// The table without columns that are empty in all rows. It scrolls by itself,
// also by keyboard, where the page is narrow.
std::string NumberTable(std::string_view name,
                        const std::vector<std::string>& headings,
                        const std::vector<NumberRow>& rows) {
  // Most runs have no clipped gradient or no judged queries; empty columns
  // would only make the table wide.
  std::vector<bool> shown(headings.size(), false);
  for (const NumberRow& row : rows) {
    for (std::size_t c = 0; c < row.cells.size(); ++c) {
      if (!row.cells[c].empty()) shown[c] = true;
    }
  }
  std::string html = absl::StrFormat(
      "<div class=\"scroll\" role=\"region\" tabindex=\"0\" "
      "aria-label=\"%s\">\n<table>\n<tr>",
      EscapeHtml(name));
  for (std::size_t c = 0; c < headings.size(); ++c) {
    if (!shown[c]) continue;
    absl::StrAppendFormat(&html, "<th scope=\"col\">%s</th>",
                          EscapeHtml(headings[c]));
  }
  html += "</tr>\n";
  for (const NumberRow& row : rows) {
    html += row.best ? "<tr class=\"best\">" : "<tr>";
    for (std::size_t c = 0; c < row.cells.size(); ++c) {
      if (!shown[c]) continue;
      const std::string text = EscapeHtml(row.cells[c]);
      // `scope` marks the first cell as the heading of its row, so that screen
      // readers announce it with each number.
      html += c == 0 ? "<th scope=\"row\">" + text + "</th>"
                     : "<td class=\"number\">" + text + "</td>";
    }
    html += "</tr>\n";
  }
  return html + "</table>\n</div>\n";
}

std::string Number(const std::optional<double>& value) {
  return value ? absl::StrFormat("%.4f", *value) : "";
}

std::optional<double> MetricOf(const ValidationResult& validation,
                               Metric metric) {
  if (!validation.metrics) return std::nullopt;
  return (*validation.metrics)[metric];
}

NumberRow EpochRow(const EpochRecord& record, bool best) {
  const ValidationResult& validation = record.validation;
  // The cells are in the order of the headings in EpochTable.
  return {.cells = {absl::StrCat(record.epoch, best ? ", best" : ""),
                    Number(record.train_loss), Number(validation.loss),
                    Number(MetricOf(validation, kNdcgAt1)),
                    Number(MetricOf(validation, kNdcgAt3)),
                    Number(MetricOf(validation, kNdcgAt10)),
                    Number(record.gradient_norm),
                    absl::StrFormat("%.3g", record.learning_rate),
                    absl::StrFormat("%.1f", record.seconds),
                    GroupDigits(std::llround(record.pairs_per_second())),
                    record.peak_memory_bytes > 0
                        ? GroupDigits(record.peak_memory_bytes >> 20)
                        : ""},
          .best = best};
}

// The metrics in the order of kMetricNames, which are the headings.
NumberRow RankerRow(std::string name, const MetricSummary& metrics) {
  NumberRow row = {.cells = {std::move(name)}};
  for (std::size_t m = 0; m < metrics.mean.size(); ++m) {
    row.cells.push_back(absl::StrFormat("%.4f ± %.4f", metrics.mean[m],
                                        metrics.standard_error[m]));
  }
  return row;
}

// Says on which queries the rankers were measured.
std::string DescribeQueries(const RankerComparison& comparison) {
  const std::string queries = GroupDigits(comparison.num_queries);
  const std::string titles = GroupDigits(comparison.num_titles);
  if (comparison.judged) {
    return absl::StrCat(queries, " judged queries: their relevant documents ",
                        "are to be found among ", titles, ".");
  }
  const std::string about =
      absl::StrCat(queries, " queries that were held out: their clicked ",
                   "titles are to be found among ", titles, ".");
  // Figures of a trial are not those of the published model, which has learned
  // from these queries, too.
  if (!comparison.trial) return about;
  return absl::StrCat(about,
                      " They were held out of a trial, a shorter training, "
                      "whose figures these are. The published model has "
                      "learned from all pairs.");
}

std::string LengthText(const LengthHistogram& lengths, bool distinct) {
  return absl::StrFormat(
      "%s%s, %.2f words on average", GroupDigits(lengths.num_texts()),
      distinct ? " distinct" : " with repeats", lengths.MeanWords());
}

std::string CatalogueRow(const DataStatistics& data) {
  if (data.catalogue_titles == 0) return "";
  return Row("titles of the catalogue",
             absl::StrFormat("%s, of which the pairs have %.0f %%",
                             GroupDigits(data.catalogue_titles),
                             100 * data.known_share));
}

// "linear" for TOWER_KIND_LINEAR: the file has the names of the enumerations.
std::string PlainValue(const std::string& value) {
  const google::protobuf::EnumValueDescriptor* const found =
      v1::ModelConfig::descriptor()->file()->FindEnumValueByName(value);
  if (found == nullptr) return value;
  // The first value of each enumeration is PREFIX_UNSPECIFIED.
  const std::size_t prefix =
      found->type()->value(0)->name().rfind("UNSPECIFIED");
  return absl::StrReplaceAll(absl::AsciiStrToLower(value.substr(prefix)),
                             {{"_", " "}});
}

// Appends a row for each value; the name of a nested one is "a.b.c".
void AppendRows(const nlohmann::ordered_json& json, const std::string& prefix,
                std::string& rows) {
  for (const auto& [name, value] : json.items()) {
    if (value.is_object()) {
      AppendRows(value, prefix + name + ".", rows);
    } else {
      rows += Row(prefix + name, value.is_string()
                                     ? PlainValue(value.get<std::string>())
                                     : value.dump());
    }
  }
}

std::string ProcessorName() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const std::size_t colon = line.find(": ");
    // Arm processors have no such line.
    if (line.starts_with("model name") && colon != std::string::npos) {
      return line.substr(colon + 2);
    }
  }
  return "not known";
}

}  // namespace

std::string ComparisonTable(const RankerComparison& comparison) {
  std::string about =
      DescribeQueries(comparison) + " What follows ± is the standard error.";
  if (!comparison.model) {
    about += " The model is measured at the end of the run.";
  }
  std::vector<std::string> headings = {"ranker"};
  // A metric that is added to kMetricNames has its column here by itself.
  for (const std::string_view name : kMetricNames) headings.emplace_back(name);
  std::vector<NumberRow> rows;
  // The model and its start are above the baselines that learn nothing.
  if (comparison.model) {
    rows.push_back(RankerRow("this model", *comparison.model));
  }
  if (comparison.start) {
    rows.push_back(RankerRow("before training", *comparison.start));
  }
  rows.push_back(RankerRow("letter TF-IDF", comparison.letter_tfidf));
  rows.push_back(RankerRow("BM25", comparison.bm25));
  std::string html =
      absl::StrFormat("<p class=\"about\">%s</p>\n", EscapeHtml(about));
  if (comparison.num_queries < kFewQueries) {
    absl::StrAppendFormat(
        &html,
        "<p class=\"warning\">So few queries (%d) do not say which ranker is "
        "better%s.</p>\n",
        comparison.num_queries,
        comparison.judged ? ""
                          : ", and among so few titles each ranker looks "
                            "better than in a whole catalogue");
  }
  return html +
         NumberTable("Metrics of the model and of baselines", headings, rows);
}

std::string JudgementTable(const CandidateJudgement& judgement) {
  std::vector<NumberRow> rows;
  for (const JudgementTest& test : judgement.tests) {
    rows.push_back(
        {.cells = {test.clicks, GroupDigits(test.num_queries),
                   test.num_lists == 0 ? "" : GroupDigits(test.num_lists),
                   Number(test.candidate), Number(test.served),
                   absl::StrFormat("%+.4f", test.delta),
                   Number(test.standard_error),
                   absl::StrFormat("%.3g", test.p)}});
  }
  std::string html = absl::StrFormat(
      "<p class=\"about\">Both models rank clicks that neither has "
      "learned from: NDCG@10 of held-out queries, or the gain of the "
      "clicks in lists that were shown. A model with p below %g and a "
      "negative difference, on %d queries or more, is not published.</p>\n",
      kJudgementP, kMinJudgedQueries);
  const auto append = [&](const std::string& sentence) {
    absl::StrAppendFormat(&html, "<p class=\"about\">%s.</p>\n",
                          EscapeHtml(sentence));
  };
  if (judgement.fit) append(DescribeFit(*judgement.fit));
  if (judgement.chance) append(DescribeChance(*judgement.chance));
  return html + NumberTable("This model beside the served one",
                            {"clicks", "queries", "lists", "this model",
                             "served", "difference", "standard error", "p"},
                            rows);
}

std::string Examples(const RankerComparison& comparison) {
  // Judges call a document relevant; of a click log only the click is known.
  const char* const mark = comparison.judged ? "relevant" : "clicked";
  std::string html = absl::StrFormat(
      "<p class=\"about\">Titles as the model reads them, with their scores; "
      "the %s ones are marked. The examples are some of the %s queries, of %s, "
      "that have a %s title among the first %d.</p>\n"
      "<div class=\"examples\">\n",
      mark, GroupDigits(comparison.num_hits),
      GroupDigits(comparison.num_queries), mark, kExampleDepth);
  for (const ExampleRanking& example : comparison.examples) {
    absl::StrAppendFormat(&html, "<div>\n<h3>%s</h3>\n<ol>\n",
                          EscapeHtml(example.query));
    for (const ExampleTitle& title : example.titles) {
      absl::StrAppendFormat(
          &html, "<li>%s <span class=\"score\">%.4f</span>%s</li>\n",
          EscapeHtml(title.title), title.score,
          title.relevant
              ? absl::StrFormat(" <span class=\"relevant\">%s</span>", mark)
              : "");
    }
    html += "</ol>\n</div>\n";
  }
  return html + "</div>\n";
}

std::string EpochTable(const RunHistory& history) {
  // Every epoch that was the best so far is marked in the history; only the
  // last of them is published.
  int best = 0;
  for (const EpochRecord& record : history.epochs) {
    if (record.best) best = record.epoch;
  }
  std::vector<NumberRow> rows;
  if (history.before_training) {
    const ValidationResult& validation = *history.before_training;
    rows.push_back({.cells = {"before", "", Number(validation.loss),
                              Number(MetricOf(validation, kNdcgAt1)),
                              Number(MetricOf(validation, kNdcgAt3)),
                              Number(MetricOf(validation, kNdcgAt10))}});
  }
  for (const EpochRecord& record : history.epochs) {
    rows.push_back(EpochRow(record, record.epoch == best));
  }
  const std::vector<std::string> headings = {
      "epoch",   "loss",    "validation loss", "NDCG@1",
      "NDCG@3",  "NDCG@10", "gradient norm",   "learning rate",
      "seconds", "pairs/s", "peak MiB"};
  // The weights before training have no loss of training, rate or time.
  for (NumberRow& row : rows) row.cells.resize(headings.size());
  return NumberTable("Measures of each epoch", headings, rows);
}

std::string DataTable(const DataStatistics& data) {
  return Facts(Row("training pairs", GroupDigits(data.train_pairs)) +
               Row("clicks of these", GroupDigits(data.clicks)) +
               Row("validation pairs", GroupDigits(data.valid_pairs)) +
               Row("queries", LengthText(data.queries, data.distinct_texts)) +
               Row("titles", LengthText(data.titles, data.distinct_texts)) +
               CatalogueRow(data) +
               Row("features", GroupDigits(data.features)) +
               Row("bad lines", GroupDigits(data.bad_lines)));
}

std::string ConfigTable(const v1::ModelConfig& config) {
  // The names of the rows are those of config.json, so that a reader finds them
  // again in the file of the model.
  const absl::StatusOr<std::string> text = FormatModelConfig(config);
  if (!text.ok()) return EscapeHtml(text.status().ToString());
  std::string rows;
  // Parsing the text again, in place of visiting the message, keeps the order
  // and the number forms of the file.
  AppendRows(nlohmann::ordered_json::parse(*text, nullptr, false), "", rows);
  return Facts(rows);
}

std::string SettingsTable(const std::vector<FlagValue>& flags) {
  std::string rows;
  for (const FlagValue& flag : flags) {
    rows += Row("--" + flag.name,
                absl::StrFormat("%s (%s)", flag.value, flag.source));
  }
  return Facts(rows);
}

// Speeds of the log mean little without the machine that gave them.
std::string MachineTable() {
  const auto memory = static_cast<double>(PhysicalMemory());
  return Facts(
      Row("semrank-train", Version()) + Row("processor", ProcessorName()) +
      Row("processors usable", absl::StrFormat("%d", NumUsableProcessors())) +
      Row("memory", absl::StrFormat("%.1f GiB", memory / (1 << 30))));
}

}  // namespace semrank
