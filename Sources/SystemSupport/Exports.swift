// Whoever imports this module has the lock too. The lock is a module for ImageCodecs, which uses nothing else of this
// one and is first on the longest chain of a build.
@_exported public import Locking
