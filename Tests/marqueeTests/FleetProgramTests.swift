import Foundation
import Glibc
import HTTPSemantics
import TestSupport
import TestTraits
import Testing

@Suite("marquee with several picture services", .bounded)
struct FleetProgramTests {
    /// An instance of the picture service, whose pictures come from the service of a fixture.
    private func instance(_ origin: Fixture, _ words: String...) async throws -> Service {
        try await Service(
            origin.folder.path,
            [
                "--quiet", "--source", "127.0.0.1:\(origin.service.port)", "--allow-private", "127.0.0.0/8",
                "--drain", "0", "--cache-dir", origin.home.file("instance-\(UUID().uuidString)"),
            ] + words, keeping: origin)
    }

    @Test("prewarm --through asks a service for all its films' posters at each size, once")
    func films() async throws {
        let origin = try Fixture()
        let instance = try await instance(origin)
        let outcome = try await Program.run(
            ["prewarm", "--through", instance.url, "--sizes", "w92,w154", "--json"],
            environment: ["HOME": origin.home.path])
        #expect(outcome.status == 0, "\(outcome.errorText)")
        let urls = try JSON.lines(outcome).compactMap { $0["url"] as? String }
        let wanted = (1...6).flatMap { film in
            ["w92", "w154"].map { "\(instance.url)films/film-\(film)/poster/\($0)" }
        }
        #expect(Set(urls) == Set(wanted) && urls.count == 12)
        // Nothing is kept by the program that asks.
        #expect(try origin.entries().isEmpty)
    }

    @Test("prewarm --through asks for a manifest's pictures, and names the ones that fail")
    func manifest() async throws {
        let origin = try Fixture()
        let instance = try await instance(origin)
        let list = """
            \(origin.base)posters/1.png
            \(origin.base)posters/none.png
            ftp://127.0.0.1/a.png
            https://elsewhere.example/a.png
            """
        let words = ["prewarm", "-", "--through", instance.url, "--sizes", "w92", "--sizes", "w154"]
        let outcome = try await Program.run(words, input: list, environment: ["HOME": origin.home.path])
        #expect(outcome.status == 1)
        #expect(outcome.errorText.contains("marquee: 2 fetched ("), "\(outcome.errorText)")
        #expect(outcome.errorText.contains("5 failed"))
        #expect(outcome.errorText.contains("none.png at w154: the server answered 404"))
        #expect(outcome.errorText.contains("elsewhere.example/a.png at w92: the server answered 403"))
        #expect(outcome.errorText.contains("line 3: ftp://127.0.0.1/a.png"))
        // The picture's source was fetched once for both sizes, the missing one once or, after its 404, again.
        #expect((2...3).contains(origin.service.statistics.requests))
    }

    @Test("prewarm --through signs addresses where a key is given")
    func signed() async throws {
        let origin = try Fixture()
        let keys = try origin.home.write("\(String(repeating: "0123456789abcdef", count: 4))\n", to: "keys")
        let instance = try await instance(origin, "--sign-key-file", keys)
        let words = ["prewarm", "-", "--through", instance.url, "--sizes", "w77", "-q"]
        let list = origin.base + "posters/1.png"
        #expect(try await Program.run(words, input: list).status == 2)
        #expect(try await Program.run(words + ["--sign-key-file", keys], input: list).status == 0)
    }

    @Test("purge reaches every instance; one that is down is named, and the status is 1")
    func purge() async throws {
        let origin = try Fixture()
        let instances = [try await instance(origin), try await instance(origin)]
        let source = origin.base + "posters/1.png"
        let path = "image/-/w92/" + Base64URL.encode(source.utf8)
        func status(of instance: Service) throws -> String? {
            try RawClient(port: instance.port).get("/" + path).fields["cache-status"]
        }
        let members = try origin.home.write(
            instances.map { "127.0.0.1:\($0.admin)\n" }.joined(), to: "members")
        let words = ["purge", source, "--admin-file", members]
        for instance in instances {
            _ = try status(of: instance)
            #expect(try status(of: instance)?.hasPrefix("marquee; hit") == true)
        }
        #expect(try await Program.run(words).status == 0)
        for instance in instances { #expect(try status(of: instance)?.contains("fwd=") == true) }

        let closed = try ClosedPort()
        let down = "127.0.0.1:\(closed.port)"
        try origin.home.write("127.0.0.1:\(instances[0].admin)\n\(down)\n", to: "members")
        _ = try status(of: instances[0])
        let partly = try await Program.run(words)
        #expect(partly.status == 1)
        #expect(partly.errorText.contains("\(down) may still have the pictures"))
        #expect(try status(of: instances[0])?.contains("fwd=") == true)
        #expect(try await Program.run(["purge", source, "--admin", down]).status == 2)
    }
}
