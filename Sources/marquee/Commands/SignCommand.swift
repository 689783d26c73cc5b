import FoundationEssentials
import HTTPSemantics
import LazyImages
import PictureServer

/// `marquee sign URL RECIPE`: the address of a picture at a size that the picture service does not offer to everyone.
enum SignCommand: Command {
    static let specification = CommandSpecification(
        name: "sign", operands: "URL RECIPE", operandCount: 2...2,
        summary: "sign the address of a picture at any size",
        examples: [
            ("marquee sign URL 342x513.fill --sign-key-file keys", "the path behind the service's address"),
            ("marquee sign URL w999.e1790000000 --sign-key-file keys", "one that expires"),
        ],
        options: [
            Option(
                name: "sign-key-file", value: "FILE",
                help: "the keys, one on each line: KEY or NAME KEY; the first one signs"),
            Option(name: "base", value: "URL", help: "the service's address, to print before the path"),
        ], readsEnvironment: true)

    static func run(_ session: Session) async throws -> ExitStatus {
        let arguments = session.arguments
        guard let path = arguments.value("sign-key-file") else {
            throw UsageError(
                "sign needs --sign-key-file FILE; write a key into it with: openssl rand -hex 32")
        }
        let base =
            try arguments.value("base").map { text throws(UsageError) in try service(text, "base") } ?? ""
        let keys = try await SettingsReader(output: session.output).read(path) { try SigningKeys($0) }
        let url = base + (try address(arguments.operands[0], arguments.operands[1], keys).path)
        session.print(["url": url], orLine: url)
        return .done
    }

    /// The signed address. An address that a service would refuse anyway is refused here.
    private static func address(
        _ source: String, _ recipe: String, _ keys: SigningKeys
    ) throws(UsageError) -> PictureAddress {
        do {
            let source = try PictureSource(URL.percentEncoded(source))
            let address = PictureAddress(try PictureFailure.recipe(recipe), of: source, signedBy: keys)
            // The service decides which sources are allowed.
            let sources = source.origin.flatMap { FetchSource($0) }.map { [$0] } ?? []
            try PictureRules(sources: Set(sources), keys: keys).check(address, now: WallClock.system.seconds)
            return address
        } catch .malformedAddress {
            throw UsageError("\"\(source)\" is not an absolute address such as https://example.org/a.jpg")
        } catch {
            throw UsageError("\(error)")
        }
    }

    /// The address of a service, without the slash at its end.
    /// - Parameter option: names it.
    static func service(_ text: String, _ option: String) throws(UsageError) -> String {
        guard WebOrigin(text) != nil, !text.contains("?"), !text.contains("#") else {
            throw UsageError(
                "--\(option) needs an address such as https://pictures.example.org, not \"\(text)\"")
        }
        return text.hasSuffix("/") ? String(text.dropLast()) : text
    }
}
