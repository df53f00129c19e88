// The page from SQLite, with mattn/go-sqlite3.
//
//	go-peer DATABASE PORT POSTS.sql
package main

import (
	"database/sql"
	"encoding/json"
	"log"
	"os"
	"strings"

	_ "github.com/mattn/go-sqlite3"
)

type server struct {
	posts *sql.Stmt
	// A statement for each number of posts of a page.
	media [mostItems + 1]*sql.Stmt
}

func (s *server) page(feed string, limit int) (page, error) {
	answer := page{make([]item, 0, limit)}
	numbers := make([]any, 0, limit)
	places := make(map[int64]int, limit)
	rows, err := s.posts.Query(feed, limit)
	if err != nil {
		return page{}, err
	}
	defer rows.Close()
	for rows.Next() {
		var i item
		var number int64
		var publishedAt *int64
		var authorID, authorName *string
		var tags, counters sql.RawBytes
		if err := rows.Scan(&number, &i.ID, &i.Type, &i.Title, &i.Text, &publishedAt, &authorID,
			&authorName, &i.URL, &i.Thumbnail, &tags, &counters); err != nil {
			return page{}, err
		}
		i.Tags = append(json.RawMessage(nil), tags...)
		i.Counters = append(json.RawMessage(nil), counters...)
		places[number] = len(answer.Items)
		numbers = append(numbers, number)
		answer.add(i, publishedAt, authorID, authorName)
	}
	if err := rows.Err(); err != nil || len(numbers) == 0 {
		return answer, err
	}
	return answer, s.addMedia(&answer, numbers, places)
}

func (s *server) addMedia(answer *page, numbers []any, places map[int64]int) error {
	rows, err := s.media[len(numbers)].Query(numbers...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var number int64
		var m media
		if err := rows.Scan(&number, &m.Kind, &m.URL, &m.MimeType, &m.Codec, &m.Width, &m.Height,
			&m.DurationMs, &m.Bytes); err != nil {
			return err
		}
		answer.addMedia(places[number], m)
	}
	return rows.Err()
}

func prepare(database *sql.DB, text string) *sql.Stmt {
	statement, err := database.Prepare(text)
	if err != nil {
		log.Fatal(err)
	}
	return statement
}

func main() {
	database, err := sql.Open("sqlite3", "file:"+os.Args[1]+"?mode=ro&_mutex=no")
	if err != nil {
		log.Fatal(err)
	}
	// On one core two connections were the fastest of 1, 2 and 8, by a little.
	database.SetMaxOpenConns(2)
	database.SetMaxIdleConns(2)
	text, err := os.ReadFile(os.Args[3])
	if err != nil {
		log.Fatal(err)
	}
	s := &server{posts: prepare(database, string(text))}
	for count := 1; count < len(s.media); count++ {
		s.media[count] = prepare(database, `
			SELECT post_id, kind, url, mime_type, codec, width, height, duration_ms, bytes
			FROM media WHERE post_id IN (?`+strings.Repeat(",?", count-1)+`)
			ORDER BY post_id, ordinal`)
	}
	serve(os.Args[2], s.page)
}
