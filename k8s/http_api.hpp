#pragma once

#include "k8s/api.hpp"
#include "k8s/http_transport.hpp"
#include "k8s/kubeconfig.hpp"

#include <memory>
#include <string>
#include <vector>

namespace k8s {

/// An API server over HTTP. Connections are made with the first request and kept; one HttpApi per cluster and credentials.
///
/// What is sent twice, and then at most once more for each reason:
/// - a request whose connection broke before a whole answer came, on a fresh connection, if it is safe to repeat
/// (may_be_repeated)
///   or nothing of it was sent;
/// - a request that was answered 401, if the credentials, read anew, are others than before.
/// Nothing else: 429 and 5xx are handed on with their Retry-After. A write whose answer never came fails with `maybe_done`. A
/// delete that is repeated and finds the object gone, or another uid in its place, has succeeded.
///
/// Messages name the request, the cluster and its server; the credentials are taken out of whatever a server says.
class HttpApi : public Api {
  public:
    HttpApi(ClusterAccess const& access, HttpOptions options);

    std::vector<Answer> send(std::span<Request const> batch, base::Deadline deadline) override;

  private:
    struct Attempt;
    bool prepare_again(Attempt& attempt, std::shared_ptr<Credentials const> const& renewed, bool& fresh_is_coming);
    std::shared_ptr<Credentials const> renewed_credentials(std::vector<Attempt> const& attempts);
    Answer answer_of(Attempt& attempt) const;
    Result<Json> judged(Attempt& attempt) const;
    Error error_from_answer(Attempt const& attempt) const;
    Error error_without_answer(Attempt const& attempt) const;
    std::string what(Request const& request) const;

    HttpOptions options_;
    CredentialSource credentials_;
    std::string where_;  ///< " on cluster "acme" (https://10.0.0.1:6443)"
    HttpTransport transport_;
};

/// An HttpApi. Nothing is sent yet.
Result<std::unique_ptr<Api>> connect(ClusterAccess const& access, HttpOptions const& options);

}  // namespace k8s
