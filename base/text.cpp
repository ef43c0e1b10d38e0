#include "base/text.hpp"

#include <cerrno>
#include <cstring>

namespace base {

std::string joined(std::vector<std::string> const& texts, std::string_view separator) {
    std::string all;
    for (auto const& text : texts) {
        if (&text != &texts.front()) all += separator;
        all += text;
    }
    return all;
}

std::string file_fault(std::filesystem::path const& file, std::string_view what) {
    std::string const why = std::strerror(errno);
    return file.string() + " can't be " + std::string{what} + ": " + why;
}

}  // namespace base
