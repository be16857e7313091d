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
INSERT INTO webhook_delivery (key, scope, delivery_id, event, received_at, body, proof, state, owner, fence, attempts, failures, handlers, not_before, error, purge_at) VALUES ('a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0', 'shop', 'whl_a0', 'order:paid', 1790000000000, NULL, NULL, 'done', '', 1795337686433, 1, 0, '{}', 1795337746433, NULL, NULL);
INSERT INTO webhook_delivery (key, scope, delivery_id, event, received_at, body, proof, state, owner, fence, attempts, failures, handlers, not_before, error, purge_at) VALUES ('e4e4e4e4e4e4e4e4e4e4e4e4e4e4e4e4e4e4e4e4e4e4e4e4e4e4e4e4e4e4e4e4', 'shop', 'whl_e4', 'order:paid', 1790000000000, NULL, NULL, 'done', '', 1795337686436, 1, 0, '{}', 1795337746436, NULL, NULL);
INSERT INTO webhook_delivery (key, scope, delivery_id, event, received_at, body, proof, state, owner, fence, attempts, failures, handlers, not_before, error, purge_at) VALUES ('b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1', 'shop', 'whl_b1', 'order:paid', 1790000000000, x'7b226964223a226f72645f31227d', NULL, 'retry', 'f48df02b-bd70-4608-9788-38c81c281802', 1795337686436, 1, 1, '{"[\"mail\"]":"[\"sent\"]"}', 1795337686436, 'it threw', NULL);
INSERT INTO webhook_delivery (key, scope, delivery_id, event, received_at, body, proof, state, owner, fence, attempts, failures, handlers, not_before, error, purge_at) VALUES ('c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2', 'shop', 'whl_c2', 'order:paid', 1790000000000, x'7b226964223a226f72645f31227d', NULL, 'dead', 'a7b3e4fe-b77d-4770-af60-78bc2445c651', 1795337686436, 1, 1, '{}', 1795337686436, 'it threw', NULL);
INSERT INTO webhook_delivery (key, scope, delivery_id, event, received_at, body, proof, state, owner, fence, attempts, failures, handlers, not_before, error, purge_at) VALUES ('d3d3d3d3d3d3d3d3d3d3d3d3d3d3d3d3d3d3d3d3d3d3d3d3d3d3d3d3d3d3d3d3', 'shop', 'whl_d3', 'order:paid', 1790000000000, x'7b226964223a226f72645f31227d', 'the proof', 'leased', '41919a09-298c-4fe8-a56b-2a78f1c228f5', 1795337686436, 1, 0, '{}', 1795337566436, NULL, NULL);
INSERT INTO webhook_effect (key, handler, at) VALUES ('f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5', 'order:paid', 1795337686437);
