CREATE TABLE stock (product TEXT PRIMARY KEY, pieces INTEGER NOT NULL CHECK (pieces >= 0));
CREATE TABLE sale (order_id TEXT PRIMARY KEY, product TEXT NOT NULL REFERENCES stock (product));
