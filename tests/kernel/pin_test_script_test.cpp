// SPDX-License-Identifier: Apache-2.0
// scripts/pin-test.py: the same document, and the same verdicts, as pinscope's.
#include "base/file.h"
#include "kernel/host_under_test.h"
#include "support/schema.h"
#include "support/skip.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

namespace pinscope {
namespace {

using nlohmann::json;

const std::string script = PINSCOPE_SOURCE "/scripts/pin-test.py";

class PinTestScript : public testing::Test {
  protected:
    void SetUp() override {
        if (!exists("/usr/bin/python3") || !exists(script))
            SKIP_HERE("it takes Python 3 and the project's scripts");
        if (!test::is_root())
            SKIP_HERE("the comparison with CAP_IPC_LOCK takes root");
    }

    static std::string standins() {
        const std::string program = test::pinscope_program();
        return program.substr(0, program.rfind('/')) + "/standins";
    }
    static test::Outcome run(std::vector<std::string> arguments, const std::string& behaviour = "pins") {
        test::ProgramOptions options;
        options.before_exec = [=] { return ::setenv("PINSCOPE_STANDIN", behaviour.c_str(), 1) == 0; };
        arguments.insert(arguments.begin(), {"/usr/bin/python3", script});
        return test::run_program(arguments, options);
    }
    static std::string verdict(const json& document, std::string_view mechanism) {
        for (const auto& one : document["verdicts"])
            if (one["mechanism"] == mechanism)
                return one["verdict"];
        return {};
    }
};

TEST_F(PinTestScript, HasPinscopesVerdicts) {
    struct Case {
        const char* behaviour;
        int status;
    };
    for (const auto& [behaviour, status] :
         {Case{"pins", 0}, Case{"mlock", 1}, Case{"error", 0}, Case{"lie", 77}, Case{"crash", 77}}) {
        const std::vector<std::string> question = {"--json",   "--mechanism", "cudaHostAlloc", "--cuda-lib",
                                                   standins(), "--cudart",    standins()};
        const auto mine = run(question, behaviour);
        EXPECT_EQ(mine.status, status) << behaviour << mine.err;
        const json document = json::parse(mine.out, nullptr, false);
        ASSERT_FALSE(document.is_discarded()) << mine.out << mine.err;
        EXPECT_EQ(test::check_schema(document, "pin-1.schema.json"), "") << behaviour;
        test::ProgramOptions options;
        options.before_exec = [&, how = behaviour] { return ::setenv("PINSCOPE_STANDIN", how, 1) == 0; };
        const auto pinscope = test::pin_json_unprobed({question.begin() + 1, question.end()}, options);
        EXPECT_EQ(verdict(document, "cudaHostAlloc"), pinscope.verdict("cudaHostAlloc")) << behaviour;
        EXPECT_EQ(mine.status, pinscope.status) << behaviour;
    }
}

TEST_F(PinTestScript, WithoutADriverSaysSo) {
    const auto mine =
        run({"--json", "--mechanism", "cuMemHostAlloc,mlock", "--cuda-lib", "/nowhere/libcuda.so.1"});
    const json document = json::parse(mine.out, nullptr, false);
    ASSERT_FALSE(document.is_discarded()) << mine.out << mine.err;
    EXPECT_EQ(test::check_schema(document, "pin-1.schema.json"), "");
    EXPECT_EQ(verdict(document, "cuMemHostAlloc"), "unsupported");
    EXPECT_EQ(verdict(document, "mlock"), "enforced");
    EXPECT_NE(document["cuda"].get<std::string>().find("/nowhere/libcuda.so.1"), std::string::npos)
        << document["cuda"];
}

TEST_F(PinTestScript, BadInputIsNamed) {
    const auto unknown = run({"--mechanism", "cudaHostAllocs"});
    EXPECT_EQ(unknown.status, 2);
    EXPECT_NE(unknown.err.find("'cudaHostAllocs'"), std::string::npos) << unknown.err;
    const auto size = run({"--size", "12 apples"});
    EXPECT_EQ(size.status, 2);
    EXPECT_NE(size.err.find("is no size"), std::string::npos) << size.err;
}

} // namespace
} // namespace pinscope
