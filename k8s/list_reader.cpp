#include "k8s/list_reader.hpp"

#include <algorithm>

namespace k8s {
namespace {

using base::Failure;

Failure<std::string> not_json() { return Failure{std::string{"not JSON"}}; }

/// Finds its way through JSON without building anything. What it walks over is checked only as far as it has to be to find the ends of
/// things; what is kept is parsed, and checked, afterwards.
class Walker {
  public:
    explicit Walker(std::string_view text) : text_(text) {}

    std::size_t at() const { return at_; }

    /// Takes this character, after white space.
    bool take(char wanted) {
        skip_space();
        if (at_ >= text_.size() || text_[at_] != wanted) return false;
        ++at_;
        return true;
    }

    bool is_at(char wanted) {
        skip_space();
        return at_ < text_.size() && text_[at_] == wanted;
    }

    /// A member's name, as it is spelled between its quotes; false where there is none.
    bool take_name(std::string_view& name) {
        skip_space();
        std::size_t const from = at_ + 1;
        if (!skip_string()) return false;
        name = text_.substr(from, at_ - from - 1);
        return take(':');
    }

    /// Any value; false where the text ends before it does.
    bool skip_value() {
        skip_space();
        if (at_ >= text_.size()) return false;
        if (text_[at_] == '"') return skip_string();
        if (text_[at_] != '{' && text_[at_] != '[') {
            std::size_t const from = at_;
            while (at_ < text_.size() && !ends_word(text_[at_])) ++at_;
            return at_ > from;
        }
        std::size_t depth = 0;
        while (at_ < text_.size()) {
            char const c = text_[at_];
            if (c == '"') {
                if (!skip_string()) return false;
                continue;
            }
            ++at_;
            if (c == '{' || c == '[') ++depth;
            if ((c == '}' || c == ']') && --depth == 0) return true;
        }
        return false;
    }

  private:
    static bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
    static bool ends_word(char c) { return c == ',' || c == ']' || c == '}' || is_space(c); }

    void skip_space() {
        while (at_ < text_.size() && is_space(text_[at_])) ++at_;
    }

    bool skip_string() {
        if (at_ >= text_.size() || text_[at_] != '"') return false;
        std::size_t quote = at_;
        do {
            quote = text_.find('"', quote + 1);
        } while (quote != std::string_view::npos && is_escaped(quote));
        at_ = std::min(quote, text_.size() - 1) + 1;
        return quote != std::string_view::npos;
    }

    /// Whether an odd number of backslashes stands before this place in a string.
    bool is_escaped(std::size_t place) const {
        std::size_t first = place;
        while (text_[first - 1] == '\\') --first;
        return (place - first) % 2 == 1;
    }

    std::string_view text_;
    std::size_t at_ = 0;
};

/// Walks over the members of an object that begins here. `on_member` is told each one's name, is to walk over its value, and says
/// whether it could; `before` is where the member began, or the comma before it.
template <class OnMember>
bool walk_members(Walker& walker, OnMember const& on_member) {
    if (!walker.take('{')) return false;
    if (walker.take('}')) return true;
    std::size_t before = walker.at();
    bool first = true;
    while (true) {
        std::string_view name;
        if (!walker.take_name(name) || !on_member(name, before, first)) return false;
        if (walker.take('}')) return true;
        before = walker.at();
        first = false;
        if (!walker.take(',')) return false;
    }
}

/// Where managedFields of the object that begins here are, with one of the commas around them.
struct Cut {
    std::size_t from = 0;
    std::size_t to = 0;
};

bool find_managed_fields(Walker& walker, Cut& cut) {
    return walk_members(walker, [&](std::string_view name, std::size_t, bool) {
        if (name != "metadata" || !walker.is_at('{')) return walker.skip_value();
        return walk_members(walker, [&](std::string_view inner, std::size_t before, bool first) {
            if (!walker.skip_value()) return false;
            if (inner != "managedFields") return true;
            cut = {before, walker.at()};
            // The first member takes the comma behind it along.
            Walker ahead = walker;
            if (first && ahead.take(',')) cut.to = ahead.at();
            return true;
        });
    });
}

base::Result<void, std::string> read_items(std::string_view text, Walker& walker, std::function<void(Json&)> const& visit) {
    if (!walker.take('[')) return not_json();
    if (walker.take(']')) return {};
    std::string item;
    do {
        if (!walker.is_at('{')) return not_json();
        std::size_t const from = walker.at();
        Cut cut{from, from};
        if (!find_managed_fields(walker, cut)) return not_json();
        item.assign(text.substr(from, cut.from - from));
        item.append(text.substr(cut.to, walker.at() - cut.to));
        Json object = TRY(base::parse_json(item));
        visit(object);
    } while (walker.take(','));
    if (!walker.take(']')) return not_json();
    return {};
}

}  // namespace

base::Result<Json, std::string> read_list(std::string_view text, std::function<void(Json&)> const& visit) {
    Walker walker{text};
    std::string frame;
    std::size_t copied = 0;
    base::Result<void, std::string> read{};
    bool const whole = walk_members(walker, [&](std::string_view name, std::size_t, bool) {
        if (name != "items" || !walker.is_at('[')) return walker.skip_value();
        frame.append(text.substr(copied, walker.at() - copied)).append("[]");
        read = read_items(text, walker, visit);
        copied = walker.at();
        return read.has_value();
    });
    if (!read) return Failure{std::move(read).error()};
    if (!whole) return not_json();
    frame.append(text.substr(copied));
    return base::parse_json(frame);
}

}  // namespace k8s
