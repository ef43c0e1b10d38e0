// Writes a report for the browser's tests: what a replay would, without an archive.
//
//   report_sample story       13 tenants in an hour and a half, four of them in trouble
//   report_sample many N      N events of 200 tenants
//   report_sample hostile     markup and scripts in every field
//   report_sample nothing     no event at all

#include "function/handle/handle.hpp"
#include "function/report/html_report.hpp"

#include <cstdlib>
#include <functional>
#include <iostream>
#include <map>

namespace {

using namespace std::chrono_literals;
using k8s::Json;
using kro::Cluster;
using kro::Episode;
using kro::Outcome;

constexpr base::Time kStart{1'796'029'800s};  // 2026-11-30T09:10:00Z
constexpr std::string_view kKro = "Kro";
constexpr std::string_view kAccess = "AccessRequest";
constexpr std::string_view kSource = "OCIRepository";
constexpr std::string_view kRelease = "HelmRelease";
constexpr std::string_view kAwaitsAccess = "Waiting for access to the control plane";
constexpr std::string_view kAwaitsFlux = "Waiting for managed resources to become ready";

/// What a tenant's Kro says, and which objects there are for it.
struct Tenant {
    std::string namespace_;
    std::string name;
    std::string version = "0.9.1";
    std::string phase = {};
    std::string reason = {};
    std::string message = {};
    std::string since = {};
    std::map<std::string_view, std::string> phases = {};  ///< of the Flux objects
    std::string trouble = {};                             ///< what Flux says of the release

    std::string full_name() const { return namespace_ + "/" + name; }
};

std::string json_text(std::string_view text) { return base::dump_json(Json(text)); }

std::string subject_of(std::string_view kind, Tenant const& tenant) {
    if (kind == kKro) return "Kro " + tenant.name;
    if (kind == kAccess) return "AccessRequest kro.services.openmcp.cloud--" + tenant.name + "--mcp";
    return kind == kSource ? "OCIRepository kro-oci-repository" : "HelmRelease kro-helm-release";
}

Json status_of(Tenant const& tenant) {
    if (tenant.phase.empty()) return {};
    Json const ready = {{"type", "Ready"},
                        {"status", tenant.phase == "Ready" ? "True" : "False"},
                        {"reason", tenant.reason},
                        {"message", tenant.message},
                        {"lastTransitionTime", tenant.since}};
    Json status = {{"observedGeneration", 1}, {"phase", tenant.phase}, {"conditions", {ready}}};
    for (auto const& [kind, phase] : tenant.phases) {
        status["resources"].push_back({{"kind", kind},
                                       {"name", subject_of(kind, tenant).substr(kind.size() + 1)},
                                       {"phase", phase},
                                       {"message", kind == kRelease ? tenant.trouble : ""}});
    }
    return status;
}

Episode::Change change_of(std::string_view kind, Tenant const& tenant, Tenant const& before) {
    std::string const in_namespace = " mcp--23cc2129-a257-8644-95e0-289d55c69704/";
    std::string const subject = subject_of(kind, tenant);
    if (kind == kKro) {
        auto const was = [&](std::string const& text) { return before.phase.empty() ? "" : json_text(text); };
        return {Cluster::Onboarding,
                "apply kros.kro.services.openmcp.cloud " + tenant.full_name() + " status",
                subject,
                "tell the tenant: " + tenant.message,
                "",
                {{"status.conditions[Ready].message", was(before.message), json_text(tenant.message)},
                 {"status.phase", was(before.phase), json_text(tenant.phase)}}};
    }
    if (kind == kAccess) {
        return {Cluster::Platform,
                "apply accessrequests.clusters.openmcp.cloud" + in_namespace + tenant.name,
                subject,
                "ask for access to the control plane",
                "",
                {{"spec.requestRef.name", "", json_text(tenant.name)}}};
    }
    if (kind == kSource) {
        return {Cluster::Platform,
                "apply ocirepositories.source.toolkit.fluxcd.io" + in_namespace + "kro-oci-repository",
                subject,
                "the chart's OCIRepository",
                "",
                {{"spec.ref.tag", before.version == tenant.version ? "" : json_text(before.version), json_text(tenant.version)}}};
    }
    return {Cluster::Platform,
            "apply helmreleases.helm.toolkit.fluxcd.io" + in_namespace + "kro-helm-release",
            subject,
            "the HelmRelease",
            "",
            {{"spec.values.replicas", "1", "2"}, {"spec.values.resources.limits.memory", "", R"("256Mi")"}}};
}

/// Tells event by event, into a report, what becomes of tenants.
class Story {
  public:
    explicit Story(kro::HtmlReport& report) : report_(report) {}

    using Chapter = std::function<void(Tenant&)>;
    void at(std::chrono::milliseconds when, Tenant& tenant, Chapter chapter) {
        chapters_.emplace(when, std::pair{&tenant, chapter});
    }

    void tell(std::size_t most) {
        for (auto const& [when, chapter] : chapters_) {
            now_ = kStart + when;
            if (summary_.events < most) chapter.second(*chapter.first);
        }
    }

    /// An event about an object of the tenant, whose status has a new phase, and what was written for it.
    void event(Tenant& tenant, std::string_view change, std::string_view kind, std::string_view phase, std::string_view message,
               std::vector<std::string_view> const& wrote) {
        Tenant const before = tenant;
        if (phase.empty()) tenant.phases.clear();
        if (phase == "Ready" || before.phase == "Ready" || before.phase.empty()) tenant.since = base::rfc3339(now_);
        if (phase == before.phase) tenant.since = before.since;
        bool const error = phase == "Progressing" && message != kAwaitsAccess && message != kAwaitsFlux;
        tenant.phase = phase;
        tenant.message = message;
        tenant.reason = phase == "Terminating" ? "Terminating"
                        : phase == "Ready"     ? "ReconcileSuccess"
                        : error                ? "ReconcileError"
                                               : "Reconciling";
        Outcome const outcome{
            phase == "Ready" || phase.empty() ? Outcome::Kind::Done : Outcome::Kind::Waiting, std::string{message}, {}};
        Episode::Part part{tenant.full_name(), {{looks(before, kind), {}}}, outcome, status_of(tenant), {}};
        for (auto const& written : wrote) part.rounds.push_back({{}, {change_of(written, tenant, before)}});
        if (before.phase != phase) part.changes = {{"phase", json_text(before.phase), json_text(phase)}};
        add(frame(change, subject_of(kind, tenant), tenant), {part}, outcome);
    }

    /// An event that found an API server out of reach.
    void failure(Tenant& tenant, std::string_view kind) {
        Outcome const outcome{Outcome::Kind::Retry, "get helmreleases.helm.toolkit.fluxcd.io: connection refused", 5s};
        auto round = looks(tenant, kind);
        round.back().found = "connection refused";
        round.back().failed = true;
        add(frame("updated", subject_of(kind, tenant), tenant),
            {{tenant.full_name(), {{round, {}}}, outcome, status_of(tenant), {}}}, outcome);
    }

    void tick() {
        Episode episode = frame("", "", {});
        episode.type = "dev.knative.sources.ping";
        episode.whom = "everyone";
        episode.routed = "a tick: every tenant is looked at";
        add(std::move(episode), {}, {Outcome::Kind::Done, "all tenants are as they should be", {}});
    }

    void end(std::vector<kro::ReplaySummary::Unreadable> unreadable) {
        for (auto const& [name, tenant] : tenants_) summary_.tenants.push_back(tenant);
        summary_.unreadable = unreadable.size();
        summary_.unreadable_entries = std::move(unreadable);
        report_.finish(summary_);
    }

  private:
    Episode frame(std::string_view change, std::string const& object, Tenant const& tenant) const {
        std::string const number = std::to_string(summary_.events + 1);
        Episode episode;
        episode.id = "event-" + number;
        episode.source = "https://10.96.0.1:443";
        episode.type = "dev.knative.apiserver.resource.update";
        episode.time = base::rfc3339_nano(now_);
        episode.where = "events.jsonl:" + number;
        episode.change = change;
        episode.object = object;
        episode.whom = tenant.full_name();
        episode.routed = object.starts_with(kKro) ? "the Kro's own name" : "its annotation names the tenant";
        return episode;
    }

    static std::vector<Episode::Look> looks(Tenant const& tenant, std::string_view kind) {
        auto const found = [](bool there) { return there ? "present" : "absent"; };
        std::vector<Episode::Look> all{
            {Cluster::Onboarding, subject_of(kKro, tenant), "present"},
            {Cluster::Platform, "ProviderConfig kro", "present"},
            {Cluster::Platform, subject_of(kAccess, tenant), found(kind != kKro || !tenant.phases.empty())}};
        if (kind == kSource || kind == kRelease) {
            for (auto const& flux : {kSource, kRelease}) {
                all.push_back({Cluster::Platform, subject_of(flux, tenant), found(tenant.phases.contains(flux))});
            }
        }
        return all;
    }

    void add(Episode episode, std::vector<Episode::Part> parts, Outcome const& outcome) {
        for (auto const& part : parts) {
            std::size_t writes = 0;
            for (auto const& round : part.rounds) {
                episode.requests += round.looks.size() + round.changes.size();
                writes += round.changes.size();
            }
            episode.writes += writes;
            auto& tenant = tenants_[part.tenant];
            Json const ready = part.status.is_null() ? Json() : part.status["conditions"][0];
            tenant = {part.tenant,
                      base::text_of(base::member(part.status, "phase")),
                      base::text_of(base::member(ready, "message")),
                      base::text_of(base::member(ready, "lastTransitionTime")),
                      tenant.events + 1,
                      tenant.writes + writes};
        }
        episode.parts = std::move(parts);
        episode.outcome = outcome;
        episode.answer = kro::answer_for(outcome).status;
        report_.add(episode);
        ++summary_.events;
        ++summary_.outcomes[outcome.kind];
        summary_.requests += episode.requests;
        summary_.writes += episode.writes;
    }

    kro::HtmlReport& report_;
    base::Time now_ = kStart;
    std::multimap<std::chrono::milliseconds, std::pair<Tenant*, Chapter>> chapters_;
    std::map<std::string, kro::ReplaySummary::Tenant> tenants_;
    kro::ReplaySummary summary_;
};

void ordered(Story& story, Tenant& tenant, std::chrono::milliseconds from) {
    story.at(from, tenant, [&](Tenant& it) { story.event(it, "added", kKro, "Progressing", kAwaitsAccess, {kKro, kAccess}); });
}

void granted(Story& story, Tenant& tenant, std::chrono::milliseconds from) {
    ordered(story, tenant, from);
    story.at(from + 21s, tenant, [&](Tenant& it) {
        it.phases = {{kSource, "Progressing"}, {kRelease, "Progressing"}};
        story.event(it, "updated", kAccess, "Progressing", kAwaitsFlux, {kSource, kRelease, kKro});
    });
    story.at(from + 24s, tenant, [&](Tenant& it) {
        it.phases[kSource] = "Ready";
        story.event(it, "updated", kSource, "Progressing", kAwaitsFlux, {kKro});
    });
}

void installed(Story& story, Tenant& tenant, std::chrono::milliseconds from) {
    granted(story, tenant, from);
    story.at(from + 70s, tenant, [&](Tenant& it) {
        it.phases[kRelease] = "Ready";
        story.event(it, "updated", kRelease, "Ready", "Domain Service is ready", {kKro});
    });
}

void settled(Story& story, Tenant& tenant, std::chrono::milliseconds when) {
    story.at(when, tenant, [&](Tenant& it) { story.event(it, "updated", kRelease, it.phase, it.message, {}); });
}

/// A new version, which Flux does not get installed where `trouble` says why.
void upgraded(Story& story, Tenant& tenant, std::chrono::milliseconds from, std::string const& trouble) {
    story.at(from, tenant, [&](Tenant& it) {
        it.version = "0.9.2";
        it.phases[kSource] = "Progressing";
        story.event(it, "updated", kKro, "Progressing", kAwaitsFlux, {kSource, kKro});
    });
    story.at(from + 5s, tenant, [&](Tenant& it) {
        it.phases = {{kSource, "Ready"}, {kRelease, "Progressing"}};
        story.event(it, "updated", kSource, "Progressing", kAwaitsFlux, {kKro});
    });
    story.at(from + 95s, tenant, [&, trouble](Tenant& it) {
        it.trouble = trouble;
        it.phases[kRelease] = trouble.empty() ? "Ready" : "Progressing";
        if (trouble.empty()) return story.event(it, "updated", kRelease, "Ready", "Domain Service is ready", {kKro});
        story.event(it, "updated", kRelease, "Progressing", kAwaitsFlux, {kKro});
    });
}

void deleted(Story& story, Tenant& tenant, std::chrono::milliseconds from, bool blocked) {
    story.at(from, tenant, [&](Tenant& it) { story.event(it, "updated", kKro, "Terminating", "Cleanup in progress", {kKro}); });
    story.at(from + 1s, tenant, [&, blocked](Tenant& it) {
        if (!blocked) return story.event(it, "updated", kRelease, "Terminating", "Cleanup in progress", {});
        story.event(it, "updated", kKro, "Terminating",
                    "deletion blocked: waiting for 2 kro ResourceGraphDefinition(s) to be removed from the control plane",
                    {kKro});
    });
    if (!blocked) story.at(from + 40s, tenant, [&](Tenant& it) { story.event(it, "deleted", kKro, "", "the Kro is gone", {}); });
}

void tell_story(kro::HtmlReport& report) {
    Story story{report};
    std::vector<Tenant> tenants;
    for (auto const* name : {"acme", "globex", "initech", "umbrella", "hooli", "stark", "wayne", "cyberdyne", "tyrell", "soylent",
                             "aperture", "wonka", "vandelay"}) {
        tenants.push_back({"project-" + std::string{name, 1} + "--ws-prod", name});
    }
    for (std::size_t i = 0; i < tenants.size(); ++i) {
        auto const from = 40s * i;
        if (i == 2) {
            ordered(story, tenants[i], from);
            story.at(from + 33s, tenants[i], [&](Tenant& it) {
                story.event(it, "updated", kAccess, "Progressing",
                            "Access to the control plane was denied: no quota left in this workspace", {kKro});
            });
            continue;
        }
        if (i == 9) {
            ordered(story, tenants[i], 85min);
            continue;
        }
        installed(story, tenants[i], from);
        for (auto when = from + 10min; when < 90min; when += 7min) settled(story, tenants[i], when);
    }
    upgraded(story, tenants[0], 22min, "Helm upgrade failed: timed out waiting for Deployment kro-system/kro: ImagePullBackOff");
    upgraded(story, tenants[4], 31min, "");
    upgraded(story, tenants[7], 48min, "");
    deleted(story, tenants[5], 55min, true);
    deleted(story, tenants[11], 62min, false);
    for (auto when = 40min; when < 44min; when += 1min)
        story.at(when, tenants[6], [&](Tenant& it) { story.failure(it, kRelease); });
    for (auto when = 5min; when < 92min; when += 15min) story.at(when, tenants[0], [&](Tenant&) { story.tick(); });
    story.tell(SIZE_MAX);
    story.end({{"events.jsonl:118", "a JSON text ends too early: the line is cut"}, {"events.jsonl:240", "no UTF-8"}});
}

void tell_many(kro::HtmlReport& report, std::size_t count) {
    Story story{report};
    std::vector<Tenant> tenants;
    for (int i = 0; i < 200; ++i) tenants.push_back({"project-" + std::to_string(i % 20), "tenant-" + std::to_string(i)});
    for (std::size_t i = 0; i < tenants.size(); ++i) {
        installed(story, tenants[i], 3s * i);
        if (i % 7 == 3) upgraded(story, tenants[i], 20min + 2s * i, i % 14 == 3 ? "Helm upgrade failed" : "");
        for (std::size_t n = 0; n <= count / tenants.size(); ++n) settled(story, tenants[i], 20min + 5s * n + 11ms * i);
    }
    story.tell(count);
    story.end({});
}

/// What a stranger may write where a name, a message or a value is expected.
void tell_hostile(kro::HtmlReport& report) {
    std::string const bad =
        "</script><script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\"><!-- ]]> \u2028\u2029 "
        "'\"`${document.title='owned'} javascript:alert(1) &lt;b&gt; \x01\x7f\xff {{script}}";
    Episode episode;
    for (auto* text : {&episode.id, &episode.source, &episode.type, &episode.where, &episode.change, &episode.object,
                       &episode.whom, &episode.routed, &episode.recorded}) {
        *text = bad;
    }
    episode.time = "2026-11-30T12:00:00Z";
    episode.outcome = {Outcome::Kind::Retry, bad, 1s};
    episode.answer = 503;
    Json const status = {
        {"phase", bad},
        {"conditions", {{{"type", "Ready"}, {"status", bad}, {"reason", bad}, {"message", bad}, {"lastTransitionTime", bad}}}},
        {"resources", {{{"kind", bad}, {"name", bad}, {"phase", bad}, {"message", bad}}}}};
    episode.parts = {{bad,
                      {{{{Cluster::Onboarding, bad, bad, true}}, {}},
                       {{}, {{Cluster::Platform, bad, bad, bad, bad, {{bad, bad, bad + "x"}}}}}},
                      {Outcome::Kind::Retry, bad, {}},
                      status,
                      {{bad, bad, ""}}}};
    report.add(episode);
    kro::ReplaySummary summary;
    summary.events = 1;
    summary.outcomes = {{Outcome::Kind::Retry, 1}};
    summary.tenants = {{bad, bad, bad, bad, 1, 1}, {"__proto__", "constructor", "toString", "", 0, 0}};
    summary.unreadable = 1;
    summary.unreadable_entries = {{bad, bad}};
    summary.complete = false;
    report.finish(summary);
}

}  // namespace

int main(int argc, char** argv) {
    std::string const what = argc > 1 ? argv[1] : "";
    std::string const hostile = "<img src=x onerror=\"document.title='owned'\"></title></script>";
    std::string const title = what == "hostile" ? hostile : "Replay of events.jsonl";
    kro::ReplayHead const head{
        title,
        {what == "hostile" ? hostile : "events.jsonl"},
        {what == "hostile" ? hostile : "--state state/"},
        {what == "hostile" ? hostile : "Offline the order of the file counts: an event's object is taken as it is."}};
    kro::HtmlReport report{std::cout, head};
    if (what == "story") {
        tell_story(report);
    } else if (what == "many" && argc > 2) {
        tell_many(report, std::strtoull(argv[2], nullptr, 10));
    } else if (what == "hostile") {
        tell_hostile(report);
    } else if (what == "nothing") {
        report.finish({});
    } else {
        std::cerr << "usage: report_sample story|many N|hostile|nothing\n";
        return 2;
    }
    return std::cout ? EXIT_SUCCESS : EXIT_FAILURE;
}
