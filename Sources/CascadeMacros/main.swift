// The plugin that the compiler asks to expand macros. It speaks the compiler's protocol by itself:
// messages in JSON, each after its length in eight bytes, little-endian. `expand FILE...` prints what
// the macros make of files.

let arguments = CommandLine.arguments
if arguments.count >= 3, arguments[1] == "expand" {
  for path in arguments.dropFirst(2) { printExpansions(ofFile: path) }
} else {
  while let message = Message.receive() { Message.send(Plugin.reply(to: message)) }
}
