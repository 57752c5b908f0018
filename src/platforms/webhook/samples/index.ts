// Samples by recipe.
import type { RecipeName } from '../recipes/index.ts'
import { alertmanager } from './alertmanager.ts'
import { bitbucket } from './bitbucket.ts'
import { generic } from './generic.ts'
import { gitea } from './gitea.ts'
import { github } from './github.ts'
import { gitlab } from './gitlab.ts'
import { grafana } from './grafana.ts'
import { jira } from './jira.ts'
import { linear } from './linear.ts'
import { pagerduty } from './pagerduty.ts'
import type { Samples } from './sample.ts'
import { sentry } from './sentry.ts'
import { shopify } from './shopify.ts'
import { sns } from './sns.ts'
import { stripe } from './stripe.ts'
import { uptimeKuma } from './uptime-kuma.ts'

export const SAMPLES: Readonly<Record<RecipeName, Samples>> = {
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
}
