#include "server/base/file_stamp.h"

#include <sys/stat.h>

#include "absl/strings/str_format.h"

namespace semrank {

std::string FileStamp(const std::string& path) {
  struct stat info = {};
  if (stat(path.c_str(), &info) != 0) return "none";
  return absl::StrFormat("%d %d %d %d.%09d", info.st_dev, info.st_ino,
                         info.st_size, info.st_mtim.tv_sec,
                         info.st_mtim.tv_nsec);
}

}  // namespace semrank
