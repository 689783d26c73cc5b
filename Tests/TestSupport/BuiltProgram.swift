import FoundationEssentials

/// The programs of this package that were built with the tests.
public enum BuiltProgram {
    /// The absolute path of a program by its target's name. It is beside the test bundle, which is an argument of the
    /// running program or the program itself.
    public static func path(_ name: String) -> String { folder + "/" + name }

    /// Their folder. Absolute, because some tests start a program in another folder. Found once: a later change of the
    /// working folder must not change it.
    public static let folder: String = {
        let bundle = CommandLine.arguments.last { $0.contains(".xctest") }
        let program = URL(filePath: bundle ?? CommandLine.arguments.first ?? "")
        let parts = program.path.split(separator: "/").prefix { !$0.hasSuffix(".xctest") }
        return "/" + parts.joined(separator: "/")
    }()
}
