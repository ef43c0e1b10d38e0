#pragma once

#include "events/archive.hpp"

#include <deque>

namespace events {

/// Adds what one JSON document of an archive is: an event, an object out of kubectl or a list of them, or nothing that can be read.
void add_document(Json document, Place const& place, std::deque<ArchiveEntry>& entries);

/// The event with what a recorder added to it taken out of its attributes.
StoredEvent stored(CloudEvent event, Place place);

}  // namespace events
