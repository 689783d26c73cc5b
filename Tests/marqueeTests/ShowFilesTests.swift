import FoundationEssentials
import TestSupport
import TestTraits
import Testing

@testable import marquee

/// `show` with files, folders and pipes, and a folder as a catalogue.
@Suite("Pictures in files and folders", .bounded)
struct ShowFilesTests {
    /// A folder with a picture, a film called as another file, and a file that is no picture.
    private final class Folder {
        let folder: TemporaryFolder

        init() throws {
            folder = try TemporaryFolder()
            let poster = Data(try #require(SampleCatalogue.file("posters/nosferatu.jpg")))
            for name in ["n.jpg", "metropolis", "pictures/b.jpg", "pictures/A.png"] {
                let bytes = name.hasSuffix("png") ? Fixture.pixel : poster
                try folder.write(bytes, to: name)
            }
            try folder.write("no picture", to: "pictures/c.gif")
            try folder.write("words", to: "pictures/notes.txt")
            try folder.write("", to: "empty.jpg")
            try folder.write("\0\0\0\u{E}ftypavif\0\0", to: "x.avif")
        }

        func run(_ line: String) async throws -> Program.Outcome {
            try await Program.shell(line, in: folder)
        }
    }

    @Test("a bare name is the file of this name, unless a film is called so; then a note says so")
    func bareNames() async throws {
        let folder = try Folder()
        let file = try await folder.run("marquee show n.jpg")
        #expect(file.status == 0)
        #expect(file.lines.first == "file        file://\(folder.folder.path)/n.jpg", "\(file.errorText)")
        let film = try await folder.run("marquee show metropolis")
        #expect(film.lines.first == "Metropolis")
        #expect(
            film.errorText.contains(
                "metropolis is the film \"Metropolis\"; for the file of this name, write ./metropolis"))
        let path = try await folder.run("marquee show ./metropolis")
        #expect(path.text.contains("jpeg  500 x 750"), "\(path.errorText)")
        // The file is called as a part of a title, not as the title.
        let part = try await folder.run("cp n.jpg 'metropol' && marquee show metropol")
        #expect(part.text.contains("/metropol\n"), "\(part.text)")
        let fetched = try await folder.run("marquee fetch n.jpg -o out")
        #expect(fetched.text.hasSuffix("  to out/n.jpg\n"), "\(fetched.errorText)")
    }

    @Test("a file that is not there is named as such, with status 2", arguments: ["nofile.jpg", "no/film"])
    func missing(word: String) async throws {
        let run = try await Folder().run("marquee show \(word)")
        #expect(run.status == 2)
        #expect(run.errorText == "marquee: \(word): there is no such file; check the path\n")
    }

    @Test("several words are shown in order; the status counts those that failed")
    func severalWords() async throws {
        let folder = try Folder()
        let good = try await folder.run("marquee show n.jpg metropolis pictures/A.png")
        #expect(good.status == 0)
        let places = ["/n.jpg", "Metropolis", "/A.png"].map { good.text.firstRange(of: $0)?.lowerBound }
        #expect(places == places.sorted { $0 ?? good.text.endIndex < $1 ?? good.text.endIndex })
        #expect(!places.contains(nil))
        #expect(try await folder.run("marquee show n.jpg empty.jpg").status == 1)
        #expect(try await folder.run("marquee show nofile.jpg empty.jpg").status == 2)
    }

    @Test(
        "standard input and pipes are pictures",
        arguments: [
            ("marquee show - < n.jpg", "standard input"), ("cat n.jpg | marquee show -", "standard input"),
            ("cat n.jpg | marquee show /dev/stdin", "/dev/stdin"),
            ("mkfifo p && { cat n.jpg > p & marquee show ./p; }", "/p"),
        ])
    func pipes(line: String, name: String) async throws {
        let run = try await Folder().run(line)
        #expect(run.status == 0, "\(run.errorText)")
        #expect(run.lines.first?.hasPrefix("file  ") == true && run.lines.first?.hasSuffix(name) == true)
        #expect(run.text.contains("jpeg  500 x 750"))
        let bad = try await Folder().run("echo text | marquee show -")
        #expect(bad.status == 2)
        #expect(bad.errorText == "marquee: standard input: not an image: it is text: \"text \"\n")
    }

    @Test("a name that is not UTF-8 is shown, fetched and listed")
    func namesInBytes() async throws {
        let folder = try Folder()
        let script = "n=$(printf 'pictures/x\\377.jpg'); cp n.jpg \"$n\"; "
        let run = try await folder.run(
            script + "marquee show \"$n\" && marquee picture \"$n\" w92 -o - | head -c 2 | wc -c")
        #expect(run.status == 0, "\(run.errorText)")
        #expect(run.lines.first?.hasSuffix("/pictures/x%FF.jpg") == true)
        #expect(run.lines.last?.contains("2") == true)
        let sheet = try await folder.run(script + "marquee show pictures")
        #expect(sheet.text.contains("/pictures/x%FF.jpg"), "\(sheet.text)")
    }

    @Test("a folder is a list of its pictures in a pipe, and a sheet of pictures in colours")
    func folders() async throws {
        let folder = try Folder()
        let list = try await folder.run("marquee show pictures/")
        #expect(list.status == 1)
        #expect(list.lines.map { $0.split(separator: "/").last.map(String.init) } == ["A.png", "b.jpg"])
        #expect(list.errorText.contains("/pictures/c.gif: not an image"))
        let sheet = try await folder.run("marquee show pictures --color always -s 10x5")
        #expect(sheet.status == 1)
        #expect(sheet.text.contains("A.png") && sheet.text.contains("b.jpg") && sheet.text.contains("c.gif"))
        #expect(!sheet.text.contains("notes"))
        // A picture of five rows, its name, and a free line.
        #expect(sheet.text.split(separator: "\n", omittingEmptySubsequences: false).count == 8)
        let none = try await folder.run("mkdir e && marquee show e")
        #expect(none.status == 2 && none.errorText.contains("there is no picture in this folder"))
    }

    @Test("a folder of pictures is a catalogue; so is standard input")
    func catalogues() async throws {
        let folder = try Folder()
        let list = try await folder.run("marquee list --catalogue pictures --plain")
        #expect(list.lines == ["A.png\tA\t\t\t\tcached", "b.jpg\tb\t\t\t\tcached", "c.gif\tc\t\t\t\tcached"])
        let input = try await folder.run(
            "printf '[{\"id\":\"x\",\"title\":\"X\",\"poster\":\"n.jpg\"}]' > f.json; "
                + "marquee - --plain < f.json; cat f.json | marquee list --catalogue - --plain")
        #expect(input.lines == ["x\tX\t\t\t\tcached", "x\tX\t\t\t\tcached"], "\(input.errorText)")
    }

    @Test(
        "a picture that cannot be decoded ends show with 2 where it is drawn, and names a program that reads it"
    )
    func undecodable() async throws {
        let folder = try Folder()
        let drawn = try await folder.run("marquee show x.avif --color always")
        #expect(drawn.status == 2)
        #expect(
            drawn.errorText.contains(
                "decoding of AVIF is not supported; make a PNG of it with avifdec FILE OUT.png"),
            "\(drawn.errorText)")
        #expect(try await folder.run("marquee show x.avif").status == 0)
        #expect(try await folder.run("marquee show x.avif --json").status == 0)
        let empty = try await folder.run("marquee show empty.jpg")
        #expect(empty.errorText.hasSuffix("/empty.jpg: the file is empty\n"))
    }

    @Test(
        "a picture has the size that is asked for in cells, also in a pipe",
        arguments: [
            ("marquee show n.jpg -s 8x6", "", 6), ("marquee show n.jpg --size 40X3", "", 3),
            ("marquee show n.jpg", "FZF_PREVIEW_COLUMNS=20 FZF_PREVIEW_LINES=12", 9),
            ("marquee picture n.jpg 100x150.fill -s 8x6", "", 6),
        ])
    func sizes(line: String, variables: String, rows: Int) async throws {
        let folder = try Folder()
        let run = try await folder.run("env TERM=xterm-256color \(variables) \(line)")
        #expect(run.status == 0, "\(run.errorText)")
        let drawn = run.lines.prefix { $0.contains("\u{1B}[") }
        #expect(drawn.count == rows, "\(run.lines)")
        #expect(try await folder.run("marquee show n.jpg -s 0x9").status == 2)
    }

    @Test(
        "where no terminal tells its size, COLUMNS and LINES do",
        arguments: [
            ("COLUMNS=20 LINES=9", 8, 6), ("LINES=9", 8, 6), ("COLUMNS=8", 8, 6),
            ("COLUMNS=4 LINES=90", 4, 3),
            ("COLUMNS=20 LINES=1", 1, 1), ("COLUMNS=9999999999 LINES=9", 8, 6), ("COLUMNS=x LINES=0", 40, 30),
            // fzf tells more exactly.
            ("COLUMNS=90 LINES=90 FZF_PREVIEW_COLUMNS=20 FZF_PREVIEW_LINES=9", 8, 6),
        ])
    func environment(variables: String, columns: Int, rows: Int) async throws {
        let folder = try Folder()
        let run = try await folder.run(
            "env TERM=xterm-256color \(variables) marquee show n.jpg --color always --graphics ascii")
        #expect(run.status == 0, "\(run.errorText)")
        let drawn = run.lines.prefix { !$0.hasPrefix("file  ") }
        #expect(drawn.count == rows && drawn.first?.count == columns, "\(run.lines)")
    }

    @Test("COLUMNS and LINES alone ask for no colours")
    func colours() async throws {
        let run = try await Folder().run("env TERM=xterm-256color COLUMNS=20 LINES=9 marquee show n.jpg")
        #expect(run.status == 0 && !run.text.contains("\u{1B}"), "\(run.text)")
    }

    @Test(
        "a film's picture leaves room in a small preview for the title and the main facts",
        arguments: [(40, 12, 7), (30, 8, 4), (200, 40, 24), (40, 1, 1)])
    func preview(columns: Int, lines: Int, rows: Int) async throws {
        let folder = try Folder()
        let variables = "TERM=xterm-256color FZF_PREVIEW_COLUMNS=\(columns) FZF_PREVIEW_LINES=\(lines)"
        let run = try await folder.run("env \(variables) marquee show nosferatu")
        #expect(run.status == 0, "\(run.errorText)")
        let all = run.text.split(separator: "\n", omittingEmptySubsequences: false)
        #expect(all.prefix { $0.contains("\u{1B}[") }.count == rows, "\(all)")
        let shown = all.prefix(lines).joined(separator: "\n")
        #expect(lines < 12 || shown.contains("Nosferatu") && shown.contains("F. W. Murnau"), "\(all)")
        // The size that the user names stays.
        let own = try await folder.run("env \(variables) marquee show nosferatu --size 40x10")
        #expect(own.lines.prefix { $0.contains("\u{1B}[") }.count == 10, "\(own.lines)")
    }

    @Test("without a terminal, COLUMNS is the width of the overview, of a list and of a sheet")
    func widths() async throws {
        let folder = try Folder()
        func widest(_ line: String) async throws -> Int {
            let run = try await folder.run("env TERM=xterm-256color \(line)")
            #expect(run.status < 2, "\(run.errorText)")
            return run.lines.filter { !$0.hasPrefix("poster ") }.map(\.count).max() ?? 0
        }
        let columns = 44
        for words in ["show metropolis", "list", "list --posters --color always --graphics none"] {
            #expect(try await widest("COLUMNS=\(columns) marquee \(words)") <= columns, "\(words)")
            #expect(try await widest("marquee \(words)") > columns, "\(words)")
        }
        #expect(try await widest("COLUMNS=9999999999 marquee list --posters --color always") < 2000)
        let plain = try await widest("COLUMNS=\(columns) marquee list --plain")
        #expect(plain > columns)
        let sheet = try await folder.run(
            "env TERM=xterm-256color COLUMNS=19 marquee show pictures --color always -s 10x5")
        #expect(!sheet.lines.contains { $0.contains("A.png") && $0.contains("b.jpg") }, "\(sheet.lines)")
    }

    @Test("fetch - refuses a picture in one line")
    func pictureAsList() async throws {
        let run = try await Folder().run("marquee fetch - < n.jpg")
        #expect(run.status == 2)
        #expect(
            run.errorText
                == "marquee: standard input: this is no list of addresses, one a line; marquee show - shows a picture\n"
        )
    }
}
