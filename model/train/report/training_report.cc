#include "model/train/report/training_report.h"

#include <string_view>

#include "absl/strings/str_format.h"
#include "model/base/file_io.h"
#include "model/base/status_macros.h"
#include "model/html/html_text.h"
#include "model/train/report/report_sections.h"
#include "model/train/report/run_files.h"

namespace semrank {
namespace {

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

// The curves have no points before the end of the first epoch.
std::string Charts(const ReportContent& content, const RunHistory& history) {
  std::string charts;
  if (!history.epochs.empty()) {
    charts += Figure("Loss", LossChart(history.epochs));
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

}  // namespace

std::string FormatReport(const ReportContent& content,
                         const RunHistory& history) {
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
  if (content.version_dir.empty()) return absl::OkStatus();
  return ReplaceFile(content.version_dir + "/" + kReportFile, page);
}

}  // namespace semrank
