CREATE TABLE webhook_delivery (
  key TEXT PRIMARY KEY,
  scope TEXT NOT NULL,
  delivery_id TEXT NOT NULL,
  event TEXT NOT NULL,
  received_at INTEGER NOT NULL,
  body BLOB,
  proof TEXT,
  state TEXT NOT NULL CHECK (state IN ('leased', 'retry', 'done', 'dead')),
  owner TEXT NOT NULL,
  fence INTEGER NOT NULL,
  attempts INTEGER NOT NULL DEFAULT 1,
  failures INTEGER NOT NULL DEFAULT 0,
  renewed INTEGER NOT NULL DEFAULT 0,
  handlers TEXT NOT NULL DEFAULT '{}',
  not_before INTEGER NOT NULL,
  error TEXT,
  purge_at INTEGER
);
CREATE INDEX webhook_delivery_open ON webhook_delivery (state, key) WHERE state <> 'done';
CREATE INDEX webhook_delivery_purge ON webhook_delivery (purge_at);
CREATE TABLE webhook_effect (
  key TEXT NOT NULL,
  handler TEXT NOT NULL,
  at INTEGER NOT NULL,
  PRIMARY KEY (key, handler)
) WITHOUT ROWID;
CREATE TABLE webhook_schema (
  layout INTEGER PRIMARY KEY,
  beside INTEGER NOT NULL
);
INSERT INTO webhook_delivery (key, scope, delivery_id, event, received_at, body, proof, state, owner, fence, attempts, failures, renewed, handlers, not_before, error, purge_at) VALUES ('a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0', 'shop', 'whl_a0', 'order:paid', 1790000000000, NULL, NULL, 'done', '', 1795349057986, 1, 0, 0, '{}', 1795349117986, NULL, NULL);
INSERT INTO webhook_delivery (key, scope, delivery_id, event, received_at, body, proof, state, owner, fence, attempts, failures, renewed, handlers, not_before, error, purge_at) VALUES ('e4e4e4e4e4e4e4e4e4e4e4e4e4e4e4e4e4e4e4e4e4e4e4e4e4e4e4e4e4e4e4e4', 'shop', 'whl_e4', 'order:paid', 1790000000000, NULL, NULL, 'done', '', 1795349057994, 1, 0, 0, '{}', 1795349117994, NULL, NULL);
INSERT INTO webhook_delivery (key, scope, delivery_id, event, received_at, body, proof, state, owner, fence, attempts, failures, renewed, handlers, not_before, error, purge_at) VALUES ('b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1', 'shop', 'whl_b1', 'order:paid', 1790000000000, x'7b226964223a226f72645f31227d', NULL, 'retry', '7e5442ae-c102-4f1c-a151-423e6113c76f', 1795349057994, 1, 1, 0, '{"[\"mail\"]":"[\"sent\"]"}', 1795349057994, 'it threw', NULL);
INSERT INTO webhook_delivery (key, scope, delivery_id, event, received_at, body, proof, state, owner, fence, attempts, failures, renewed, handlers, not_before, error, purge_at) VALUES ('c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2', 'shop', 'whl_c2', 'order:paid', 1790000000000, x'7b226964223a226f72645f31227d', NULL, 'dead', 'edc20bd0-694d-471c-9ce3-412ed5ab075a', 1795349057995, 1, 1, 0, '{}', 1795349057995, 'it threw', NULL);
INSERT INTO webhook_delivery (key, scope, delivery_id, event, received_at, body, proof, state, owner, fence, attempts, failures, renewed, handlers, not_before, error, purge_at) VALUES ('d3d3d3d3d3d3d3d3d3d3d3d3d3d3d3d3d3d3d3d3d3d3d3d3d3d3d3d3d3d3d3d3', 'shop', 'whl_d3', 'order:paid', 1790000000000, x'7b226964223a226f72645f31227d', 'the proof', 'leased', 'a194bcba-f472-49e5-b8b9-d6ae544a17b3', 1795349057995, 1, 0, 0, '{}', 1795348937995, NULL, NULL);
INSERT INTO webhook_effect (key, handler, at) VALUES ('f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5', 'order:paid', 1795349057995);
INSERT INTO webhook_schema (layout, beside) VALUES (2, 1);
