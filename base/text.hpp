#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace base {

/// One after the other, with `separator` between each two.
std::string joined(std::vector<std::string> const& texts, std::string_view separator = ", ");

/// "FILE can't be WHAT: " and why the last system call failed. `what` is how it was to be dealt with: "opened", "written".
std::string file_fault(std::filesystem::path const& file, std::string_view what);

}  // namespace base
