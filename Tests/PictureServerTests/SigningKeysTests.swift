import PictureServer
import TestTraits
import Testing

@Suite("Keys that sign addresses", .bounded)
struct SigningKeysTests {
    private static let hexadecimal = String(repeating: "0b", count: 32)
    private static let message = "/w342/aHR0cHM6Ly9leGFtcGxlLm9yZy9hLmpwZw"

    private func keys(_ text: String) throws(ListFile.Fault) -> SigningKeys {
        try SigningKeys(Array(text.utf8))
    }

    @Test("a key has the same signature in every spelling")
    func spellings() throws {
        // 32 bytes of 0x0B.
        let base64 = "CwsLCwsLCwsLCwsLCwsLCwsLCwsLCwsLCwsLCwsLCws"
        let expected = try keys(Self.hexadecimal).signature(of: Self.message)
        #expect(expected.utf8.count == 43)
        for text in [
            Self.hexadecimal.uppercased(), base64, base64 + "=", "# comment\n\n \(base64)=\r\n",
        ] {
            #expect(try keys(text).signature(of: Self.message) == expected)
        }
    }

    @Test("the first key signs with its name, and all keys are accepted, with or without their names")
    func rotation() throws {
        let old = try keys("old \(Self.hexadecimal)")
        let both = try keys("new \(String(repeating: "0c", count: 40))\nold \(Self.hexadecimal)\n")
        let signature = old.signature(of: Self.message)
        #expect(signature.hasPrefix("old."))
        #expect(both.signature(of: Self.message).hasPrefix("new."))
        #expect(both.accept(signature, of: Self.message))
        #expect(both.accept(String(signature.dropFirst(4)), of: Self.message))
        #expect(both.accept(both.signature(of: Self.message), of: Self.message))
        #expect(!old.accept(both.signature(of: Self.message), of: Self.message))
    }

    @Test("keys without names are exchanged like others: the first signs, all are accepted")
    func unnamedRotation() throws {
        let old = try keys(Self.hexadecimal)
        let both = try keys("\(String(repeating: "0c", count: 32))\n\(Self.hexadecimal)\n")
        #expect(both.accept(old.signature(of: Self.message), of: Self.message))
        #expect(both.accept(both.signature(of: Self.message), of: Self.message))
        #expect(!old.accept(both.signature(of: Self.message), of: Self.message))
        #expect(both.secrets.count == 2)
    }

    @Test("an error says how a line is written")
    func form() {
        let error = #expect(throws: ListFile.Fault.self) { try keys("a b c") }
        #expect(error?.description.contains("write KEY or NAME KEY") == true)
    }

    @Test("a signature of another message, with another key's name, or changed anywhere is refused")
    func refused() throws {
        let keys = try keys("a \(Self.hexadecimal)\nb \(String(repeating: "0c", count: 32))")
        let signature = keys.signature(of: Self.message)
        #expect(!keys.accept(signature, of: Self.message + "x"))
        #expect(!keys.accept("b" + signature.dropFirst(), of: Self.message))
        #expect(!keys.accept("", of: Self.message))
        #expect(!keys.accept("." + signature.dropFirst(2), of: Self.message))
        #expect(!keys.accept(signature + "=", of: Self.message))
        #expect(!keys.accept(String(signature.dropLast()), of: Self.message))
        for index in signature.indices.dropFirst(2) {
            var changed = signature
            changed.replaceSubrange(index...index, with: signature[index] == "A" ? "B" : "A")
            #expect(!keys.accept(changed, of: Self.message))
        }
    }

    @Test(
        "the error names a malformed line",
        arguments: [
            ("keys", 1, "a key has at least 32 bytes"), ("\n# \nk k k", 3, "write KEY or NAME KEY"),
            ("a " + String(repeating: "0b", count: 31), 1, "a key has at least"), ("a &&", 1, "write KEY"),
            ("- " + hexadecimal, 1, "a key's name has"), ("a.b " + hexadecimal, 1, "a key's name has"),
            (String(repeating: "n", count: 33) + " " + hexadecimal, 1, "a key's name has 1 to 32 letters"),
            ("a \(hexadecimal)\na \(hexadecimal)", 2, "another key has this name"),
        ])
    func malformed(text: String, line: Int, reason: String) {
        let fault = #expect(throws: ListFile.Fault.self) { try keys(text) }
        #expect(fault?.description.hasPrefix("line \(line): \(reason)") == true)
    }

    @Test("a file without a key, or that is not text, is refused, and no error reveals a key")
    func empty() {
        let none = #expect(throws: ListFile.Fault.self) { try keys("# nothing\n\n") }
        #expect(none?.description.hasPrefix("no key; write one on a line") == true)
        let bytes = #expect(throws: ListFile.Fault.self) { try SigningKeys([0xFF]) }
        #expect(bytes?.description == "the file is not text in UTF-8")
        let error = #expect(throws: ListFile.Fault.self) { try keys("name secretsecret") }
        #expect(error?.description.contains("secretsecret") == false)
    }
}
