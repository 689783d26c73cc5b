import Glibc
import Testing

@testable import CatalogueService

extension OverSockets {
    @Suite("Listener")
    struct ListenerTests {
        @Test(
            "a stop ends the listening, though a program that is being started has a copy of the descriptor")
        func copiedDescriptor() throws {
            let listener = try Listener(address: "127.0.0.1", port: 0)
            let copy = dup(try #require(listener.waitable))
            defer { close(copy) }
            #expect(isListening(copy))
            listener.stop()
            #expect(!isListening(copy))
        }

        private func isListening(_ socket: Int32) -> Bool {
            var answer: Int32 = 0
            var length = socklen_t(MemoryLayout<Int32>.size)
            return unsafe getsockopt(socket, SOL_SOCKET, SO_ACCEPTCONN, &answer, &length) == 0 && answer != 0
        }
    }
}
