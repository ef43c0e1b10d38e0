#include "events/knative.hpp"

#include <array>
#include <optional>

namespace events {
namespace {

using base::member;
using base::text_of;

struct ObjectType {
    enum class Mode { Resource, Reference };
    std::string_view type;
    Mode mode;
    ObjectEvent::Change change;
};

/// Source: Knative Eventing v0.50, pkg/apis/sources/constants.go.
constexpr std::array kObjectTypes{
    ObjectType{"dev.knative.apiserver.resource.add", ObjectType::Mode::Resource, ObjectEvent::Change::Added},
    ObjectType{"dev.knative.apiserver.resource.update", ObjectType::Mode::Resource, ObjectEvent::Change::Updated},
    ObjectType{"dev.knative.apiserver.resource.delete", ObjectType::Mode::Resource, ObjectEvent::Change::Deleted},
    ObjectType{"dev.knative.apiserver.ref.add", ObjectType::Mode::Reference, ObjectEvent::Change::Added},
    ObjectType{"dev.knative.apiserver.ref.update", ObjectType::Mode::Reference, ObjectEvent::Change::Updated},
    ObjectType{"dev.knative.apiserver.ref.delete", ObjectType::Mode::Reference, ObjectEvent::Change::Deleted},
};

using Name = base::Result<std::string, Malformed>;

/// The extension, or what the data says where it is empty.
Name agreed(CloudEvent const& event, std::string_view attribute, Json const& in_data) {
    std::string const& said = extension(event, attribute);
    std::string data = text_of(in_data);
    if (said.empty()) return data;
    if (!data.empty() && data != said) return refused(attribute, "is not what the data says");
    return said;
}

Name agreed_and_there(CloudEvent const& event, std::string_view attribute, Json const& in_data) {
    std::string name = TRY(agreed(event, attribute, in_data));
    if (name.empty()) return refused(attribute, "is missing, and the data does not say it either");
    return name;
}

base::Result<Meaning, Malformed> object_event(CloudEvent const& event, ObjectType const& type) {
    Json const& data = json_data(event);
    Json const& metadata = type.mode == ObjectType::Mode::Resource ? member(data, "metadata") : data;
    ObjectEvent object;
    object.change = type.change;
    object.api_version = TRY(agreed_and_there(event, "apiversion", member(data, "apiVersion")));
    object.kind = TRY(agreed_and_there(event, "kind", member(data, "kind")));
    object.name = TRY(agreed_and_there(event, "name", member(metadata, "name")));
    object.namespace_ = TRY(agreed(event, "namespace", member(metadata, "namespace")));
    if (type.mode == ObjectType::Mode::Resource && metadata.is_object()) object.object = data;
    return Meaning{std::move(object)};
}

}  // namespace

base::Result<Meaning, Malformed> meaning_of(CloudEvent const& event) {
    if (event.type == kPingType) return Meaning{Ping{}};
    for (auto const& type : kObjectTypes) {
        if (event.type == type.type) return object_event(event, type);
    }
    return Meaning{Other{}};
}

}  // namespace events
