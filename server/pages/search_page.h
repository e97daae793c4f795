// The playground as HTML. With JavaScript the page makes its calls itself;
// without, the browser sends the form to "/?q=TEXT", and the page comes with
// the answer of a search by the default model in it.
#ifndef SEMRANK_SERVER_PAGES_SEARCH_PAGE_H_
#define SEMRANK_SERVER_PAGES_SEARCH_PAGE_H_

#include <string>

#include "server/http/http_routes.h"

namespace semrank {

struct PlaygroundOptions {
  // HOST:PORT of gRPC, which the page shows in its snippets.
  std::string grpc_address;
  // Whether callers need a key, which a form without JavaScript cannot send.
  bool needs_key = false;
  // Whether the page reports its lists and the results that are opened.
  bool keeps_events = false;
};

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

  std::string html_;
};

}  // namespace semrank

#endif  // SEMRANK_SERVER_PAGES_SEARCH_PAGE_H_
