-- A page of a feed: the columns and joins that Lookahead's own store reads, in the feed's order.
SELECT post.post_id, post.id, post.type, post.title, post.text, post.published_at,
  author.id AS author_id, author.name AS author_name, post.url, post.thumbnail, post.tags,
  post.counters
FROM feed_entry JOIN post USING (post_id) LEFT JOIN author USING (author_id)
WHERE feed_entry.feed_id = (SELECT feed_id FROM feed WHERE name = :feed)
  AND feed_entry.until IS NULL
ORDER BY feed_entry.sort_key, feed_entry.id LIMIT :limit
