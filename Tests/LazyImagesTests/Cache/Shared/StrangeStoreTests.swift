import FoundationEssentials
import TestSupport
import TestTraits
import Testing

import LazyImages

/// Stores that we did not write.
@Suite("Stores that we did not write", .bounded)
struct StrangeStoreTests {
    @Test("nginx with DAV", .enabled(if: NginxDAV.isInstalled, "nginx with its DAV module is not installed"))
    func nginx() async throws {
        let server = try await NginxDAV()
        let key = try SharedFixture.key()
        let address = "http://127.0.0.1:\(server.port)/kept"
        let writer = try SharedFixture.tier(address)
        // Above a mebibyte the server is asked before the body is sent.
        let large = variedBytes(3 << 19)
        writer.put(key, large)
        writer.put(try SharedFixture.key(1))
        await writer.flush()
        #expect(writer.traffic.writes == 2 && writer.traffic.failures == 0)
        let path = "/kept/\(key.digest.hexadecimal.prefix(2))/\(key.digest.hexadecimal)"
        #expect(server.contents(path)?.count ?? 0 > large.count)
        let reader = try SharedFixture.tier(address)
        #expect(await reader.body(key) == large)
        #expect(await reader.body(try SharedFixture.key(2)) == nil)
        reader.remove(key)
        // Nothing is there to be removed: that is as good.
        reader.remove(try SharedFixture.key(2))
        await reader.flush()
        #expect(server.contents(path) == nil)
        #expect(reader.traffic.removals == 2 && reader.traffic.failures == 0 && reader.traffic.misses == 1)
    }

    @Test(
        "a full disk under nginx is no error", .enabled(if: NginxDAV.isInstalled, "nginx is not installed"))
    func nginxWithoutRoom() async throws {
        let server = try await NginxDAV()
        let tier = try SharedFixture.tier("http://127.0.0.1:\(server.port)/kept")
        // A file stands where the folder would be made.
        let key = try SharedFixture.key()
        let folder = server.file("/kept/" + key.digest.hexadecimal.prefix(2))
        try FileManager.default.createDirectory(
            atPath: server.file("/kept"), withIntermediateDirectories: true)
        try Data().write(to: URL(filePath: folder))
        tier.put(key)
        await tier.flush()
        #expect(tier.traffic.failures > 0 && tier.traffic.writes == 0)
        #expect(await tier.body(key) == nil)
    }

    @Test("moto, an S3 server", .enabled(if: S3Server.isInstalled, "python3 has no moto[server]"))
    func s3() async throws {
        let server = try await S3Server()
        let environment = ["AWS_ACCESS_KEY_ID": "AKIDEXAMPLE", "AWS_SECRET_ACCESS_KEY": "secret"]
        func tier() throws -> SharedTier {
            try SharedFixture.tier(
                "s3+http://127.0.0.1:\(server.port)/films/posters", environment: environment)
        }
        let (writer, reader) = (try tier(), try tier())
        let key = try SharedFixture.key()
        writer.put(key)
        await writer.flush()
        #expect(writer.traffic.writes == 1, "\(writer.traffic)")
        #expect(await reader.body(key) == SharedFixture.body)
        #expect(await reader.body(try SharedFixture.key(1)) == nil)
        reader.remove(key)
        await reader.flush()
        #expect(reader.traffic.removals == 1 && reader.traffic.misses == 1)
        #expect(reader.traffic.failures == 0)
        #expect(await writer.body(key) == nil)
    }
}
