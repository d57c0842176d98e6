package server

import (
	"net/http"
	"testing"
)

func TestWantsText(t *testing.T) {
	for accept, want := range map[string]bool{
		"": false, "*/*": false, "application/json": false, "text/html,application/xhtml+xml,*/*;q=0.8": false,
		"text/plain": true, "Text/Plain; charset=utf-8": true, "text/plain, */*;q=0.1": true,
		"text/plain, application/json": false, "application/json;q=0.5, text/plain": true,
		"text/plain;q=0": false, "text/plain;q=x": false, ";;,text/plain": true,
	} {
		if got := wantsText(http.Header{"Accept": {accept}}); got != want {
			t.Errorf("%q: got %t", accept, got)
		}
	}
	if !wantsText(http.Header{"Accept": {"application/json;q=0.1", "text/plain"}}) {
		t.Error("several headers are one list")
	}
}
