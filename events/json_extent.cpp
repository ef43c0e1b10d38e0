#include "events/json_extent.hpp"

#include "base/json.hpp"

namespace events {
namespace {

bool in_word(char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '+' || c == '.';
}

}  // namespace

/// Whether the string goes on to its end; not where the text ends first, or where a control character stands in it (RFC 8259 section 7).
bool JsonExtent::look_at_string(std::string_view text) {
    for (; at_ < text.size(); ++at_) {
        auto const c = static_cast<unsigned char>(text[at_]);
        if (c == '"') {
            ++at_;
            in_string_ = false;
            next_ = next_ == Next::Name || next_ == Next::NameOrEnd ? Next::Colon : Next::CommaOrEnd;
            return true;
        }
        if (c < 0x20) return false;
        if (c != '\\') continue;
        if (at_ + 1 == text.size()) return false;  // looked at again when more is there
        if (static_cast<unsigned char>(text[at_ + 1]) >= 0x20) ++at_;
    }
    return false;
}

void JsonExtent::look_at_word(std::string_view text) {
    while (at_ < text.size() && events::in_word(text[at_])) ++at_;
    if (at_ == text.size()) return;
    in_word_ = false;
    next_ = Next::CommaOrEnd;
}

JsonExtent::State JsonExtent::open(char c) {
    if (!takes_value()) return State::Broken;
    if (open_.size() == base::kJsonDepth) return State::TooDeep;
    open_.push_back(c);
    next_ = c == '{' ? Next::NameOrEnd : Next::ValueOrEnd;
    ++at_;
    return State::Open;
}

JsonExtent::State JsonExtent::close(char c) {
    char const opened = c == '}' ? '{' : '[';
    Next const empty = c == '}' ? Next::NameOrEnd : Next::ValueOrEnd;
    if (open_.back() != opened || (next_ != Next::CommaOrEnd && next_ != empty)) return State::Broken;
    open_.pop_back();
    next_ = Next::CommaOrEnd;
    ++at_;
    return open_.empty() ? State::Whole : State::Open;
}

JsonExtent::State JsonExtent::look_at_token(char c) {
    switch (c) {
        case ' ':
        case '\t':
        case '\r':
        case '\n': ++at_; return State::Open;
        case '{':
        case '[': return open(c);
        case '}':
        case ']': return close(c);
        case '"':
            if (next_ == Next::Colon || next_ == Next::CommaOrEnd) return State::Broken;
            in_string_ = true;
            ++at_;
            return State::Open;
        case ':':
            if (next_ != Next::Colon) return State::Broken;
            next_ = Next::Value;
            ++at_;
            return State::Open;
        case ',':
            if (next_ != Next::CommaOrEnd) return State::Broken;
            next_ = open_.back() == '{' ? Next::Name : Next::Value;
            ++at_;
            return State::Open;
        default:
            if (!takes_value() || !events::in_word(c)) return State::Broken;
            in_word_ = true;
            return State::Open;
    }
}

JsonExtent::State JsonExtent::look(std::string_view text) {
    while (at_ < text.size()) {
        if (in_string_) {
            if (look_at_string(text)) continue;
            bool const cut = at_ < text.size() && static_cast<unsigned char>(text[at_]) < 0x20;
            return cut ? State::Broken : State::Open;
        }
        if (in_word_) {
            look_at_word(text);
            continue;
        }
        State const state = look_at_token(text[at_]);
        if (state != State::Open) return state;
    }
    return State::Open;
}

}  // namespace events
