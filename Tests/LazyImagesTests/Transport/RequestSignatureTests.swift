import FoundationEssentials
import Hashing
import TestSupport
import TestTraits
import Testing

@testable import LazyImages

/// AWS Signature Version 4, computed a second time from what a server receives ("Authenticating Requests: Using the
/// Authorization Header", Amazon S3 API Reference).
private struct Recomputed {
    let authorization: String
    let signature: String

    /// - Parameter head: the request line and the fields, as they came.
    init(_ head: String, secret: String) throws {
        let lines = head.split(separator: "\r\n").map(String.init)
        let request = lines[0].split(separator: " ").map(String.init)
        var fields: [String: String] = [:]
        for line in lines.dropFirst() {
            let parts = line.split(separator: ":", maxSplits: 1).map(String.init)
            fields[parts[0].lowercased()] = parts.count > 1 ? String(parts[1].drop { $0 == " " }) : ""
        }
        let authorization = try #require(fields["authorization"])
        func part(_ name: String) throws -> String {
            let start = try #require(authorization.firstRange(of: name + "=")).upperBound
            return String(authorization[start...].prefix { $0 != "," && $0 != " " })
        }
        let signature = try part("Signature")
        let signed = try part("SignedHeaders").split(separator: ";").map(String.init)
        let scope = try part("Credential").split(separator: "/").dropFirst().map(String.init)
        let canonical =
            ([request[0], request[1], ""]
            + signed.map { "\($0):\(fields[$0] ?? "")" }
            + ["", signed.joined(separator: ";"), try #require(fields["x-amz-content-sha256"])])
            .joined(separator: "\n")
        let text = [
            "AWS4-HMAC-SHA256", try #require(fields["x-amz-date"]), scope.joined(separator: "/"),
            SHA256.hash(of: canonical).hexadecimal,
        ].joined(separator: "\n")
        var key = Array("AWS4\(secret)".utf8)
        for part in scope + [text] { key = Self.code(part, key) }
        self.authorization = authorization
        self.signature = signature
        self.signed = signed
        expected = key.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    let expected: String
    let signed: [String]

    private static func code(_ text: String, _ key: [UInt8]) -> [UInt8] {
        SHA256.authenticate(text.utf8Span.span, with: key.span).bytes
    }
}

@Suite("Signatures for S3", .bounded)
struct RequestSignatureTests {
    @Test("libcurl's signatures of a read, a write and a removal are those of AWS")
    func requests() async throws {
        let store = try StoreServer()
        let tier = try SharedFixture.tier(
            "s3+http://127.0.0.1:\(store.port)/films",
            environment: [
                "AWS_ACCESS_KEY_ID": "AKIDEXAMPLE", "AWS_SECRET_ACCESS_KEY": "wJalrXUtnFEMI/K7+",
                "AWS_REGION": "eu-north-1",
                "AWS_SESSION_TOKEN": "token/with+signs==",
            ])
        let key = try SharedFixture.key()
        tier.put(key)
        await tier.flush()
        #expect(await tier.body(key) == SharedFixture.body)
        tier.remove(key)
        await tier.flush()
        #expect(store.heads.count == 3)
        for head in store.heads {
            let recomputed = try Recomputed(head, secret: "wJalrXUtnFEMI/K7+")
            #expect(recomputed.expected == recomputed.signature, "\(head)")
            for name in ["host", "x-amz-content-sha256", "x-amz-date", "x-amz-security-token"] {
                #expect(recomputed.signed.contains(name), "\(name) is not signed")
            }
            #expect(recomputed.authorization.contains("/eu-north-1/s3/aws4_request"))
            #expect(!head.contains("wJalrX"))
        }
        // The hash is that of the value, and not of nothing.
        let sealed = SealedEntry.seal(
            StagingArea.Entry(body: ByteArray(SharedFixture.body), metadata: SharedFixture.metadata),
            for: key,
            by: SharedFixture.secret)
        #expect(store.heads[0].contains(SHA256.hash(of: sealed.span).hexadecimal))
    }
}
