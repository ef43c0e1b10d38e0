#include "watcher.hpp"

#include "base/json.hpp"

#include <curl/curl.h>

#include <mutex>
#include <optional>

namespace integration {

using base::member;
using base::text_of;

/// One watch: an answer without an end, with one event on each line.
struct Watcher::Stream {
    k8s::Resource const resource;
    std::function<void(k8s::Change)> const& tell;
    CURL* easy = curl_easy_init();
    curl_slist* headers = nullptr;
    std::string unread = {};
    std::string fault = {};

    Stream(k8s::Resource const& watched, std::function<void(k8s::Change)> const& listener) : resource(watched), tell(listener) {}
    ~Stream() {
        curl_easy_cleanup(easy);
        curl_slist_free_all(headers);
    }
    Stream(Stream const&) = delete;
    Stream& operator=(Stream const&) = delete;

    void take(std::string_view bytes) {
        unread += bytes;
        for (auto end = unread.find('\n'); end != std::string::npos; end = unread.find('\n')) {
            take_line(unread.substr(0, end));
            unread.erase(0, end + 1);
        }
    }

    void take_line(std::string const& line) {
        auto event = base::parse_json(line);
        auto const kind = event ? kind_of(text_of(member(*event, "type"))) : std::nullopt;
        if (kind) {
            tell({*kind, resource, std::move((*event)["object"])});
        } else {
            fault = "the watch of " + std::string{resource.plural} + " said: " + line;
        }
    }

    static std::optional<k8s::Change::Kind> kind_of(std::string const& type) {
        if (type == "ADDED") return k8s::Change::Kind::Added;
        if (type == "MODIFIED") return k8s::Change::Kind::Updated;
        if (type == "DELETED") return k8s::Change::Kind::Deleted;
        return std::nullopt;
    }
};

class Watcher::Loop {
  public:
    Loop(std::vector<Watched> const& watched, std::function<void(k8s::Change)> tell) : tell_(std::move(tell)) {
        for (auto const& one : watched) add(one);
        thread_ = std::thread{[this] { run(); }};
    }

    ~Loop() {
        stopping_ = true;
        curl_multi_wakeup(multi_);
        thread_.join();
        for (auto const& stream : streams_) curl_multi_remove_handle(multi_, stream->easy);
        curl_multi_cleanup(multi_);
    }

    Loop(Loop const&) = delete;
    Loop& operator=(Loop const&) = delete;

    std::string broken() const {
        std::lock_guard const lock{mutex_};
        return broken_;
    }

  private:
    void add(Watched const& watched) {
        auto stream = std::make_unique<Stream>(watched.resource, tell_);
        CURL* easy = stream->easy;
        std::string const url = k8s::to_string(watched.access.server) + k8s::path_of(watched.resource, {watched.namespace_, {}}) +
                                "?watch=1&timeoutSeconds=3600&resourceVersion=" + watched.resource_version;
        curl_easy_setopt(easy, CURLOPT_URL, url.c_str());
        curl_easy_setopt(easy, CURLOPT_PROXY, "");
        curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
        curl_easy_setopt(easy, CURLOPT_FAILONERROR, 1L);
        curl_blob ca{const_cast<char*>(watched.access.ca.data()), watched.access.ca.size(), CURL_BLOB_COPY};
        curl_easy_setopt(easy, CURLOPT_CAINFO_BLOB, &ca);
        auto const credentials = watched.access.credentials(k8s::Freshness::Cached);
        std::string const authorization = credentials ? k8s::authorization_of(**credentials) : std::string{};
        stream->headers = curl_slist_append(nullptr, ("Authorization: " + authorization).c_str());
        curl_easy_setopt(easy, CURLOPT_HTTPHEADER, stream->headers);
        curl_easy_setopt(easy, CURLOPT_WRITEDATA, stream.get());
        curl_easy_setopt(
            easy, CURLOPT_WRITEFUNCTION, +[](char* bytes, std::size_t, std::size_t size, void* to) {
                static_cast<Stream*>(to)->take({bytes, size});
                return size;
            });
        curl_multi_add_handle(multi_, easy);
        streams_.push_back(std::move(stream));
    }

    void run() {
        while (!stopping_) {
            int running = 0;
            curl_multi_perform(multi_, &running);
            note_faults();
            curl_multi_poll(multi_, nullptr, 0, 1000, nullptr);
        }
    }

    void note_faults() {
        int left = 0;
        while (CURLMsg const* message = curl_multi_info_read(multi_, &left)) {
            std::lock_guard const lock{mutex_};
            broken_ = std::string{"a watch has ended: "} + curl_easy_strerror(message->data.result);
        }
        for (auto const& stream : streams_) {
            std::lock_guard const lock{mutex_};
            if (!stream->fault.empty()) broken_ = stream->fault;
        }
    }

    std::function<void(k8s::Change)> tell_;
    CURLM* multi_ = curl_multi_init();
    std::vector<std::unique_ptr<Stream>> streams_;
    std::atomic<bool> stopping_{false};
    mutable std::mutex mutex_;
    std::string broken_;
    std::thread thread_;
};

Watcher::Watcher(std::vector<Watched> const& watched, std::function<void(k8s::Change)> tell)
    : loop_(std::make_unique<Loop>(watched, std::move(tell))) {}

Watcher::~Watcher() = default;

std::string Watcher::broken() const { return loop_->broken(); }

}  // namespace integration
