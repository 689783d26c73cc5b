import FoundationEssentials
import HTTPSemantics

/// `marquee token [ADDRESS]`: the token for writing to a service that this user runs.
enum TokenCommand: Command {
    static let specification = CommandSpecification(
        name: "token", operands: "[ADDRESS]", operandCount: 0...1,
        summary: "print the token for writing to your own running service",
        examples: [
            ("marquee token", "of the only service that runs"),
            ("marquee token 127.0.0.1:8080", "of the one at this address; also unix:PATH"),
            ("curl -H \"Authorization: Bearer $(marquee token)\" -d title=A URL/films", "with curl"),
        ],
        notes: [
            "A service that was started without --token-file makes a token and keeps it in a file that only you can read, until it ends."
        ])

    static func run(_ session: Session) async throws -> ExitStatus {
        let token = try token(session.arguments.operands.first, among: KeptToken.all())
        session.print(["address": token.address, "token": token.value], orLine: token.value)
        return .done
    }

    /// The token of the service that an operand names.
    static func token(_ operand: String?, among tokens: [KeptToken]) throws -> KeptToken {
        let matching = tokens.filter { token in operand.map { matches(token.address, $0) } ?? true }
        if matching.count == 1, let token = matching.first { return token }
        guard !tokens.isEmpty else {
            throw Failure(
                "you run no service that has made a token; start one with marquee serve LIBRARY.db --writable, "
                    + "or use the token of its --token-file")
        }
        let list = tokens.map(\.address).joined(separator: ", ")
        throw Failure("name one of your services: \(list)")
    }

    /// Whether an operand names a service's address: `http://127.0.0.1:8080/`, `127.0.0.1:8080`, `:8080`, `8080`,
    /// `unix:/run/marquee.sock`.
    private static func matches(_ address: String, _ operand: String) -> Bool {
        if operand.hasPrefix("unix:") { return address == "unix:" + absolute(String(operand.dropFirst(5))) }
        guard let origin = WebOrigin(address) else { return false }
        let port = operand.hasPrefix(":") ? String(operand.dropFirst()) : operand
        if let port = Int(port) { return origin.port == port }
        guard let wanted = WebOrigin(operand.contains("://") ? operand : "http://\(operand)") else {
            return false
        }
        return wanted.port == origin.port
            && (wanted.host == origin.host
                || wanted.host == "localhost" && HostAndPort(operand)?.isLoopback ?? true)
    }

    /// The path of a local socket as the service's file names it.
    static func absolute(_ path: String) -> String {
        path.hasPrefix("/") ? path : FileManager.default.currentDirectoryPath + "/" + path
    }
}
