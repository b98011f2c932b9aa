// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "Music",
  dependencies: [.package(url: "@REPOSITORY@", branch: "main")],
  targets: [
    // Names that other packages have too.
    .target(name: "Model", dependencies: [.product(name: "CascadeKit", package: "@NAME@")]),
    .target(name: "Store"),
    .target(name: "System"),
    .executableTarget(name: "Music", dependencies: ["Model", "Store", "System"]),
  ])
