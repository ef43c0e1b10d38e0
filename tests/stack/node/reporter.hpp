#pragma once

#include "tests/stack/node/pods.hpp"

#include <atomic>
#include <chrono>
#include <filesystem>
#include <map>
#include <string>
#include <thread>
#include <vector>

namespace node {

/// Tells what is: to the API server, in the statuses of Deployments and Knative Services and in the EndpointSlices of Services, as
/// the controllers of Kubernetes and of Serving would; and to tests, in a file.
class Reporter {
  public:
    Reporter(Pods& pods, Cluster const& cluster, std::filesystem::path file, std::string proxy);
    ~Reporter();
    Reporter(Reporter const&) = delete;
    Reporter& operator=(Reporter const&) = delete;

  private:
    void repeat(void (Reporter::*report)(), std::chrono::milliseconds pause);
    void report_to_tests();
    void report_to_cluster();

    Pods& pods_;
    Cluster const& cluster_;
    std::filesystem::path const file_;
    std::string const proxy_;
    std::string written_;
    std::map<std::string, std::string> reported_;  ///< by what it is about
    std::atomic<bool> stopping_{false};
    std::vector<std::thread> threads_;  ///< one for each of the two, so that a slow API server does not keep tests waiting
};

}  // namespace node
