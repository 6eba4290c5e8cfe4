{{- /* The sections of all pages: the page's title and address, the heading with its anchor, and the text. */ -}}
{{- $sections := slice -}}
{{- range site.Pages -}}
  {{- $page := . -}}
  {{- range $i, $part := split (replaceRE `<h[1-6] id="([^"]*)">` "\x01${1}\x02" .Content) "\x01" -}}
    {{- $halves := split $part "\x02" -}}
    {{- if eq (len $halves) 2 -}}
      {{- $texts := split (index $halves 1) "</h" -}}
      {{- $sections = $sections | append (dict "page" (partial "title.html" $page) "url" (strings.TrimPrefix "/" $page.RelPermalink)
        "id" (index $halves 0) "heading" (index $texts 0 | plainify | htmlUnescape)
        "text" (substr (delimit (after 1 $texts) "</h") 2 | replaceRE `</t[dh]>` " · " | plainify | htmlUnescape)) -}}
    {{- end -}}
  {{- end -}}
{{- end -}}
const sections = {{ $sections | jsonify }};
