#include "model/train/report/training_report.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "model/base/file_io.h"
#include "model/base/status_macros.h"
#include "model/html/html_text.h"
#include "model/html/svg_chart.h"
#include "model/train/report/report_sections.h"
#include "model/train/report/run_files.h"

namespace semrank {
namespace {

// The page is made anew after each epoch from the whole history. It has no
// script, so it can be opened where scripts are not allowed.

// Everything is in the one file: the report is opened from a disk or sent by
// mail, where nothing else can be loaded.
constexpr char kStyle[] = R"css(
:root { color-scheme: light dark; --text: #1b1f24; --dim: #57606a;
  --back: #ffffff; --card: #f6f8fa; --line: #d0d7de; --s0: #0969da;
  --s1: #bc4c00; --s2: #1a7f37; --s3: #8250df; --mark: #cf222e; }
@media (prefers-color-scheme: dark) { :root { --text: #e6edf3; --dim: #9198a1;
  --back: #0d1117; --card: #161b22; --line: #3d444d; --s0: #58a6ff;
  --s1: #f0883e; --s2: #3fb950; --s3: #bc8cff; --mark: #ff7b72; } }
body { margin: 2rem auto; max-width: 62rem; padding: 0 1rem;
  font: 15px/1.5 system-ui, sans-serif; color: var(--text);
  background: var(--back); }
h1 { font-size: 1.6rem; margin-bottom: 0; overflow-wrap: anywhere; }
h2 { font-size: 1.15rem; margin: 0 0 .4rem; }
h3 { font-size: 1rem; margin: 0; }
.state, .about { color: var(--dim); margin-top: .2rem;
  overflow-wrap: anywhere; }
.warning { color: var(--mark); font-weight: 600; }
.charts { display: grid; gap: 1rem; margin-bottom: 1rem;
  grid-template-columns: repeat(auto-fit, minmax(min(26rem, 100%), 1fr)); }
figure, section { background: var(--card); border: 1px solid var(--line);
  border-radius: 8px; padding: .8rem 1rem; margin: 0; min-width: 0; }
section { margin-bottom: 1rem; } .scroll { overflow-x: auto; }
figcaption { font-weight: 600; }
svg { width: 100%; height: auto; display: block; }
svg text { fill: var(--text); font: 12px system-ui, sans-serif; }
svg .tick { fill: var(--dim); } .axis { stroke: var(--dim); }
.grid { stroke: var(--line); stroke-width: .5; }
.mark { stroke: var(--mark); stroke-dasharray: 4 3; }
polyline { fill: none !important; stroke-width: 2; }
.series-0 { fill: var(--s0); stroke: var(--s0); }
.series-1 { fill: var(--s1); stroke: var(--s1); }
.series-2 { fill: var(--s2); stroke: var(--s2); }
.series-3 { fill: var(--s3); stroke: var(--s3); }
polyline.series-3 { stroke-dasharray: 6 4; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .15rem 0 .15rem 1.2rem; text-align: right;
  vertical-align: bottom; white-space: nowrap; }
th:first-child, td:first-child { padding-left: 0; text-align: left; }
th, dt { color: var(--dim); font-weight: 600; }
tr.best td, tr.best th { font-weight: 700; color: var(--text); }
dl { margin: 0; font-variant-numeric: tabular-nums; }
dl > div { display: grid; grid-template-columns: 16rem minmax(0, 1fr);
  gap: 0 1rem; padding: .15rem 0; }
dt, dd { overflow-wrap: anywhere; } dd { margin: 0; }
pre { margin: .2rem 0; white-space: pre-wrap; overflow-wrap: anywhere; }
.examples { display: grid; gap: .8rem 2rem;
  grid-template-columns: repeat(auto-fit, minmax(min(22rem, 100%), 1fr)); }
ol { margin: 0; padding-left: 1.4rem; overflow-wrap: anywhere; }
.score { color: var(--dim); white-space: nowrap;
  font-variant-numeric: tabular-nums; }
.relevant { color: var(--s2); font-weight: 600; white-space: nowrap; }
@media (max-width: 40rem) { body { margin: 1rem auto; }
  dl > div { grid-template-columns: minmax(0, 1fr); }
  svg text { font-size: 17px; } svg .label { font-size: 14px; } figure, section { padding: .6rem .7rem; } }
@media print { body { max-width: none; margin: 0; }
  figure, section { break-inside: avoid; } }
)css";

std::string Figure(std::string_view caption, std::string_view svg) {
  return absl::StrFormat("<figure><figcaption>%s</figcaption>\n%s</figure>\n",
                         EscapeHtml(caption), svg);
}

std::string Section(std::string_view heading, std::string_view content) {
  return absl::StrFormat("<section><h2>%s</h2>\n%s</section>\n",
                         EscapeHtml(heading), content);
}

void MarkBest(const std::vector<EpochRecord>& epochs, Chart& chart) {
  for (const EpochRecord& record : epochs) {
    // Each epoch that was the best when it ended is marked; the last one is
    // what is published.
    if (record.best) chart.mark = record.epoch;
  }
  if (chart.mark) chart.mark_label = absl::StrFormat("best: %g", *chart.mark);
}

ChartSeries LengthSeries(std::string name, const LengthHistogram& lengths) {
  ChartSeries series = {.name = std::move(name)};
  // From 1: normalised texts of the training have at least one word.
  for (int words = 1; words <= LengthHistogram::kMaxWords; ++words) {
    series.points.push_back(
        {.x = static_cast<double>(words), .y = 100 * lengths.Share(words)});
  }
  return series;
}

// Training loss and, where it is known, validation loss by epoch; the best
// epoch is marked.
std::string LossChart(const std::vector<EpochRecord>& epochs) {
  Chart chart = {.title = "Loss by epoch",
                 .x_label = "epoch",
                 .y_label = "mean loss a pair",
                 .series = {{.name = "training"}}};
  ChartSeries validation = {.name = "validation"};
  for (const EpochRecord& record : epochs) {
    const double epoch = record.epoch;
    chart.series[0].points.push_back({epoch, record.train_loss});
    if (record.validation.loss) {
      validation.points.push_back({epoch, *record.validation.loss});
    }
  }
  if (!validation.points.empty()) chart.series.push_back(validation);
  MarkBest(epochs, chart);
  return LineChart(chart);
}

// NDCG@1, @3 and @10 by epoch, of epochs that have them, and the NDCG@10 of
// BM25 if it ranked the same judged queries.
std::string NdcgChart(const std::vector<EpochRecord>& epochs,
                      const std::optional<RankerComparison>& comparison) {
  Chart chart = {
      .title = "NDCG by epoch", .x_label = "epoch", .y_label = "mean NDCG"};
  for (const auto& [name, metric] : {std::pair{"NDCG@1", kNdcgAt1},
                                     {"NDCG@3", kNdcgAt3},
                                     {"NDCG@10", kNdcgAt10}}) {
    ChartSeries series = {.name = name};
    for (const EpochRecord& record : epochs) {
      if (!record.validation.metrics) continue;
      series.points.push_back({static_cast<double>(record.epoch),
                               (*record.validation.metrics)[metric]});
    }
    chart.series.push_back(std::move(series));
  }
  // BM25 learns nothing, so its line is flat. Held-out clicks are other queries
  // than those of the curves: there it would mislead.
  if (comparison && comparison->judged) {
    ChartSeries bm25 = {.name = "BM25, @10"};
    for (const ChartPoint& point : chart.series.back().points) {
      bm25.points.push_back({point.x, comparison->bm25.mean[kNdcgAt10]});
    }
    chart.series.push_back(std::move(bm25));
  }
  MarkBest(epochs, chart);
  return LineChart(chart);
}

// Shares of the queries and titles by their number of words.
std::string LengthChart(const DataStatistics& data) {
  return BarChart({.title = "Lengths of queries and titles",
                   .x_label = absl::StrFormat("words (%d or more in the last)",
                                              LengthHistogram::kMaxWords),
                   .y_label = data.distinct_texts ? "% of the distinct texts"
                                                  : "% of the texts",
                   .series = {LengthSeries("queries", data.queries),
                              LengthSeries("titles", data.titles)}});
}

// The curve that clicks were corrected with and, where its errors are known,
// two standard errors below and above it.
std::string ExaminationChart(const v1::TrainingFacts& facts) {
  Chart chart = {.title = "Examination by position",
                 .x_label = "position",
                 .y_label = "probability that it is looked at",
                 .series = {{.name = "examination"}}};
  ChartSeries low = {.name = "- 2 errors"}, high = {.name = "+ 2 errors"};
  for (int k = 0; k < facts.examination_size(); ++k) {
    const double position = k + 1, value = facts.examination(k);
    chart.series[0].points.push_back({position, value});
    // A curve of a file may have no errors.
    if (k >= facts.examination_error_size()) continue;
    const double error = facts.examination_error(k);
    low.points.push_back({position, std::max(0.0, value - 2 * error)});
    // The upper curve may exceed 1, as an estimate may.
    high.points.push_back({position, value + 2 * error});
  }
  if (!low.points.empty()) {
    chart.series.push_back(std::move(low));
    chart.series.push_back(std::move(high));
  }
  return LineChart(chart);
}

// The curves have no points before the end of the first epoch.
std::string Charts(const ReportContent& content, const RunHistory& history) {
  std::string charts;
  if (!history.epochs.empty()) {
    charts += Figure("Loss", LossChart(history.epochs));
    // All epochs of a run have the same measures, so the first one speaks
    // for them.
    if (history.epochs.front().validation.metrics) {
      charts += Figure("NDCG of the validation queries",
                       NdcgChart(history.epochs, content.comparison));
    }
  }
  if (content.config.training().examination_size() > 0) {
    charts += Figure("Examination of positions",
                     ExaminationChart(content.config.training()));
  }
  charts +=
      Figure("Words in a query and in a title", LengthChart(content.data));
  return "<div class=\"charts\">\n" + charts + "</div>\n";
}

// Quotes one word of a command line.
std::string ShellQuoted(const std::string& text) {
  // Other characters may mean something to a shell, so any of them puts the
  // word in quotes.
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./=:";
  if (!text.empty() && text.find_first_not_of(kPlain) == std::string::npos) {
    return text;
  }
  return "'" + absl::StrReplaceAll(text, {{"'", "'\\''"}}) + "'";
}

// Commands that serve the published model and rank the first example.
std::string NextCommands(const std::string& model_dir,
                         const std::optional<RankerComparison>& comparison) {
  std::string commands = absl::StrFormat(
      "semrank-server %s\n", ShellQuoted("--model_dir=" + model_dir));
  // An example of the model's own texts.
  if (comparison && !comparison->examples.empty()) {
    const ExampleRanking& example = comparison->examples.front();
    absl::StrAppendFormat(&commands, "semrank rank %s",
                          ShellQuoted("--query=" + example.query));
    for (const ExampleTitle& title : example.titles) {
      commands += " " + ShellQuoted(title.title);
    }
    commands += "\n";
  }
  return absl::StrFormat(
      "<p class=\"about\">Serve this model and, from another shell, ask it:</p>"
      "\n<pre><code>%s</code></pre>\n",
      EscapeLines(commands));
}

}  // namespace

std::string FormatReport(const ReportContent& content,
                         const RunHistory& history) {
  // The most useful comes first: the state, a warning, what to do next, then
  // the curves. Settings and data follow for those who look something up.
  const std::string name = EscapeHtml(content.model_dir);
  std::string html = absl::StrFormat(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, "
      "initial-scale=1\">\n"
      "<link rel=\"icon\" href=\"data:,\">\n"
      "<title>Training of "
      "%s</title>\n<style>%s</style>\n</head>\n<body>\n<main>\n"
      "<h1>Training of %s</h1>\n<p class=\"state\">Begun %s, %s.</p>\n",
      name, kStyle, name,
      absl::FormatTime("%Y-%m-%d %H:%M:%S UTC", history.start,
                       absl::UTCTimeZone()),
      EscapeHtml(content.state));
  if (const auto growth = DescribeLossGrowth(
          history.epochs, content.config.training().learning_rate())) {
    absl::StrAppendFormat(&html, "<p class=\"warning\">%s</p>\n",
                          EscapeHtml("Warning: " + *growth + "."));
  }
  // Before there is a model, and for one that is not served, there is nothing
  // to start.
  if (!content.version_dir.empty() && !content.rejected) {
    html +=
        Section("Next", NextCommands(content.model_dir, content.comparison));
  }
  html += Charts(content, history);
  if (content.comparison) {
    html += Section("Beside BM25", ComparisonTable(*content.comparison));
  }
  if (content.judgement) {
    html +=
        Section("Beside the served model", JudgementTable(*content.judgement));
  }
  // Tables repeat what charts show, for readers who cannot see these and for
  // exact values.
  html += Section("Epochs", EpochTable(history));
  if (content.comparison && !content.comparison->examples.empty()) {
    html += Section("Example rankings", Examples(*content.comparison));
  }
  html += Section("Data", DataTable(content.data));
  html += Section("Model and training", ConfigTable(content.config));
  if (!content.flags.empty()) {
    html += Section("Flags that were set", SettingsTable(content.flags));
  }
  html += Section("Machine", MachineTable());
  return html + "</main>\n</body>\n</html>\n";
}

// Replaces the whole page atomically: a browser that reloads it during a run
// sees a complete one.
absl::Status WriteReport(const ReportContent& content,
                         const RunHistory& history) {
  const std::string page = FormatReport(content, history);
  SEMRANK_RETURN_IF_ERROR(
      ReplaceFile(content.model_dir + "/" + kReportFile, page));
  // The second copy stays with its version when the next run writes its
  // own report.
  if (content.version_dir.empty()) return absl::OkStatus();
  return ReplaceFile(content.version_dir + "/" + kReportFile, page);
}

}  // namespace semrank
