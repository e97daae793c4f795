// The catalog from the command line to the server and back.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/http_client.h"
#include "tests/support/run_program.h"
#include "tests/support/server_process.h"
#include "tests/support/temp_dir.h"
#include "tests/support/tiny_model.h"

namespace semrank {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr const char* kServer = SEMRANK_BINARY_DIR "/semrank-server";
constexpr const char* kProgram = SEMRANK_BINARY_DIR "/semrank";

class CatalogTest : public ::testing::Test {
 protected:
  ProgramResult Run(std::vector<std::string> arguments,
                    const std::string& input = "") {
    arguments.insert(arguments.begin(),
                     {kProgram, "--address=" + server_.grpc_address()});
    return RunProgram(arguments, {.input = input});
  }

  std::string Publish() const {
    PublishTinyModel(dir_.File("shop"));
    return dir_.File("shop");
  }

  const TempDir dir_;
  ServerProcess server_{kServer,
                        {"--model_dir=" + Publish(), "--max_text_bytes=100"}};
};

TEST_F(CatalogTest, PutDocumentsAreFoundByTitle) {
  std::string documents;
  for (int i = 0; i < 2'500; ++i) {
    documents += std::to_string(i) + "\tsome title " + std::to_string(i) + "\n";
  }
  documents += "gimp\tphoto editor\n";
  const std::string file = dir_.Write("docs.tsv", documents);
  auto run = Run({"put", "--documents=" + file});
  EXPECT_EQ(run.out, "2,501 new, 0 replaced, 0 refused, of 2,501 documents\n");
  EXPECT_EQ(run.exit_code, 0);
  run = Run({"put", "--documents=" + file});
  EXPECT_EQ(run.out, "0 new, 2,501 replaced, 0 refused, of 2,501 documents\n");

  run = Run({"search", "--query=photo editor", "--top_k=1"});
  EXPECT_THAT(run.out, StartsWith("1\t"));
  EXPECT_EQ(run.exit_code, 0) << run.err;
  run = Run({"search", "--query=q", "--output=json"});
  EXPECT_THAT(run.out,
              AllOf(StartsWith("{\"query\":\"q\",\"model\":{\"name\":\"shop\""),
                    HasSubstr("\"num_documents_searched\":2501"),
                    HasSubstr("\"document_id\":")));
  EXPECT_THAT(HttpGet(server_.http_address(), "/metrics").body,
              HasSubstr("\nsemrank_catalog_documents 2501\n"));
  EXPECT_THAT(HttpGet(server_.http_address(), "/statusz").body,
              HasSubstr("documents</th><td>2,501</td>"));
}

TEST_F(CatalogTest, SearchFiltersByTheTagsOfTheThirdColumn) {
  auto run = Run({"put", "--documents=-", "--with_tags"},
                 "gimp\tphoto\teditor\tgui,photo\ngimp-dev\tphotos\tdev\n"
                 "plain\tno tags\t\n");
  EXPECT_EQ(run.out, "3 new, 0 replaced, 0 refused, of 3 documents\n");
  run = Run({"search", "--query=photo", "--include_tags=gui,dev",
             "--exclude_tags=dev"});
  EXPECT_EQ(run.err, "");
  EXPECT_THAT(run.out, AllOf(StartsWith("1\t"), HasSubstr("\tgimp\t"),
                             Not(HasSubstr("gimp-dev"))));
  run = Run({"search", "--query=photo", "--exclude_tags=dev", "--offset=2"});
  EXPECT_EQ(run.out, "");
  EXPECT_EQ(run.err, "no hits: 2 documents searched\n");
}

TEST_F(CatalogTest, SearchOfAnEmptyCatalogSaysSo) {
  auto run = Run({"search", "--query=photo"});
  EXPECT_EQ(run.out, "");
  EXPECT_THAT(run.err, StartsWith("no hits: the catalog is empty"));
  EXPECT_EQ(run.exit_code, 0);
  run = Run({"search", "--query=photo", "--output=json"});
  EXPECT_EQ(run.err, "");
}

TEST_F(CatalogTest, RefusedDocumentsAreReportedAndOthersKept) {
  const auto run = Run({"put", "--documents=-", "--numeric_ids"},
                       "7\tgood\n8\t" + std::string(101, 'x') + "\n");
  EXPECT_EQ(run.out, "1 new, 0 replaced, 1 refused, of 2 documents\n");
  EXPECT_THAT(run.err, HasSubstr("not put: 8: documents[1].title: 101 bytes"));
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_THAT(Run({"search", "--query=good", "--output=json"}).out,
              HasSubstr("\"id\":7,"));
}

TEST_F(CatalogTest, InterruptedPutSaysWhereToContinue) {
  std::string documents;
  for (int i = 1; i <= 20'000; ++i) {
    documents += std::to_string(i) + "\ttitle\n";
  }
  const std::string file =
      dir_.Write("docs.tsv", documents + "no id\nz\tlast\n");
  auto run = Run({"put", "--documents=" + file, "--max_bad_lines=0"});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_THAT(run.err, AllOf(HasSubstr(file + ":20001: \"no id\" has no id"),
                             HasSubstr("continue with --skip_lines=20000")));
  run = Run({"put", "--documents=" + file, "--skip_lines=20001"});
  EXPECT_EQ(run.out, "1 new, 0 replaced, 0 refused, of 1 document\n");
  run = Run({"put", "--documents=" + file, "--skip_lines=19990", "--shard=1/5",
             "--max_bad_lines=0"});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_EQ(run.out, "");
}

TEST_F(CatalogTest, AFirstLineWithoutIdIsWrongUse) {
  auto run = Run({"put", "--documents=-"}, "no id here\n");
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_THAT(run.err, HasSubstr("doc_id<TAB>title"));
  run = Run({"put", "--documents=-", "--numeric_ids"}, "seven\ttitle\n");
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_THAT(run.err, HasSubstr("\"seven\" is not a number"));
  run = Run({"put", "--documents=-"}, "1\ttitle\nno id here\n");
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_THAT(run.err, HasSubstr("-:2: \"no id here\" has no id"));
  EXPECT_EQ(Run({"put"}).exit_code, 2);
  EXPECT_EQ(Run({"search"}).exit_code, 2);
}

}  // namespace
}  // namespace semrank
