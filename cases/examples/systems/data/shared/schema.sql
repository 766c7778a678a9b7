CREATE TABLE orders (
  customer VARCHAR NOT NULL,
  cents INTEGER NOT NULL
);
