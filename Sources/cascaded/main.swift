internal import Glibc
internal import System

// Before any thread exists: one that does not block these signals would die of them.
Signals.block([SIGTERM, SIGINT, SIGHUP])
exit(Command.run(Array(CommandLine.arguments.dropFirst())))
