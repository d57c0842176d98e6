// Package docs reads what the documentation shows, so that tests can try it.
package docs

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Block is one fenced block of a page.
type Block struct {
	Page string
	Line int
	// Info is what stands after the fence: a language, then perhaps more.
	Info string
	Text string
}

// String says where the block stands.
func (b Block) String() string { return fmt.Sprintf("%s:%d", b.Page, b.Line) }

// Language is the first word of Info.
func (b Block) Language() string {
	language, _, _ := strings.Cut(b.Info, " ")
	return language
}

const fence = "```"

// Blocks gives the fenced blocks of a page below a folder, in their order.
func Blocks(root, page string) ([]Block, error) {
	text, err := os.ReadFile(filepath.Join(root, page))
	if err != nil {
		return nil, err
	}
	var blocks []Block
	inside := false
	lines := bufio.NewScanner(bytes.NewReader(text))
	for number := 1; lines.Scan(); number++ {
		line := lines.Text()
		switch {
		case strings.HasPrefix(line, fence) && !inside:
			blocks = append(blocks, Block{Page: page, Line: number, Info: strings.TrimPrefix(line, fence)})
			inside = true
		case strings.HasPrefix(line, fence):
			inside = false
		case inside:
			blocks[len(blocks)-1].Text += line + "\n"
		}
	}
	if inside {
		return nil, fmt.Errorf("%s: the last block has no end", page)
	}
	return blocks, lines.Err()
}

// Pages lists the pages whose commands are tried.
func Pages(root string) ([]string, error) {
	pages := []string{"README.md", "CONTRIBUTING.md"}
	found, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	if err != nil {
		return nil, err
	}
	for _, page := range found {
		pages = append(pages, filepath.Join("docs", filepath.Base(page)))
	}
	return pages, nil
}
