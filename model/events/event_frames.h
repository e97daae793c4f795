// The lines of one file of events in Zstandard frames. EventFileReader
// (event_files.h) says what follows from a frame that is not whole.
#ifndef SEMRANK_MODEL_EVENTS_EVENT_FRAMES_H_
#define SEMRANK_MODEL_EVENTS_EVENT_FRAMES_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "model/base/byte_source.h"

namespace semrank {

// Appends `lines` as one frame with a checksum.
void AppendEventFrame(std::string_view lines, std::string& file);

// Reads the lines by whole frames.
//
//   Threads  not thread-safe.
class FrameLines {
 public:
  // The lines of a larger frame are returned before its checksum is known. A
  // longer line is damage.
  static constexpr std::size_t kMaxFrameBytes = std::size_t{64} << 20;

  // The error of ByteSource::Open.
  static absl::StatusOr<std::unique_ptr<FrameLines>> Open(
      const std::string& path);
  FrameLines(const std::string& path, std::unique_ptr<ByteSource> source)
      : path_(path), source_(std::move(source)) {}

  enum class Result {
    kLine,
    kEnd,      // of the file
    kCut,      // the file ends inside a frame
    kDamaged,  // problem() says how; what follows cannot be read
  };
  // Reads a line, without its line break; valid until the next call. After any
  // other result the call must not be repeated. Errors of the system.
  absl::StatusOr<Result> Next(std::string_view& line);

  std::int64_t line_number() const { return line_number_; }
  double fraction_read() const { return source_->fraction_read(); }
  const std::string& problem() const { return problem_; }

 private:
  bool TakeLine(std::string_view& line);
  // Sets `end_` if there is nothing more to read.
  absl::Status ReadMore();
  absl::StatusOr<Result> Classify(const absl::Status& status);
  void EndBuffer();

  const std::string path_;
  const std::unique_ptr<ByteSource> source_;
  std::string buffer_;
  std::size_t next_ = 0;        // the first byte that was not returned
  std::size_t num_whole_ = 0;   // bytes that belong to whole frames
  std::size_t num_before_ = 0;  // bytes that are no longer in the buffer
  std::int64_t line_number_ = 0;
  std::optional<Result> end_;
  std::string problem_;
};

}  // namespace semrank

#endif  // SEMRANK_MODEL_EVENTS_EVENT_FRAMES_H_
