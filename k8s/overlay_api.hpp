#pragma once

#include "k8s/memory_api.hpp"

#include <memory>
#include <mutex>
#include <optional>
#include <string>

namespace k8s {

/// A view of an API server that nothing is written to: reads are its own, writes stay here, and what they would have made is seen by
/// later requests. Only gets, lists and discoveries reach the server, and where it is asked for dry runs, writes with `dry_run` set.
///
/// Differs knowingly: a list that is visited shows what the server has, without what was written here. Safe to use from several threads
/// at once.
class OverlayApi final : public Api {
  public:
    enum class Writes {
        Imagined,  ///< carried out here, by the rules that MemoryApi knows
        DryRun,  ///< the server says what it would make of them, or why it would refuse; what builds on another write of this view is
                 ///< carried out here, since the server does not have that
    };

    OverlayApi(std::shared_ptr<Api> server, base::Clock clock, Writes writes);

    std::vector<Answer> send(std::span<Request const> batch, base::Deadline deadline) override;

    /// Forgets every write: the view is again what the server has.
    void forget();

  private:
    struct View;

    std::shared_ptr<View> view() const;
    Answer write(View& view, Request const& request, base::Deadline deadline);
    std::optional<Answer> dry_run(View& view, Request request, base::Deadline deadline);
    std::optional<Error> fetch(View& view, Resource const& resource, ObjectKey const& key, base::Deadline deadline);

    std::shared_ptr<Api> server_;
    base::Clock clock_;
    Writes writes_;
    mutable std::mutex mutex_;
    std::shared_ptr<View> view_;
};

}  // namespace k8s
