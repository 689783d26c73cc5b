import FoundationEssentials
import TestSupport
import Testing

/// A running `marquee serve` with an admin listener, and both ports.
struct Service {
    let program: Program
    let port, admin: UInt16
    /// What is served, kept as long as the service.
    private let fixture: Fixture?

    /// - Parameters:
    ///   - path: the folder or library to serve.
    ///   - words: further options.
    ///   - fixture: is released after the service. Default: none.
    init(
        _ path: String, _ words: [String], environment: [String: String] = [:],
        keeping fixture: Fixture? = nil
    ) async throws {
        self.fixture = fixture
        program = try Program(
            ["serve", path, "--json"] + words,
            environment: ["MARQUEE_ADMIN": "127.0.0.1:0"].merging(environment) { $1 })
        let object = try JSON.object(try #require(await program.nextLine()))
        (port, admin) = (
            try Self.port(of: object["url"] as? String), try Self.port(of: object["admin"] as? String)
        )
    }

    var url: String { "http://127.0.0.1:\(port)/" }

    func ready() throws -> Int { try RawClient(port: admin).get("/health/ready").status }

    /// The port of an address that a service prints.
    fileprivate static func port(of address: String?) throws -> UInt16 {
        try #require(address.flatMap { URLComponents(string: $0)?.port.flatMap { UInt16(exactly: $0) } })
    }
}

extension Program {
    /// The port of the address in the next line.
    func nextPort() async throws -> UInt16 { try Service.port(of: await nextLine()) }
}
