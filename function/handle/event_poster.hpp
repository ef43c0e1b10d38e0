#pragma once

#include "base/result.hpp"
#include "events/cloud_event.hpp"
#include "k8s/http_transport.hpp"

#include <memory>
#include <string>

namespace kro {

/// What a function said to an event.
struct Posted {
    int status = 0;   ///< 0: there was no answer
    std::string why;  ///< "": it was answered; else what happened instead
};

/// Posts events to a function, as a source does: one after the other over HTTP, in the binary mode.
class EventPoster {
  public:
    /// Nothing is sent yet. The error is the end of a sentence about the URL.
    static base::Result<EventPoster, std::string> open(std::string const& url);

    Posted post(events::CloudEvent const& event);

  private:
    EventPoster(std::string path, std::unique_ptr<k8s::HttpTransport> transport)
        : path_(std::move(path)), transport_(std::move(transport)) {}

    std::string path_;
    std::unique_ptr<k8s::HttpTransport> transport_;
};

}  // namespace kro
