// Signed webhooks through the whole river: what belongs together reaches one session in order, a ping reaches nobody, and
// what comes again is one message.
import { expect, it } from 'vitest'
import { defined } from '../../src/contract/index.ts'
import { hmacKey, signSha256 } from '../../src/kit/index.ts'
import { fakeDeps, request, SECRET } from '../../src/platforms/webhook/fixtures/webhook-requests.ts'
import { createWebhook } from '../../src/platforms/webhook/index.ts'
import { SAMPLES } from '../../src/platforms/webhook/samples.ts'
import { testAgent, testIntegration } from '../../src/testing/test-settings.ts'
import { describeRiver, type River } from './river.ts'

const HOOK = testIntegration('hook', {
  platform: 'webhook',
  scope: 'all',
  access: { readable: true, dm: 'credential', allowFrom: [], approvers: [], groups: {}, mentionPatterns: [] },
})

/** The adapter itself, in front of the river. */
async function hookOf(river: River, options: Record<string, unknown>) {
  const adapter = createWebhook(fakeDeps({ secret: 'env:HOOK', ...options }))
  await adapter.start({ receive: (events) => river.platform.receive('hook', events) }, null)
  return async (event: string, delivery?: string) => {
    const sample = SAMPLES.github[event]
    const { endpoint } = adapter
    if (sample === undefined || endpoint === undefined) throw new Error(`no sample ${event}`)
    const text = JSON.stringify(sample.body)
    const headers = {
      ...sample.headers,
      ...defined({ 'x-github-delivery': delivery }),
      'x-hub-signature-256': signSha256(hmacKey(SECRET), text),
    }
    const verified = await endpoint.verify(request({ text, headers }))
    const reply = 'status' in verified ? verified : await endpoint.handle(verified)
    return { status: reply.status, body: String(reply.body) }
  }
}

const openedBy = (open: Parameters<Parameters<typeof describeRiver>[1]>[0]) => () =>
  open({
    integrations: [HOOK],
    agents: [testAgent('demo', ['hook'])],
    platform: { perIntegration: { hook: { abilities: { oneWay: true, unattended: true } } } },
  })

describeRiver('webhooks of GitHub', (open) => {
  const opened = openedBy(open)

  it('[I17.github-session] a pull request’s events reach one session in order, and its ping none', async () => {
    const river = await opened()
    river.agent.script = async (delivery, agent) => void (await agent.answer(delivery, 'noted'))
    const send = await hookOf(river, { recipe: 'github' })
    expect(JSON.parse((await send('ping')).body)).toMatchObject({ state: 'consumed', reason: 'filtered' })
    const order = ['pull_request', 'pull_request_review', 'issue_comment', 'workflow_run'] as const
    for (const event of order) expect((await send(event)).status).toBe(200)
    await send('push')
    await river.settle()
    const handed = river.agent.deliveries
    const pull = handed.filter((one) => one.chatId.includes('12'))
    expect(pull.map((one) => one.meta.event)).toEqual(order)
    expect(new Set(pull.map((one) => one.session)).size).toBe(1)
    expect(handed).toHaveLength(5)
    expect(new Set(handed.map((one) => one.session)).size).toBe(2)
  })

  it('[I17.when] [I17.github-session] what is filtered is counted and conserved, and leaves no row; a redelivery repeats nothing', async () => {
    const river = await opened()
    const send = await hookOf(river, {
      recipe: 'github',
      when: { 'headers.x-github-event': ['pull_request', 'ping'] },
    })
    await send('ping')
    await send('push')
    await send('pull_request')
    const again = await send('pull_request')
    expect(JSON.parse(again.body)).toMatchObject({ ok: true, duplicate: true })
    await river.settle()
    const { counts } = await river.operator().status()
    expect(counts).toMatchObject({ received: 3, consumed: 2 })
    expect(await river.store().turns({ limit: 10 })).toHaveLength(1)
  })
})

describeRiver('the limit of a webhook with a secret', (open) => {
  it('[I35.b19d] counts each conversation: one that is noisy silences no other', async () => {
    const river = await open({
      ...{ integrations: [HOOK], agents: [testAgent('demo', ['hook'])] },
      platform: { perIntegration: { hook: { abilities: { oneWay: true, unattended: true } } } },
      tunables: { senderLimit: { rps: 1, burst: 2 } },
    })
    const adapter = createWebhook(
      fakeDeps({ secret: 'env:HOOK', conversation: '{{ host }}', message_id: '{{ n }}' }),
    )
    await adapter.start({ receive: (events) => river.platform.receive('hook', events) }, null)
    let n = 0
    const alert = async (host: string) => {
      const text = JSON.stringify({ host, n: n++ })
      const raw = request({ text, headers: { 'x-hub-signature-256': signSha256(hmacKey(SECRET), text) } })
      const verified = await adapter.endpoint?.verify(raw)
      if (verified === undefined || 'status' in verified) throw new Error('it is signed')
      return (await adapter.endpoint?.handle(verified))?.status
    }
    const statuses: unknown[] = []
    for (const host of ['noisy', 'noisy', 'noisy', 'noisy', 'calm', 'other', 'calm', 'calm'])
      statuses.push(await alert(host))
    expect(statuses).toEqual([200, 200, 429, 429, 200, 200, 200, 429])
  })
})

describeRiver(
  'replays of what is signed without a time',
  (open) => {
    const opened = openedBy(open)

    it('[I35.b38] a captured request is one message for good: under new delivery ids, at once and after a restart', async () => {
      const river = await opened()
      river.agent.script = async (delivery, agent) => void (await agent.answer(delivery, 'noted'))
      const send = await hookOf(river, { recipe: 'github' })
      const first = JSON.parse((await send('push', 'delivery-1')).body) as { id: string }
      for (const delivery of ['delivery-1', 'delivery-2', undefined])
        expect(JSON.parse((await send('push', delivery)).body)).toMatchObject({
          id: first.id,
          duplicate: true,
        })
      await river.settle()
      await river.restart()
      const after = await hookOf(river, { recipe: 'github' })
      expect(JSON.parse((await after('push', 'delivery-3')).body)).toMatchObject({
        id: first.id,
        duplicate: true,
      })
      await river.settle()
      expect(river.agent.deliveries).toHaveLength(1)
      expect(await river.store().turns({ limit: 10 })).toHaveLength(1)
    })
  },
  undefined,
  'each',
)
