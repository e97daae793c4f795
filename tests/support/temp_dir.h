// A folder of the test's own, removed with everything in it at the end.
#ifndef SEMRANK_TESTS_SUPPORT_TEMP_DIR_H_
#define SEMRANK_TESTS_SUPPORT_TEMP_DIR_H_

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace semrank {

class TempDir {
 public:
  TempDir() {
    std::string name =
        (std::filesystem::temp_directory_path() / "semrank_test_XXXXXX")
            .string();
    if (mkdtemp(name.data()) == nullptr) abort();
    path_ = name;
  }
  ~TempDir() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;

  const std::string& path() const { return path_; }
  std::string File(std::string_view name) const {
    return path_ + "/" + std::string(name);
  }
  // Writes a file and returns its path.
  std::string Write(std::string_view name, std::string_view content) const {
    std::ofstream(File(name), std::ios::binary) << content;
    return File(name);
  }

 private:
  std::string path_;
};

}  // namespace semrank

#endif  // SEMRANK_TESTS_SUPPORT_TEMP_DIR_H_
