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
      name: "CascadeCSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
    .systemLibrary(
      name: "CSystemd", pkgConfig: "libsystemd", providers: [.apt(["libsystemd-dev"])]),

    .target(name: "CascadeModel", swiftSettings: sources),
    .target(name: "CascadeSQLite", dependencies: ["CascadeCSQLite"], swiftSettings: sources),
    .target(name: "CascadeSystem", dependencies: ["CSystemd"], swiftSettings: sources),

    .target(
      name: "Store", dependencies: ["CascadeModel", "CascadeSQLite", "CascadeSystem"],
      swiftSettings: sources),
    .target(
      name: "Spool", dependencies: ["CascadeModel", "Store", "CascadeSystem"],
      swiftSettings: sources),
    .target(
      name: "CascadeVarlink", dependencies: ["CascadeModel", "CascadeSystem"],
      swiftSettings: sources),

    .target(
      name: "Daemon",
      dependencies: ["CascadeModel", "Spool", "Store", "CascadeSystem", "CascadeVarlink"],
      resources: [.embedInCode("io.cascaded.Control.varlink")], swiftSettings: sources),
    .target(
      name: "CascadeKit", dependencies: ["CascadeModel", "CascadeVarlink"], swiftSettings: sources),

    .executableTarget(
      name: "cascaded", dependencies: ["Daemon", "CascadeModel", "Store", "CascadeSystem"],
      swiftSettings: sources, linkerSettings: alone),
    .executableTarget(
      name: "cascadectl",
      dependencies: ["CascadeKit", "CascadeModel", "CascadeSystem", "CascadeVarlink"],
      swiftSettings: sources, linkerSettings: alone),

    .testTarget(
      name: "ModelTests", dependencies: ["CascadeModel", "CascadeSystem"], swiftSettings: settings),
    .testTarget(
      name: "StoreTests",
      dependencies: ["CascadeModel", "CascadeSQLite", "Store", "CascadeSystem"],
      swiftSettings: settings),
    .testTarget(
      name: "SpoolTests",
      dependencies: ["CascadeModel", "CascadeSQLite", "Spool", "Store", "CascadeSystem"],
      swiftSettings: settings),
    .testTarget(
      name: "VarlinkTests", dependencies: ["CascadeModel", "CascadeSystem", "CascadeVarlink"],
      swiftSettings: settings),
    .testTarget(
      name: "DaemonTests",
      dependencies: ["CascadeKit", "CascadeModel", "CascadeSQLite", "CascadeSystem"],
      swiftSettings: settings),
  ]
)
