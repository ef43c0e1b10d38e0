#pragma once

#include <string_view>

namespace kro {

/// The files of function/report/, put into the program when it is built: see cmake/embed.cmake.
extern std::string_view const kReportHtml;
extern std::string_view const kReportCss;
extern std::string_view const kReportJs;

}  // namespace kro
