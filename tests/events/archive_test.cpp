#include "events/archive.hpp"

#include "events/http_binding.hpp"
#include "events/json_format.hpp"
#include "events/knative.hpp"
#include "events/media_type.hpp"
#include "tests/events/samples.hpp"
#include "tests/support/folder.hpp"
#include "tests/support/gzip.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace {

using events::ArchiveReader;
using events::CloudEvent;
using events::StoredEvent;
using events::Unreadable;

std::string event_line(std::string const& id, std::string const& more = "") {
    return R"({"specversion":"1.0","id":")" + id + R"(","source":"/x","type":"t")" + more + "}";
}

std::string http_event(std::string const& id, std::string const& body, std::string const& request_line = "POST / HTTP/1.1\r\n") {
    return request_line + "Host: function\r\nce-specversion: 1.0\r\nce-id: " + id +
           "\r\nce-source: /x\r\nce-type: t\r\nContent-Type: application/json\r\nContent-Length: " + std::to_string(body.size()) +
           "\r\n\r\n" + body;
}

std::string const kKro =
    R"({"apiVersion":"kro.services.openmcp.cloud/v1alpha1","kind":"Kro","metadata":{"name":"acme","namespace":"team-a","resourceVersion":"7"}})";

/// Everything that an archive says, one line each: "12 event 7" and "13 is cut short: ...".
std::vector<std::string> all_of(ArchiveReader reader) {
    std::vector<std::string> lines;
    while (auto entry = reader.next()) {
        if (auto const* event = std::get_if<StoredEvent>(&*entry)) {
            lines.push_back(std::to_string(event->place.line) + " event " + event->event.id);
        } else {
            auto const& unreadable = std::get<Unreadable>(*entry);
            lines.push_back(std::to_string(unreadable.place.line) + " " + unreadable.reason);
        }
    }
    return lines;
}

/// An archive in a file of its own.
class Archive {
  public:
    explicit Archive(std::string const& text) { folder_.write("events", text); }
    ArchiveReader reader() const { return ArchiveReader{{(folder_ / "events").string()}}; }
    std::vector<std::string> lines() const { return all_of(reader()); }

    std::vector<StoredEvent> events() const {
        std::vector<StoredEvent> events;
        for (auto from = reader(); auto entry = from.next();) {
            EXPECT_TRUE(std::holds_alternative<StoredEvent>(*entry))
                << events::to_string(std::get<Unreadable>(*entry).place) << ": " << std::get<Unreadable>(*entry).reason;
            if (auto* event = std::get_if<StoredEvent>(&*entry)) events.push_back(std::move(*event));
        }
        return events;
    }

  private:
    support::Folder folder_;
};

using Lines = std::vector<std::string>;

struct Row {
    char const* name;
    std::string text;
    Lines expected;

    friend void PrintTo(Row const& row, std::ostream* out) { *out << row.name; }
};

class ArchiveOf : public testing::TestWithParam<Row> {};

TEST_P(ArchiveOf, IsRead) {
    EXPECT_EQ(Archive{GetParam().text}.lines(), GetParam().expected);
    EXPECT_EQ(Archive{support::gzip(GetParam().text)}.lines(), GetParam().expected) << "in gzip";
}

std::string pretty(std::string const& line) { return base::parse_json(line).value().dump(4) + "\n"; }

INSTANTIATE_TEST_SUITE_P(
    Form, ArchiveOf,
    testing::Values(
        Row{"Nothing", "", {}}, Row{"EmptyLines", "\n\n \r\n", {}},
        Row{"JsonLines", event_line("a") + "\n" + event_line("b") + "\n", {"1 event a", "2 event b"}},
        Row{"JsonLinesOfWindows", "\xEF\xBB\xBF" + event_line("a") + "\r\n" + event_line("b"), {"1 event a", "2 event b"}},
        Row{"TwoOnALine", event_line("a") + event_line("b") + " " + event_line("c"), {"1 event a", "1 event b", "1 event c"}},
        Row{"Array", "[" + event_line("a") + "," + event_line("b") + "]", {"1 event a", "1 event b"}},
        Row{"EmptyArray", "[]\n[ ]", {}},
        Row{"BatchPerLine",
            "[" + event_line("a") + "," + event_line("b") + "]\n[" + event_line("c") + "]\n",
            {"1 event a", "1 event b", "2 event c"}},
        Row{"PrettyArray", pretty("[" + event_line("a") + "," + event_line("b") + "]"), {"2 event a", "8 event b"}},
        Row{"PrettyDocuments", pretty(event_line("a")) + pretty(event_line("b")), {"1 event a", "7 event b"}},
        Row{"HttpMessages",
            http_event("a", R"({"k":1})") + http_event("b", "[\n1]") + "\n\n" + http_event("c", ""),
            {"1 event a", "10 event b", "22 event c"}},
        Row{"HttpMessagesWithoutRequestLines",
            http_event("a", "{}", "") + "\r\n" + http_event("b", "{}", ""),
            {"1 event a", "10 event b"}},
        Row{"AMixture",
            event_line("a") + "\n" + http_event("b", "{}") + "\n" + pretty(event_line("c")) + "[" + event_line("d") + "]",
            {"1 event a", "2 event b", "12 event c", "18 event d"}},
        Row{"AnHttpMessageInStructuredMode",
            "content-type: application/cloudevents+json\ncontent-length: " + std::to_string(event_line("a").size()) + "\n\n" +
                event_line("a"),
            {"1 event a"}},
        Row{"AnHttpMessageInBatchedMode",
            "POST / HTTP/1.1\ncontent-type: application/cloudevents-batch+json\ncontent-length: " +
                std::to_string(2 * event_line("a").size() + 3) + "\n\n[" + event_line("a") + "," + event_line("b") + "]",
            {"1 event a", "1 event b"}},
        Row{"AnHttpMessageWithoutBody",
            "ce-specversion: 1.0\nce-id: a\nce-source: /x\nce-type: t\n\nce-specversion: 1.0\nce-id: b\nce-source: /x\nce-type: "
            "t\n\n",
            {"1 event a", "6 event b"}},
        Row{"KubectlObjects",
            pretty(kKro) + pretty(kKro),
            {"1 event kro/team-a/acme@7/update", "10 event kro/team-a/acme@7/update"}},
        Row{"KubectlWatchEvents",
            R"({"type":"ADDED","object":)" + kKro + "}\n" + R"({"type":"BOOKMARK","object":)" + kKro + "}\n" +
                R"({"type":"MODIFIED","object":)" + kKro + "}\n" + R"({"type":"DELETED","object":)" + kKro + "}\n",
            {"1 event kro/team-a/acme@7/add", "3 event kro/team-a/acme@7/update", "4 event kro/team-a/acme@7/delete"}},
        Row{"AKubectlList",
            R"({"apiVersion":"v1","kind":"List","items":[)" + kKro + "," + kKro + "]}",
            {"1 event kro/team-a/acme@7/add", "1 event kro/team-a/acme@7/add"}}),
    [](auto const& row) { return row.param.name; });

std::string const kNeither = "is neither a CloudEvent in JSON nor an HTTP message";

INSTANTIATE_TEST_SUITE_P(
    Trouble, ArchiveOf,
    testing::Values(
        Row{"ALineCutInAString",
            event_line("a") + "\n" + R"({"specversion":"1.0","id":"b","sour)" + "\n" + event_line("c") + "\n",
            {"1 event a", "2 is cut short: the line ends inside of a string", "3 event c"}},
        Row{"ALineCutAfterAComma",
            R"({"specversion":"1.0",)"
            "\n" +
                event_line("b"),
            {"1 is cut short or no JSON", "2 event b"}},
        Row{"ALineCutAfterAColon",
            R"({"specversion":)"
            "\n" +
                event_line("b") + "\n" + event_line("c"),
            {"1 is cut short or no JSON", "2 event b", "3 event c"}},
        Row{"ALineCutInAList",
            R"({"data":[)"
            "\n" +
                event_line("b") + "\n" + event_line("c"),
            {"1 is cut short or no JSON", "2 event b", "3 event c"}},
        Row{"ATornLastLine",
            event_line("a") + "\n" + R"({"specversion":"1.0","id":"b")",
            {"1 event a", "2 is cut short: the file ends inside of it"}},
        Row{"ATornLastLineThatWasWrittenOn",
            event_line("a") + "\n" + R"({"specversion":"1.0","id":")" + event_line("b") + "\n" + event_line("c"),
            {"1 event a", "2 is cut short or no JSON", "3 event c"}},
        Row{"APrettyDocumentCutInTheMiddle",
            pretty(event_line("a")).substr(0, 40) + "\n" + pretty(event_line("b")),
            {"1 is cut short or no JSON", "5 event b"}},
        Row{"APrettyArrayWithABrokenEntry",
            "[\n    {\n        \"id\": nope,\n        \"x\": {}}}\n    },\n    " + event_line("b") + "\n]\n",
            {"2 is no JSON: not JSON", "4 " + kNeither + " (2 lines)", "6 event b"}},
        Row{"BytesThatAreNoUtf8",
            event_line("a", ",\"subject\":\"\xff\"") + "\n" + event_line("b"),
            {"1 has bytes in it that are no UTF-8", "2 event b"}},
        Row{"AWrapper",
            R"({"event":)" + event_line("a") + R"(,"error":"x"})" + "\n" + event_line("b"),
            {"1 is a wrapper: the CloudEvent is inside of \"event\"; take it out first, as jq -c '.event' does", "2 event b"}},
        Row{"AWrapperOfText",
            R"({"log":"{\"specversion\":\"1.0\"}"})",
            {"1 is a wrapper: the CloudEvent is a text inside of \"log\"; take it out first, as jq -c '.log | fromjson' does"}},
        Row{"AnotherVersionOfCloudEvents",
            R"({"specversion":"0.3","id":"a","source":"/x","type":"t"})",
            {"1 specversion: only 1.0 is taken"}},
        Row{"AMissingAttribute", R"({"specversion":"1.0","id":"a","type":"t"})", {"1 source: is missing"}},
        Row{"JsonThatIsNoEvent", R"({"level":"info","msg":"event answered"})", {"1 is no CloudEvent: specversion is missing"}},
        Row{"AnObjectWithoutAName",
            R"({"apiVersion":"v1","kind":"Secret","metadata":{}})",
            {"1 metadata.name: of the object is missing"}},
        Row{"AWatchThatFailed",
            R"({"type":"ERROR","object":{"kind":"Status","code":410}})",
            {"1 the watch ended with an error of the API server"}},
        Row{"AForeignToolsText",
            "\xE2\x98\x81  cloudevents.Event\nContext Attributes,\n  specversion: 1.0\n\n" + event_line("b"),
            {"1 " + kNeither + " (4 lines)", "5 event b"}},
        Row{"Yaml", "apiVersion: v1\nkind: Secret\nmetadata:\n  name: x\n" + event_line("b"), {"1 " + kNeither, "5 event b"}},
        Row{"Scalars", "[1,\n2]\n\"text\"\nnull\n" + event_line("b"), {"1 " + kNeither + " (4 lines)", "5 event b"}},
        Row{"AnHttpMessageCutInItsHeaders",
            "POST / HTTP/1.1\nce-id: a\nce-sou\n" + http_event("b", "{}"),
            {"1 is an HTTP message that is cut short: line 3 is no header", "4 event b"}},
        Row{"AnHttpMessageCutInItsBody",
            http_event("a", "{}") + http_event("b", R"({"k":"value"})").substr(0, 120) + "{",
            {"1 event a", "10 is cut short: the file ends in its headers"}},
        Row{"AnHttpMessageThatPromisesMore",
            "ce-id: a\ncontent-length: 4000\n\n" + kKro + "\n\n" + http_event("b", "{}"),
            {"1 is cut short: of its body's 4000 bytes there are " +
                 std::to_string(kKro.size() + 2 + http_event("b", "{}").size()),
             "6 event b"}},
        Row{"AnHttpMessageOfNoLength",
            "ce-id: a\ncontent-type: application/json\n\n{}\n" + http_event("b", "{}"),
            {"1 is an HTTP message without Content-Length: where its body ends can't be told", "5 event b"}},
        Row{"AnHttpMessageInChunks",
            "POST / HTTP/1.1\ntransfer-encoding: chunked\n\n2\n{}\n0\n\n" + event_line("b"),
            {"1 is an HTTP message in chunks; only a body with a Content-Length is read", "8 event b"}},
        Row{"AnHttpMessageThatIsNoEvent",
            "POST / HTTP/1.1\ncontent-type: application/json\ncontent-length: 2\n\n{}" + event_line("b"),
            {"1 specversion: is missing", "5 event b"}}),
    [](auto const& row) { return row.param.name; });

TEST(Archive, ReadsTheRecordedRequestsOfRealSources) {
    std::string dump;
    std::vector<CloudEvent> expected;
    for (auto const* name : {"kro-add.http", "helmrelease-update.http", "ping.http", "secret-reference-update.http"}) {
        events::HttpMessage message = sample(name);
        expected.push_back(events::parse_http(message).value().front());
        dump += "POST / HTTP/1.1\r\n";
        for (auto const& [header, value] : message.headers) {
            if (events::lower_case(header) != "content-length") dump += header + ": " + value + "\r\n";
        }
        dump += "Content-Length: " + std::to_string(message.body.size()) + "\r\n\r\n" + message.body + "\r\n";
    }
    std::vector<CloudEvent> read;
    for (auto& one : Archive{dump}.events()) read.push_back(std::move(one.event));
    EXPECT_EQ(read, expected);
}

TEST(Archive, GivesBackWhatARecorderAddedAndTheEventWithoutIt) {
    std::string const line = event_line("a", R"(,"kind":"Kro","recordedtime":"2026-11-30T12:00:00.5Z","recordedstatus":503,)"
                                             R"("recordedoutcome":"Retry","recordedwhy":"no answer")");
    auto const one = Archive{line}.events().at(0);
    EXPECT_EQ(one.received, base::parse_rfc3339("2026-11-30T12:00:00.5Z"));
    EXPECT_EQ(one.status, 503);
    EXPECT_EQ(one.outcome, "Retry");
    EXPECT_EQ(one.why, "no answer");
    EXPECT_EQ(one.event.extensions, (events::Attributes{{"kind", "Kro"}}));
}

TEST(Archive, OfNoRecorderHasEventsOfNoKnownTime) {
    auto const one = Archive{event_line("a", R"(,"time":"2026-11-30T12:00:00Z")")}.events().at(0);
    EXPECT_EQ(one.received, std::nullopt);
    EXPECT_EQ(one.status, 0);
    EXPECT_EQ(one.outcome, "");
}

TEST(Archive, MakesTheEventThatASourceWouldHaveSentOfAnObjectOutOfKubectl) {
    auto const one = Archive{R"({"type":"DELETED","object":)" + kKro + "}"}.events().at(0).event;
    EXPECT_EQ(one.type, "dev.knative.apiserver.resource.delete");
    EXPECT_EQ(one.source, "/kubectl/watch");
    EXPECT_EQ(one.subject, "/apis/kro.services.openmcp.cloud/v1alpha1/namespaces/team-a/kros/acme");
    auto const meaning = std::get<events::ObjectEvent>(events::meaning_of(one).value());
    EXPECT_EQ(meaning.change, events::ObjectEvent::Change::Deleted);
    EXPECT_EQ(meaning.kind, "Kro");
    EXPECT_EQ(meaning.name, "acme");
    EXPECT_EQ(meaning.namespace_, "team-a");
    EXPECT_EQ(meaning.object, base::parse_json(kKro).value());
}

TEST(Archive, NamesTheKindOfAnItemThatATypedListLeavesOut) {
    auto const one =
        Archive{R"({"apiVersion":"v1","kind":"SecretList","items":[{"metadata":{"name":"pull","namespace":"n"}}]})"}.lines();
    EXPECT_EQ(one, Lines{"1 event secret/n/pull@/add"});
}

TEST(Archive, GivesTheSameIdsWheneverItIsRead) {
    Archive const archive{pretty(kKro) + R"({"type":"ADDED","object":)" + kKro + "}"};
    EXPECT_EQ(archive.lines(), archive.lines());
}

TEST(Archive, KeepsEveryNumberAsItIsSpelled) {
    std::string const data = R"({"a":9007199254740993,"b":1.0,"c":1e400,"d":-0})";
    auto const one = Archive{event_line("a", ",\"data\":" + data)}.events().at(0);
    EXPECT_EQ(base::dump_json(events::json_data(one.event)), data);
}

TEST(Archive, OfSeveralFilesIsReadInTheirOrder) {
    support::Folder const folder;
    folder.write("1", event_line("a") + "\n" + "{\"torn");
    folder.write("2", event_line("b"));
    folder.write("3", support::gzip(event_line("c")));
    auto const lines = all_of(
        ArchiveReader{{(folder / "3").string(), (folder / "1").string(), (folder / "none").string(), (folder / "2").string()}});
    EXPECT_EQ(lines, (Lines{"1 event c", "1 event a", "2 is cut short: the file ends inside of it",
                            "0 can't be opened: No such file or directory", "1 event b"}));
}

TEST(Archive, ThatIsAFolderIsSaidToBeOne) {
    support::Folder const folder;
    ArchiveReader reader{{folder.path().string()}};
    auto const entry = reader.next();
    ASSERT_TRUE(entry);
    EXPECT_EQ(events::to_string(std::get<Unreadable>(*entry).place), folder.path().string());
    EXPECT_EQ(std::get<Unreadable>(*entry).reason, "can't be read: Is a directory");
    EXPECT_FALSE(reader.next());
}

TEST(Archive, IsReadFromStandardInputByADash) {
    std::array<int, 2> ends{};
    ASSERT_EQ(::pipe(ends.data()), 0);
    std::string const text = event_line("a") + "\n" + event_line("b") + "\n";
    std::thread writer{[&] {
        for (char const c : text) ASSERT_EQ(::write(ends[1], &c, 1), 1);
        ::close(ends[1]);
    }};
    ArchiveReader reader{{"-"}, ends[0]};
    auto const first = reader.next();
    auto const second = reader.next();
    writer.join();
    ASSERT_TRUE(first && second);
    EXPECT_EQ(events::to_string(std::get<StoredEvent>(*first).place), "standard input:1");
    EXPECT_EQ(std::get<StoredEvent>(*second).event.id, "b");
    EXPECT_FALSE(reader.next());
    EXPECT_EQ(reader.progress().total, 0U);
    ::close(ends[0]);
}

TEST(Archive, SaysHowFarItIs) {
    std::string text;
    for (int i = 0; i < 5000; ++i) text += event_line(std::to_string(i)) + "\n";
    Archive const archive{text};
    auto reader = archive.reader();
    EXPECT_EQ(reader.progress().total, text.size());
    EXPECT_EQ(reader.progress().done, 0U);
    ASSERT_TRUE(reader.next());
    EXPECT_GT(reader.progress().done, 0U);
    EXPECT_LT(reader.progress().done, text.size());
    while (reader.next()) {
    }
    EXPECT_EQ(reader.progress().done, text.size());
}

TEST(Archive, InGzipThatWasCutIsReadAsFarAsItGoes) {
    std::string text;
    for (int i = 0; i < 2000; ++i) text += event_line(std::to_string(i * i)) + "\n";
    std::string const packed = support::gzip(text);
    auto const lines = Archive{packed.substr(0, packed.size() / 2)}.lines();
    ASSERT_GT(lines.size(), 100U);
    EXPECT_EQ(lines[0], "1 event 0");
    EXPECT_TRUE(lines.back().ends_with("the gzip data in it is cut short")) << lines.back();
}

TEST(Archive, InGzipThatIsDamagedIsReadAsFarAsItGoes) {
    auto const lines = Archive{support::gzip(event_line("a") + "\n") + "no gzip at all"}.lines();
    EXPECT_EQ(lines, (Lines{"1 event a", "2 the gzip data in it is damaged; nothing after this place can be read"}));
}

TEST(Archive, ReadsAnEventOfNearlyTheLongestSize) {
    std::string const data = std::string(events::kLongestEvent - 200, 'x');
    EXPECT_EQ(Archive{event_line("a", ",\"data\":\"" + data + "\"") + "\n" + event_line("b")}.lines(),
              (Lines{"1 event a", "2 event b"}));
}

TEST(Archive, PassesOverALineThatIsTooLong) {
    std::string const data = std::string(2 * events::kLongestEvent, 'x');
    EXPECT_EQ(Archive{event_line("a", ",\"data\":\"" + data + "\"") + "\n" + event_line("b")}.lines(),
              (Lines{"1 is longer than 8 MiB", "2 event b"}));
    EXPECT_EQ(Archive{data + "\n" + event_line("b")}.lines(), (Lines{"1 " + kNeither, "2 event b"}));
    EXPECT_EQ(Archive{"POST / HTTP/1.1\nce-id: " + data + "\n\n" + event_line("b")}.lines(),
              (Lines{"1 has headers of more than 64 KiB", "4 event b"}));
    EXPECT_EQ(Archive{"ce-id: a\ncontent-length: 9000000\n\nx\n" + event_line("b")}.lines(),
              (Lines{"1 is an HTTP message with a body of more than 8 MiB", "5 event b"}));
}

TEST(Archive, PassesOverWhatIsNestedTooDeep) {
    std::string const deep = event_line("a", ",\"data\":" + std::string(100000, '[') + std::string(100000, ']'));
    EXPECT_EQ(Archive{deep + "\n" + event_line("b")}.lines(), (Lines{"1 is nested deeper than 512 levels", "2 event b"}));
}

TEST(Archive, NeverQuotesAValue) {
    std::string const secret = "hunter2hunter2";
    for (auto const& text : {"{\"" + secret + "\":\"" + secret, event_line("a", ",\"subject\":\"" + secret + "\\u0001\""),
                             secret + " " + secret, "ce-id: " + secret + "\n" + secret + "\n",
                             "{\"x " + secret + "\":" + event_line("a") + "}", "{\"a\":" + secret + "}"}) {
        for (auto const& line : Archive{text}.lines()) EXPECT_EQ(line.find(secret), std::string::npos) << line;
    }
}

TEST(Archive, OfAnyBytesIsReadToItsEnd) {
    std::mt19937 random{1};
    std::string const good = event_line("a") + "\n" + http_event("b", R"({"k":[1,"x"]})") + "\n" + pretty(event_line("c")) + "[" +
                             event_line("d") + "]\n" + pretty(kKro);
    for (int round = 0; round < 500; ++round) {
        std::string text = good + good;
        for (int change = 0; change < 4; ++change) {
            std::size_t const at = random() % text.size();
            switch (random() % 4) {
                case 0: text.erase(at, 1 + random() % 40); break;
                case 1: text[at] = static_cast<char>(random()); break;
                case 2: text.insert(at, 1, "{}[]\":,\n\\ \x1f"[random() % 11]); break;
                default: text.insert(at, text.substr(random() % text.size(), random() % 40)); break;
            }
        }
        auto const lines = Archive{text}.lines();
        EXPECT_LT(lines.size(), 60U);
        EXPECT_FALSE(lines.empty());
    }
}

TEST(Archive, LosesNothingButTheLineThatWasCut) {
    std::string const line = event_line("b", R"(,"data":{"a":[{"x":"y"},1.5,true,null],"k":{"z":"\"{"}})");
    for (std::size_t size = 1; size < line.size(); ++size) {
        auto const lines =
            Archive{event_line("a") + "\n" + line.substr(0, size) + "\n" + event_line("c") + "\n" + event_line("d") + "\n"}
                .lines();
        ASSERT_EQ(lines.size(), 4U) << line.substr(0, size);
        EXPECT_EQ(lines[0], "1 event a");
        EXPECT_TRUE(lines[1].starts_with("2 is cut short")) << lines[1];
        EXPECT_EQ(lines[2], "3 event c");
        EXPECT_EQ(lines[3], "4 event d");
    }
}

}  // namespace
