// The job with net/http.
package main

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"strings"
	"time"
)

func get(url string) io.ReadCloser {
	response, err := http.Get(url)
	if err != nil {
		panic(err)
	}
	return response.Body
}

func main() {
	base, body, text := os.Args[2], os.Args[3], os.Args[4]
	response, err := http.Post(base+"/downloads", "application/json", strings.NewReader(body))
	if err != nil {
		panic(err)
	}
	var made struct{ ID string }
	json.NewDecoder(response.Body).Decode(&made)
	events := bufio.NewScanner(get(base + "/downloads/" + made.ID + "/events"))
	for events.Scan() && !strings.Contains(events.Text(), `"state":"completed"`) {
	}
	// Of an address, net/http escapes the path alone.
	for {
		list, _ := io.ReadAll(get(base + "/downloads?q=" + text))
		if strings.Contains(string(list), `"state":"completed"`) {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	file, _ := os.Create(os.Args[5])
	io.Copy(file, get(base+"/downloads/"+made.ID+"/file/"+text))
}
