import Hashing
import TestSupport
import TestTraits
import Testing

@testable import LazyImages

@Suite("Addresses of a shared store", .bounded)
struct StoreAddressTests {
    private let credentials = ["AWS_ACCESS_KEY_ID": "id", "AWS_SECRET_ACCESS_KEY": "secret"]
    private let name = SHA256.hash(of: "")

    @Test(
        "an address gives the URLs of the objects",
        arguments: [
            ("http://cache:8080", "http://cache:8080/e3/"), ("HTTP://cache/a/b/", "http://cache/a/b/e3/"),
            ("https://[::1]:81/a", "https://[::1]:81/a/e3/"), ("http://u:p@cache/a", "http://cache/a/e3/"),
            ("http://cache:8080/ac", "http://cache:8080/ac/"), ("http://cache/x/ac/", "http://cache/x/ac/"),
            ("s3://films/posters", "https://films.s3.eu-central-1.amazonaws.com/posters/e3/"),
            ("s3+http://minio:9000/films/a", "http://minio:9000/films/a/e3/"),
            ("s3+https://minio/films", "https://minio/films/e3/"),
        ])
    func wellFormed(text: String, beginning: String) throws {
        let address = try SharedTier.Address(
            text, environment: credentials.merging(["AWS_REGION": "eu-central-1"]) { $1 })
        #expect(address.url(of: name) == beginning + name.hexadecimal)
        #expect((address.signature != nil) == text.hasPrefix("s3"))
        #expect(!address.displayText.contains("u:p") && !address.displayText.contains("secret"))
    }

    @Test(
        "malformed addresses are refused, and the error shows no password",
        arguments: [
            "", "cache", "ftp://cache", "http://", "http:///a", "http://ca che/", "http://cache/a b", "s3://",
            "http://cache/a?b", "http://cache/a#b", "http://cache/../a", "http://cache:99999/",
            "s3+http://minio",
            "s3+http://a:sesame@minio/films", "http://sesame@cache/", "http://a:sesame@ca che/", "s3://a b",
        ])
    func malformed(text: String) {
        #expect {
            _ = try SharedTier.Address(text, environment: credentials)
        } throws: { error in
            guard case SharedTierError.malformedAddress = error else { return false }
            return !"\(error)".contains("sesame") && !"\(error)".contains("\n")
        }
    }

    @Test("S3 needs credentials")
    func credentialsMissing() {
        for missing in credentials.keys {
            #expect(throws: SharedTierError.noCredentials) {
                _ = try SharedTier.Address(
                    "s3://films", environment: credentials.merging([missing: ""]) { $1 })
            }
        }
    }

    @Test("a password in the address is sent, and is in no error")
    func password() async throws {
        let store = try StoreServer()
        let tier = try SharedFixture.tier("http://anna:s%3Acret@127.0.0.1:\(store.port)/")
        _ = await tier.body(try SharedFixture.key())
        #expect(store.heads[0].contains("Authorization: Basic YW5uYTpzOmNyZXQ="))
    }
}
