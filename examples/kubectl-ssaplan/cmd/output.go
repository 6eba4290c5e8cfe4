package cmd

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"golang.org/x/term"

	"github.com/ssaplan/primitives/examples/kubectl-ssaplan/render"
	"github.com/ssaplan/primitives/projection/foreign"
)

// show prints the report in the format that the user asked for. Failures go to standard error, too, where they are seen
// when the output goes to a program.
func (o *options) show(report render.Report) error {
	switch o.output {
	case "json":
		return o.showEncoded(report, render.Report.JSON)
	case "yaml":
		return o.showEncoded(report, render.Report.YAML)
	case outputLines:
		return o.showEncoded(report, render.Report.Lines)
	case "html":
		return o.showEncoded(report, o.text().HTML)
	case outputDiff:
		return o.showEncoded(report, o.text().Unified)
	case "markdown":
		return o.showMarkdown(report)
	}
	text := o.text()
	fmt.Fprint(o.Out, text.Heading(report.Target))
	plans := text.Report(report)
	if plans != "" {
		plans += "\n"
	}
	if err := page(o.Out, plans); err != nil {
		return err
	}
	o.showFailures(report.Failures)
	_, err := io.WriteString(o.Out, text.Summary(report))
	return err
}

// encodes reports whether the output is one document that tells results, for a program or a browser.
func (o *options) encodes() bool {
	return o.output == "json" || o.output == "yaml" || o.output == "html" || o.output == outputLines
}

func (o *options) showEncoded(report render.Report, encode func(render.Report) ([]byte, error)) error {
	text, err := encode(report)
	if err != nil {
		return err
	}
	if len(o.contexts) > 0 && o.output == "yaml" {
		text = append([]byte("---\n"), text...)
	}
	o.showFailures(report.Failures)
	_, err = o.Out.Write(text)
	return err
}

func (o *options) showMarkdown(report render.Report) error {
	o.showFailures(report.Failures)
	heading := ""
	if len(o.contexts) > 0 {
		heading = report.MarkdownHeading()
	}
	_, err := io.WriteString(o.Out, heading+o.text().Markdown(report))
	return err
}

func (o *options) showFailures(failures []render.Failure) {
	for _, line := range (render.Text{Verbose: o.verbose}).Failures(failures) {
		say(o.ErrOut, line)
	}
}

// say writes a sentence on one line, or wrapped if out is a terminal.
func say(out io.Writer, text string) {
	fmt.Fprintln(out, strings.Join(render.Wrap(foreign.Visible(text), textFor(out).Width, "    "), "\n"))
}

// document is what can be printed for programs.
type document interface {
	JSON() ([]byte, error)
	YAML() ([]byte, error)
}

// writeDocument prints d in a format of [readOutputs].
func writeDocument(out io.Writer, format string, d document, text func(render.Text) string) (err error) {
	var encoded []byte
	switch format {
	case "json":
		encoded, err = d.JSON()
	case "yaml":
		encoded, err = d.YAML()
	default:
		return page(out, text(textFor(out)))
	}
	if err == nil {
		_, err = out.Write(encoded)
	}
	return err
}

// text returns how to print for where the output goes.
func (o *options) text() render.Text {
	text := textFor(o.Out)
	text.Verbose, text.Replaces = o.verbose, o.replace
	if o.saved != nil {
		text.Beside = o.saved.beside()
	}
	return text
}

// textFor returns how to print to out.
func textFor(out io.Writer) render.Text {
	text := render.Text{Now: time.Now()}
	terminal := isTerminal(out)
	text.Color = colored(terminal)
	if !terminal {
		return text
	}
	if width, _, err := term.GetSize(int(out.(*os.File).Fd())); err == nil {
		text.Width = width
	}
	return text
}

func isTerminal(out io.Writer) bool {
	file, ok := out.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

// colored reports whether there are to be colours: on terminals that know them, or where the user forces them.
func colored(terminal bool) bool {
	switch force := os.Getenv("CLICOLOR_FORCE"); {
	case os.Getenv("NO_COLOR") != "":
		return false
	case force != "" && force != "0":
		return true
	}
	return terminal && os.Getenv("CLICOLOR") != "0" && os.Getenv("TERM") != "dumb"
}
