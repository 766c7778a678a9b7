CREATE TABLE readings (sensor TEXT, value DOUBLE PRECISION);
