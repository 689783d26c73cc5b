import Glibc
import Testing

@testable import CatalogueService

extension OverSockets {
    @Suite("FileBody")
    struct FileBodyTests {
        @Test("a file whose file system has no sendfile is sent all the same")
        func withoutSendfile() throws {
            // The kernel gives this file no splice, on which sendfile stands.
            let file = unsafe open("/proc/self/cmdline", O_RDONLY)
            defer { close(file) }
            var pair: [Int32] = [-1, -1]
            try #require(unsafe socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &pair) == 0)
            let stop = try StopSignal()
            ClientSocket.serving(pair[0], stop: stop, counters: ServiceCounters(seed: 1)) { client in
                #expect(client.sendFile(file, 0..<8, timeout: .seconds(1)) == .unsupported)
                let body = FileBody(file: file, part: 0..<8, client: client, stop: stop, timeout: .seconds(1))
                #expect(body.send(bandwidth: nil))
            }
            var sent = [UInt8](repeating: 0, count: 64)
            var expected = [UInt8](repeating: 0, count: 8)
            #expect(unsafe recv(pair[1], &sent, sent.count, 0) == 8)
            #expect(unsafe pread(file, &expected, expected.count, 0) == 8)
            #expect(Array(sent[..<8]) == expected)
            close(pair[1])
        }
    }
}
