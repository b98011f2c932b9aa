/// What a house records: states and events that share their attributes and data, and the sums of
/// them. Every fifth state has attributes of its own, the others share ten.
enum Recorder {
  static let schema = """
    CREATE TABLE states_meta (
      metadata_id INTEGER NOT NULL, entity_id VARCHAR(255), PRIMARY KEY (metadata_id));
    CREATE UNIQUE INDEX ix_states_meta_entity_id ON states_meta (entity_id);
    CREATE TABLE state_attributes (
      attributes_id INTEGER NOT NULL, hash BIGINT, shared_attrs TEXT, PRIMARY KEY (attributes_id));
    CREATE INDEX ix_state_attributes_hash ON state_attributes (hash);
    CREATE TABLE states (
      state_id INTEGER NOT NULL, state VARCHAR(255), last_updated_ts FLOAT, old_state_id INTEGER,
      attributes_id INTEGER, metadata_id INTEGER, PRIMARY KEY (state_id),
      FOREIGN KEY(old_state_id) REFERENCES states (state_id),
      FOREIGN KEY(attributes_id) REFERENCES state_attributes (attributes_id),
      FOREIGN KEY(metadata_id) REFERENCES states_meta (metadata_id));
    CREATE INDEX ix_states_old_state_id ON states (old_state_id);
    CREATE INDEX ix_states_attributes_id ON states (attributes_id);
    CREATE INDEX ix_states_metadata_id_last_updated_ts ON states (metadata_id, last_updated_ts);
    CREATE TABLE event_data (
      data_id INTEGER NOT NULL, hash BIGINT, shared_data TEXT, PRIMARY KEY (data_id));
    CREATE TABLE events (
      event_id INTEGER NOT NULL, time_fired_ts FLOAT, data_id INTEGER, PRIMARY KEY (event_id),
      FOREIGN KEY(data_id) REFERENCES event_data (data_id));
    CREATE INDEX ix_events_data_id ON events (data_id);
    CREATE TABLE statistics_meta (
      id INTEGER NOT NULL, statistic_id VARCHAR(255), PRIMARY KEY (id));
    CREATE TABLE statistics (
      id INTEGER NOT NULL, metadata_id INTEGER, start_ts FLOAT, mean FLOAT, PRIMARY KEY (id),
      FOREIGN KEY(metadata_id) REFERENCES statistics_meta (id) ON DELETE CASCADE);
    CREATE UNIQUE INDEX ix_statistics_statistic_id_start_ts ON statistics (metadata_id, start_ts);
    """

  static let rows = """
    CREATE TEMP VIEW n AS
      WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n LIMIT 2000) SELECT i FROM n;
    BEGIN;
    INSERT INTO states_meta SELECT i, 'sensor.s' || i FROM n WHERE i <= 20;
    INSERT INTO state_attributes SELECT i, i, '{}' FROM n WHERE i <= 10 OR i % 5 = 0;
    INSERT INTO states SELECT i, i, i, iif(i > 20, i - 20, NULL),
      iif(i % 5 = 0 AND i > 10, i, i % 10 + 1), i % 20 + 1 FROM n;
    INSERT INTO event_data SELECT i, i, '{}' FROM n WHERE i <= 100;
    INSERT INTO events SELECT i, i, (i + 9) / 10 FROM n WHERE i <= 1000;
    INSERT INTO statistics_meta SELECT i, 'sensor.s' || i FROM n WHERE i <= 20;
    INSERT INTO statistics SELECT i, i % 20 + 1, i, i FROM n;
    COMMIT;
    """

  static let model = """
    {
      collections: {
        states: { table: "states", key: "state_id" },
        entities: { table: "states_meta", key: "metadata_id" },
        attributes: { table: "state_attributes", key: "attributes_id" },
        events: { table: "events", key: "event_id" },
        data: { table: "event_data", key: "data_id" },
        statistics: { table: "statistics", key: "id" },
        statisticsMeta: { table: "statistics_meta", key: "id" },
      },
      relationships: [
        { name: "entity", from: "states", to: "entities", column: "metadata_id",
          rules: ["deleteSourceIfDestinationDeleted"] },
        { name: "before", from: "states", to: "states", column: "old_state_id",
          inverse: { name: "after", deleteRule: "nullify" } },
        { name: "attributes", from: "states", to: "attributes", column: "attributes_id",
          rules: ["deleteDestinationIfAllSourcesDeleted"] },
        { name: "data", from: "events", to: "data", column: "data_id",
          rules: ["deleteDestinationIfAllSourcesDeleted"] },
        { name: "meta", from: "statistics", to: "statisticsMeta", column: "metadata_id",
          rules: ["deleteSourceIfDestinationDeleted"] },
      ],
    }
    """

  static func store() throws -> TestStore {
    try TestStore(model: model, schema: schema + rows)
  }
}
