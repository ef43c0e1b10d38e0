#include "k8s/http_api.hpp"

#include "k8s/list_reader.hpp"

#include <algorithm>

namespace k8s {
namespace {

using base::Failure;
using Outcome = HttpExchange::Outcome;

constexpr std::size_t kErrorMessageLimit = 1024;

/// The server says so when an object of that name is there, and is another one: in one way while it decides, in another while it
/// stores.
bool is_about_another_uid(Error const& error) {
    auto const says = [&](std::string_view words) { return error.message.find(words) != std::string::npos; };
    return error.kind == Error::Kind::Conflict && (says("the UID in the precondition") || says("UID in precondition"));
}

}  // namespace

/// One request on its way: what is sent, and what has been tried already.
struct HttpApi::Attempt {
    Request const* request;
    HttpExchange exchange;
    std::chrono::microseconds before{0};  ///< what earlier tries took
    bool renewed = false;                 ///< refused once, and other credentials were looked for
    bool repeated = false;                ///< sent again on a fresh connection
    bool lost = false;                    ///< an earlier try may have done what was asked
};

HttpApi::HttpApi(ClusterAccess const& access, HttpOptions options)
    : options_(std::move(options)),
      credentials_(access.credentials),
      where_(" on " + access.name + " (" + to_string(access.server) + ")"),
      transport_(access, options_) {}

std::vector<Answer> HttpApi::send(std::span<Request const> batch, base::Deadline deadline) {
    std::vector<Answer> answers;
    answers.reserve(batch.size());
    auto const credentials = credentials_(Freshness::Cached);
    if (!credentials) {
        for (auto const& request : batch) {
            Error error = credentials.error();
            error.message = base::cut_utf8(what(request) + ": " + error.message, kErrorMessageLimit);
            answers.push_back({Failure{std::move(error)}});
        }
        return answers;
    }

    std::vector<Attempt> attempts;
    std::vector<HttpExchange*> next;
    attempts.reserve(batch.size());
    for (auto const& request : batch) {
        Attempt& attempt = attempts.emplace_back(Attempt{&request, {}});
        attempt.exchange.message = http_message(request);
        attempt.exchange.credentials = *credentials;
        next.push_back(&attempt.exchange);
    }
    while (!next.empty()) {
        transport_.perform(next, deadline);
        next.clear();
        auto const renewed = renewed_credentials(attempts);
        bool fresh_is_coming = false;
        for (auto& attempt : attempts) {
            if (prepare_again(attempt, renewed, fresh_is_coming)) next.push_back(&attempt.exchange);
        }
    }
    for (auto& attempt : attempts) answers.push_back(answer_of(attempt));
    return answers;
}

/// Asks for other credentials where a request was refused for the ones it had, once for the batch.
std::shared_ptr<Credentials const> HttpApi::renewed_credentials(std::vector<Attempt> const& attempts) {
    bool const refused = std::any_of(attempts.begin(), attempts.end(), [](Attempt const& attempt) {
        return attempt.exchange.outcome == Outcome::Answered && attempt.exchange.status == 401 && !attempt.renewed;
    });
    if (!refused) return nullptr;
    auto renewed = credentials_(Freshness::Anew);
    return renewed ? *std::move(renewed) : nullptr;
}

/// Whether the attempt goes out again, and if so, makes it ready.
bool HttpApi::prepare_again(Attempt& attempt, std::shared_ptr<Credentials const> const& renewed, bool& fresh_is_coming) {
    HttpExchange& exchange = attempt.exchange;
    bool const unauthorized = exchange.outcome == Outcome::Answered && exchange.status == 401;
    if (unauthorized && !attempt.renewed) {
        attempt.renewed = true;
        if (!renewed || *renewed == *exchange.credentials) return false;
        exchange.credentials = renewed;
        exchange.fresh_connection = false;
    } else if (exchange.outcome == Outcome::NoAnswer && !attempt.repeated &&
               (may_be_repeated(*attempt.request) || !exchange.sent)) {
        attempt.repeated = true;
        attempt.lost = attempt.lost || exchange.sent;
        // Over HTTP/2 the others can share the first one's connection.
        exchange.fresh_connection = !transport_.is_multiplexed() || !fresh_is_coming;
        fresh_is_coming = true;
    } else {
        return false;
    }
    attempt.before += exchange.duration;
    exchange.body.clear();
    exchange.retry_after.clear();
    exchange.why.clear();
    exchange.status = 0;
    exchange.sent = false;
    exchange.duration = {};
    return true;
}

Answer HttpApi::answer_of(Attempt& attempt) const {
    auto result = judged(attempt);
    return {std::move(result), attempt.before + attempt.exchange.duration};
}

Result<Json> HttpApi::judged(Attempt& attempt) const {
    Request const& request = *attempt.request;
    HttpExchange& exchange = attempt.exchange;
    if (exchange.outcome == Outcome::Answered && exchange.status >= 200 && exchange.status < 300) {
        auto object = request.visit ? read_list(exchange.body, request.visit) : base::parse_json(exchange.body);
        if (object && object->is_object()) return *std::move(object);
        exchange.outcome = Outcome::Senseless;
        exchange.why =
            "the answer with status " + std::to_string(exchange.status) + " is " + (object ? "no JSON object" : object.error());
    }
    bool const answered = exchange.outcome == Outcome::Answered;
    Error error = answered ? error_from_answer(attempt) : error_without_answer(attempt);
    if (attempt.lost && request.verb == Request::Verb::Delete &&
        (error.kind == Error::Kind::NotFound || is_about_another_uid(error))) {
        return Json{{"apiVersion", "v1"}, {"kind", "Status"}, {"status", "Success"}};
    }
    error.maybe_done = !is_read(request.verb) && (attempt.lost || (!answered && exchange.sent));
    return Failure{std::move(error)};
}

Error HttpApi::error_from_answer(Attempt const& attempt) const {
    HttpExchange const& exchange = attempt.exchange;
    auto status = base::parse_json(exchange.body);
    if (status) redact(*status, *exchange.credentials);
    std::string const said = status ? base::dump_json(*status) : redact(exchange.body, *exchange.credentials);
    Error error = error_of(exchange.status, said, what(*attempt.request), exchange.retry_after, options_.clock());
    error.message = redact(std::move(error.message), *exchange.credentials);
    return error;
}

Error HttpApi::error_without_answer(Attempt const& attempt) const {
    HttpExchange const& exchange = attempt.exchange;
    Error error;
    error.kind = exchange.outcome == Outcome::Unusable ? Error::Kind::Unusable : Error::Kind::Unavailable;
    error.message = what(*attempt.request) + ": " + base::valid_utf8(redact(exchange.why, *exchange.credentials));
    error.message = base::cut_utf8(std::move(error.message), kErrorMessageLimit);
    return error;
}

std::string HttpApi::what(Request const& request) const { return describe(request) + where_; }

Result<std::unique_ptr<Api>> connect(ClusterAccess const& access, HttpOptions const& options) {
    return std::unique_ptr<Api>{std::make_unique<HttpApi>(access, options)};
}

}  // namespace k8s
