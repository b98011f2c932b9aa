-- Django 5: auth, admin, sessions and content types, as migrations make them; and a small blog.
CREATE TABLE "django_migrations" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT,
  "app" varchar(255) NOT NULL, "name" varchar(255) NOT NULL, "applied" datetime NOT NULL);
CREATE TABLE "django_content_type" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT,
  "app_label" varchar(100) NOT NULL, "model" varchar(100) NOT NULL);
CREATE TABLE "auth_group" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT,
  "name" varchar(150) NOT NULL UNIQUE);
CREATE TABLE "auth_permission" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT,
  "content_type_id" integer NOT NULL REFERENCES "django_content_type" ("id"),
  "codename" varchar(100) NOT NULL, "name" varchar(255) NOT NULL);
CREATE TABLE "auth_group_permissions" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT,
  "group_id" integer NOT NULL REFERENCES "auth_group" ("id"),
  "permission_id" integer NOT NULL REFERENCES "auth_permission" ("id")
);
CREATE TABLE "auth_user" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT,
  "password" varchar(128) NOT NULL, "last_login" datetime NULL, "is_superuser" bool NOT NULL,
  "username" varchar(150) NOT NULL UNIQUE, "first_name" varchar(150) NOT NULL,
  "email" varchar(254) NOT NULL, "is_staff" bool NOT NULL, "date_joined" datetime NOT NULL);
CREATE TABLE "auth_user_groups" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT,
  "user_id" integer NOT NULL REFERENCES "auth_user" ("id"),
  "group_id" integer NOT NULL REFERENCES "auth_group" ("id")
);
CREATE TABLE "auth_user_user_permissions" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT,
  "user_id" integer NOT NULL REFERENCES "auth_user" ("id"),
  "permission_id" integer NOT NULL REFERENCES "auth_permission" ("id")
);
CREATE TABLE "django_admin_log" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT,
  "object_id" text NULL, "object_repr" varchar(200) NOT NULL, "action_flag" smallint NOT NULL,
  "change_message" text NOT NULL,
  "content_type_id" integer NULL REFERENCES "django_content_type" ("id"),
  "user_id" integer NOT NULL REFERENCES "auth_user" ("id"),
  "action_time" datetime NOT NULL);
CREATE TABLE "django_session" ("session_key" varchar(40) NOT NULL PRIMARY KEY,
  "session_data" text NOT NULL, "expire_date" datetime NOT NULL);
CREATE TABLE "blog_category" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT,
  "title" varchar(50) NOT NULL, "slug" varchar(50) NOT NULL UNIQUE,
  "parent_id" integer NULL REFERENCES "blog_category" ("id")
);
CREATE TABLE "blog_post" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT,
  "title" varchar(200) NOT NULL, "views" integer NOT NULL, "status" integer NOT NULL,
  "category_id" integer NULL REFERENCES "blog_category" ("id"),
  "author_id" integer NOT NULL REFERENCES "auth_user" ("id")
);
CREATE TABLE "blog_comment" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT,
  "post_id" integer NOT NULL REFERENCES "blog_post" ("id"),
  "text" text NOT NULL, "score" integer NOT NULL);
CREATE INDEX "auth_permission_ct" ON "auth_permission" ("content_type_id");
CREATE INDEX "blog_comment_post" ON "blog_comment" ("post_id");
CREATE TEMP TABLE n AS WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n LIMIT 2000)
  SELECT i FROM n;
INSERT INTO django_migrations SELECT i, 'auth', 'm' || i, '2025-01-01' FROM n WHERE i <= 20;
INSERT INTO django_content_type SELECT i, 'app', 'model' || i FROM n WHERE i <= 12;
INSERT INTO auth_group VALUES(1, 'editors'), (2, 'readers');
INSERT INTO auth_permission SELECT i, i % 12 + 1, 'can_' || i, 'Can ' || i FROM n WHERE i <= 48;
INSERT INTO auth_group_permissions SELECT i, i % 2 + 1, i FROM n WHERE i <= 40;
INSERT INTO auth_user SELECT i, 'pbkdf2', NULL, 0, 'user' || i, '', '', 0, '2025-01-01'
  FROM n WHERE i <= 50;
INSERT INTO auth_user_groups SELECT i, i, i % 2 + 1 FROM n WHERE i <= 50;
INSERT INTO django_admin_log SELECT i, i, 'x', i % 3 + 1, '', i % 12 + 1, 1, '2025-01-01'
  FROM n WHERE i <= 90;
INSERT INTO django_session SELECT lower(hex(randomblob(16))), 'x', '2025-01-01' FROM n WHERE i <= 9;
INSERT INTO blog_category SELECT i, 'Cat ' || i, 'cat-' || i, CASE WHEN i > 3 THEN i % 3 + 1 END
  FROM n WHERE i <= 12;
INSERT INTO blog_post SELECT i, 'Post ' || i, i % 40, i % 3, i % 12 + 1, i % 50 + 1
  FROM n WHERE i <= 300;
INSERT INTO blog_comment SELECT i, i % 300 + 1, 'text', i % 5 FROM n;
