#pragma once

#include "function/reconcile/clusters.hpp"
#include "k8s/api.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <optional>
#include <string_view>
#include <utility>

namespace kro {

/// The words that stand in a recording (recording.hpp) for values of an enumeration: all of them, for who writes one and who reads one.
template <class Value, std::size_t size>
using Words = std::array<std::pair<std::string_view, Value>, size>;

inline constexpr Words<k8s::Request::Verb, 8> kVerbWords{{{"get", k8s::Request::Verb::Get},
                                                          {"list", k8s::Request::Verb::List},
                                                          {"create", k8s::Request::Verb::Create},
                                                          {"apply", k8s::Request::Verb::Apply},
                                                          {"merge-patch", k8s::Request::Verb::MergePatch},
                                                          {"json-patch", k8s::Request::Verb::JsonPatch},
                                                          {"delete", k8s::Request::Verb::Delete},
                                                          {"discover", k8s::Request::Verb::Discover}}};

inline constexpr Words<Cluster, 3> kClusterWords{
    {{"onboarding", Cluster::Onboarding}, {"platform", Cluster::Platform}, {"control plane", Cluster::ControlPlane}}};

inline constexpr Words<k8s::Error::Kind, 10> kErrorWords{{{"NotFound", k8s::Error::Kind::NotFound},
                                                          {"Conflict", k8s::Error::Kind::Conflict},
                                                          {"AlreadyExists", k8s::Error::Kind::AlreadyExists},
                                                          {"Unauthorized", k8s::Error::Kind::Unauthorized},
                                                          {"Forbidden", k8s::Error::Kind::Forbidden},
                                                          {"Invalid", k8s::Error::Kind::Invalid},
                                                          {"Expired", k8s::Error::Kind::Expired},
                                                          {"Throttled", k8s::Error::Kind::Throttled},
                                                          {"Unavailable", k8s::Error::Kind::Unavailable},
                                                          {"Unusable", k8s::Error::Kind::Unusable}}};

template <class Value, std::size_t size>
std::string_view word_for(Value value, Words<Value, size> const& words) {
    auto const found = std::find_if(words.begin(), words.end(), [&](auto const& one) { return one.second == value; });
    if (found == words.end()) std::abort();
    return found->first;
}

/// None for a word that stands for nothing.
template <class Value, std::size_t size>
std::optional<Value> value_of(std::string_view word, Words<Value, size> const& words) {
    auto const found = std::find_if(words.begin(), words.end(), [&](auto const& one) { return one.first == word; });
    return found == words.end() ? std::nullopt : std::optional{found->second};
}

}  // namespace kro
