// SPDX-License-Identifier: Apache-2.0
#include "support/program.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <stdexcept>

namespace pinscope::test {
namespace {

std::function<bool()>& hook_of_pinscope() {
    static std::function<bool()> hook;
    return hook;
}

struct Pipe {
    int reading = -1;
    int writing = -1;

    Pipe() {
        std::array<int, 2> ends{};
        if (::pipe2(ends.data(), O_CLOEXEC) != 0)
            throw std::runtime_error("cannot make a pipe");
        reading = ends[0];
        writing = ends[1];
    }
};

[[noreturn]] void be_program(const std::vector<std::string>& arguments, const ProgramOptions& options, int in,
                             int out, int err) {
    ::dup2(in, STDIN_FILENO);
    ::dup2(out, STDOUT_FILENO);
    ::dup2(err, STDERR_FILENO);
    const auto& general = hook_of_pinscope();
    const bool is_pinscope = arguments.at(0) == pinscope_program();
    if ((is_pinscope && general && !general()) || (options.before_exec && !options.before_exec()))
        ::_exit(gave_up);
    std::vector<char*> words;
    words.reserve(arguments.size() + 1);
    for (const auto& argument : arguments)
        words.push_back(const_cast<char*>(argument.c_str()));
    words.push_back(nullptr);
    const std::string& program = options.program.empty() ? arguments.at(0) : options.program;
    ::execvp(program.c_str(), words.data());
    ::_exit(gave_up);
}

// Appends what can be read; false at the end of the file.
bool read_some(int fd, std::string& text) {
    std::array<char, 4096> block{};
    const ssize_t got = ::read(fd, block.data(), block.size());
    if (got > 0)
        text.append(block.data(), static_cast<size_t>(got));
    return got > 0 || (got < 0 && errno == EINTR);
}

} // namespace

void set_before_pinscope(std::function<bool()> hook) {
    hook_of_pinscope() = std::move(hook);
}

RunningProgram::RunningProgram(const std::vector<std::string>& arguments, const ProgramOptions& options) {
    const Pipe in;
    const Pipe out;
    const Pipe err;
    pid_ = ::fork();
    if (pid_ < 0)
        throw std::runtime_error("cannot fork");
    if (pid_ == 0)
        be_program(arguments, options, in.reading, out.writing, err.writing);
    ::close(in.reading);
    ::close(out.writing);
    ::close(err.writing);
    input_ = in.writing;
    output_ = out.reading;
    error_ = err.reading;
}

RunningProgram::~RunningProgram() {
    if (pid_ > 0) {
        ::kill(pid_, SIGKILL);
        (void)finish();
    }
    for (const int fd : {input_, output_, error_})
        if (fd >= 0)
            ::close(fd);
}

bool RunningProgram::wait_for_error_text(const std::string& text) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (outcome_.err.find(text) == std::string::npos) {
        pollfd wanted{error_, POLLIN, 0};
        if (std::chrono::steady_clock::now() > deadline)
            return false;
        if (::poll(&wanted, 1, 100) > 0 && !read_some(error_, outcome_.err))
            return outcome_.err.find(text) != std::string::npos;
    }
    return true;
}

void RunningProgram::write_input(const std::string& text) const {
    // A program that does not read is no failure of the test's.
    ::signal(SIGPIPE, SIG_IGN);
    (void)!::write(input_, text.data(), text.size());
}

void RunningProgram::send(int signal) const {
    ::kill(pid_, signal);
}

Outcome RunningProgram::finish() {
    if (pid_ <= 0)
        return outcome_;
    if (input_ >= 0)
        ::close(input_);
    input_ = -1;
    bool out_open = true;
    bool err_open = true;
    while (out_open || err_open) {
        std::array<pollfd, 2> wanted = {
            {{out_open ? output_ : -1, POLLIN, 0}, {err_open ? error_ : -1, POLLIN, 0}}};
        if (::poll(wanted.data(), wanted.size(), -1) < 0)
            continue;
        if (wanted[0].revents != 0)
            out_open = read_some(output_, outcome_.out);
        if (wanted[1].revents != 0)
            err_open = read_some(error_, outcome_.err);
    }
    int status = 0;
    while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    pid_ = -1;
    outcome_.status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    return outcome_;
}

Outcome run_program(const std::vector<std::string>& arguments, const ProgramOptions& options) {
    RunningProgram program(arguments, options);
    if (!options.input.empty())
        program.write_input(options.input);
    return program.finish();
}

std::string pinscope_program() {
    const char* program = std::getenv("PINSCOPE_BIN"); // NOLINT(concurrency-mt-unsafe)
    if (program == nullptr)
        throw std::runtime_error("PINSCOPE_BIN does not name the program under test");
    return program;
}

Outcome run_pinscope(std::vector<std::string> arguments, const ProgramOptions& options) {
    arguments.insert(arguments.begin(), pinscope_program());
    return run_program(arguments, options);
}

} // namespace pinscope::test
