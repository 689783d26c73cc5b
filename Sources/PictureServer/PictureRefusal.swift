package import HTTPSemantics
package import PictureService

/// Why the service refuses an address, or a file of keys or sizes is invalid. No refusal contains a key.
package enum PictureRefusal: Error, Hashable, Sendable {
    /// The recipe is malformed, or the picture is not made.
    case picture(PictureError)
    /// The address lacks one of its four parts, or its source is not an address.
    case malformedAddress
    /// No key made this signature, or it belongs to another recipe or source.
    case wrongSignature
    /// The recipe expired at this moment, in seconds since 1970.
    case expired(Int)
    /// The scheme is neither http nor https.
    case forbiddenScheme(String)
    /// No rule allows this host. `isSignable` says whether a signature would allow it.
    case forbiddenSource(HostAndPort, isSignable: Bool)
    /// The host is allowed, but not at this port.
    case forbiddenPort(HostAndPort)
    /// The source contains a user name or a password.
    case forbiddenCredentials
    /// The recipe is not listed, and the address is not signed.
    case unlistedSize(String)
    /// The recipe asks for more pixels than the limit.
    case tooLarge(String)
    /// This line of the key file is invalid, counted from 1.
    case malformedKeys(line: Int, fault: SigningKeys.Fault)
    /// The key file has no key.
    case noKeys
    /// This line of the file of sizes is not a recipe, counted from 1.
    case malformedSizes(line: Int)
    /// The file of sizes has no recipe.
    case noSizes
}

extension PictureRefusal {
    /// The recipe of a text.
    /// - Throws: `.picture(.malformedRecipe)`.
    package static func recipe(_ text: String) throws(PictureRefusal) -> PictureRecipe {
        do { return try PictureRecipe(text) } catch { throw .picture(error) }
    }

    /// The status of the answer: 400 for a malformed address or a recipe that does not fit the picture, 403 if a rule
    /// refuses it, 422 if the source is not a picture.
    package var status: HTTPStatus { kind.status }

    /// The refusing rule's name in metrics and logs. It contains nothing of the address.
    package var rule: String { kind.rule }

    private var kind: (rule: String, status: HTTPStatus) {
        switch self {
        case .picture(.malformedRecipe), .picture(.notProcessable): ("recipe", .badRequest)
        case .picture(.notDecodable): ("decoding", .unprocessableContent)
        case .picture(.notEncodable): ("encoding", .internalServerError)
        case .malformedAddress: ("address", .badRequest)
        case .wrongSignature: ("signature", .forbidden)
        case .expired: ("expiry", .forbidden)
        case .forbiddenScheme: ("scheme", .forbidden)
        case .forbiddenSource, .forbiddenPort, .forbiddenCredentials: ("source", .forbidden)
        case .unlistedSize, .tooLarge: ("size", .forbidden)
        case .malformedKeys, .noKeys: ("keys", .internalServerError)
        case .malformedSizes, .noSizes: ("sizes", .internalServerError)
        }
    }
}

extension PictureRefusal: CustomStringConvertible {
    /// One line that says what is wrong and what to do.
    package var description: String {
        switch self {
        case .picture(let error): "\(error)"
        case .malformedAddress:
            "not a picture address; write /image/SIGNATURE/RECIPE/SOURCE, the source in base64url without padding"
        case .wrongSignature:
            "the signature does not match; sign this recipe and source with a key of the service"
        case .expired(let time): "the address expired at \(HTTPDate.format(time)); ask for a new one"
        case .forbiddenScheme(let scheme): "\(scheme) is not supported; use an address with https or http"
        case .forbiddenSource(let name, let isSignable):
            "the host \(PictureRules.Source(name).text) is not allowed; allow it with --source"
                + (isSignable ? ", or sign the address" : "")
        case .forbiddenPort(let name):
            "port \(name.port ?? 0) of \(name.host) is not allowed; allow it with --source \(PictureRules.Source(name).text)"
        case .forbiddenCredentials:
            "a source with a user name or a password is not allowed; leave them out"
        case .unlistedSize(let recipe):
            "\(recipe) is not a listed size; ask for a listed one, or sign the address"
        case .tooLarge(let recipe): "\(recipe) exceeds the size limit; ask for a smaller size"
        case .malformedKeys(let line, let fault): "line \(line): \(fault)"
        case .noKeys: "no key; write one on a line, for example from `openssl rand -hex 32`"
        case .malformedSizes(let line):
            "line \(line): not a recipe; write one recipe on each line, such as w342, 342x513.fill or original"
        case .noSizes: "no size; write a recipe on a line, such as w342"
        }
    }
}
