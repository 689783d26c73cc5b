import Glibc
import TestSupport
import TestTraits
import Testing

@testable import HTTPServer

extension OverSockets {
    @Suite("Listener", .bounded)
    struct ListenerTests {
        @Test(
            "a stop ends the listening, although a starting program has a duplicate of the descriptor")
        func copiedDescriptor() throws {
            let listener = try Listener(.internet(address: "127.0.0.1", port: 0))
            let copy = dup(try #require(listener.waitable))
            defer { close(copy) }
            #expect(isListening(copy))
            listener.stop()
            #expect(!isListening(copy))
        }

        @Test("a Unix domain socket replaces one whose server was killed, and no other")
        func local() throws {
            let folder = try TemporaryFolder()
            let path = folder.file("socket")
            let first = try Listener(.local(path: path))
            #expect(throws: HTTPServerError.pathInUse(path)) { try Listener(.local(path: path)) }
            // The state after a kill: the name exists, and nothing listens.
            shutdown(try #require(first.waitable), Int32(SHUT_RDWR))
            let second = try Listener(.local(path: path))
            #expect(isListening(try #require(second.waitable)))
            second.stop()
            #expect(unsafe access(path, F_OK) != 0)
            let long = folder.file(String(repeating: "x", count: 200))
            #expect(throws: HTTPServerError.invalidPath(long)) { try Listener(.local(path: long)) }
            let absent = folder.file("none/socket")
            #expect(throws: HTTPServerError.pathRefused(absent, errno: ENOENT)) {
                try Listener(.local(path: absent))
            }
        }

        @Test("a local socket has the wanted permissions")
        func mode() throws {
            let folder = try TemporaryFolder()
            let path = folder.file("socket")
            for mode: UInt32 in [0o660, 0o600, 0o777] {
                let listener = try Listener(.local(path: path), mode: mode)
                var status = stat()
                #expect(unsafe stat(path, &status) == 0 && status.st_mode & 0o777 == mode)
                listener.stop()
            }
        }

        private func isListening(_ socket: Int32) -> Bool {
            var answer: Int32 = 0
            var length = socklen_t(MemoryLayout<Int32>.size)
            return unsafe getsockopt(socket, SOL_SOCKET, SO_ACCEPTCONN, &answer, &length) == 0 && answer != 0
        }
    }
}
