// The body of a request for Beast's parser: a string that grows as bytes come.
// (Beast's string_body reserves what Content-Length says at once.)
#ifndef SEMRANK_SERVER_HTTP_HTTP_BODY_H_
#define SEMRANK_SERVER_HTTP_HTTP_BODY_H_

#include <boost/asio/buffer.hpp>
#include <boost/beast/core/buffers_range.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/optional.hpp>
#include <cstddef>
#include <cstdint>
#include <string>

namespace semrank {

struct HttpBody {
  using value_type = std::string;

  class reader {
   public:
    template <bool is_request, typename Fields>
    reader(boost::beast::http::header<is_request, Fields>& /*header*/,
           value_type& body)
        : body_(body) {}

    void init(const boost::optional<std::uint64_t>& /*length*/,
              boost::beast::error_code& error) {
      error = {};
    }
    template <typename ConstBuffers>
    std::size_t put(const ConstBuffers& buffers,
                    boost::beast::error_code& error) {
      const std::size_t size_before = body_.size();
      for (const auto buffer : boost::beast::buffers_range_ref(buffers)) {
        body_.append(static_cast<const char*>(buffer.data()), buffer.size());
      }
      error = {};
      return body_.size() - size_before;
    }
    void finish(boost::beast::error_code& error) { error = {}; }

   private:
    value_type& body_;
  };
};

}  // namespace semrank

#endif  // SEMRANK_SERVER_HTTP_HTTP_BODY_H_
