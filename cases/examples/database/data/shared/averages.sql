SELECT sensor, count(*) AS readings, avg(celsius) AS celsius
FROM readings
GROUP BY sensor;
