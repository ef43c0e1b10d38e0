#include "function/record/recorder.hpp"

#include "events/archive.hpp"
#include "events/json_format.hpp"
#include "function/handle/log.hpp"
#include "function/record/recording.hpp"
#include "function/record/redact.hpp"
#include "function/tenant/tenant.hpp"

#include <algorithm>
#include <chrono>
#include <exception>

namespace kro {
namespace {

using events::CloudEvent;
using k8s::Json;
using std::chrono::steady_clock;

constexpr std::string_view kSource = "/kro-function/recorder";
constexpr std::chrono::seconds kBetweenSyncs{1};

constexpr char kQueueFull[] = "queue full";
constexpr char kWriteFailed[] = "write failed";

/// About how long the value is as JSON, in bytes, without writing it.
std::size_t weight(Json const& value) {
    constexpr std::size_t kAround = 4;
    if (value.is_string()) return value.get_ref<std::string const&>().size() + kAround;
    std::size_t sum = 2 * kAround;
    if (value.is_object()) {
        for (auto const& [name, inner] : value.items()) sum += name.size() + kAround + weight(inner);
    } else if (value.is_array()) {
        for (auto const& inner : value) sum += weight(inner);
    }
    return sum;
}

std::size_t weight(CloudEvent const& event) {
    auto const* bytes = std::get_if<events::Bytes>(&event.data);
    return 512 + weight(events::json_data(event)) + (bytes == nullptr ? 0 : bytes->bytes.size());
}

std::size_t weight(Report const& report) {
    std::size_t sum = 0;
    for (auto const& [target, seen] : report.given) sum += weight(seen.object);
    for (auto const& round : report.rounds) {
        for (auto const& one : round) {
            if (one.contents) sum += weight(one.contents->request.body) + weight(one.contents->answer);
        }
    }
    return sum;
}

std::size_t weight(Handled const& handled) {
    std::size_t sum = weight(handled.report);
    for (auto const& finding : handled.findings) sum += weight(finding.report);
    return sum;
}

/// The event that stands before the recorded one.
CloudEvent observed_event(Handled const& handled, Json data, std::string const& received) {
    CloudEvent event;
    event.id = stable_uuid(handled.event.source + "\n" + handled.event.id + "\n" + received);
    event.source = kSource;
    event.type = kObservedType;
    event.subject = handled.event.id;
    event.datacontenttype = "application/json";
    event.extensions[std::string{events::kRecordedTime}] = received;
    event.data = std::move(data);
    return event;
}

std::string line_of(CloudEvent const& event) { return base::dump_json(events::to_json(event)) + "\n"; }

}  // namespace

Recorder::Recorder(Options options, base::Clock clock, Metrics& metrics, std::shared_ptr<spdlog::logger> logger)
    : options_([&] {
          options.archive.complain = [this](std::string const& what) { log(spdlog::level::warn, "recording", {{"why", what}}); };
          return std::move(options);
      }()),
      clock_(std::move(clock)),
      metrics_(metrics),
      logger_(std::move(logger)),
      writer_(options_.archive, clock_),
      thread_([this] { run(); }) {}

Recorder::~Recorder() {
    {
        std::lock_guard const lock{mutex_};
        ending_ = true;
        changed_.notify_all();
    }
    thread_.join();
}

void Recorder::log(spdlog::level::level_enum level, std::string_view message, Json fields) {
    log_line(*logger_, level, clock_(), message, std::move(fields));
}

base::Result<void, std::string> Recorder::try_to_open() {
    std::lock_guard const lock{writer_mutex_};
    TRY(writer_.open());
    if (!redactor_) redactor_ = std::make_unique<Redactor>(Placeholders{TRY(key_in(options_.archive.file.string() + ".key"))});
    return {};
}

void Recorder::record(Handled const& handled) {
    auto event = std::make_unique<CloudEvent>(handled.event);
    auto copy = std::make_unique<Handled>(
        Handled{*event, handled.received, handled.whom, handled.routed, handled.report, handled.findings});
    push({std::move(event), std::move(copy), handled.received});
}

void Recorder::record(CloudEvent event, base::Time received) {
    push({std::make_unique<CloudEvent>(std::move(event)), nullptr, received});
}

void Recorder::push(Entry entry) {
    std::size_t const bytes = weight(*entry.event) + (entry.handled ? weight(*entry.handled) : 0);
    {
        std::lock_guard const lock{mutex_};
        if (queue_.empty() || queued_bytes_ + bytes <= options_.queue_bytes) {
            queued_bytes_ += bytes;
            queue_.emplace_back(std::move(entry), bytes);
            changed_.notify_all();
            return;
        }
    }
    lost(kQueueFull, "more comes in than can be written");
}

void Recorder::run() {
    auto next_sync = steady_clock::time_point::max();
    std::unique_lock lock{mutex_};
    for (;;) {
        auto const is_up = [&] { return !queue_.empty() || ending_; };
        if (next_sync == steady_clock::time_point::max()) {
            changed_.wait(lock, is_up);
        } else {
            changed_.wait_until(lock, next_sync, is_up);
        }
        if (queue_.empty() && ending_) return;
        if (!queue_.empty()) {
            Entry const entry = std::move(queue_.front().first);
            queued_bytes_ -= queue_.front().second;
            queue_.pop_front();
            bool const last = queue_.empty();
            lock.unlock();
            write(entry);
            if (last) found(kQueueFull);
            next_sync = std::min(next_sync, steady_clock::now() + kBetweenSyncs);
        } else {
            lock.unlock();
        }
        if (steady_clock::now() >= next_sync) {
            std::lock_guard const writing{writer_mutex_};
            writer_.sync();
            next_sync = steady_clock::time_point::max();
        }
        lock.lock();
    }
}

base::Result<void, std::string> Recorder::try_to_write(Entry const& entry) {
    TRY(try_to_open());
    std::string const received = base::rfc3339_nano(entry.received);
    CloudEvent event = *entry.event;
    event.extensions[std::string{events::kRecordedTime}] = received;
    std::optional<CloudEvent> observed;
    if (entry.handled) {
        Outcome const& outcome = entry.handled->report.outcome;
        event.extensions[std::string{events::kRecordedStatus}] = std::to_string(answer_for(outcome).status);
        event.extensions[std::string{events::kRecordedOutcome}] = name_of(outcome.kind);
        event.extensions[std::string{events::kRecordedWhy}] = events::attribute_text(outcome.why);
        Json data = observed_data(*entry.handled);
        if (!data.is_null()) observed = observed_event(*entry.handled, std::move(data), received);
    }
    std::lock_guard const lock{writer_mutex_};
    redactor_->redact(event, observed ? &*observed : nullptr);
    return writer_.write((observed ? line_of(*observed) : "") + line_of(event));
}

void Recorder::write(Entry const& entry) {
    if (steady_clock::now() < next_try_) return lost(kWriteFailed, "");
    base::Result<void, std::string> written;
    try {
        written = try_to_write(entry);
    } catch (std::exception const&) {
        // An event that nobody thought of must not end the recording of others, nor the answering of any.
        written = base::Failure{std::string{"an event can't be put into writing"}};
    }
    if (!written) {
        next_try_ = steady_clock::now() + options_.between_tries;
        return lost(kWriteFailed, written.error());
    }
    metrics_.event_recorded();
    found(kWriteFailed);
}

void Recorder::lost(std::string const& reason, std::string const& why) {
    metrics_.event_not_recorded(reason);
    std::lock_guard const lock{mutex_};
    auto const known = std::find_if(losses_.begin(), losses_.end(), [&](Loss const& loss) { return loss.reason == reason; });
    if (known != losses_.end()) {
        ++known->count;
        return;
    }
    losses_.push_back({reason, 1});
    log(spdlog::level::warn, "events are not recorded", {{"reason", reason}, {"why", why}});
}

void Recorder::found(std::string const& reason) {
    std::lock_guard const lock{mutex_};
    auto const ended = std::find_if(losses_.begin(), losses_.end(), [&](Loss const& loss) { return loss.reason == reason; });
    if (ended == losses_.end()) return;
    log(spdlog::level::info, "events are recorded again", {{"reason", reason}, {"lost", ended->count}});
    losses_.erase(ended);
}

Recorder::Options recorder_options(RecordSettings const& settings) {
    Recorder::Options options;
    options.archive.file = settings.file;
    options.archive.max_size = settings.max_size;
    options.archive.max_age = settings.max_age;
    options.archive.keep = settings.keep;
    return options;
}

}  // namespace kro
