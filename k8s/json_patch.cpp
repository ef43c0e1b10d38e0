#include "k8s/json_patch.hpp"

#include <charconv>
#include <optional>
#include <string_view>
#include <vector>

namespace k8s {
namespace {

using base::Failure;
using base::member;
using base::text_of;

template <class T>
using Result = base::Result<T, std::string>;

/// RFC 6901: "/a~1b/0" is the steps "a/b" and "0"; "" is the whole document.
Result<std::vector<std::string>> steps_of(std::string_view pointer) {
    std::vector<std::string> steps;
    if (pointer.empty()) return steps;
    if (pointer.front() != '/') return Failure{"not a JSON pointer: " + std::string{pointer}};
    for (std::size_t at = 1; at <= pointer.size();) {
        auto const end = std::min(pointer.find('/', at), pointer.size());
        std::string step;
        for (std::size_t i = at; i < end; ++i) {
            bool const escaped = pointer[i] == '~' && i + 1 < end && (pointer[i + 1] == '0' || pointer[i + 1] == '1');
            step += escaped ? (pointer[i + 1] == '0' ? '~' : '/') : pointer[i];
            if (escaped) ++i;
        }
        steps.push_back(std::move(step));
        at = end + 1;
    }
    return steps;
}

/// The index that `step` names in `array`; `array.size()` too where an element may be added there.
std::optional<std::size_t> index_of(Json const& array, std::string_view step, std::size_t limit) {
    if (step == "-" && limit > array.size()) return array.size();
    std::size_t index = 0;
    auto const [end, failure] = std::from_chars(step.data(), step.data() + step.size(), index);
    bool const whole = failure == std::errc{} && end == step.data() + step.size() && (step.size() == 1 || step.front() != '0');
    return whole && index < limit ? std::optional{index} : std::nullopt;
}

Json* child_of(Json& parent, std::string_view step) {
    if (parent.is_object()) {
        auto const found = parent.find(step);
        return found == parent.end() ? nullptr : &*found;
    }
    if (!parent.is_array()) return nullptr;
    auto const index = index_of(parent, step, parent.size());
    return index ? &parent[*index] : nullptr;
}

Json* descend(Json& document, std::vector<std::string> const& steps, std::size_t count) {
    Json* at = &document;
    for (std::size_t i = 0; i < count && at != nullptr; ++i) at = child_of(*at, steps[i]);
    return at;
}

Result<void> add(Json& document, std::string const& path, Json value) {
    auto const steps = TRY(steps_of(path));
    if (steps.empty()) {
        document = std::move(value);
        return {};
    }
    Json* const parent = descend(document, steps, steps.size() - 1);
    if (parent != nullptr && parent->is_object()) {
        (*parent)[steps.back()] = std::move(value);
        return {};
    }
    if (parent != nullptr && parent->is_array()) {
        if (auto const index = index_of(*parent, steps.back(), parent->size() + 1)) {
            parent->insert(parent->begin() + static_cast<Json::difference_type>(*index), std::move(value));
            return {};
        }
    }
    return Failure{"add: no such place: " + path};
}

/// Takes out what is at `path` and returns it.
Result<Json> take(Json& document, std::string const& path) {
    auto const steps = TRY(steps_of(path));
    Json* const parent = steps.empty() ? nullptr : descend(document, steps, steps.size() - 1);
    Json* const found = parent == nullptr ? nullptr : child_of(*parent, steps.back());
    if (found == nullptr) return Failure{"remove: nothing at " + path};
    Json value = std::move(*found);
    if (parent->is_object()) {
        parent->erase(steps.back());
    } else {
        parent->erase(parent->begin() + (found - &parent->front()));
    }
    return value;
}

Result<Json*> find(Json& document, std::string const& path) {
    auto const steps = TRY(steps_of(path));
    Json* const found = descend(document, steps, steps.size());
    if (found == nullptr) return Failure{"nothing at " + path};
    return found;
}

Result<void> carry_out(Json& document, Json const& operation) {
    auto const op = text_of(member(operation, "op"));
    auto const path = text_of(member(operation, "path"));
    auto const& value = member(operation, "value");
    if (op == "test") {
        auto const found = find(document, path);
        bool const holds = found ? base::same_json(**found, value) : value.is_null() && operation.contains("value");
        if (!holds) return Failure{"testing value " + path + " failed"};
    } else if (op == "add") {
        return add(document, path, value);
    } else if (op == "replace") {
        *TRY(find(document, path)) = value;
    } else if (op == "remove") {
        TRY(take(document, path));
    } else if (op == "move") {
        Json moved = TRY(take(document, text_of(member(operation, "from"))));
        return add(document, path, std::move(moved));
    } else if (op == "copy") {
        Json copied = *TRY(find(document, text_of(member(operation, "from"))));
        return add(document, path, std::move(copied));
    } else {
        return Failure{"no such operation: " + op};
    }
    return {};
}

}  // namespace

base::Result<Json, std::string> json_patched(Json document, Json const& patch) {
    for (auto const& operation : patch) TRY(carry_out(document, operation));
    return document;
}

}  // namespace k8s
