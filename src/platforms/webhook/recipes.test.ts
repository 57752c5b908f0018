// Each recipe with its sender's documented events: which become messages, in which conversation, under which id, with
// which text.
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { request } from './fixtures/webhook-requests.ts'
import { readMeaning, understand } from './meaning.ts'
import { RECIPE_NAMES, type RecipeName } from './recipes/index.ts'
import { SAMPLES } from './samples.ts'

function read(recipe: RecipeName, event: string) {
  const sample = SAMPLES[recipe][event]
  const meaning = readMeaning({ recipe })
  if (sample === undefined || meaning === null) throw new Error(`no sample ${recipe} ${event}`)
  const understood = understand(
    meaning,
    JSON.stringify(sample.body),
    request({ headers: sample.headers }),
    [],
  )
  if (understood.kind === 'unparsable') throw new Error(understood.problem)
  return understood
}

const DELIVERY = '72d3162e-cc78-11e3-81ab-4c9367dc09'
const ALERT = '{}/{severity="critical"}:{alertname="InstanceDown"}'
const ISSUE = '539068e2-ae88-4d09-bd75-22eb4a59612f'
const TOPIC = 'arn:aws:sns:us-west-2:123456789012:MyTopic'

/** Recipe, event, conversation, id, and the beginning of the text; null: it is filtered out. */
const EXPECTED: readonly (readonly [RecipeName, string, string, string, string | null])[] = [
  ['github', 'ping', 'octo-org/octo-repo', `${DELIVERY}00`, null],
  [
    'github',
    'push',
    'octo-org/octo-repo',
    `${DELIVERY}58`,
    'octo-org/octo-repo: octocat pushed 1 commit to main\n- 59b20b8 Update README.md\nhttps',
  ],
  [
    'github',
    'pull_request',
    'octo-org/octo-repo#12',
    `${DELIVERY}59`,
    'octo-org/octo-repo#12 opened by octocat: Update the README',
  ],
  [
    'github',
    'pull_request_review',
    'octo-org/octo-repo#12',
    `${DELIVERY}60`,
    'octo-org/octo-repo#12: octocat submitted a review (changes_requested)',
  ],
  [
    'github',
    'issue_comment',
    'octo-org/octo-repo#12',
    `${DELIVERY}61`,
    'octo-org/octo-repo#12: octocat created a comment on "Update',
  ],
  [
    'github',
    'workflow_run',
    'octo-org/octo-repo#12',
    `${DELIVERY}62`,
    'octo-org/octo-repo: workflow "CI" failure on changes (ec26c3e)',
  ],
  [
    'gitlab',
    'push',
    'gitlab-org/gitlab-test',
    'f5e5f430-f57b-4e6e-9fac-d9128cd7232f',
    'gitlab-org/gitlab-test: Administrator pushed 2 commits to main\n- b6568db1 Update',
  ],
  [
    'gitlab',
    'merge_request',
    'gitlab-org/gitlab-test!7',
    'f5e5f430-f57b-4e6e-9fac-d9128cd72330',
    'gitlab-org/gitlab-test!7 open by Administrator: MS-Viewport',
  ],
  [
    'gitlab',
    'note',
    'gitlab-org/gitlab-test!7',
    'f5e5f430-f57b-4e6e-9fac-d9128cd72331',
    'gitlab-org/gitlab-test: Administrator commented on !7 "MS-Viewport"',
  ],
  [
    'gitlab',
    'pipeline',
    'gitlab-org/gitlab-test!7',
    'f5e5f430-f57b-4e6e-9fac-d9128cd72332',
    'gitlab-org/gitlab-test: pipeline 31 failed on ms-viewport',
  ],
  [
    'gitea',
    'push',
    'gitea/webhooks',
    'f6266f16-1bf3-46a5-9ea4-602e06ead473',
    'gitea/webhooks: gitea pushed 1 commit to develop\n- bffeb74224 Webhooks Yay!',
  ],
  [
    'gitea',
    'issues',
    'gitea/webhooks#3',
    'f6266f16-1bf3-46a5-9ea4-602e06ead474',
    'gitea/webhooks#3 opened by gitea: The page is blank',
  ],
  [
    'gitea',
    'issue_comment',
    'gitea/webhooks#3',
    'f6266f16-1bf3-46a5-9ea4-602e06ead475',
    'gitea/webhooks#3: gitea created a comment',
  ],
  [
    'gitea',
    'pull_request',
    'gitea/webhooks#4',
    'f6266f16-1bf3-46a5-9ea4-602e06ead476',
    'gitea/webhooks#4 merged by gitea: Clear the cache',
  ],
  [
    'gitea',
    'pull_request_rejected',
    'gitea/webhooks#4',
    'f6266f16-1bf3-46a5-9ea4-602e06ead477',
    'gitea/webhooks#4: gitea rejected "Clear the cache"\nhttps://gitea.example.com/gitea/webhooks/pulls/4\n\nThe test is missing.',
  ],
  [
    'bitbucket',
    'repo:push',
    'team_name/repo_name',
    'd1c5a6ea-6a3e-4d6c-8d8a-5a2b9b1f0001',
    'team_name/repo_name: Emma pushed\n- name-of-branch\n  - 03f4a72 commit message',
  ],
  [
    'bitbucket',
    'pullrequest:created',
    'team_name/repo_name#1',
    'd1c5a6ea-6a3e-4d6c-8d8a-5a2b9b1f0002',
    'team_name/repo_name#1 created by Emma: Title of pull request',
  ],
  [
    'bitbucket',
    'pullrequest:comment_created',
    'team_name/repo_name#1',
    'd1c5a6ea-6a3e-4d6c-8d8a-5a2b9b1f0003',
    'team_name/repo_name#1: Emma commented on "Title',
  ],
  [
    'stripe',
    'invoice.payment_failed',
    'cus_NeZwdNtLEOXuvB',
    'evt_1MqqbKLt4dXK03v5qaIbiNCC',
    'Stripe (test mode): invoice.payment_failed\ninvoice in_1MtHbELkdIwHu7ixl4OzzPMv, open, 1099 USD',
  ],
  [
    'stripe',
    'customer.subscription.updated',
    'cus_NeZwdNtLEOXuvB',
    'evt_1MqqbKLt4dXK03v5qaIbiNCD',
    'Stripe (test mode): customer.subscription.updated\nsubscription',
  ],
  [
    'stripe',
    'payment_intent.payment_failed',
    'pi_3MtwBwLkdIwHu7ix28a3tqPa',
    'evt_1MqqbKLt4dXK03v5qaIbiNCE',
    'Stripe (test mode): payment_intent.payment_failed',
  ],
  ['sentry', 'installation', '', '1e6b1d0e-52c6-4f2a-8f04-000000000001', null],
  [
    'sentry',
    'issue',
    'issue 1170820242',
    '1e6b1d0e-52c6-4f2a-8f04-000000000002',
    'Sentry issue created: IPE-1 ReferenceError',
  ],
  [
    'sentry',
    'event_alert',
    'issue 1170820242',
    '1e6b1d0e-52c6-4f2a-8f04-000000000003',
    'Sentry alert "Very Important Alert Rule!": ReferenceError',
  ],
  [
    'sentry',
    'comment',
    'issue 1170820242',
    '1e6b1d0e-52c6-4f2a-8f04-000000000004',
    'Sentry: Person created a comment',
  ],
  [
    'alertmanager',
    'firing',
    ALERT,
    '',
    '[FIRING: 1] InstanceDown (critical)\nInstance web-1:9100 down\n- firing',
  ],
  ['alertmanager', 'resolved', ALERT, '', '[RESOLVED] InstanceDown (critical)'],
  ['alertmanager', 'truncated', ALERT, '', '[FIRING: 1] InstanceDown'],
  ['grafana', 'firing', '{}:{}', '', '[FIRING:1]  (blue)\n- firing: High memory usage'],
  ['grafana', 'resolved', '{}:{}', '', '[RESOLVED:1]  (blue)'],
  ['grafana', 'dashboard', 'rule 1', '', '[Alerting] Panel Title alert\nNotification Message\n- Count: 1'],
  ['pagerduty', 'pagey.ping', 'incident', '01BZB1YSVVCJ8ZYX9QR2RE7TTA', null],
  [
    'pagerduty',
    'incident.triggered',
    'incident PGR0VU2',
    '01CNFVCJT3LB0KMX1Z9VC7NT5C',
    'PagerDuty incident triggered: #2 A little bump',
  ],
  [
    'pagerduty',
    'incident.annotated',
    'incident PGR0VU2',
    '01CNFVCJT3LB0KMX1Z9VC7NT5D',
    'Tenex Engineer noted on [#2]',
  ],
  [
    'pagerduty',
    'incident.resolved',
    'incident PGR0VU2',
    '01CNFVCJT3LB0KMX1Z9VC7NT5E',
    'PagerDuty incident resolved: #2',
  ],
  [
    'jira',
    'jira:issue_created',
    'JRA-20002',
    'b4a1f6c2-0001',
    'JRA-20002 created by Mia Krystof: I feel the need for speed\nBug, To Do, Minor',
  ],
  [
    'jira',
    'jira:issue_updated',
    'JRA-20002',
    'b4a1f6c2-0002',
    'JRA-20002 updated by Mia Krystof: I feel the need for speed\n- status: To Do → In Progress',
  ],
  ['jira', 'comment_created', 'JRA-20002', 'b4a1f6c2-0003', 'JRA-20002: Mia Krystof commented'],
  [
    'linear',
    'Issue.create',
    ISSUE,
    `Issue:create:${ISSUE}:2026-01-05T15:40:15.000Z`,
    'LIN-1778 created: Foo bar\nTodo, Urgent',
  ],
  [
    'linear',
    'Issue.update',
    ISSUE,
    `Issue:update:${ISSUE}:2026-01-05T15:41:15.000Z`,
    'LIN-1778 updated: Foo bar\nIn Progress, assigned to Ada',
  ],
  [
    'linear',
    'Comment',
    ISSUE,
    'Comment:create:2174add1-f7c8-44e3-bbf3-2d60b5ea8bc9:2026-01-05T15:42:15.000Z',
    'LIN-1778: Ada created a comment on "Foo bar"',
  ],
  [
    'shopify',
    'orders/create',
    'orders/820982911946154508',
    'b54557e4-bdd9-4b37-8a5f-bf7d70bcd043',
    'snowdevil.myshopify.com: orders/create #9999\n388.00 USD, voided\n- 1 × IPod',
  ],
  [
    'shopify',
    'refunds/create',
    'orders/820982911946154508',
    'b54557e4-bdd9-4b37-8a5f-bf7d70bcd044',
    'snowdevil.myshopify.com: refund 890088186',
  ],
  [
    'shopify',
    'fulfillments/create',
    'orders/820982911946154508',
    'b54557e4-bdd9-4b37-8a5f-bf7d70bcd045',
    'snowdevil.myshopify.com: order 820982911946154508 pending, tracking UPS 1Z2345',
  ],
  ['sns', 'Notification', TOPIC, '22b80b92-fdea-4c2c-8f9d-bdfb0c7bf324', 'My First Message\nHello world!'],
  [
    'sns',
    'alarm',
    `${TOPIC}/cpu`,
    '22b80b92-fdea-4c2c-8f9d-bdfb0c7bf325',
    'cpu is ALARM (was OK) in US West (Oregon)',
  ],
  ['sns', 'SubscriptionConfirmation', TOPIC, '165545c9-2a5c-472c-8df2-7ff2be2b3b1b', null],
  [
    'uptime-kuma',
    'down',
    'monitor 4',
    '4:2026-01-05 15:40:15.123:0',
    '[shop] [🔴 Down] connect ECONNREFUSED',
  ],
  ['uptime-kuma', 'up', 'monitor 4', '4:2026-01-05 15:45:15.456:1', '[shop] [✅ Up] 200 - OK'],
  ['uptime-kuma', 'test', '', '', 'switchboard Testing'],
  ['generic', 'alert', 'run-7', '', 'Backup failed\nThe disk is full.\nhttps://backup.example.com/runs/7'],
  ['generic', 'text', '', '', 'Deploy of api 1.4.2 has finished.'],
  ['generic', 'fields', '', '', '{"temperature":41.5,"room":"server"}'],
]

describe('recipes', () => {
  it.each(EXPECTED)(
    '[I17.recipes] [I17.recipe-follow-ups] %s %s',
    (recipe, event, conversation, id, begins) => {
      const understood = read(recipe, event)
      expect(understood.names).toMatchObject({ conversation, messageId: id })
      expect(understood.kind).toBe(begins === null ? 'filtered' : 'message')
      const text = understood.kind === 'message' ? understood.text : null
      expect(text?.slice(0, begins?.length) ?? null).toBe(begins)
      expect(text ?? '').not.toMatch(/\n{3}|undefined|\[object/)
    },
  )

  it('[I17.recipes] each has at least three kinds of events, and every sample is read above', () => {
    expect(RECIPE_NAMES).toHaveLength(15)
    for (const recipe of RECIPE_NAMES) {
      const samples = Object.keys(SAMPLES[recipe])
      expect(samples.length, recipe).toBeGreaterThanOrEqual(3)
      expect(
        EXPECTED.filter(([one]) => one === recipe)
          .map(([, event]) => event)
          .sort(),
      ).toEqual([...samples].sort())
    }
  })

  it('[I17.recipes] with a template of one’s own every event is taken, pings excepted', () => {
    const meaning = readMeaning({ recipe: 'github', template: '{{ event }} {{ action }}' })
    if (meaning === null) throw new Error('a recipe means something')
    const ask = (event: string) =>
      understand(meaning, '{"action":"created"}', request({ headers: { 'x-github-event': event } }), [])
    expect(ask('star')).toMatchObject({ kind: 'message', text: 'star created' })
    expect(ask('ping').kind).toBe('filtered')
  })

  it('[I17.recipe-page] each has its ten lines in the docs', () => {
    const page = readFileSync('docs/platforms/webhook-recipes.md', 'utf8')
    const sections = page.split(/^## /m).slice(1)
    for (const recipe of RECIPE_NAMES) {
      const section = sections.find((one) => one.startsWith(`\`${recipe}\``))
      expect(section?.trim().split('\n').length ?? 0, recipe).toBeGreaterThanOrEqual(8)
      expect(section).toContain(`recipe: ${recipe}`)
    }
  })

  it('[I17.recipes] what a recipe has no words for is filtered; a form body is read; a body without structure is unparsable', () => {
    const meaning = readMeaning({ recipe: 'github' })
    if (meaning === null) throw new Error('a recipe means something')
    const ask = (body: string, headers: Record<string, string>) =>
      understand(meaning, body, request({ headers }), [])
    expect(ask('{}', { 'x-github-event': 'star' }).kind).toBe('filtered')
    expect(ask('{}', { 'x-github-event': 'constructor' }).kind).toBe('filtered')
    expect(ask('{}', {}).kind).toBe('filtered')
    const sample = SAMPLES.github.push
    const form = new URLSearchParams({ payload: JSON.stringify(sample?.body) }).toString()
    const type = 'application/x-www-form-urlencoded'
    expect(ask(form, { ...sample?.headers, 'content-type': type }).kind).toBe('message')
    expect(ask('<xml/>', { 'content-type': 'application/json' })).toMatchObject({ kind: 'unparsable' })
    const generic = readMeaning({ recipe: 'generic' })
    if (generic === null) throw new Error('a recipe means something')
    expect(understand(generic, 'disk full', request(), [])).toMatchObject({
      kind: 'message',
      text: 'disk full',
    })
  })
})
