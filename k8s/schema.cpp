#include "k8s/schema.hpp"

#include "k8s/field_set.hpp"
#include "k8s/stored_number.hpp"

#include <algorithm>
#include <set>

namespace k8s {
namespace {

using base::member;
using base::text_of;

/// std::regex recurses for each character, so a longer text is not checked.
constexpr std::size_t kPatternLimit = 4096;

/// What describes a place that no schema describes.
Schema const& anything() {
    static Schema const schema = [] {
        Schema made;
        made.preserve_unknown = true;
        return made;
    }();
    return schema;
}

Schema::Type type_of(std::string_view name) {
    if (name == "object") return Schema::Type::Object;
    if (name == "array") return Schema::Type::Array;
    if (name == "string") return Schema::Type::String;
    if (name == "integer") return Schema::Type::Integer;
    if (name == "number") return Schema::Type::Number;
    if (name == "boolean") return Schema::Type::Boolean;
    return Schema::Type::Any;
}

bool is_set(Json const& flag) { return flag.is_boolean() && flag.get<bool>(); }

std::vector<std::string> texts_of(Json const& list) {
    std::vector<std::string> texts;
    if (!list.is_array()) return texts;
    for (auto const& text : list) texts.push_back(text_of(text));
    return texts;
}

std::string immutability(Json const& rules) {
    if (!rules.is_array()) return {};
    for (auto const& rule : rules) {
        if (text_of(member(rule, "rule")) != "self == oldSelf") continue;
        auto message = text_of(member(rule, "message"));
        return message.empty() ? "failed rule: self == oldSelf" : message;
    }
    return {};
}

std::optional<std::int64_t> integer_at(Json const& source, char const* name) {
    auto const& value = member(source, name);
    return value.is_number_integer() ? std::optional{value.get<std::int64_t>()} : std::nullopt;
}

std::optional<double> number_at(Json const& source, char const* name) {
    auto const& value = member(source, name);
    if (!value.is_number() && !value.is_binary()) return std::nullopt;
    return std::strtod(base::dump_json(value).c_str(), nullptr);
}

/// A pattern that std::regex doesn't understand as Go does is not checked.
std::shared_ptr<std::regex const> pattern_of(std::string const& text) {
    if (text.empty()) return nullptr;
    try {
        return std::make_shared<std::regex const>(text, std::regex::ECMAScript);
    } catch (std::regex_error const&) {
        return nullptr;
    }
}

Schema compile(Json const& source) {
    Schema schema;
    schema.type = type_of(text_of(member(source, "type")));
    schema.nullable = is_set(member(source, "nullable"));
    schema.preserve_unknown = is_set(member(source, "x-kubernetes-preserve-unknown-fields"));
    schema.int_or_string = is_set(member(source, "x-kubernetes-int-or-string"));
    schema.atomic_map = text_of(member(source, "x-kubernetes-map-type")) == "atomic";
    auto const list = text_of(member(source, "x-kubernetes-list-type"));
    schema.list = list == "map" ? Schema::List::Map : list == "set" ? Schema::List::Set : Schema::List::Atomic;
    schema.list_keys = texts_of(member(source, "x-kubernetes-list-map-keys"));
    if (auto const& properties = member(source, "properties"); properties.is_object()) {
        for (auto const& [name, inner] : properties.items()) schema.properties.emplace(name, compile(inner));
    }
    if (auto const& items = member(source, "items"); items.is_object()) schema.items.push_back(compile(items));
    auto const& additional = member(source, "additionalProperties");
    if (additional.is_object()) schema.additional.push_back(compile(additional));
    if (is_set(additional)) schema.additional.push_back(anything());
    schema.required = texts_of(member(source, "required"));
    schema.default_value = source.contains("default") ? source["default"] : Json(Json::value_t::discarded);
    schema.choices = member(source, "enum");
    schema.min_length = integer_at(source, "minLength");
    schema.max_length = integer_at(source, "maxLength");
    schema.min_items = integer_at(source, "minItems");
    schema.max_items = integer_at(source, "maxItems");
    schema.minimum = number_at(source, "minimum");
    schema.maximum = number_at(source, "maximum");
    schema.pattern_text = text_of(member(source, "pattern"));
    schema.pattern = pattern_of(schema.pattern_text);
    schema.immutable = immutability(member(source, "x-kubernetes-validations"));
    return schema;
}

/// Whatever is sent is kept; conditions are the one list that every controller shares.
Json schema_of_anything() {
    Json const condition = {{"type", "object"}, {"x-kubernetes-preserve-unknown-fields", true}};
    Json const conditions = {
        {"type", "array"}, {"x-kubernetes-list-type", "map"}, {"x-kubernetes-list-map-keys", {"type"}}, {"items", condition}};
    return {
        {"type", "object"},
        {"x-kubernetes-preserve-unknown-fields", true},
        {"properties",
         {{"status",
           {{"type", "object"}, {"x-kubernetes-preserve-unknown-fields", true}, {"properties", {{"conditions", conditions}}}}}}}};
}

/// Source: k8s.io/apimachinery, meta/v1 ObjectMeta.
Schema metadata_schema() {
    Json const text = {{"type", "string"}, {"nullable", true}};
    Json const texts = {{"type", "object"}, {"nullable", true}, {"additionalProperties", {{"type", "string"}}}};
    Json const owner = {{"type", "object"}, {"x-kubernetes-map-type", "atomic"}, {"x-kubernetes-preserve-unknown-fields", true}};
    return compile(
        {{"type", "object"},
         {"properties",
          {{"name", text},
           {"generateName", text},
           {"namespace", text},
           {"selfLink", text},
           {"uid", text},
           {"resourceVersion", text},
           {"generation", {{"type", "integer"}, {"nullable", true}}},
           {"creationTimestamp", text},
           {"deletionTimestamp", text},
           {"deletionGracePeriodSeconds", {{"type", "integer"}, {"nullable", true}}},
           {"labels", texts},
           {"annotations", texts},
           {"managedFields", {{"type", "array"}, {"nullable", true}, {"x-kubernetes-preserve-unknown-fields", true}}},
           {"finalizers",
            {{"type", "array"}, {"nullable", true}, {"items", {{"type", "string"}}}, {"x-kubernetes-list-type", "set"}}},
           {"ownerReferences",
            {{"type", "array"},
             {"nullable", true},
             {"items", owner},
             {"x-kubernetes-list-type", "map"},
             {"x-kubernetes-list-map-keys", {"uid"}}}}}}});
}

bool is_number(Json const& value) { return value.is_number() || value.is_binary(); }

bool has_type(Json const& value, Schema const& schema) {
    if (schema.int_or_string) return is_integral(value) || value.is_string();
    switch (schema.type) {
        case Schema::Type::Any: return true;
        case Schema::Type::Object: return value.is_object();
        case Schema::Type::Array: return value.is_array();
        case Schema::Type::String: return value.is_string();
        case Schema::Type::Integer: return is_integral(value);
        case Schema::Type::Number: return is_number(value);
        case Schema::Type::Boolean: return value.is_boolean();
    }
    std::abort();
}

std::string name_of_type(Schema::Type type) {
    switch (type) {
        case Schema::Type::Any: return "any";
        case Schema::Type::Object: return "object";
        case Schema::Type::Array: return "array";
        case Schema::Type::String: return "string";
        case Schema::Type::Integer: return "integer";
        case Schema::Type::Number: return "number";
        case Schema::Type::Boolean: return "boolean";
    }
    std::abort();
}

std::string name_of_type(Json const& value) {
    if (value.is_null()) return "null";
    if (value.is_object()) return "object";
    if (value.is_array()) return "array";
    if (value.is_string()) return "string";
    if (value.is_boolean()) return "boolean";
    return is_integral(value) ? "integer" : "number";
}

std::string spelled(double number) {
    Json json = number;
    respell_numbers(json);
    return base::dump_json(json);
}

/// What validation found so far, and where it is.
struct Checker {
    std::vector<Violation> found;

    void say(std::string const& field, std::string message, std::string reason = "FieldValueInvalid") {
        found.push_back({field, std::move(message), std::move(reason)});
    }

    void check(std::string const& field, Json const& before, Json const& after, Schema const& schema) {
        if (after.is_null() && schema.nullable) return;
        if (!before.is_null() && base::same_json(before, after)) return;  // what was taken once is not refused later
        if (!has_type(after, schema)) {
            auto const type = name_of_type(after);
            say(field,
                "Invalid value: \"" + type + "\": " + field + " in body must be of type " + name_of_type(schema.type) + ": \"" +
                    type + "\"",
                after.is_null() ? "FieldValueInvalid" : "FieldValueTypeInvalid");
            return;
        }
        check_text(field, after, schema);
        check_size(field, after, schema);
        if (schema.choices.is_array() && std::none_of(schema.choices.begin(), schema.choices.end(),
                                                      [&](Json const& choice) { return base::same_json(choice, after); })) {
            say(field, "Unsupported value: " + base::dump_json(after), "FieldValueNotSupported");
        }
        if (!schema.immutable.empty() && !before.is_null() && !base::same_json(before, after)) {
            say(field, "Invalid value: \"" + name_of_type(after) + "\": " + schema.immutable);
        }
        if (after.is_object()) check_members(field, before, after, schema);
        if (after.is_array()) check_elements(field, before, after, schema);
    }

    void check_text(std::string const& field, Json const& after, Schema const& schema) {
        if (!after.is_string()) return;
        auto const& text = after.get_ref<std::string const&>();
        auto const length = static_cast<std::int64_t>(
            std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
        if (schema.min_length && length < *schema.min_length) {
            say(field, "Invalid value: \"" + text + "\": " + field + " in body should be at least " +
                           std::to_string(*schema.min_length) + " chars long");
        }
        if (schema.max_length && length > *schema.max_length) {
            say(field, "Too long: may not be more than " + std::to_string(*schema.max_length) + " bytes", "FieldValueTooLong");
        } else if (schema.pattern && text.size() <= kPatternLimit && !std::regex_search(text, *schema.pattern)) {
            say(field, "Invalid value: \"" + text + "\": " + field + " in body should match '" + schema.pattern_text + "'");
        }
    }

    void check_size(std::string const& field, Json const& after, Schema const& schema) {
        if (is_number(after) && (schema.minimum || schema.maximum)) {
            double const value = std::strtod(base::dump_json(after).c_str(), nullptr);
            std::string const begin = "Invalid value: " + base::dump_json(after) + ": " + field + " in body should be ";
            if (schema.minimum && value < *schema.minimum)
                say(field, begin + "greater than or equal to " + spelled(*schema.minimum));
            if (schema.maximum && value > *schema.maximum)
                say(field, begin + "less than or equal to " + spelled(*schema.maximum));
        }
        if (!after.is_array()) return;
        auto const count = static_cast<std::int64_t>(after.size());
        if (schema.min_items && count < *schema.min_items) {
            say(field, "Invalid value: " + std::to_string(count) + ": " + field + " in body should have at least " +
                           std::to_string(*schema.min_items) + " items");
        }
        if (schema.max_items && count > *schema.max_items) {
            say(field,
                "Too many: " + std::to_string(count) + ": must have at most " + std::to_string(*schema.max_items) + " items",
                "FieldValueTooMany");
        }
    }

    void check_members(std::string const& field, Json const& before, Json const& after, Schema const& schema) {
        std::string const prefix = field.empty() ? "" : field + ".";
        for (auto const& name : schema.required) {
            if (!after.contains(name)) say(prefix + name, "Required value", "FieldValueRequired");
        }
        if (schema.preserve_unknown && schema.properties.empty()) return;
        for (auto const& [name, inner] : after.items()) {
            if (field.empty() && name == "metadata") continue;  // ObjectMeta has rules of its own
            check(prefix + name, member(before, name), inner, schema.member(name));
        }
    }

    void check_elements(std::string const& field, Json const& before, Json const& after, Schema const& schema) {
        std::set<std::string> seen;
        for (std::size_t i = 0; i < after.size(); ++i) {
            std::string const place = field + "[" + std::to_string(i) + "]";
            Json const* previous = nullptr;
            if (schema.list != Schema::List::Atomic) {
                auto const step = step_of(after[i], schema);
                if (!seen.insert(step).second) say(place, "Duplicate value: " + step.substr(2), "FieldValueDuplicate");
                previous = find_element(before, step, schema);
            }
            check(place, previous != nullptr ? *previous : Json(), after[i], schema.element());
        }
    }
};

std::string typed_name(Json const& value) {
    if (value.is_null()) return "null";
    if (value.is_object()) return "map";
    if (value.is_array()) return "list";
    if (value.is_string()) return "string";
    return value.is_boolean() ? "boolean" : "numeric";
}

std::string untypable_at(std::string const& place, Json const& value, Schema const& schema);

std::string untypable_elements(std::string const& place, Json const& list, Schema const& schema) {
    std::set<std::string> seen;
    for (std::size_t i = 0; i < list.size(); ++i) {
        auto const element_place = place + "[" + std::to_string(i) + "]";
        if (schema.list == Schema::List::Map) {
            bool const has_key = std::any_of(schema.list_keys.begin(), schema.list_keys.end(), [&](std::string const& key) {
                return list[i].contains(key) || schema.element().member(key).has_default();
            });
            if (!has_key)
                return place + ": element " + std::to_string(i) +
                       ": associative list with keys has an element that omits all key fields";
        }
        if (schema.list != Schema::List::Atomic) {
            auto const step = step_of(list[i], schema);
            if (!seen.insert(step).second) return place + ": duplicate entries for key [" + step.substr(2) + "]";
        }
        if (auto why = untypable_at(element_place, list[i], schema.element()); !why.empty()) return why;
    }
    return {};
}

std::string untypable_at(std::string const& place, Json const& value, Schema const& schema) {
    if (value.is_null()) return {};
    if (schema.type == Schema::Type::Object && !value.is_object()) return place + ": expected map, got " + typed_name(value);
    if (schema.type == Schema::Type::Array && !value.is_array()) return place + ": expected list, got " + typed_name(value);
    if (schema.type == Schema::Type::String && !value.is_string()) return place + ": expected string, got " + typed_name(value);
    if (schema.type == Schema::Type::Boolean && !value.is_boolean())
        return place + ": expected boolean, got " + typed_name(value);
    bool const wants_number = schema.type == Schema::Type::Integer || schema.type == Schema::Type::Number;
    if (wants_number && !is_number(value)) return place + ": expected numeric (int or float), got " + typed_name(value);
    if (value.is_array()) return untypable_elements(place, value, schema);
    if (!value.is_object()) return {};
    for (auto const& [name, inner] : value.items()) {
        auto const member_place = place + "." + name;
        bool const known =
            schema.declares(name) || schema.preserve_unknown || !schema.additional.empty() || schema.type == Schema::Type::Any;
        if (!known) return member_place + ": field not declared in schema";
        if (auto why = untypable_at(member_place, inner, schema.member(name)); !why.empty()) return why;
    }
    return {};
}

void drop_unknown(std::string const& place, Json& value, Schema const& schema, std::vector<std::string>& dropped) {
    if (value.is_array()) {
        for (std::size_t i = 0; i < value.size(); ++i) {
            drop_unknown(place + "[" + std::to_string(i) + "]", value[i], schema.element(), dropped);
        }
    }
    if (!value.is_object()) return;
    if (schema.preserve_unknown && schema.properties.empty() && schema.additional.empty()) return;
    for (auto it = value.begin(); it != value.end();) {
        std::string const member_place = place.empty() ? it.key() : place + "." + it.key();
        bool const declared = schema.declares(it.key()) || !schema.additional.empty();
        if (!declared && !schema.preserve_unknown) {
            dropped.push_back(member_place);
            it = value.erase(it);
            continue;
        }
        if (declared) drop_unknown(member_place, it.value(), schema.member(it.key()), dropped);
        ++it;
    }
}

}  // namespace

Schema const& Schema::member(std::string_view name) const {
    if (auto const found = properties.find(name); found != properties.end()) return found->second;
    return additional.empty() ? anything() : additional.front();
}

Schema const& Schema::element() const { return items.empty() ? anything() : items.front(); }

Schema object_schema(Json const& open_api) {
    Schema schema = compile(open_api.is_object() && !open_api.empty() ? open_api : schema_of_anything());
    schema.type = Schema::Type::Object;
    Schema text = anything();
    text.type = Schema::Type::String;
    text.preserve_unknown = false;
    schema.properties.insert_or_assign("apiVersion", text);
    schema.properties.insert_or_assign("kind", text);
    static Schema const metadata = metadata_schema();
    schema.properties.insert_or_assign("metadata", metadata);
    return schema;
}

void fill_defaults(Json& value, Schema const& schema) {
    if (value.is_array()) {
        if (schema.items.empty()) return;
        for (auto& inner : value) fill_defaults(inner, schema.element());
    }
    if (!value.is_object()) return;
    for (auto const& [name, inner] : schema.properties) {
        if (!inner.has_default()) continue;
        auto const found = value.find(name);
        if (found == value.end() || (found->is_null() && !inner.nullable)) value[name] = inner.default_value;
    }
    for (auto& [name, inner] : value.items()) {
        if (schema.declares(name) || !schema.additional.empty()) fill_defaults(inner, schema.member(name));
    }
}

std::vector<std::string> drop_unknown_fields(Json& value, Schema const& schema) {
    std::vector<std::string> dropped;
    drop_unknown("", value, schema, dropped);
    return dropped;
}

void drop_nulls(Json& value, Schema const& schema) {
    if (value.is_array()) {
        if (schema.items.empty()) return;
        for (auto& inner : value) drop_nulls(inner, schema.element());
    }
    if (!value.is_object()) return;
    for (auto it = value.begin(); it != value.end();) {
        bool const declared = schema.declares(it.key()) || !schema.additional.empty();
        if (declared && it.value().is_null() && !schema.member(it.key()).nullable) {
            it = value.erase(it);
            continue;
        }
        if (declared) drop_nulls(it.value(), schema.member(it.key()));
        ++it;
    }
}

std::vector<Violation> violations(Json const& before, Json const& after, Schema const& schema) {
    Checker checker;
    checker.check("", before, after, schema);
    return std::move(checker.found);
}

std::string untypable(Json const& value, Schema const& schema) { return untypable_at("", value, schema); }

}  // namespace k8s
