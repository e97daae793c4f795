// Stages of work that wait for what they need and for nothing else: while the
// last pieces of one stage run, threads that are free go on with another.
//
//   WorkGraph     which stages there are, and which need which.
//   WorkSchedule  one run of it: what can be done next.
//   Promise       the pieces of a stage see all that the stages it needs, and
//                 those that these needed, have written.
//   Threads       one at a time; ThreadPool::Run holds its mutex.
#ifndef SEMRANK_MODEL_BASE_WORK_GRAPH_H_
#define SEMRANK_MODEL_BASE_WORK_GRAPH_H_

#include <functional>
#include <optional>
#include <vector>

#include "model/base/work_list.h"

namespace semrank {

class WorkGraph {
 public:
  // Stages are numbered from 0 in the order in which they are added; of those
  // that can be done, the first is.
  using Stage = int;
  using Stages = std::vector<Stage>;
  using AddWork = std::function<void(WorkList& work)>;

  // A stage of the pieces that `add_work` adds, perhaps none. It is called when
  // all of `needs` have ended, by any thread, while pieces of other stages may
  // run, and is short: other threads wait for it.
  Stage Add(Stages needs, AddWork add_work);

 private:
  friend class WorkSchedule;
  struct Node {
    Stages needs;
    AddWork add_work;
  };
  std::vector<Node> nodes_;
};

class WorkSchedule {
 public:
  struct Job {
    WorkGraph::Stage stage;
    const WorkList* work;
    int piece;
  };

  // `graph` outlives the schedule.
  explicit WorkSchedule(const WorkGraph& graph);

  // The next piece to run. None when all are handed out, or while what is left
  // needs pieces that still run.
  std::optional<Job> Take();
  // Whether Take would find one.
  bool HasWork() const;
  // `job` has run.
  void Finish(const Job& job);
  // Everything has run.
  bool ended() const;

 private:
  struct State {
    WorkList work;
    bool has_begun = false;
    int next_piece = 0;
    int num_unfinished = 0;

    bool has_ended() const { return has_begun && num_unfinished == 0; }
    bool has_pieces() const { return next_piece < work.num_pieces(); }
  };

  bool CanBegin(WorkGraph::Stage stage) const;
  void Begin(WorkGraph::Stage stage);

  const WorkGraph& graph_;
  std::vector<State> states_;  // by stage; does not move
};

}  // namespace semrank

#endif  // SEMRANK_MODEL_BASE_WORK_GRAPH_H_
