internal import Glibc
internal import System

StandardStream.openMissing()
exit(Program.run(Process.arguments))
