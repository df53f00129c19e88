// The page from PostgreSQL, with jackc/pgx; and increments of counters, each a transaction of its own.
//
//	go-postgres-peer ADDRESS PORT POSTS.sql
package main

import (
	"context"
	"encoding/json"
	"log"
	"net/http"
	"os"
	"strings"

	"github.com/jackc/pgx/v4"
	"github.com/jackc/pgx/v4/pgxpool"
)

const mediaOfPosts = `
	SELECT post_id, kind, url, mime_type, codec, width, height, duration_ms, bytes
	FROM media WHERE post_id = ANY ($1) ORDER BY post_id, ordinal`

const increment = `
	UPDATE post SET counters = jsonb_set(coalesce(counters, '{}')::jsonb, ARRAY[$2::text],
		to_jsonb(coalesce((counters::jsonb ->> $2::text)::bigint, 0) + $3::bigint))::text
	WHERE id = $1 RETURNING counters`

type server struct {
	pool  *pgxpool.Pool
	posts string
}

func (s *server) page(feed string, limit int) (page, error) {
	ctx := context.Background()
	answer := page{make([]item, 0, limit)}
	numbers := make([]int64, 0, limit)
	places := make(map[int64]int, limit)
	connection, err := s.pool.Acquire(ctx)
	if err != nil {
		return page{}, err
	}
	defer connection.Release()
	rows, err := connection.Query(ctx, s.posts, feed, limit)
	if err != nil {
		return page{}, err
	}
	defer rows.Close()
	for rows.Next() {
		var i item
		var number int64
		var publishedAt *int64
		var authorID, authorName *string
		var tags, counters []byte
		if err := rows.Scan(&number, &i.ID, &i.Type, &i.Title, &i.Text, &publishedAt, &authorID,
			&authorName, &i.URL, &i.Thumbnail, &tags, &counters); err != nil {
			return page{}, err
		}
		i.Tags, i.Counters = json.RawMessage(tags), json.RawMessage(counters)
		places[number] = len(answer.Items)
		numbers = append(numbers, number)
		answer.add(i, publishedAt, authorID, authorName)
	}
	if err := rows.Err(); err != nil || len(numbers) == 0 {
		return answer, err
	}
	files, err := connection.Query(ctx, mediaOfPosts, numbers)
	if err != nil {
		return page{}, err
	}
	defer files.Close()
	for files.Next() {
		var number int64
		var m media
		if err := files.Scan(&number, &m.Kind, &m.URL, &m.MimeType, &m.Codec, &m.Width, &m.Height,
			&m.DurationMs, &m.Bytes); err != nil {
			return page{}, err
		}
		answer.addMedia(places[number], m)
	}
	return answer, files.Err()
}

// count adds to counters: POST /v1/items/ID/counters with {"NAME": NUMBER}.
func (s *server) count(w http.ResponseWriter, r *http.Request) {
	id := strings.TrimSuffix(strings.TrimPrefix(r.URL.Path, "/v1/items/"), "/counters")
	var added map[string]int64
	if err := json.NewDecoder(r.Body).Decode(&added); err != nil || len(added) != 1 {
		http.Error(w, "one counter", http.StatusBadRequest)
		return
	}
	for name, number := range added {
		var counters []byte
		row := s.pool.QueryRow(r.Context(), increment, id, name, number)
		if err := row.Scan(&counters); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		answerJSON(w, map[string]json.RawMessage{"counters": counters})
	}
}

func main() {
	config, err := pgxpool.ParseConfig(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	config.MaxConns = 8
	// It has nobody to tell what it wrote: without our triggers.
	config.AfterConnect = func(ctx context.Context, connection *pgx.Conn) error {
		_, err := connection.Exec(ctx, "SET session_replication_role = replica")
		return err
	}
	pool, err := pgxpool.ConnectConfig(context.Background(), config)
	if err != nil {
		log.Fatal(err)
	}
	text, err := os.ReadFile(os.Args[3])
	if err != nil {
		log.Fatal(err)
	}
	posts := strings.NewReplacer(":feed", "$1::text", ":limit", "$2::bigint").Replace(string(text))
	s := &server{pool, posts}
	http.HandleFunc("/v1/items/", s.count)
	serve(os.Args[2], s.page)
}
