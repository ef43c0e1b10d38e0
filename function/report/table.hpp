#pragma once

#include <iosfwd>
#include <string>
#include <vector>

namespace kro {

/// Rows of as many cells each, the first one being the head, in columns that are as wide as they must be.
void print_table(std::vector<std::vector<std::string>> const& rows, std::ostream& out);

}  // namespace kro
