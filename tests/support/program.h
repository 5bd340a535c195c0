// SPDX-License-Identifier: Apache-2.0
// Runs a program as a test wants it run, and keeps what it said.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>
#include <vector>

namespace pinscope::test {

struct Outcome {
    int status = -1; // of exit, or 128+N for a signal
    std::string out;
    std::string err;
};

struct ProgramOptions {
    // Run in the child before the exec: to drop what the program is not to have. Returns false to give up,
    // which shows as status 199.
    std::function<bool()> before_exec;
    std::string program; // instead of arguments[0]
    std::string input;   // on standard input, which then closes
};

inline constexpr int gave_up = 199;

// Run before before_exec in every child that is to become the program under test.
void set_before_pinscope(std::function<bool()> hook);

Outcome run_program(const std::vector<std::string>& arguments, const ProgramOptions& options = {});

// The program under test: $PINSCOPE_BIN.
std::string pinscope_program();

// The same, run as `pinscope ARGUMENTS…`.
Outcome run_pinscope(std::vector<std::string> arguments, const ProgramOptions& options = {});

// A program that still runs: to be talked to, and to be killed.
class RunningProgram {
  public:
    explicit RunningProgram(const std::vector<std::string>& arguments, const ProgramOptions& options = {});
    ~RunningProgram();
    RunningProgram(const RunningProgram&) = delete;
    RunningProgram& operator=(const RunningProgram&) = delete;

    pid_t pid() const { return pid_; }
    // Reads standard error until `text` is in it; false where it ends, or ten seconds pass, first.
    bool wait_for_error_text(const std::string& text);
    void write_input(const std::string& text) const;
    void send(int signal) const;
    // Waits for the end.
    Outcome finish();

  private:
    pid_t pid_ = -1;
    int input_ = -1;
    int output_ = -1;
    int error_ = -1;
    Outcome outcome_;
};

} // namespace pinscope::test
