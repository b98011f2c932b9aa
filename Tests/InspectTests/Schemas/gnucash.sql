-- GnuCash by piecash: books of accounts. Keys are UUIDs.
CREATE TABLE commodities(guid VARCHAR(32) PRIMARY KEY NOT NULL, namespace VARCHAR(2048) NOT NULL,
  mnemonic VARCHAR(2048) NOT NULL, fullname VARCHAR(2048), cusip VARCHAR(2048),
  fraction BIGINT NOT NULL, quote_flag INTEGER NOT NULL, quote_source VARCHAR(2048));
CREATE TABLE accounts(guid VARCHAR(32) PRIMARY KEY NOT NULL, name VARCHAR(2048) NOT NULL,
  account_type VARCHAR(2048) NOT NULL,
  commodity_guid VARCHAR(32) REFERENCES commodities(guid),
  commodity_scu BIGINT NOT NULL, non_std_scu INTEGER NOT NULL,
  parent_guid VARCHAR(32) REFERENCES accounts(guid),
  code VARCHAR(2048), description VARCHAR(2048), hidden INTEGER, placeholder INTEGER);
CREATE TABLE books(guid VARCHAR(32) PRIMARY KEY NOT NULL,
  root_account_guid VARCHAR(32) NOT NULL REFERENCES accounts(guid),
  root_template_guid VARCHAR(32) NOT NULL REFERENCES accounts(guid)
);
CREATE TABLE budgets(guid VARCHAR(32) PRIMARY KEY NOT NULL, name VARCHAR(2048) NOT NULL,
  description VARCHAR(2048), num_periods BIGINT NOT NULL);
CREATE TABLE budget_amounts(id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
  budget_guid VARCHAR(32) NOT NULL REFERENCES budgets(guid),
  account_guid VARCHAR(32) NOT NULL REFERENCES accounts(guid),
  period_num INTEGER NOT NULL, amount_num BIGINT NOT NULL, amount_denom BIGINT NOT NULL);
CREATE TABLE transactions(guid VARCHAR(32) PRIMARY KEY NOT NULL,
  currency_guid VARCHAR(32) NOT NULL REFERENCES commodities(guid),
  num VARCHAR(2048) NOT NULL, post_date VARCHAR(19), enter_date VARCHAR(19),
  description VARCHAR(2048));
CREATE TABLE lots(guid VARCHAR(32) PRIMARY KEY NOT NULL,
  account_guid VARCHAR(32) REFERENCES accounts(guid),
  is_closed INTEGER NOT NULL);
CREATE TABLE splits(guid VARCHAR(32) PRIMARY KEY NOT NULL,
  tx_guid VARCHAR(32) NOT NULL REFERENCES transactions(guid),
  account_guid VARCHAR(32) NOT NULL REFERENCES accounts(guid),
  memo VARCHAR(2048) NOT NULL, action VARCHAR(2048) NOT NULL, reconcile_state VARCHAR(1) NOT NULL,
  value_num BIGINT NOT NULL, value_denom BIGINT NOT NULL, quantity_num BIGINT NOT NULL,
  quantity_denom BIGINT NOT NULL,
  lot_guid VARCHAR(32) REFERENCES lots(guid)
);
CREATE TABLE prices(guid VARCHAR(32) PRIMARY KEY NOT NULL,
  commodity_guid VARCHAR(32) NOT NULL REFERENCES commodities(guid),
  currency_guid VARCHAR(32) NOT NULL REFERENCES commodities(guid),
  date VARCHAR(8) NOT NULL, source VARCHAR(2048), type VARCHAR(2048), value_num BIGINT NOT NULL,
  value_denom BIGINT NOT NULL);
CREATE TABLE schedxactions(guid VARCHAR(32) PRIMARY KEY NOT NULL, name VARCHAR(2048),
  enabled INTEGER NOT NULL, num_occur INTEGER NOT NULL, instance_count INTEGER NOT NULL,
  template_act_guid VARCHAR(32) NOT NULL REFERENCES accounts(guid)
);
CREATE TABLE customers(guid VARCHAR(32) PRIMARY KEY NOT NULL, name VARCHAR(2048) NOT NULL,
  id VARCHAR(2048) NOT NULL, notes VARCHAR(2048) NOT NULL, active INTEGER NOT NULL,
  discount_num BIGINT NOT NULL,
  currency VARCHAR(32) NOT NULL REFERENCES commodities(guid),
  tax_override INTEGER NOT NULL, addr_name VARCHAR(1024));
CREATE TABLE invoices(guid VARCHAR(32) PRIMARY KEY NOT NULL, id VARCHAR(2048) NOT NULL,
  date_opened VARCHAR(19), notes VARCHAR(2048) NOT NULL, active INTEGER NOT NULL,
  currency VARCHAR(32) NOT NULL REFERENCES commodities(guid),
  post_txn VARCHAR(32) REFERENCES transactions(guid),
  post_lot VARCHAR(32) REFERENCES lots(guid),
  post_acc VARCHAR(32) REFERENCES accounts(guid)
);
CREATE TABLE entries(guid VARCHAR(32) PRIMARY KEY NOT NULL, date VARCHAR(19) NOT NULL,
  description VARCHAR(2048), quantity_num BIGINT,
  i_acct VARCHAR(32) REFERENCES accounts(guid),
  invoice VARCHAR(32) REFERENCES invoices(guid),
  billable INTEGER);
CREATE TABLE versions(table_name VARCHAR(50) PRIMARY KEY NOT NULL, table_version INTEGER NOT NULL);
CREATE INDEX splits_tx_guid_index ON splits(tx_guid);
CREATE INDEX splits_account_guid_index ON splits(account_guid);
CREATE TEMP TABLE n AS WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n LIMIT 1000)
  SELECT i, lower(hex(randomblob(16))) AS c, lower(hex(randomblob(16))) AS a,
    lower(hex(randomblob(16))) AS t, lower(hex(randomblob(16))) AS l,
    lower(hex(randomblob(16))) AS v FROM n;
CREATE INDEX temp.ni ON n(i);
INSERT INTO commodities SELECT c, 'CURRENCY', 'C' || i, NULL, NULL, 100, 0, NULL FROM n WHERE i <= 6;
INSERT INTO accounts SELECT a, 'Account ' || i, 'BANK', (SELECT c FROM n AS x WHERE x.i = n.i % 6 + 1),
  100, 0, CASE WHEN i > 2 THEN (SELECT a FROM n AS x WHERE x.i = n.i / 2) END, '', '', 0, 0
  FROM n WHERE i <= 60;
INSERT INTO books SELECT v, a, (SELECT a FROM n AS x WHERE x.i = 2) FROM n WHERE i = 1;
INSERT INTO budgets SELECT v, 'Budget', '', 12 FROM n WHERE i <= 2;
INSERT INTO budget_amounts SELECT i, (SELECT v FROM n AS x WHERE x.i = n.i % 2 + 1), a, i % 12, 100, 1
  FROM n WHERE i <= 40;
INSERT INTO transactions SELECT t, (SELECT c FROM n AS x WHERE x.i = n.i % 4 + 1), '', '2025-01-01',
  '2025-01-01', 'x' FROM n WHERE i <= 400;
INSERT INTO lots SELECT l, (SELECT a FROM n AS x WHERE x.i = n.i), 0 FROM n WHERE i <= 10;
INSERT INTO splits SELECT v, (SELECT t FROM n AS x WHERE x.i = n.i % 400 + 1),
  (SELECT a FROM n AS x WHERE x.i = n.i % 60 + 1), '', '', 'n', 100, 100, 100, 100,
  CASE WHEN i % 20 = 0 THEN (SELECT l FROM n AS x WHERE x.i = n.i % 10 + 1) END FROM n;
INSERT INTO prices SELECT v, (SELECT c FROM n AS x WHERE x.i = n.i % 5 + 2),
  (SELECT c FROM n AS x WHERE x.i = n.i % 3 + 1), '20250101', '', '', 5, 1 FROM n WHERE i <= 50;
INSERT INTO schedxactions SELECT v, 'Rent', 1, 0, 1, (SELECT a FROM n AS x WHERE x.i = n.i + 20)
  FROM n WHERE i <= 4;
INSERT INTO customers SELECT v, 'Customer ' || i, '00000' || i, '', 1, 0,
  (SELECT c FROM n AS x WHERE x.i = n.i % 4 + 1), 0, '' FROM n WHERE i <= 20;
INSERT INTO invoices SELECT v, '0000' || i, '2025-01-01', '', 1,
  (SELECT c FROM n AS x WHERE x.i = n.i % 4 + 1), t, (SELECT l FROM n AS x WHERE x.i = n.i % 10 + 1), a
  FROM n WHERE i <= 30;
INSERT INTO entries SELECT v, '2025-01-01', '', 1, (SELECT a FROM n AS x WHERE x.i = n.i % 50 + 1),
  (SELECT v FROM n AS x WHERE x.i = n.i % 30 + 1), 0 FROM n WHERE i <= 90;
INSERT INTO versions VALUES('Gnucash', 3000000), ('accounts', 1);
