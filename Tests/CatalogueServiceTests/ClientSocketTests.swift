import Glibc
import Testing

@testable import CatalogueService

extension OverSockets {
    @Suite("ClientSocket")
    struct ClientSocketTests {
        /// Runs `body` with one end of a pair of sockets and returns the other, which the caller closes.
        private func paired(stop: StopSignal, _ body: (ClientSocket) -> Void) throws -> Int32 {
            var pair: [Int32] = [-1, -1]
            try #require(unsafe socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &pair) == 0)
            ClientSocket.serving(pair[0], stop: stop, counters: ServiceCounters(seed: 1), body)
            return pair[1]
        }

        @Test("once the grace is over nothing more is sent, even to a client that takes it")
        func graceOver() throws {
            let stop = try StopSignal(grace: .zero)
            let peer = try paired(stop: stop) { client in
                #expect(client.send([1, 2], more: false, timeout: .seconds(1)))
                stop.raise()
                #expect(!client.send([3, 4], more: false, timeout: .seconds(1)))
            }
            defer { close(peer) }
            var sent = [UInt8](repeating: 0, count: 64)
            #expect(unsafe recv(peer, &sent, sent.count, 0) == 2)
        }

        @Test("a file whose file system has no sendfile is sent all the same")
        func withoutSendfile() throws {
            // The kernel gives this file no splice, on which sendfile stands.
            let file = unsafe open("/proc/self/cmdline", O_RDONLY)
            defer { close(file) }
            let stop = try StopSignal(grace: .seconds(1))
            let peer = try paired(stop: stop) { client in
                #expect(client.sendFile(file, 0..<8, timeout: .seconds(1)) == .unsupported)
                let body = FileBody(
                    file: file, part: 0..<8, client: client, stop: stop, timeout: .seconds(1))
                #expect(body.send(bandwidth: nil))
            }
            defer { close(peer) }
            var sent = [UInt8](repeating: 0, count: 64)
            var expected = [UInt8](repeating: 0, count: 8)
            #expect(unsafe recv(peer, &sent, sent.count, 0) == 8)
            #expect(unsafe pread(file, &expected, expected.count, 0) == 8)
            #expect(Array(sent[..<8]) == expected)
        }
    }
}
