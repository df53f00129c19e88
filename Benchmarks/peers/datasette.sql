-- posts.sql with the media of each post beside it: a canned query is one statement.
SELECT post.id, post.type, post.title, post.text, post.published_at,
  author.id AS author_id, author.name AS author_name, post.url, post.thumbnail, post.tags,
  post.counters, (
    SELECT json_group_array(json_object(
      'kind', kind, 'url', url, 'mimeType', mime_type, 'codec', codec, 'width', width,
      'height', height, 'durationMs', duration_ms, 'bytes', bytes))
    FROM media WHERE media.post_id = post.post_id
  ) AS media
FROM feed_entry JOIN post USING (post_id) LEFT JOIN author USING (author_id)
WHERE feed_entry.feed_id = (SELECT feed_id FROM feed WHERE name = :feed)
  AND feed_entry.until IS NULL
ORDER BY feed_entry.sort_key, feed_entry.id LIMIT :limit
