// A page of a feed as a Go service answers it, with net/http and encoding/json; from which database, the other file of
// the service says.
package main

import (
	"encoding/json"
	"log"
	"net/http"
	"strconv"
	"time"
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

// add puts a post on the page, with its time and its author.
func (p *page) add(i item, publishedAt *int64, authorID, authorName *string) {
	if publishedAt != nil {
		text := time.UnixMicro(*publishedAt).UTC().Format(time.RFC3339Nano)
		i.PublishedAt = &text
	}
	if authorID != nil {
		i.Author = &author{*authorID, authorName}
	}
	p.Items = append(p.Items, i)
}

// addMedia puts a file with the post at this place of the page.
func (p *page) addMedia(position int, m media) {
	i := &p.Items[position]
	m.ID = i.ID + "." + strconv.Itoa(len(i.Media))
	i.Media = append(i.Media, m)
}

// serve answers pages that read makes, until it cannot listen.
func serve(port string, read func(feed string, limit int) (page, error)) {
	http.HandleFunc("/rp/", func(w http.ResponseWriter, r *http.Request) {
		query := r.URL.Query()
		limit, err := strconv.Atoi(query.Get("limit"))
		if err != nil || limit < 1 || limit > mostItems {
			http.Error(w, "limit is 1 to 100", http.StatusBadRequest)
			return
		}
		answer, err := read(query.Get("feed"), limit)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		answerJSON(w, answer)
	})
	log.Fatal(http.ListenAndServe("127.0.0.1:"+port, nil))
}

const mostItems = 100

func answerJSON(w http.ResponseWriter, answer any) {
	body, err := json.Marshal(answer)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.Write(body)
}
