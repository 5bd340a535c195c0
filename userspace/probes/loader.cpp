// SPDX-License-Identifier: Apache-2.0
#include "probes/loader.h"

#include "base/file.h"
#include "base/text.h"
#include "probes/catalog.h"
#include "probes/kernel_types.h"
#include "probes/libbpf_options.h"
#include "probes/memlock_for_bpf.h"
#include "probes/syscall_names.h"
#include "probes/trial_load.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <map>
#include <thread>

namespace pinscope::probes {
namespace {

// What libbpf says goes here and never to the terminal: its hints are about its own caller.
class LibbpfMessages {
  public:
    LibbpfMessages() {
        text().clear();
        ::libbpf_set_print(&note);
    }
    static std::string& text() {
        static std::string messages;
        return messages;
    }

  private:
    [[gnu::format(printf, 2, 0)]] static int note(libbpf_print_level level, const char* format,
                                                  va_list arguments) {
        if (level == LIBBPF_DEBUG)
            return 0;
        va_list again;
        va_copy(again, arguments);
        std::vector<char> line(static_cast<size_t>(std::max(0, std::vsnprintf(nullptr, 0, format, again))) +
                               1);
        va_end(again);
        (void)std::vsnprintf(line.data(), line.size(), format, arguments);
        text() += line.data();
        return 0;
    }
};

// "prog 'NAME': failed …" is how libbpf 1.1 names the program that the kernel did not take.
std::string refused_program(const std::string& messages) {
    static constexpr std::string_view before = "prog '";
    for (auto at = messages.find(before); at != std::string::npos; at = messages.find(before, at + 1)) {
        const auto from = at + before.size();
        const auto to = messages.find('\'', from);
        if (to != std::string::npos && messages.find("fail", to) < messages.find('\n', to))
            return messages.substr(from, to - from);
    }
    return {};
}

// The last thing that the verifier says before its statistics.
std::string verifier_words(const std::string& messages) {
    const auto begin = messages.find("-- BEGIN PROG LOAD LOG --");
    const auto end = messages.find("-- END PROG LOAD LOG --");
    if (begin == std::string::npos || end == std::string::npos)
        return {};
    std::string last;
    for (const auto line : split(std::string_view(messages).substr(begin, end - begin), '\n')) {
        const auto words = trim(line);
        if (!words.empty() && words.rfind("processed ", 0) != 0 &&
            words.find("-- ") == std::string_view::npos)
            last = std::string(words);
    }
    return printable(last);
}

// How one function is watched.
struct FunctionChoice {
    const FunctionFacts* facts = nullptr;
    ProgramType type = ProgramType::fexit;
    unsigned arguments = 0; // for fexit
    std::string reason;     // why not by the better one
    bool possible = false;
};

constexpr unsigned most_arguments = 6; // of a function for fexit: kernel/bpf/trampoline.c (12 from 6.6 on)

class Loader {
  public:
    explicit Loader(const SessionOptions& options) : options_(options) {}

    Loaded run() {
        const LibbpfMessages messages;
        auto types = KernelTypes::read();
        if (!types) {
            refuse_all(types.error().reason);
            return std::move(out_);
        }
        const MemlockForBpf memlock(*types);
        try_types(*types);
        choose(*types);
        if (!can_see_windows()) {
            give_up();
            return std::move(out_);
        }
        do {
            open_and_load();
        } while (out_.skeleton && !attach());
        describe();
        return std::move(out_);
    }

  private:
    bool is_broken(std::string_view program) const {
        return std::any_of(options_.refuse.begin(), options_.refuse.end(),
                           [&](const std::string& one) { return one == "all" || one == program; });
    }

    void refuse_all(const std::string& reason) {
        out_.why_no_windows = reason;
        for (const auto& program : plain_programs())
            unavailable_[std::string(program.name)] = reason;
        for (const auto& function : watched_functions())
            functions_.push_back({&function, ProgramType::fexit, 0, reason, false});
        describe();
    }

    void refuse_whole(const std::string& reason) {
        out_.why_no_windows = reason;
        refuse_rest(reason);
    }

    void refuse_rest(const std::string& reason) {
        for (const auto& program : plain_programs())
            unavailable_.try_emplace(std::string(program.name), reason);
        for (auto& function : functions_)
            if (function.possible) {
                function.possible = false;
                function.reason = reason;
            }
        describe();
    }

    // --- What this kernel takes ---------------------------------------------------------------------------

    void try_types(const KernelTypes& types) {
        for (const auto type : {ProgramType::tracepoint, ProgramType::uprobe, ProgramType::fexit,
                                ProgramType::kprobe, ProgramType::user_run}) {
            const bool broken = is_broken(fmt::format("type:{}", program_type_name(type)));
            auto taken = try_program_type(type, types, broken);
            type_refused_[type] = taken ? "" : taken.error().reason;
        }
    }

    void choose(const KernelTypes& types) {
        for (const auto& program : plain_programs()) {
            std::string reason = type_refused_[program.type];
            if (reason.empty() && program.type == ProgramType::tracepoint &&
                !types.has_tracepoint(std::string(program.hook)))
                reason = "this kernel has no such tracepoint";
            if (reason.empty() && program.part == Part::symbols && !types.function_type("bpf_snprintf"))
                reason = "this kernel has no bpf_snprintf (5.13)";
            if (!reason.empty())
                unavailable_[std::string(program.name)] = reason;
        }
        for (const auto& function : watched_functions())
            functions_.push_back(choose_function(function, types));
    }

    FunctionChoice choose_function(const FunctionFacts& facts, const KernelTypes& types) {
        FunctionChoice choice;
        choice.facts = &facts;
        if (facts.is_driver() && !exists("/sys/module/" + std::string(facts.module))) {
            choice.type = ProgramType::kprobe;
            choice.possible = false;
            choice.reason = fmt::format("the module {} is not loaded", facts.module);
            return choice;
        }
        const auto arguments = types.argument_count(std::string(facts.name), std::string(facts.module));
        const std::string& no_fexit = type_refused_[ProgramType::fexit];
        if (no_fexit.empty() && arguments.value_or(most_arguments + 1) <= most_arguments) {
            choice.arguments = *arguments;
            choice.possible = true;
            return choice;
        }
        choice.type = ProgramType::kprobe;
        choice.reason = !no_fexit.empty() ? "fexit: " + no_fexit
                        : arguments       ? "fexit: it has too many arguments"
                                          : "fexit: not among this kernel's functions with types";
        const std::string& no_kprobe = type_refused_[ProgramType::kprobe];
        choice.possible = no_kprobe.empty();
        if (!choice.possible)
            choice.reason += "; kprobe: " + no_kprobe;
        return choice;
    }

    bool is_available(std::string_view program) const {
        return unavailable_.find(std::string(program)) == unavailable_.end();
    }

    bool can_see_windows() const {
        return std::all_of(
            plain_programs().begin(), plain_programs().end(), [&](const ProgramFacts& program) {
                const bool needed = program.part == Part::windows || program.part == Part::targets;
                return !needed || is_available(program.name);
            });
    }

    // What is left does nothing without call windows.
    void give_up() {
        for (const auto& program : plain_programs()) {
            const bool needed = program.part == Part::windows || program.part == Part::targets;
            if (needed && !is_available(program.name) && out_.why_no_windows.empty())
                out_.why_no_windows = fmt::format("{} {}: {}", program_type_name(program.type), program.hook,
                                                  unavailable_.at(std::string(program.name)));
        }
        refuse_rest("it adds to call windows, which cannot be had");
    }

    // --- Loading ------------------------------------------------------------------------------------------

    std::vector<std::string> programs_of(const FunctionChoice& choice) const {
        const std::string name(choice.facts->name);
        if (choice.type == ProgramType::fexit)
            return {"fexit_" + name};
        return {"kprobe_" + name, "kretprobe_" + name};
    }

    void open_and_load() {
        for (;;) {
            out_.skeleton.reset(pinscope_bpf__open());
            if (!out_.skeleton)
                return refuse_whole(refusal_words(errno));
            set_up();
            LibbpfMessages::text().clear();
            const int error = -pinscope_bpf__load(out_.skeleton.get());
            if (error == 0)
                return;
            out_.skeleton.reset();
            const std::string& messages = LibbpfMessages::text();
            std::string reason = refusal_words(error);
            if (auto words = verifier_words(messages); !words.empty())
                reason += ": " + words;
            // A program that is not known by name, or was left out already: loading cannot go on.
            if (!leave_out(refused_program(messages), reason))
                return refuse_whole(reason);
            if (!can_see_windows())
                return give_up();
        }
    }

    bool leave_out(const std::string& program, const std::string& reason) {
        for (const auto& facts : plain_programs())
            if (facts.name == program)
                return unavailable_.try_emplace(program, reason).second;
        for (auto& choice : functions_) {
            const auto names = programs_of(choice);
            if (!choice.possible || std::find(names.begin(), names.end(), program) == names.end())
                continue;
            use_stand_in(choice, reason);
            return true;
        }
        return false;
    }

    // After fexit kprobes; after these nothing.
    void use_stand_in(FunctionChoice& choice, const std::string& reason) {
        const std::string why = fmt::format("{}: {}", program_type_name(choice.type), reason);
        choice.reason += (choice.reason.empty() ? "" : "; ") + why;
        choice.possible = choice.type == ProgramType::fexit && type_refused_[ProgramType::kprobe].empty();
        if (choice.type == ProgramType::fexit && !choice.possible)
            choice.reason += "; kprobe: " + type_refused_[ProgramType::kprobe];
        choice.type = ProgramType::kprobe;
    }

    bpf_program* find(const std::string& name) const {
        return ::bpf_object__find_program_by_name(out_.skeleton->obj, name.c_str());
    }

    void switch_on(const std::string& name) {
        bpf_program* program = find(name);
        (void)::bpf_program__set_autoload(program, true);
        if (is_broken(name) || is_broken("all")) {
            // Of the same length, so that libbpf finds all places that it has to fill in.
            const bpf_insn* first = ::bpf_program__insns(program);
            std::vector<bpf_insn> instructions(first, first + ::bpf_program__insn_cnt(program));
            instructions.front().code = 0xff;
            (void)::bpf_program__set_insns(program, instructions.data(), instructions.size());
        }
    }

    void set_up() {
        const auto& maps = out_.skeleton->maps;
        (void)::bpf_map__set_max_entries(maps.window_ring, options_.ring_bytes);
        (void)::bpf_map__set_max_entries(maps.open_windows, options_.open_windows);
        (void)::bpf_map__set_max_entries(maps.threads, options_.open_windows);
        auto* settings = out_.skeleton->rodata;
        settings->watch_cgroups = options_.cgroups.empty() ? 0 : 1;
        for (uint32_t number = 0; number < SYSCALL_NUMBERS; ++number)
            settings->descriptor_argument[number] = static_cast<uint8_t>(descriptor_argument(number) + 1);
        for (const auto& choice : functions_)
            settings->argument_count[choice.facts->number] = choice.arguments;
        for (const auto& program : plain_programs())
            if (is_available(program.name))
                switch_on(std::string(program.name));
        for (const auto& choice : functions_)
            if (choice.possible)
                for (const auto& name : programs_of(choice))
                    switch_on(name);
    }

    // --- Attaching ----------------------------------------------------------------------------------------

    // False: the better program of a function could not be attached; all is to be loaded again with its
    // stand-in.
    bool attach() {
        const uint8_t yes = 1;
        for (const uint64_t cgroup : options_.cgroups)
            (void)::bpf_map__update_elem(out_.skeleton->maps.target_cgroups, &cgroup, sizeof(cgroup), &yes,
                                         sizeof(yes), BPF_ANY);
        for (auto& choice : functions_) {
            if (!choice.possible || attach_function(choice) || !choice.possible)
                continue;
            out_.detach();
            return false;
        }
        for (const auto& program : plain_programs())
            if (program.type != ProgramType::user_run && is_available(program.name) &&
                part_is_whole(program.part))
                attach_plain(program);
        if (!can_see_windows()) {
            out_.detach();
            out_.skeleton.reset();
            give_up();
        }
        return true;
    }

    bool part_is_whole(Part part) const {
        return std::all_of(
            plain_programs().begin(), plain_programs().end(),
            [&](const ProgramFacts& program) { return program.part != part || is_available(program.name); });
    }

    void attach_plain(const ProgramFacts& facts) {
        bpf_program* program = find(std::string(facts.name));
        if (facts.type == ProgramType::uprobe)
            return attach_to_calls(facts, program);
        bpf_link* link = ::bpf_program__attach(program);
        if (link == nullptr)
            unavailable_[std::string(facts.name)] = refusal_words(errno);
        else
            out_.links.emplace_back(link);
    }

    void attach_to_calls(const ProgramFacts& facts, const bpf_program* program) {
        for (size_t i = 0; i < options_.marked.size(); ++i) {
            const auto& call = options_.marked[i];
            auto options = libbpf_options<bpf_uprobe_opts>();
            options.retprobe = facts.name == "call_returned";
            options.func_name = call.function.empty() ? nullptr : call.function.c_str();
            bpf_link* link =
                ::bpf_program__attach_uprobe_opts(program, -1, call.file.c_str(), call.offset, &options);
            if (link != nullptr)
                out_.uprobes.emplace_back(link);
            else if (i == 0)
                unavailable_[std::string(facts.name)] = refusal_words(errno);
            else if (out_.unmarked.empty() || out_.unmarked.back().first != call.file)
                out_.unmarked.emplace_back(call.file,
                                           errno == ENOENT ? "it has no such symbol" : refusal_words(errno));
        }
    }

    bool attach_function(FunctionChoice& choice) {
        std::vector<std::unique_ptr<bpf_link, Loaded::Detach>> links;
        // The return probe first, so that what was entered returns to one.
        auto names = programs_of(choice);
        std::reverse(names.begin(), names.end());
        for (const auto& name : names) {
            links.emplace_back(::bpf_program__attach(find(name)));
            if (links.back())
                continue;
            const bool absent = choice.type == ProgramType::kprobe && (errno == ENOENT || errno == EINVAL);
            use_stand_in(choice,
                         absent ? "no such function in this kernel, or only inlined" : refusal_words(errno));
            return false;
        }
        for (auto& link : links)
            out_.links.push_back(std::move(link));
        return true;
    }

    // --- What came of it ----------------------------------------------------------------------------------

    std::optional<uint64_t> instructions(const std::string& name) const {
        const bpf_program* program = out_.skeleton ? find(name) : nullptr;
        if (program == nullptr || ::bpf_program__fd(program) < 0)
            return std::nullopt;
        bpf_prog_info info{};
        uint32_t size = sizeof(info);
        if (::bpf_obj_get_info_by_fd(::bpf_program__fd(program), &info, &size) != 0 ||
            info.verified_insns == 0)
            return std::nullopt;
        return info.verified_insns;
    }

    void describe() {
        out_.probes.clear();
        WindowSight sight;
        sight.windows = out_.skeleton != nullptr;
        for (const auto& program : plain_programs()) {
            Probe probe;
            probe.name = std::string(program.name);
            probe.hook = fmt::format("{} {}", program_type_name(program.type), program.hook);
            const auto refused = unavailable_.find(probe.name);
            probe.attached = out_.skeleton && refused == unavailable_.end() && part_is_whole(program.part);
            if (refused != unavailable_.end())
                probe.reason = refused->second;
            else if (!probe.attached)
                probe.reason = "of no use without the others of its kind";
            probe.instructions = instructions(probe.name);
            see(program.part, probe.attached, sight);
            out_.probes.push_back(std::move(probe));
        }
        for (const auto& choice : functions_) {
            Probe probe;
            probe.name = programs_of(choice).back();
            probe.hook = fmt::format("{} {}", program_type_name(choice.type), choice.facts->name);
            probe.tier = Tier::function;
            probe.attached = out_.skeleton && choice.possible;
            probe.reason = choice.reason;
            probe.instructions = instructions(probe.name);
            if (probe.attached) {
                sight.functions = true;
                sight.pins = sight.pins || choice.facts->is_pin();
                sight.charges = sight.charges || choice.facts->is_charge();
                sight.driver = sight.driver || choice.facts->is_driver();
                sight.capability = sight.capability || choice.facts->number == FUNCTION_security_capable;
            }
            out_.probes.push_back(std::move(probe));
        }
        out_.sight = sight;
    }

    static void see(Part part, bool attached, WindowSight& sight) {
        if (part == Part::syscalls)
            sight.syscalls = attached;
        else if (part == Part::capability)
            sight.capability = attached;
        else if (part == Part::pages)
            sight.pages = attached;
    }

    const SessionOptions& options_;
    std::map<ProgramType, std::string> type_refused_; // "" for those that are taken
    std::map<std::string, std::string> unavailable_;  // plain programs, with the reason
    std::vector<FunctionChoice> functions_;
    Loaded out_;
};

} // namespace

void Loaded::detach() {
    std::vector<std::thread> threads;
    for (auto& uprobe : uprobes)
        threads.emplace_back([&uprobe] { uprobe.reset(); });
    for (auto& thread : threads)
        thread.join();
    uprobes.clear();
    links.clear();
}

std::optional<uint64_t> Loaded::missed(const std::string& program) const {
    const bpf_program* found =
        skeleton ? ::bpf_object__find_program_by_name(skeleton->obj, program.c_str()) : nullptr;
    bpf_prog_info info{};
    uint32_t size = sizeof(info);
    if (found == nullptr || ::bpf_program__fd(found) < 0 ||
        ::bpf_obj_get_info_by_fd(::bpf_program__fd(found), &info, &size) != 0 ||
        size < offsetof(bpf_prog_info, recursion_misses) + sizeof(info.recursion_misses))
        return std::nullopt;
    return info.recursion_misses;
}

Loaded load(const SessionOptions& options) {
    return Loader(options).run();
}

} // namespace pinscope::probes
