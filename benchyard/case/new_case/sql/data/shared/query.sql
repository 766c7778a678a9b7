SELECT sensor, avg(value) AS average FROM readings GROUP BY sensor ORDER BY sensor;
