#include "server/requests/methods.h"

#include <gmock/gmock.h>
#include <google/protobuf/descriptor.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace semrank {
namespace {

using ::testing::ContainerEq;

const std::filesystem::path kProtoFolder = SEMRANK_PROTO_FOLDER;

std::string ReadText(const std::filesystem::path& path) {
  std::ifstream file(path);
  EXPECT_TRUE(file.is_open()) << path;
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string FullName(const Method& method) {
  return absl::StrCat(method.service, ".", method.name);
}

const google::protobuf::MethodDescriptor* DescriptorOf(const Method& method) {
  return google::protobuf::DescriptorPool::generated_pool()->FindMethodByName(
      FullName(method));
}

// The methods that the .proto files declare.
std::set<std::string> DeclaredMethods() {
  std::set<std::string> names;
  for (const auto& entry :
       std::filesystem::directory_iterator(kProtoFolder / "semrank/v1")) {
    if (entry.path().extension() != ".proto") continue;
    const auto* const file =
        google::protobuf::DescriptorPool::generated_pool()->FindFileByName(
            "semrank/v1/" + entry.path().filename().string());
    EXPECT_NE(file, nullptr) << entry.path();
    if (file == nullptr) continue;
    for (int i = 0; i < file->service_count(); ++i) {
      for (int j = 0; j < file->service(i)->method_count(); ++j) {
        names.insert(file->service(i)->method(j)->full_name());
      }
    }
  }
  return names;
}

// The role that proto/README.md gives each method, which its table names in
// backticks: | service | `Rank`, `Explain` | what it does | read |
std::map<std::string, std::string> DocumentedRoles() {
  std::map<std::string, std::string> roles;
  const std::string guide = ReadText(kProtoFolder / "README.md");
  for (const absl::string_view line : absl::StrSplit(guide, '\n')) {
    const std::vector<std::string> cells = absl::StrSplit(line, '|');
    if (cells.size() != 6) continue;
    const std::vector<std::string> parts = absl::StrSplit(cells[2], '`');
    for (std::size_t i = 1; i < parts.size(); i += 2) {
      roles[parts[i]] = std::string(absl::StripAsciiWhitespace(cells[4]));
    }
  }
  return roles;
}

std::string RoleName(Role role) {
  switch (role) {
    case Role::kRead:
      return "read";
    case Role::kWrite:
      return "write";
    case Role::kAdmin:
      return "admin";
    case Role::kWriteEvents:
      return "write-events";
  }
  return "";
}

TEST(MethodsTest, EveryDeclaredMethodHasOneRow) {
  std::set<std::string> rows;
  for (const Method& method : kMethods) {
    EXPECT_TRUE(rows.insert(FullName(method)).second) << FullName(method);
  }
  EXPECT_THAT(rows, ContainerEq(DeclaredMethods()));
}

TEST(MethodsTest, StreamsAreThoseOfTheDeclarations) {
  for (const Method& method : kMethods) {
    const auto* const declared = DescriptorOf(method);
    ASSERT_NE(declared, nullptr) << FullName(method);
    EXPECT_EQ(method.make_handler == nullptr, method.is_stream());
    EXPECT_EQ(declared->client_streaming(), method.is_stream());
    EXPECT_EQ(declared->server_streaming(), method.is_stream());
    EXPECT_EQ(&RequestTypeOf(method), declared->input_type());
  }
}

TEST(MethodsTest, NoTwoMethodsHaveOnePath) {
  std::set<std::string> paths;
  for (const Method& method : kMethods) {
    for (const HttpPath& path : method.http_paths()) {
      EXPECT_TRUE(paths.insert(path.path).second) << path.path;
      EXPECT_EQ(path.form == HttpFormat::kLines, method.is_stream());
    }
  }
}

TEST(MethodsTest, TheGuideNamesTheRoleOfEachMethod) {
  std::map<std::string, std::string> roles;
  for (const Method& method : kMethods) {
    roles[method.name] = RoleName(method.role);
  }
  EXPECT_THAT(DocumentedRoles(), ContainerEq(roles));
}

// Clients of the other products only read these.
bool IsReadAlone(HttpFormat form) {
  return form == HttpFormat::kTeiInfo || form == HttpFormat::kOpenAiModels ||
         form == HttpFormat::kOpenAiModel;
}

TEST(MethodsTest, OpenApiHasEachPathWithItsHttpMethods) {
  auto document = nlohmann::json::parse(
      ReadText(kProtoFolder / "semrank/v1/openapi.json"), nullptr, false);
  std::set<std::string> posts;
  for (const auto& [path, operations] : document["paths"].items()) {
    if (operations.contains("post")) posts.insert(path);
  }
  std::set<std::string> expected;
  for (const Method& method : kMethods) {
    for (const HttpPath& path : method.http_paths()) {
      const std::string name =
          std::string(path.path) +
          (path.path[strlen(path.path) - 1] == '/' ? "{name}" : "");
      const auto& operations = document["paths"][name];
      EXPECT_EQ(operations.contains("get"), path.takes_get) << name;
      if (!IsReadAlone(path.form)) expected.insert(name);
    }
  }
  EXPECT_THAT(posts, ContainerEq(expected));
}

TEST(MethodsTest, EachServiceIsNamedOnce) {
  const std::vector<std::string_view> names = ServiceNames();
  EXPECT_EQ(std::set<std::string_view>(names.begin(), names.end()).size(),
            names.size());
  EXPECT_EQ(names.size(), 5u);
}

}  // namespace
}  // namespace semrank
