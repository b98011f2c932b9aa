// swift-tools-version: 6.2
import PackageDescription

// Layers: a target imports only from lower layers, and only what is listed here.
//
//   4  cascaded   cascadectl
//   3  Daemon     CascadeKit
//   2  Spool      Varlink
//   1  Store
//   0  Model  SQLite  System  (and the C libraries below them)

let settings: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
  .strictMemorySafety(),
  .treatAllWarnings(as: .error),
]

/// Regular expressions are a megabyte that no program of ours needs.
let sources =
  settings + [
    .unsafeFlags(["-Xfrontend", "-disable-implicit-string-processing-module-import"])
  ]

/// The programs carry Swift's runtime with them: of its libraries each would keep pages of its own, and
/// where they are installed there need be none. All symbols are bound at the start, and then read-only.
let alone: [LinkerSetting] = [
  .unsafeFlags(["-static-stdlib", "-Xlinker", "-z", "-Xlinker", "now"])
]

let package = Package(
  name: "Cascade",
  products: [
    .executable(name: "cascaded", targets: ["cascaded"]),
    .executable(name: "cascadectl", targets: ["cascadectl"]),
    .library(name: "CascadeKit", targets: ["CascadeKit"]),
  ],
  targets: [
    .systemLibrary(
      name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
    .systemLibrary(
      name: "CSystemd", pkgConfig: "libsystemd", providers: [.apt(["libsystemd-dev"])]),

    .target(name: "Model", swiftSettings: sources),
    .target(name: "SQLite", dependencies: ["CSQLite"], swiftSettings: sources),
    .target(name: "System", dependencies: ["CSystemd"], swiftSettings: sources),

    .target(name: "Store", dependencies: ["Model", "SQLite", "System"], swiftSettings: sources),
    .target(name: "Spool", dependencies: ["Model", "Store", "System"], swiftSettings: sources),
    .target(name: "Varlink", dependencies: ["Model", "System"], swiftSettings: sources),

    .target(
      name: "Daemon", dependencies: ["Model", "Spool", "Store", "System", "Varlink"],
      resources: [.embedInCode("io.cascaded.Control.varlink")], swiftSettings: sources),
    .target(
      name: "CascadeKit", dependencies: ["Model", "Varlink"], swiftSettings: sources),

    .executableTarget(
      name: "cascaded", dependencies: ["Daemon", "Model", "Store", "System"],
      swiftSettings: sources, linkerSettings: alone),
    .executableTarget(
      name: "cascadectl", dependencies: ["CascadeKit", "Model", "System", "Varlink"],
      swiftSettings: sources, linkerSettings: alone),

    .testTarget(
      name: "ModelTests", dependencies: ["Model", "System"], swiftSettings: settings),
    .testTarget(
      name: "StoreTests", dependencies: ["Model", "SQLite", "Store", "System"],
      swiftSettings: settings),
    .testTarget(
      name: "SpoolTests", dependencies: ["Model", "SQLite", "Spool", "Store", "System"],
      swiftSettings: settings),
    .testTarget(
      name: "VarlinkTests", dependencies: ["Model", "System", "Varlink"], swiftSettings: settings),
    .testTarget(
      name: "DaemonTests", dependencies: ["CascadeKit", "Model", "SQLite", "System"],
      swiftSettings: settings),
  ]
)
