#pragma once

#include "k8s/api.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

/// One suite of behaviours, held against MemoryApi always, and against a real kube-apiserver where the environment variable
/// KRO_TEST_STACK names the stack.json of a running stack (tests/stack/README.md). Whatever differs is a fault of MemoryApi.
namespace conformance {

using base::Json;
using k8s::Error;
using k8s::Request;

enum class Server { Memory, Real };
std::string name_of(testing::TestParamInfo<Server> const& info);

inline constexpr k8s::Resource kWidgets{"conformance.example.com", "v1", "widgets", "Widget"};
/// Without a status subresource.
inline constexpr k8s::Resource kGadgets{"conformance.example.com", "v1", "gadgets", "Gadget", k8s::Resource::Scope::Cluster};

/// A server that serves widgets and gadgets, and a fresh namespace on it. What is left in the namespace goes with the test.
class Conformance : public testing::TestWithParam<Server> {
  protected:
    void SetUp() override;
    void TearDown() override;

    k8s::Result<Json> ask(Request request);
    /// The answer of a request that has to succeed; null, and a failed test, where it does not.
    Json must(Request request);
    /// The error of a request that has to fail.
    Error must_fail(Request request);

    Json widget(std::string const& name, Json spec = nullptr, Json metadata = nullptr) const;
    Json widget_status(std::string const& name, Json status, Json metadata = nullptr) const;
    k8s::ObjectKey key(std::string const& name) const { return {namespace_, name}; }
    Json get(std::string const& name) { return must(k8s::get(kWidgets, key(name))); }
    Json applied(std::string const& name, Json spec, std::string_view manager = "me") {
        return must(k8s::apply(kWidgets, widget(name, std::move(spec)), manager));
    }

    std::string namespace_;

  private:
    std::unique_ptr<k8s::Api> api_;
};

/// `fieldsV1` of one entry of metadata.managedFields, null where there is none.
Json fields_of(Json const& object, std::string_view manager, std::string_view operation = "Apply",
               std::string_view subresource = "");

/// Who is in metadata.managedFields: "me Apply", "me Apply status", in its order.
std::vector<std::string> managers_of(Json const& object);

}  // namespace conformance
