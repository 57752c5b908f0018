// The recipes by name, for `recipe:`.
import { bitbucket, gitea, github, gitlab } from './code-hosts.ts'
import { alertmanager, grafana, pagerduty, sentry, sns, uptimeKuma } from './monitors.ts'
import type { Recipe } from './recipe.ts'
import { jira, linear, shopify, stripe } from './trackers-and-shops.ts'

/** For any other sender: common fields for text, else the body as it is. */
const generic: Recipe = {
  auth: null,
  event: '{{ body.event | default: body.type | default: headers["x-event"] }}',
  conversation: '{{ conversation | default: incident_id | default: thread_id }}',
  texts: {},
  other: `{{ title | default: subject | default: summary }}
{{ text | default: message | default: msg | default: description | default: content }}
{{ url | default: link | default: html_url }}`,
  takesAny: true,
}

export const RECIPES = {
  github,
  gitlab,
  gitea,
  bitbucket,
  stripe,
  sentry,
  alertmanager,
  grafana,
  pagerduty,
  jira,
  linear,
  shopify,
  sns,
  'uptime-kuma': uptimeKuma,
  generic,
} as const satisfies Record<string, Recipe>

export type RecipeName = keyof typeof RECIPES
export const RECIPE_NAMES = Object.keys(RECIPES) as RecipeName[]
