import FoundationEssentials
import HTTPSemantics

/// Makes the requests to the store. Every call ends within its time limits. None throws: failures are outcomes.
struct StoreClient: Sendable {
    /// The result of a read.
    enum Answer: Sendable {
        case value([UInt8])
        /// The store does not have the object.
        case none
        /// Longer than a value may be.
        case tooLong
        case failed
        case cancelled
    }

    /// The result of a write or a removal.
    enum WriteOutcome: Sendable {
        case done
        /// The store refuses the request, and would refuse it again.
        case refused
        case failed
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
            let head = try await transport.perform(request, into: buffer)
            if Self.absent.contains(head.status) { return .none }
            guard head.status == 200 else { return .failed }
            let body = buffer.body
            return body.isCut ? .tooLong : .value(body.bytes)
        } catch {
            return error.code == "cancelled" ? .cancelled : .failed
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
        _ method: HTTPMethod, _ name: SHA256.Digest, _ hash: String, _ body: UploadBody?
    ) async -> WriteOutcome {
        let buffer = AnswerBuffer(limit: Self.answerLimit) { _ in }
        do throws(ImageLoadingError) {
            var request = try request(method, name, configuration.writing, hash: hash)
            request.method = method
            if let body {
                request.fields["Content-Type"] = body.mediaType
                request.body = try body.open()
            }
            let status = try await transport.perform(request, into: buffer).status
            if 200..<300 ~= status || method == .delete && [404, 410].contains(status) { return .done }
            return 400..<500 ~= status ? .refused : .failed
        } catch {
            return .failed
        }
    }

    private func request(
        _ method: HTTPMethod, _ name: SHA256.Digest, _ limits: Timeouts, hash: String
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
            security: configuration.security.transportSecurity(for: Origin(url)))
        request.signature = address.signature
        return request
    }

    private static let hashOfNothing = SHA256.hash(of: "").hexadecimal
}
