#pragma once

#include "events/cloud_event.hpp"
#include "function/record/placeholder.hpp"
#include "k8s/object.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace kro {

/// Takes the secrets out of events, objects and messages before they are written down. In their place are placeholders that are equal where
/// the secrets were, and what decides about a tenant stays as it was: with the redacted objects the same plan is made. Doing it again
/// changes nothing.
///
/// Replaced are
///  - what a Secret or a ConfigMap holds, wherever such an object is found: in data, in a patch, in a list, in the text of a
///    last-applied annotation; see redact_bytes.hpp for what is left of a pull secret, a kubeconfig and a certificate;
///  - the value of every member whose name says that it is a secret (secret_names.hpp), and all that is inside of it;
///  - the value beside such a name, as in {"name": "PASSWORD", "value": "..."}, and the argument behind such an option;
///  - in all other texts, what looks like a secret: see redact_text.hpp. A text that is JSON, a kubeconfig or base64 is looked into.
/// Kept are names, namespaces, references to secrets, resourceVersions, uids, booleans and nulls.
class Redactor {
  public:
    explicit Redactor(Placeholders placeholders) : placeholders_(std::move(placeholders)) {}

    /// The two events of a recording: the recorded one and, where there is one, what was observed for it. What was found to be a secret in
    /// either of them is replaced in their messages too, however it is quoted there.
    void redact(events::CloudEvent& event, events::CloudEvent* observed) const;

    /// An object, a list or a patch of a resource of this kind; "" where the object itself says what it is.
    void redact(k8s::Json& object, std::string_view kind = {}) const;

    std::string redacted(std::string_view text) const;

    Placeholders const& placeholders() const { return placeholders_; }

  private:
    Placeholders placeholders_;
};

}  // namespace kro
