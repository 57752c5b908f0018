// The hook accepts what `hooks test` sends: every form of proof and every sample of every recipe, through the endpoint.
import { generateKeyPairSync } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import type { InboundMessage } from '../../contract/index.ts'
import { createFakeIntake } from '../../testing/fake-intake.ts'
import { SECRETS } from './fixtures/hook-scene.ts'
import { fakeDeps, request } from './fixtures/webhook-requests.ts'
import { createWebhook } from './index.ts'
import { pasteLines } from './paste-lines.ts'
import { RECIPE_NAMES, RECIPES } from './recipes/index.ts'
import { SAMPLES } from './samples.ts'
import { NAMED_FORMS } from './signed-form.ts'

let uuids = 0

async function opened(options: Record<string, unknown>) {
  const base = fakeDeps(options)
  const random = { uuid: () => `uuid-${uuids++}`, bytes: (count: number) => new Uint8Array(count) }
  const adapter = createWebhook({ ...base, random, secret: (reference) => SECRETS[reference] ?? '' })
  const intake = createFakeIntake()
  await adapter.start(intake, null)
  const send = async (order: { recipe?: string; event?: string } = {}) => {
    await base.clock.advance(1)
    const sample = await adapter.checks?.sample?.(order)
    const { endpoint } = adapter
    if (sample === undefined || endpoint === undefined) throw new Error('a webhook has samples')
    const verified = await endpoint.verify(
      request({ text: sample.body, headers: sample.headers, path: sample.path }),
    )
    const reply = 'status' in verified ? verified : await endpoint.handle(verified)
    return { sample, status: reply.status }
  }
  return { send, events: intake.events as readonly InboundMessage[] }
}

const FORMS: readonly Record<string, unknown>[] = [
  ...Object.keys(NAMED_FORMS).map((auth) => ({ auth, secret: 'env:KEY' })),
  { secret: 'env:KEY' },
  { secret: 'env:KEY', signature: 'plain' },
  { auth: 'standard', secret: 'env:WHSEC' },
  { auth: 'gitlab', secret: 'env:KEY' },
  { auth: 'basic', secret: 'env:PAIR' },
  { auth: 'bearer', secret: 'env:KEY' },
  { auth: { type: 'header', name: 'X-Api-Key', value: 'env:KEY' } },
  { auth: 'url_secret', secret: 'env:KEY' },
  { auth: 'loopback' },
  { sender_header: 'X-Sender' },
  {
    auth: {
      type: 'hmac',
      header: 'X-S',
      signed: '{id}.{timestamp}.{body}',
      id: 'X-Id',
      timestamp: { header: 'X-T', unit: 'iso' },
    },
    secret: 'env:KEY',
  },
]

describe('samples', () => {
  it.each(FORMS)('[I17.hooks-test] are signed as configured: %j', async (options) => {
    const { send, events } = await opened(options)
    const { sample, status } = await send({ recipe: 'linear' })
    expect(status).toBe(200)
    expect(events).toHaveLength(1)
    const shown = Object.entries(sample.headers).filter(([name]) => !sample.hides.headers.includes(name))
    for (const secret of Object.values(SECRETS)) {
      expect(JSON.stringify(shown)).not.toContain(secret)
      expect(sample.hides.path ? '' : sample.path).not.toContain(secret)
    }
  })

  it('[I17.hooks-test] of every recipe are taken by a hook of that recipe, and a second try is no repeat', async () => {
    for (const recipe of RECIPE_NAMES) {
      const proof = RECIPES[recipe].auth === null ? { auth: 'loopback' } : { secret: 'env:KEY' }
      const { send, events } = await opened({ recipe, ...proof })
      const all = Object.keys(SAMPLES[recipe])
      expect(all.length).toBeGreaterThan(0)
      for (const event of all)
        expect([recipe, event, (await send({ event })).status]).toEqual([recipe, event, 200])
      const event = all.at(-1) ?? ''
      const first = events.at(-1)?.messageId
      await send({ event })
      expect([recipe, first === undefined || first !== events.at(-1)?.messageId]).toEqual([recipe, true])
    }
  }, 30_000)

  it('[I17.hooks-test] what cannot be made is told, with what can', async () => {
    const { send } = await opened({ secret: 'env:KEY', recipe: 'github' })
    await expect(send({ recipe: 'nothing' })).rejects.toMatchObject({
      code: 'input_invalid',
      hint: expect.stringContaining('github'),
    })
    await expect(send({ event: '__proto__' })).rejects.toMatchObject({
      code: 'input_invalid',
      hint: expect.stringContaining('pull_request'),
    })
    const publicKey = generateKeyPairSync('ed25519')
      .publicKey.export({ format: 'der', type: 'spki' })
      .subarray(-32)
      .toString('hex')
    for (const options of [
      { auth: { type: 'sns', topics: ['t'] } },
      { auth: { type: 'ed25519', public_key: publicKey } },
      { out: { url: 'https://x.example' } },
    ])
      await expect((await opened(options)).send()).rejects.toMatchObject({ code: 'input_invalid' })
  })
})

describe('what to paste', () => {
  it.each(FORMS)('[I17.hooks-show] %j: the URL, the proof and how to try it, and no secret', (options) => {
    const lines = pasteLines({ id: 'ci', base: 'https://sb.example.com', options })
    expect(lines[0]).toMatch(/^URL: https:\/\/sb\.example\.com\/hooks\/ci/)
    expect(lines.length).toBeGreaterThanOrEqual(3)
    expect(lines.at(-1)).toBe('try it: switchboard hooks test ci')
    expect(lines.join('\n')).not.toMatch(/planted|env:/)
  })

  it('[I17.hooks-show] a recipe knows the header of its sender', () => {
    const lines = pasteLines({
      id: 'pay',
      base: 'http://x',
      options: { recipe: 'stripe', secret: 'env:KEY' },
    })
    expect(lines.join('\n')).toContain('Stripe-Signature')
    expect(pasteLines({ id: 'o', base: 'http://x', options: { out: { url: 'https://x' } } })[0]).toContain(
      'only posts',
    )
  })
})
