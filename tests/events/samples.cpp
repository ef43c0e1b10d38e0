#include "tests/events/samples.hpp"

#include <fstream>
#include <iterator>

events::HttpMessage sample(std::string const& name) {
    std::ifstream file(KRO_TEST_DATA "/events/" + name, std::ios::binary);
    if (!file) throw std::runtime_error("no sample " + name);
    events::HttpMessage message;
    std::string line;
    std::getline(file, line);  // the request line
    while (std::getline(file, line) && !line.empty()) {
        auto const colon = line.find(':');
        message.headers.emplace_back(line.substr(0, colon), line.substr(colon + 1));
    }
    message.body.assign(std::istreambuf_iterator<char>(file), {});
    return message;
}
