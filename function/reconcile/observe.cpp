#include "function/reconcile/observe.hpp"

namespace kro {
namespace {

using base::member;
using k8s::Json;

/// Items of a list of built-in kinds come without apiVersion and kind; with them an item looks like the object itself.
void name_kinds(Json& list, k8s::Resource const& resource) {
    auto const items = list.find("items");
    if (items == list.end()) return;
    for (auto& item : *items) {
        item["apiVersion"] = k8s::api_version(resource);
        item["kind"] = resource.kind;
    }
}

Seen seen_in(k8s::Answer answer, Target const& target) {
    Seen seen;
    if (answer.result) {
        seen.state = Seen::State::Present;
        seen.object = std::move(answer.result).value();
        if (target.key.name.empty()) name_kinds(seen.object, target.resource);
        return seen;
    }
    k8s::Error error = std::move(answer.result).error();
    bool const discovery = target.resource.version.empty();
    if (error.is_absence() || (discovery && error.kind == k8s::Error::Kind::NotFound)) return seen;
    seen.state = Seen::State::Failed;
    seen.error = std::move(error);
    return seen;
}

std::vector<k8s::Answer> ask(Clusters& clusters, std::vector<Addressed> const& round, Json const& kubeconfig,
                             base::Deadline deadline, Report& report) {
    auto answers = clusters.send(round, kubeconfig, deadline);
    Round exchanges;
    for (std::size_t i = 0; i < round.size(); ++i) exchanges.push_back(exchange_of(round[i], answers[i], report.keep));
    add_round(report, std::move(exchanges));
    return answers;
}

/// The group's versions are known; what each of them serves is not. Makes a list of APIResourceLists of it.
void look_into_group(Clusters& clusters, Observed const& observed, Target const& target, Seen& group, base::Deadline deadline,
                     Report& report) {
    std::vector<Addressed> round;
    for (auto const& version : member(group.object, "versions")) {
        k8s::Resource resource = target.resource;
        resource.version = clusters.keep(base::text_of(member(version, "version")));
        round.push_back({target.cluster, k8s::discover(resource)});
    }
    Json lists = Json::array();
    for (auto& answer : ask(clusters, round, kubeconfig_of(observed), deadline, report)) {
        if (answer.result) {
            lists.push_back(std::move(answer.result).value());
        } else {
            group.state = Seen::State::Failed;
            group.error = std::move(answer.result).error();
        }
    }
    group.object = {{"items", std::move(lists)}};
}

}  // namespace

Json const& kubeconfig_of(Observed const& observed) {
    static Json const null;
    auto const target = kubeconfig_target(observed);
    if (!target) return null;
    auto const found = observed.seen.find(*target);
    return found == observed.seen.end() ? null : found->second.object;
}

void observe(Clusters& clusters, Observed& observed, std::vector<Target> const& targets, base::Deadline deadline,
             Report& report) {
    std::vector<Addressed> round;
    round.reserve(targets.size());
    for (auto const& target : targets) round.push_back({target.cluster, read_of(target)});
    auto answers = ask(clusters, round, kubeconfig_of(observed), deadline, report);
    for (std::size_t i = 0; i < targets.size(); ++i) {
        Seen seen = seen_in(std::move(answers[i]), targets[i]);
        if (seen.present() && targets[i].resource.version.empty()) {
            look_into_group(clusters, observed, targets[i], seen, deadline, report);
        }
        observed.seen[targets[i]] = std::move(seen);
    }
}

}  // namespace kro
