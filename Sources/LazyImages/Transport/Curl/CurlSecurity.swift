import CCurl

/// Sets the TLS requirements of a libcurl handle. libcurl is built with one of several TLS libraries. If that library
/// cannot enforce a requirement, the transfer fails; a requirement is never ignored.
enum CurlSecurity {
    /// Cipher suites with forward secrecy for TLS 1.2 and older, in OpenSSL's format. TLS 1.3 has no others (RFC 8446
    /// section 1.2).
    private static let forwardSecrecy = "ECDHE+HIGH:!aNULL:!eNULL:!3DES:!MD5"

    /// Sets everything anew, since the handle may have served another server. Authorities and client certificates
    /// cannot be reset: a handle with those is not reused (`CurlTransfer.leavesHandleReusable`). Returns the reason why
    /// a requirement cannot be set, or nil.
    static func apply(_ security: TransportSecurity, to handle: OpaquePointer) -> String? {
        var oldest = security.minimumTLSVersion
        var ciphers: String?
        if security.requiresForwardSecrecy {
            if CurlLibrary.choosesCiphers {
                ciphers = forwardSecrecy
            } else {
                // This TLS library has no cipher setting. TLS 1.3 has only cipher suites with forward secrecy.
                oldest = .v1_3
            }
        }
        var file: String?
        var key: String?
        switch security.trust {
        case .authorities(let authorities): file = authorities
        case .publicKey(let sha256): key = "sha256//\(sha256)"
        }
        // A pinned public key needs no authority and no host name.
        let settings: [(option: Int, isSet: Bool)] =
            unsafe [
                (
                    CCURLOPT_SSLVERSION,
                    set(CCURLOPT_SSLVERSION, Int(CCURL_SSLVERSION_TLSV1_0) + oldest.minor, handle)
                ),
                (CCURLOPT_SSL_CIPHER_LIST, set(CCURLOPT_SSL_CIPHER_LIST, ciphers, handle)),
                (CCURLOPT_SSL_VERIFYPEER, set(CCURLOPT_SSL_VERIFYPEER, key == nil ? 1 : 0, handle)),
                (CCURLOPT_SSL_VERIFYHOST, set(CCURLOPT_SSL_VERIFYHOST, key == nil ? 2 : 0, handle)),
                (CCURLOPT_PINNEDPUBLICKEY, set(CCURLOPT_PINNEDPUBLICKEY, key, handle)),
            ] + (file.map { unsafe authorities($0, handle) } ?? [])
            + (security.clientCertificate.map { unsafe certificate($0, handle) } ?? [])
        guard let missing = settings.first(where: { !$0.isSet }) else { return nil }
        let name =
            switch missing.option {
            case CCURLOPT_SSLVERSION: "the oldest version of TLS"
            case CCURLOPT_SSL_CIPHER_LIST: "the key exchanges"
            case CCURLOPT_PINNEDPUBLICKEY: "the server's public key"
            case CCURLOPT_SSLCERT, CCURLOPT_SSLKEY, CCURLOPT_KEYPASSWD: "the client's certificate"
            default: "the certificate authorities"
            }
        return "\(CurlLibrary.name) does not support a setting for \(name)"
    }

    private static func authorities(_ file: String, _ handle: OpaquePointer) -> [(option: Int, isSet: Bool)] {
        unsafe [
            (CCURLOPT_CAINFO, set(CCURLOPT_CAINFO, file, handle)),
            // Otherwise the system's folder of authorities would be trusted too.
            (CCURLOPT_CAPATH, set(CCURLOPT_CAPATH, nil, handle)),
        ]
    }

    private static func certificate(
        _ certificate: SecurityPolicy.ClientCertificate, _ handle: OpaquePointer
    ) -> [(option: Int, isSet: Bool)] {
        unsafe [
            (CCURLOPT_SSLCERT, set(CCURLOPT_SSLCERT, certificate.certificateFile, handle)),
            (
                CCURLOPT_SSLKEY,
                set(CCURLOPT_SSLKEY, certificate.keyFile ?? certificate.certificateFile, handle)
            ),
            // Without this OpenSSL would ask for a password on the terminal, and every transfer would wait.
            (CCURLOPT_KEYPASSWD, set(CCURLOPT_KEYPASSWD, "", handle)),
        ]
    }

    private static func set(_ option: Int, _ value: Int, _ handle: OpaquePointer) -> Bool {
        unsafe ccurl_easy_set_long(handle, Int32(option), value) == CCURLE_OK
    }

    private static func set(_ option: Int, _ text: String?, _ handle: OpaquePointer) -> Bool {
        guard let text else { return unsafe ccurl_easy_set_pointer(handle, Int32(option), nil) == CCURLE_OK }
        return unsafe text.withCString {
            unsafe ccurl_easy_set_pointer(handle, Int32(option), $0) == CCURLE_OK
        }
    }
}
