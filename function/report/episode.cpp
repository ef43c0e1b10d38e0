#include "function/report/episode.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <optional>
#include <set>

namespace kro {
namespace {

using k8s::Json;

/// What an API server keeps for itself in an object's metadata, and what names the object.
constexpr std::array<std::string_view, 7> kNoDifference{"creationTimestamp", "generation", "managedFields", "name", "namespace",
                                                        "resourceVersion",   "uid"};

/// "spec.values" + "replicas"; a name with other characters than those of an identifier stands in brackets.
std::string below(std::string const& path, std::string const& name) {
    bool const plain = !name.empty() && std::all_of(name.begin(), name.end(),
                                                    [](unsigned char c) { return std::isalnum(c) != 0 || c == '_' || c == '-'; });
    if (!plain) return path + "[" + name + "]";
    return path.empty() ? name : path + "." + name;
}

/// What tells the items of a list apart, where something does: a condition's type, a name.
std::optional<std::string> key_member(Json const& list) {
    for (auto const* name : {"type", "name"}) {
        std::set<std::string> keys;
        for (auto const& item : list) {
            if (std::string key = base::text_of(base::member(item, name)); !key.empty()) keys.insert(std::move(key));
        }
        if (!list.empty() && keys.size() == list.size()) return name;
    }
    return std::nullopt;
}

/// The members of a value by name, or the items of a list by what tells them apart, or else by their place.
std::map<std::string, Json const*> parts_of(Json const& value, std::optional<std::string> const& key) {
    std::map<std::string, Json const*> parts;
    if (value.is_object()) {
        for (auto const& [name, part] : value.items()) parts.emplace(name, &part);
        return parts;
    }
    if (!value.is_array()) return parts;
    for (std::size_t i = 0; i < value.size(); ++i) {
        std::string const place = std::to_string(i);
        parts.emplace(key ? base::text_of(value[i][*key]) : std::string(4 - std::min<std::size_t>(4, place.size()), '0') + place,
                      &value[i]);
    }
    return parts;
}

class Comparison {
  public:
    std::vector<Difference> found;

    /// Null pointers stand for what is not there.
    void compare(std::string const& path, Json const* before, Json const* after) {
        if (before != nullptr && after != nullptr && base::same_json(*before, *after)) return;
        bool const both_may_hold = may_hold(before, after) && may_hold(after, before);
        if (!both_may_hold) {
            found.push_back({path, text(before), text(after)});
            return;
        }
        bool const list = (before != nullptr ? *before : *after).is_array();
        auto const key = list ? key_of(before, after) : std::nullopt;
        auto const old_parts = before == nullptr ? Parts{} : parts_of(*before, key);
        auto const new_parts = after == nullptr ? Parts{} : parts_of(*after, key);
        Parts all = old_parts;
        all.insert(new_parts.begin(), new_parts.end());
        for (auto const& [name, ignored] : all) {
            if (is_left_out(path, name)) continue;
            compare(list ? path + "[" + shown(name, key) + "]" : below(path, name), at(old_parts, name), at(new_parts, name));
        }
    }

  private:
    using Parts = std::map<std::string, Json const*>;

    /// Whether it is worth looking inside: something with parts, against the same or nothing.
    static bool may_hold(Json const* value, Json const* other) {
        if (value == nullptr) return other != nullptr && other->is_structured() && !other->empty();
        return value->is_structured() && (other == nullptr ? !value->empty() : value->type() == other->type());
    }
    static std::optional<std::string> key_of(Json const* before, Json const* after) {
        auto const first = before == nullptr ? std::nullopt : key_member(*before);
        auto const second = after == nullptr ? std::nullopt : key_member(*after);
        if (before == nullptr || before->empty()) return second;
        if (after == nullptr || after->empty()) return first;
        return first == second ? first : std::nullopt;
    }
    static std::string shown(std::string const& name, std::optional<std::string> const& key) {
        return key ? name : std::to_string(std::stoul(name));
    }
    static bool is_left_out(std::string const& path, std::string const& name) {
        if (path.empty()) return name == "apiVersion" || name == "kind";
        return path == "metadata" && std::find(kNoDifference.begin(), kNoDifference.end(), name) != kNoDifference.end();
    }
    static Json const* at(Parts const& parts, std::string const& name) {
        auto const found_at = parts.find(name);
        return found_at == parts.end() ? nullptr : found_at->second;
    }
    static std::string text(Json const* value) { return value == nullptr ? std::string{} : base::dump_json(*value); }
};

Json to_json(Outcome const& outcome) {
    Json object = {{"kind", name_of(outcome.kind)}};
    base::put_text(object, "why", outcome.why);
    return object;
}

Json to_json(std::vector<Difference> const& differences) {
    Json list = Json::array();
    for (auto const& one : differences) {
        Json object = {{"field", one.field}};
        base::put_text(object, "before", one.before);
        base::put_text(object, "after", one.after);
        list.push_back(std::move(object));
    }
    return list;
}

Json to_json(Episode::Look const& look) {
    Json object = {{"cluster", name_of(look.cluster)}, {"subject", look.subject}, {"found", look.found}};
    if (look.failed) object["failed"] = true;
    return object;
}

Json to_json(Episode::Change const& change) {
    Json object = {{"cluster", name_of(change.cluster)}, {"request", change.request}, {"subject", change.subject}};
    base::put_text(object, "why", change.why);
    base::put_text(object, "error", change.error);
    if (!change.differences.empty()) object["differences"] = to_json(change.differences);
    return object;
}

Json to_json(Episode::Round const& round) {
    Json object = Json::object();
    for (auto const& look : round.looks) object["looks"].push_back(to_json(look));
    for (auto const& change : round.changes) object["changes"].push_back(to_json(change));
    return object;
}

}  // namespace

std::vector<Difference> differences(Json const& before, Json const& after) {
    Comparison comparison;
    comparison.compare("", before.is_null() ? nullptr : &before, after.is_null() ? nullptr : &after);
    return std::move(comparison.found);
}

Json to_json(Episode::Part const& part) {
    Json object = {{"outcome", to_json(part.outcome)}};
    base::put_text(object, "tenant", part.tenant);
    for (auto const& round : part.rounds) object["rounds"].push_back(to_json(round));
    if (!part.status.is_null()) object["status"] = part.status;
    if (!part.changes.empty()) object["changes"] = to_json(part.changes);
    return object;
}

Json to_json(Episode const& episode) {
    Json object = {{"outcome", to_json(episode.outcome)}, {"requests", episode.requests}, {"writes", episode.writes}};
    base::put_text(object, "id", episode.id);
    base::put_text(object, "source", episode.source);
    base::put_text(object, "type", episode.type);
    base::put_text(object, "time", episode.time);
    base::put_text(object, "where", episode.where);
    base::put_text(object, "change", episode.change);
    base::put_text(object, "object", episode.object);
    base::put_text(object, "whom", episode.whom);
    base::put_text(object, "routed", episode.routed);
    base::put_text(object, "recorded", episode.recorded);
    if (episode.answer != 0) object["answer"] = episode.answer;
    for (auto const& part : episode.parts) object["parts"].push_back(to_json(part));
    return object;
}

}  // namespace kro
