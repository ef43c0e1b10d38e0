#include "function/record/redact.hpp"

#include "base/base64.hpp"
#include "function/record/recording.hpp"
#include "function/record/redact_bytes.hpp"
#include "function/record/redact_kubeconfig.hpp"
#include "function/record/redact_text.hpp"
#include "function/tenant/secret_names.hpp"

#include <algorithm>
#include <array>
#include <set>

namespace kro {
namespace {

using base::member;
using base::text_of;
using k8s::Json;

/// How deep a text inside of a text inside of a text is looked into.
constexpr int kTextsDeep = 3;
/// Shorter ones are words that stand in messages for other reasons.
constexpr std::size_t kShortestQuoted = 6;

constexpr std::array<std::string_view, 3> kDataMembers{"data", "stringData", "binaryData"};

bool holds_data(std::string_view kind) { return kind == "Secret" || kind == "ConfigMap"; }

/// Secrets as they stood, and the names that must stay as they are, of one event with what was observed for it.
struct Found {
    std::set<std::string, std::less<>> secrets;
    std::set<std::string, std::less<>> names;
};

/// What a walk carries down with it.
struct Around {
    bool secret = false;    ///< a name further up says that all of this is one
    std::string_view kind;  ///< of the object, where its place says it
};

class Walk {
  public:
    Walk(Placeholders const& placeholders, Found* found, int depth = 0)
        : placeholders_(placeholders), found_(found), depth_(depth) {}

    void walk(Json& value, Around around) {
        if (value.is_object()) {
            walk_object(value, around);
        } else if (value.is_array()) {
            walk_list(value, around);
        } else if (value.is_string()) {
            value = around.secret ? replaced(value.get_ref<std::string const&>()) : text(value.get_ref<std::string const&>());
        } else if (around.secret && (value.is_number() || value.is_binary())) {
            value = replaced(base::dump_json(value));
        }
    }

    std::string text(std::string const& text) {
        if (text.size() < 6) return text;
        if (depth_ < kTextsDeep) {
            if (auto inside = text_inside(text)) return *std::move(inside);
        }
        return without_secrets(text, placeholders_);
    }

  private:
    // --- Objects

    void walk_object(Json& object, Around around) {
        std::string const own_kind = text_of(member(object, "kind"));
        bool const list = own_kind.ends_with("List") && member(object, "items").is_array();
        std::string const kind = list                ? own_kind.substr(0, own_kind.size() - 4)
                                 : !own_kind.empty() ? own_kind
                                                     : std::string{around.kind};
        rename_members(object);
        for (auto const& [name, value] : object.items()) {
            if (holds_data(kind) && !list && has_data(name, value)) {
                walk_data(value, name == "stringData" || (kind == "ConfigMap" && name == "data"));
            } else if (name == "items" && (list || !around.kind.empty())) {
                walk(value, {around.secret, kind});
            } else if (name == "managedFields") {
                continue;  // names of fields
            } else {
                walk_member(object, name, value, around);
            }
        }
        walk_pair(object);
    }

    static bool has_data(std::string_view name, Json const& value) {
        return std::find(kDataMembers.begin(), kDataMembers.end(), name) != kDataMembers.end() && value.is_object();
    }

    void walk_member(Json const& object, std::string const& name, Json& value, Around around) {
        bool const reference = names_reference(name);
        bool const rights = name == "token" && value.is_object() && (value.contains("permissions") || value.contains("roleRefs"));
        bool const secret = !reference && !rights && (around.secret || names_secret(name));
        if (reference && value.is_string() && found_ != nullptr) found_->names.insert(value.get<std::string>());
        if (name == "value" && is_patch(object)) {
            walk_patch(object, value);
        } else {
            walk(value, {secret && !value.is_boolean(), {}});
        }
    }

    /// {"name": "PASSWORD", "value": "..."}: what stands in a container's environment, and elsewhere.
    void walk_pair(Json& object) {
        auto const value = object.find("value");
        if (value == object.end() || value->is_structured() || is_patch(object)) return;
        bool const secret = names_secret(text_of(member(object, "name"))) || names_secret(text_of(member(object, "key")));
        if (secret) walk(*value, {true, {}});
    }

    void walk_list(Json& list, Around around) {
        bool option = false;
        for (auto& item : list) {
            std::string const before = text_of(item);
            walk(item, {around.secret || (option && !before.starts_with('-')), around.kind});
            option = before.starts_with('-') && before.find('=') == std::string::npos && names_secret(before);
        }
    }

    /// A member's name can be a URL, or a word that is a secret itself.
    void rename_members(Json& object) {
        std::vector<std::string> odd;
        for (auto const& [name, value] : object.items()) {
            if (name.size() >= kShortestQuoted && without_secrets(name, placeholders_) != name) odd.push_back(name);
        }
        for (auto const& name : odd) {
            Json value = std::move(object[name]);
            object.erase(name);
            object[without_secrets(name, placeholders_)] = std::move(value);
        }
    }

    // --- What Secrets and ConfigMaps hold

    void walk_data(Json& data, bool plain) {
        for (auto& value : data) walk_datum(value, plain);
    }

    void walk_datum(Json& value, bool plain) {
        if (value.is_string()) {
            auto const& held = value.get_ref<std::string const&>();
            note_data(held, plain);
            value = plain ? redacted_bytes(held, placeholders_) : redacted_base64(held, placeholders_);
        } else {
            walk(value, {true, {}});
        }
    }

    // --- Patches (RFC 6902)

    static bool is_patch(Json const& object) { return member(object, "op").is_string() && member(object, "path").is_string(); }

    void walk_patch(Json const& operation, Json& value) {
        bool secret = false;
        std::string const path = text_of(member(operation, "path"));
        for (std::size_t at = 0; at < path.size();) {
            std::size_t const end = std::min(path.find('/', at + 1), path.size());
            std::string const name = path.substr(at + 1, end - at - 1);
            secret = !names_reference(name) && (secret || names_secret(name));
            at = end;
        }
        walk(value, {secret, {}});
    }

  public:
    /// A JSON patch of a Secret or a ConfigMap: its paths say what is data.
    void walk_data_patch(Json& operations, std::string_view kind) {
        for (auto& operation : operations) {
            auto const value = operation.is_object() ? operation.find("value") : operation.end();
            if (!operation.is_object() || value == operation.end()) continue;
            std::string const path = text_of(member(operation, "path"));
            auto const name = std::find_if(kDataMembers.begin(), kDataMembers.end(), [&](auto const one) {
                return path == "/" + std::string{one} || path.starts_with("/" + std::string{one} + "/");
            });
            bool const plain = name != kDataMembers.end() && (*name == "stringData" || (kind == "ConfigMap" && *name == "data"));
            if (name == kDataMembers.end()) {
                path.empty() ? walk(*value, {false, kind}) : walk_patch(operation, *value);
            } else if (value->is_object()) {
                walk_data(*value, plain);
            } else {
                walk_datum(*value, plain);
            }
        }
    }

  private:
    // --- Texts

    /// A text that has something else written into it, without the secrets of that; none where it is none, or has none.
    std::optional<std::string> text_inside(std::string const& text) {
        Walk inner{placeholders_, found_, depth_ + 1};
        auto const first = text.find_first_not_of(" \t\r\n");
        if (first != std::string::npos && (text[first] == '{' || text[first] == '[')) {
            if (auto json = base::parse_json(text)) {
                Json const before = *json;
                inner.walk(*json, {});
                return before == *json ? text : base::dump_json(*json);
            }
        }
        if (auto kubeconfig = redacted_kubeconfig(text, placeholders_)) return kubeconfig;
        if (text.size() < 24 || text.size() % 4 != 0) return std::nullopt;
        auto const decoded = base::decode_base64(text, base::WhiteSpace::Refused);
        if (!decoded || base::valid_utf8(*decoded) != *decoded) return std::nullopt;
        std::string const clean = inner.text(*decoded);
        if (clean == *decoded) return std::nullopt;
        return base::encode_base64(clean);
    }

    std::string replaced(std::string const& secret) {
        note(secret);
        return placeholders_.of(secret);
    }

    // --- What was found

    void note(std::string const& secret) {
        bool const known = found_ == nullptr || secret.size() < kShortestQuoted || Placeholders::is_one(secret);
        if (!known) found_->secrets.insert(secret);
    }

    void note_data(std::string const& held, bool plain) {
        if (found_ == nullptr) return;
        note(held);
        auto const decoded = plain ? std::optional{held} : base::decode_base64(held);
        if (!decoded) return;
        note(*decoded);
        if (auto const json = base::parse_json(*decoded)) note_all(*json);
        note_token(*decoded);
    }

    /// The passwords of a pull secret.
    void note_all(Json const& json) {
        for (auto const& [name, value] : json.items()) {
            if (value.is_structured()) note_all(value);
            if (!value.is_string() || !names_secret(name)) continue;
            note(value.get<std::string>());
            if (auto const decoded = base::decode_base64(value.get_ref<std::string const&>())) note(*decoded);
        }
    }

    /// The token of a kubeconfig.
    void note_token(std::string const& text) {
        for (std::string_view const name : {"token:", "password:"}) {
            for (std::size_t at = text.find(name); at != std::string::npos; at = text.find(name, at + 1)) {
                std::size_t const begin = text.find_first_not_of(" \"'", at + name.size());
                if (begin == std::string::npos) return;
                note(text.substr(begin, text.find_first_of(" \r\n\"',}", begin) - begin));
            }
        }
    }

    Placeholders const& placeholders_;
    Found* found_;
    int depth_;
};

bool is_data_patch(Json const& body, std::string_view kind) { return holds_data(kind) && body.is_array(); }

void walk_resource(Walk& walk, Json& object, std::string_view kind) {
    if (is_data_patch(object, kind)) {
        walk.walk_data_patch(object, kind);
    } else {
        walk.walk(object, {false, kind});
    }
}

/// Every secret that was found, wherever it is quoted. One that is part of a name that must stay is none.
std::string without_found(std::string text, Found const& found, Placeholders const& placeholders) {
    for (auto const& secret : found.secrets) {
        if (text.find(secret) == std::string::npos) continue;
        bool const name = std::any_of(found.names.begin(), found.names.end(),
                                      [&](auto const& one) { return one.find(secret) != std::string::npos; });
        if (name) continue;
        std::string const placeholder = placeholders.of(secret);
        for (std::size_t at = text.find(secret); at != std::string::npos; at = text.find(secret, at + placeholder.size())) {
            text.replace(at, secret.size(), placeholder);
        }
    }
    return text;
}

void quote_no_secret(Json& value, Found const& found, Placeholders const& placeholders) {
    if (!value.is_structured()) return;
    for (auto const& [name, inner] : value.items()) {
        if (value.is_object() && inner.is_string() && (name == "message" || name == "why")) {
            inner = without_found(inner.get<std::string>(), found, placeholders);
        } else {
            quote_no_secret(inner, found, placeholders);
        }
    }
}

/// The kind and the parts of an exchange, see recording.hpp.
void walk_exchange(Walk& walk, Json& exchange) {
    std::string const kind = text_of(member(exchange, "resource", "kind"));
    for (auto const& [name, value] : exchange.items()) {
        if (name == "body" || name == "object") {
            walk_resource(walk, value, kind);
        } else {
            walk.walk(value, {});
        }
    }
}

void walk_observed(Walk& walk, Json& data) {
    for (auto const& [name, value] : data.items()) {
        if (name != "parts") walk.walk(value, {});
    }
    if (!data.contains("parts")) return;
    for (auto& part : data["parts"]) {
        auto const rounds = part.find("rounds");
        if (rounds == part.end()) continue;
        for (auto& round : *rounds) {
            for (auto& exchange : round) walk_exchange(walk, exchange);
        }
    }
}

void walk_attributes(Walk& walk, events::CloudEvent& event, Placeholders const& placeholders) {
    event.id = walk.text(event.id);
    event.source = walk.text(event.source);
    if (event.subject) event.subject = walk.text(*event.subject);
    if (event.dataschema) event.dataschema = walk.text(*event.dataschema);
    for (auto& [name, value] : event.extensions) value = names_secret(name) ? placeholders.of(value) : walk.text(value);
}

}  // namespace

void Redactor::redact(events::CloudEvent& event, events::CloudEvent* observed) const {
    Found found;
    Walk walk{placeholders_, &found};
    walk_attributes(walk, event, placeholders_);
    if (auto* data = std::get_if<Json>(&event.data)) walk_resource(walk, *data, events::extension(event, "kind"));
    // Nothing is known about what they are, and nothing here reads them.
    if (auto* data = std::get_if<events::Bytes>(&event.data)) data->bytes = placeholders_.of(data->bytes);
    if (observed != nullptr) {
        walk_attributes(walk, *observed, placeholders_);
        if (auto* data = std::get_if<Json>(&observed->data)) walk_observed(walk, *data);
    }
    if (found.secrets.empty()) return;
    for (auto* one : {&event, observed}) {
        if (one == nullptr) continue;
        for (auto& [name, value] : one->extensions) value = without_found(value, found, placeholders_);
        if (auto* data = std::get_if<Json>(&one->data)) quote_no_secret(*data, found, placeholders_);
    }
}

void Redactor::redact(k8s::Json& object, std::string_view kind) const {
    Walk walk{placeholders_, nullptr};
    walk_resource(walk, object, kind);
}

std::string Redactor::redacted(std::string_view text) const { return Walk{placeholders_, nullptr}.text(std::string{text}); }

}  // namespace kro
