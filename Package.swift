// swift-tools-version: 6.2
import CompilerPluginSupport
import PackageDescription

// Layers: a target imports only from lower layers, and only what is listed here.
//
//   6  cascaded        cascadectl     cascaded-postgres
//   5  Daemon below DaemonProgram     CascadeKit     CascadeInspect
//   4  VarlinkServer   Spool          SQLiteStore    PostgresStore
//   3  SQLiteUndo … SQLiteJournal, PostgresChanges, PostgresSweeps, in the order of their lists below
//   2  CascadeEngine   SQLiteBinding  SQLiteTables   PostgresBinding  PostgresTables
//   1  SystemdService  CascadeStore   CascadeVarlink  HTTPServer
//   0  CascadeModel    CascadeSQLite  CascadeSystem  CascadePostgres (and the C libraries below)
//      CascadeMacros runs in the compiler, and uses none of them.
//
// Only `cascaded` and `cascaded-postgres` know an engine: what is below them uses the protocols of
// `CascadeStore`.
//
// The daemon needs Linux and libsystemd, so its targets are declared on Linux only. CascadeKit,
// cascadectl and the targets that they depend on do not link libsystemd.

let settings: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
  .strictMemorySafety(),
  .treatAllWarnings(as: .error),
]

/// Without the regular expressions of the standard library: they cost a megabyte and are not used.
let sources =
  settings + [
    .unsafeFlags(["-Xfrontend", "-disable-implicit-string-processing-module-import"])
  ]

/// For tests that wait, or leave the work to what they test: to optimize them takes longer than it saves.
/// Nothing imports them, so their module is not compiled first on its own.
let tests = settings + [.unsafeFlags(["-Onone", "-no-emit-module-separately-wmo"])]

/// The programs are linked statically with Swift's runtime. Each of its shared libraries would cost
/// memory pages of its own, and a machine where the programs are installed may not have them. All
/// symbols are bound at the start and are read-only from then on.
let alone: [LinkerSetting] = [
  .unsafeFlags(["-static-stdlib", "-Xlinker", "-z", "-Xlinker", "now"])
]

let package = Package(
  name: "Cascade",
  products: [
    .executable(name: "cascadectl", targets: ["cascadectl"]),
    .library(name: "CascadeKit", targets: ["CascadeKit"]),
    .library(name: "CascadeKitFoundation", targets: ["CascadeKitFoundation"]),
  ],
  targets: [
    .systemLibrary(
      name: "CascadeCSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
    .systemLibrary(name: "CascadeCSystem"),
    // Without pkgConfig, which would link it: it is loaded when `cascadectl web` starts.
    .systemLibrary(name: "CMicrohttpd", providers: [.apt(["libmicrohttpd-dev"])]),

    .systemLibrary(
      name: "CZstd", pkgConfig: "libzstd", providers: [.apt(["libzstd-dev"])]),

    .target(name: "CascadeModel", swiftSettings: sources),
    .target(name: "Zstandard", dependencies: ["CZstd"], swiftSettings: sources),
    .target(name: "CascadeSQLite", dependencies: ["CascadeCSQLite"], swiftSettings: sources),
    .target(name: "CascadeSystem", dependencies: ["CascadeCSystem"], swiftSettings: sources),
    .target(
      name: "CascadeVarlink", dependencies: ["CascadeModel", "CascadeSystem"],
      swiftSettings: sources),
    .macro(name: "CascadeMacros", swiftSettings: sources),
    .target(name: "HTTPServer", dependencies: ["CMicrohttpd"], swiftSettings: sources),
    .target(
      name: "CascadeKit",
      dependencies: [
        "CascadeCSQLite", "CascadeCSystem", "CascadeMacros", "CascadeModel", "CascadeSystem",
        "CascadeVarlink",
      ],
      swiftSettings: sources),
    .target(
      name: "CascadeKitFoundation", dependencies: ["CascadeKit"], swiftSettings: sources),
    .executableTarget(
      name: "cascadectl",
      dependencies: [
        "CascadeInspect", "CascadeKit", "CascadeModel", "CascadeSystem", "CascadeVarlink",
        "HTTPServer", "Zstandard",
      ],
      resources: ["index.html", "style.css", "app.js", "views.js", "explain.js", "picture.js"]
        .map { .embedInCode("Web/Page/\($0)") },
      swiftSettings: sources, linkerSettings: alone),

    .target(name: "CascadeStore", dependencies: ["CascadeModel"], swiftSettings: sources),
    .target(
      name: "CascadeEngine",
      dependencies: ["CascadeModel", "CascadeStore", "CascadeSystem", "Zstandard"],
      swiftSettings: sources),
    .target(
      name: "CascadeInspect",
      dependencies: ["CascadeModel", "CascadeSQLite", "CascadeSystem", "SQLiteBinding"],
      swiftSettings: sources),

    .target(
      name: "TestSupport", dependencies: ["CascadeSystem"], path: "Tests/TestSupport",
      swiftSettings: settings),
    .testTarget(
      name: "ModelTests", dependencies: ["CascadeModel", "CascadeSystem"], swiftSettings: settings),
    .testTarget(
      name: "EngineTests",
      dependencies: [
        "CascadeModel", "CascadeEngine", "CascadeStore", "CascadeSystem", "Zstandard",
      ],
      swiftSettings: settings),
    .testTarget(
      name: "SystemTests", dependencies: ["CascadeSystem", "TestSupport"], swiftSettings: tests),
    .testTarget(
      name: "VarlinkTests",
      dependencies: ["CascadeSystem", "CascadeVarlink", "TestSupport"],
      swiftSettings: tests),
  ]
)

/// Tests of all layers of the SQLite engine. They take longest to compile, and come last: as two targets
/// they are compiled beside each other.
func storeTests(_ name: String) -> Target {
  .testTarget(
    name: name,
    dependencies: [
      "StoreDefinition", "StoreFixtures", "TestSupport",
      "CascadeModel", "CascadeSQLite", "CascadeSystem", "CascadeEngine", "CascadeStore",
      "SQLiteBinding", "SQLiteTables", "SQLiteJournal", "SQLiteRules", "SQLiteEdges",
      "SQLiteDeletion", "SQLiteSweeps", "SQLiteUndo", "SQLiteStore",
    ],
    swiftSettings: tests)
}

/// The layers of an engine: each uses those before it.
func engine(_ layers: [String], on client: Target.Dependency) -> [Target] {
  let foundations: [Target.Dependency] = [
    "CascadeModel", "CascadeEngine", client, "CascadeStore", "CascadeSystem",
  ]
  return layers.enumerated().map { index, layer in
    .target(
      name: layer, dependencies: foundations + layers.prefix(index).map { .byName(name: $0) },
      swiftSettings: sources)
  }
}

package.targets += engine(
  [
    "SQLiteBinding", "SQLiteTables", "SQLiteJournal", "SQLiteRules", "SQLiteEdges",
    "SQLiteDeletion", "SQLiteSweeps", "SQLiteUndo", "SQLiteStore",
  ], on: "CascadeSQLite")

#if os(Linux)
  package.products.append(.executable(name: "cascaded", targets: ["cascaded"]))
  package.products.append(.executable(name: "cascaded-postgres", targets: ["cascaded-postgres"]))
  package.targets += [
    .systemLibrary(
      name: "CSystemd", pkgConfig: "libsystemd", providers: [.apt(["libsystemd-dev"])]),
    .target(
      name: "Spool", dependencies: ["CascadeModel", "CascadeStore", "CascadeSystem"],
      swiftSettings: sources),
    .target(
      name: "SystemdService",
      dependencies: ["CascadeCSystem", "CascadeModel", "CascadeSystem", "CSystemd"],
      swiftSettings: sources),
    .target(
      name: "VarlinkServer",
      dependencies: ["CascadeModel", "CascadeSystem", "CascadeVarlink", "SystemdService"],
      swiftSettings: sources),
    .target(
      name: "Daemon",
      dependencies: [
        "CascadeModel", "CascadeSystem", "CascadeVarlink", "Spool", "CascadeEngine",
        "CascadeStore", "SystemdService", "VarlinkServer",
      ],
      resources: [.embedInCode("io.cascaded.Control.varlink")], swiftSettings: sources),
    .target(
      name: "DaemonProgram",
      dependencies: ["CascadeModel", "CascadeStore", "CascadeSystem", "Daemon", "SystemdService"],
      swiftSettings: sources),
    .executableTarget(
      name: "cascaded",
      dependencies: [
        "CascadeInspect", "CascadeModel", "CascadeStore", "CascadeSystem", "Daemon",
        "DaemonProgram", "SQLiteStore",
      ],
      swiftSettings: sources, linkerSettings: alone),

    .systemLibrary(
      name: "CPostgreSQL", pkgConfig: "libpq", providers: [.apt(["libpq-dev"])]),
    .target(name: "CascadePostgres", dependencies: ["CPostgreSQL"], swiftSettings: sources),
    .executableTarget(
      name: "cascaded-postgres",
      dependencies: [
        "CascadePostgres", "CascadeStore", "CascadeSystem", "Daemon", "DaemonProgram",
        "PostgresStore",
      ],
      swiftSettings: sources, linkerSettings: alone),
    .target(
      name: "PostgresSupport",
      dependencies: ["CascadeCSystem", "CascadePostgres", "CascadeSystem"],
      path: "Tests/PostgresSupport", swiftSettings: settings),
    .testTarget(
      name: "PostgresTests",
      dependencies: [
        "CascadeModel", "CascadePostgres", "CascadeStore", "CascadeSystem", "PostgresStore",
        "PostgresSupport", "PostgresTables", "StoreDefinition", "TestSupport",
      ],
      swiftSettings: tests),

    .target(
      name: "StoreDefinition",
      dependencies: [
        "CascadeModel", "CascadeStore", "CascadeSystem", "TestSupport", "Zstandard",
      ],
      path: "Tests/StoreDefinition", swiftSettings: settings),
    .testTarget(
      name: "InspectTests",
      dependencies: [
        "CascadeInspect", "CascadeModel", "CascadeSQLite", "CascadeSystem", "SQLiteBinding",
        "TestSupport",
      ],
      exclude: ["Schemas"], swiftSettings: tests),
    .target(
      name: "StoreFixtures",
      dependencies: [
        "StoreDefinition", "CascadeModel", "CascadeSQLite", "CascadeEngine", "CascadeStore",
        "SQLiteTables", "SQLiteJournal", "SQLiteStore",
      ],
      path: "Tests/StoreFixtures", swiftSettings: settings),
    storeTests("StoreTests"),
    storeTests("StoreRuleTests"),
    .testTarget(
      name: "SpoolTests",
      dependencies: [
        "CascadeModel", "CascadeSQLite", "CascadeStore", "CascadeSystem", "Spool", "SQLiteStore",
      ],
      swiftSettings: tests),
    .testTarget(
      name: "ServiceTests",
      dependencies: [
        "CascadeModel", "CascadeSystem", "CascadeVarlink", "SystemdService", "TestSupport",
        "VarlinkServer",
      ],
      swiftSettings: tests),
    // What the tests and benchmarks of CascadeKit run as another process.
    .executableTarget(
      name: "KitProgram", dependencies: ["CascadeKit", "CascadeSystem"], path: "Tests/KitProgram",
      swiftSettings: settings, linkerSettings: alone),
    .testTarget(
      name: "CascadeKitTests",
      dependencies: [
        "CascadeKit", "CascadeKitFoundation", "CascadeModel", "CascadeSystem", "TestSupport",
      ],
      swiftSettings: tests),
    .testTarget(
      name: "DaemonTests",
      dependencies: [
        "CascadeKit", "CascadeModel", "CascadePostgres", "CascadeSQLite", "CascadeSystem",
        "PostgresSupport", "TestSupport",
      ],
      swiftSettings: tests),
  ]
  package.targets += engine(
    [
      "PostgresBinding", "PostgresTables", "PostgresSweeps", "PostgresChanges", "PostgresStore",
    ], on: "CascadePostgres")
#endif

/// With CASCADE_TESTS=NAME,NAME… only these test targets are there: to build all of them takes most
/// of the time.
if let names = Context.environment["CASCADE_TESTS"]?.split(separator: ",").map(String.init) {
  package.targets.removeAll { $0.type == .test && !names.contains($0.name) }
}
