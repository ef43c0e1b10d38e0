#include "tests/journeys/installation.hpp"

#include "tests/support/folder.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

namespace journeys {
namespace {

constexpr k8s::Resource kServices{"serving.knative.dev", "v1", "services", "Service"};
k8s::ObjectKey const kFunction{std::string{kNamespace}, "kro-function"};

/// What a run wrote, in its order: "apply: the HelmRelease -> kro-helm-release".
using Writes = std::vector<std::string>;

std::string text_in(std::filesystem::path const& file) {
    std::ifstream in{file, std::ios::binary};
    return {std::istreambuf_iterator<char>{in}, {}};
}

std::vector<Json> lines_of(std::string const& text) {
    std::vector<Json> lines;
    std::istringstream in{text};
    for (std::string line; std::getline(in, line);) {
        if (auto json = base::parse_json(line)) lines.push_back(*std::move(json));
    }
    return lines;
}

/// An installation whose function records what it answers.
class Recorded : public FixedAdapter {
  protected:
    void SetUp() override {
        FixedAdapter::SetUp();
        if (IsSkipped() || HasFatalFailure()) return;
        set_variable("KRO_RECORD", archive());
    }
    void TearDown() override {
        if (!IsSkipped()) set_variable("KRO_RECORD", "");
        FixedAdapter::TearDown();
    }

    std::string archive() const { return (folder_ / "events.jsonl").string(); }

    /// What every pod of the function has in its environment from now on; "" takes it away.
    void set_variable(std::string const& name, std::string const& value) {
        Json containers = platform().read(kServices, kFunction)["spec"]["template"]["spec"]["containers"];
        Json& variables = containers[0]["env"];
        for (auto at = variables.begin(); at != variables.end();) at = (*at)["name"] == name ? variables.erase(at) : at + 1;
        if (!value.empty()) variables.push_back({{"name", name}, {"value", value}});
        platform().patch(kServices, kFunction, {{"spec", {{"template", {{"spec", {{"containers", containers}}}}}}}});
        eventually("every pod of the function has been started anew", [&] {
            auto const running = functions();
            return std::all_of(running.begin(), running.end(), [&](pid_t id) {
                bool const has_it = text_in("/proc/" + std::to_string(id) + "/environ").find(name + "=") != std::string::npos;
                return has_it == !value.empty();
            });
        });
    }

    /// The program that runs as the function.
    std::string program() {
        std::string path;
        eventually("the function runs", [&] {
            tick();
            for (pid_t const id : functions()) {
                std::error_code gone;
                auto const file = std::filesystem::read_symlink("/proc/" + std::to_string(id) + "/exe", gone);
                if (!gone) path = file.string();
            }
            return !path.empty();
        });
        return path;
    }

    /// For each event of which something was written, live, what that was.
    std::map<std::string, Writes> recorded_writes() {
        std::map<std::string, Writes> writes;
        for (auto const& line : lines_of(text_in(archive()))) {
            if (text_of(member(line, "type")) != "services.kro.observed") continue;
            for (auto const& part : member(line, "data", "parts")) {
                for (auto const& round : member(part, "rounds")) {
                    for (auto const& one : round) {
                        std::string const why = text_of(member(one, "why"));
                        if (!why.empty())
                            writes[text_of(member(line, "subject"))].push_back(why + " -> " + text_of(member(one, "name")));
                    }
                }
            }
        }
        return writes;
    }

    static std::map<std::string, Writes> replayed_writes(std::vector<Json> const& lines) {
        std::map<std::string, Writes> writes;
        for (auto const& line : lines) {
            Json const& episode = member(line, "episode");
            for (auto const& part : member(episode, "parts")) {
                for (auto const& round : member(part, "rounds")) {
                    for (auto const& change : member(round, "changes")) {
                        std::string const subject = text_of(member(change, "subject"));
                        writes[text_of(member(episode, "id"))].push_back(text_of(member(change, "why")) + " -> " +
                                                                         subject.substr(subject.find(' ') + 1));
                    }
                }
            }
        }
        return writes;
    }

  private:
    support::Folder folder_;
};

TEST_F(Recorded, ATenantsLifeIsReplayedWriteByWrite) {
    auto const tenant = new_tenant();
    install(tenant);
    order(tenant, "0.9.2");
    eventually("the newer version is installed", [&] { return is_ready(tenant) && installed("mcp-01") == "0.9.2"; });
    change_password("another");
    put_login("another");
    eventually("the tenant has the new login", [&] {
        Json const copy = platform().read(k8s::kSecrets, in_tenant(tenant, "chart-login"));
        Json const source = platform().read(k8s::kSecrets, {std::string{kNamespace}, "chart-login"});
        return member(copy, "data") == member(source, "data");
    });
    remove_kro(tenant);
    eventually("the Kro is gone", [&] { return kro(tenant).is_null(); });
    change_password(right_password());
    put_login(right_password());
    settle();

    std::string const replayed = run(program() + " replay " + archive() + " --output json");
    auto const lines = lines_of(replayed);
    ASSERT_GT(lines.size(), 10U);
    for (auto const& line : lines) EXPECT_EQ(text_of(member(line, "episode", "recorded")), "") << line;
    EXPECT_GT(recorded_writes().size(), 5U);
    EXPECT_EQ(replayed_writes(lines), recorded_writes());
    for (auto const& row : member(lines.back(), "summary", "tenants")) {
        EXPECT_TRUE(row["tenant"] != kro::to_string(tenant) || row["message"] == "gone") << row;
    }
}

TEST_F(Recorded, ASettledTenantNeedsNothingNowWhateverItsEventsSaid) {
    auto const tenant = new_tenant();
    install(tenant);
    settle();
    std::string const clusters = " --onboarding=platform --kubeconfig=" + platform().kubeconfig();
    std::string const before = k8s::resource_version_of(kro(tenant));
    std::string const name = kro::to_string(tenant);

    std::string const explained = run(program() + " explain " + name + clusters);
    EXPECT_NE(explained.find(", nothing to do:\n"), std::string::npos) << explained;
    auto const lines = lines_of(run(program() + " replay " + archive() + " --cluster --output json --tenant " + name + clusters));
    EXPECT_EQ(member(lines.back(), "summary", "writes"), 0) << lines.back();

    order(tenant, "0.9.9");
    eventually("the function has said what it makes of it", [&] { return message(tenant) != "Domain Service is ready"; });
    std::string const waiting = run(program() + " explain " + name + clusters);
    EXPECT_NE(waiting.find("status: Progressing, Ready=False"), std::string::npos) << waiting;
    EXPECT_NE(k8s::resource_version_of(kro(tenant)), before);
}

}  // namespace
}  // namespace journeys
