#include "function/tenant/pull_secret.hpp"

#include "tests/support/builders.hpp"

#include <gtest/gtest.h>

namespace {

using base::Json;
using kro::PullSecretTypes;
using support::json;
using support::secret;

constexpr char kNew[] = "kubernetes.io/dockerconfigjson";
constexpr char kOld[] = "kubernetes.io/dockercfg";

TEST(PullSecretFault, IsNoneForAnHonestSecret) {
    EXPECT_FALSE(kro::pull_secret_fault(support::pull_secret("pull"), PullSecretTypes::DockerConfigJson));
    EXPECT_FALSE(kro::pull_secret_fault(support::pull_secret("pull"), PullSecretTypes::DockerConfigJsonOrDockerCfg));
    Json const old = secret("pull", kOld, json(R"({".dockercfg": "{}"})"));
    EXPECT_FALSE(kro::pull_secret_fault(old, PullSecretTypes::DockerConfigJsonOrDockerCfg));
}

TEST(PullSecretFault, IsNoneForAnEmptyListOfRegistries) {
    Json const empty = secret("pull", kNew, json(R"({".dockerconfigjson": "{\"auths\": {}}"})"));
    EXPECT_FALSE(kro::pull_secret_fault(empty, PullSecretTypes::DockerConfigJson));
}

struct Row {
    std::string name;
    std::string type;
    std::string data;
    std::string said;
};

class FaultyPullSecret : public testing::TestWithParam<Row> {};

TEST_P(FaultyPullSecret, IsNamedWithWhatIsExpected) {
    auto const fault =
        kro::pull_secret_fault(secret("pull", GetParam().type, json(GetParam().data)), PullSecretTypes::DockerConfigJson);
    ASSERT_TRUE(fault);
    EXPECT_NE(fault->find("openmcp-system/pull"), std::string::npos) << *fault;
    EXPECT_NE(fault->find(kNew), std::string::npos) << *fault;
    EXPECT_NE(fault->find(GetParam().said), std::string::npos) << *fault;
    EXPECT_EQ(fault->find("s3cr3t"), std::string::npos) << *fault;
}

INSTANTIATE_TEST_SUITE_P(, FaultyPullSecret,
                         testing::Values(Row{"OldType", kOld, R"({".dockercfg": "{}"})", kOld},
                                         Row{"Opaque", "Opaque", R"({".dockerconfigjson": "{\"auths\": {}}"})", "Opaque"},
                                         Row{"NoJson", kNew, R"({".dockerconfigjson": "s3cr3t"})", "not a JSON object"},
                                         Row{"ListOfJson", kNew, R"({".dockerconfigjson": "[\"s3cr3t\"]"})", "not a JSON object"},
                                         Row{"NoUtf8", kNew, R"({".dockerconfigjson": "{\"a\": \"s3cr3t"})", "not a JSON object"},
                                         Row{"AnotherKey", kNew, R"({"config.json": "{}"})", ".dockerconfigjson"},
                                         Row{"EmptyKey", kNew, R"({".dockerconfigjson": ""})", ".dockerconfigjson"}),
                         [](auto const& row) { return row.param.name; });

TEST(PullSecretFault, IsFoundInDataThatIsNoBase64) {
    Json broken = support::pull_secret("pull");
    broken["data"][".dockerconfigjson"] = "s3cr3t!";
    auto const fault = kro::pull_secret_fault(broken, PullSecretTypes::DockerConfigJson);
    ASSERT_TRUE(fault);
    EXPECT_EQ(fault->find("s3cr3t"), std::string::npos) << *fault;
}

TEST(PullSecretFault, IsFoundInASecretWithoutTypeOrData) {
    Json bare = support::pull_secret("pull");
    bare.erase("type");
    EXPECT_TRUE(kro::pull_secret_fault(bare, PullSecretTypes::DockerConfigJson));
    bare = support::pull_secret("pull");
    bare.erase("data");
    EXPECT_TRUE(kro::pull_secret_fault(bare, PullSecretTypes::DockerConfigJson));
}

}  // namespace
