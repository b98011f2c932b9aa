internal import Glibc
internal import CascadeSystem

StandardStream.openMissing()
exit(Program.run(Process.arguments ?? SpoolCommands.arguments(Process.argumentBytes)))
