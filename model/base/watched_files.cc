#include "model/base/watched_files.h"

#include <sys/stat.h>

#include "absl/strings/str_format.h"

namespace semrank {

// stat follows symbolic links, as Kubernetes needs: a mounted secret is a link
// into a folder that is swapped as a whole. Device and inode distinguish a file
// that took the name of another with the same size and time; nanoseconds
// distinguish two writes within one second.
std::string FileStamps(const std::vector<std::string>& paths) {
  std::string stamps;
  for (const std::string& path : paths) {
    struct stat info = {};
    if (stat(path.c_str(), &info) != 0) {
      stamps += "none;";
      continue;
    }
    absl::StrAppendFormat(&stamps, "%d %d %d %d.%09d;", info.st_dev,
                          info.st_ino, info.st_size, info.st_mtim.tv_sec,
                          info.st_mtim.tv_nsec);
  }
  return stamps;
}

}  // namespace semrank
