package import HTTPSemantics
package import ImageCodecs

/// Why a picture is not made, or a file of keys is not taken. No key is ever told.
package enum PictureError: Error, Hashable, Sendable {
    /// The text is no recipe.
    case malformedRecipe(String)
    /// The address has not the four parts of one, or its source is no address.
    case malformedAddress
    /// No key made this signature, or it was made for another recipe or source.
    case wrongSignature
    /// The recipe expired at this moment, in seconds since 1970.
    case expired(Int)
    /// Only http and https are fetched.
    case forbiddenScheme(String)
    /// No rule allows this host, at this port.
    case forbiddenSource(host: String)
    /// The recipe is not listed, and nobody has signed it.
    case unlistedSize(String)
    /// The recipe asks for more pixels than are made.
    case tooLarge(String)
    /// The source is no picture that can be decoded within the limits.
    case notDecodable(ImageDecodingError)
    /// The picture cannot be written.
    case notEncodable(ImageEncodingError)
    /// The file of keys is not right at this line, counted from 1.
    case malformedKeys(line: Int, fault: SigningKeys.Fault)
    /// The file of keys has none.
    case noKeys
}

extension PictureError {
    /// The status of the answer: 400 for what is no address of a picture, 403 for what no rule allows, 422 for a source that
    /// is no picture.
    package var status: HTTPStatus {
        switch self {
        case .malformedRecipe, .malformedAddress: .badRequest
        case .wrongSignature, .expired, .forbiddenScheme, .forbiddenSource, .unlistedSize, .tooLarge:
            .forbidden
        case .notDecodable: .unprocessableContent
        case .notEncodable, .malformedKeys, .noKeys: .internalServerError
        }
    }

    /// The rule that refuses, as counters and logs name it: a word without anything of the address.
    package var rule: String {
        switch self {
        case .malformedRecipe: "recipe"
        case .malformedAddress: "address"
        case .wrongSignature: "signature"
        case .expired: "expiry"
        case .forbiddenScheme: "scheme"
        case .forbiddenSource: "source"
        case .unlistedSize, .tooLarge: "size"
        case .notDecodable: "decoding"
        case .notEncodable: "encoding"
        case .malformedKeys, .noKeys: "keys"
        }
    }
}

extension PictureError: CustomStringConvertible {
    /// One line that says what is wrong and what to do.
    package var description: String {
        switch self {
        case .malformedRecipe(let text):
            "\"\(text)\" is no recipe; write a size such as w342, 342x513, x513 or original, then .fill, .q80 or .png, .e and .v"
        case .malformedAddress:
            "this is no address of a picture; write /image/SIGNATURE/RECIPE/SOURCE, the source in base64url without padding"
        case .wrongSignature:
            "the signature is not right; sign this recipe and source with a key of the service"
        case .expired(let time): "the address expired at \(HTTPDate.format(time)); ask for a new one"
        case .forbiddenScheme(let scheme): "\(scheme) is not fetched; give an address with https or http"
        case .forbiddenSource(let host):
            "nothing is fetched from \(host); allow it with --source, or sign the address"
        case .unlistedSize(let recipe):
            "\(recipe) is none of the sizes on offer; ask for a listed one, or sign the address"
        case .tooLarge(let recipe): "\(recipe) is larger than pictures are made; ask for a smaller size"
        case .notDecodable(let error): "\(error)"
        case .notEncodable(let error): "\(error)"
        case .malformedKeys(let line, let fault): "line \(line): \(fault)"
        case .noKeys: "it has no key; write one on a line, such as from `openssl rand -hex 32`"
        }
    }
}
