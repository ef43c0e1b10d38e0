#include "function/explain_command.hpp"
#include "function/handle/log.hpp"
#include "function/record_command.hpp"
#include "function/replay_command.hpp"
#include "function/resync_command.hpp"
#include "function/serve.hpp"
#include "function/settings.hpp"

#ifdef KRO_MIMALLOC
#include <mimalloc.h>
#endif

#include <cstdlib>
#include <iostream>

namespace {

/// What is free goes back to the system at once: a resync frees as fast as it allocates, and what a thread keeps after its last event
/// would stay for as long as it sleeps.
void keep_no_free_memory() {
#ifdef KRO_MIMALLOC
    constexpr long kDelayMilliseconds = 0;
#if MI_MALLOC_VERSION < 210
    mi_option_set(mi_option_decommit_delay, kDelayMilliseconds);
#else
    mi_option_set(mi_option_purge_delay, kDelayMilliseconds);
#endif
#endif
}

}  // namespace

int main(int argc, char** argv) {
    keep_no_free_memory();
    kro::Environment const environment = [](std::string const& name) -> std::optional<std::string> {
        char const* value = std::getenv(name.c_str());
        return value == nullptr ? std::nullopt : std::optional<std::string>{value};
    };
    auto const settings = kro::read_settings({argv + 1, argv + argc}, environment);
    if (!settings) {
        (settings.error().status == 0 ? std::cout : std::cerr) << settings.error().text << std::flush;
        return settings.error().status;
    }
    switch (settings->command) {
        case kro::Command::Version: std::cout << "kro-function " << kro::kProgramVersion << std::endl; return 0;
        case kro::Command::Record: return kro::record_command(*settings, kro::make_logger(settings->verbosity));
        case kro::Command::Replay: return kro::replay_command(*settings);
        case kro::Command::Explain: return kro::explain_command(*settings);
        case kro::Command::Resync: return kro::resync_command(*settings);
        case kro::Command::Serve: return kro::serve(*settings, kro::make_logger(settings->verbosity));
    }
    return EXIT_FAILURE;
}
