// Any other sender: the fields that most of them use for words, else the body as it is.
import type { Recipe } from './recipe.ts'

export const generic: Recipe = {
  auth: null,
  event: '{{ body.event | default: body.type | default: headers["x-event"] }}',
  conversation: '{{ conversation | default: incident_id | default: thread_id }}',
  texts: {},
  other: `{{ title | default: subject | default: summary }}
{{ text | default: message | default: msg | default: description | default: content }}
{{ url | default: link | default: html_url }}`,
  takesAny: true,
}
