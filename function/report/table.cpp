#include "function/report/table.hpp"

#include <algorithm>
#include <ostream>

namespace kro {

void print_table(std::vector<std::vector<std::string>> const& rows, std::ostream& out) {
    constexpr std::size_t kGap = 3;
    std::vector<std::size_t> widths(rows.empty() ? 0 : rows.front().size());
    for (auto const& row : rows) {
        for (std::size_t i = 0; i < row.size(); ++i) widths.at(i) = std::max(widths.at(i), row[i].size() + kGap);
    }
    for (auto const& row : rows) {
        std::string line;
        for (std::size_t i = 0; i + 1 < row.size(); ++i) line += row[i] + std::string(widths.at(i) - row[i].size(), ' ');
        out << line << row.back() << "\n";
    }
}

}  // namespace kro
