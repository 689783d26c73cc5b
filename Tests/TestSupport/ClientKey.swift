/// A client's key and certificate, made by openssl. Their folder is removed with the object.
public final class ClientKey: Sendable {
    private let folder: TemporaryFolder

    /// Makes key and certificate. Blocks while openssl runs.
    public init() throws {
        folder = try TemporaryFolder()
        _ = Shell.output(
            """
            cd '\(folder.path)' && exec 2>&1 </dev/null &&
            openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes \
                -keyout key.pem -out certificate.pem -days 2 -subj /CN=client &&
            openssl pkey -in key.pem -aes128 -passout pass:secret -out locked.pem &&
            cat certificate.pem key.pem >both.pem
            """)
    }

    /// The certificate, a PEM file.
    public var certificateFile: String { folder.file("certificate.pem") }
    /// The key, a PEM file.
    public var keyFile: String { folder.file("key.pem") }
    /// Certificate and key in one PEM file.
    public var bothFile: String { folder.file("both.pem") }
    /// The key, encrypted with a password.
    public var lockedKeyFile: String { folder.file("locked.pem") }
}
