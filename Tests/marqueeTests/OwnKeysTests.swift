@testable import Films
import FoundationEssentials
import TerminalGraphics
import TestTraits
import Testing

@testable import FilmBrowser

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
        #expect(keys.shown("w") == "m F5" && keys.shown("f") == "f" && keys.shown("Esc") == "Esc")
        try keys.set("seen", to: "space")
        #expect(keys.meaning(of: letter("m")) == letter("m") && keys.meaning(of: letter(" ")) == letter("w"))
    }

    @Test("a text names the person's keys, and leaves a part out that only has lost ones")
    func texts() throws {
        var keys = BrowserKeys()
        #expect(keys.text("{Enter} opens; {j} {k} move; {PgUp}") == "Enter opens; j k move; PgUp")
        try keys.set("open", to: "x")
        try keys.set("seen", to: "j page-up")
        #expect(keys.text("{Enter} opens; {j} {k} move; {PgUp}") == "x opens; · k move")
        try keys.set("page-up", to: "F5")
        #expect(keys.text("{PgUp} goes up; {↑} too") == "F5 goes up; ↑ too")
        try keys.set("undo", to: "")
        #expect(keys.text("Seen; {u} undoes it") == "Seen" && keys.text("{u} undoes it") == "")
        #expect(keys.shown("u") == nil)
    }

    @Test("a command for selected films that the filter hides says so")
    func hiddenSelection() throws {
        var state = BrowserState(showing: ["A", "B"].map { Movie(id: $0, title: $0) })
        try state.keys.set("back", to: "x")
        state.type(" /b\r")
        #expect(state.list.rows == [1] && state.list.targets.isEmpty)
        for key in "wft5eo" {
            #expect(state.handle(.key(letter(key)), now: 0) == [])
            #expect(state.message == "None of the selected films is shown; x selects none")
        }
    }

    @Test("input that waits for the films is read by the person's keys")
    func typedAhead() throws {
        var state = BrowserState()
        for (name, key) in [("find", "x"), ("quit", "p"), ("help", "q"), ("seen", "/")] {
            try state.keys.set(name, to: key)
        }
        func type(_ text: String) -> [BrowserState.Effect] {
            text.flatMap { state.handle(.key(letter($0)), now: 0) }
        }
        // x searches at once, and p is text there.
        #expect(type("jxp") == [] && state.typedAhead.place(state.keys) == .line)
        _ = state.handle(.key(TerminalKey(.escape)), now: 0)
        #expect(state.typedAhead.place(state.keys) == .list)
        #expect(type("q") == [] && state.isHelpShown && state.typedAhead.events.count == 4)
        _ = state.handle(.key(TerminalKey(.escape)), now: 0)
        #expect(type("p") == [.quit] && state.typedAhead.events.isEmpty)
        // A window that is too small takes the person's keys too.
        _ = state.resize(to: CellSize(columns: 5, rows: 2), cellAspect: 2)
        #expect(type("q") == [] && type("p") == [.quit])
    }

    @Test(
        "a wrong key says what is wrong",
        arguments: [
            ("sean", "m", "did you mean key-seen?"), ("seen", "mm", "needs keys such as"),
            ("seen", "F13", "needs keys such as"), ("seen", "ctrl-c", "needs keys such as"),
            ("seen", "ctrl-m", "needs keys such as"),
            ("seen", "ctrl-é", "needs keys such as"),
            ("undo", "m", "is the key of seen already"),
        ])
    func wrongKeys(name: String, text: String, message: String) throws {
        var keys = BrowserKeys()
        try keys.set("seen", to: "m")
        let error = #expect(throws: SettingError.self) { try keys.set(name, to: text) }
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
            #expect(throws: SettingError.self, "\(name) \(text)") { try colours.set(name, to: text) }
        }
    }
}
