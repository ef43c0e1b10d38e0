#include "function/replay/replay_state.hpp"

#include "k8s/credentials.hpp"
#include "k8s/manifest.hpp"

#include <algorithm>
#include <array>
#include <filesystem>

namespace kro {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLargestFile = std::size_t{512} << 20U;

bool is_manifest(fs::path const& file) {
    constexpr std::array<std::string_view, 3> kEndings{".yaml", ".yml", ".json"};
    return std::find(kEndings.begin(), kEndings.end(), file.extension().string()) != kEndings.end();
}

base::Result<std::vector<fs::path>, std::string> files_at(fs::path const& path) {
    std::error_code failure;
    auto const status = fs::status(path, failure);
    if (failure || !fs::exists(status)) return base::Failure{path.string() + ": there is no such file or folder"};
    if (!fs::is_directory(status)) return std::vector<fs::path>{path};
    std::vector<fs::path> files;
    for (fs::recursive_directory_iterator at{path, failure}, end; !failure && at != end; at.increment(failure)) {
        if (!at->is_directory(failure) && is_manifest(at->path())) files.push_back(at->path());
    }
    if (failure) return base::Failure{path.string() + ": " + failure.message()};
    std::sort(files.begin(), files.end());
    return files;
}

}  // namespace

base::Result<void, std::string> read_state(std::string const& path, std::function<void(k8s::Json)> const& object,
                                           std::function<void(events::Unreadable)> const& unreadable) {
    for (auto const& file : TRY(files_at(path))) {
        auto const text = k8s::read_file(file, kLargestFile);
        if (!text) {
            unreadable({{file.string(), 0}, "can't be read, or is larger than 512 MiB"});
            continue;
        }
        for (auto& manifest : k8s::read_manifests(*text)) {
            if (manifest.object) {
                object(std::move(manifest.object).value());
            } else {
                unreadable({{file.string(), manifest.line}, manifest.object.error()});
            }
        }
    }
    return {};
}

}  // namespace kro
