#include "semrank/v1/event_service.grpc.pb.h"
#include "semrank/v1/ranking_service.grpc.pb.h"
#include "tests/server/rpc/rpc_server_fixture.h"
#include "tests/support/event_folder.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"

namespace semrank {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

struct EventFolder {
  TempDir dir;
};

// The folder comes before the server that locks it.
class EventServiceTest : private EventFolder, public RpcServerFixture {
 protected:
  EventServiceTest() : RpcServerFixture(kLimits, dir.path()) {}

  static v1::ReportEventsRequest Click(const std::string& impression) {
    v1::ReportEventsRequest request;
    v1::Event& event = *request.add_events();
    event.set_impression_id(impression);
    event.set_kind("click");
    event.set_position(1);
    return request;
  }
  grpc::Status Report(const v1::ReportEventsRequest& request) {
    grpc::ClientContext context;
    response_.Clear();
    return stub_->ReportEvents(&context, request, &response_);
  }
  std::string Folder() const { return dir.path(); }

  std::unique_ptr<v1::EventService::Stub> stub_ =
      v1::EventService::NewStub(channel_);
  v1::ReportEventsResponse response_;
};

TEST_F(EventServiceTest, EachRankOfAStreamHasAnImpression) {
  grpc::ClientContext context;
  const auto stream =
      v1::RankingService::NewStub(channel_)->RankStream(&context);
  v1::RankStreamRequest request;
  request.mutable_request()->set_query("q");
  request.mutable_request()->add_titles("a");
  request.mutable_request()->mutable_impression();
  std::vector<std::string> ids;
  for (int i = 0; i < 2; ++i) {
    v1::RankStreamResponse response;
    ASSERT_TRUE(stream->Write(request) && stream->Read(&response));
    ids.push_back(response.response().impression_id());
  }
  stream->WritesDone();
  EXPECT_THAT(stream->Finish(), Succeeds());
  EXPECT_NE(ids[0], ids[1]);
  ASSERT_THAT(Report(Click(ids[1])), Succeeds());
  EXPECT_EQ(response_.accepted(), 1u);
  EXPECT_EQ(response_.unknown_impressions(), 0u);
  EXPECT_THAT(RecordsOf<Impression>(Folder()), SizeIs(2));
}

TEST_F(EventServiceTest, ManyReportsWaitAtOnce) {
  constexpr int kCalls = 64;
  const v1::ReportEventsRequest request = Click("list");
  std::vector<std::promise<grpc::Status>> done(kCalls);
  std::vector<grpc::ClientContext> contexts(kCalls);
  std::vector<v1::ReportEventsResponse> responses(kCalls);
  for (int i = 0; i < kCalls; ++i) {
    stub_->async()->ReportEvents(
        &contexts[i], &request, &responses[i],
        [&done, i](const grpc::Status& status) { done[i].set_value(status); });
  }
  for (std::promise<grpc::Status>& one : done) {
    EXPECT_THAT(one.get_future().get(), Succeeds());
  }
  EXPECT_THAT(RecordsOf<Event>(Folder()), SizeIs(kCalls));
  EXPECT_EQ(Metric("semrank_events_total{kind=\"click\"}"), kCalls);
}

TEST_F(EventServiceTest, BytesThatAreNoReportAreRefused) {
  for (const char* bytes : {"\xff", "\x0a\x7f", "\x0b"}) {
    EXPECT_THAT(CallRaw("EventService/ReportEvents", bytes),
                FailsWith(kInvalid, "MALFORMED_MESSAGE"));
  }
  // The fields document of an event, and query and title of a list.
  v1::ReportEventsRequest event = Click("list"), list;
  event.mutable_events(0)->set_document("d");
  list.add_impressions()->set_query("q");
  v1::ReportEventsRequest titles;
  titles.add_impressions()->add_results()->set_title("t");
  for (const auto& [good, text] :
       {std::pair(event, "d"), std::pair(list, "q"), std::pair(titles, "t")}) {
    std::string bytes = good.SerializeAsString();
    bytes[bytes.rfind(text)] = '\xff';
    EXPECT_THAT(CallRaw("EventService/ReportEvents", bytes),
                FailsWith(kInvalid, "INVALID_UTF8"));
  }
}

TEST_F(EventServiceTest, AMillionEventsInOneReportAreRefused) {
  v1::ReportEventsRequest request = Click("list");
  for (std::int64_t i = 0; i < kLimits.max_texts_per_request; ++i) {
    *request.add_events() = request.events(0);
  }
  EXPECT_THAT(Report(request), FailsWith(kInvalid, "TOO_MANY_TEXTS"));
}

TEST_F(EventServiceTest, AnEmptyReportKeepsNothing) {
  EXPECT_THAT(Report({}), Succeeds());
  EXPECT_EQ(response_.accepted(), 0u);
}

}  // namespace
}  // namespace semrank
