import FoundationEssentials
import HTTPSemantics
import Hashing
import LazyImages
import SystemSupport

/// The token of a running service, in a file that only its user can read. The same user's programs find it there.
///
///     ~/.local/state/marquee/tokens/127.0.0.1%3A8080
///
///     # http://127.0.0.1:8080/
///     3Xq0nB2k9VdWJm5LrTfYc8Hs
///
/// A service makes a new token each time it starts, and holds the file's lock as long as it runs. A file without a lock
/// is a leftover of a service that was killed: another user's program may listen at its address, so nobody reads it.
struct KeptToken: Sendable, Hashable {
    /// Where the service listens: `http://127.0.0.1:8080/` or `unix:/run/marquee.sock`.
    let address: String
    let value: String

    /// The folder of the files: `marquee/tokens` in `XDG_STATE_HOME`, or in `~/.local/state` without it.
    static var folder: String {
        UserFolder.path(variable: "XDG_STATE_HOME", standard: ".local/state") + "/marquee/tokens"
    }

    /// The most bytes of a file. Longer ones are not ours.
    private static let maximumBytes = 4096
    /// Names of files have at most 255 bytes.
    private static let longestName = 200

    private static func fileName(of address: String) -> String {
        let place = address.hasPrefix("http://") ? String(address.dropFirst(7).dropLast()) : address
        let name = PercentEncoding.encoded(place)
        return name.utf8.count <= longestName ? name : SHA256.hash(of: address).hexadecimal
    }

    // MARK: Keeping

    /// A file that is kept while its service runs.
    final class Lease: Sendable {
        /// The path of the file.
        let path: String
        private let name: String
        private let folder: Descriptor
        /// Open and locked.
        private let file: Descriptor

        fileprivate init(
            path: String, name: String, folder: consuming Descriptor, file: consuming Descriptor
        ) {
            self.path = path
            self.name = name
            self.folder = folder
            self.file = file
        }

        /// Removes the file, unless another service has replaced it.
        func end() {
            let calls = FileCalls()
            // Ignored: a file that stays has no lock, so nobody reads it.
            guard let own = try? calls.status(of: file), let there = try? calls.status(of: name, in: folder),
                own.identity == there.identity
            else { return }
            // Ignored: as above.
            try? calls.remove(name, in: folder)
        }
    }

    /// Writes the file. It appears whole and locked.
    func keep() throws(FileFault) -> Lease {
        let calls = FileCalls()
        try calls.makeFolders(Self.folder)
        let folder = try calls.openFolder(Self.folder)
        let name = Self.fileName(of: address)
        let draft = ".\(name).\(getpid())"
        let file = try calls.openForWriting(draft, in: folder, creating: .ifAbsent)
        try calls.truncate(file, to: 0)
        guard try calls.tryLockWithCopies(file) else {
            throw FileFault(kind: .lock, name: "\(Self.folder)/\(draft)", code: EWOULDBLOCK)
        }
        try calls.write(file, Array("# \(address)\n\(value)\n".utf8).span, at: 0)
        try calls.rename(draft, to: name, in: folder)
        return Lease(path: "\(Self.folder)/\(name)", name: name, folder: folder, file: file)
    }

    // MARK: Finding

    /// The tokens of the services that run now, by address.
    static func all() -> [KeptToken] {
        let calls = FileCalls()
        // Ignored: without a readable folder this user runs no service with a kept token.
        guard let folder = try? calls.openFolder(folder), let names = try? calls.names(in: folder) else {
            return []
        }
        return names.filter { !$0.hasPrefix(".") }.compactMap { read($0, in: folder) }
            .sorted { $0.address < $1.address }
    }

    private static func read(_ name: String, in folder: borrowing Descriptor) -> KeptToken? {
        let calls = FileCalls()
        // Ignored: a file that cannot be read holds no token for this user.
        guard let file = try? calls.openForReading(name, in: folder),
            let status = try? calls.status(of: file),
            status.isFile, status.owner == geteuid(), !status.isOpenToOthers,
            (try? calls.isLocked(file)) == true
        else { return nil }
        var bytes = [UInt8](repeating: 0, count: maximumBytes)
        // Ignored: as above.
        guard let count = try? calls.read(file, into: &bytes) else { return nil }
        let lines = String(decoding: bytes[..<count], as: UTF8.self).split(separator: "\n")
        guard lines.count == 2, lines[0].hasPrefix("# "), BearerToken.isWellFormed(lines[1]) else {
            return nil
        }
        return KeptToken(address: String(lines[0].dropFirst(2)), value: String(lines[1]))
    }

    /// The token of the own service that a numeric loopback address reaches; nil for other addresses.
    static func reached(at url: URL) -> KeptToken? {
        guard url.scheme == "http", let host = url.host(),
            let name = HostAndPort(host.contains(":") && !host.hasPrefix("[") ? "[\(host)]" : host),
            name.isAddress, name.isLoopback
        else { return nil }
        let port = url.port ?? 80
        return all().first { $0.listens(at: name.host, port) }
    }

    private func listens(at host: String, _ port: Int) -> Bool {
        guard let origin = WebOrigin(address), origin.port == port else { return false }
        // Nobody else can listen at an address of a port that a service has on all of them.
        return origin.host == host || origin.host == "::" || origin.host == "0.0.0.0" && !host.contains(":")
    }
}

extension URL {
    /// The same URL with a number in place of `localhost`, if the user's own service listens there. The name may mean
    /// two addresses, and another user's program may listen at the second one.
    var withOwnLoopback: URL {
        guard host()?.lowercased() == "localhost",
            var components = URLComponents(url: self, resolvingAgainstBaseURL: true)
        else { return self }
        for number in ["127.0.0.1", "[::1]"] {
            components.encodedHost = number
            if let url = components.url, KeptToken.reached(at: url) != nil { return url }
        }
        return self
    }
}

/// Authenticates requests that may write: with the credentials that the user has named, and at the user's own services on
/// this machine with their kept tokens.
struct WritingCredentials: HTTPAuthenticator {
    let named: (any HTTPAuthenticator)?

    func credential(for challenge: AuthenticationChallenge) async -> Credential? {
        if let credential = await named?.credential(for: challenge) { return credential }
        guard challenge.scheme == .bearer, !challenge.isRepeated else { return nil }
        return KeptToken.reached(at: challenge.origin).map { .token($0.value) }
    }
}
