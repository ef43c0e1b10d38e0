#include "function/tenant/provider_config.hpp"

#include "function/tenant/go_duration.hpp"

#include <algorithm>

namespace kro {
namespace {

using base::dump_json;
using base::Failure;
using base::member;
using base::text_of;
using k8s::Json;

using Text = base::Result<std::string, std::string>;

/// The text at `value`, "" where it is absent; an error for anything that is no text.
Text optional_text(Json const& value, std::string_view field) {
    if (value.is_null()) return std::string{};
    if (value.is_string()) return value.get<std::string>();
    return Failure{"ProviderConfig " + std::string{field} + " must be a string"};
}

base::Result<Json, std::string> optional_object(Json const& value, std::string_view field) {
    if (value.is_null() || value.is_object()) return value;
    return Failure{"ProviderConfig " + std::string{field} + " must be an object"};
}

base::Result<std::vector<Offer>, std::string> read_offers(Json const& versions) {
    if (!versions.is_array()) return Failure{std::string{"ProviderConfig spec.versions must be a list"}};
    std::vector<Offer> offers;
    for (std::size_t i = 0; i < versions.size(); ++i) {
        Json const& entry = versions[i];
        std::string const field = "spec.versions[" + std::to_string(i) + "]";
        Offer offer;
        offer.version = TRY(optional_text(member(entry, "version"), field + ".version"));
        if (offer.version.empty()) return Failure{"ProviderConfig " + field + ".version must not be empty"};
        offer.chart_version = TRY(optional_text(member(entry, "chartVersion"), field + ".chartVersion"));
        offer.chart_url = TRY(optional_text(member(entry, "chartURL"), field + ".chartURL"));
        offer.chart_pull_secret = TRY(optional_text(member(entry, "chartPullSecret"), field + ".chartPullSecret"));
        offer.helm_values = TRY(optional_object(member(entry, "helmValues"), field + ".helmValues"));
        offers.push_back(std::move(offer));
    }
    return offers;
}

base::Result<std::vector<std::string>, std::string> image_pull_secrets_of(Json const& values) {
    std::vector<std::string> names;
    Json const& list = member(values, "imagePullSecrets");
    if (list.is_null()) return names;
    auto const refused = [](std::string const& where) {
        return Failure{"Helm values: " + where +
                       " is not of the form {name: <secret>}; write imagePullSecrets as a list of {name: <secret>}"};
    };
    if (!list.is_array()) return refused("imagePullSecrets");
    for (std::size_t i = 0; i < list.size(); ++i) {
        std::string const name = text_of(member(list[i], "name"));
        if (name.empty() || list[i].size() != 1) return refused("imagePullSecrets[" + std::to_string(i) + "]");
        if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    }
    return names;
}

std::string list_of(std::vector<Offer> const& offers) {
    std::string list;
    for (auto const& offer : offers) list += (list.empty() ? "" : ", ") + offer.version;
    return list.empty() ? "no version at all" : list;
}

}  // namespace

base::Result<ProviderConfig, std::string> read_provider_config(Json const& object) {
    Json const& spec = member(object, "spec");
    ProviderConfig config;
    config.chart_url = TRY(optional_text(member(spec, "chartURL"), "spec.chartURL"));
    if (config.chart_url.empty()) config.chart_url = kDefaultChartUrl;
    config.image_pull_secret = TRY(optional_text(member(spec, "imagePullSecret", "name"), "spec.imagePullSecret.name"));
    config.values = TRY(optional_object(member(spec, "values"), "spec.values"));
    config.poll_interval = TRY(optional_text(member(spec, "pollInterval"), "spec.pollInterval"));
    if (member(spec, "pollInterval").is_null()) config.poll_interval = kDefaultPollInterval;
    if (Json const& ref = member(spec, "caBundleRef"); !ref.is_null()) {
        CaBundleRef bundle{text_of(member(ref, "name")), text_of(member(ref, "key"))};
        if (bundle.name.empty() || bundle.key.empty()) {
            return Failure{std::string{"ProviderConfig spec.caBundleRef needs a name and a key"}};
        }
        config.ca_bundle = std::move(bundle);
    }
    if (Json const& versions = member(spec, "versions"); !versions.is_null()) config.offers = TRY(read_offers(versions));
    return config;
}

base::Result<std::chrono::nanoseconds, std::string> poll_interval_of(ProviderConfig const& config) {
    auto const interval = parse_go_duration(config.poll_interval);
    if (interval && *interval >= std::chrono::seconds{1}) return *interval;
    return Failure{"ProviderConfig spec.pollInterval " + dump_json(config.poll_interval) +
                   " is no duration of at least 1s; write it like 90s, 1m or 1h30m"};
}

base::Result<Chart, std::string> chart_for(ProviderConfig const& config, std::string const& version) {
    Offer offer;
    if (config.offers) {
        auto const found =
            std::find_if(config.offers->begin(), config.offers->end(), [&](Offer const& one) { return one.version == version; });
        if (found == config.offers->end()) {
            return Failure{"version " + dump_json(version) + " is not on offer; on offer: " + list_of(*config.offers)};
        }
        offer = *found;
    }
    Chart chart;
    chart.url = TRY(normalized_chart_url(offer.chart_url.empty() ? config.chart_url : offer.chart_url));
    chart.ref = TRY(parse_chart_version(offer.chart_version.empty() ? version : offer.chart_version));
    chart.pull_secret = offer.chart_pull_secret.empty() ? config.image_pull_secret : offer.chart_pull_secret;
    chart.values = offer.helm_values.is_null() ? config.values : offer.helm_values;
    chart.image_pull_secrets = TRY(image_pull_secrets_of(chart.values));
    return chart;
}

std::set<std::string> pull_secrets_of(Json const& values) {
    std::set<std::string> names;
    Json const& list = member(values, "imagePullSecrets");
    if (list.is_array()) {
        for (auto const& entry : list) names.insert(text_of(member(entry, "name")));
    }
    names.erase("");
    return names;
}

std::set<std::string> pull_secrets_of(ProviderConfig const& config) {
    std::set<std::string> names;
    auto const add = [&](std::string const& chart_secret, Json const& values) {
        names.insert(chart_secret);
        names.merge(pull_secrets_of(values));
    };
    add(config.image_pull_secret, config.values);
    if (config.offers) {
        for (auto const& offer : *config.offers) add(offer.chart_pull_secret, offer.helm_values);
    }
    names.erase("");
    return names;
}

}  // namespace kro
