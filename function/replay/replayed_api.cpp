#include "function/replay/replayed_api.hpp"

#include <algorithm>
#include <charconv>
#include <functional>

namespace kro {
namespace {

using k8s::Json;
using k8s::Request;

/// So many states of an object can be on their way back to us as events.
constexpr std::size_t kRemembered = 8;

std::string place_of(Request::Verb verb, std::string const& path) { return std::to_string(static_cast<int>(verb)) + " " + path; }

/// 0 for a version that is no number.
std::uint64_t number_of(std::string const& version) {
    std::uint64_t number = 0;
    std::from_chars(version.data(), version.data() + version.size(), number);
    return number;
}

/// What an object says, without what every API server counts for itself and without times.
std::size_t content_of(Json object) {
    if (auto const metadata = object.find("metadata"); metadata != object.end() && metadata->is_object()) {
        for (auto const* name : {"managedFields", "resourceVersion", "uid", "generation", "creationTimestamp"})
            metadata->erase(name);
    }
    if (auto const status = object.find("status");
        status != object.end() && status->is_object() && status->contains("conditions")) {
        for (auto& condition : (*status)["conditions"]) {
            if (condition.is_object()) condition.erase("lastTransitionTime");
        }
    }
    return std::hash<std::string>{}(base::dump_json(object));
}

/// What a user wrote, on the object as it is: no API server has sent it, so what it does not say is as it was.
Json written_over(Json object, Json const& written) {
    bool const says_new = base::member(written, "spec") != base::member(object, "spec");
    for (auto const& [name, value] : written.items()) {
        if (name != "metadata") object[name] = value;
    }
    Json& metadata = object["metadata"];
    for (auto const* name : {"labels", "annotations", "finalizers", "deletionTimestamp"}) {
        if (written["metadata"].contains(name)) metadata[name] = written["metadata"][name];
    }
    if (says_new) metadata["generation"] = k8s::generation_of(object) + 1;
    metadata.erase("resourceVersion");
    return object;
}

bool is_status(Json const& object) { return base::text_of(base::member(object, "kind")) == "Status"; }

Request request_of(RecordedExchange const& exchange) {
    Request request;
    request.verb = exchange.verb;
    request.resource = exchange.resource;
    request.key = exchange.key;
    request.subresource = exchange.subresource;
    return request;
}

}  // namespace

std::vector<k8s::Answer> ReplayedApi::send(std::span<Request const> batch, base::Deadline deadline) {
    std::vector<k8s::Answer> answers;
    answers.reserve(batch.size());
    for (auto const& request : batch) answers.push_back(answer(request, deadline));
    return answers;
}

k8s::Answer ReplayedApi::answer(Request const& request, base::Deadline deadline) {
    auto recorded = next_of(request);
    if (!recorded) return carry_out(request, deadline);
    if (recorded->error) return {base::Failure{*std::move(recorded->error)}};
    if (k8s::is_write(request)) return repeat_write(request, *recorded, deadline);
    // The items of a list that is visited are not kept in a recording.
    if (request.visit) return carry_out(request, deadline);
    if (request.verb == Request::Verb::Get && !recorded->partial) show(request.resource, recorded->object);
    return {std::move(recorded->object)};
}

/// None where memory answers.
std::optional<RecordedExchange> ReplayedApi::next_of(Request const& request) {
    if (!run_->is_recorded) return std::nullopt;
    std::lock_guard const lock{mutex_};
    auto const found = expected_.find(place_of(request.verb, k8s::path_of(request.resource, request.key, request.subresource)));
    bool const expected = found != expected_.end() && !found->second.empty();
    if (!expected && k8s::is_write(request)) {
        run_->has_strayed = true;
        added_.push_back(k8s::describe(request));
    }
    if (!expected || run_->has_strayed) return std::nullopt;
    RecordedExchange next = std::move(found->second.front());
    found->second.pop_front();
    return next;
}

k8s::Answer ReplayedApi::carry_out(Request const& request, base::Deadline deadline) {
    auto answers = memory_->send({&request, 1}, deadline);
    if (k8s::is_write(request) && answers.front().result) remember(request, *answers.front().result);
    return std::move(answers.front());
}

k8s::Answer ReplayedApi::repeat_write(Request const& request, RecordedExchange const& recorded, base::Deadline deadline) {
    k8s::Answer answered = carry_out(request, deadline);
    bool const removed = is_status(recorded.object);
    if (!answered.result || is_status(*answered.result) != removed) {
        removed ? hide(request.resource, request.key) : show(request.resource, recorded.object);
        return {recorded.object};
    }
    if (removed) return answered;
    Json const& identity = base::member(recorded.object, "metadata");
    memory_->identify(request.resource, request.key, identity);
    for (auto const* field : {"uid", "resourceVersion", "generation", "creationTimestamp"}) {
        if (identity.contains(field)) (*answered.result)["metadata"][field] = identity[field];
    }
    std::lock_guard const lock{mutex_};
    versions_[k8s::path_of(request.resource, request.key)] = number_of(k8s::resource_version_of(recorded.object));
    return answered;
}

void ReplayedApi::remember(Request const& request, Json const& object) {
    if (is_status(object)) return;
    std::size_t const content = content_of(object);
    std::lock_guard const lock{mutex_};
    auto& states = own_[k8s::path_of(request.resource, request.key)];
    states.push_back({content, k8s::resource_version_of(object)});
    if (states.size() > kRemembered) states.pop_front();
}

std::optional<std::string> ReplayedApi::take(k8s::Resource const& resource, Json object) {
    k8s::ObjectKey const key = k8s::key_of(object);
    std::string const path = k8s::path_of(resource, key);
    std::uint64_t const version = number_of(k8s::resource_version_of(object));
    {
        std::lock_guard const lock{mutex_};
        auto& latest = versions_[path];
        if (version != 0 && latest >= version) return std::nullopt;
        latest = std::max(latest, version);
        if (auto const own = own_.find(path); own != own_.end() && version != 0) {
            std::size_t const content = content_of(object);
            auto const state =
                std::find_if(own->second.begin(), own->second.end(), [&](Own const& one) { return one.content == content; });
            if (state != own->second.end()) return state->resource_version;
        }
    }
    auto const before = version == 0 ? memory_->find(resource, key) : std::nullopt;
    memory_->set(resource, before ? written_over(*before, object) : std::move(object));
    return std::nullopt;
}

void ReplayedApi::lose(k8s::Resource const& resource, k8s::ObjectKey const& key, std::string const& resource_version) {
    memory_->erase(resource, key);
    std::lock_guard const lock{mutex_};
    std::string const path = k8s::path_of(resource, key);
    versions_[path] = std::max(versions_[path], number_of(resource_version));
    own_.erase(path);
}

void ReplayedApi::show(k8s::Resource const& resource, Json object) {
    {
        std::lock_guard const lock{mutex_};
        versions_[k8s::path_of(resource, k8s::key_of(object))] = number_of(k8s::resource_version_of(object));
    }
    memory_->set(resource, std::move(object));
}

void ReplayedApi::hide(k8s::Resource const& resource, k8s::ObjectKey const& key) {
    memory_->erase(resource, key);
    std::lock_guard const lock{mutex_};
    versions_.erase(k8s::path_of(resource, key));
}

void ReplayedApi::expect(RecordedExchange exchange) {
    std::lock_guard const lock{mutex_};
    run_->is_recorded = true;
    std::string const path = k8s::path_of(exchange.resource, exchange.key, exchange.subresource);
    expected_[place_of(exchange.verb, path)].push_back(std::move(exchange));
}

ReplayedApi::Strayed ReplayedApi::conclude() {
    std::lock_guard const lock{mutex_};
    Strayed strayed;
    for (auto const& [place, left] : std::exchange(expected_, {})) {
        for (auto const& exchange : left) {
            Request const request = request_of(exchange);
            if (k8s::is_write(request)) strayed.missing.push_back(k8s::describe(request));
        }
    }
    strayed.added = std::exchange(added_, {});
    return strayed;
}

}  // namespace kro
