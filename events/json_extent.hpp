#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace events {

/// Finds where a JSON object ends in a text that comes a part at a time, and where it stops being one: a line that was cut is noticed as
/// soon as the next one goes on with something that can't stand there. Looks at the structure alone; whether numbers, escapes and words are
/// right is for a parser to say.
class JsonExtent {
  public:
    enum class State {
        Open,     ///< more of the text is wanted
        Whole,    ///< the object ends before end()
        Broken,   ///< what stands at end() can't stand there
        TooDeep,  ///< more than base::kJsonDepth levels, at end()
    };

    /// Goes on with `text`, which begins with the `{` and with all that was looked at before.
    State look(std::string_view text);

    /// See State; how much has been looked at, while it is Open.
    std::size_t end() const { return at_; }

    /// Whether the text that was looked at ends inside of a string.
    bool in_string() const { return in_string_; }

  private:
    enum class Next { Value, ValueOrEnd, Name, NameOrEnd, Colon, CommaOrEnd };

    bool look_at_string(std::string_view text);
    void look_at_word(std::string_view text);
    State look_at_token(char c);
    State open(char c);
    State close(char c);
    bool takes_value() const { return next_ == Next::Value || next_ == Next::ValueOrEnd; }

    std::size_t at_ = 0;
    std::vector<char> open_;  ///< the brackets around
    Next next_ = Next::Value;
    bool in_string_ = false;
    bool in_word_ = false;  ///< a number, true, false or null
};

}  // namespace events
