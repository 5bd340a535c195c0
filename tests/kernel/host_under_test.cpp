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
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

namespace pinscope::test {
namespace {

constexpr unsigned nobody = 65534;

// The last element of an array whose members have these values; null where there is none. Last, because the trials of
// the controls come first.
nlohmann::json find_where(const nlohmann::json& array, std::initializer_list<std::pair<const char*, std::string_view>> wanted) {
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

bool is_root() { return ::geteuid() == 0; }

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

PinRun pin_json(std::vector<std::string> arguments, const ProgramOptions& options) {
    arguments.insert(arguments.begin(), {"pin", "--json"});
    const Outcome outcome = run_pinscope(std::move(arguments), options);
    PinRun run;
    run.status = outcome.status;
    run.err = outcome.err;
    run.document = nlohmann::json::parse(outcome.out, nullptr, false);
    EXPECT_FALSE(run.document.is_discarded()) << outcome.out << outcome.err;
    if (run.document.is_discarded())
        run.document = {{"verdicts", nlohmann::json::array()}, {"controls", nlohmann::json::array()},
                        {"trials", nlohmann::json::array()}, {"missing", nlohmann::json::array()}};
    else
        EXPECT_EQ(check_schema(run.document, "pin-1.schema.json"), "");
    return run;
}

std::optional<host::CgroupPlace> own_cgroup() {
    const auto place = host::find_memory_cgroup(host::Root{}, 0);
    return place ? std::optional(*place) : std::nullopt;
}

std::vector<std::string> leftovers() {
    std::vector<std::string> found;
    if (const auto place = own_cgroup())
        for (const auto& name : list_folder(place->folder).value_or(std::vector<std::string>()))
            if (name.rfind("pinscope-", 0) == 0)
                found.push_back("cgroup " + name);
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

LimitedCgroup::LimitedCgroup(uint64_t limit_bytes) {
    const auto own = own_cgroup();
    if (!own) {
        why_not_ = "no memory cgroup can be seen";
        return;
    }
    host::CgroupPlace place = *own;
    place.folder += fmt::format("/test-{}", ::getpid());
    if (own->version == 2)
        (void)write_file(own->folder + "/cgroup.subtree_control", "+memory");
    const std::string limit_file = place.folder + (own->version == 1 ? "/memory.limit_in_bytes" : "/memory.max");
    if (::mkdir(place.folder.c_str(), 0755) != 0 || !exists(limit_file)) {
        why_not_ = "no memory cgroup can be made below " + own->folder;
        ::rmdir(place.folder.c_str());
        return;
    }
    if (const auto set = write_file(limit_file, fmt::format("{}", limit_bytes)); !set) {
        why_not_ = set.error().text();
        return;
    }
    place_ = place;
}

LimitedCgroup::~LimitedCgroup() {
    if (!place_)
        return;
    for (int tries = 0; tries < 100 && ::rmdir(place_->folder.c_str()) != 0; ++tries)
        ::usleep(10000);
}

bool LimitedCgroup::enter() const { return write_file(place_->folder + "/cgroup.procs", "0").has_value(); }

bool drop_capabilities(const std::vector<unsigned>& capabilities) {
    ::capng_setpid(static_cast<int>(::getpid()));
    ::capng_get_caps_process();
    constexpr auto all_sets = static_cast<capng_type_t>(CAPNG_EFFECTIVE | CAPNG_PERMITTED | CAPNG_INHERITABLE |
                                                        CAPNG_BOUNDING_SET | CAPNG_AMBIENT);
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
