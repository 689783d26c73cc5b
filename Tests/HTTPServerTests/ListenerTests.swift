import FoundationEssentials
import Glibc
import SystemSupport
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

        @Test("whatever is not a socket stays at the path, and the error says what it is and what to do")
        func others() throws {
            let folder = try TemporaryFolder()
            let path = folder.file("films.db")
            let socket = try Listener(.local(path: folder.file("socket")))
            defer { socket.stop() }
            let dead = folder.file("dead")
            #expect(unsafe link(folder.file("socket"), dead) == 0)
            shutdown(try #require(socket.waitable), Int32(SHUT_RDWR))
            let cases: [(make: () throws -> Bool, words: String)] = [
                ({ FileManager.default.createFile(atPath: path, contents: Data("SQLite".utf8)) }, "a file"),
                ({ unsafe mkdir(path, 0o700) == 0 }, "a folder"),
                ({ unsafe symlink(dead, path) == 0 }, "a link to \(dead)"),
                ({ unsafe symlink("nowhere", path) == 0 }, "a link to nowhere"),
                ({ unsafe mkfifo(path, 0o600) == 0 }, "a pipe"),
            ]
            for (make, words) in cases {
                #expect(try make())
                let before = try identity(path)
                let error = #expect(throws: HTTPServerError.self) { try Listener(.local(path: path)) }
                let text = error.map { "\($0)" } ?? ""
                #expect(text.contains(words) && text.contains(path) && text.contains("choose another path"))
                #expect(try identity(path) == before)
                #expect(unsafe unlink(path) == 0 || rmdir(path) == 0)
            }
        }

        @Test("a server that stops leaves the socket of its successor, and any file that has taken its path")
        func successor() throws {
            let folder = try TemporaryFolder()
            let path = folder.file("socket")
            let first = try Listener(.local(path: path))
            #expect(unsafe unlink(path) == 0)
            let second = try Listener(.local(path: path))
            first.stop()
            #expect(try RawClient(path: path).descriptor >= 0)
            #expect(unsafe unlink(path) == 0)
            #expect(FileManager.default.createFile(atPath: path, contents: Data("kept".utf8)))
            second.stop()
            #expect(FileManager.default.contents(atPath: path) == Data("kept".utf8))
        }

        @Test(
            "of servers that start at once at one path, one has it, whether a dead socket is there or nothing"
        )
        func race() async throws {
            let folder = try TemporaryFolder()
            for round in 0..<Rounds.count(60, many: 1000) {
                let path = folder.file("\(round)")
                if round % 2 == 0 {
                    let dead = try Listener(.local(path: path))
                    shutdown(try #require(dead.waitable), Int32(SHUT_RDWR))
                    // The path outlives it, as after a kill.
                    #expect(unsafe link(path, path + "-kept") == 0)
                    dead.stop()
                    #expect(unsafe rename(path + "-kept", path) == 0)
                }
                let start = Gate()
                let (found, ready, ended) = (Shared<[Listener]>([]), Tally(), Tally())
                for _ in 0..<4 {
                    try BlockingThreads.startThread {
                        ready.add()
                        start.wait()
                        // Ignored: all but one fail.
                        if let listener = try? Listener(.local(path: path)) {
                            found.change { $0.append(listener) }
                        }
                        ended.add()
                    }
                }
                try await ready.wait(for: 4)
                start.open()
                try await ended.wait(for: 4)
                #expect(found.value.count == 1, "round \(round)")
                #expect(try RawClient(path: path).descriptor >= 0)
                for listener in found.value { listener.stop() }
                #expect(unsafe access(path, F_OK) != 0)
            }
        }

        /// What tells a file from another one at the same path.
        private func identity(_ path: String) throws -> [UInt64] {
            var status = stat()
            try #require(unsafe lstat(path, &status) == 0)
            return [UInt64(status.st_dev), UInt64(status.st_ino), UInt64(status.st_size)]
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
