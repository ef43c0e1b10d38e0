#include "events/http_binding.hpp"
#include "events/knative.hpp"

#include "tests/events/samples.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

namespace {

using events::HttpMessage;

using Random = std::mt19937;

std::size_t below(Random& random, std::size_t limit) { return random() % limit; }

/// What parsers stumble over, to be put anywhere.
std::vector<std::string> const kTroubles{"%",  "%0",   "%FF",     "\"",      "\\",    "{",   "[",    "]",
                                         ",",  ":",    "null",    "-",       "1e400", "NaN", "\xEC", "\xC2",
                                         "\n", "\x7f", "\\u002B", "\\ud800", "=",     ";",   "",     std::string(1, '\0')};

void mutate(Random& random, std::string& text) {
    std::size_t const at = below(random, text.size() + 1);
    switch (below(random, 4)) {
        case 0: text.insert(at, kTroubles[below(random, kTroubles.size())]); break;
        case 1: text.erase(at, 1 + below(random, 8)); break;
        case 2: text.replace(at, 1, 1, static_cast<char>(below(random, 256))); break;
        default: text.insert(at, text.substr(below(random, text.size() + 1), below(random, 24))); break;
    }
}

HttpMessage mutated(Random& random, HttpMessage message) {
    for (std::size_t rounds = 1 + below(random, 3); rounds > 0; --rounds) {
        std::size_t const part = below(random, 2 * message.headers.size() + 4);
        if (part < message.headers.size()) {
            mutate(random, message.headers[part].second);
        } else if (part < 2 * message.headers.size()) {
            mutate(random, message.headers[part - message.headers.size()].first);
        } else {
            mutate(random, message.body);
        }
    }
    return message;
}

std::vector<HttpMessage> seeds() {
    std::vector<HttpMessage> seeds;
    for (auto const* name : {"kro-add.http", "providerconfig-update.http", "secret-reference-update.http", "ping.http"}) {
        seeds.push_back(sample(name));
        seeds.push_back(to_structured(parsed(seeds.back())));
        seeds.push_back(events::to_batch({parsed(seeds.back()), parsed(seeds.back())}));
    }
    seeds.push_back(binary({{"Content-Type", "text/plain; charset=\"utf-8\""}, {"ce-subject", "\"a b\" %E2%82%AC"}}, "bytes"));
    seeds.push_back(
        structured(R"(,"datacontenttype":"application/json","data_base64":"eyJhIjoiw4g\u002BPj4ifQ==","n":-7,"b":true)"));
    seeds.push_back(structured(R"(,"datacontenttype":"application/octet-stream","data_base64":"AP8=")"));
    return seeds;
}

// Seeded, so that a failure comes back; nothing may be thrown, and what is taken means the same after it was written again.
TEST(Parsers, SurviveTwentyThousandMutations) {
    auto const messages = seeds();
    Random random(20261130);
    std::size_t taken = 0;
    for (std::size_t i = 0; i < 20'000; ++i) {
        HttpMessage const message = mutated(random, messages[i % messages.size()]);
        auto const events = events::parse_http(message);
        if (!events) {
            std::string const line = to_string(events.error());
            ASSERT_EQ(base::valid_utf8(line), line) << "mutation " << i;
            continue;
        }
        ++taken;
        for (auto const& event : *events) {
            ASSERT_EQ(parsed(to_binary(event)), event) << "mutation " << i;
            ASSERT_EQ(parsed(to_structured(event)), event) << "mutation " << i;
            static_cast<void>(meaning_of(event));
        }
        auto const again = events::parse_http(events::to_batch(*events));
        ASSERT_TRUE(again) << "mutation " << i;
        ASSERT_EQ(*again, *events) << "mutation " << i;
    }
    EXPECT_GT(taken, 2'000U);  // else the mutations only test how to refuse
}

}  // namespace
