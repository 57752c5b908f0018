// Makes a request as its sender would: a sample of a recipe under a fresh id, signed as configured. The inverse of
// `verify`, for `hooks test`.
import {
  type Clock,
  type IntegrationSettings,
  type Random,
  type SampleOrder,
  type SampleRequest,
  SwitchboardError,
} from '../../contract/index.ts'
import { signStandard } from '../../kit/index.ts'
import type { Auth } from './auth.ts'
import type { WebhookConfig } from './config.ts'
import { readMeaning, understand } from './meaning.ts'
import { RECIPE_NAMES, type RecipeName } from './recipes/index.ts'
import { SAMPLES } from './samples.ts'
import { signForm } from './signed-form.ts'

interface SampleDeps {
  readonly clock: Pick<Clock, 'now'>
  readonly random: Pick<Random, 'uuid'>
  readonly integration: IntegrationSettings
}

type Proof = Pick<SampleRequest, 'path' | 'headers' | 'hides'>

const NOTHING_HIDDEN = { headers: [], path: false } as const

/** Throws `input_invalid` with the possible samples. */
export function makeSample(config: WebhookConfig, order: SampleOrder, deps: SampleDeps): SampleRequest {
  const { recipe, event, sample } = choose(order, deps.integration.options.recipe)
  const now = deps.clock.now()
  const id = `test-${deps.random.uuid()}`
  const fresh = freshened(recipe, sample, id, now)
  const body = JSON.stringify(isTimed(config.auth) ? fresh.body : { ...Object(fresh.body), sample_id: id })
  const proof = proofOf(config.auth, Buffer.from(body), { now, id, integration: deps.integration })
  return { recipe, event, body, ...proof, headers: { ...fresh.headers, ...proof.headers } }
}

function choose(order: SampleOrder, configured: unknown) {
  const recipe = order.recipe ?? (typeof configured === 'string' ? configured : 'generic')
  if (!(RECIPE_NAMES as readonly string[]).includes(recipe))
    throw new SwitchboardError('input_invalid', `there is no recipe "${recipe.slice(0, 60)}"`, {
      hint: `recipes: ${RECIPE_NAMES.join(', ')}`,
    })
  const samples = SAMPLES[recipe as RecipeName]
  const events = Object.keys(samples)
  const event = order.event ?? events.find((one) => !/ping|installation|Confirmation/.test(one)) ?? ''
  const sample = Object.hasOwn(samples, event) ? samples[event] : undefined
  if (sample === undefined)
    throw new SwitchboardError('input_invalid', `recipe ${recipe} has no event "${event.slice(0, 60)}"`, {
      hint: `events: ${events.join(', ')}`,
    })
  return { recipe: recipe as RecipeName, event, sample }
}

/** Without a signed time, the same body again would be a replay. */
function isTimed(auth: Auth): boolean {
  return auth.kind !== 'signed' || auth.form.timestamp !== null
}

interface Written {
  readonly headers: Readonly<Record<string, string>>
  readonly body: unknown
}

/** Makes a second try a new message: a new id in the recipe's field, and the present time. */
function freshened(recipe: RecipeName, sample: Written, id: string, now: number): Written {
  const meaning = readMeaning({ recipe })
  const head = {
    method: 'POST',
    path: '',
    query: new URLSearchParams(),
    headers: sample.headers,
    fromLoopback: true,
  }
  const understood = meaning === null ? null : understand(meaning, JSON.stringify(sample.body), head, [])
  const known = understood === null || understood.kind === 'unparsable' ? '' : understood.names.messageId
  const moment = new Date(now).toISOString()
  const renew = (key: string, value: unknown): unknown => {
    if (key === 'webhookTimestamp') return now
    if (key === 'updatedAt' || (key === 'time' && typeof value === 'string')) return moment
    return known !== '' && value === known ? id : value
  }
  const body = JSON.parse(JSON.stringify(sample.body, renew)) as unknown
  const headers = Object.entries(sample.headers).map(([name, value]) => [name, value === known ? id : value])
  return { headers: Object.fromEntries(headers), body }
}

function proofOf(
  auth: Auth,
  body: Uint8Array,
  {
    now,
    id,
    integration,
  }: { readonly now: number; readonly id: string; readonly integration: IntegrationSettings },
): Proof {
  const shown = (headers: Record<string, string>): Proof => ({ path: '', headers, hides: NOTHING_HIDDEN })
  const hidden = (name: string, value: string): Proof => ({
    path: '',
    headers: { [name]: value },
    hides: { headers: [name], path: false },
  })
  switch (auth.kind) {
    case 'signed': {
      const [key] = auth.keys
      if (key === undefined || auth.form.hash === 'ed25519') throw onlyTheSender('its private key')
      return shown(signForm(auth.form, key, { body, now, id }))
    }
    case 'standard': {
      const signed = signStandard(auth.keys.slice(0, 1), { id, atMs: now, body })
      if (signed['webhook-signature'] === '') throw onlyTheSender('its private key')
      return shown({ ...signed })
    }
    case 'basic':
      return hidden('authorization', `Basic ${Buffer.from(auth.secrets[0] ?? '').toString('base64')}`)
    case 'bearer':
      return hidden('authorization', `Bearer ${auth.secrets[0] ?? ''}`)
    case 'plain':
      return hidden('x-webhook-secret', auth.secrets[0] ?? '')
    case 'header':
      return hidden(auth.name, auth.secrets[0] ?? '')
    case 'url':
      return {
        path: `/${encodeURIComponent(auth.secrets[0] ?? '')}`,
        headers: {},
        hides: { headers: [], path: true },
      }
    case 'loopback':
      return shown({})
    case 'sender':
      return shown({ [auth.header]: listedSender(integration) })
    case 'sns':
      throw onlyTheSender('Amazon’s key')
    case 'closed':
      throw new SwitchboardError('input_invalid', 'this hook only posts: nothing can be sent to it')
  }
}

function listedSender({ access }: IntegrationSettings): string {
  const named = access.readable ? access.allowFrom.find((one) => one !== '*') : undefined
  return named ?? 'test'
}

function onlyTheSender(key: string): SwitchboardError {
  return new SwitchboardError('input_invalid', `a request cannot be made here: it is signed with ${key}`, {
    hint: 'let the sender send one, and look at: switchboard turns',
  })
}
