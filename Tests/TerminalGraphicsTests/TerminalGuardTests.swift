import CMarqueeSystem
import Glibc
import SystemSupport
import TestSupport
import TestTraits
import Testing

@Suite("csystem_terminal_guard", .bounded)
struct TerminalGuardTests {
    @Test("each thread that guards has a stack of its own for signals, and frees it when it ends")
    func signalStacks() async {
        await #expect(processExitsWith: .success) {
            let stacks = Shared<[UInt]>([])
            let guarded = Tally()
            let end = Gate()
            for count in 1...2 {
                try BlockingThreads.startThread {
                    var modes = termios()
                    _ = unsafe csystem_terminal_guard(STDOUT_FILENO, &modes, "", 0)
                    var stack = unsafe stack_t()
                    _ = unsafe sigaltstack(nil, &stack)
                    let address = unsafe UInt(bitPattern: stack.ss_sp)
                    stacks.change { $0.append(address) }
                    guarded.add()
                    end.wait()
                }
                try await guarded.wait(for: count)
            }
            csystem_terminal_unguard()
            #expect(Set(stacks.value).count == 2 && !stacks.value.contains(0))
            end.open()
            for address in stacks.value {
                // It fails for an address that is not mapped.
                try await eventually {
                    unsafe msync(UnsafeMutableRawPointer(bitPattern: address), 1, MS_ASYNC) != 0
                }
            }
        }
    }

    @Test("what a dying thread writes does not change while other threads go on guarding")
    func guardsBesideTheEnd() async {
        await #expect(processExitsWith: .success) {
            var name = [CChar](repeating: 0, count: 128)
            let controlling = unsafe name.withUnsafeMutableBufferPointer { buffer in
                unsafe csystem_pty_open(80, 24, buffer.baseAddress, buffer.count)
            }
            let path = String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            let terminal = unsafe csystem_open(path, O_RDWR | O_NOCTTY, 0)
            var modes = termios()
            let isKnown = unsafe tcgetattr(terminal, &modes) == 0
            #expect(isKnown)
            // In place of the process's end: the test goes on.
            signal(SIGTERM) { _ in }
            let limit = Int(CSYSTEM_TERMINAL_LEAVE_LIMIT)
            func guarding(_ letter: String) -> Int32 {
                let leave = [UInt8](repeating: letter.utf8.first ?? 0, count: limit)
                return unsafe csystem_terminal_guard(terminal, &modes, leave, leave.count)
            }
            #expect(guarding("a") == 0)
            // Nobody reads the terminal yet, so that the dying thread has to wait when it has written a part.
            try BlockingThreads.startThread {
                var signals = sigset_t()
                unsafe sigaddset(&signals, SIGTERM)
                unsafe pthread_sigmask(SIG_UNBLOCK, &signals, nil)
                raise(SIGTERM)
            }
            try await eventually { isatty(terminal) == 0 }
            for letter in ["b", "c", "d"] { #expect(guarding(letter) == 0) }
            var left = [UInt8](repeating: 0, count: limit)
            var count = 0
            while count < limit {
                let read = unsafe left[count...].withUnsafeMutableBytes {
                    unsafe Glibc.read(controlling, $0.baseAddress, $0.count)
                }
                try #require(read > 0)
                count += read
            }
            #expect(left.allSatisfy { $0 == UInt8(ascii: "a") })
        }
    }
}
