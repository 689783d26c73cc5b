import CSystem
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
}
