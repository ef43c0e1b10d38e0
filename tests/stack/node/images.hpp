#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace node {

/// What stands for container images: a file with a line for each, a name and the path of a program. The name is a Go package, as
/// `ko://` images have it, or the last part of an image's own. It is read anew each time, so that lines may be added.
class Images {
  public:
    explicit Images(std::filesystem::path table) : table_(std::move(table)) {}

    /// The program for `ko://knative.dev/eventing/cmd/mtping`, `registry.example.com/a/event-display:v1` or `...@sha256:…`.
    std::optional<std::filesystem::path> program_of(std::string_view image) const;

  private:
    std::filesystem::path table_;
};

}  // namespace node
