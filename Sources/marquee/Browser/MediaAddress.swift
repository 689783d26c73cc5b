import FoundationEssentials
import Glibc
import LazyImages
import SystemSupport

/// The argument that a player gets for a film: an absolute path, or an http or https address. It never begins with a
/// hyphen, so that it is never an option. Other protocols are refused: some of a player's protocols do more than play.
enum MediaAddress {
    /// Reads an address from a catalogue.
    /// - Parameter base: the base of a relative address. A catalogue from the network cannot name a file of this
    ///   machine.
    static func argument(_ text: String, relativeTo base: BaseURL) throws(Failure) -> String {
        let url: URL
        do {
            url = try URL(typed: text, relativeTo: base.url).absoluteURL
        } catch {
            throw Failure(ImageLoadingError.advised(error))
        }
        switch url.scheme?.lowercased() {
        case "http", "https": return url.absoluteString
        case "file":
            let path = url.path(percentEncoded: false)
            guard base.origin.isFileURL else {
                throw Failure("\(text): a catalogue from the network cannot name a file of this machine")
            }
            guard path.hasPrefix("/"), !path.utf8.contains(0), ["", "localhost"].contains(url.host() ?? "")
            else {
                throw Failure("\(text): this is not the path of a file on this machine")
            }
            guard unsafe access(path, R_OK) == 0 else {
                throw Failure("\(text): \(SystemError.text(errno)), as \(path)")
            }
            return path
        default: throw Failure("\(text): only files, http and https are played")
        }
    }
}
