#include "k8s/overlay_api.hpp"

#include <algorithm>
#include <set>

namespace k8s {

using Verb = Request::Verb;

/// What this view has beside the server.
struct OverlayApi::View {
    explicit View(base::Clock clock) : memory(std::move(clock), {.kept_requests = 0, .keep_changes = false}) {}

    bool knows(Resource const& resource, ObjectKey const& key) {
        std::lock_guard const lock{mutex};
        return known.contains(path_of(resource, key));
    }
    bool has_written(Resource const& resource, ObjectKey const& key) {
        std::lock_guard const lock{mutex};
        return written.contains(path_of(resource, key));
    }
    void wrote(Resource const& resource, ObjectKey const& key) {
        std::lock_guard const lock{mutex};
        written.insert(path_of(resource, key));
    }

    /// As the server has it: what a write is carried out on. None: it has none.
    void know(Resource const& resource, ObjectKey const& key, Json const* object) {
        std::lock_guard const lock{mutex};
        if (served.insert(path_of(resource, {})).second) {
            if (builtin_rules(resource).origin == ResourceRules::Origin::Custom) memory.serve(resource);
        }
        std::string const path = path_of(resource, key);
        known.insert(path);
        if (object != nullptr && !written.contains(path)) memory.put(resource, *object);
    }

    /// Puts what was written here in the place of what the server listed.
    void correct(Request const& request, Json& list) {
        auto const items = list.find("items");
        if (items == list.end() || !items->is_array()) return;
        auto& here = items->get_ref<Json::array_t&>();
        std::erase_if(here, [&](Json const& item) { return has_written(request.resource, key_of(item)); });
        auto const ours = memory.send({&request, 1}, {});
        if (!ours.front().result) return;
        for (auto const& item : items_of(*ours.front().result)) {
            if (has_written(request.resource, key_of(item))) here.push_back(item);
        }
    }

    MemoryApi memory;
    std::mutex mutex;               ///< for all below
    std::set<std::string> served;   ///< paths of resources ...
    std::set<std::string> known;    ///< ... and of objects of which memory has what the server has
    std::set<std::string> written;  ///< by this view
};

OverlayApi::OverlayApi(std::shared_ptr<Api> server, base::Clock clock, Writes writes)
    : server_(std::move(server)), clock_(std::move(clock)), writes_(writes), view_(std::make_shared<View>(clock_)) {}

void OverlayApi::forget() {
    std::lock_guard const lock{mutex_};
    view_ = std::make_shared<View>(clock_);
}

std::shared_ptr<OverlayApi::View> OverlayApi::view() const {
    std::lock_guard const lock{mutex_};
    return view_;
}

std::vector<Answer> OverlayApi::send(std::span<Request const> batch, base::Deadline deadline) {
    auto const current = view();
    std::vector<std::optional<Answer>> answers(batch.size());
    std::vector<Request> reads;
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < batch.size(); ++i) {
        if (!is_read(batch[i].verb)) {
            answers[i] = write(*current, batch[i], deadline);
        } else if (batch[i].verb == Verb::Get && current->has_written(batch[i].resource, batch[i].key)) {
            answers[i] = std::move(current->memory.send({&batch[i], 1}, deadline).front());
        } else {
            reads.push_back(batch[i]);
            places.push_back(i);
        }
    }
    auto answered = reads.empty() ? std::vector<Answer>{} : server_->send(reads, deadline);
    for (std::size_t i = 0; i < places.size(); ++i) {
        Request const& request = reads[i];
        bool const whole = request.verb == Verb::Get && request.contents == Request::Contents::Whole;
        if (whole && answered[i].result) current->know(request.resource, request.key, &*answered[i].result);
        if (request.verb == Verb::List && !request.visit && answered[i].result) current->correct(request, *answered[i].result);
        answers[places[i]] = std::move(answered[i]);
    }
    std::vector<Answer> all;
    all.reserve(answers.size());
    for (auto& answer : answers) all.push_back(*std::move(answer));
    return all;
}

/// What a write is carried out on, where that is not known yet. Why the server does not tell, if it does not.
std::optional<Error> OverlayApi::fetch(View& view, Resource const& resource, ObjectKey const& key, base::Deadline deadline) {
    if (view.knows(resource, key)) return std::nullopt;
    auto const found = send_one(*server_, get(resource, key), deadline);
    if (!found && !found.error().is_absence()) return found.error();
    view.know(resource, key, found ? &*found : nullptr);
    return std::nullopt;
}

Answer OverlayApi::write(View& view, Request const& request, base::Deadline deadline) {
    auto const failure = fetch(view, request.resource, request.key, deadline);
    // Who may create need not be allowed to look.
    if (failure && request.verb != Verb::Create) return {base::Failure{*failure}};
    if (failure) view.know(request.resource, request.key, nullptr);
    ObjectKey const in{{}, request.key.namespace_};
    if (!in.name.empty() && fetch(view, kNamespaces, in, deadline)) {
        Json const assumed = {{"metadata", {{"name", in.name}}}};
        view.know(kNamespaces, in, &assumed);
    }
    bool const builds_on_ours =
        view.has_written(request.resource, request.key) || (!in.name.empty() && view.has_written(kNamespaces, in));
    if (writes_ == Writes::DryRun && !builds_on_ours) {
        if (auto answer = dry_run(view, request, deadline)) return *std::move(answer);
    }
    Answer answer = std::move(view.memory.send({&request, 1}, deadline).front());
    if (answer.result) view.wrote(request.resource, request.key);
    return answer;
}

/// None for a deletion that the server would carry out: what becomes of the object is the same here.
std::optional<Answer> OverlayApi::dry_run(View& view, Request request, base::Deadline deadline) {
    request.dry_run = true;
    Answer answer = std::move(server_->send({&request, 1}, deadline).front());
    if (!answer.result) return answer;
    if (request.verb == Verb::Delete) return std::nullopt;
    view.know(request.resource, request.key, &*answer.result);
    view.wrote(request.resource, request.key);
    answer.result = std::move(view.memory.send(std::vector{get(request.resource, request.key)}, deadline).front().result);
    return answer;
}

}  // namespace k8s
