#include "function/explain_command.hpp"

#include "function/open_clusters.hpp"
#include "function/report/episode_of.hpp"
#include "function/report/timeline.hpp"
#include "k8s/overlay_api.hpp"

#include <algorithm>
#include <iostream>
#include <random>

namespace kro {
namespace {

constexpr int kFailed = 1;
/// Longer than the API servers' own timeouts.
constexpr std::chrono::minutes kPatience{2};

bool has_changes(Episode::Part const& part) {
    return std::any_of(part.rounds.begin(), part.rounds.end(),
                       [](Episode::Round const& round) { return !round.changes.empty(); });
}

std::string random_key() {
    std::random_device random;
    std::string key;
    for (int i = 0; i < 4; ++i) key += std::to_string(random()) + "-";
    return key;
}

}  // namespace

int explain(Clusters& clusters, Settings const& settings, base::Time time, std::string const& key, std::ostream& out) {
    Provider const provider{.name = settings.provider_name, .namespace_ = settings.namespace_};
    Tenant const& tenant = settings.explain.tenant;
    auto const deadline = std::chrono::steady_clock::now() + kPatience;
    Report const report = reconcile({clusters, provider, Keep::Contents}, tenant, About::Anything, time, deadline);
    Redactor const redactor{Placeholders{key}};
    Episode::Part const part = part_of(report, &redactor);
    std::string const next = has_changes(part) ? "what would be done now:" : "nothing to do:";
    if (settings.explain.output == OutputForm::JsonLines) {
        k8s::Json json = to_json(part);
        json["time"] = base::rfc3339(time);
        json["settled"] = !has_changes(part);
        out << base::dump_json(json) << std::endl;
    } else {
        out << to_string(tenant) << " at " << base::rfc3339(time) << ", " << next << "\n" << timeline_of(part) << std::flush;
    }
    return report.outcome.kind == Outcome::Kind::Retry ? kFailed : 0;
}

int explain_command(Settings const& settings) {
    auto const clusters = open_clusters(settings, [](SharedApi api) {
        return std::make_shared<k8s::OverlayApi>(std::move(api), base::system_clock(), k8s::OverlayApi::Writes::Imagined);
    });
    if (!clusters) {
        std::cerr << "kro-function: " << clusters.error().message << std::endl;
        return kFailed;
    }
    return explain(**clusters, settings, base::system_clock()(), random_key(), std::cout);
}

}  // namespace kro
