// SPDX-License-Identifier: Apache-2.0
#include "kernel/test_cgroups.h"

#include "base/file.h"
#include "base/text.h"
#include "support/program.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <sys/stat.h>
#include <unistd.h>

namespace pinscope::test {
namespace {

// Filled once, before the first test.
struct Arrangement {
    std::optional<host::CgroupPlace> own;
    std::string tests_folder; // empty: nothing was arranged
    std::string programs_folder;
};

Arrangement& arrangement() {
    static Arrangement made;
    return made;
}

bool move_to(const std::string& folder) {
    return write_file(folder + "/cgroup.procs", "0").has_value();
}

// The janitor of a run that was killed may still have the cgroup emptied for a moment.
bool move_to_patiently(const std::string& folder) {
    for (int tries = 0; tries < 500; ++tries) {
        if (move_to(folder))
            return true;
        ::usleep(10000);
    }
    return false;
}

// A process that has just ended may keep its cgroup busy for a moment.
void remove_folder(const std::string& folder) {
    for (int tries = 0; tries < 200 && ::rmdir(folder.c_str()) != 0 && exists(folder); ++tries)
        ::usleep(10000);
}

class CgroupEnvironment : public testing::Environment {
  public:
    void SetUp() override {
        auto& made = arrangement();
        if (const auto place = host::find_memory_cgroup(host::Root{}, 0))
            made.own = *place;
        if (!made.own || made.own->version != 2 || ::geteuid() != 0)
            return;
        const std::string& own = made.own->folder;
        made.tests_folder = fmt::format("{}/tests-{}", own, ::getpid());
        made.programs_folder = fmt::format("{}/under-test-{}", own, ::getpid());
        if (::mkdir(made.tests_folder.c_str(), 0755) != 0 || !move_to(made.tests_folder) ||
            !write_file(own + "/cgroup.subtree_control", "+memory") ||
            ::mkdir(made.programs_folder.c_str(), 0755) != 0) {
            TearDown();
            return;
        }
        set_before_pinscope([] { return move_to_patiently(arrangement().programs_folder); });
    }
    void TearDown() override {
        auto& made = arrangement();
        if (made.tests_folder.empty())
            return;
        set_before_pinscope({});
        remove_folder(made.programs_folder);
        (void)write_file(made.own->folder + "/cgroup.subtree_control", "-memory");
        (void)move_to(made.own->folder);
        remove_folder(made.tests_folder);
        made.tests_folder.clear();
    }
};

} // namespace

void arrange_cgroups_for_all_tests() {
    testing::AddGlobalTestEnvironment(new CgroupEnvironment);
}

const std::optional<host::CgroupPlace>& own_cgroup() {
    return arrangement().own;
}

std::optional<host::CgroupPlace> cgroup_of_programs() {
    const auto& made = arrangement();
    if (made.tests_folder.empty())
        return made.own;
    host::CgroupPlace place = *made.own;
    place.folder = made.programs_folder;
    return place;
}

bool enter_cgroup_of_tests() {
    return move_to(arrangement().tests_folder);
}

std::vector<std::string> leftover_cgroups() {
    std::vector<std::string> found;
    const auto place = cgroup_of_programs();
    if (!place)
        return found;
    for (const auto& name : list_folder(place->folder).value_or(std::vector<std::string>()))
        if (name.rfind("pinscope-", 0) == 0)
            found.push_back("cgroup " + name);
    const auto controllers = read_file(place->folder + "/cgroup.subtree_control").value_or("");
    if (!arrangement().tests_folder.empty() && !trim(controllers).empty())
        found.push_back("controllers left on: " + controllers);
    return found;
}

LimitedCgroup::LimitedCgroup(uint64_t limit_bytes) {
    if (!own_cgroup()) {
        why_not_ = "no memory cgroup can be seen";
        return;
    }
    host::CgroupPlace place = *own_cgroup();
    place.folder += fmt::format("/limited-{}", ::getpid());
    const std::string limit_file =
        place.folder + (place.version == 1 ? "/memory.limit_in_bytes" : "/memory.max");
    if (::mkdir(place.folder.c_str(), 0755) != 0 || !exists(limit_file)) {
        why_not_ = "no memory cgroup can be made below " + own_cgroup()->folder;
        ::rmdir(place.folder.c_str());
        return;
    }
    place_ = place;
    if (const auto set = write_file(limit_file, fmt::format("{}", limit_bytes)); !set) {
        why_not_ = set.error().text();
        ::rmdir(place.folder.c_str());
        place_.reset();
    }
}

LimitedCgroup::~LimitedCgroup() {
    if (place_)
        remove_folder(place_->folder);
}

bool LimitedCgroup::enter() const {
    return move_to(place_->folder);
}

} // namespace pinscope::test
