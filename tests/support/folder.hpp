#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace support {

/// A new, empty folder that is gone with its owner.
class Folder {
  public:
    Folder() {
        std::string name = (std::filesystem::temp_directory_path() / "kro-test-XXXXXX").string();
        path_ = ::mkdtemp(name.data());
    }
    ~Folder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    Folder(Folder const&) = delete;
    Folder& operator=(Folder const&) = delete;

    std::filesystem::path const& path() const { return path_; }
    std::filesystem::path operator/(std::string const& name) const { return path_ / name; }

    void write(std::string const& name, std::string const& content) const {
        std::filesystem::create_directories((path_ / name).parent_path());
        std::ofstream{path_ / name, std::ios::binary} << content;
    }

  private:
    std::filesystem::path path_;
};

}  // namespace support
