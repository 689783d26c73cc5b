import Glibc

/// Runs commands of the shell.
public enum Shell {
    /// Whether a program is installed, by its name or its path. Tests that need another one skip with a message.
    public static func has(_ program: String) -> Bool { output("command -v '\(program)'") != "" }

    /// A text as one word of a command, whatever its characters.
    public static func quoted(_ text: String) -> String {
        "'\(text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: #"'\''"#))'"
    }

    /// A command's output, or an empty text if it cannot start. Blocks.
    /// - Parameter command: the command in shell syntax.
    public static func output(_ command: String) -> String {
        guard let pipe = unsafe popen(command, "r") else { return "" }
        defer { unsafe pclose(pipe) }
        var output: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = unsafe fread(&buffer, 1, buffer.count, pipe)
            guard count > 0 else { return String(decoding: output, as: UTF8.self) }
            output += buffer[..<count]
        }
    }
}
