// The C library, for the modules that import this one.
#if canImport(Musl)
    @_exported public import Musl
#else
    @_exported public import Glibc
#endif
