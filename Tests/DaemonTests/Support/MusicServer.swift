import CascadeModel
import CascadePostgres
import PostgresSupport

/// A database with many artists, whose albums have songs and share photos.
enum MusicServer {
  /// Deleting an artist leaves nothing of it, except what others refer to.
  static func schema(artists: Int, albums: Int, songs: Int) -> String {
    """
    CREATE TABLE artist(id int PRIMARY KEY);
    CREATE TABLE photo(id int PRIMARY KEY);
    CREATE TABLE album(id text PRIMARY KEY, artist_id int, photo_id int);
    CREATE TABLE song(id text PRIMARY KEY, album_id text);
    CREATE INDEX ON album(artist_id); CREATE INDEX ON album(photo_id);
    CREATE INDEX ON song(album_id);
    INSERT INTO artist SELECT generate_series(1, \(artists));
    INSERT INTO photo SELECT generate_series(0, \(artists));
    INSERT INTO album SELECT a.id || '-' || n, a.id, CASE WHEN n % 2 = 0 THEN 0 ELSE a.id END
      FROM artist a, generate_series(1, \(albums)) n;
    INSERT INTO song SELECT a.id || '-' || n, a.id FROM album a, generate_series(1, \(songs)) n;
    -- Whether a connection that deletes is the leader's.
    CREATE TABLE witness(pid int, leads boolean);
    CREATE FUNCTION witness() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$ BEGIN
      INSERT INTO witness SELECT pg_backend_pid(), \(isLeader) WHERE session_user = 'cascaded';
      RETURN NULL; END $$;
    CREATE TRIGGER witness AFTER DELETE ON artist FOR EACH STATEMENT EXECUTE FUNCTION witness();
    CREATE TRIGGER witness AFTER DELETE ON song FOR EACH STATEMENT EXECUTE FUNCTION witness();
    """
  }

  private static var isLeader: String {
    switch TestedDialect.current {
    case .fast:
      """
      EXISTS (SELECT FROM pg_locks
        WHERE locktype = 'advisory' AND granted AND pid = pg_backend_pid())
      """
    case .portable:
      """
      EXISTS (SELECT FROM cascade.leader WHERE holder = current_setting('application_name'))
      """
    }
  }

  /// Its steps are as short as they may be.
  static let model = MusicModel.text(
    #"limits: { lock: "1ms", alone: "1ms", hold: { deletes: 1000000 } }"#)

  /// All rows of the application, as text.
  static let everything = """
    SELECT 'artist' || t FROM artist t UNION ALL SELECT 'album' || t FROM album t
    UNION ALL SELECT 'song' || t FROM song t UNION ALL SELECT 'photo' || t FROM photo t ORDER BY 1
    """
}
