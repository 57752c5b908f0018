// What an agent may send, from a real daemon through /mcp: grants, limits, and permission asked again at the moment.
import { describe, expect, it } from 'vitest'
import type { Daemon } from '../faults/daemon.ts'
import { askJson, askLines, createScene, switchboard } from '../faults/scene.ts'
import { until } from '../faults/until.ts'
import { callApi, listen, writeYaml } from './admin.ts'

const scene = createScene()

interface Outcome {
  readonly isError?: boolean
  readonly content: readonly { readonly text: string }[]
  readonly structuredContent?: { readonly status: string; readonly outbox_id: string | null }
}

let calls = 0

async function callTool(daemon: Daemon, token: string, name: string, args: Record<string, unknown>) {
  calls += 1
  const response = await fetch(`${daemon.url}/mcp`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: calls,
      method: 'tools/call',
      params: { name, arguments: args },
    }),
    signal: AbortSignal.timeout(20_000),
  })
  const text = await response.text()
  const json = text.startsWith('{') ? text : (/^data: (\{.*\})$/m.exec(text)?.[1] ?? '{}')
  const { result } = JSON.parse(json) as { result?: Outcome }
  if (!result) throw new Error(`${response.status}: ${text}`)
  return {
    isError: result.isError === true,
    text: result.content[0]?.text ?? '',
    more: result.structuredContent,
  }
}

const out = (id: string, url: string, more = '') =>
  `  - { id: ${id}, platform: webhook, sender_header: X-Sender, access: { allow_from: [dev] }, out: { url: "${url}", allow_private: true }${more} }\n`
const agent = (id: string, bound: readonly string[], allow: string) =>
  `  - { id: ${id}, connector: { type: demo }, messaging: { allow: [${allow}] }, inbound_bindings: [${bound
    .map((instance) => `{ plugin: webhook, instance: ${instance} }`)
    .join(', ')}] }\n`

const tokenOf = async (data: string, id: string) =>
  (await askJson<{ token: string }>(data, 'token', 'mint', '--agent', id)).token

describe('grants', () => {
  it('[S3.scope-agents] [S3.scope-default-bound] scope names agents or all; without one the bound agents are meant', async () => {
    const data = scene.folder()
    const { url, taken } = await listen(scene)
    const config = writeYaml(
      data,
      `integrations:
${out('mine', url)}${out('named', url, ', scope: { agents: [bob] }')}${out('everyone', url, ', scope: all')}agents:
${agent('kate', ['mine'], '"webhook:*"')}${agent('bob', [], '"webhook:*"')}`,
    )
    const daemon = await scene.start({ data, config })
    const [kate, bob] = [await tokenOf(data, 'kate'), await tokenOf(data, 'bob')]
    const send = (token: string, integration: string) =>
      callTool(daemon, token, 'send_message', {
        ...{ platform: 'webhook', target: 'room', integration, body: `through ${integration} ${calls}` },
      })
    const granted = { isError: false, more: { status: 'sent' } }
    expect(await send(kate, 'mine')).toMatchObject(granted)
    expect(await send(kate, 'everyone')).toMatchObject(granted)
    expect(await send(bob, 'everyone')).toMatchObject(granted)
    expect(await send(bob, 'named')).toMatchObject(granted)
    expect(taken).toHaveLength(4)
    expect(await send(kate, 'named')).toMatchObject({
      isError: true,
      text: expect.stringContaining('not granted'),
    })
    expect(await send(bob, 'mine')).toMatchObject({
      isError: true,
      text: expect.stringContaining('not granted'),
    })
    expect(taken).toHaveLength(4)
  })
})

describe('permission', () => {
  it('[S3.recheck-at-send] is asked again at the moment of sending', async () => {
    const data = scene.folder()
    const listener = await listen(scene)
    // A refusal for now: nothing was taken.
    listener.answerWith(429)
    const yaml = (allow: string) =>
      `tunables: { send_retry_base: 200ms, send_retry_max: 400ms, tool_wait: 50ms }\nintegrations:\n${out('ci', listener.url)}agents:\n${agent('kate', ['ci'], allow)}`
    const daemon = await scene.start({
      data,
      config: writeYaml(data, yaml('"webhook:room", "webhook:hall"')),
    })
    const token = await tokenOf(data, 'kate')
    const send = (target: string) =>
      callTool(daemon, token, 'send_message', { platform: 'webhook', target, body: `to the ${target}` })
    expect((await send('room')).more?.status).toBe('queued')
    expect((await send('hall')).more?.status).toBe('queued')
    writeYaml(data, yaml('"webhook:hall"'))
    expect((await switchboard(data, 'reload')).code).toBe(0)
    listener.answerWith(200)
    const rows = await until('both are settled', async () => {
      const all = await askLines<{ to: string; state: string; reason: string }>(data, 'outbox')
      return all.every(({ state }) => state !== 'queued' && state !== 'sending') ? all : null
    })
    expect(rows.map(({ to, state, reason }) => [to, state, reason]).toSorted()).toEqual([
      ['ci:hall', 'sent', null],
      ['ci:room', 'failed', 'not_allowed'],
    ])
    expect(listener.taken.map(({ body }) => body).join()).not.toContain('to the room')
    // Ordered now, it is denied at once.
    expect(await send('room')).toMatchObject({
      isError: true,
      text: expect.stringContaining('not in the personality'),
    })
  })
})

describe('telling the user', () => {
  it("[S1.notify-to-default] [S3.limits-tunable] goes to the user's direct chat by default, under the recipient limit", async () => {
    const data = scene.folder()
    const config = writeYaml(
      data,
      `tunables: { recipient_limit: { rps: 0.001, burst: 2 } }
integrations:
  - { id: ci, platform: webhook, sender_header: X-Sender, two_way: true, access: { allow_from: [dev, ada] } }
agents:
${agent('kate', ['ci'], '')}users:
  - { id: ann, identities: ["ci:ada"], roles: [owner] }
  - { id: bea, identities: ["ci:dev"], notify_to: "ci:the-office" }
`,
    )
    const daemon = await scene.start({ data, config })
    const mint = async (user: string) =>
      (
        await askJson<{ token: string }>(
          data,
          'token',
          'mint',
          '--agent',
          'kate',
          '--user',
          user,
          '--kind',
          'notify',
        )
      ).token
    const [ann, bea] = [await mint('ann'), await mint('bea')]
    const tell = (token: string, message: string) => callTool(daemon, token, 'notify_user', { message })
    expect(await tell(ann, 'one')).toMatchObject({ isError: false, text: 'Notification sent via webhook:ci' })
    expect(await tell(ann, 'two')).toMatchObject({ isError: false })
    expect(await tell(ann, 'three')).toMatchObject({
      isError: true,
      text: expect.stringContaining('recipient_limit'),
    })
    expect(await tell(bea, 'four')).toMatchObject({ isError: false })
    const rows = await askLines<{ to: string; text: string }>(data, 'outbox')
    expect(rows.map(({ to, text }) => `${text} > ${to}`).toSorted()).toEqual([
      'four > ci:the-office',
      'one > ci:ada',
      'two > ci:ada',
    ])
    // The token is for notifications: it opens no other tool and nothing of the operator's.
    await expect(
      callTool(daemon, ann, 'send_message', { platform: 'webhook', target: 'ada', body: 'x' }),
    ).resolves.toMatchObject({ isError: true })
    expect((await callApi(daemon, ann, 'GET', '/api/status')).status).toBe(403)
  })
})
