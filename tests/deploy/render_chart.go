// Renders a Helm chart as `helm template` does, for charts that use no more than
// the functions below: Go's own template engine is Helm's. Debian has no helm.
//
//	go run render_chart.go CHART_DIR < context.json
//
// The context is {"Values": ..., "Release": ..., "Chart": ...}. Prints the
// documents of all templates, separated by "---", or the error.
package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"text/template"
)

func isEmpty(value any) bool {
	truth, ok := template.IsTrue(value)
	return !ok || !truth
}

func toInt(value any) int64 {
	switch number := value.(type) {
	case int:
		return int64(number)
	case float64: // as Helm reads numbers of values.yaml
		return int64(number)
	}
	panic(fmt.Sprintf("%v is no number", value))
}

func render(chart string) (string, error) {
	root := template.New("chart").Option("missingkey=zero")
	root.Funcs(template.FuncMap{
		"add": func(values ...any) (sum int64) {
			for _, value := range values {
				sum += toInt(value)
			}
			return sum
		},
		"div": func(a, b any) int64 { return toInt(a) / toInt(b) },
		"default": func(standard, value any) any {
			if isEmpty(value) {
				return standard
			}
			return value
		},
		"fail": func(message string) (string, error) { return "", errors.New(message) },
		"include": func(name string, data any) (string, error) {
			var out bytes.Buffer
			err := root.ExecuteTemplate(&out, name, data)
			return out.String(), err
		},
		"int64":   toInt,
		"kindIs":  func(kind string, value any) bool { return reflect.ValueOf(value).Kind().String() == kind },
		"lower":   strings.ToLower,
		"nindent": func(n int, text string) string { return "\n" + indent(n, text) },
		"quote":   func(value any) string { return fmt.Sprintf("%q", fmt.Sprint(value)) },
		"required": func(message string, value any) (any, error) {
			if isEmpty(value) {
				return nil, errors.New(message)
			}
			return value, nil
		},
		"sha256sum": func(text string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(text))) },
		"ternary": func(yes, no any, condition bool) any {
			if condition {
				return yes
			}
			return no
		},
		"toJson": func(value any) (string, error) {
			text, err := json.Marshal(value)
			return string(text), err
		},
		"trimSuffix": func(suffix, text string) string { return strings.TrimSuffix(text, suffix) },
		"trunc":      func(n int, text string) string { return text[:min(n, len(text))] },
	})
	var context map[string]any
	if err := json.NewDecoder(os.Stdin).Decode(&context); err != nil {
		return "", err
	}
	var pages []string
	err := filepath.WalkDir(filepath.Join(chart, "templates"), func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if strings.HasSuffix(path, ".yaml") {
			pages = append(pages, path)
		}
		_, err = root.New(path).Parse(string(text))
		return err
	})
	if err != nil {
		return "", err
	}
	var out bytes.Buffer
	for _, page := range pages {
		fmt.Fprintf(&out, "---\n# Source: %s\n", page)
		if err := root.ExecuteTemplate(&out, page, context); err != nil {
			return "", err
		}
	}
	return out.String(), nil
}

func indent(n int, text string) string {
	margin := strings.Repeat(" ", n)
	return margin + strings.ReplaceAll(text, "\n", "\n"+margin)
}

func min(a, b int) int {
	if a < b {
		return a
	}
	return b
}

func main() {
	text, err := render(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Print(text)
}
