public import FoundationEssentials
import HTTPSemantics
import Hashing

/// Makes the requests to the store. Every call ends within its time limits. None throws: failures are outcomes.
struct StoreClient: Sendable {
    /// The result of a read. A failure has a text for the operator: `GET: status 401`, `GET: connection-failed`.
    enum Answer: Sendable {
        case value([UInt8])
        /// The store does not have the object.
        case none
        /// Longer than a value may be.
        case tooLong
        case failed(String)
        case cancelled
    }

    /// The result of a write or a removal. A failure has a text as above.
    enum WriteOutcome: Sendable {
        case done
        /// - Parameter isRefusal: whether the store would refuse the request again.
        case failed(String, isRefusal: Bool)
    }

    let address: SharedTier.Address
    let configuration: SharedTier.Configuration
    let transport: any Transport

    /// At most this many bytes are read of the answer to a write or a removal.
    private static let answerLimit = 64 << 10
    /// S3 answers 403 for an absent object if the credentials may not list the bucket.
    private static let absent: Set = [403, 404, 410]

    func get(_ name: SHA256.Digest, within limits: Timeouts) async -> Answer {
        let limit = configuration.maximumBytes + SealedEntry.sealLength
        let buffer = AnswerBuffer(limit: limit) { _ in }
        do throws(ImageLoadingError) {
            let request = try request(.get, name, limits, hash: Self.hashOfNothing)
            let head = try await transport.send(request, into: buffer)
            if Self.absent.contains(head.status) { return .none }
            guard head.status == 200 else { return .failed("GET: status \(head.status)") }
            let body = buffer.body
            return body.isCut ? .tooLong : .value(body.bytes)
        } catch {
            return error.isCancelled ? .cancelled : .failed("GET: \(error.code)")
        }
    }

    func put(_ value: [UInt8], _ name: SHA256.Digest) async -> WriteOutcome {
        let hash = address.signature == nil ? "" : SHA256.hash(of: value.span).hexadecimal
        return await write(.put, name, hash, .bytes(value, mediaType: "application/octet-stream"))
    }

    func delete(_ name: SHA256.Digest) async -> WriteOutcome {
        await write(.delete, name, Self.hashOfNothing, nil)
    }

    private func write(
        _ method: RequestMethod, _ name: SHA256.Digest, _ hash: String, _ body: UploadBody?
    ) async -> WriteOutcome {
        let buffer = AnswerBuffer(limit: Self.answerLimit) { _ in }
        do throws(ImageLoadingError) {
            var request = try request(method, name, configuration.writing, hash: hash)
            request.method = method
            if let body {
                request.fields["Content-Type"] = body.mediaType
                request.body = try body.open()
            }
            let status = try await transport.send(request, into: buffer).status
            if 200..<300 ~= status || method == .delete && [404, 410].contains(status) { return .done }
            return .failed("\(method.rawValue): status \(status)", isRefusal: 400..<500 ~= status)
        } catch {
            return .failed("\(method.rawValue): \(error.code)", isRefusal: false)
        }
    }

    private func request(
        _ method: RequestMethod, _ name: SHA256.Digest, _ limits: Timeouts, hash: String
    ) throws(ImageLoadingError) -> TransportRequest {
        guard let url = URL(string: address.url(of: name)) else {
            throw .invalidURL(text: address.displayText, reason: "it is not the address of a store")
        }
        var fields: HeaderFields = ["User-Agent": "Marquee"]
        if let authorization = address.authorization { fields["Authorization"] = authorization }
        if let signature = address.signature {
            fields["x-amz-content-sha256"] = hash
            if let token = signature.sessionToken { fields["x-amz-security-token"] = token }
        }
        var request = TransportRequest(
            url: url, fields: fields, timeouts: limits,
            security: configuration.security.transportSecurity(for: WebOrigin(url)))
        request.signature = address.signature
        return request
    }

    private static let hashOfNothing = SHA256.hash(of: "").hexadecimal
}

extension SharedTier {
    /// The address of a store, and its protocol:
    ///
    ///     http://cache.example.org:8080/posters            any server with GET, PUT and DELETE, such as nginx with DAV
    ///     http://user:password@cache.example.org/posters   the same, with a password (Basic)
    ///     http://cache.example.org:8080/ac                 names without folders, for bazel-remote, Apache, lighttpd
    ///     s3://bucket/prefix                               AWS, in the region of AWS_REGION
    ///     s3+http://minio.example.org:9000/bucket/prefix   another S3 server; s3+https for TLS
    ///
    /// An object's name is the SHA-256 of its key, in a folder named by the first two of its 64 digits: `ab/abcdef…`.
    public struct Address: Sendable {
        /// The address without the password, for messages.
        package let displayText: String
        /// The URL before an object's name; ends with a slash.
        let base: String
        /// Whether objects are in folders.
        let hasFolders: Bool
        /// The value of Authorization; nil for none.
        let authorization: String?
        /// Signs requests for S3; nil for plain HTTP.
        let signature: RequestSignature?
        /// Whether the store is on this machine.
        let isLoopback: Bool

        /// Reads an address.
        /// - Parameters:
        ///   - text: as above.
        ///   - environment: has the credentials for S3: `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY`,
        ///     `AWS_SESSION_TOKEN`, and the region: `AWS_REGION` or `AWS_DEFAULT_REGION`, else us-east-1. Default: the
        ///     process's own.
        /// - Throws: `.malformedAddress`, `.noCredentials`.
        public init(
            _ text: String, environment: [String: String] = ProcessInfo.processInfo.environment
        ) throws(SharedTierError) {
            let malformed = SharedTierError.malformedAddress(text: Self.withoutUser(text))
            guard let colon = text.firstRange(of: "://"), text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F })
            else { throw malformed }
            let scheme = text[..<colon.lowerBound].lowercased()
            let rest = text[colon.upperBound...]
            let authority = rest.prefix { $0 != "/" }
            let path = rest.dropFirst(authority.count).split(separator: "/").map(String.init)
            guard path.allSatisfy(Self.isPlain) else { throw malformed }
            var host = String(authority)
            let transport: String
            switch scheme {
            case "http", "https":
                transport = scheme
                signature = nil
            case "s3":
                guard Self.isPlain(host), authority.contains(where: { $0 != "." }) else { throw malformed }
                transport = "https"
                let found = try RequestSignature(environment)
                signature = found
                host += ".s3.\(found.region).amazonaws.com"
            case "s3+http", "s3+https":
                transport = String(scheme.dropFirst(3))
                guard !path.isEmpty else { throw malformed }
                signature = try RequestSignature(environment)
            default: throw malformed
            }
            var user: Substring?
            if let at = host.lastIndex(of: "@") {
                user = host[..<at]
                host = String(host[host.index(after: at)...])
            }
            guard let name = HostAndPort(host), signature == nil || user == nil else { throw malformed }
            authorization = try user.map { user throws(SharedTierError) in
                guard let plain = PercentEncoding.decodedText(user.utf8), plain.contains(":") else {
                    throw malformed
                }
                return "Basic " + Data(plain.utf8).base64EncodedString()
            }
            let folder = path.map { $0 + "/" }.joined()
            base = "\(transport)://\(host)/\(folder)"
            guard URL(string: base)?.host() != nil else { throw malformed }
            displayText =
                "\(scheme)://\(signature != nil && scheme == "s3" ? String(authority) : host)/\(folder)"
            hasFolders = path.last != "ac"
            isLoopback = name.isLoopback
        }

        /// The address of an object.
        func url(of name: SHA256.Digest) -> String {
            hasFolders ? base + CacheFolder.entryName(of: name) : base + name.hexadecimal
        }

        static func isLoopback(_ host: String) -> Bool { HostAndPort(host)?.isLoopback ?? false }

        /// Whether a part of a path needs no escaping. Servers and signatures escape differently.
        private static func isPlain(_ part: String) -> Bool {
            part != "." && part != ".." && PercentEncoding.encoded(part) == part
        }

        /// The text without what may be a password.
        private static func withoutUser(_ text: String) -> String {
            guard let at = text.lastIndex(of: "@") else { return text }
            let scheme = text.firstRange(of: "://").map { text[..<$0.upperBound] } ?? ""
            return String(scheme) + text[text.index(after: at)...]
        }
    }
}

extension RequestSignature {
    /// Reads the credentials and the region from the environment.
    init(_ environment: [String: String]) throws(SharedTierError) {
        func variable(_ name: String) -> String? { environment[name].flatMap { $0.isEmpty ? nil : $0 } }
        guard let accessKey = variable("AWS_ACCESS_KEY_ID"), let secretKey = variable("AWS_SECRET_ACCESS_KEY")
        else { throw .noCredentials }
        self.accessKey = accessKey
        self.secretKey = secretKey
        sessionToken = variable("AWS_SESSION_TOKEN")
        region = variable("AWS_REGION") ?? variable("AWS_DEFAULT_REGION") ?? "us-east-1"
    }
}
