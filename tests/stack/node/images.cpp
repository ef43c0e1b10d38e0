#include "tests/stack/node/images.hpp"

#include <fstream>

namespace node {
namespace {

constexpr std::string_view kGoPackage = "ko://";

std::string name_of(std::string_view image) {
    if (image.starts_with(kGoPackage)) return std::string{image.substr(kGoPackage.size())};
    image = image.substr(0, image.find('@'));
    if (auto const slash = image.rfind('/'); slash != std::string_view::npos) image.remove_prefix(slash + 1);
    return std::string{image.substr(0, image.find(':'))};
}

}  // namespace

std::optional<std::filesystem::path> Images::program_of(std::string_view image) const {
    std::string const wanted = name_of(image);
    std::ifstream table{table_};
    for (std::string name, path; table >> name >> path;) {
        if (name == wanted) return path;
    }
    return std::nullopt;
}

}  // namespace node
