// Certificates made for one test, by the openssl program.
#ifndef SEMRANK_TESTS_SUPPORT_TEST_CERTIFICATES_H_
#define SEMRANK_TESTS_SUPPORT_TEST_CERTIFICATES_H_

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "tests/support/temp_dir.h"

namespace semrank {

// A folder with an authority, and certificates for localhost that it signed.
class TestCertificates {
 public:
  TestCertificates() {
    Run("req -x509 -days 2 -subj /CN=authority -keyout " + dir_.File("ca.key") +
        " -out " + ca());
  }

  // Makes NAME.pem and NAME.key, new ones each time; readers see the old pair
  // or the new one, each file at once.
  void Make(const std::string& name) const {
    const std::string base = dir_.File(name);
    Run("req -subj /CN=" + name +
        " -addext subjectAltName=DNS:localhost,IP:127.0.0.1 -keyout " + base +
        ".new.key -out " + base + ".csr");
    Run("x509 -req -days 2 -copy_extensions copy -CA " + ca() + " -CAkey " +
            dir_.File("ca.key") + " -CAcreateserial -in " + base +
            ".csr -out " + base + ".new.pem",
        /*new_key=*/false);
    std::filesystem::rename(base + ".new.key", Key(name));
    std::filesystem::rename(base + ".new.pem", Cert(name));
  }

  std::string ca() const { return dir_.File("ca.pem"); }
  std::string Cert(const std::string& name) const {
    return dir_.File(name + ".pem");
  }
  std::string Key(const std::string& name) const {
    return dir_.File(name + ".key");
  }
  const TempDir& dir() const { return dir_; }

  static std::string Content(const std::string& path) {
    std::stringstream content;
    content << std::ifstream(path).rdbuf();
    return content.str();
  }

 private:
  static void Run(const std::string& arguments, bool new_key = true) {
    const std::string key =
        new_key ? " -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes" : "";
    const std::string command =
        "openssl " + arguments + key + " >/dev/null 2>&1";
    if (std::system(command.c_str()) != 0) abort();
  }

  const TempDir dir_;
};

}  // namespace semrank

#endif  // SEMRANK_TESTS_SUPPORT_TEST_CERTIFICATES_H_
