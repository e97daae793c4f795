#include "server/pages/pages.h"

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "model/base/strings.h"
#include "model/html/html_text.h"
#include "server/pages/browser_page.h"
#include "server/pages/embedded_files.h"

// The files of the pages come from assets/ and are part of the program
// (CMakeLists.txt). What differs between servers is filled in for {{...}} when
// the server starts, or for the playground's answers at each request.
namespace semrank {
namespace {

using Json = nlohmann::json;

// As kShown in assets/rankings.js.
constexpr std::int64_t kMaxHits = 20;

constexpr char kWithoutJavaScript[] =
    "Without JavaScript this page searches the catalog by the default model. "
    "Comparisons, explanations and titles of your own need JavaScript.";
constexpr char kKeyNeedsJavaScript[] =
    "This server answers calls with an API key only, and this page needs "
    "JavaScript to send one.";

// Forms write blanks as "+".
std::string DecodeFormValue(absl::string_view value) {
  return PercentDecode(absl::StrReplaceAll(value, {{"+", " "}}));
}

// The field "q" of the form. Empty = there is no query.
std::string QueryOf(const HttpRequest& request) {
  for (const absl::string_view field : absl::StrSplit(request.query, '&')) {
    const std::pair<absl::string_view, absl::string_view> parts =
        absl::StrSplit(field, absl::MaxSplits('=', 1));
    if (parts.first == "q") {
      return std::string(
          absl::StripAsciiWhitespace(DecodeFormValue(parts.second)));
    }
  }
  return "";
}

// As a client of the JSON API would send it.
HttpRequest SearchRequest(const HttpRequest& request, const std::string& query,
                          std::int64_t top_k) {
  // Keeps the headers, the peer and the id of the browser's request, by which
  // limits and logs know the caller.
  HttpRequest search = request;
  const Json body = {{"query", query}, {"top_k", top_k}, {"with_titles", true}};
  // The bytes of an address need not be UTF-8.
  search.body = body.dump(-1, ' ', false, Json::error_handler_t::replace);
  search.content_length = search.body.size();
  return search;
}

// A score of 0 or less says that a title has nothing of the query.
// Scores that are not cosines have no such bound.
bool Matches(const Json& hit, bool is_cosine) {
  const double score = hit.value("score", 0.0);
  return (is_cosine ? score > 0 : score != 0) || hit.contains("name_match");
}

std::string HitList(const Json& answer) {
  const bool is_cosine = answer.value("score_kind", "") == "SCORE_KIND_COSINE";
  std::string list;
  int place = 0;
  for (const Json& hit : answer.value("hits", Json::array())) {
    if (!Matches(hit, is_cosine)) continue;
    // Callers put the titles into the catalog, so they may hold anything.
    absl::StrAppendFormat(
        &list,
        "<li><div class=\"result\"><span class=\"place\">%d.</span>"
        "<span class=\"title\" dir=\"auto\">%s</span><span "
        "class=\"score\">%.4f</span>"
        "</div></li>\n",
        ++place, EscapeHtml(hit.value("title", "")), hit.value("score", 0.0));
  }
  return list;
}

// JSON omits a number of 0.
bool KnowsQuery(const Json& answer) {
  const auto known = answer.find("query_known_features");
  return known == answer.end() || known->contains("num_known_words");
}

// The playground as HTML. With JavaScript the page makes its calls itself;
// without, the browser sends the form to "/?q=TEXT", and the page comes with
// the answer of a search by the default model in it.
class SearchPage {
 public:
  explicit SearchPage(const PlaygroundOptions& options);

  // The page before a query.
  HttpResponse Empty() const;
  // Answers GET with a query by running `search`, the call of "/v1/search":
  // its checks, limits and counters hold. A failure is shown on the page, with
  // the HTTP code that `search` gives it.
  HttpCall Call(const HttpCall& search) const;

 private:
  // `answer` is the response of `search` to `query`.
  HttpResponse Answer(const std::string& query, HttpResponse answer) const;
  HttpResponse Fill(const std::string& query, const std::string& status,
                    const std::string& results) const;

  const std::int64_t top_k_;
  std::string html_;
};

SearchPage::SearchPage(const PlaygroundOptions& options)
    : top_k_(std::min(kMaxHits, options.max_top_k)) {
  const std::string& address = options.grpc_address;
  html_ = absl::StrReplaceAll(
      ToAbsl(EmbeddedFile("index.html")),
      {{"{{header}}", PageHeader("/")},
       {"{{grpc_port}}", address.substr(address.rfind(':') + 1)},
       {"{{keeps_events}}", options.keeps_events ? "yes" : "no"},
       {"{{max_top_k}}", absl::StrCat(options.max_top_k)},
       {"{{without_javascript}}",
        options.needs_key ? kKeyNeedsJavaScript : kWithoutJavaScript}});
}

HttpResponse SearchPage::Empty() const { return Fill("", "", ""); }

HttpCall SearchPage::Call(const HttpCall& search) const {
  HttpCall call;
  call.takes_get = true;
  call.max_body_bytes = search.max_body_bytes;
  // The functions outlive this page, so each has a copy of it.
  call.admit = [page = *this, search](
                   const HttpRequest& request) -> std::optional<HttpResponse> {
    const std::string query = QueryOf(request);
    if (query.empty()) return page.Empty();
    auto refusal = search.admit(SearchRequest(request, query, page.top_k_));
    if (!refusal.has_value()) return std::nullopt;
    return page.Answer(query, *std::move(refusal));
  };
  call.handle = [page = *this, search](const HttpRequest& request,
                                       absl::Duration max_time, HttpDone done) {
    const std::string query = QueryOf(request);
    // The search refers to its request until it has answered.
    auto searched = std::make_unique<const HttpRequest>(
        SearchRequest(request, query, page.top_k_));
    const HttpRequest& asked = *searched;
    search.handle(
        asked, max_time,
        [&page, query, searched = std::move(searched),
         done = std::move(done)](std::optional<HttpResponse> answer) mutable {
          if (answer.has_value()) {
            answer = page.Answer(query, *std::move(answer));
          }
          std::move(done)(std::move(answer));
        });
  };
  call.refuse = [page = *this, search](const HttpRequest& request,
                                       const HttpRefusal& refusal) {
    return page.Answer(QueryOf(request), search.refuse(request, refusal));
  };
  return call;
}

HttpResponse SearchPage::Answer(const std::string& query,
                                HttpResponse answer) const {
  // Parse does not throw here: a body that is not JSON gives the page of a
  // failed search.
  const Json body = Json::parse(answer.body, nullptr, false);
  std::string list;
  std::string status;
  if (answer.status == 200 && body.is_object()) {
    list = HitList(body);
    if (!body.contains("num_documents_searched")) {
      status = "The catalog is empty.";
    } else if (list.empty()) {
      status = absl::StrCat(KnowsQuery(body) ? "Nothing matches “"
                                             : "The model knows no word of “",
                            query, "”.");
    }
  } else {
    status = absl::StrCat("The search failed: ",
                          body.is_object() ? body.value("message", "") : "");
  }
  HttpResponse page = Fill(query, status,
                           list.empty() ? ""
                                        : "<section><ol class=\"results\">\n" +
                                              list + "</ol></section>");
  // Monitoring and caches see the same code as for the JSON call.
  page.status = answer.status;
  // The request's id, and when to come back.
  for (auto& header : answer.headers) page.headers.push_back(std::move(header));
  return page;
}

HttpResponse SearchPage::Fill(const std::string& query,
                              const std::string& status,
                              const std::string& results) const {
  // StrReplaceAll does not search what it has inserted, so a query that says
  // "{{results}}" stays a text.
  return BrowserPage(
      absl::StrReplaceAll(html_, {{"{{query}}", EscapeHtml(query)},
                                  {"{{status}}", EscapeHtml(status)},
                                  {"{{results}}", results}}));
}

// A file whose header, if it has one, marks the page as the current one.
HttpPage FilePage(std::string_view file, std::string_view path,
                  std::string_view content_type) {
  std::string body = absl::StrReplaceAll(ToAbsl(EmbeddedFile(file)),
                                         {{"{{header}}", PageHeader(path)}});
  return [body = std::move(body), type = std::string(content_type)] {
    return GuardedPage(type, body);
  };
}

// Empty for files that are not below /pages/.
std::string_view ContentTypeOf(std::string_view file) {
  if (file.ends_with(".css")) return "text/css; charset=utf-8";
  if (file.ends_with(".js")) return "text/javascript; charset=utf-8";
  return "";
}

}  // namespace

HttpPages OperatorPages(const Lifecycle* lifecycle, const Metrics* metrics) {
  HttpPages pages;
  pages["/metrics"] = [metrics]() -> HttpResponse {
    return {.content_type = "text/plain; version=0.0.4; charset=utf-8",
            .body = metrics->Render()};
  };
  // A liveness probe must not restart a server that loads or drains, so the
  // page answers 200 to the end.
  pages["/healthz"] = []() -> HttpResponse { return {.body = "ok\n"}; };
  const HttpPage ready = [lifecycle]() -> HttpResponse {
    const Lifecycle::State state = lifecycle->state();
    return {.status = state == Lifecycle::State::kServing ? 200 : 503,
            .body = std::string(Lifecycle::Description(state)) + "\n"};
  };
  pages["/readyz"] = ready;
  pages["/health"] = ready;
  return pages;
}

void AddBrowserPages(const PlaygroundOptions& options, HttpPages& pages,
                     HttpCalls& calls) {
  const SearchPage playground(options);
  pages["/"] = [playground] { return playground.Empty(); };
  const auto search = calls.find("/v1/search");
  // A form cannot send the Authorization header, so with keys every search
  // without JavaScript would be refused.
  if (!options.needs_key && search != calls.end()) {
    calls["/?"] = playground.Call(search->second);
  }
  pages["/api"] = FilePage("api.html", "/api", kHtmlType);
  for (const std::string_view file : EmbeddedFileNames()) {
    const std::string_view type = ContentTypeOf(file);
    if (type.empty()) continue;
    const std::string path = absl::StrCat("/pages/", ToAbsl(file));
    pages[path] = FilePage(file, path, type);
  }
}

void AddOpenApi(HttpPages& pages) {
  pages["/openapi.json"] =
      FilePage("openapi.json", "/openapi.json", "application/json");
}

}  // namespace semrank
