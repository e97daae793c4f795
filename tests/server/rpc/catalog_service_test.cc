#include "tests/server/rpc/catalog_fixture.h"
#include "tests/server/rpc/raw_stream.h"
#include "tests/support/tiny_model.h"

namespace semrank {
namespace {

using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;

constexpr auto kNotFound = grpc::StatusCode::NOT_FOUND;

class CatalogServiceTest : public CatalogFixture {};

TEST_F(CatalogServiceTest, WhatIsPutIsFoundByKeyAndBySearch) {
  PutFour();
  EXPECT_EQ(put_.num_created(), 4u);
  EXPECT_EQ(put_.num_replaced(), 0u);
  EXPECT_EQ(put_.model().name(), "tiny");
  v1::GetDocumentsRequest get;
  get.add_ids(7);
  get.add_ids(9);
  get.add_document_ids("gimp");
  get.add_document_ids("7");
  get.set_with_payloads(true);
  get.set_with_vectors(true);
  ASSERT_THAT(Get(get), Succeeds());
  ASSERT_EQ(got_.documents_size(), 2);
  EXPECT_EQ(got_.documents(0).title(), "image viewer");
  EXPECT_EQ(got_.documents(1).payload(), "about gimp");
  EXPECT_EQ(got_.vectors().size(), 2 * 16 * sizeof(float));
  EXPECT_EQ(got_.model().version(), 1);
  ASSERT_EQ(got_.problems_size(), 2);
  EXPECT_EQ(got_.problems(0).index(), 1u);
  EXPECT_EQ(got_.problems(1).index(), 3u);
  EXPECT_EQ(ErrorInfoOf(got_.problems(1).status()).reason(),
            "DOCUMENT_NOT_FOUND");

  v1::SearchDocumentsRequest search = Query("photo editor");
  search.set_top_k(3);
  search.set_with_titles(true);
  search.set_with_payloads(true);
  ASSERT_THAT(Search(search), Succeeds());
  EXPECT_EQ(found_.hits_size(), 3);
  EXPECT_EQ(found_.num_documents_searched(), 4u);
  EXPECT_EQ(found_.score_kind(), v1::SCORE_KIND_COSINE);
  EXPECT_EQ(found_.query_known_features().num_words(), 2u);
  EXPECT_EQ(found_.query_known_features().num_known_ngrams(), 11u);
  EXPECT_GT(found_.timings().total_nanos(), 0);
  EXPECT_EQ(Metric("semrank_catalog_documents_put_total"), 4);
  EXPECT_EQ(Metric("semrank_catalog_searches_total"), 1);
  EXPECT_EQ(admission_.inflight_texts(), 0);
}

TEST_F(CatalogServiceTest, ABadDocumentIsAProblemOfItsOwn) {
  v1::PutDocumentsRequest request;
  AddNamed("a", "good", request);
  request.add_documents()->set_title("no key");
  AddNamed("", "empty name", request);
  AddNamed(std::string(513, 'n'), "long name", request);
  AddNamed("b", std::string(101, 't'), request);
  AddNamed("c", "big", request);
  request.mutable_documents(5)->set_payload(std::string(4'097, 'p'));
  ASSERT_THAT(Put(request), Succeeds());
  EXPECT_EQ(put_.num_created(), 1u);
  std::vector<std::string> reasons;
  for (const v1::Problem& problem : put_.problems()) {
    reasons.push_back(std::to_string(problem.index()) +
                      ErrorInfoOf(problem.status()).reason());
  }
  EXPECT_THAT(reasons, ElementsAre("1INVALID_FIELD", "2INVALID_FIELD",
                                   "3DOCUMENT_ID_TOO_LONG", "4TEXT_TOO_LONG",
                                   "5PAYLOAD_TOO_LONG"));
}

TEST_F(CatalogServiceTest, CallersMistakesHaveTheirReasons) {
  EXPECT_THAT(Put({}), FailsWith(kInvalid, "NO_DOCUMENTS"));
  EXPECT_THAT(Get({}), FailsWith(kInvalid, "NO_DOCUMENTS"));
  EXPECT_THAT(Delete({}), FailsWith(kInvalid, "NO_DOCUMENTS"));
  EXPECT_THAT(Search({}), FailsWith(kInvalid, "EMPTY_QUERY"));
  v1::SearchDocumentsRequest search = Query("q");
  search.set_top_k(51);
  EXPECT_THAT(Search(search), FailsWith(kInvalid, "INVALID_FIELD"));
  search = Query("q");
  search.mutable_model()->set_version(2);
  EXPECT_THAT(Search(search), FailsWith(kNotFound, "MODEL_NOT_FOUND"));
  search.mutable_model()->set_version(-1);
  EXPECT_THAT(Search(search), FailsWith(kInvalid, "INVALID_FIELD"));
  search = Query("q");
  search.set_min_score(std::numeric_limits<float>::quiet_NaN());
  EXPECT_THAT(Search(search), FailsWith(kInvalid, "INVALID_FIELD"));
  v1::PutDocumentsRequest many;
  for (int i = 0; i < 3'001; ++i) AddNumbered(i, "t", many);
  EXPECT_THAT(Put(many), FailsWith(kInvalid, "TOO_MANY_TEXTS"));
  EXPECT_THAT(CallRaw("CatalogService/PutDocuments", "\x0a\xff"),
              FailsWith(kInvalid, "MALFORMED_MESSAGE"));
  EXPECT_THAT(CallRaw("CatalogService/PutDocuments", "\x0a\x03\x1a\x01\xff"),
              FailsWith(kInvalid, "INVALID_UTF8"));
}

TEST_F(CatalogServiceTest, AnEmptyCatalogGivesNoHit) {
  ASSERT_THAT(Search(Query("q")), Succeeds());
  EXPECT_EQ(found_.hits_size(), 0);
  EXPECT_EQ(found_.num_documents_searched(), 0u);
}

TEST_F(CatalogServiceTest, DeletedAndExcludedDocumentsAreNotFound) {
  PutFour();
  v1::DeleteDocumentsRequest request;
  request.add_ids(7);
  request.add_ids(70);
  request.add_document_ids("mutt");
  ASSERT_THAT(Delete(request), Succeeds());
  EXPECT_EQ(deleted_.num_deleted(), 2u);
  ASSERT_EQ(deleted_.problems_size(), 1);
  EXPECT_EQ(deleted_.problems(0).index(), 1u);
  v1::SearchDocumentsRequest search = Query("q");
  ASSERT_THAT(Search(search), Succeeds());
  EXPECT_THAT(HitNames(), UnorderedElementsAre("gimp", "8"));
  search.add_exclude_ids(8);
  search.add_exclude_ids(7);
  search.add_exclude_document_ids("8");
  ASSERT_THAT(Search(search), Succeeds());
  EXPECT_THAT(HitNames(), ElementsAre("gimp"));
  EXPECT_EQ(found_.num_documents_searched(), 1u);
}

TEST_F(CatalogServiceTest, ADeletionWithATooLongNameDeletesNothing) {
  PutFour();
  v1::DeleteDocumentsRequest request;
  request.add_document_ids("gimp");
  request.add_document_ids(std::string(513, 'n'));
  EXPECT_THAT(Delete(request), FailsWith(kInvalid, "DOCUMENT_ID_TOO_LONG"));
  EXPECT_EQ(catalog_.documents.GetStats().num_documents, 4u);
  request.set_document_ids(1, std::string(512, 'n'));
  ASSERT_THAT(Delete(request), Succeeds());
  EXPECT_EQ(deleted_.num_deleted(), 1u);
}

TEST_F(CatalogServiceTest, TagsAreReturnedAndFilterSearchAndRank) {
  v1::PutDocumentsRequest put;
  for (int i = 0; i < 9; ++i) {
    AddNumbered(i, "title " + std::to_string(i), put);
    put.mutable_documents(i)->add_tags(i % 3 == 0 ? "dev" : "app");
  }
  put.mutable_documents(3)->add_tags("app");
  ASSERT_THAT(Put(put), Succeeds());
  v1::GetDocumentsRequest get;
  get.add_ids(3);
  ASSERT_THAT(Get(get), Succeeds());
  EXPECT_THAT(got_.documents(0).tags(), ElementsAre("app", "dev"));
  v1::SearchDocumentsRequest search = Query("title");
  search.mutable_filter()->add_include_tags("app");
  search.mutable_filter()->add_exclude_tags("dev");
  search.add_exclude_ids(1);
  search.add_exclude_ids(3);
  ASSERT_THAT(Search(search), Succeeds());
  EXPECT_THAT(HitNames(), UnorderedElementsAre("2", "4", "5", "7", "8"));
  EXPECT_EQ(found_.num_documents_searched(), 5u);
  v1::RankRequest rank;
  rank.set_query("title");
  rank.add_titles("title");
  for (const int id : {3, 4, 6}) rank.add_ids(id);
  rank.mutable_filter()->add_exclude_tags("dev");
  ASSERT_THAT(Rank(rank), Succeeds());
  EXPECT_THAT(ranked_.indices(), UnorderedElementsAre(0u, 2u));
  EXPECT_EQ(ranked_.problems_size(), 0);
}

TEST_F(CatalogServiceTest, PagesContinueEachOther) {
  PutFour();
  v1::SearchDocumentsRequest search = Query("photo");
  ASSERT_THAT(Search(search), Succeeds());
  const std::vector<std::string> all = HitNames();
  std::vector<std::string> pages;
  search.set_top_k(1);
  for (int page = 0; page < 5; ++page) {
    search.set_offset(page);
    ASSERT_THAT(Search(search), Succeeds());
    for (std::string& name : HitNames()) pages.push_back(std::move(name));
  }
  EXPECT_EQ(pages, all);
  search.set_offset(50);
  EXPECT_THAT(Search(search), FailsWith(kInvalid, "INVALID_FIELD"));
}

TEST_F(CatalogServiceTest, SearchLiftsTheDocumentThatTheQueryNames) {
  v1::PutDocumentsRequest put;
  for (int i = 0; i < 100; ++i) {
    AddNumbered(i, "gimp gimp " + std::to_string(i), put);
  }
  AddNamed("GIMP", "an image editor", put);
  ASSERT_THAT(Put(put), Succeeds());
  v1::SearchDocumentsRequest search = Query("Gimp");
  search.set_top_k(2);
  ASSERT_THAT(Search(search), Succeeds());
  EXPECT_EQ(HitNames()[0], "GIMP");
  EXPECT_EQ(found_.hits(0).name_match(), v1::NAME_MATCH_NAME);
  EXPECT_EQ(found_.hits(1).name_match(), v1::NAME_MATCH_LEADING_WORDS);
  search.set_name_match(false);
  ASSERT_THAT(Search(search), Succeeds());
  EXPECT_EQ(found_.hits(0).name_match(), v1::NAME_MATCH_UNSPECIFIED);
  EXPECT_NE(HitNames()[0], "GIMP");
}

TEST_F(CatalogServiceTest, BadTagsAreRefusedByName) {
  v1::PutDocumentsRequest put;
  for (int i = 0; i < 4; ++i) AddNumbered(i, "title", put);
  for (int i = 0; i < 40; ++i) {
    put.mutable_documents(0)->add_tags(std::to_string(i));
  }
  put.mutable_documents(1)->add_tags(std::string(65, 'x'));
  put.mutable_documents(2)->add_tags("");
  put.mutable_documents(3)->add_tags(std::string(64, 'x'));
  ASSERT_THAT(Put(put), Succeeds());
  EXPECT_EQ(put_.num_created(), 1u);
  std::vector<std::string> reasons;
  for (const v1::Problem& problem : put_.problems()) {
    reasons.push_back(ErrorInfoOf(problem.status()).reason());
  }
  EXPECT_THAT(reasons,
              ElementsAre("TOO_MANY_TAGS", "TAG_TOO_LONG", "INVALID_FIELD"));
  v1::SearchDocumentsRequest search = Query("q");
  search.mutable_filter()->add_include_tags(std::string(65, 'x'));
  EXPECT_THAT(Search(search), FailsWith(kInvalid, "TAG_TOO_LONG"));
  for (int i = 0; i < 300; ++i) search.mutable_filter()->add_exclude_tags("x");
  search.mutable_filter()->clear_include_tags();
  EXPECT_THAT(Search(search), FailsWith(kInvalid, "TOO_MANY_TAGS"));
}

TEST_F(CatalogServiceTest, StreamAcknowledgesPieceByPiece) {
  grpc::ClientContext context;
  const auto stream = stub_->PutDocumentsStream(&context);
  v1::PutDocumentsStreamResponse response;
  for (int piece = 0; piece < 3; ++piece) {
    v1::PutDocumentsStreamRequest request;
    for (std::uint64_t i = 0; i < 1'500; ++i) {
      v1::Document& document = *request.add_documents();
      document.set_id(piece * 1'000 + i);
      document.set_title("title " + std::to_string(i));
    }
    ASSERT_TRUE(stream->Write(request));
    ASSERT_TRUE(stream->Read(&response));
    EXPECT_EQ(response.first_document(), piece * 1'500u);
    EXPECT_EQ(response.num_created(), piece == 0 ? 1'500u : 1'000u);
    EXPECT_EQ(response.num_replaced(), piece == 0 ? 0u : 500u);
  }
  ASSERT_TRUE(stream->Write({}));
  ASSERT_TRUE(stream->Read(&response));
  EXPECT_EQ(response.first_document(), 4'500u);
  stream->WritesDone();
  EXPECT_THAT(stream->Finish(), Succeeds());
  EXPECT_EQ(catalog_.documents.GetStats().num_documents, 3'500u);
}

TEST_F(CatalogServiceTest, AStreamKeepsWhatItAnsweredBeforeABadMessage) {
  RawStream raw(channel_, "CatalogService/PutDocumentsStream");
  v1::PutDocumentsRequest piece;
  AddNamed("a", "kept", piece);
  ASSERT_TRUE(raw.Write(piece.SerializeAsString()));
  std::string answer;
  ASSERT_TRUE(raw.Read(answer));
  ASSERT_TRUE(raw.Write("\x0a\xff"));
  EXPECT_FALSE(raw.Read(answer));
  EXPECT_THAT(raw.Finish(), FailsWith(kInvalid, "MALFORMED_MESSAGE"));
  EXPECT_EQ(catalog_.documents.GetStats().num_documents, 1u);
}

TEST_F(CatalogServiceTest, SearchCostsPermitsByTheCatalogsSize) {
  v1::PutDocumentsRequest request;
  for (std::uint64_t i = 0; i < 3'000; ++i) AddNumbered(i, "t", request);
  ASSERT_THAT(Put(request), Succeeds());
  SearchResult result;
  EXPECT_EQ(catalog_.searcher.Begin(result), 1 + 3'000 / 64);
  const auto permit = admission_.Admit(kLimits.max_inflight_texts - 10);
  EXPECT_THAT(Search(Query("q")),
              FailsWith(grpc::StatusCode::RESOURCE_EXHAUSTED, "OVERLOADED"));
}

TEST_F(CatalogServiceTest, ANewModelAnswersOnceEveryDocumentHasItsVector) {
  PutFour();
  folder_.Put(2, MakeTinyModel({.version = 2, .embedding_dim = 8, .seed = 2}));
  ASSERT_TRUE(models_.Refresh().ok());
  ASSERT_THAT(Search(Query("edit photos")), Succeeds());
  EXPECT_EQ(found_.model().version(), 1);
  // Rank has the new model at once, and embeds the titles for it.
  v1::RankRequest rank;
  rank.set_query("edit photos");
  rank.add_document_ids("gimp");
  rank.add_titles("photo editor");
  ASSERT_THAT(Rank(rank), Succeeds());
  EXPECT_EQ(ranked_.model().version(), 2);
  EXPECT_EQ(ranked_.scores(0), ranked_.scores(1));
  const float score = ranked_.scores(0);
  FollowModel();
  v1::SearchDocumentsRequest search = Query("edit photos");
  ASSERT_THAT(Search(search), Succeeds());
  EXPECT_EQ(found_.model().version(), 2);
  EXPECT_EQ(found_.hits_size(), 4);
  for (const v1::DocumentHit& hit : found_.hits()) {
    if (hit.document_id() != "gimp") continue;
    EXPECT_EQ(hit.score(), score);
  }
  search.mutable_model()->set_version(1);
  EXPECT_THAT(Search(search), FailsWith(kNotFound, "MODEL_NOT_FOUND"));
}

}  // namespace
}  // namespace semrank
