#include "model/train/report/training_report.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_format.h"
#include "model/base/file_io.h"
#include "model/train/report/html_text.h"
#include "model/train/report/report_sections.h"

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
h1 { font-size: 1.6rem; margin-bottom: 0; } h2 { font-size: 1.15rem; }
.state { color: var(--dim); margin-top: .2rem; }
.charts { display: grid; gap: 1rem;
  grid-template-columns: repeat(auto-fit, minmax(26rem, 1fr)); }
figure, section { background: var(--card); border: 1px solid var(--line);
  border-radius: 8px; padding: .8rem 1rem; margin: 0 0 1rem; }
figcaption { font-weight: 600; } section { overflow-x: auto; }
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
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .15rem .9rem .15rem 0; text-align: left;
  vertical-align: top; overflow-wrap: anywhere; }
th { color: var(--dim); font-weight: 600; } td.number { text-align: right; }
tr.best td { font-weight: 700; }
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

std::string Charts(const ReportContent& content) {
  std::string charts;
  if (!content.epochs.empty()) {
    charts += Figure("Loss", LossChart(content.epochs));
    if (content.epochs.front().validation.metrics) {
      charts +=
          Figure("NDCG of the validation queries", NdcgChart(content.epochs));
    }
  }
  charts +=
      Figure("Words in a query and in a title", LengthChart(content.data));
  return "<div class=\"charts\">\n" + charts + "</div>\n";
}

}  // namespace

std::string FormatReport(const ReportContent& content) {
  const std::string name = EscapeHtml(content.model_dir);
  std::string html = absl::StrFormat(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width\">\n"
      "<link rel=\"icon\" href=\"data:,\">\n"
      "<title>Training of %s</title>\n<style>%s</style>\n</head>\n<body>\n"
      "<h1>Training of %s</h1>\n<p class=\"state\">Begun %s, %s.</p>\n",
      name, kStyle, name,
      absl::FormatTime("%Y-%m-%d %H:%M:%S UTC", content.start,
                       absl::UTCTimeZone()),
      EscapeHtml(content.state));
  html += Charts(content);
  html += Section("Epochs", EpochTable(content.epochs, content.bm25));
  html += Section("Data", DataTable(content.data));
  html += Section("Model and training", ConfigTable(content.config));
  if (!content.flags.empty()) {
    html += Section("Flags that were set", SettingsTable(content.flags));
  }
  html += Section("Machine", MachineTable());
  return html + "</body>\n</html>\n";
}

void TrainingReport::ContinueRun(absl::Time start,
                                 std::vector<EpochRecord> epochs) {
  content_.start = start;
  content_.epochs = std::move(epochs);
}

absl::Status TrainingReport::Append(const EpochRecord& record) {
  content_.epochs.push_back(record);
  return Write();
}

absl::Status TrainingReport::SetState(std::string state) {
  content_.state = std::move(state);
  return Write();
}

// The whole page each time, by an atomic replacement: a browser that reloads it
// during a run sees a complete one.
absl::Status TrainingReport::Write() const {
  return ReplaceFile(content_.model_dir + "/" + kReportFile,
                     FormatReport(content_));
}

}  // namespace semrank
