/// A music store of eleven tables, in the manner of schemas that programs generate: names in
/// PascalCase and brackets, keys as constraints of the table, foreign keys that take no action, and
/// an index for each. Artist n has the albums 2n-1 and 2n, each of ten tracks; a genre has eight
/// albums; the tracks 1001 to 1600 are sold.
enum Shop {
  static let schema = """
    CREATE TABLE [Artist] (
      [ArtistId] INTEGER NOT NULL,
      [Name] NVARCHAR(120),
      CONSTRAINT [PK_Artist] PRIMARY KEY ([ArtistId])
    );
    CREATE TABLE [Genre] (
      [GenreId] INTEGER NOT NULL,
      [Name] NVARCHAR(120),
      CONSTRAINT [PK_Genre] PRIMARY KEY ([GenreId])
    );
    CREATE TABLE [MediaType] (
      [MediaTypeId] INTEGER NOT NULL,
      [Name] NVARCHAR(120),
      CONSTRAINT [PK_MediaType] PRIMARY KEY ([MediaTypeId])
    );
    CREATE TABLE [Album] (
      [AlbumId] INTEGER NOT NULL,
      [Title] NVARCHAR(160) NOT NULL,
      [ArtistId] INTEGER NOT NULL,
      CONSTRAINT [PK_Album] PRIMARY KEY ([AlbumId]),
      FOREIGN KEY ([ArtistId]) REFERENCES [Artist] ([ArtistId])
        ON DELETE NO ACTION ON UPDATE NO ACTION
    );
    CREATE TABLE [Track] (
      [TrackId] INTEGER NOT NULL,
      [Name] NVARCHAR(200) NOT NULL,
      [AlbumId] INTEGER,
      [MediaTypeId] INTEGER NOT NULL,
      [GenreId] INTEGER,
      [Milliseconds] INTEGER NOT NULL,
      [UnitPrice] NUMERIC(10,2) NOT NULL,
      CONSTRAINT [PK_Track] PRIMARY KEY ([TrackId]),
      FOREIGN KEY ([AlbumId]) REFERENCES [Album] ([AlbumId])
        ON DELETE NO ACTION ON UPDATE NO ACTION,
      FOREIGN KEY ([GenreId]) REFERENCES [Genre] ([GenreId])
        ON DELETE NO ACTION ON UPDATE NO ACTION,
      FOREIGN KEY ([MediaTypeId]) REFERENCES [MediaType] ([MediaTypeId])
        ON DELETE NO ACTION ON UPDATE NO ACTION
    );
    CREATE TABLE [Playlist] (
      [PlaylistId] INTEGER NOT NULL,
      [Name] NVARCHAR(120),
      CONSTRAINT [PK_Playlist] PRIMARY KEY ([PlaylistId])
    );
    CREATE TABLE [PlaylistTrack] (
      [PlaylistId] INTEGER NOT NULL,
      [TrackId] INTEGER NOT NULL,
      CONSTRAINT [PK_PlaylistTrack] PRIMARY KEY ([PlaylistId], [TrackId]),
      FOREIGN KEY ([PlaylistId]) REFERENCES [Playlist] ([PlaylistId])
        ON DELETE NO ACTION ON UPDATE NO ACTION,
      FOREIGN KEY ([TrackId]) REFERENCES [Track] ([TrackId])
        ON DELETE NO ACTION ON UPDATE NO ACTION
    );
    CREATE TABLE [Employee] (
      [EmployeeId] INTEGER NOT NULL,
      [LastName] NVARCHAR(20) NOT NULL,
      [ReportsTo] INTEGER,
      [HireDate] DATETIME,
      CONSTRAINT [PK_Employee] PRIMARY KEY ([EmployeeId]),
      FOREIGN KEY ([ReportsTo]) REFERENCES [Employee] ([EmployeeId])
        ON DELETE NO ACTION ON UPDATE NO ACTION
    );
    CREATE TABLE [Customer] (
      [CustomerId] INTEGER NOT NULL,
      [Email] NVARCHAR(60) NOT NULL,
      [SupportRepId] INTEGER,
      CONSTRAINT [PK_Customer] PRIMARY KEY ([CustomerId]),
      FOREIGN KEY ([SupportRepId]) REFERENCES [Employee] ([EmployeeId])
        ON DELETE NO ACTION ON UPDATE NO ACTION
    );
    CREATE TABLE [Invoice] (
      [InvoiceId] INTEGER NOT NULL,
      [CustomerId] INTEGER NOT NULL,
      [InvoiceDate] DATETIME NOT NULL,
      [Total] NUMERIC(10,2) NOT NULL,
      CONSTRAINT [PK_Invoice] PRIMARY KEY ([InvoiceId]),
      FOREIGN KEY ([CustomerId]) REFERENCES [Customer] ([CustomerId])
        ON DELETE NO ACTION ON UPDATE NO ACTION
    );
    CREATE TABLE [InvoiceLine] (
      [InvoiceLineId] INTEGER NOT NULL,
      [InvoiceId] INTEGER NOT NULL,
      [TrackId] INTEGER NOT NULL,
      [UnitPrice] NUMERIC(10,2) NOT NULL,
      [Quantity] INTEGER NOT NULL,
      CONSTRAINT [PK_InvoiceLine] PRIMARY KEY ([InvoiceLineId]),
      FOREIGN KEY ([InvoiceId]) REFERENCES [Invoice] ([InvoiceId])
        ON DELETE NO ACTION ON UPDATE NO ACTION,
      FOREIGN KEY ([TrackId]) REFERENCES [Track] ([TrackId])
        ON DELETE NO ACTION ON UPDATE NO ACTION
    );
    CREATE INDEX [IFK_AlbumArtistId] ON [Album] ([ArtistId]);
    CREATE INDEX [IFK_CustomerSupportRepId] ON [Customer] ([SupportRepId]);
    CREATE INDEX [IFK_EmployeeReportsTo] ON [Employee] ([ReportsTo]);
    CREATE INDEX [IFK_InvoiceCustomerId] ON [Invoice] ([CustomerId]);
    CREATE INDEX [IFK_InvoiceLineInvoiceId] ON [InvoiceLine] ([InvoiceId]);
    CREATE INDEX [IFK_InvoiceLineTrackId] ON [InvoiceLine] ([TrackId]);
    CREATE INDEX [IFK_PlaylistTrackTrackId] ON [PlaylistTrack] ([TrackId]);
    CREATE INDEX [IFK_TrackAlbumId] ON [Track] ([AlbumId]);
    CREATE INDEX [IFK_TrackGenreId] ON [Track] ([GenreId]);
    CREATE INDEX [IFK_TrackMediaTypeId] ON [Track] ([MediaTypeId]);
    """

  static let rows = """
    CREATE TEMP VIEW n AS
      WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n LIMIT 2000) SELECT i FROM n;
    BEGIN;
    INSERT INTO Artist SELECT i, 'Artist ' || i FROM n WHERE i <= 100;
    INSERT INTO Genre SELECT i, 'Genre ' || i FROM n WHERE i <= 25;
    INSERT INTO MediaType VALUES(1, 'file'), (2, 'stream');
    INSERT INTO Album SELECT i, 'Album ' || i, (i + 1) / 2 FROM n WHERE i <= 200;
    INSERT INTO Track
      SELECT i, 'Track ' || i, (i + 9) / 10, i % 2 + 1, (i + 79) / 80, i * 100, 0.99 FROM n;
    INSERT INTO Playlist SELECT i, 'Playlist ' || i FROM n WHERE i <= 10;
    INSERT INTO PlaylistTrack SELECT i % 10 + 1, i FROM n;
    INSERT INTO PlaylistTrack SELECT (i + 3) % 10 + 1, i FROM n;
    INSERT INTO Employee
      SELECT i, 'Employee ' || i, nullif(i / 2, 0), '2026-01-01 00:00:00' FROM n WHERE i <= 8;
    INSERT INTO Customer SELECT i, 'c' || i || '@example.org', i % 3 + 3 FROM n WHERE i <= 60;
    INSERT INTO Invoice
      SELECT i, i % 60 + 1, '2026-02-01 00:00:00', 1.98 FROM n WHERE i <= 300;
    INSERT INTO InvoiceLine SELECT i, (i + 1) / 2, 1000 + i, 0.99, 1 FROM n WHERE i <= 600;
    COMMIT;
    """

  static let model = """
    {
      collections: {
        artists: { table: "Artist", key: "ArtistId" },
        albums: { table: "Album", key: "AlbumId" },
        tracks: { table: "Track", key: "TrackId" },
        genres: { table: "Genre", key: "GenreId" },
        mediaTypes: { table: "MediaType", key: "MediaTypeId" },
        playlists: { table: "Playlist", key: "PlaylistId" },
        employees: { table: "Employee", key: "EmployeeId" },
        customers: { table: "Customer", key: "CustomerId" },
        invoices: { table: "Invoice", key: "InvoiceId" },
        invoiceLines: { table: "InvoiceLine", key: "InvoiceLineId" },
      },
      relationships: [
        { name: "artist", from: "albums", to: "artists", column: "ArtistId",
          optional: false, inverse: { name: "albums", deleteRule: "cascade" } },
        { name: "album", from: "tracks", to: "albums", column: "AlbumId",
          rules: ["deleteSourceIfDestinationDeleted"] },
        { name: "genre", from: "tracks", to: "genres", column: "GenreId",
          rules: ["deleteDestinationIfAllSourcesDeleted"] },
        { name: "tracks", from: "playlists", to: "tracks", toMany: true,
          join: { table: "PlaylistTrack", source: "PlaylistId", destination: "TrackId" },
          rules: ["nullifySourceIfDestinationDeleted"] },
        { name: "reportsTo", from: "employees", to: "employees", column: "ReportsTo",
          rules: ["nullifySourceIfDestinationDeleted"] },
        { name: "supportRep", from: "customers", to: "employees", column: "SupportRepId",
          inverse: { name: "customers", deleteRule: "nullify" } },
        { name: "customer", from: "invoices", to: "customers", column: "CustomerId",
          rules: ["deleteSourceIfDestinationDeleted"] },
        { name: "invoice", from: "invoiceLines", to: "invoices", column: "InvoiceId",
          rules: ["deleteSourceIfDestinationDeleted"] },
        { name: "sold", from: "invoiceLines", to: "tracks", column: "TrackId",
          rules: ["denyDestinationDeletion"] },
      ],
    }
    """

  static func store() throws -> TestStore {
    try TestStore(model: model, schema: schema + rows)
  }
}
