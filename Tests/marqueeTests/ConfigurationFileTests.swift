import FoundationEssentials
import TestSupport
import TestTraits
import Testing

@testable import marquee

/// `$XDG_CONFIG_HOME/marquee/config`.
@Suite("The configuration file", .bounded)
struct ConfigurationFileTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        try folder.makeFolder("marquee")
    }

    private func arguments(_ words: String...) throws -> Arguments {
        let path = folder.file("marquee/config")
        return try Arguments(words, environment: [:]) {
            () throws(UsageError) in
            try ConfigurationFile(
                path: path,
                known: CommandSpecification.global + CommandSpecification.all.flatMap(\.options))
        }
    }

    @Test("each line is an option and its value, in several spellings")
    func spellings() throws {
        try folder.write(
            """
            # comment
            timeout 30
              max-time = 60
            --cache-dir=/tmp/c
            header "Accept: image/png"
            header 'X-Key: 1'
            no-disk-cache
            offline no
            credentials-file ~/secrets

            """, to: "marquee/config")
        let arguments = try arguments("list")
        #expect(arguments.value("timeout") == "30" && arguments.value("max-time") == "60")
        #expect(arguments.value("cache-dir") == "/tmp/c")
        #expect(arguments.values("header") == ["Accept: image/png", "X-Key: 1"])
        #expect(arguments.has("no-disk-cache") && !arguments.has("offline"))
        #expect(arguments.value("credentials-file")?.hasSuffix("/secrets") == true)
        #expect(arguments.value("credentials-file")?.hasPrefix("/") == true)
        // The browser stays the default: the command line gives no option of the list.
        #expect(!arguments.hasOwnOption)
        #expect(arguments.origins["timeout"]?.hasSuffix("/marquee/config:2") == true)
    }

    @Test("a wrong value names the file and the line; doctor shows what is set where")
    func program() async throws {
        try folder.write("# films\ntimeout never\n", to: "marquee/config")
        let environment = [
            "XDG_CONFIG_HOME": folder.path, "XDG_CACHE_HOME": folder.path, "HOME": folder.path,
        ]
        let wrong = try await Program.run(["list"], environment: environment)
        #expect(wrong.status == 2)
        #expect(wrong.errorText.hasPrefix("marquee: \(folder.path)/marquee/config:2: timeout needs seconds"))
        #expect(try await Program.run(["--help"], environment: environment).status == 0)
        try folder.write("timeout 20\noffline\n", to: "marquee/config")
        let doctor = try await Program.run(["doctor"], environment: environment)
        #expect(doctor.text.contains("timeout by \(folder.path)/marquee/config:1"), "\(doctor.text)")
        #expect(doctor.text.contains("offline by \(folder.path)/marquee/config:2"))
        let list = try await Program.run(["list", "--plain", "--top", "1"], environment: environment)
        #expect(list.status == 0, "\(list.errorText)")
    }

    @Test(
        "a pipe or a folder in the file's place is an error at once",
        arguments: [("mkfifo", "a pipe or a device"), ("mkdir", "a folder")])
    func noFile(maker: String, kind: String) async throws {
        let path = folder.file("marquee/config")
        let run = try await Program.shell(
            "\(maker) '\(path)'; marquee list", in: folder, environment: ["XDG_CONFIG_HOME": folder.path])
        #expect(run.status == 2)
        #expect(run.errorText == "marquee: \(path): it must be a text file, and it is \(kind)\n")
    }
}
