--
-- PostgreSQL database dump
--


-- Dumped from database version 15.18 (Debian 15.18-0+deb12u1)
-- Dumped by pg_dump version 15.18 (Debian 15.18-0+deb12u1)

SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = off;

--
-- Name: cascade; Type: SCHEMA; Schema: -; Owner: cascaded
--

CREATE SCHEMA cascade;


ALTER SCHEMA cascade OWNER TO cascaded;

--
-- Name: arrived_1(); Type: FUNCTION; Schema: cascade; Owner: cascaded
--

CREATE FUNCTION cascade.arrived_1() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$BEGIN
INSERT INTO cascade.journal(seq, what, subject, key, other)
SELECT CASE WHEN row_number() OVER () = 1 THEN nextval('cascade.journal_seq') END, 3, 1, n."id"::text,
n."artist_id"::text FROM new n WHERE n."artist_id" IS NOT NULL
AND n."id" IS NOT NULL AND (NOT EXISTS (SELECT FROM public.artist t WHERE n."artist_id" = t."id"));
IF EXISTS (SELECT FROM cascade.asleep) AND current_setting('max_prepared_transactions') = '0' THEN PERFORM pg_notify('cascade', ''); END IF;
RETURN NULL;
END$$;


ALTER FUNCTION cascade.arrived_1() OWNER TO cascaded;

--
-- Name: FUNCTION arrived_1(); Type: COMMENT; Schema: cascade; Owner: cascaded
--

COMMENT ON FUNCTION cascade.arrived_1() IS '-6784817436684123268';


--
-- Name: arrived_4(); Type: FUNCTION; Schema: cascade; Owner: cascaded
--

CREATE FUNCTION cascade.arrived_4() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$BEGIN
IF EXISTS (SELECT FROM cascade.journal g WHERE g.subject = 4 AND what IN (1, 6) AND at IS NOT NULL) THEN
  INSERT INTO cascade.journal(seq, what, subject, at, key)
SELECT CASE WHEN row_number() OVER () = 1 THEN nextval('cascade.journal_seq') END, 6, 4, (SELECT nextval('cascade.journal_seq')), k.key
  FROM (SELECT n."id"::text AS key FROM new n) k
  WHERE EXISTS (SELECT FROM cascade.journal g WHERE g.subject = 4 AND what IN (1, 6) AND at IS NOT NULL AND g.key = k.key);
END IF;
INSERT INTO cascade.journal(seq, what, subject, key, other)
SELECT CASE WHEN row_number() OVER () = 1 THEN nextval('cascade.journal_seq') END, 3, 2, n."id"::text,
n."album_id"::text FROM new n WHERE n."album_id" IS NOT NULL
AND n."id" IS NOT NULL AND (NOT EXISTS (SELECT FROM public.album t WHERE n."album_id" = t."id"));
IF EXISTS (SELECT FROM cascade.asleep) AND current_setting('max_prepared_transactions') = '0' THEN PERFORM pg_notify('cascade', ''); END IF;
RETURN NULL;
END$$;


ALTER FUNCTION cascade.arrived_4() OWNER TO cascaded;

--
-- Name: FUNCTION arrived_4(); Type: COMMENT; Schema: cascade; Owner: cascaded
--

COMMENT ON FUNCTION cascade.arrived_4() IS '3396222986157322548';


--
-- Name: changed_1(); Type: FUNCTION; Schema: cascade; Owner: cascaded
--

CREATE FUNCTION cascade.changed_1() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$BEGIN
IF (OLD."id" IS DISTINCT FROM NEW."id") THEN
IF EXISTS (SELECT FROM cascade.protected) THEN
  IF session_user <> 'cascaded' AND EXISTS (SELECT FROM (SELECT OLD.*) o, cascade.protected p, cascade.protection t WHERE p.collection = 1
  AND p.key = o."id"::text AND t.number = p.protection) THEN
  RAISE EXCEPTION USING ERRCODE = 'foreign_key_violation', MESSAGE = coalesce(
    (SELECT concat(CASE WHEN t.collection = p.collection AND t.key = p.key THEN concat(concat('albums/', o."id"::text), ' is protected: ', t.reason) ELSE concat(concat('albums/', o."id"::text), ' is protected with ', t.node, ': ', t.reason) END) FROM (SELECT OLD.*) o, cascade.protected p, cascade.protection t WHERE p.collection = 1
  AND p.key = o."id"::text AND t.number = p.protection LIMIT 1), 'denied');
END IF;
END IF;
INSERT INTO cascade.journal(seq, what, subject, at, key)
SELECT CASE WHEN row_number() OVER () = 1 THEN nextval('cascade.journal_seq') END, 1, 1, NULL, OLD."id"::text;
END IF;
IF ((OLD."artist_id" IS DISTINCT FROM NEW."artist_id")) THEN
INSERT INTO cascade.journal(seq, what, subject, key, other)
SELECT CASE WHEN row_number() OVER () = 1 THEN nextval('cascade.journal_seq') END, 3, 1, n."id"::text,
n."artist_id"::text FROM (SELECT NEW.*) n WHERE n."artist_id" IS NOT NULL
AND n."id" IS NOT NULL AND (NOT EXISTS (SELECT FROM public.artist t WHERE n."artist_id" = t."id"));
END IF;
IF EXISTS (SELECT FROM cascade.asleep) AND current_setting('max_prepared_transactions') = '0' THEN PERFORM pg_notify('cascade', ''); END IF;
RETURN NULL;
END$$;


ALTER FUNCTION cascade.changed_1() OWNER TO cascaded;

--
-- Name: FUNCTION changed_1(); Type: COMMENT; Schema: cascade; Owner: cascaded
--

COMMENT ON FUNCTION cascade.changed_1() IS '6966855788055486468';


--
-- Name: changed_2(); Type: FUNCTION; Schema: cascade; Owner: cascaded
--

CREATE FUNCTION cascade.changed_2() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$BEGIN
IF (OLD."id" IS DISTINCT FROM NEW."id") THEN
IF EXISTS (SELECT FROM cascade.protected) THEN
  IF session_user <> 'cascaded' AND EXISTS (SELECT FROM (SELECT OLD.*) o, cascade.protected p, cascade.protection t WHERE p.collection = 2
  AND p.key = o."id"::text AND t.number = p.protection) THEN
  RAISE EXCEPTION USING ERRCODE = 'foreign_key_violation', MESSAGE = coalesce(
    (SELECT concat(CASE WHEN t.collection = p.collection AND t.key = p.key THEN concat(concat('artists/', o."id"::text), ' is protected: ', t.reason) ELSE concat(concat('artists/', o."id"::text), ' is protected with ', t.node, ': ', t.reason) END) FROM (SELECT OLD.*) o, cascade.protected p, cascade.protection t WHERE p.collection = 2
  AND p.key = o."id"::text AND t.number = p.protection LIMIT 1), 'denied');
END IF;
END IF;
INSERT INTO cascade.journal(seq, what, subject, at, key)
SELECT CASE WHEN row_number() OVER () = 1 THEN nextval('cascade.journal_seq') END, 1, 2, NULL, OLD."id"::text;
END IF;
IF EXISTS (SELECT FROM cascade.asleep) AND current_setting('max_prepared_transactions') = '0' THEN PERFORM pg_notify('cascade', ''); END IF;
RETURN NULL;
END$$;


ALTER FUNCTION cascade.changed_2() OWNER TO cascaded;

--
-- Name: FUNCTION changed_2(); Type: COMMENT; Schema: cascade; Owner: cascaded
--

COMMENT ON FUNCTION cascade.changed_2() IS '1954376696296331223';


--
-- Name: changed_4(); Type: FUNCTION; Schema: cascade; Owner: cascaded
--

CREATE FUNCTION cascade.changed_4() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$BEGIN
IF (OLD."id" IS DISTINCT FROM NEW."id") THEN
IF EXISTS (SELECT FROM cascade.protected) THEN
  IF session_user <> 'cascaded' AND EXISTS (SELECT FROM (SELECT OLD.*) o, cascade.protected p, cascade.protection t WHERE p.collection = 4
  AND p.key = o."id"::text AND t.number = p.protection) THEN
  RAISE EXCEPTION USING ERRCODE = 'foreign_key_violation', MESSAGE = coalesce(
    (SELECT concat(CASE WHEN t.collection = p.collection AND t.key = p.key THEN concat(concat('songs/', o."id"::text), ' is protected: ', t.reason) ELSE concat(concat('songs/', o."id"::text), ' is protected with ', t.node, ': ', t.reason) END) FROM (SELECT OLD.*) o, cascade.protected p, cascade.protection t WHERE p.collection = 4
  AND p.key = o."id"::text AND t.number = p.protection LIMIT 1), 'denied');
END IF;
END IF;
INSERT INTO cascade.journal(seq, what, subject, at, key)
SELECT CASE WHEN row_number() OVER () = 1 THEN nextval('cascade.journal_seq') END, 1, 4, (SELECT nextval('cascade.journal_seq')), OLD."id"::text;
IF EXISTS (SELECT FROM cascade.journal g WHERE g.subject = 4 AND what IN (1, 6) AND at IS NOT NULL) THEN
  INSERT INTO cascade.journal(seq, what, subject, at, key)
SELECT CASE WHEN row_number() OVER () = 1 THEN nextval('cascade.journal_seq') END, 6, 4, (SELECT nextval('cascade.journal_seq')), k.key
  FROM (SELECT n."id"::text AS key FROM (SELECT NEW.*) n) k
  WHERE EXISTS (SELECT FROM cascade.journal g WHERE g.subject = 4 AND what IN (1, 6) AND at IS NOT NULL AND g.key = k.key);
END IF;
END IF;
IF ((OLD."album_id" IS DISTINCT FROM NEW."album_id")) THEN
INSERT INTO cascade.journal(seq, what, subject, key, other)
SELECT CASE WHEN row_number() OVER () = 1 THEN nextval('cascade.journal_seq') END, 3, 2, n."id"::text,
n."album_id"::text FROM (SELECT NEW.*) n WHERE n."album_id" IS NOT NULL
AND n."id" IS NOT NULL AND (NOT EXISTS (SELECT FROM public.album t WHERE n."album_id" = t."id"));
END IF;
IF EXISTS (SELECT FROM cascade.asleep) AND current_setting('max_prepared_transactions') = '0' THEN PERFORM pg_notify('cascade', ''); END IF;
RETURN NULL;
END$$;


ALTER FUNCTION cascade.changed_4() OWNER TO cascaded;

--
-- Name: FUNCTION changed_4(); Type: COMMENT; Schema: cascade; Owner: cascaded
--

COMMENT ON FUNCTION cascade.changed_4() IS '8052174534412487923';


--
-- Name: gone_1(); Type: FUNCTION; Schema: cascade; Owner: cascaded
--

CREATE FUNCTION cascade.gone_1() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$BEGIN
IF EXISTS (SELECT FROM cascade.protected) THEN
  IF session_user <> 'cascaded' AND EXISTS (SELECT FROM old o, cascade.protected p, cascade.protection t WHERE p.collection = 1
  AND p.key = o."id"::text AND t.number = p.protection) THEN
  RAISE EXCEPTION USING ERRCODE = 'foreign_key_violation', MESSAGE = coalesce(
    (SELECT concat(CASE WHEN t.collection = p.collection AND t.key = p.key THEN concat(concat('albums/', o."id"::text), ' is protected: ', t.reason) ELSE concat(concat('albums/', o."id"::text), ' is protected with ', t.node, ': ', t.reason) END) FROM old o, cascade.protected p, cascade.protection t WHERE p.collection = 1
  AND p.key = o."id"::text AND t.number = p.protection LIMIT 1), 'denied');
END IF;
END IF;
INSERT INTO cascade.journal(seq, what, subject, at, row, shape, key)
SELECT CASE WHEN row_number() OVER () = 1 THEN nextval('cascade.journal_seq') END, 1, 1, NULL, (o.*)::text, (SELECT cascade.shape_now('public.album'::regclass)), o."id"::text FROM old o;
IF EXISTS (SELECT FROM cascade.asleep) AND current_setting('max_prepared_transactions') = '0' THEN PERFORM pg_notify('cascade', ''); END IF;
RETURN NULL;
END$$;


ALTER FUNCTION cascade.gone_1() OWNER TO cascaded;

--
-- Name: FUNCTION gone_1(); Type: COMMENT; Schema: cascade; Owner: cascaded
--

COMMENT ON FUNCTION cascade.gone_1() IS '-9082050577025159039';


--
-- Name: gone_2(); Type: FUNCTION; Schema: cascade; Owner: cascaded
--

CREATE FUNCTION cascade.gone_2() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$BEGIN
IF EXISTS (SELECT FROM cascade.protected) THEN
  IF session_user <> 'cascaded' AND EXISTS (SELECT FROM old o, cascade.protected p, cascade.protection t WHERE p.collection = 2
  AND p.key = o."id"::text AND t.number = p.protection) THEN
  RAISE EXCEPTION USING ERRCODE = 'foreign_key_violation', MESSAGE = coalesce(
    (SELECT concat(CASE WHEN t.collection = p.collection AND t.key = p.key THEN concat(concat('artists/', o."id"::text), ' is protected: ', t.reason) ELSE concat(concat('artists/', o."id"::text), ' is protected with ', t.node, ': ', t.reason) END) FROM old o, cascade.protected p, cascade.protection t WHERE p.collection = 2
  AND p.key = o."id"::text AND t.number = p.protection LIMIT 1), 'denied');
END IF;
END IF;
INSERT INTO cascade.journal(seq, what, subject, at, row, shape, key)
SELECT CASE WHEN row_number() OVER () = 1 THEN nextval('cascade.journal_seq') END, 1, 2, NULL, (o.*)::text, (SELECT cascade.shape_now('public.artist'::regclass)), o."id"::text FROM old o;
IF EXISTS (SELECT FROM cascade.asleep) AND current_setting('max_prepared_transactions') = '0' THEN PERFORM pg_notify('cascade', ''); END IF;
RETURN NULL;
END$$;


ALTER FUNCTION cascade.gone_2() OWNER TO cascaded;

--
-- Name: FUNCTION gone_2(); Type: COMMENT; Schema: cascade; Owner: cascaded
--

COMMENT ON FUNCTION cascade.gone_2() IS '-1378960503055491182';


--
-- Name: gone_4(); Type: FUNCTION; Schema: cascade; Owner: cascaded
--

CREATE FUNCTION cascade.gone_4() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$BEGIN
IF EXISTS (SELECT FROM cascade.protected) THEN
  IF session_user <> 'cascaded' AND EXISTS (SELECT FROM old o, cascade.protected p, cascade.protection t WHERE p.collection = 4
  AND p.key = o."id"::text AND t.number = p.protection) THEN
  RAISE EXCEPTION USING ERRCODE = 'foreign_key_violation', MESSAGE = coalesce(
    (SELECT concat(CASE WHEN t.collection = p.collection AND t.key = p.key THEN concat(concat('songs/', o."id"::text), ' is protected: ', t.reason) ELSE concat(concat('songs/', o."id"::text), ' is protected with ', t.node, ': ', t.reason) END) FROM old o, cascade.protected p, cascade.protection t WHERE p.collection = 4
  AND p.key = o."id"::text AND t.number = p.protection LIMIT 1), 'denied');
END IF;
END IF;
INSERT INTO cascade.journal(seq, what, subject, at, row, shape, key)
SELECT CASE WHEN row_number() OVER () = 1 THEN nextval('cascade.journal_seq') END, 1, 4, (SELECT nextval('cascade.journal_seq')), (o.*)::text, (SELECT cascade.shape_now('public.song'::regclass)), o."id"::text FROM old o;
IF EXISTS (SELECT FROM cascade.asleep) AND current_setting('max_prepared_transactions') = '0' THEN PERFORM pg_notify('cascade', ''); END IF;
RETURN NULL;
END$$;


ALTER FUNCTION cascade.gone_4() OWNER TO cascaded;

--
-- Name: FUNCTION gone_4(); Type: COMMENT; Schema: cascade; Owner: cascaded
--

COMMENT ON FUNCTION cascade.gone_4() IS '7897485665384429148';


--
-- Name: leased(); Type: FUNCTION; Schema: cascade; Owner: cascaded
--

CREATE FUNCTION cascade.leased() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$BEGIN
IF NEW.collection = 'albums' AND NEW.key IS NOT NULL THEN
  NEW.key := (SELECT k."id"::text FROM (
    SELECT (NEW.key)::bigint AS "id") k);
  PERFORM 1 FROM public.album t WHERE t."id" = (NEW.key)::bigint
  FOR KEY SHARE;
END IF;
IF NEW.collection = 'artists' AND NEW.key IS NOT NULL THEN
  NEW.key := (SELECT k."id"::text FROM (
    SELECT (NEW.key)::bigint AS "id") k);
  PERFORM 1 FROM public.artist t WHERE t."id" = (NEW.key)::bigint
  FOR KEY SHARE;
END IF;
IF NEW.collection = 'notes' AND NEW.key IS NOT NULL THEN
  NEW.key := (SELECT k.key::text FROM (
    SELECT (NEW.key)::text AS key) k);
  PERFORM 1 FROM cascade.objects_3 t WHERE t.key = (NEW.key)::text
  FOR KEY SHARE;
END IF;
IF NEW.collection = 'songs' AND NEW.key IS NOT NULL THEN
  NEW.key := (SELECT k."id"::text FROM (
    SELECT (NEW.key)::bigint AS "id") k);
  PERFORM 1 FROM public.song t WHERE t."id" = (NEW.key)::bigint
  FOR KEY SHARE;
END IF;
IF NEW.key IS NULL THEN
  PERFORM FROM (SELECT FROM cascade.meta WHERE key = 'leases.of_collections' FOR KEY SHARE) l;
END IF;
NEW.xid := pg_current_xact_id();
IF EXISTS (SELECT FROM cascade.asleep) AND current_setting('max_prepared_transactions') = '0' THEN PERFORM pg_notify('cascade', ''); END IF;
RETURN NEW;
END$$;


ALTER FUNCTION cascade.leased() OWNER TO cascaded;

--
-- Name: FUNCTION leased(); Type: COMMENT; Schema: cascade; Owner: cascaded
--

COMMENT ON FUNCTION cascade.leased() IS '-6417245097477980058';


--
-- Name: released(); Type: FUNCTION; Schema: cascade; Owner: cascaded
--

CREATE FUNCTION cascade.released() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$BEGIN

IF EXISTS (SELECT FROM cascade.asleep) AND current_setting('max_prepared_transactions') = '0' THEN PERFORM pg_notify('cascade', ''); END IF;
RETURN NULL;
END$$;


ALTER FUNCTION cascade.released() OWNER TO cascaded;

--
-- Name: FUNCTION released(); Type: COMMENT; Schema: cascade; Owner: cascaded
--

COMMENT ON FUNCTION cascade.released() IS '1697353620996300964';


--
-- Name: shape_now(regclass); Type: FUNCTION; Schema: cascade; Owner: cascaded
--

CREATE FUNCTION cascade.shape_now(relation regclass) RETURNS bigint
    LANGUAGE plpgsql STABLE
    AS $$
  BEGIN RETURN (SELECT pg_catalog.hashtextextended(
      pg_catalog.string_agg(pg_catalog.concat_ws(' ', a.attnum, a.atttypid, a.atttypmod, a.attname),
        ',' ORDER BY a.attnum), relation::oid::bigint)
    FROM pg_catalog.pg_attribute a
    WHERE a.attrelid = relation AND a.attnum > 0 AND NOT a.attisdropped); END $$;


ALTER FUNCTION cascade.shape_now(relation regclass) OWNER TO cascaded;

--
-- Name: truncated_1(); Type: FUNCTION; Schema: cascade; Owner: cascaded
--

CREATE FUNCTION cascade.truncated_1() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$BEGIN
IF session_user <> 'cascaded' AND EXISTS (SELECT FROM cascade.protected p, cascade.protection t
WHERE p.collection = 1 AND t.number = p.protection) THEN
  RAISE EXCEPTION USING ERRCODE = 'foreign_key_violation', MESSAGE = coalesce(
    (SELECT concat(CASE WHEN t.collection = p.collection AND t.key = p.key THEN concat(concat('albums/', p.key), ' is protected: ', t.reason) ELSE concat(concat('albums/', p.key), ' is protected with ', t.node, ': ', t.reason) END) FROM cascade.protected p, cascade.protection t
WHERE p.collection = 1 AND t.number = p.protection LIMIT 1), 'denied');
END IF;INSERT INTO cascade.meta(key, value) VALUES('watch_gap', 1) ON CONFLICT DO NOTHING;
IF EXISTS (SELECT FROM cascade.asleep) AND current_setting('max_prepared_transactions') = '0' THEN PERFORM pg_notify('cascade', ''); END IF;
RETURN NULL;
END$$;


ALTER FUNCTION cascade.truncated_1() OWNER TO cascaded;

--
-- Name: FUNCTION truncated_1(); Type: COMMENT; Schema: cascade; Owner: cascaded
--

COMMENT ON FUNCTION cascade.truncated_1() IS '-357394952972886635';


--
-- Name: truncated_2(); Type: FUNCTION; Schema: cascade; Owner: cascaded
--

CREATE FUNCTION cascade.truncated_2() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$BEGIN
IF session_user <> 'cascaded' AND EXISTS (SELECT FROM cascade.protected p, cascade.protection t
WHERE p.collection = 2 AND t.number = p.protection) THEN
  RAISE EXCEPTION USING ERRCODE = 'foreign_key_violation', MESSAGE = coalesce(
    (SELECT concat(CASE WHEN t.collection = p.collection AND t.key = p.key THEN concat(concat('artists/', p.key), ' is protected: ', t.reason) ELSE concat(concat('artists/', p.key), ' is protected with ', t.node, ': ', t.reason) END) FROM cascade.protected p, cascade.protection t
WHERE p.collection = 2 AND t.number = p.protection LIMIT 1), 'denied');
END IF;INSERT INTO cascade.meta(key, value) VALUES('watch_gap', 1) ON CONFLICT DO NOTHING;
IF EXISTS (SELECT FROM cascade.asleep) AND current_setting('max_prepared_transactions') = '0' THEN PERFORM pg_notify('cascade', ''); END IF;
RETURN NULL;
END$$;


ALTER FUNCTION cascade.truncated_2() OWNER TO cascaded;

--
-- Name: FUNCTION truncated_2(); Type: COMMENT; Schema: cascade; Owner: cascaded
--

COMMENT ON FUNCTION cascade.truncated_2() IS '-6688327392938689393';


--
-- Name: truncated_4(); Type: FUNCTION; Schema: cascade; Owner: cascaded
--

CREATE FUNCTION cascade.truncated_4() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$BEGIN
IF session_user <> 'cascaded' AND EXISTS (SELECT FROM cascade.protected p, cascade.protection t
WHERE p.collection = 4 AND t.number = p.protection) THEN
  RAISE EXCEPTION USING ERRCODE = 'foreign_key_violation', MESSAGE = coalesce(
    (SELECT concat(CASE WHEN t.collection = p.collection AND t.key = p.key THEN concat(concat('songs/', p.key), ' is protected: ', t.reason) ELSE concat(concat('songs/', p.key), ' is protected with ', t.node, ': ', t.reason) END) FROM cascade.protected p, cascade.protection t
WHERE p.collection = 4 AND t.number = p.protection LIMIT 1), 'denied');
END IF;INSERT INTO cascade.meta(key, value) VALUES('watch_gap', 1) ON CONFLICT DO NOTHING;
IF EXISTS (SELECT FROM cascade.asleep) AND current_setting('max_prepared_transactions') = '0' THEN PERFORM pg_notify('cascade', ''); END IF;
RETURN NULL;
END$$;


ALTER FUNCTION cascade.truncated_4() OWNER TO cascaded;

--
-- Name: FUNCTION truncated_4(); Type: COMMENT; Schema: cascade; Owner: cascaded
--

COMMENT ON FUNCTION cascade.truncated_4() IS '5781891514406194261';


SET default_tablespace = '';

SET default_table_access_method = heap;

--
-- Name: asleep; Type: TABLE; Schema: cascade; Owner: cascaded
--

CREATE TABLE cascade.asleep (
    since timestamp with time zone DEFAULT now() NOT NULL
);


ALTER TABLE cascade.asleep OWNER TO cascaded;

--
-- Name: batch; Type: SEQUENCE; Schema: cascade; Owner: cascaded
--

CREATE SEQUENCE cascade.batch
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;


ALTER TABLE cascade.batch OWNER TO cascaded;

--
-- Name: blocked; Type: TABLE; Schema: cascade; Owner: cascaded
--

CREATE TABLE cascade.blocked (
    collection integer NOT NULL,
    key text NOT NULL,
    why text,
    is_leased boolean DEFAULT false NOT NULL
);


ALTER TABLE cascade.blocked OWNER TO cascaded;

--
-- Name: clock_jump; Type: TABLE; Schema: cascade; Owner: cascaded
--

CREATE TABLE cascade.clock_jump (
    batch bigint NOT NULL,
    by bigint NOT NULL
);


ALTER TABLE cascade.clock_jump OWNER TO cascaded;

--
-- Name: collection; Type: TABLE; Schema: cascade; Owner: cascaded
--

CREATE TABLE cascade.collection (
    number integer NOT NULL,
    name text NOT NULL,
    place text,
    names text,
    types text
);


ALTER TABLE cascade.collection OWNER TO cascaded;

--
-- Name: collection_number_seq; Type: SEQUENCE; Schema: cascade; Owner: cascaded
--

ALTER TABLE cascade.collection ALTER COLUMN number ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME cascade.collection_number_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);


--
-- Name: coming_back; Type: TABLE; Schema: cascade; Owner: cascaded
--

CREATE UNLOGGED TABLE cascade.coming_back (
    seq bigint NOT NULL,
    collection integer NOT NULL,
    key text NOT NULL,
    is_first boolean DEFAULT false NOT NULL,
    event bigint
);


ALTER TABLE cascade.coming_back OWNER TO cascaded;

--
-- Name: coming_back_seq_seq; Type: SEQUENCE; Schema: cascade; Owner: cascaded
--

ALTER TABLE cascade.coming_back ALTER COLUMN seq ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME cascade.coming_back_seq_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);


--
-- Name: deleted; Type: TABLE; Schema: cascade; Owner: cascaded
--

CREATE TABLE cascade.deleted (
    id bigint NOT NULL,
    batch bigint NOT NULL,
    collection integer NOT NULL,
    via integer,
    rule smallint,
    is_own boolean NOT NULL,
    follows boolean DEFAULT false NOT NULL,
    bucket integer NOT NULL,
    size integer DEFAULT 1 NOT NULL,
    shape bigint,
    level integer,
    place bigint,
    keys text[] NOT NULL,
    others text[],
    rows text[]
);
ALTER TABLE ONLY cascade.deleted ALTER COLUMN keys SET STORAGE EXTERNAL;
ALTER TABLE ONLY cascade.deleted ALTER COLUMN others SET STORAGE EXTERNAL;
ALTER TABLE ONLY cascade.deleted ALTER COLUMN rows SET STORAGE EXTERNAL;


ALTER TABLE cascade.deleted OWNER TO cascaded;

--
-- Name: deleted_id_seq; Type: SEQUENCE; Schema: cascade; Owner: cascaded
--

ALTER TABLE cascade.deleted ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME cascade.deleted_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1000
);


--
-- Name: deleted_node; Type: VIEW; Schema: cascade; Owner: cascaded
--

CREATE VIEW cascade.deleted_node AS
 SELECT d.id,
    d.batch,
    d.collection,
    d.via,
    d.rule,
    d.is_own,
    d.follows,
    d.bucket,
    n.key,
    n.other,
    n."row",
    d.shape
   FROM cascade.deleted d,
    LATERAL UNNEST(d.keys, d.others, d.rows) n(key, other, "row");


ALTER TABLE cascade.deleted_node OWNER TO cascaded;

--
-- Name: edges_5; Type: TABLE; Schema: cascade; Owner: cascaded
--

CREATE TABLE cascade.edges_5 (
    s0 text NOT NULL,
    d0 bigint NOT NULL,
    is_declared boolean NOT NULL,
    added bigint NOT NULL
);


ALTER TABLE cascade.edges_5 OWNER TO cascaded;

--
-- Name: file; Type: TABLE; Schema: cascade; Owner: cascaded
--

CREATE TABLE cascade.file (
    id bigint NOT NULL,
    root text NOT NULL,
    path text NOT NULL,
    batch bigint,
    at bigint DEFAULT ((1000)::numeric * EXTRACT(epoch FROM clock_timestamp())) NOT NULL,
    state smallint DEFAULT 0 NOT NULL,
    xid xid8 DEFAULT pg_current_xact_id() NOT NULL,
    plan bigint,
    is_own boolean DEFAULT (SESSION_USER = CURRENT_USER) NOT NULL
);


ALTER TABLE cascade.file OWNER TO cascaded;

--
-- Name: file_id_seq; Type: SEQUENCE; Schema: cascade; Owner: cascaded
--

ALTER TABLE cascade.file ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME cascade.file_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);


--
-- Name: followed; Type: TABLE; Schema: cascade; Owner: cascaded
--

CREATE TABLE cascade.followed (
    batch bigint NOT NULL,
    collection integer NOT NULL,
    id bigint NOT NULL
);


ALTER TABLE cascade.followed OWNER TO cascaded;

--
-- Name: given_up; Type: TABLE; Schema: cascade; Owner: cascaded
--

CREATE TABLE cascade.given_up (
    what smallint NOT NULL,
    subject integer NOT NULL,
    key text NOT NULL,
    other text NOT NULL
);


ALTER TABLE cascade.given_up OWNER TO cascaded;

--
-- Name: held_cause; Type: TABLE; Schema: cascade; Owner: cascaded
--

CREATE TABLE cascade.held_cause (
    plan bigint NOT NULL,
    what smallint NOT NULL,
    subject integer NOT NULL,
    key text NOT NULL,
    other text
);


ALTER TABLE cascade.held_cause OWNER TO cascaded;

--
-- Name: held_edges; Type: TABLE; Schema: cascade; Owner: cascaded
--

CREATE TABLE cascade.held_edges (
    relation integer NOT NULL,
    key text NOT NULL,
    sources text[] NOT NULL
);


ALTER TABLE cascade.held_edges OWNER TO cascaded;

--
-- Name: job; Type: TABLE; Schema: cascade; Owner: cascaded
--

CREATE TABLE cascade.job (
    number bigint NOT NULL,
    state text NOT NULL,
    subject text NOT NULL,
    author text NOT NULL,
    at bigint NOT NULL,
    expected bigint,
    is_partial boolean NOT NULL,
    approved bigint,
    batch bigint,
    plan bigint,
    deleted bigint DEFAULT 0 NOT NULL,
    total bigint,
    by_collection text DEFAULT '{}'::text NOT NULL,
    blocked text DEFAULT '[]'::text NOT NULL,
    standing bigint
);


ALTER TABLE cascade.job OWNER TO cascaded;

--
-- Name: job_node; Type: TABLE; Schema: cascade; Owner: cascaded
--

CREATE TABLE cascade.job_node (
    job bigint NOT NULL,
    place integer NOT NULL,
    collection integer NOT NULL,
    key text NOT NULL,
    level integer NOT NULL,
    rule smallint,
    via integer,
    other text
);


ALTER TABLE cascade.job_node OWNER TO cascaded;

--
-- Name: job_number_seq; Type: SEQUENCE; Schema: cascade; Owner: cascaded
--

ALTER TABLE cascade.job ALTER COLUMN number ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME cascade.job_number_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);


--
-- Name: journal_seq; Type: SEQUENCE; Schema: cascade; Owner: cascaded
--

CREATE SEQUENCE cascade.journal_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;


ALTER TABLE cascade.journal_seq OWNER TO cascaded;

--
-- Name: journal; Type: TABLE; Schema: cascade; Owner: cascaded
--

CREATE TABLE cascade.journal (
    seq bigint DEFAULT nextval('cascade.journal_seq'::regclass),
    what smallint NOT NULL,
    subject integer NOT NULL,
    key text NOT NULL,
    other text,
    told boolean DEFAULT false NOT NULL,
    kind text,
    at bigint,
    plan bigint,
    is_manual boolean,
    "row" text,
    shape bigint
);


ALTER TABLE cascade.journal OWNER TO cascaded;

--
-- Name: known_column; Type: TABLE; Schema: cascade; Owner: cascaded
--

CREATE TABLE cascade.known_column (
    relation oid NOT NULL,
    number smallint NOT NULL,
    name text NOT NULL
);


ALTER TABLE cascade.known_column OWNER TO cascaded;

--
-- Name: lease; Type: TABLE; Schema: cascade; Owner: cascaded
--

CREATE TABLE cascade.lease (
    id bigint NOT NULL,
    collection text NOT NULL,
    key text,
    owner text,
    expires bigint DEFAULT (floor(EXTRACT(epoch FROM clock_timestamp())) + (900)::numeric) NOT NULL,
    connection bigint,
    xid xid8 DEFAULT pg_current_xact_id() NOT NULL,
    CONSTRAINT "expires is in seconds since 1970" CHECK ((expires < '100000000000'::bigint))
);


ALTER TABLE cascade.lease OWNER TO cascaded;

--
-- Name: lease_id_seq; Type: SEQUENCE; Schema: cascade; Owner: cascaded
--

ALTER TABLE cascade.lease ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME cascade.lease_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);


--
-- Name: ledger; Type: TABLE; Schema: cascade; Owner: cascaded
--

CREATE TABLE cascade.ledger (
    batch bigint NOT NULL,
    id text NOT NULL,
    part bigint NOT NULL,
    author text,
    fingerprint bigint NOT NULL,
    at bigint NOT NULL,
    is_last boolean NOT NULL,
    line bigint NOT NULL,
    deleted bigint NOT NULL,
    edges bigint NOT NULL,
    notices bigint NOT NULL,
    skipped bigint NOT NULL,
    undone_at bigint,
    undone_by text,
    origin bigint
);


ALTER TABLE cascade.ledger OWNER TO cascaded;

--
-- Name: mark; Type: TABLE; Schema: cascade; Owner: cascaded
--

CREATE TABLE cascade.mark (
    seq bigint NOT NULL,
    collection integer NOT NULL,
    key text NOT NULL,
    marked boolean NOT NULL,
    old text,
    job bigint
);


ALTER TABLE cascade.mark OWNER TO cascaded;

--
-- Name: mark_counted; Type: TABLE; Schema: cascade; Owner: cascaded
--

CREATE UNLOGGED TABLE cascade.mark_counted (
    collection integer NOT NULL,
    key text NOT NULL,
    rule smallint NOT NULL,
    name text NOT NULL,
    level bigint NOT NULL,
    remains boolean DEFAULT false NOT NULL
);


ALTER TABLE cascade.mark_counted OWNER TO cascaded;

--
-- Name: mark_denied; Type: TABLE; Schema: cascade; Owner: cascaded
--

CREATE UNLOGGED TABLE cascade.mark_denied (
    collection integer NOT NULL,
    key text NOT NULL,
    why text NOT NULL
);


ALTER TABLE cascade.mark_denied OWNER TO cascaded;

--
-- Name: mark_reason; Type: TABLE; Schema: cascade; Owner: cascaded
--

CREATE UNLOGGED TABLE cascade.mark_reason (
    collection integer NOT NULL,
    key text NOT NULL,
    rule smallint NOT NULL,
    name text NOT NULL,
    via bigint NOT NULL
);


ALTER TABLE cascade.mark_reason OWNER TO cascaded;

--
-- Name: mark_seq_seq; Type: SEQUENCE; Schema: cascade; Owner: cascaded
--

ALTER TABLE cascade.mark ALTER COLUMN seq ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME cascade.mark_seq_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);


--
-- Name: marked; Type: TABLE; Schema: cascade; Owner: cascaded
--

CREATE TABLE cascade.marked (
    collection integer NOT NULL,
    key text NOT NULL,
    via_collection integer NOT NULL,
    via_key text NOT NULL,
    name text NOT NULL,
    rule smallint NOT NULL,
    batch bigint,
    at bigint NOT NULL,
    old text
);


ALTER TABLE cascade.marked OWNER TO cascaded;

--
-- Name: marking; Type: TABLE; Schema: cascade; Owner: cascaded
--

CREATE UNLOGGED TABLE cascade.marking (
    job bigint NOT NULL,
    seq bigint NOT NULL,
    collection integer NOT NULL,
    key text NOT NULL,
    via bigint,
    name text,
    rule smallint,
    value text,
    type text,
    old text,
    is_done boolean DEFAULT false NOT NULL
);


ALTER TABLE cascade.marking OWNER TO cascaded;

--
-- Name: marking_seq_seq; Type: SEQUENCE; Schema: cascade; Owner: cascaded
--

ALTER TABLE cascade.marking ALTER COLUMN seq ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME cascade.marking_seq_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);


--
-- Name: meta; Type: TABLE; Schema: cascade; Owner: cascaded
--

CREATE TABLE cascade.meta (
    key text NOT NULL,
    value bigint NOT NULL
);


ALTER TABLE cascade.meta OWNER TO cascaded;

--
-- Name: notice; Type: TABLE; Schema: cascade; Owner: cascaded
--

CREATE TABLE cascade.notice (
    id bigint NOT NULL,
    relation integer NOT NULL,
    source text NOT NULL,
    destination text NOT NULL,
    lost_source boolean NOT NULL,
    batch bigint NOT NULL,
    at bigint NOT NULL,
    is_manual boolean
);


ALTER TABLE cascade.notice OWNER TO cascaded;

--
-- Name: notice_id_seq; Type: SEQUENCE; Schema: cascade; Owner: cascaded
--

ALTER TABLE cascade.notice ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME cascade.notice_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);


--
-- Name: nullified; Type: TABLE; Schema: cascade; Owner: cascaded
--

CREATE TABLE cascade.nullified (
    batch bigint NOT NULL,
    relation integer NOT NULL,
    key text NOT NULL,
    value text NOT NULL,
    rest text
);


ALTER TABLE cascade.nullified OWNER TO cascaded;

--
-- Name: objects_3; Type: TABLE; Schema: cascade; Owner: cascaded
--

CREATE TABLE cascade.objects_3 (
    key text NOT NULL,
    type text,
    value text
);


ALTER TABLE cascade.objects_3 OWNER TO cascaded;

--
-- Name: outlived; Type: TABLE; Schema: cascade; Owner: cascaded
--

CREATE TABLE cascade.outlived (
    xid xid8 DEFAULT pg_current_xact_id() NOT NULL,
    relation integer NOT NULL,
    key text NOT NULL,
    other text NOT NULL
);


ALTER TABLE cascade.outlived OWNER TO cascaded;

--
-- Name: plan; Type: TABLE; Schema: cascade; Owner: cascaded
--

CREATE TABLE cascade.plan (
    number bigint NOT NULL,
    file text NOT NULL,
    id text NOT NULL,
    checksum bigint NOT NULL,
    deleted bigint NOT NULL,
    by_collection text NOT NULL,
    is_approved boolean DEFAULT false NOT NULL,
    lost bigint DEFAULT 0 NOT NULL,
    value text,
    owns_causes boolean DEFAULT false NOT NULL,
    is_of_sum boolean DEFAULT false NOT NULL,
    at bigint
);


ALTER TABLE cascade.plan OWNER TO cascaded;

--
-- Name: plan_number_seq; Type: SEQUENCE; Schema: cascade; Owner: cascaded
--

ALTER TABLE cascade.plan ALTER COLUMN number ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME cascade.plan_number_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);


--
-- Name: protected; Type: TABLE; Schema: cascade; Owner: cascaded
--

CREATE TABLE cascade.protected (
    collection integer NOT NULL,
    key text NOT NULL,
    protection bigint NOT NULL
);


ALTER TABLE cascade.protected OWNER TO cascaded;

--
-- Name: protection; Type: TABLE; Schema: cascade; Owner: cascaded
--

CREATE TABLE cascade.protection (
    number bigint NOT NULL,
    collection integer NOT NULL,
    key text NOT NULL,
    node text NOT NULL,
    reason text NOT NULL,
    author text NOT NULL,
    since bigint NOT NULL,
    until bigint
);


ALTER TABLE cascade.protection OWNER TO cascaded;

--
-- Name: protection_number_seq; Type: SEQUENCE; Schema: cascade; Owner: cascaded
--

ALTER TABLE cascade.protection ALTER COLUMN number ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME cascade.protection_number_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);


--
-- Name: reaching_lease; Type: TABLE; Schema: cascade; Owner: cascaded
--

CREATE TABLE cascade.reaching_lease (
    collection text NOT NULL,
    key text
);


ALTER TABLE cascade.reaching_lease OWNER TO cascaded;

--
-- Name: recent_deletion; Type: TABLE; Schema: cascade; Owner: cascaded
--

CREATE TABLE cascade.recent_deletion (
    number bigint NOT NULL,
    collection text NOT NULL,
    at bigint NOT NULL,
    count bigint NOT NULL
);


ALTER TABLE cascade.recent_deletion OWNER TO cascaded;

--
-- Name: recheck; Type: TABLE; Schema: cascade; Owner: cascaded
--

CREATE TABLE cascade.recheck (
    xid xid8 DEFAULT pg_current_xact_id() NOT NULL,
    collection integer NOT NULL,
    key text NOT NULL
);


ALTER TABLE cascade.recheck OWNER TO cascaded;

--
-- Name: rejected_plan; Type: TABLE; Schema: cascade; Owner: cascaded
--

CREATE TABLE cascade.rejected_plan (
    number bigint NOT NULL,
    file text,
    given_up bigint NOT NULL,
    restored bigint NOT NULL
);


ALTER TABLE cascade.rejected_plan OWNER TO cascaded;

--
-- Name: relation; Type: TABLE; Schema: cascade; Owner: cascaded
--

CREATE TABLE cascade.relation (
    number integer NOT NULL,
    name text NOT NULL,
    source text NOT NULL,
    destination text NOT NULL,
    part text NOT NULL,
    place text
);


ALTER TABLE cascade.relation OWNER TO cascaded;

--
-- Name: relation_number_seq; Type: SEQUENCE; Schema: cascade; Owner: cascaded
--

ALTER TABLE cascade.relation ALTER COLUMN number ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME cascade.relation_number_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);


--
-- Name: shape; Type: TABLE; Schema: cascade; Owner: cascaded
--

CREATE TABLE cascade.shape (
    number bigint NOT NULL,
    relation oid NOT NULL,
    name text NOT NULL,
    columns text[] NOT NULL,
    last_columns text[] NOT NULL,
    numbers bigint[] NOT NULL,
    types text[] NOT NULL
);


ALTER TABLE cascade.shape OWNER TO cascaded;

--
-- Name: sweep_time; Type: TABLE; Schema: cascade; Owner: cascaded
--

CREATE TABLE cascade.sweep_time (
    kind text NOT NULL,
    since bigint,
    at bigint,
    outcome text,
    occasion text
);


ALTER TABLE cascade.sweep_time OWNER TO cascaded;

--
-- Name: unlinked; Type: TABLE; Schema: cascade; Owner: cascaded
--

CREATE TABLE cascade.unlinked (
    id bigint NOT NULL,
    batch bigint NOT NULL,
    relation integer NOT NULL,
    "row" text,
    shape bigint
);


ALTER TABLE cascade.unlinked OWNER TO cascaded;

--
-- Name: unlinked_id_seq; Type: SEQUENCE; Schema: cascade; Owner: cascaded
--

ALTER TABLE cascade.unlinked ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME cascade.unlinked_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1000
);


--
-- Name: unreached; Type: TABLE; Schema: cascade; Owner: cascaded
--

CREATE TABLE cascade.unreached (
    id bigint NOT NULL,
    collection integer NOT NULL,
    key text NOT NULL,
    is_denied boolean NOT NULL,
    is_kept boolean DEFAULT false NOT NULL,
    skipped xid8
);


ALTER TABLE cascade.unreached OWNER TO cascaded;

--
-- Name: unreached_id_seq; Type: SEQUENCE; Schema: cascade; Owner: cascaded
--

ALTER TABLE cascade.unreached ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME cascade.unreached_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1000
);


--
-- Name: verdict; Type: TABLE; Schema: cascade; Owner: cascaded
--

CREATE TABLE cascade.verdict (
    name bytea NOT NULL,
    fingerprint bigint NOT NULL,
    reasons text
);


ALTER TABLE cascade.verdict OWNER TO cascaded;

--
-- Name: went; Type: TABLE; Schema: cascade; Owner: cascaded
--

CREATE TABLE cascade.went (
    number bigint NOT NULL,
    batch bigint NOT NULL,
    collection integer NOT NULL,
    is_own boolean NOT NULL,
    source bigint NOT NULL,
    at bigint NOT NULL,
    kind bigint NOT NULL,
    author text,
    keys text[] NOT NULL
);


ALTER TABLE cascade.went OWNER TO cascaded;

--
-- Name: work; Type: TABLE; Schema: cascade; Owner: cascaded
--

CREATE TABLE cascade.work (
    id bigint NOT NULL,
    batch bigint NOT NULL,
    what smallint NOT NULL,
    subject integer NOT NULL,
    key text NOT NULL,
    other text,
    done boolean DEFAULT false NOT NULL,
    told boolean DEFAULT false NOT NULL,
    plan bigint,
    is_manual boolean
);


ALTER TABLE cascade.work OWNER TO cascaded;

--
-- Name: work_id_seq; Type: SEQUENCE; Schema: cascade; Owner: cascaded
--

ALTER TABLE cascade.work ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME cascade.work_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1000
);


--
-- Name: album; Type: TABLE; Schema: public; Owner: application
--

CREATE TABLE public.album (
    id integer NOT NULL,
    artist_id integer,
    title text
);


ALTER TABLE public.album OWNER TO application;

--
-- Name: artist; Type: TABLE; Schema: public; Owner: application
--

CREATE TABLE public.artist (
    id integer NOT NULL,
    name text
);


ALTER TABLE public.artist OWNER TO application;

--
-- Name: song; Type: TABLE; Schema: public; Owner: application
--

CREATE TABLE public.song (
    id integer NOT NULL,
    album_id integer,
    title text
);


ALTER TABLE public.song OWNER TO application;

--
-- Data for Name: asleep; Type: TABLE DATA; Schema: cascade; Owner: cascaded
--



--
-- Data for Name: blocked; Type: TABLE DATA; Schema: cascade; Owner: cascaded
--

INSERT INTO cascade.blocked VALUES
	(4, '511', NULL, true);


--
-- Data for Name: clock_jump; Type: TABLE DATA; Schema: cascade; Owner: cascaded
--



--
-- Data for Name: collection; Type: TABLE DATA; Schema: cascade; Owner: cascaded
--

INSERT INTO cascade.collection OVERRIDING SYSTEM VALUE VALUES
	(3, 'notes', NULL, NULL, NULL),
	(1, 'albums', '16395 1', '["album","id"]', 'bigint'),
	(2, 'artists', '16388 1', '["artist","id"]', 'bigint'),
	(4, 'songs', '16402 1', '["song","id"]', 'bigint');


--
-- Data for Name: coming_back; Type: TABLE DATA; Schema: cascade; Owner: cascaded
--



--
-- Data for Name: deleted; Type: TABLE DATA; Schema: cascade; Owner: cascaded
--

INSERT INTO cascade.deleted OVERRIDING SYSTEM VALUE VALUES
	(1, 2, 2, NULL, NULL, false, false, 43833, 1, 1404485073016134192, NULL, NULL, '{1}', NULL, '{"(1,Nina)"}'),
	(2, 2, 1, 1, 4, true, true, 46, 1, 2313367965546722100, NULL, NULL, '{11}', '{1}', '{"(11,1,swept)"}'),
	(3, 2, 4, 2, 4, true, true, 15, 1, -641082864845950258, NULL, NULL, '{111}', '{11}', '{"(111,11,\"Feeling Good\")"}'),
	(4, 2, 4, 2, 4, true, true, 8, 1, -641082864845950258, NULL, NULL, '{112}', '{11}', '{"(112,11,)"}'),
	(5, 3, 2, NULL, NULL, false, false, 25174, 1, 1404485073016134192, NULL, NULL, '{5}', NULL, '{"(5,Sarah)"}'),
	(6, 3, 1, 1, 4, true, true, 0, 1, 2313367965546722100, NULL, NULL, '{51}', '{5}', '{"(51,5,leased)"}'),
	(7, 3, 4, 2, 4, true, true, 30, 1, -641082864845950258, NULL, NULL, '{512}', '{51}', '{"(512,51,o)"}'),
	(8, 7, 2, NULL, NULL, false, false, 2220, 1, 1404485073016134192, NULL, NULL, '{6}', NULL, '{"(6,Dinah)"}');


--
-- Data for Name: edges_5; Type: TABLE DATA; Schema: cascade; Owner: cascaded
--



--
-- Data for Name: file; Type: TABLE DATA; Schema: cascade; Owner: cascaded
--



--
-- Data for Name: followed; Type: TABLE DATA; Schema: cascade; Owner: cascaded
--



--
-- Data for Name: given_up; Type: TABLE DATA; Schema: cascade; Owner: cascaded
--



--
-- Data for Name: held_cause; Type: TABLE DATA; Schema: cascade; Owner: cascaded
--

INSERT INTO cascade.held_cause VALUES
	(2, 1, 2, '2', NULL);


--
-- Data for Name: held_edges; Type: TABLE DATA; Schema: cascade; Owner: cascaded
--



--
-- Data for Name: job; Type: TABLE DATA; Schema: cascade; Owner: cascaded
--

INSERT INTO cascade.job OVERRIDING SYSTEM VALUE VALUES
	(1, 'held', '{"nodes":[["artists",4]]}', 'uid 0', 1796090726321, NULL, false, NULL, NULL, 1, 0, 8, '{}', '[]', NULL);


--
-- Data for Name: job_node; Type: TABLE DATA; Schema: cascade; Owner: cascaded
--



--
-- Data for Name: journal; Type: TABLE DATA; Schema: cascade; Owner: cascaded
--

INSERT INTO cascade.journal VALUES
	(NULL, 1, 2, '2', NULL, false, NULL, NULL, 2, NULL, '(2,Ella)', 1404485073016134192);


--
-- Data for Name: known_column; Type: TABLE DATA; Schema: cascade; Owner: cascaded
--

INSERT INTO cascade.known_column VALUES
	(16395, 0, 'album'),
	(16388, 0, 'artist'),
	(16402, 0, 'song'),
	(16395, 1, 'id'),
	(16395, 2, 'artist_id'),
	(16395, 3, 'title'),
	(16388, 1, 'id'),
	(16388, 2, 'name'),
	(16402, 1, 'id'),
	(16402, 2, 'album_id'),
	(16402, 3, 'title');


--
-- Data for Name: lease; Type: TABLE DATA; Schema: cascade; Owner: cascaded
--

INSERT INTO cascade.lease OVERRIDING SYSTEM VALUE VALUES
	(1, 'songs', '511', 'story', 4102444800, NULL, '770');


--
-- Data for Name: ledger; Type: TABLE DATA; Schema: cascade; Owner: cascaded
--

INSERT INTO cascade.ledger VALUES
	(1, 'first', 0, 'story', -6552231969705155779, 1796090726011, true, 0, 0, 0, 0, 0, NULL, NULL, NULL),
	(2, 'sweep-2', -1, NULL, 0, 1796090726117, true, 0, 4, 4, 1, 0, NULL, NULL, NULL),
	(3, 'sweep-3', -1, NULL, 0, 1796090726246, true, 0, 3, 2, 0, 0, NULL, NULL, NULL),
	(4, 'protect-4', -4, 'uid 0', 0, 1796090726283, true, 0, 0, 0, 0, 0, NULL, NULL, NULL),
	(7, 'sweep-7', -1, NULL, 0, 1796090726503, true, 0, 1, 0, 0, 0, NULL, NULL, NULL);


--
-- Data for Name: mark; Type: TABLE DATA; Schema: cascade; Owner: cascaded
--



--
-- Data for Name: mark_counted; Type: TABLE DATA; Schema: cascade; Owner: cascaded
--



--
-- Data for Name: mark_denied; Type: TABLE DATA; Schema: cascade; Owner: cascaded
--



--
-- Data for Name: mark_reason; Type: TABLE DATA; Schema: cascade; Owner: cascaded
--



--
-- Data for Name: marked; Type: TABLE DATA; Schema: cascade; Owner: cascaded
--



--
-- Data for Name: marking; Type: TABLE DATA; Schema: cascade; Owner: cascaded
--



--
-- Data for Name: meta; Type: TABLE DATA; Schema: cascade; Owner: cascaded
--

INSERT INTO cascade.meta VALUES
	('leases.of_collections', 0),
	('version', 6),
	('timeline', 1),
	('system', 7714150924949643627),
	('look_again_delay', 1),
	('look_again', 1796090727),
	('triggers', 6885121327945407183),
	('deleted.last', 8),
	('clock.last', 1796090727008);


--
-- Data for Name: notice; Type: TABLE DATA; Schema: cascade; Owner: cascaded
--

INSERT INTO cascade.notice OVERRIDING SYSTEM VALUE VALUES
	(1, 5, 'n1', '111', false, 2, 1796090726117, true);


--
-- Data for Name: nullified; Type: TABLE DATA; Schema: cascade; Owner: cascaded
--



--
-- Data for Name: objects_3; Type: TABLE DATA; Schema: cascade; Owner: cascaded
--

INSERT INTO cascade.objects_3 VALUES
	('n1', NULL, '{ "text": "of a song" }');


--
-- Data for Name: outlived; Type: TABLE DATA; Schema: cascade; Owner: cascaded
--



--
-- Data for Name: plan; Type: TABLE DATA; Schema: cascade; Owner: cascaded
--

INSERT INTO cascade.plan OVERRIDING SYSTEM VALUE VALUES
	(1, '/job 1', '/job 1', 0, 8, '{"albums":1,"artists":1,"songs":6}', false, 0, NULL, false, false, 1796090726342),
	(2, '/cascade', '', 0, 7, '{"albums":1,"songs":6}', false, 0, NULL, true, false, 1796090726434);


--
-- Data for Name: protected; Type: TABLE DATA; Schema: cascade; Owner: cascaded
--

INSERT INTO cascade.protected VALUES
	(2, '3', 1),
	(1, '31', 1),
	(4, '311', 1);


--
-- Data for Name: protection; Type: TABLE DATA; Schema: cascade; Owner: cascaded
--

INSERT INTO cascade.protection OVERRIDING SYSTEM VALUE VALUES
	(1, 2, '3', 'artists/3', 'case 7', 'uid 0', 1796090726283, NULL);


--
-- Data for Name: reaching_lease; Type: TABLE DATA; Schema: cascade; Owner: cascaded
--



--
-- Data for Name: recent_deletion; Type: TABLE DATA; Schema: cascade; Owner: cascaded
--



--
-- Data for Name: recheck; Type: TABLE DATA; Schema: cascade; Owner: cascaded
--

INSERT INTO cascade.recheck VALUES
	('806', 2, '6');


--
-- Data for Name: rejected_plan; Type: TABLE DATA; Schema: cascade; Owner: cascaded
--



--
-- Data for Name: relation; Type: TABLE DATA; Schema: cascade; Owner: cascaded
--

INSERT INTO cascade.relation OVERRIDING SYSTEM VALUE VALUES
	(1, 'artist', 'albums', 'artists', 'artist_id', '16395 2'),
	(2, 'album', 'songs', 'albums', 'album_id', '16402 2'),
	(5, 'about', 'notes', 'songs', 'stored: text -> bigint; rules 2', NULL);


--
-- Data for Name: shape; Type: TABLE DATA; Schema: cascade; Owner: cascaded
--

INSERT INTO cascade.shape VALUES
	(2313367965546722100, 16395, 'public.album', '{id,artist_id,title}', '{id,artist_id,title}', '{1,2,3}', '{integer,integer,text}'),
	(1404485073016134192, 16388, 'public.artist', '{id,name}', '{id,name}', '{1,2}', '{integer,text}'),
	(-641082864845950258, 16402, 'public.song', '{id,album_id,title}', '{id,album_id,title}', '{1,2,3}', '{integer,integer,text}');


--
-- Data for Name: sweep_time; Type: TABLE DATA; Schema: cascade; Owner: cascaded
--

INSERT INTO cascade.sweep_time VALUES
	('trash', 1796090725898, NULL, NULL, NULL),
	('cascade', NULL, 1796090726432, 'held', 'asked');


--
-- Data for Name: unlinked; Type: TABLE DATA; Schema: cascade; Owner: cascaded
--

INSERT INTO cascade.unlinked OVERRIDING SYSTEM VALUE VALUES
	(1, 2, 5, '(n1,111,f,1)', NULL);


--
-- Data for Name: unreached; Type: TABLE DATA; Schema: cascade; Owner: cascaded
--



--
-- Data for Name: verdict; Type: TABLE DATA; Schema: cascade; Owner: cascaded
--



--
-- Data for Name: went; Type: TABLE DATA; Schema: cascade; Owner: cascaded
--

INSERT INTO cascade.went VALUES
	(1, 2, 2, false, 1, 1796090726117, -1, NULL, '{1}'),
	(2, 2, 1, true, 2, 1796090726117, -1, NULL, '{11}'),
	(3, 2, 4, true, 3, 1796090726117, -1, NULL, '{111}'),
	(4, 2, 4, true, 4, 1796090726117, -1, NULL, '{112}'),
	(5, 3, 2, false, 5, 1796090726246, -1, NULL, '{5}'),
	(6, 3, 1, true, 6, 1796090726246, -1, NULL, '{51}'),
	(7, 3, 4, true, 7, 1796090726246, -1, NULL, '{512}'),
	(8, 7, 2, false, 8, 1796090726503, -1, NULL, '{6}');


--
-- Data for Name: work; Type: TABLE DATA; Schema: cascade; Owner: cascaded
--

INSERT INTO cascade.work OVERRIDING SYSTEM VALUE VALUES
	(4, 0, 4, 2, '511', '51', false, true, NULL, NULL);


--
-- Data for Name: album; Type: TABLE DATA; Schema: public; Owner: application
--

INSERT INTO public.album VALUES
	(21, 2, 'held'),
	(31, 3, 'protected'),
	(41, 4, 'of a job');


--
-- Data for Name: artist; Type: TABLE DATA; Schema: public; Owner: application
--

INSERT INTO public.artist VALUES
	(3, 'Billie'),
	(4, 'Etta');


--
-- Data for Name: song; Type: TABLE DATA; Schema: public; Owner: application
--

INSERT INTO public.song VALUES
	(211, 21, 'a'),
	(212, 21, 'b'),
	(213, 21, 'c'),
	(214, 21, 'd'),
	(215, 21, 'e'),
	(216, 21, 'f'),
	(311, 31, 'g'),
	(411, 41, 'h'),
	(412, 41, 'i'),
	(413, 41, 'j'),
	(414, 41, 'k'),
	(415, 41, 'l'),
	(416, 41, 'm'),
	(511, 51, 'n');


--
-- Name: batch; Type: SEQUENCE SET; Schema: cascade; Owner: cascaded
--

SELECT pg_catalog.setval('cascade.batch', 7, true);


--
-- Name: collection_number_seq; Type: SEQUENCE SET; Schema: cascade; Owner: cascaded
--

SELECT pg_catalog.setval('cascade.collection_number_seq', 20, true);


--
-- Name: coming_back_seq_seq; Type: SEQUENCE SET; Schema: cascade; Owner: cascaded
--

SELECT pg_catalog.setval('cascade.coming_back_seq_seq', 1, false);


--
-- Name: deleted_id_seq; Type: SEQUENCE SET; Schema: cascade; Owner: cascaded
--

SELECT pg_catalog.setval('cascade.deleted_id_seq', 1000, true);


--
-- Name: file_id_seq; Type: SEQUENCE SET; Schema: cascade; Owner: cascaded
--

SELECT pg_catalog.setval('cascade.file_id_seq', 1, false);


--
-- Name: job_number_seq; Type: SEQUENCE SET; Schema: cascade; Owner: cascaded
--

SELECT pg_catalog.setval('cascade.job_number_seq', 1, true);


--
-- Name: journal_seq; Type: SEQUENCE SET; Schema: cascade; Owner: cascaded
--

SELECT pg_catalog.setval('cascade.journal_seq', 4, true);


--
-- Name: lease_id_seq; Type: SEQUENCE SET; Schema: cascade; Owner: cascaded
--

SELECT pg_catalog.setval('cascade.lease_id_seq', 1, true);


--
-- Name: mark_seq_seq; Type: SEQUENCE SET; Schema: cascade; Owner: cascaded
--

SELECT pg_catalog.setval('cascade.mark_seq_seq', 1, false);


--
-- Name: marking_seq_seq; Type: SEQUENCE SET; Schema: cascade; Owner: cascaded
--

SELECT pg_catalog.setval('cascade.marking_seq_seq', 1, false);


--
-- Name: notice_id_seq; Type: SEQUENCE SET; Schema: cascade; Owner: cascaded
--

SELECT pg_catalog.setval('cascade.notice_id_seq', 1, true);


--
-- Name: plan_number_seq; Type: SEQUENCE SET; Schema: cascade; Owner: cascaded
--

SELECT pg_catalog.setval('cascade.plan_number_seq', 2, true);


--
-- Name: protection_number_seq; Type: SEQUENCE SET; Schema: cascade; Owner: cascaded
--

SELECT pg_catalog.setval('cascade.protection_number_seq', 1, true);


--
-- Name: relation_number_seq; Type: SEQUENCE SET; Schema: cascade; Owner: cascaded
--

SELECT pg_catalog.setval('cascade.relation_number_seq', 14, true);


--
-- Name: unlinked_id_seq; Type: SEQUENCE SET; Schema: cascade; Owner: cascaded
--

SELECT pg_catalog.setval('cascade.unlinked_id_seq', 1000, true);


--
-- Name: unreached_id_seq; Type: SEQUENCE SET; Schema: cascade; Owner: cascaded
--

SELECT pg_catalog.setval('cascade.unreached_id_seq', 1, false);


--
-- Name: work_id_seq; Type: SEQUENCE SET; Schema: cascade; Owner: cascaded
--

SELECT pg_catalog.setval('cascade.work_id_seq', 1000, true);


--
-- Name: blocked blocked_pkey; Type: CONSTRAINT; Schema: cascade; Owner: cascaded
--

ALTER TABLE ONLY cascade.blocked
    ADD CONSTRAINT blocked_pkey PRIMARY KEY (collection, key);


--
-- Name: clock_jump clock_jump_pkey; Type: CONSTRAINT; Schema: cascade; Owner: cascaded
--

ALTER TABLE ONLY cascade.clock_jump
    ADD CONSTRAINT clock_jump_pkey PRIMARY KEY (batch);


--
-- Name: collection collection_name_key; Type: CONSTRAINT; Schema: cascade; Owner: cascaded
--

ALTER TABLE ONLY cascade.collection
    ADD CONSTRAINT collection_name_key UNIQUE (name);


--
-- Name: collection collection_pkey; Type: CONSTRAINT; Schema: cascade; Owner: cascaded
--

ALTER TABLE ONLY cascade.collection
    ADD CONSTRAINT collection_pkey PRIMARY KEY (number);


--
-- Name: coming_back coming_back_pkey; Type: CONSTRAINT; Schema: cascade; Owner: cascaded
--

ALTER TABLE ONLY cascade.coming_back
    ADD CONSTRAINT coming_back_pkey PRIMARY KEY (collection, key);


--
-- Name: edges_5 edges_5_pkey; Type: CONSTRAINT; Schema: cascade; Owner: cascaded
--

ALTER TABLE ONLY cascade.edges_5
    ADD CONSTRAINT edges_5_pkey PRIMARY KEY (s0, d0, is_declared);


--
-- Name: file file_pkey; Type: CONSTRAINT; Schema: cascade; Owner: cascaded
--

ALTER TABLE ONLY cascade.file
    ADD CONSTRAINT file_pkey PRIMARY KEY (id);


--
-- Name: followed followed_pkey; Type: CONSTRAINT; Schema: cascade; Owner: cascaded
--

ALTER TABLE ONLY cascade.followed
    ADD CONSTRAINT followed_pkey PRIMARY KEY (batch, collection);


--
-- Name: given_up given_up_pkey; Type: CONSTRAINT; Schema: cascade; Owner: cascaded
--

ALTER TABLE ONLY cascade.given_up
    ADD CONSTRAINT given_up_pkey PRIMARY KEY (what, subject, key, other);


--
-- Name: held_edges held_edges_pkey; Type: CONSTRAINT; Schema: cascade; Owner: cascaded
--

ALTER TABLE ONLY cascade.held_edges
    ADD CONSTRAINT held_edges_pkey PRIMARY KEY (relation, key);


--
-- Name: job job_pkey; Type: CONSTRAINT; Schema: cascade; Owner: cascaded
--

ALTER TABLE ONLY cascade.job
    ADD CONSTRAINT job_pkey PRIMARY KEY (number);


--
-- Name: known_column known_column_pkey; Type: CONSTRAINT; Schema: cascade; Owner: cascaded
--

ALTER TABLE ONLY cascade.known_column
    ADD CONSTRAINT known_column_pkey PRIMARY KEY (relation, number);


--
-- Name: lease lease_pkey; Type: CONSTRAINT; Schema: cascade; Owner: cascaded
--

ALTER TABLE ONLY cascade.lease
    ADD CONSTRAINT lease_pkey PRIMARY KEY (id);


--
-- Name: ledger ledger_pkey; Type: CONSTRAINT; Schema: cascade; Owner: cascaded
--

ALTER TABLE ONLY cascade.ledger
    ADD CONSTRAINT ledger_pkey PRIMARY KEY (batch);


--
-- Name: mark_counted mark_counted_pkey; Type: CONSTRAINT; Schema: cascade; Owner: cascaded
--

ALTER TABLE ONLY cascade.mark_counted
    ADD CONSTRAINT mark_counted_pkey PRIMARY KEY (collection, key, rule, name);


--
-- Name: mark_denied mark_denied_pkey; Type: CONSTRAINT; Schema: cascade; Owner: cascaded
--

ALTER TABLE ONLY cascade.mark_denied
    ADD CONSTRAINT mark_denied_pkey PRIMARY KEY (collection, key);


--
-- Name: mark mark_pkey; Type: CONSTRAINT; Schema: cascade; Owner: cascaded
--

ALTER TABLE ONLY cascade.mark
    ADD CONSTRAINT mark_pkey PRIMARY KEY (seq);


--
-- Name: mark_reason mark_reason_pkey; Type: CONSTRAINT; Schema: cascade; Owner: cascaded
--

ALTER TABLE ONLY cascade.mark_reason
    ADD CONSTRAINT mark_reason_pkey PRIMARY KEY (collection, key, rule, name, via);


--
-- Name: marked marked_pkey; Type: CONSTRAINT; Schema: cascade; Owner: cascaded
--

ALTER TABLE ONLY cascade.marked
    ADD CONSTRAINT marked_pkey PRIMARY KEY (collection, key, rule, name, via_collection, via_key);


--
-- Name: marking marking_pkey; Type: CONSTRAINT; Schema: cascade; Owner: cascaded
--

ALTER TABLE ONLY cascade.marking
    ADD CONSTRAINT marking_pkey PRIMARY KEY (job, collection, key);


--
-- Name: meta meta_pkey; Type: CONSTRAINT; Schema: cascade; Owner: cascaded
--

ALTER TABLE ONLY cascade.meta
    ADD CONSTRAINT meta_pkey PRIMARY KEY (key);


--
-- Name: notice notice_pkey; Type: CONSTRAINT; Schema: cascade; Owner: cascaded
--

ALTER TABLE ONLY cascade.notice
    ADD CONSTRAINT notice_pkey PRIMARY KEY (id);


--
-- Name: objects_3 objects_3_pkey; Type: CONSTRAINT; Schema: cascade; Owner: cascaded
--

ALTER TABLE ONLY cascade.objects_3
    ADD CONSTRAINT objects_3_pkey PRIMARY KEY (key);


--
-- Name: plan plan_pkey; Type: CONSTRAINT; Schema: cascade; Owner: cascaded
--

ALTER TABLE ONLY cascade.plan
    ADD CONSTRAINT plan_pkey PRIMARY KEY (number);


--
-- Name: protected protected_pkey; Type: CONSTRAINT; Schema: cascade; Owner: cascaded
--

ALTER TABLE ONLY cascade.protected
    ADD CONSTRAINT protected_pkey PRIMARY KEY (collection, key, protection);


--
-- Name: protection protection_collection_key_key; Type: CONSTRAINT; Schema: cascade; Owner: cascaded
--

ALTER TABLE ONLY cascade.protection
    ADD CONSTRAINT protection_collection_key_key UNIQUE (collection, key);


--
-- Name: protection protection_pkey; Type: CONSTRAINT; Schema: cascade; Owner: cascaded
--

ALTER TABLE ONLY cascade.protection
    ADD CONSTRAINT protection_pkey PRIMARY KEY (number);


--
-- Name: recent_deletion recent_deletion_pkey; Type: CONSTRAINT; Schema: cascade; Owner: cascaded
--

ALTER TABLE ONLY cascade.recent_deletion
    ADD CONSTRAINT recent_deletion_pkey PRIMARY KEY (number, collection);


--
-- Name: rejected_plan rejected_plan_pkey; Type: CONSTRAINT; Schema: cascade; Owner: cascaded
--

ALTER TABLE ONLY cascade.rejected_plan
    ADD CONSTRAINT rejected_plan_pkey PRIMARY KEY (number);


--
-- Name: relation relation_name_source_destination_part_key; Type: CONSTRAINT; Schema: cascade; Owner: cascaded
--

ALTER TABLE ONLY cascade.relation
    ADD CONSTRAINT relation_name_source_destination_part_key UNIQUE (name, source, destination, part);


--
-- Name: relation relation_pkey; Type: CONSTRAINT; Schema: cascade; Owner: cascaded
--

ALTER TABLE ONLY cascade.relation
    ADD CONSTRAINT relation_pkey PRIMARY KEY (number);


--
-- Name: shape shape_pkey; Type: CONSTRAINT; Schema: cascade; Owner: cascaded
--

ALTER TABLE ONLY cascade.shape
    ADD CONSTRAINT shape_pkey PRIMARY KEY (number);


--
-- Name: sweep_time sweep_time_pkey; Type: CONSTRAINT; Schema: cascade; Owner: cascaded
--

ALTER TABLE ONLY cascade.sweep_time
    ADD CONSTRAINT sweep_time_pkey PRIMARY KEY (kind);


--
-- Name: unreached unreached_pkey; Type: CONSTRAINT; Schema: cascade; Owner: cascaded
--

ALTER TABLE ONLY cascade.unreached
    ADD CONSTRAINT unreached_pkey PRIMARY KEY (collection, key);


--
-- Name: verdict verdict_pkey; Type: CONSTRAINT; Schema: cascade; Owner: cascaded
--

ALTER TABLE ONLY cascade.verdict
    ADD CONSTRAINT verdict_pkey PRIMARY KEY (name);


--
-- Name: went went_pkey; Type: CONSTRAINT; Schema: cascade; Owner: cascaded
--

ALTER TABLE ONLY cascade.went
    ADD CONSTRAINT went_pkey PRIMARY KEY (number);


--
-- Name: album album_pkey; Type: CONSTRAINT; Schema: public; Owner: application
--

ALTER TABLE ONLY public.album
    ADD CONSTRAINT album_pkey PRIMARY KEY (id);


--
-- Name: artist artist_pkey; Type: CONSTRAINT; Schema: public; Owner: application
--

ALTER TABLE ONLY public.artist
    ADD CONSTRAINT artist_pkey PRIMARY KEY (id);


--
-- Name: song song_pkey; Type: CONSTRAINT; Schema: public; Owner: application
--

ALTER TABLE ONLY public.song
    ADD CONSTRAINT song_pkey PRIMARY KEY (id);


--
-- Name: deleted_batches; Type: INDEX; Schema: cascade; Owner: cascaded
--

CREATE INDEX deleted_batches ON cascade.deleted USING btree (batch, id);


--
-- Name: deleted_buckets; Type: INDEX; Schema: cascade; Owner: cascaded
--

CREATE INDEX deleted_buckets ON cascade.deleted USING btree (collection, bucket);


--
-- Name: deleted_followed; Type: INDEX; Schema: cascade; Owner: cascaded
--

CREATE INDEX deleted_followed ON cascade.deleted USING btree (batch, collection, id) WHERE follows;


--
-- Name: deleted_kept; Type: INDEX; Schema: cascade; Owner: cascaded
--

CREATE INDEX deleted_kept ON cascade.deleted USING btree (batch) WHERE (rows IS NOT NULL);


--
-- Name: edges_5_added; Type: INDEX; Schema: cascade; Owner: cascaded
--

CREATE INDEX edges_5_added ON cascade.edges_5 USING btree (added);


--
-- Name: edges_5_to; Type: INDEX; Schema: cascade; Owner: cascaded
--

CREATE INDEX edges_5_to ON cascade.edges_5 USING btree (d0);


--
-- Name: file_batches; Type: INDEX; Schema: cascade; Owner: cascaded
--

CREATE INDEX file_batches ON cascade.file USING btree (batch);


--
-- Name: file_paths; Type: INDEX; Schema: cascade; Owner: cascaded
--

CREATE INDEX file_paths ON cascade.file USING btree (root, path);


--
-- Name: file_states; Type: INDEX; Schema: cascade; Owner: cascaded
--

CREATE INDEX file_states ON cascade.file USING btree (state, id) WHERE (state <> 2);


--
-- Name: given_up_others; Type: INDEX; Schema: cascade; Owner: cascaded
--

CREATE INDEX given_up_others ON cascade.given_up USING btree (what, subject, other);


--
-- Name: held_cause_keys; Type: INDEX; Schema: cascade; Owner: cascaded
--

CREATE INDEX held_cause_keys ON cascade.held_cause USING btree (what, subject, key);


--
-- Name: held_cause_others; Type: INDEX; Schema: cascade; Owner: cascaded
--

CREATE INDEX held_cause_others ON cascade.held_cause USING btree (what, subject, other) WHERE (other IS NOT NULL);


--
-- Name: job_nodes; Type: INDEX; Schema: cascade; Owner: cascaded
--

CREATE INDEX job_nodes ON cascade.job_node USING btree (job, place, level DESC, rule, via);


--
-- Name: journal_keys; Type: INDEX; Schema: cascade; Owner: cascaded
--

CREATE INDEX journal_keys ON cascade.journal USING btree (subject, key) WHERE ((what = ANY (ARRAY[1, 6])) AND (at IS NOT NULL));


--
-- Name: journal_order; Type: INDEX; Schema: cascade; Owner: cascaded
--

CREATE INDEX journal_order ON cascade.journal USING btree (seq) WHERE (seq IS NOT NULL);


--
-- Name: lease_nodes; Type: INDEX; Schema: cascade; Owner: cascaded
--

CREATE INDEX lease_nodes ON cascade.lease USING btree (collection, key);


--
-- Name: ledger_ids; Type: INDEX; Schema: cascade; Owner: cascaded
--

CREATE INDEX ledger_ids ON cascade.ledger USING btree (id, batch);


--
-- Name: mark_jobs; Type: INDEX; Schema: cascade; Owner: cascaded
--

CREATE INDEX mark_jobs ON cascade.mark USING btree (job);


--
-- Name: mark_reason_via; Type: INDEX; Schema: cascade; Owner: cascaded
--

CREATE INDEX mark_reason_via ON cascade.mark_reason USING btree (via);


--
-- Name: marked_batches; Type: INDEX; Schema: cascade; Owner: cascaded
--

CREATE INDEX marked_batches ON cascade.marked USING btree (batch);


--
-- Name: marked_via; Type: INDEX; Schema: cascade; Owner: cascaded
--

CREATE INDEX marked_via ON cascade.marked USING btree (via_collection, via_key);


--
-- Name: marking_order; Type: INDEX; Schema: cascade; Owner: cascaded
--

CREATE INDEX marking_order ON cascade.marking USING btree (job, seq);


--
-- Name: notice_batches; Type: INDEX; Schema: cascade; Owner: cascaded
--

CREATE INDEX notice_batches ON cascade.notice USING btree (batch);


--
-- Name: nullified_batches; Type: INDEX; Schema: cascade; Owner: cascaded
--

CREATE INDEX nullified_batches ON cascade.nullified USING btree (batch);


--
-- Name: nullified_rows; Type: INDEX; Schema: cascade; Owner: cascaded
--

CREATE INDEX nullified_rows ON cascade.nullified USING btree (relation, key);


--
-- Name: outlived_edges; Type: INDEX; Schema: cascade; Owner: cascaded
--

CREATE INDEX outlived_edges ON cascade.outlived USING btree (relation, other);


--
-- Name: unlinked_batches; Type: INDEX; Schema: cascade; Owner: cascaded
--

CREATE INDEX unlinked_batches ON cascade.unlinked USING btree (batch);


--
-- Name: unreached_open; Type: INDEX; Schema: cascade; Owner: cascaded
--

CREATE INDEX unreached_open ON cascade.unreached USING btree (id) WHERE ((NOT is_kept) AND (NOT is_denied));


--
-- Name: went_batches; Type: INDEX; Schema: cascade; Owner: cascaded
--

CREATE INDEX went_batches ON cascade.went USING btree (batch);


--
-- Name: work_done; Type: INDEX; Schema: cascade; Owner: cascaded
--

CREATE INDEX work_done ON cascade.work USING btree (batch, what, subject, (
CASE what
    WHEN 4 THEN key
    ELSE other
END)) WHERE done;


--
-- Name: work_open; Type: INDEX; Schema: cascade; Owner: cascaded
--

CREATE INDEX work_open ON cascade.work USING btree (batch, what, subject, id) WHERE (NOT done);


--
-- Name: album_artist; Type: INDEX; Schema: public; Owner: application
--

CREATE INDEX album_artist ON public.album USING btree (artist_id);


--
-- Name: song_album; Type: INDEX; Schema: public; Owner: application
--

CREATE INDEX song_album ON public.song USING btree (album_id);


--
-- Name: lease cascade_leased; Type: TRIGGER; Schema: cascade; Owner: cascaded
--

CREATE TRIGGER cascade_leased BEFORE INSERT OR UPDATE ON cascade.lease FOR EACH ROW EXECUTE FUNCTION cascade.leased();


--
-- Name: lease cascade_released; Type: TRIGGER; Schema: cascade; Owner: cascaded
--

CREATE TRIGGER cascade_released AFTER DELETE ON cascade.lease FOR EACH STATEMENT EXECUTE FUNCTION cascade.released();


--
-- Name: album cascade_arrived; Type: TRIGGER; Schema: public; Owner: application
--

CREATE TRIGGER cascade_arrived AFTER INSERT ON public.album REFERENCING NEW TABLE AS new FOR EACH STATEMENT WHEN (((SESSION_USER <> 'cascaded'::name) OR (pg_trigger_depth() > 0))) EXECUTE FUNCTION cascade.arrived_1();


--
-- Name: song cascade_arrived; Type: TRIGGER; Schema: public; Owner: application
--

CREATE TRIGGER cascade_arrived AFTER INSERT ON public.song REFERENCING NEW TABLE AS new FOR EACH STATEMENT WHEN (((SESSION_USER <> 'cascaded'::name) OR (pg_trigger_depth() > 0))) EXECUTE FUNCTION cascade.arrived_4();


--
-- Name: album cascade_changed; Type: TRIGGER; Schema: public; Owner: application
--

CREATE TRIGGER cascade_changed AFTER UPDATE ON public.album FOR EACH ROW WHEN ((((SESSION_USER <> 'cascaded'::name) OR (pg_trigger_depth() > 0)) AND ((old.id IS DISTINCT FROM new.id) OR (old.artist_id IS DISTINCT FROM new.artist_id)))) EXECUTE FUNCTION cascade.changed_1();


--
-- Name: artist cascade_changed; Type: TRIGGER; Schema: public; Owner: application
--

CREATE TRIGGER cascade_changed AFTER UPDATE ON public.artist FOR EACH ROW WHEN ((((SESSION_USER <> 'cascaded'::name) OR (pg_trigger_depth() > 0)) AND (old.id IS DISTINCT FROM new.id))) EXECUTE FUNCTION cascade.changed_2();


--
-- Name: song cascade_changed; Type: TRIGGER; Schema: public; Owner: application
--

CREATE TRIGGER cascade_changed AFTER UPDATE ON public.song FOR EACH ROW WHEN ((((SESSION_USER <> 'cascaded'::name) OR (pg_trigger_depth() > 0)) AND ((old.id IS DISTINCT FROM new.id) OR (old.album_id IS DISTINCT FROM new.album_id)))) EXECUTE FUNCTION cascade.changed_4();


--
-- Name: album cascade_gone; Type: TRIGGER; Schema: public; Owner: application
--

CREATE TRIGGER cascade_gone AFTER DELETE ON public.album REFERENCING OLD TABLE AS old FOR EACH STATEMENT WHEN (((SESSION_USER <> 'cascaded'::name) OR (pg_trigger_depth() > 0))) EXECUTE FUNCTION cascade.gone_1();


--
-- Name: artist cascade_gone; Type: TRIGGER; Schema: public; Owner: application
--

CREATE TRIGGER cascade_gone AFTER DELETE ON public.artist REFERENCING OLD TABLE AS old FOR EACH STATEMENT WHEN (((SESSION_USER <> 'cascaded'::name) OR (pg_trigger_depth() > 0))) EXECUTE FUNCTION cascade.gone_2();


--
-- Name: song cascade_gone; Type: TRIGGER; Schema: public; Owner: application
--

CREATE TRIGGER cascade_gone AFTER DELETE ON public.song REFERENCING OLD TABLE AS old FOR EACH STATEMENT WHEN (((SESSION_USER <> 'cascaded'::name) OR (pg_trigger_depth() > 0))) EXECUTE FUNCTION cascade.gone_4();


--
-- Name: album cascade_truncated; Type: TRIGGER; Schema: public; Owner: application
--

CREATE TRIGGER cascade_truncated AFTER TRUNCATE ON public.album FOR EACH STATEMENT EXECUTE FUNCTION cascade.truncated_1();


--
-- Name: artist cascade_truncated; Type: TRIGGER; Schema: public; Owner: application
--

CREATE TRIGGER cascade_truncated AFTER TRUNCATE ON public.artist FOR EACH STATEMENT EXECUTE FUNCTION cascade.truncated_2();


--
-- Name: song cascade_truncated; Type: TRIGGER; Schema: public; Owner: application
--

CREATE TRIGGER cascade_truncated AFTER TRUNCATE ON public.song FOR EACH STATEMENT EXECUTE FUNCTION cascade.truncated_4();


--
-- Name: SCHEMA cascade; Type: ACL; Schema: -; Owner: cascaded
--

GRANT USAGE ON SCHEMA cascade TO application;


--
-- Name: SCHEMA public; Type: ACL; Schema: -; Owner: pg_database_owner
--

GRANT USAGE ON SCHEMA public TO cascaded;


--
-- Name: FUNCTION arrived_1(); Type: ACL; Schema: cascade; Owner: cascaded
--

REVOKE ALL ON FUNCTION cascade.arrived_1() FROM PUBLIC;


--
-- Name: FUNCTION arrived_4(); Type: ACL; Schema: cascade; Owner: cascaded
--

REVOKE ALL ON FUNCTION cascade.arrived_4() FROM PUBLIC;


--
-- Name: FUNCTION changed_1(); Type: ACL; Schema: cascade; Owner: cascaded
--

REVOKE ALL ON FUNCTION cascade.changed_1() FROM PUBLIC;


--
-- Name: FUNCTION changed_2(); Type: ACL; Schema: cascade; Owner: cascaded
--

REVOKE ALL ON FUNCTION cascade.changed_2() FROM PUBLIC;


--
-- Name: FUNCTION changed_4(); Type: ACL; Schema: cascade; Owner: cascaded
--

REVOKE ALL ON FUNCTION cascade.changed_4() FROM PUBLIC;


--
-- Name: FUNCTION gone_1(); Type: ACL; Schema: cascade; Owner: cascaded
--

REVOKE ALL ON FUNCTION cascade.gone_1() FROM PUBLIC;


--
-- Name: FUNCTION gone_2(); Type: ACL; Schema: cascade; Owner: cascaded
--

REVOKE ALL ON FUNCTION cascade.gone_2() FROM PUBLIC;


--
-- Name: FUNCTION gone_4(); Type: ACL; Schema: cascade; Owner: cascaded
--

REVOKE ALL ON FUNCTION cascade.gone_4() FROM PUBLIC;


--
-- Name: FUNCTION leased(); Type: ACL; Schema: cascade; Owner: cascaded
--

REVOKE ALL ON FUNCTION cascade.leased() FROM PUBLIC;


--
-- Name: FUNCTION released(); Type: ACL; Schema: cascade; Owner: cascaded
--

REVOKE ALL ON FUNCTION cascade.released() FROM PUBLIC;


--
-- Name: FUNCTION truncated_1(); Type: ACL; Schema: cascade; Owner: cascaded
--

REVOKE ALL ON FUNCTION cascade.truncated_1() FROM PUBLIC;


--
-- Name: FUNCTION truncated_2(); Type: ACL; Schema: cascade; Owner: cascaded
--

REVOKE ALL ON FUNCTION cascade.truncated_2() FROM PUBLIC;


--
-- Name: FUNCTION truncated_4(); Type: ACL; Schema: cascade; Owner: cascaded
--

REVOKE ALL ON FUNCTION cascade.truncated_4() FROM PUBLIC;


--
-- Name: TABLE lease; Type: ACL; Schema: cascade; Owner: cascaded
--

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE cascade.lease TO application;


--
-- Name: TABLE album; Type: ACL; Schema: public; Owner: application
--

GRANT SELECT,INSERT,DELETE,TRIGGER,UPDATE ON TABLE public.album TO cascaded;


--
-- Name: TABLE artist; Type: ACL; Schema: public; Owner: application
--

GRANT SELECT,INSERT,DELETE,TRIGGER,UPDATE ON TABLE public.artist TO cascaded;


--
-- Name: TABLE song; Type: ACL; Schema: public; Owner: application
--

GRANT SELECT,INSERT,DELETE,TRIGGER,UPDATE ON TABLE public.song TO cascaded;


--
-- Name: DEFAULT PRIVILEGES FOR TABLES; Type: DEFAULT ACL; Schema: -; Owner: application
--

ALTER DEFAULT PRIVILEGES FOR ROLE application GRANT SELECT,INSERT,DELETE,TRIGGER,UPDATE ON TABLES  TO cascaded;


--
-- PostgreSQL database dump complete
--


