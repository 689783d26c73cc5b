import TerminalGraphics
import TestTraits
import Testing

@testable import marquee

@Suite("Keys and colours of one's own", .bounded)
struct OwnKeysTests {
    private func letter(_ character: Character) -> TerminalKey { TerminalKey(.character(character)) }

    @Test("a command has the person's keys, and no longer its usual one")
    func meanings() throws {
        var keys = BrowserKeys()
        #expect(keys.meaning(of: letter("w")) == letter("w"))
        try keys.set("seen", to: "m F5")
        #expect(keys.meaning(of: letter("m")) == letter("w"))
        #expect(keys.meaning(of: TerminalKey(.function(5))) == letter("w"))
        #expect(keys.meaning(of: letter("w")) == nil && keys.meaning(of: letter("f")) == letter("f"))
        try keys.set("undo", to: "w")
        #expect(keys.meaning(of: letter("w")) == letter("u"))
        #expect(keys.summary == "seen m F5, undo w")
        #expect(keys.shown("w") == "m F5" && keys.shown("f") == "f" && keys.shown("Esc") == "Esc")
        try keys.set("seen", to: "space")
        #expect(keys.meaning(of: letter("m")) == letter("m") && keys.meaning(of: letter(" ")) == letter("w"))
    }

    @Test(
        "a wrong key says what is wrong",
        arguments: [
            ("sean", "m", "did you mean key-seen?"), ("seen", "mm", "needs keys such as"),
            ("seen", "F13", "needs keys such as"), ("seen", "ctrl-c", "needs keys such as"),
            ("undo", "m", "is the key of seen already"),
        ])
    func wrongKeys(name: String, text: String, message: String) throws {
        var keys = BrowserKeys()
        try keys.set("seen", to: "m")
        let error = #expect(throws: UsageError.self) { try keys.set(name, to: text) }
        #expect(error?.description.contains(message) == true, "\(String(describing: error))")
    }

    @Test("colours are names, numbers and sRGB")
    func colours() throws {
        var colours = BrowserColours()
        #expect(colours.accent == nil && colours.found == .palette(3))
        colours.isOnLight = true
        #expect(colours.found == .palette(5) && colours.marks == .palette(4))
        try colours.set("found", to: "bright-red")
        try colours.set("marks", to: "208")
        try colours.set("accent", to: "#FFaf00")
        #expect(colours.found == .palette(9) && colours.marks == .palette(208))
        #expect(colours.accent == .rgb(255, 175, 0))
        for (name, text) in [
            ("found", "reddish"), ("found", "#ff"), ("found", "256"), ("border", "red"), ("found", "#gggggg"),
            ("found", "#+12345"),
        ] {
            #expect(throws: UsageError.self, "\(name) \(text)") { try colours.set(name, to: text) }
        }
    }
}
