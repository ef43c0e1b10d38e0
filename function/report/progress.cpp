#include "function/report/progress.hpp"

#include <ostream>

namespace kro {
namespace {

constexpr std::uintmax_t kBarWidth = 40;
constexpr std::uintmax_t kLines = 10;

}  // namespace

std::uintmax_t Progress::step(std::uintmax_t done, std::uintmax_t total) const {
    if (audience_ == Audience::Program) return total == 0 ? 0 : done * kLines / total;
    return total == 0 ? kBarWidth : done * kBarWidth / total;
}

bool Progress::is_due(std::uintmax_t done, std::uintmax_t total) const { return step(done, total) != shown_; }

void Progress::show(std::uintmax_t done, std::uintmax_t total, std::string const& short_text, std::string const& line) {
    std::uintmax_t const now = step(done, total);
    shown_ = now;
    if (audience_ == Audience::Program) {
        err_ << line << std::endl;
        return;
    }
    err_ << "\r[" << std::string(now, '#') << std::string(kBarWidth - now, ' ') << "] " << short_text << std::flush;
    if (done == total) err_ << std::endl;
}

}  // namespace kro
