SELECT customer, count(*) AS orders, sum(cents) AS cents
FROM orders
GROUP BY customer;
