/// A key and a certificate of a client's own, made by openssl, in a folder that goes with the object.
public final class ClientKey: Sendable {
    private let folder: TemporaryFolder

    /// Makes them. Blocks for as long as making a key takes.
    public init() throws {
        folder = try TemporaryFolder()
        _ = Shell.output(
            """
            cd '\(folder.path)' && exec 2>&1 </dev/null &&
            openssl req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out certificate.pem -days 2 -subj /CN=client &&
            openssl rsa -in key.pem -aes128 -passout pass:secret -out locked.pem &&
            cat certificate.pem key.pem >both.pem
            """)
    }

    /// The certificate, a file of PEM.
    public var certificateFile: String { folder.file("certificate.pem") }
    /// Its key.
    public var keyFile: String { folder.file("key.pem") }
    /// Both in one file.
    public var bothFile: String { folder.file("both.pem") }
    /// The key with a password.
    public var lockedKeyFile: String { folder.file("locked.pem") }
}
