// SPDX-License-Identifier: Apache-2.0
#include "kernel/host_under_test.h"

#include "base/file.h"
#include "base/text.h"
#include "support/schema.h"

#include <cap-ng.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <grp.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

namespace pinscope::test {
namespace {

constexpr unsigned nobody = 65534;

// The last element of an array whose members have these values; null where there is none. Last, because the
// trials of the controls come first.
nlohmann::json find_where(const nlohmann::json& array,
                          std::initializer_list<std::pair<const char*, std::string_view>> wanted) {
    nlohmann::json found;
    for (const auto& element : array) {
        const bool fits = std::all_of(wanted.begin(), wanted.end(), [&](const auto& pair) {
            return element.at(pair.first).template get<std::string>() == pair.second;
        });
        if (fits)
            found = element;
    }
    return found;
}

std::string text_of(const nlohmann::json& element, const char* key) {
    return element.is_null() ? "" : element.at(key).get<std::string>();
}

} // namespace

bool is_root() {
    return ::geteuid() == 0;
}

std::string this_program() {
    std::string path(4096, '\0');
    const ssize_t length = ::readlink("/proc/self/exe", path.data(), path.size());
    path.resize(length > 0 ? static_cast<size_t>(length) : 0);
    return path;
}

std::string PinRun::verdict(std::string_view mechanism) const {
    return text_of(find_where(document.at("verdicts"), {{"mechanism", mechanism}}), "verdict");
}

std::string PinRun::reason(std::string_view mechanism) const {
    return text_of(find_where(document.at("verdicts"), {{"mechanism", mechanism}}), "reason");
}

std::string PinRun::control(std::string_view name, std::string_view mechanism) const {
    return text_of(find_where(document.at("controls"), {{"name", name}, {"mechanism", mechanism}}), "state");
}

std::string PinRun::control_reason(std::string_view name, std::string_view mechanism) const {
    return text_of(find_where(document.at("controls"), {{"name", name}, {"mechanism", mechanism}}), "reason");
}

nlohmann::json PinRun::trial(std::string_view mechanism, std::string_view role) const {
    return find_where(document.at("trials"), {{"mechanism", mechanism}, {"role", role}});
}

nlohmann::json PinRun::granted_contrast(std::string_view mechanism) const {
    for (const char* role : {"limit_lifted", "with_cap"}) {
        auto found = trial(mechanism, role);
        if (!found.is_null() && found.at("outcome") == "granted")
            return found;
    }
    return nullptr;
}

PinRun pin_json(std::vector<std::string> arguments, const ProgramOptions& options) {
    arguments.insert(arguments.begin(), {"pin", "--json"});
    const Outcome outcome = run_pinscope(std::move(arguments), options);
    PinRun run;
    run.status = outcome.status;
    run.err = outcome.err;
    run.document = nlohmann::json::parse(outcome.out, nullptr, false);
    EXPECT_FALSE(run.document.is_discarded()) << outcome.out << outcome.err;
    if (run.document.is_discarded())
        run.document = {{"verdicts", nlohmann::json::array()},
                        {"controls", nlohmann::json::array()},
                        {"trials", nlohmann::json::array()},
                        {"missing", nlohmann::json::array()}};
    else
        EXPECT_EQ(check_schema(run.document, "pin-1.schema.json"), "");
    return run;
}

PinRun pin_json_unprobed(std::vector<std::string> arguments, const ProgramOptions& options) {
    arguments.emplace_back("--no-probes");
    return pin_json(std::move(arguments), options);
}

std::vector<std::string> leftovers() {
    std::vector<std::string> found = leftover_cgroups();
    const std::string program = pinscope_program();
    for (const auto& pid : list_folder("/proc").value_or(std::vector<std::string>())) {
        if (!parse_unsigned(pid))
            continue;
        std::string path(4096, '\0');
        const ssize_t length = ::readlink(fmt::format("/proc/{}/exe", pid).c_str(), path.data(), path.size());
        if (length > 0 && path.substr(0, static_cast<size_t>(length)) == program)
            found.push_back("process " + pid);
    }
    return found;
}

double time_factor() {
    const char* factor = std::getenv("PINSCOPE_TIME_FACTOR"); // NOLINT(concurrency-mt-unsafe)
    return factor != nullptr ? std::strtod(factor, nullptr) : 1.0;
}

bool drop_capabilities(const std::vector<unsigned>& capabilities) {
    ::capng_setpid(static_cast<int>(::getpid()));
    ::capng_get_caps_process();
    constexpr auto all_sets = static_cast<capng_type_t>(
        CAPNG_EFFECTIVE | CAPNG_PERMITTED | CAPNG_INHERITABLE | CAPNG_BOUNDING_SET | CAPNG_AMBIENT);
    for (const unsigned capability : capabilities)
        ::capng_update(CAPNG_DROP, all_sets, capability);
    return ::capng_apply(CAPNG_SELECT_ALL) == 0;
}

bool set_memlock(uint64_t soft, uint64_t hard) {
    const rlimit limit{soft, hard};
    return ::setrlimit(RLIMIT_MEMLOCK, &limit) == 0;
}

bool become_nobody() {
    return ::setgroups(0, nullptr) == 0 && ::setresgid(nobody, nobody, nobody) == 0 &&
           ::setresuid(nobody, nobody, nobody) == 0;
}

bool enter_child_user_namespace() {
    const auto uid = ::geteuid();
    const auto gid = ::getegid();
    if (::unshare(CLONE_NEWUSER) != 0)
        return false;
    (void)write_file("/proc/self/setgroups", "deny");
    return write_file("/proc/self/uid_map", fmt::format("0 {} 1", uid)).has_value() &&
           write_file("/proc/self/gid_map", fmt::format("0 {} 1", gid)).has_value();
}

} // namespace pinscope::test
