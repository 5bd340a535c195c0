#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Does pinned CUDA memory hit RLIMIT_MEMLOCK here? The answer of `pinscope pin` where there is only Python.

Usage: pin-test.py [--json] [--mechanism A,B,…] [--memlock SIZE] [--size SIZE] [--timeout SECONDS]
                   [--cuda-lib FILE] [--cudart FILE]

Each mechanism is tried over the limit in a process of its own, without CAP_IPC_LOCK, and where that is refused, with only
the limit lifted, the capability added, or the soft limit moved. mlock's controls show that the limit holds. --json prints
the document that pinscope prints (docs/schema/pin-1.schema.json); what this script cannot see is null.

Exit status: 1 if the limit stops a CUDA mechanism, or one named; 0 if not; 77 if none of those named could be judged; 2 usage.
"""
import argparse
import ctypes
import errno
import glob
import json
import mmap
import os
import resource
import signal
import struct
import subprocess
import sys
import time

PAGE = mmap.PAGESIZE
MIB = 1 << 20
CAP_IPC_LOCK = 14
CAP_SYS_RESOURCE = 24
UNLIMITED = resource.RLIM_INFINITY
RUNTIME_NAMES = ("libcudart.so.13", "libcudart.so.12", "libcudart.so.11.0")

# Name: library, allocating call, its flags. None: memory is registered.
CUDA = {
    "cudaHostAlloc": ("runtime", "cudaHostAlloc", 0),
    "cudaHostAlloc-portable": ("runtime", "cudaHostAlloc", 1),
    "cudaHostAlloc-mapped": ("runtime", "cudaHostAlloc", 2),
    "cudaHostAlloc-writecombined": ("runtime", "cudaHostAlloc", 4),
    "cudaMallocHost": ("runtime", "cudaMallocHost", None),
    "cudaHostRegister": ("runtime", "cudaHostRegister", 0),
    "cudaMallocManaged": ("runtime", "cudaMallocManaged", 1),
    "cuMemHostAlloc": ("driver", "cuMemHostAlloc", 0),
    "cuMemHostRegister": ("driver", "cuMemHostRegister_v2", 0),
}
MECHANISMS = ["mlock"] + list(CUDA)


def read(path):
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return None


def field(text, key):
    """The first word after `key:` in a file of such lines; None where there is none."""
    for line in (text or "").splitlines():
        if line.startswith(key + ":"):
            words = line.split(":", 1)[1].split()
            return words[0] if words else None
    return None


def kib(text, key):
    value = field(text, key)
    return int(value) * 1024 if value and value.isdigit() else None


def capabilities(name):
    return int(field(read("/proc/self/status"), name) or "0", 16)


# --- The trial: in a process of its own -----------------------------------------------------------------------------------

LIBC = ctypes.CDLL(None, use_errno=True)


def set_effective(capability, wanted):
    """capset(2) of this thread: CAP_IPC_LOCK in or out of the effective set."""
    header = struct.pack("Ii", 0x20080522, 0)  # _LINUX_CAPABILITY_VERSION_3
    data = ctypes.create_string_buffer(24)
    if LIBC.capget(header, data) != 0:
        return
    sets = list(struct.unpack("6I", data.raw))
    bit = 1 << capability
    sets[0] = sets[0] | bit if wanted else sets[0] & ~bit
    LIBC.capset(header, struct.pack("6I", *sets))


class Refused(Exception):
    """The call under test was answered with an error."""

    def __init__(self, call, domain, code, name=""):
        super().__init__(call)
        self.call, self.domain, self.code, self.name = call, domain, code, name


class Unsupported(Exception):
    pass


def load(path, what):
    try:
        return ctypes.CDLL(path, mode=ctypes.RTLD_GLOBAL)
    except OSError as error:
        raise Unsupported(str(error)) from error if path else Unsupported(f"there is no {what} here")


def function(library, name, *types):
    try:
        found = getattr(library, name)
    except AttributeError:
        raise Unsupported(f"the library has no {name}") from None
    found.restype, found.argtypes = ctypes.c_int, types
    return found


def start_cuda(kind, driver_path, runtime_path):
    """The library with a context of device 0."""
    driver = None
    if kind == "driver" or driver_path:
        driver = load(driver_path or "libcuda.so.1", "libcuda.so.1")
    if kind == "runtime":
        runtime = load(runtime_path, "libcudart")
        status = function(runtime, "cudaFree", ctypes.c_void_p)(None)
        if status != 0:
            raise Unsupported(f"cudaFree(0) answers {status}")
        return runtime
    device, context = ctypes.c_int(0), ctypes.c_void_p()
    for name, types, values in (
            ("cuInit", [ctypes.c_uint], [0]),
            ("cuDeviceGet", [ctypes.c_void_p, ctypes.c_int], [ctypes.byref(device), 0]),
            ("cuDevicePrimaryCtxRetain", [ctypes.c_void_p, ctypes.c_int], [ctypes.byref(context), 0]),
            ("cuCtxSetCurrent", [ctypes.c_void_p], None)):
        status = function(driver, name, *types)(*(values if values is not None else [context]))
        if status != 0:
            raise Unsupported(f"{name} answers {status}")
    return driver


def anonymous(size):
    memory = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    for at in range(0, size, PAGE):
        memory[at] = 1
    return memory, ctypes.addressof(ctypes.c_char.from_buffer(memory))


def prepare(name, size, libraries):
    """Everything before the request; returns the request, which returns the address."""
    if name == "mlock":
        memory, address = anonymous(size)

        def request():
            request.keep = memory
            if LIBC.mlock(ctypes.c_void_p(address), ctypes.c_size_t(size)) != 0:
                raise Refused("mlock", "errno", ctypes.get_errno(), errno.errorcode.get(ctypes.get_errno(), "?"))
            return address

        return request
    kind, call, flags = CUDA[name]
    library = start_cuda(kind, *libraries)
    domain = "cuda" if kind == "runtime" else "cuda_driver"
    registers = "Register" in call
    types = [ctypes.c_void_p, ctypes.c_size_t] + ([] if flags is None else [ctypes.c_uint])
    made = function(library, call, *types)
    memory, address = anonymous(size) if registers else (None, None)

    def request():
        request.keep = memory
        pointer = ctypes.c_void_p(address)
        arguments = [pointer if registers else ctypes.byref(pointer), size] + ([] if flags is None else [flags])
        status = made(*arguments)
        if status != 0:
            words = "CUDA runtime error" if domain == "cuda" else "CUDA driver error"
            raise Refused(call, domain, status, f"{words} {status}")
        return pointer.value

    return request


def is_mapped(address, size):
    resident = ctypes.create_string_buffer(size // PAGE + 1)
    return bool(address) and LIBC.mincore(ctypes.c_void_p(address), ctypes.c_size_t(size), resident) == 0


def snapshot(at):
    status, vmstat = read("/proc/self/status"), read("/proc/vmstat") or ""
    pins = {line.split()[0]: int(line.split()[1]) for line in vmstat.splitlines() if line.startswith("nr_foll_pin_")}
    out = {"at": at, "pss_bytes": None, "locked_bytes": None}
    for key, name in (("vm_size_bytes", "VmSize"), ("vm_lck_bytes", "VmLck"), ("vm_pin_bytes", "VmPin"),
                      ("rss_anon_bytes", "RssAnon"), ("rss_file_bytes", "RssFile"), ("rss_shmem_bytes", "RssShmem")):
        out[key] = kib(status, name)
    for key in ("usage", "kernel", "anon", "file", "shmem"):
        out[f"cgroup_{key}_bytes"] = None
    out["foll_pin_pages"] = pins["nr_foll_pin_acquired"] - pins["nr_foll_pin_released"] if len(pins) == 2 else None
    return out


def run_trial(arguments):
    """In the child: sets the conditions, carries the trial out, tells after each step as a line of JSON."""
    name, size, soft, hard, cap = arguments[0], int(arguments[1]), int(arguments[2]), int(arguments[3]), arguments[4]
    tell = lambda **words: print(json.dumps(words), flush=True)  # noqa: E731
    resource.setrlimit(resource.RLIMIT_MEMLOCK, (soft, hard))
    set_effective(CAP_IPC_LOCK, cap == "yes")
    now = resource.getrlimit(resource.RLIMIT_MEMLOCK)
    tell(conditions=[now[0], now[1], bool(capabilities("CapEff") >> CAP_IPC_LOCK & 1), os.geteuid()])
    try:
        request = prepare(name, size, arguments[5:7])
    except Unsupported as error:
        return tell(outcome="unsupported", detail=str(error))
    tell(stop="initialised", snapshot=snapshot("initialised"))
    try:
        address = request()
    except Refused as error:
        return tell(outcome="refused", stop="allocated", call=error.call,
                    error={"domain": error.domain, "code": error.code, "name": error.name})
    if not is_mapped(address, size):
        return tell(outcome="not_mapped", stop="allocated",
                    detail="the call succeeded, but there is no memory at the address that it gave")
    tell(stop="allocated", snapshot=snapshot("allocated"))
    memory = (ctypes.c_ubyte * size).from_address(address)
    for at in range(0, size, PAGE):
        memory[at] = at // PAGE * 37 + 11 & 0xff
    tell(stop="touched", snapshot=snapshot("touched"))
    if any(memory[at] != (at // PAGE * 37 + 11 & 0xff) for at in range(0, size, PAGE)):
        return tell(outcome="not_mapped", stop="verified",
                    detail="the call succeeded, but the memory does not hold what was written to it")
    return tell(outcome="granted", stop="verified", snapshot=snapshot("verified"))


# --- The experiment -------------------------------------------------------------------------------------------------------


class Experiment:
    def __init__(self, options, libraries):
        self.options, self.libraries = options, libraries
        self.soft, self.hard = resource.getrlimit(resource.RLIMIT_MEMLOCK)
        self.trials, self.not_run = [], []
        self.may_raise = bool(capabilities("CapEff") >> CAP_SYS_RESOURCE & 1) and user_namespace() != "child"

    def trial(self, name, role, size, soft, cap=False):
        hard = self.hard
        if hard != UNLIMITED and (soft == UNLIMITED or soft > hard):
            if not self.may_raise:
                self.not_run.append({"mechanism": name, "role": role,
                                     "reason": "raising the hard limit takes CAP_SYS_RESOURCE"})
                return None
            hard = soft
        if cap and not capabilities("CapPrm") >> CAP_IPC_LOCK & 1:
            self.not_run.append({"mechanism": name, "role": role, "reason": "CAP_IPC_LOCK is not to be had here"})
            return None
        began = time.monotonic_ns()
        command = [sys.executable, os.path.abspath(__file__), "__trial", name, str(size), str(soft), str(hard),
                   "yes" if cap else "no", *self.libraries]
        out, timed_out, code = b"", False, 0
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL) as child:
            try:
                out, _ = child.communicate(timeout=self.options.timeout)
            except subprocess.TimeoutExpired:
                timed_out = True
                child.kill()
                out, _ = child.communicate()
            code = child.returncode
        trial = judge_end(name, role, size, out, code, timed_out, self.options.timeout)
        trial["duration_ns"] = time.monotonic_ns() - began
        if trial["conditions"]["memlock_soft_bytes"] is not None or trial["conditions"]["memlock_soft_unlimited"]:
            seen = UNLIMITED if trial["conditions"]["memlock_soft_unlimited"] else trial["conditions"]["memlock_soft_bytes"]
            if seen != soft or trial["conditions"]["cap_ipc_lock"] != cap:
                trial["conditions_differ"] = "the limit or the capability is not what was asked for"
        self.trials.append(trial)
        return trial

    def run(self, name, soft, size):
        over = self.trial(name, "over", size, soft)
        if over is None or over["outcome"] in ("granted", "unsupported"):
            return
        lifted = self.trial(name, "limit_lifted", size, min_limit(4 * size, self.hard if not self.may_raise else UNLIMITED)
                            if self.may_raise or self.hard == UNLIMITED or self.hard >= size + 2 * PAGE else 4 * size)
        added = None
        if lifted is None or lifted["outcome"] != "granted":
            added = self.trial(name, "with_cap", size, soft, cap=True)
        if not any(one and one["outcome"] == "granted" for one in (lifted, added)) and self.hard >= 4 * PAGE:
            high = self.hard if self.hard != UNLIMITED else soft
            pair = high // 2 // PAGE * PAGE
            self.trial(name, "soft_low", pair, pair // 2 // PAGE * PAGE)
            self.trial(name, "soft_high", pair, high)
        if name != "mlock":
            self.trial(name, "under", max(PAGE, soft // 2 // PAGE * PAGE), soft)

    def controls(self, soft, size):
        self.trial("mlock", "over", size, soft)
        self.trial("mlock", "with_cap", size, soft, cap=True)
        if soft >= 2 * PAGE:
            self.trial("mlock", "under", soft // 2 // PAGE * PAGE, soft)
        else:
            self.not_run.append({"mechanism": "mlock", "role": "under", "reason": "the limit has no room for a page"})
        return len(self.trials)


def min_limit(a, b):
    return a if b == UNLIMITED else min(a, b)


def limit_fields(name, value):
    return {f"{name}_bytes": None if value in (None, UNLIMITED) else value,
            f"{name}_unlimited": None if value is None else value == UNLIMITED}


def judge_end(name, role, size, out, code, timed_out, timeout):
    """One trial of the document, from what its process told and how it ended."""
    lines = []
    for line in out.decode(errors="replace").splitlines():
        try:
            lines.append(json.loads(line))
        except ValueError:
            pass  # a library that prints
    last = lines[-1] if lines else {}
    seen = next((line["conditions"] for line in lines if "conditions" in line), None)
    snapshots = [line["snapshot"] for line in lines if "snapshot" in line]
    error, detail, outcome = last.get("error"), last.get("detail"), last.get("outcome")
    if timed_out:
        outcome, detail, error = "timeout", f"no answer within {int(timeout * 1000)} ms", None
    elif outcome is None and code < 0:
        outcome = "killed" if -code == signal.SIGKILL else "crashed"
        error = {"domain": "signal", "code": -code, "name": signal.Signals(-code).name}
        detail = f"the trial process died of {signal.Signals(-code).name}"
    elif outcome is None:
        outcome, detail = "crashed", f"the trial process ended with status {code} before its work was done"
    elif outcome == "refused":
        is_limit = error["domain"] != "errno" or error["code"] in (errno.ENOMEM, errno.EPERM)
        outcome = "denied" if is_limit else "failed"
    granted = outcome == "granted"
    deltas = dict.fromkeys(("vm_lck_bytes", "vm_pin_bytes", "user_locked_bytes", "rss_anon_bytes", "rss_shmem_bytes",
                            "rss_file_bytes", "cgroup_bytes", "foll_pin_pages"))
    if len(snapshots) > 1:
        for key in deltas:
            before, after = snapshots[0].get(key), snapshots[-1].get(key)
            deltas[key] = after - before if before is not None and after is not None else None
    conditions = {**limit_fields("memlock_soft", seen[0] if seen else None),
                  **limit_fields("memlock_hard", seen[1] if seen else None),
                  "cap_ipc_lock": seen[2] if seen else None, "cgroup_limit_bytes": None,
                  "cgroup_limit_unlimited": None, "uid": seen[3] if seen else None}
    stops = [line["stop"] for line in lines if "stop" in line]
    return {"mechanism": name, "role": role, "size_bytes": size, "count": 1, "charged_bytes": size if granted else None,
            "free_bytes": 0, "granted_count": int(granted), "held_bytes": size if granted else 0,
            "conditions": conditions, "conditions_differ": None, "outcome": outcome, "error": error,
            "call": last.get("call"), "detail": detail, "last_stop": stops[-1] if stops else None, "deltas": deltas,
            "cgroup_limit_hits": None, "cgroup_oom_kills": None, "duration_ns": 0, "snapshots": snapshots, "window": None}


# --- The verdicts: as userspace/analysis/pin_verdict.cpp has them -----------------------------------------------------------


def size_words(size):
    for unit, factor in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if size % factor == 0 and size:
            return f"{size // factor} {unit}"
    return f"{size} B"


def asked(trial):
    words = {"granted": "granted", "denied": "refused", "failed": "refused"}.get(trial["outcome"], trial["outcome"])
    if trial["error"] and trial["outcome"] in ("denied", "failed"):
        words += f" with {trial['error']['name']} ({trial['call']})"
    limit = trial["conditions"]["memlock_soft_bytes"]
    under = "" if limit is None else f" under a limit of {size_words(limit)}"
    return f"{size_words(trial['size_bytes'])} {words}{under}"


def find_controls(trials, not_run):
    controls = []
    for name, role, expected in (("over_without_cap", "over", "denied"), ("over_with_cap", "with_cap", "granted"),
                                 ("under", "under", "granted")):
        trial = next((one for one in trials if one["role"] == role), None)
        missing = next((one["reason"] for one in not_run if one["mechanism"] == "mlock" and one["role"] == role), "not run")
        if trial is None or trial["conditions_differ"]:
            state, reason = "unavailable", missing if trial is None else trial["conditions_differ"]
        else:
            state, reason = "holds" if trial["outcome"] == expected else "fails", asked(trial)
        controls.append({"name": name, "mechanism": "mlock", "expected": expected,
                         "observed": trial["outcome"] if trial else None, "state": state, "reason": reason})
    return controls


def open_control(controls):
    state = {control["name"]: control["state"] for control in controls}
    if state["over_without_cap"] != "holds":
        return "over_without_cap"
    if state["under"] == "holds" or (state["under"] == "unavailable" and state["over_with_cap"] == "holds"):
        return None
    return "under"


def judge(name, trials, controls):
    by_role = {trial["role"]: trial for trial in trials}
    over = by_role.get("over")
    granted = lambda role: by_role.get(role, {}).get("outcome") == "granted" and not by_role[role]["conditions_differ"]  # noqa: E731
    if over is None:
        return "inconclusive", "it was not tried"
    if over["conditions_differ"]:
        return "inconclusive", f"the conditions did not hold: {over['conditions_differ']}"
    if over["outcome"] == "unsupported":
        return "unsupported", over["detail"]
    if over["outcome"] == "granted":
        if over["conditions"]["memlock_soft_unlimited"] or over["size_bytes"] <= over["conditions"]["memlock_soft_bytes"]:
            return "inconclusive", f"{size_words(over['size_bytes'])} granted, but it is within the limit"
        control = open_control(controls)
        if control:
            return "inconclusive", f"{size_words(over['size_bytes'])} granted, but the control {control} does not hold"
        return "not_enforced", asked(over)
    if over["outcome"] not in ("denied", "failed"):
        return "inconclusive", f"{size_words(over['size_bytes'])}: {over['detail']}"
    for role, words in (("limit_lifted", "granted with the limit lifted"), ("with_cap", "granted with CAP_IPC_LOCK")):
        if granted(role):
            kind = "enforced" if over["outcome"] == "denied" else "inconclusive"
            return kind, f"{asked(over)}; {words}"
    low = by_role.get("soft_low")
    if low and low["outcome"] == "denied" and granted("soft_high"):
        return "enforced", f"{asked(over)}; {size_words(low['size_bytes'])} refused and granted as the soft limit moves"
    refused = next((by_role[role] for role in ("limit_lifted", "with_cap", "soft_high")
                    if by_role.get(role, {}).get("outcome") in ("denied", "failed")), None)
    if refused:
        under = by_role.get("under", {}).get("outcome")
        size = {"granted": "; smaller sizes are granted: it depends on the size",
                "denied": "; smaller ones are refused too: it does so at any size"}.get(under, "")
        return "blocked_elsewhere", f"refused without the limit too: {asked(over)}{size}"
    return "inconclusive", f"{asked(over)}, and nothing to compare with"


# --- The document ---------------------------------------------------------------------------------------------------------


def user_namespace():
    text = read("/proc/self/uid_map")
    return None if text is None else "initial" if text.split() == ["0", "0", "4294967295"] else "child"


def number(path):
    text = read(path)
    return int(text) if text and text.strip().lstrip("-").isdigit() else None


def host(candidates, usable, detail):
    soft, hard = resource.getrlimit(resource.RLIMIT_MEMLOCK)
    effective, meminfo = capabilities("CapEff"), read("/proc/meminfo")
    version = read("/proc/driver/nvidia/version") or ""
    driver = next((word for word in version.split() if word.count(".") >= 1 and word.replace(".", "").isdigit()), None)
    return {"kernel": os.uname().release,
            "cgroup": dict.fromkeys(("version", "path", "limit_bytes", "limit_unlimited", "usage_bytes", "oom_group")),
            "memlock": {**limit_fields("soft", soft), **limit_fields("hard", hard)},
            "cap_ipc_lock": bool(effective >> CAP_IPC_LOCK & 1),
            "cap_ipc_lock_permitted": bool(capabilities("CapPrm") >> CAP_IPC_LOCK & 1),
            "cap_ipc_lock_bounding": bool(capabilities("CapBnd") >> CAP_IPC_LOCK & 1),
            "cap_sys_resource": bool(effective >> CAP_SYS_RESOURCE & 1), "user_namespace": user_namespace(),
            "container": None, "virtualisation": None, "uid": os.geteuid(),
            "memory_total_bytes": kib(meminfo, "MemTotal"), "memory_available_bytes": kib(meminfo, "MemAvailable"),
            "overcommit_memory": number("/proc/sys/vm/overcommit_memory"),
            "perf_event_paranoid": number("/proc/sys/kernel/perf_event_paranoid"), "perf_free_bytes": None,
            "nvidia_driver": driver,
            "cuda_library": {"usable": usable, "detail": detail, "driver": candidates[0], "runtime": candidates[1],
                             "ld_library_path": None}}


def candidate(path, found_by, loads):
    return {"path": path, "found_by": found_by, "version": None, "taken": loads == "", "reason": loads or None}


def why_not_loaded(path):
    """Empty if it can be loaded; tried in a process of its own, since a library may do anything."""
    code = "import ctypes,sys\ntry: ctypes.CDLL(sys.argv[1])\nexcept OSError as error: print(error)"
    done = subprocess.run([sys.executable, "-c", code, path], capture_output=True, text=True, check=False)
    return done.stdout.strip() or ("" if done.returncode == 0 else f"loading it ended with status {done.returncode}")


def hunt(options):
    """The candidates for both libraries; the first that can be loaded is taken."""
    packages = [os.path.join(path, "nvidia", part, "lib") for path in sys.path for part in ("cu13", "cuda_runtime")]
    places = {0: [(options.cuda_lib, "named by the user")] if options.cuda_lib else [("libcuda.so.1", "the loader")],
              1: [(options.cudart, "named by the user")] if options.cudart else
                 [(name, "the loader") for name in RUNTIME_NAMES] +
                 [(file, "a Python package") for folder in packages for file in sorted(glob.glob(folder + "/libcudart.so.*"))] +
                 [(file, "the CUDA toolkit") for file in sorted(glob.glob("/usr/local/cuda*/lib64/libcudart.so.[0-9]*"))]}
    found = ([], [])
    for which, files in places.items():
        for path, found_by in files:
            if os.path.isdir(path):
                path = next(iter(sorted(glob.glob(os.path.join(path, ("libcuda.so.1", "libcudart.so.[0-9]*")[which])))), path)
            reason = why_not_loaded(path)
            if reason == "" and any(one["taken"] for one in found[which]):
                reason = "another comes before it"
            found[which].append(candidate(path, found_by, reason))
    return found


def taken(candidates):
    return next((one["path"] for one in candidates if one["taken"]), "")


def size_option(text):
    units = {"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "": 1}
    digits = text.rstrip("KMGiB")
    try:
        return int(digits) * units[text[len(digits):]]
    except (KeyError, ValueError):
        raise argparse.ArgumentTypeError(f"'{text}' is no size: write 8MiB, 64KiB, 1GiB or bytes") from None


def parse(arguments):
    parser = argparse.ArgumentParser(prog="pin-test.py", description=__doc__.split("\n\n", 1)[0], allow_abbrev=False)
    parser.add_argument("--json", action="store_true", help="one JSON document")
    parser.add_argument("--mechanism", metavar="A,B,…", help=f"only these of {', '.join(MECHANISMS)}")
    parser.add_argument("--memlock", metavar="SIZE", type=size_option, help="the soft limit to try under")
    parser.add_argument("--size", metavar="SIZE", type=size_option, help="what each pin asks for")
    parser.add_argument("--timeout", metavar="SECONDS", type=float, default=60)
    parser.add_argument("--cuda-lib", metavar="FILE", help="this libcuda.so.1, or the folder it is in")
    parser.add_argument("--cudart", metavar="FILE", help="this libcudart.so.N, likewise")
    options = parser.parse_args(arguments)
    options.names = options.mechanism.split(",") if options.mechanism else MECHANISMS
    for name in options.names:
        if name not in MECHANISMS:
            parser.error(f"there is no mechanism '{name}' here: choose from {', '.join(MECHANISMS)}")
    return options


def main(arguments):
    if arguments[:1] == ["__trial"]:
        run_trial(arguments[1:])
        return 0
    options = parse(arguments)
    began = time.monotonic_ns()
    candidates = hunt(options)
    usable = bool(taken(candidates[0]))
    detail = None if usable else "; ".join(one["reason"] for one in candidates[0])
    experiment = Experiment(options, [taken(candidates[0]), taken(candidates[1])])
    soft = options.memlock
    if soft is None:
        soft = experiment.soft if experiment.soft != UNLIMITED and experiment.soft <= 24 * MIB else 8 * MIB
    size = -(-(options.size or max(2 * soft, soft + MIB)) // PAGE) * PAGE
    count = experiment.controls(soft, max(2 * soft, soft + MIB))
    for name in options.names:
        experiment.run(name, soft, size)
    controls = find_controls(experiment.trials[:count], experiment.not_run)
    verdicts = []
    for name in options.names:
        mine = [trial for trial in experiment.trials[count:] if trial["mechanism"] == name]
        kind, reason = judge(name, mine, controls)
        verdicts.append({"mechanism": name, "verdict": kind, "tier": "user", "reason": reason,
                         "evidence": [f"{trial['role']}: {asked(trial)}" for trial in mine]})
    document = describe(options, candidates, (usable, detail), experiment, controls, verdicts, soft)
    document["duration_ns"] = time.monotonic_ns() - began
    if options.json:
        print(json.dumps(document, indent=2, ensure_ascii=False))
    else:
        print(f"{'CUDA':<10}{document['cuda']}\n")
        for verdict in verdicts:
            print(f"{verdict['mechanism']:<28}  {verdict['verdict'].replace('_', ' '):<17}  {verdict['reason']}")
        print(f"\n{'Controls':<10}" + ", ".join(f"{one['name']} {one['state']}" for one in controls))
    counts = [one["verdict"] for one in verdicts if options.mechanism or one["mechanism"] in CUDA]
    if "enforced" in counts:
        return 1
    return 77 if options.mechanism and not {"not_enforced", "blocked_elsewhere"} & set(counts) else 0


def describe(options, candidates, library, experiment, controls, verdicts, soft):
    kinds = ("enforced", "not_enforced", "blocked_elsewhere", "unsupported", "inconclusive")
    named = {kind: [one["mechanism"] for one in verdicts if one["verdict"] == kind and one["mechanism"] in CUDA] for kind in kinds}
    parts = [f"{words} {', '.join(named[kind])}" for kind, words in
             (("enforced", "the limit stops"), ("not_enforced", "the limit does not stop"),
              ("blocked_elsewhere", "for another reason fail"), ("inconclusive", "inconclusive:")) if named[kind]]
    summary = {"mechanisms": len(verdicts), **{kind: sum(one["verdict"] == kind for one in verdicts) for kind in kinds}}
    for state in ("holds", "fails", "unavailable"):
        summary[f"controls_{state}"] = sum(one["state"] == state for one in controls)
    return {"schema": "pinscope.pin/1", "tool_version": "pin-test.py", "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
            "duration_ns": 0, "cuda": "; ".join(parts) or f"not judged: {library[1] or 'it was not asked about'}",
            "host": host(candidates, *library),
            "question": {**limit_fields("memlock_soft", soft), "memlock_because": None, "cap_ipc_lock": False,
                         "size_bytes": options.size, "like_pid": None},
            "leaf": {"folder": None, "shared_because": "pin-test.py makes no cgroup"}, "tier": "user", "summary": summary,
            "lost": {"windows": 0, "missed_runs": 0}, "probes": [],
            "missing": [{"what": "the kernel's side, and memory cgroups", "reason": "pin-test.py is Python alone",
                         "would_add": "who decided, and what was charged: use pinscope"}],
            "controls": controls, "verdicts": verdicts, "advice": [], "shared_budgets": [], "sweeps": [],
            "mechanisms": [{"name": name, "summary": "mlock(2)" if name == "mlock" else CUDA[name][1], "over_limit": [],
                            "budgets": ["locked_vm"] if name == "mlock" else [], "source": "docs/pin.md and docs/cuda.md of pinscope"}
                           for name in options.names],
            "trials": experiment.trials, "not_run": experiment.not_run}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
