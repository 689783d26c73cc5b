import CCurl
import FoundationEssentials
import Glibc
import SystemSupport

/// The system's libcurl, opened once per process, at the first transfer.
enum CurlLibrary {
    /// The library names to try, in order. Debian installs the first with Swift's dependencies; the second is the same
    /// library with another TLS library. The environment variable `MARQUEE_LIBCURL`, a path, replaces them.
    static let names = ["libcurl.so.4", "libcurl-gnutls.so.4"]

    private static let opened = Lock<String?>(nil)

    /// Opens the library, if it is not open yet, and returns its version, such as `libcurl/7.88.1 OpenSSL/3.0.19`.
    /// - Parameter url: the URL of the transfer, for errors.
    /// - Throws: `.transportUnavailable`; `.resourcesShort` for lack of file descriptors or memory. The next call tries
    ///   again.
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
        // The dynamic linker gives no error number, but its message ends with the system's text for it.
        for code in [EMFILE, ENFILE, ENOMEM] where firstReason?.hasSuffix(SystemError.text(code)) == true {
            if let shortage = ResourceShortage(code: code) { throw ImageLoadingError(shortage, url: url) }
        }
        throw .transportUnavailable(
            reason: "libcurl cannot be opened (\(firstReason ?? "not found")); "
                + "install it, on Debian and Ubuntu with: apt-get install libcurl4")
    }

    /// The library by name and TLS, such as `libcurl/7.88.1 over OpenSSL/3.0.19`.
    static let name: String = {
        // Losing the error is right: callers have opened the library before.
        guard let version = try? open() else { return "libcurl" }
        return version.split(separator: " ").prefix(2).joined(separator: " over ")
    }()

    /// Whether its TLS library accepts OpenSSL's names of cipher suites. Others ignore them or use other names.
    static let choosesCiphers = ["OpenSSL/", "LibreSSL/", "BoringSSL", "quictls/", "AWS-LC/"].contains {
        name.contains($0)
    }

    /// libcurl's text for a result code.
    static func text(ofResult result: Int32) -> String {
        guard let words = unsafe ccurl_easy_strerror(result) else { return "error \(result)" }
        return unsafe String(cString: words)
    }

    private static func text(_ characters: [CChar]) -> String {
        String(decoding: characters.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}

extension CurlTransport {
    /// The versions of the system's libcurl and of its libraries, such as `libcurl/7.88.1 OpenSSL/3.0.19`.
    package static func libraryVersion() throws(ImageLoadingError) -> String { try CurlLibrary.open() }
}
