// A page of a feed as a Go service answers it: net/http, mattn/go-sqlite3, encoding/json.
//
//	go-peer DATABASE PORT POSTS.sql
package main

import (
	"database/sql"
	"encoding/json"
	"log"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	_ "github.com/mattn/go-sqlite3"
)

type author struct {
	ID   string  `json:"id"`
	Name *string `json:"name,omitempty"`
}

type media struct {
	ID         string  `json:"id"`
	Kind       string  `json:"kind"`
	URL        string  `json:"url"`
	MimeType   *string `json:"mimeType,omitempty"`
	Codec      *string `json:"codec,omitempty"`
	Width      *int64  `json:"width,omitempty"`
	Height     *int64  `json:"height,omitempty"`
	DurationMs *int64  `json:"durationMs,omitempty"`
	Bytes      *int64  `json:"bytes,omitempty"`
}

type item struct {
	ID          string          `json:"id"`
	Type        string          `json:"type"`
	Title       *string         `json:"title,omitempty"`
	Text        *string         `json:"text,omitempty"`
	PublishedAt *string         `json:"publishedAt,omitempty"`
	Author      *author         `json:"author,omitempty"`
	URL         *string         `json:"url,omitempty"`
	Thumbnail   *string         `json:"thumbnail,omitempty"`
	Tags        json.RawMessage `json:"tags,omitempty"`
	Counters    json.RawMessage `json:"counters,omitempty"`
	Media       []media         `json:"media,omitempty"`
}

type page struct {
	Items []item `json:"items"`
}

type server struct {
	posts *sql.Stmt
	// A statement for each number of posts of a page.
	media [101]*sql.Stmt
}

func (s *server) page(feed string, limit int) (page, error) {
	items := make([]item, 0, limit)
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
		if publishedAt != nil {
			text := time.UnixMicro(*publishedAt).UTC().Format(time.RFC3339Nano)
			i.PublishedAt = &text
		}
		if authorID != nil {
			i.Author = &author{*authorID, authorName}
		}
		i.Tags = append(json.RawMessage(nil), tags...)
		i.Counters = append(json.RawMessage(nil), counters...)
		places[number] = len(items)
		numbers = append(numbers, number)
		items = append(items, i)
	}
	if err := rows.Err(); err != nil || len(items) == 0 {
		return page{items}, err
	}
	return page{items}, s.addMedia(items, numbers, places)
}

func (s *server) addMedia(items []item, numbers []any, places map[int64]int) error {
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
		i := &items[places[number]]
		m.ID = i.ID + "." + strconv.Itoa(len(i.Media))
		i.Media = append(i.Media, m)
	}
	return rows.Err()
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	limit, err := strconv.Atoi(query.Get("limit"))
	if err != nil || limit < 1 || limit > 100 {
		http.Error(w, "limit is 1 to 100", http.StatusBadRequest)
		return
	}
	answer, err := s.page(query.Get("feed"), limit)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	body, err := json.Marshal(answer)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.Write(body)
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
	http.Handle("/rp/", s)
	log.Fatal(http.ListenAndServe("127.0.0.1:"+os.Args[2], nil))
}
