import CCurl
import FoundationEssentials
import Glibc
import SystemSupport

/// The system's libcurl, opened once a process, at the first transfer.
enum CurlLibrary {
    /// The names tried, in order. Debian and its kin install the first with Swift's own dependencies; the second is
    /// the same library with another TLS. `MARQUEE_LIBCURL` in the environment, a path, is used instead of all.
    static let names = ["libcurl.so.4", "libcurl-gnutls.so.4"]

    private static let opened = Lock<String?>(nil)

    /// Opens the library, unless it is open, and returns its version, such as `libcurl/7.88.1 OpenSSL/3.0.19`.
    /// - Parameter url: what it is opened for, to be named in an error.
    /// - Throws: `.transportUnavailable`, or `.resourcesShort` where there is no descriptor or memory for it. The next call
    ///   tries again.
    static func open(for url: @autoclosure () -> String = "libcurl") throws(ImageLoadingError) -> String {
        try opened.withLock { opened throws(ImageLoadingError) in
            if let opened { return opened }
            let version = try load(for: url())
            opened = version
            return version
        }
    }

    private static func load(for url: String) throws(ImageLoadingError) -> String {
        let chosen = ProcessInfo.processInfo.environment["MARQUEE_LIBCURL"]
        var firstReason: String?
        for name in chosen.map({ [$0] }) ?? names {
            var reason = [CChar](repeating: 0, count: 512)
            if unsafe ccurl_open(name, &reason, reason.count) == 0 {
                return unsafe String(cString: ccurl_version())
            }
            firstReason = firstReason ?? text(reason)
        }
        // The dynamic linker gives no number, but ends with the system's words for it.
        for code in [EMFILE, ENFILE, ENOMEM] where firstReason?.hasSuffix(SystemError.text(code)) == true {
            if let shortage = ResourceShortage(code: code) { throw ImageLoadingError(shortage, url: url) }
        }
        throw .transportUnavailable(
            reason: "libcurl cannot be opened (\(firstReason ?? "not found")); "
                + "install it, on Debian and Ubuntu with: apt-get install libcurl4")
    }

    /// The library by name and TLS, such as `libcurl/7.88.1 over OpenSSL/3.0.19`.
    static let name: String = {
        // Losing the error is right: only who has opened the library asks.
        guard let version = try? open() else { return "libcurl" }
        return version.split(separator: " ").prefix(2).joined(separator: " over ")
    }()

    /// Whether its TLS library takes OpenSSL's words for key exchanges. The others ignore them or have words of their own.
    static let choosesCiphers = ["OpenSSL/", "LibreSSL/", "BoringSSL", "quictls/", "AWS-LC/"].contains {
        name.contains($0)
    }

    /// The library's words for a result of a transfer.
    static func text(ofResult result: Int32) -> String {
        guard let words = unsafe ccurl_easy_strerror(result) else { return "error \(result)" }
        return unsafe String(cString: words)
    }

    private static func text(_ characters: [CChar]) -> String {
        String(decoding: characters.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}

extension CurlTransport {
    /// The version of the system's libcurl and of what it is built with, such as `libcurl/7.88.1 OpenSSL/3.0.19`.
    package static func libraryVersion() throws(ImageLoadingError) -> String { try CurlLibrary.open() }
}
