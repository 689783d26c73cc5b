import LazyImages
import PictureServer
import SystemSupport

/// The store of `--shared`, and the keys of `--shared-key-file`.
struct SharedStore: Sendable {
    /// The value of the option. It may contain a password.
    let text: String
    /// The file of the keys.
    let keyFile: String
    /// The program's only tier: the breaker and the connections belong to it.
    let tier: SharedTier

    private static let readOnly = ",read-only"

    /// Nil if the options name no store.
    init?(
        _ arguments: Arguments, _ environment: [String: String], _ security: SecurityPolicy
    ) throws(UsageError) {
        func value(_ option: String) -> String? {
            arguments.value(option)
                ?? environment[EnvironmentOptions.variable(option)].flatMap { $0.isEmpty ? nil : $0 }
        }
        guard let text = value("shared") else {
            guard arguments.value("shared-key-file") == nil else {
                throw UsageError("--shared-key-file works only with --shared URL")
            }
            return nil
        }
        self.text = text
        var configuration = SharedTier.Configuration()
        configuration.isReadOnly = text.hasSuffix(Self.readOnly)
        configuration.security = security
        let url = configuration.isReadOnly ? String(text.dropLast(Self.readOnly.count)) : text
        let address = try UsageError.naming("--shared") {
            try SharedTier.Address(url, environment: environment)
        }
        guard let keyFile = value("shared-key-file") else {
            throw UsageError(
                "--shared needs --shared-key-file FILE, which protects against forged pictures in the store; "
                    + "make one with: openssl rand -hex 32 > FILE")
        }
        self.keyFile = keyFile
        let keys = try Self.keys(keyFile)
        tier = try UsageError.naming("--shared") {
            try SharedTier(address, keys: keys, configuration: configuration)
        }
    }

    private static func keys(_ path: String) throws(UsageError) -> [[UInt8]] {
        // A pipe may never have a writer.
        if FileKind(path) == .stream {
            throw UsageError("--shared-key-file \(path): it is not a file; name one that only you can read")
        }
        let content = try UsageError.naming("--shared-key-file") { try FileCalls().contents(ofPath: path) }
        return try UsageError.naming("--shared-key-file \(path)") { try SigningKeys(content).secrets }
    }
}
